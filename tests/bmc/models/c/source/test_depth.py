"""Deeply nested and long code is read and goes on to be used; what is too deep is refused with its line."""

# ruff: noqa: E501 (C programs in tables)
from __future__ import annotations

from pathlib import Path

import pytest
from c_support import own_environment, read, refusal  # noqa: F401
from pysmt.shortcuts import Solver

from bmc.formulas.unroll import at
from bmc.models.c.source.preprocess import Given, preprocess
from bmc.models.c.source.program import DEEPEST, DEEPEST_CALL, DEEPEST_TYPE
from bmc.models.c.source.types import DATA_MODELS
from bmc.system.simulation import Simulator

FIELDS = "".join(f"int v{i}; " for i in range(50))
PROGRAMS = {
    "sequential ifs": f"struct {{ {FIELDS} }} s; void step(int a, int b) {{ "
    + "".join(f"if (s.v{i % 50} == {i % 7} && a > {i}) s.v{i * 7 % 50} = s.v{i * 3 % 50} + b;\n" for i in range(400))
    + "}",
    "deep calls": "int r; static int f0(int x) { return x; }\n"
    + "".join(f"static int f{i}(int x) {{ if (x) return f{i - 1}(x); return 0; }}\n" for i in range(1, 200))
    + "void step(int a) { r = f199(a); }",
    "long expression": "unsigned r; void step(unsigned a) { r = " + " + ".join(f"(a ^ {i}u)" for i in range(1500)) + "; }",
    "long loop": "int r; void step(int a) { for (int k = 0; k < 700; k++) { int z = k; if (a == k) r = z; } }",
    "large table": "const unsigned char t[4000] = {1, 2, 3}; int r; void step(unsigned short a) { r = t[a]; }",
    "large array": "int q[500]; int r; void step(int a) { if (a >= 0 && a < 500) { q[a] = 1; r = q[a]; } }",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_long_code_is_read(name: str, tmp_path: Path) -> None:
    assert read(tmp_path, PROGRAMS[name]).system.state


def step(body: str) -> str:
    return f"int r;\nvoid step(int a) {{\n{body}\n}}"


def links(count: int) -> str:
    return "\nelse ".join(f"if (a == {i}) r = {i + 7};" for i in range(count))


DEEP = {
    "parentheses": (step("r =\n" + "(" * 2000 + "a" + ")" * 2000 + ";"), 5),
    "blocks": (step("{\n" * 3000 + "r = a;" + "}" * 3000), 5),
    "ifs": (step("if (a)\n" * 2000 + "r = a;"), 5),
    "else if": (step(links(1200)), 12),
    "and": (step("if (" + "\n&& ".join(f"a != {i}" for i in range(1500)) + ") r = 1;"), 0),
    "and to the right": (step("r = " + " && (".join(f"a != {i}" for i in range(1200)) + ")" * 1199 + ";"), 0),
    "not": (step("r = " + "!" * 3000 + "a;"), 1),
    "choices": (step("r = " + "".join(f"a == {i} ? {i + 7} : " for i in range(1200)) + "a;"), 12),
    "cases": (step("switch (a) {\n" + "".join(f"case {i}: r = {i + 7}; break;\n" for i in range(1200)) + "}"), 12),
    "labels": (step("switch (a) {\n" + "".join(f"case {i}:\n" for i in range(2000)) + "r = 9; }"), 9),
    "returns": (step("".join(f"if (a == {i}) {{ r = {i + 7}; return; }}\n" for i in range(1000))), 12),
    "statements": (step("r ^= a;\n" * 1501), 5),
    "initialisers": ("int q =\n" + "{" * 3000 + "5" + "}" * 3000 + ";\n" + step("r = q;"), 5),
}
"""Programs, and the ``r`` that a step with ``a`` = 5 leaves behind."""
LIKE = {"and", "blocks", "cases", "choices", "else if", "labels", "not", "returns"}
"""Code that is deep in the way of another one: evidence."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.evidence) if name in LIKE else name for name in DEEP]
)
def test_deep_code_can_be_simulated_unrolled_and_solved(name: str, tmp_path: Path) -> None:
    text, expected = DEEP[name]
    model = read(tmp_path, text)
    simulator = Simulator(model.system)
    start = simulator.initial()
    inputs = dict.fromkeys((var.name for var in model.system.inputs), 5)
    assert simulator.step(start, inputs)["r"] == expected
    assert isinstance(model.decisions, tuple)
    r = next(var for var in model.system.state if var.name == "r")
    constants = {var.symbol: var.type.constant(inputs[var.name]) for var in model.system.inputs}
    constants |= {var.symbol: var.init for var in model.system.state if var.init is not None}
    with Solver(name="z3") as solver:
        solver.add_assertion(at(r.next.substitute(constants), 1).Equals(r.type.constant(expected)))
        assert solver.solve()


MANY = DEEPEST + 1
TOO_DEEP = {
    "parentheses": (step("r =\n" + "(" * 30_000 + "a" + ")" * 30_000 + ";"), 4),
    "blocks": (step("{\n" * 20_000 + "r = a;" + "}" * 20_000), DEEPEST + 2),
    "unclosed": ("\n" + "(" * 100_000, 2),
    "ifs": (step("if (a)\n" * MANY + "r = a;"), None),
    "else if": (step(links(MANY)), None),
    "and": (step("r =\n" + " && ".join(["a"] * MANY) + ";"), 4),
    "not": (step("r =\n" + "!" * MANY + "a;"), 4),
    "initialisers": ("int q =\n" + "{" * 20_000 + "5" + "}" * 20_000 + ";\n" + step("r = q;"), 2),
}
"""Programs, and the line that the refusal names (None: any of those below)."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.evidence) if name in LIKE else name for name in TOO_DEEP]
)
def test_deeper_code_is_refused_with_its_line(name: str, tmp_path: Path) -> None:
    text, line = TOO_DEEP[name]
    error = refusal(tmp_path, text)
    assert f"nested more than {DEEPEST:,} deep" in error.message
    assert error.where is not None
    assert error.where.line == line if line else DEEPEST // 2 < error.where.line <= text.count("\n") + 1


