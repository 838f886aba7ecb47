"""Functions whose results depend on the C library: read where nothing needs their results, else refused."""

# ruff: noqa: E501 (C programs in tables)
from __future__ import annotations

from pathlib import Path

import pytest
from c_support import agreement, own_environment, read, refusal  # noqa: F401

HEAD = "#include <math.h>\n\n"
PROGRAMS = {
    "one output": ("double r; int n; void step(double a) { r = sin(a); n++; }", "r"),
    "float": ("float r; int n; void step(float a) { r = tanhf(a) * 0.5f; n++; }", "r"),
    "an integer as argument": ("double r; int n; void step(int a) { r = pow(a, 2) + n; n = a; }", "r"),
    "through a variable": ("double r, k; int n; void step(double a) { r = k; k = exp(a); n++; }", "r k"),
    "through a condition": ("int r, n; void step(double a) { if (cos(a) > 0.5) r = 1; else r = n; n = a > 1; }", "r"),
    "through a local variable": ("double r; int n; void step(double a) { double x = log(a); n++; r = x * x; }", "r"),
    "through a function": (
        "double r; int n; double wave(double x) { return x > 0 ? sin(x) : 0; } void step(double a) { n ^= 1; r = wave(a); }",
        "r",
    ),
    "through a pointer": (
        "double r, k; int n; void put(double *p, double x) { *p = atan2(x, 1); } void step(double a) { n++; put(n & 1 ? &r : &k, a); }",
        "r k",
    ),
    "a member": ("struct s { int n; double x; } s, t; void step(double a) { s.x = asin(a); s.n++; t = s; }", "s.x t.x"),
    "a static variable": ("int n; void step(double a) { static double x; x += hypot(a, 1); n++; }", "step::x"),
    "an array": ("double t[2]; int n; void step(int a) { t[a & 1] = log2(n); n = a; }", "t[0] t[1]"),
    "in a branch of an int": (
        "int n; double r; void step(double a) { switch (n) { case 0: r = exp2(a); } n = a > 0; }",
        "r",
    ),
    "a table that init makes": (
        "double t[3], r; int n; void init(void) { for (int k = 0; k < 3; k++) t[k] = cos(k); } void step(int a) { n = a; r = t[1]; }",
        "t[0] t[1] t[2] r",
    ),
    "a decision of init": (
        "int k, r, n; void init(void) { if (sin(1.0) > 0.5) k = 1; } void step(int a) { n = a; r = k; }",
        "k r",
    ),
    "set only where a value says so": (
        "typedef struct { int y; int n; } t; void init(t *s) { s->n = 0; } "
        "void step(t *s, double a) { if (erf(a) > 0) s->y = 1; s->n++; }",
        "s->y s->y#defined",
    ),
}


@pytest.mark.needs_compiler
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_depends_on_a_library_is_no_part_of_the_system(name: str, tmp_path: Path) -> None:
    """All the rest is, and agrees with the compiled original."""
    text, expected = PROGRAMS[name]
    model = read(tmp_path, HEAD + text)
    undetermined = model.undetermined
    assert {each for each in undetermined.dependent if each not in undetermined.calls} == set(expected.split())
    assert {var.name for var in model.system.state} == {
        var.name for var in undetermined.whole.state if var.name not in expected.split()
    }
    found = agreement(model, pairs=100)
    assert found.steps > 0
    assert not found.differences, found.differences[0]


def test_results_that_cancel_out_in_every_run_are_no_dependence(tmp_path: Path) -> None:
    model = read(tmp_path, HEAD + "double r; int n; void step(double a) { r = sin(a); r = 0.5; n++; }")
    assert [var.name for var in model.system.state] == ["r", "n"]
    assert model.undetermined.notes == ()


def test_notes_name_what_is_left_out_and_the_calls(tmp_path: Path) -> None:
    model = read(tmp_path, HEAD + "double r, unused; int n;\nvoid step(double a) { r = sin(a); n = 1; cos(a); }")
    (note,) = (each for each in model.notes if "C library" in each)
    assert "'r' depends on functions of the C library: sin (" in note
    assert "program.c:4:27)" in note
    assert "cos" not in note


NEEDED = {
    "conversion": (
        "int r; void step(double a) {\n r = (int)sin(a); }",
        "the condition of undefined behaviour 'double out of the range of int in a conversion'",
        (4, 11),
    ),
    "index": (
        "int t[2], r; void step(double a) {\n r = t[exp(a) > 1]; r = t[r + (cos(a) > 0)]; }",
        "undefined",
        (4, 8),
    ),
    "path of an overflow": ("int r; void step(double a, int b) {\n if (log(a) > 1) r = b + 1; }", "overflow", (4, 6)),
    "assertion": ("double r; void step(double a) {\n assert(sin(a) <= 1); r = 1; }", "by the assertion at", (4, 9)),
    "assumption": (
        "double r; void step(double a) {\n __CPROVER_assume(sin(a) <= 1); r = 1; }",
        "by the assumption in the code at",
        (4, 19),
    ),
    "through the state": (
        "double k; int r; void step(double a) {\n k = pow(a, 3);\n r = (int)k; }",
        "the condition of undefined behaviour",
        (4, 6),
    ),
    "init": (
        "int r; void init(void) {\n r = (int)exp(1.5); } void step(int a) { r = a; }",
        "the condition of undefined behaviour",
        (4, 11),
    ),
}


@pytest.mark.parametrize("name", NEEDED)
def test_refused_is_what_undefined_behaviour_or_an_assertion_needs(name: str, tmp_path: Path) -> None:
    text, what, place = NEEDED[name]
    error = refusal(tmp_path, HEAD + text)
    assert "of <math.h>, whose results depend on the library, where they are needed: by " in error.message
    assert what in error.message
    assert error.where is not None
    assert (error.where.line, error.where.column) == place
    assert "in a source file" in error.hint


def test_each_call_is_named_on_which_what_is_needed_depends(tmp_path: Path) -> None:
    """By its arguments, too: with a function of one's own for the outer one the inner one is needed."""
    text = "int r; double k; void step(double a) { k = cos(a);\n r = sin(k) > 0.5 ? 1 / (exp(r) > 1) : 0; }"
    error = refusal(tmp_path, HEAD + text)
    assert error.where is not None
    assert error.where.line == 3
    assert "'cos'" in error.message


def test_declared_otherwise_or_called_with_another_number_of_arguments(tmp_path: Path) -> None:
    assert "declared otherwise" in refusal(tmp_path, "int sin(int); double r; void step(int a) { r = sin(a); }").message
    text = HEAD + "double r; void step(double a) { r = pow(a); }"
    assert "takes 2 argument(s), not 1" in refusal(tmp_path, text).message


def test_the_initialiser_of_a_static_object_has_no_library(tmp_path: Path) -> None:
    error = refusal(tmp_path, HEAD + "static double k = sin(0.5); double r; void step(int a) { r = k + a; }")
    assert "'sin' of <math.h>" in error.message
