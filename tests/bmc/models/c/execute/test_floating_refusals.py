"""Floating-point code that is no C, or whose meaning is not fixed, is refused with its place."""

# ruff: noqa: E501 (C programs in tables)
from __future__ import annotations

from pathlib import Path

import pytest
from c_support import own_environment, read, refusal  # noqa: F401

REFUSED = {
    "remainder operator": ("int r; void step(double a) {\n r = a % 2; }", "'%' needs integers, not a double", 2, 6),
    "shift": ("int r; void step(float a) {\n r = 1 << a; }", "'<<' needs integers, not a float", 2, 6),
    "bitwise and": (
        "typedef double real_T; int r; void step(real_T a) {\n r = 3 & a; }",
        "'&' needs integers, not a real_T",
        2,
        6,
    ),
    "complement": ("int r; void step(double a) {\n r = ~a; }", "'~' needs integers, not a double", 2, 7),
    "compound shift": ("int r; void step(double a) {\n r <<= a; }", "'<<' needs integers, not a double", 2, 2),
    "compound or of a double": ("double r; void step(int a) {\n r |= a; }", "'|' needs integers, not a double", 2, 2),
    "index": (
        "int t[3]; int r; void step(double a) {\n r = t[a]; }",
        "an index must be an integer, not a double",
        2,
        6,
    ),
    "switch": ("int r; void step(double a) {\n switch (a) { case 1: r = 1; } }", "'switch' needs an integer", 2, 2),
    "case label": (
        "int r; void step(int a) {\n switch (a) { case 1.0: r = 1; } }",
        "an integer constant is needed",
        2,
        20,
    ),
    "array length": ("int r; void step(int a) {\n int t[2.5]; r = a; }", "array of variable length", 2, 8),
    "float as a pointer": (
        "int *p; int r; void step(double a) {\n r = *(int *)a; }",
        "a floating-point number is used as a pointer",
        2,
        7,
    ),
    "pointer as a float": (
        "int x; double r; void step(int a) {\n r = (double)(long)&x; }",
        "conversion of a pointer to an integer",
        2,
        14,
    ),
    "pointer and float compared": (
        "int x; int r; void step(double a) {\n r = &x == a; }",
        "is used as a pointer",
        2,
        7,
    ),
    "pointer plus a float": ("int x[3]; int r; void step(double a) {\n r = *(x + a); }", "pointer", 2, 8),
    "long double": ("long double x; int r; void step(int a) {\n r = x > 1; }", "long double", 2, 6),
    "long double constant": ("double r; void step(int a) {\n r = 1.5L; }", "long double constant 1.5L", 2, 6),
    "long double cast": ("double r; void step(int a) {\n r = (long double)a; }", "long double", 2, 6),
    "long double parameter": ("double r;\nvoid step(long double a) { r = 1; }", "long double", 2, 6),
    "bits of a float through a pointer": (
        "float f; int r; void step(int a) {\n r = *(int *)&f; }",
        "another type than its own",
        2,
        7,
    ),
    "complex": ("double _Complex z; int r; void step(int a) {\n r = z == 0; }", "_Complex", 1, 1),
    "macro without a number": (
        "#include <math.h>\nint r; void step(int a) {\n r = isnan(a); }",
        "__builtin_isnan needs a floating-point number",
        3,
        6,
    ),
    "too many arguments": (
        "#include <math.h>\ndouble r; void step(double a) {\n r = floor(a, a); }",
        "floor takes 1 argument(s), not 2",
        3,
        6,
    ),
    "too few arguments": (
        "#include <math.h>\ndouble r; void step(double a) {\n r = fmod(a); }",
        "fmod takes 2 argument(s), not 1",
        3,
        6,
    ),
    "struct argument": (
        "#include <math.h>\nstruct P { int x; } p; double r; void step(double a) {\n r = fabs(p); }",
        "fabs needs numbers",
        3,
        6,
    ),
    "another declaration": (
        "int round(double x); int r; void step(double a) {\n r = round(a); }",
        "'round' is declared otherwise than in <math.h>",
        2,
        6,
    ),
    "start value outside of the range": ("int k =\n 1e10; int r; void step(int a) {\n r = k; }", "no constant", 2, 2),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_its_place(name: str, tmp_path: Path) -> None:
    text, message, line, column = REFUSED[name]
    error = refusal(tmp_path, text)
    assert message in error.message
    assert error.where is not None
    assert (error.where.line, error.where.column) == (line, column)


def test_what_is_not_reached_is_no_matter(tmp_path: Path) -> None:
    text = (
        "#include <math.h>\nlong double x; struct S { long double y; float z; } s; double f(double a) { return sin(a); }\n"
        "void step(float a) { s.z = a; }"
    )
    model = read(tmp_path, text)
    assert model.names == ["a", "s.z"]