@pytest.mark.evidence
def test_deeper_calls_are_refused_with_their_line(tmp_path: Path) -> None:
    def chain(calls: int) -> str:
        functions = (f"static int f{i}(int x) {{ return\nf{i - 1}(x) + 1; }}\n" for i in range(1, calls))
        return "static int f0(int x) { return x; }\n" + "".join(functions) + step(f"r = f{calls - 1}(a & 7);")

    assert read(tmp_path, chain(DEEPEST_CALL - 1)).system.state
    error = refusal(tmp_path, chain(DEEPEST_CALL))
    assert f"calls nested more than {DEEPEST_CALL:,} deep" in error.message
    assert error.where is not None
    assert error.where.line == 3


def test_deeper_structs_are_refused_with_their_line(tmp_path: Path) -> None:
    def nest(depth: int) -> str:
        types = (f"struct s{i} {{ struct s{i - 1} a; }};\n" for i in range(1, depth))
        return (
            "struct s0 { int a; };\n"
            + "".join(types)
            + f"struct s{depth - 1} s;\n"
            + step("r = s" + ".a" * depth + ";")
        )

    assert read(tmp_path, nest(DEEPEST_TYPE)).system.state
    error = refusal(tmp_path, nest(DEEPEST_TYPE + 1))
    assert f"structs nested more than {DEEPEST_TYPE:,} deep" in error.message
    assert error.where is not None
    assert error.where.line == DEEPEST_TYPE + 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\\\nb\nc", "ab\n\nc"),
        ("a \\\n b \\\n c\nd", "a\n b\n c\nd"),
        ("'\\\\n'\n", "'\\\\n'\n"),
    ],
)
def test_tokens_of_continued_lines_stay_where_they_are(text: str, expected: str, tmp_path: Path) -> None:
    file = tmp_path / "lines.c"
    file.write_text(text, encoding="utf-8")
    lines = preprocess(str(file), Given(), DATA_MODELS["lp64"]).text.splitlines()
    assert [line.rstrip() for line in lines if not line.startswith("#line")] == [
        line.rstrip() for line in expected.splitlines()
    ]
