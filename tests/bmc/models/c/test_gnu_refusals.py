"""What of gcc's additions, of strings and of calls without prototypes is refused, with its line."""

# ruff: noqa: E501 (C programs in tables)
from __future__ import annotations

from pathlib import Path

import pytest
from c_support import own_environment, read, refusal  # noqa: F401

from bmc.models.c.controller.model import CModel

REFUSED = {
    "return": ("int f(int a) {\n return 1 + ({ if (a) return 2; 3; }); } void step(int a) { r = f(a); }", "return out of a statement expression", 2),
    "break": ("void step(int a) { for (int k = 0; k < 3; k++)\n r = ({ if (a) break; 3; }); }", "break out of a statement expression", 2),
    "continue": ("void step(int a) { for (int k = 0; k < 3; k++)\n r = ({ switch (a) { case 1: continue; } 3; }); }", "continue out of", 2),
    "goto": ("void step(int a) {\n r = ({ if (a) goto out; 3; }); out: ; }", "goto out of a statement expression", 2),
    "goto into": ("void step(int a) {\n if (a) goto in; r = ({ in: ; 3; }); }", "goto into a block", 2),
    "void statement expression": ("void step(int a) {\n r = ({ if (a) a = 2; }); }", "a void value is assigned", 2),
    "statement expression outside of functions": ("int q =\n ({ 3; }); void step(int a) { r = q; }", "outside of functions", 2),
    "order in a statement expression": ("int f(int a, int b) { return a; } int k; void step(int a) {\n r = f(({ k++; k; }), k); }", "in no given order", 2),
    "typeof of an unknown name": ("void step(int a) {\n typeof(q) x = a; r = x; }", "unknown name 'q'", 2),
    "__auto_type without a value": ("void step(int a) {\n __auto_type x; r = a; }", "__auto_type without a value", 2),
    "_Generic without a match": ("void step(int a) {\n r = _Generic(a, long: 1); }", "no type of this _Generic selection is int", 2),
    "_Generic with two matches": ("void step(int a) {\n r = _Generic(a, int: 1, signed: 2); }", "two types of a _Generic selection", 2),
    "constant that the compiler may find": ("void step(int a) {\n r = __builtin_constant_p(a * 0); }", "__builtin_constant_p of what a compiler may simplify", 2),
    "alignment that no type gives": ("char t[8]; void step(int a) {\n char *p = __builtin_assume_aligned(t, 16); r = p[0]; }", "alignment of 't' by 16", 2),
    "overflow into an enumeration": ("enum E { A } e; void step(int a) {\n r = __builtin_add_overflow(a, 1, &e); }", "needs a pointer to an integer", 2),
    "bits of a double": ("void step(double a) {\n r = __builtin_popcount(\"a\"); }", "conversion of a pointer", 2),
    "range of elements with effects": ("int f(void) { return r++; } void step(int a) {\n int t[3] = {[0 ... 1] = f()}; r = t[0]; }", "initialiser with effects", 2),
    "empty range of elements": ("int t[3] =\n {[1 ... 0] = 3}; void step(int a) { r = t[0]; }", "empty range", 2),
    "case ranges that overlap": ("void step(int a) { switch (a) { case 1 ... 5: r = 1;\n case 5 ... 9: r = 2; } }", "two equal case labels", 2),
    "case in a range": ("void step(int a) { switch (a) { case 3: r = 1;\n case 1 ... 9: r = 2; } }", "two equal case labels", 2),
    "failing assertion in a struct": ("struct S { int a;\n _Static_assert(sizeof(int) == 3, \"x\"); } s; void step(int a) { r = s.a; }", "static assertion failed", 2),
    "number of strcmp": ("#include <string.h>\nvoid step(int a) {\n r = strcmp(\"a\", \"b\"); }", "'strcmp' used as a number", 3),
    "strcpy within one object": ("#include <string.h>\nchar t[8]; void step(int a) {\n strcpy(&t[4], t); r = 1; }", "strcpy within one object", 3),
    "strcpy within the bytes of one object": ("#include <string.h>\nstruct { int k; char n[8]; } s; void step(int a) {\n strcpy((char *)&s + 1, s.n); }", "strcpy within one object", 3),
    "div of another kind": ("int div(int a, int b); void step(int a) {\n r = div(a, 2); }", "'div' is declared otherwise", 2),
    "argument of another type": ("int f(); void step(long a) {\n r = f(a); } int f(int a) { return a; }", "argument 1 of 'f', which no prototype declares, is a long", 2),
    "float parameter of an old-style step": ("\nvoid step(a) float a; { r = a > 0; }", "float parameter 'a' of the old-style definition of 'step'", 2),
    "narrow parameter": ("int f(); void step(int a) {\n r = f(a); } int f(char a) { return a; }", "argument 1 of 'f'", 2),
    "too many arguments": ("int f() { return 3; } void step(int a) {\n r = f(a); }", "takes 0 argument", 2),
    "undeclared function that yields long": ("void step(int a) {\n r = f(a); } long f(int a) { return a; }", "'f' is called without a declaration", 2),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused(name: str, tmp_path: Path) -> None:
    text, message, line = REFUSED[name]
    text = text.replace("\n", "\nint r; ", 1) if text.startswith("#include") else "int r; " + text
    error = refusal(tmp_path, text)
    assert message in error.message
    assert error.where is not None
    assert error.where.line == line


def decisions(model: CModel) -> list[tuple[int, int, str, str, bool]]:
    """Line, column, kind and text of each decision, and whether the step evaluates it."""
    return [(d.where.line, d.where.column, d.kind, d.text, bool(d.evaluations)) for d in model.decisions]


def test_decisions_within_are_at_their_places(tmp_path: Path) -> None:
    text = """int r;
void step(int a, int b) {
  r = a ?: b; if (b > 7) r++;
  r = ({ typeof(a) x = a; if (x > 3 && b) x = 9; x; }); if (b > 8) r++;
  r += _Generic(a, long: a > 1 ? 2 : 3, int: a > 4 ? 5 : 6); if (b > 9) r++;
  switch (a) { case 1 ... 3: r++; } if (({ int y = a; y; }) > 1) r--;
}
"""
    assert decisions(read(tmp_path, text)) == [
        (3, 7, "?:", "a", True),
        (3, 15, "if", "b > 7", True),
        (4, 27, "if", "x > 3 && b", True),
        (4, 57, "if", "b > 8", True),
        (5, 46, "?:", "a > 4", True),
        (5, 62, "if", "b > 9", True),
        (6, 3, "switch", "a", True),
        (6, 37, "if", "({ int y = a; y; }) > 1", True),
    ]
    assert [d.conditions for d in read(tmp_path, text).decisions if d.kind == "switch"] == [("1...3", "no-case")]
