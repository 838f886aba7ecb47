"""The attribute ``cleanup``: the call is made on every way out of the block, as in the compiled original."""

# ruff: noqa: E501 (C programs in tables)
from __future__ import annotations

from pathlib import Path

import pytest
from c_support import agreement, own_environment, read, refusal  # noqa: F401

HEAD = """
int r, n, seen;
static void off(const int *p) { seen = (seen * 3 + *p) & 0xffff; }
static void down(unsigned char *p) { seen ^= *p; n -= 1; }
static void freed(int **p) { seen += **p & 3; }
#define OFF __attribute__((cleanup(off)))
#define DOWN __attribute__((__cleanup__(down)))
static unsigned char locked(void) { n = 7; return 1; }
#define ATOMIC for (unsigned char saved DOWN = n, todo = locked(); todo; todo = 0)
"""
PROGRAMS = {
    "at the end of its block": "{ int k OFF = x & 7; r = k; } r += seen;",
    "the last one first": "int a OFF = 1, b OFF = 2; { int c OFF = 3; r = seen; } r ^= seen;",
    "after the value of return": "int k OFF = x & 3; if (x > 3) { seen = 0; return; } r = k;",
    "by break and continue": "for (int k = 0; k < 4; k++) { int v OFF = k; if (k == (x & 3)) continue; if (x > 9) break; r += v; }",
    "by goto": "{ int k OFF = 3; if (x & 1) goto out; r = k; } r++; out: r ^= seen;",
    "none before its declaration": "{ if (x & 1) goto out; int k OFF = 3; r = k; } out: r ^= seen;",
    "in a switch": "switch (x & 3) { case 0: { int k OFF = 5; break; } case 1: { int m OFF = 6; if (x > 5) return; } default: r = seen; }",
    "in a switch, in braces up to the next label": "switch (x & 3) { case 0: r = 3; { int k OFF = 5; r += k; break; } case 1: r = 4; break; default: r = 5; } r += seen;",
    "in a block, up to the next label": "{ if (x & 1) goto a; { int k OFF = 3; r = k; } a: r += 2; } r ^= seen;",
    "an atomic block": "ATOMIC { r = n + x; } r ^= n;",
    "return from an atomic block": "n = 1; ATOMIC { if (x & 1) return; r = x; } n += 5;",
    "break from an atomic block": "while (1) { ATOMIC { if (x & 1) break; r = x; } break; } n += 5;",
    "in a statement expression": "r = ({ int k OFF = x & 7; seen++; k + 1; }) + 1;",
    "a pointer": "int *p __attribute__((cleanup(freed))) = x & 1 ? &r : &n; r += 1;",
    "before an initialiser with commas": "struct { int a, b; } s; int t OFF = (s.a = 1, s.b = x & 3, s.b), u = 4; r = t + u;",
}


@pytest.mark.needs_compiler
@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees_with_the_compiled_original(name: str, tmp_path: Path) -> None:
    model = read(tmp_path, f"{HEAD}void step(unsigned char x) {{ n &= 15; r &= 255; seen &= 255; {PROGRAMS[name]} }}")
    found = agreement(model, pairs=100)
    assert found.steps > 20
    assert not found.differences, found.differences[0]


IN_BRACES = "into braces of their own"
REFUSED = {
    "labels beside it": ("void step(int x) {\n int k OFF = 1; if (x) goto a; r = 1; a: r = 2; }", IN_BRACES),
    "before the case labels": (
        "void step(int x) { switch (x) {\n int k OFF; case 0: r = 3; break; default: r = 5; } r += seen; }",
        IN_BRACES,
    ),
    "behind a case label": (
        "void step(int x) { switch (x & 3) { case 0: r = 3;\n int k OFF; k = 5; break; case 1: r = 4; } r += seen; }",
        IN_BRACES,
    ),
    "right behind a case label": (
        "void step(int x) { for (int t = 0; t < 2; t++) switch (t & x) { case 0:\n ; int *p, k OFF = 5; default: r = 5; } }",
        IN_BRACES,
    ),
    "before the type": ("void step(int x) {\n OFF int k = 1; r = k; }", "'int x __attribute__((cleanup(f)))'"),
    "an array": ("void step(int x) {\n int k[2] OFF; r = 1; }", "'int x __attribute__((cleanup(f)))'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_forms_are_refused_with_what_to_write(name: str, tmp_path: Path) -> None:
    text, hint = REFUSED[name]
    error = refusal(tmp_path, HEAD + text)
    assert "attribute 'cleanup' in" in error.message
    assert hint in error.hint
    assert error.where is not None
    assert error.where.line == HEAD.count("\n") + 2
