"""Deeply nested and long code is read in a few seconds, without a crash."""

# ruff: noqa: E501 (C programs in tables)
from __future__ import annotations

import time
from pathlib import Path

import pytest
from c_support import own_environment, read  # noqa: F401

FIELDS = "".join(f"int v{i}; " for i in range(50))
PROGRAMS = {
    "nested ifs": "int r; void step(int a) { " + "".join(f"if (a != {i}) {{ " for i in range(150)) + "r = 1;" + "}" * 151,
    "else-if chain": "int r; void step(int a) { " + " else ".join(f"if (a == {i}) r = {i};" for i in range(1000)) + "}",
    "sequential ifs": f"struct {{ {FIELDS} }} s; void step(int a, int b) {{ "
    + "".join(f"if (s.v{i % 50} == {i % 7} && a > {i}) s.v{i * 7 % 50} = s.v{i * 3 % 50} + b;\n" for i in range(2000))
    + "}",
    "large switch": "int r; void step(int a) { switch (a) { "
    + "".join(f"case {i}: r = {i * 3}; break;\n" for i in range(1000))
    + "} }",
    "early returns": "int r; void step(int a) { " + "".join(f"if (a == {i}) {{ r++; return; }}\n" for i in range(500)) + "}",
    "deep calls": "int r; static int f0(int x) { return x; }\n"
    + "".join(f"static int f{i}(int x) {{ if (x) return f{i - 1}(x); return 0; }}\n" for i in range(1, 200))
    + "void step(int a) { r = f199(a); }",
    "long expression": "unsigned r; void step(unsigned a) { r = " + " + ".join(f"(a ^ {i}u)" for i in range(1500)) + "; }",
    "deep parentheses": "int r; void step(int a) { r = " + "(" * 300 + "a" + ")" * 300 + "; }",
    "long loop": "int r; void step(int a) { for (int k = 0; k < 2000; k++) { int z = k; if (a == k) r = z; } }",
    "large table": "const unsigned char t[4000] = {1, 2, 3}; int r; void step(unsigned short a) { r = t[a]; }",
    "large array": "int q[500]; int r; void step(int a) { if (a >= 0 && a < 500) { q[a] = 1; r = q[a]; } }",
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_long_code_is_read(name: str, tmp_path: Path) -> None:
    start = time.process_time()
    model = read(tmp_path, PROGRAMS[name])
    assert model.system.state
    assert time.process_time() - start < 20
