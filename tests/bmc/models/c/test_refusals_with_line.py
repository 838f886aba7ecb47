"""Code that cannot be read exactly, or not at all: refused with its line, and with the name of what is wrong."""

# ruff: noqa: E501 (C programs in tables)
from __future__ import annotations

from pathlib import Path

import pytest
from c_support import own_environment, read, refusal  # noqa: F401

from bmc.errors import Location
from bmc.models.c.source.program import DEEPEST_RUN

MATH = "#include <math.h>\n"

REFUSALS: dict[str, tuple[str, str, int]] = {
    "volatile, read before it is written": (
        "\nvolatile int port;\nint r; void step(void) { r = port; port = 5; }",
        "the volatile object 'port' is read before the step writes it",
        2,
    ),
    "volatile, changed bit by bit": (
        "volatile unsigned port; void step(void) { port |= 4u; }",
        "the volatile object 'port' is read before",
        1,
    ),
    "volatile, written on one path": (
        "volatile int port; int r; void step(int x) { if (x) port = 5; r = port; }",
        "the volatile object 'port' is read before",
        1,
    ),
    "a volatile member": (
        "\nstruct { volatile int reg; int n; } dev; int r; void step(void) { r = dev.reg; dev.reg = 1; }",
        "the volatile object 'dev.reg' is read before",
        2,
    ),
    "a volatile member that is only read": (
        "typedef volatile int reg_t; struct { int n; reg_t reg[2]; } dev; int r; void step(void) { r = dev.reg[1]; }",
        "the volatile object 'dev.reg[1]' is read, and the step never writes it",
        1,
    ),
    "a volatile static local": (
        "int r; void step(void) {\n static volatile int seen; r = seen; seen = 1; }",
        "the volatile object 'step::seen' is read before",
        2,
    ),
    "a pointer to volatile": (
        "int r;\nvoid step(volatile int *port) { r = *port; *port = 5; }",
        "the volatile object '*port' is read before",
        2,
    ),
    "an object read as volatile": (
        "int flag, r; void step(void) { r = *(volatile int *)&flag; flag = 0; }",
        "the volatile object 'flag' is read before",
        1,
    ),
    "init reads a volatile object": (
        "\nvolatile int port; int r; void init(void) { r = port; } void step(int x) { r += x; }",
        "init reads the volatile object 'port'",
        2,
    ),
    "signbit of a cast": (MATH + "int r; void step(void) { r = signbit((float)-1.0); }", "'signbit' used as a", 2),
    "signbit of a product": (
        MATH + "int r; void step(void) {\n r = signbit(-2.0f * 1.0f) + 1; }",
        "'signbit' used as a",
        3,
    ),
    "signbit of an infinity": (MATH + "int r; void step(void) { r = signbit(-INFINITY); }", "'signbit' used as a", 2),
    "two signs compared": (
        MATH + "int r; void step(float a, double b) { r = signbit(a) == signbit(b); }",
        "'signbit' used as a",
        2,
    ),
    "signbit and an order": (MATH + "int r; void step(float a) { r = signbit(a) > 0; }", "'signbit' used as a", 2),
    "a thread's own object": (
        "\n_Thread_local int k; int r; void step(int x) { k += x; r = k; }",
        "thread-local object 'k'",
        2,
    ),
    "a thread's own object, as gcc has it": (
        "\nstatic __thread int k; void step(int x) { k += x; }",
        "thread-local object 'k'",
        2,
    ),
    "a thread's own static local": (
        "int r; void step(int x) {\n static _Thread_local int k; k += x; r = k; }",
        "thread-local object 'k'",
        2,
    ),
    "an open function": ("int r;\nvoid step(int x) {\n r = x;\n\n\n", "the file ends inside of", 3),
    "an open declaration": (
        "#include <stdint.h>\nint r; void step(int x) { r = x; }\n/* two\nlines */\nint q[",
        "the file ends inside of",
        5,
    ),
    "an open comment": ("int r;\nvoid step(int x) { r = x; }\n/* and so on\n", "a comment that does not end", 3),
    "two assignments to one member": (
        "struct S { int q, p; }; void step(struct S *s) {\n s->q = s->q = 1; }",
        "'s->q' is changed and used in one expression in no given order",
        2,
    ),
    "arguments that use one object": (
        "static int f(int a, int b) { return a - b; } int k[3]; int r; void step(int x) {\n r = f(k[1]++, k[1]); }",
        "arguments that change and use one object ('k[1]')",
        2,
    ),
    **{
        f"{name} of math.h": (MATH + f"int r; void step(double x) {{\n r = {call}; }}", f"'{name}' of <math.h>", 3)
        for name, call in {
            "fpclassify": "fpclassify(x)",
            "nextafter": "nextafter(x, 2)",
            "modf": "modf(x, &x) > 0",
            "ilogb": "ilogb(x)",
            "remainder": "remainder(x, 2) > 0",
            "scalbn": "scalbn(x, 2) > 0",
        }.items()
    },
    "too many dimensions": ("\nint q" + "[1]" * 20_000 + "; void step(int x) {}", f"more than {DEEPEST_RUN:,} deep", 2),
    "too many dimensions on lines": (
        "int q" + "[1]\n" * 20_000 + "; void step(int x) {}",
        f"more than {DEEPEST_RUN:,} deep",
        DEEPEST_RUN + 1,
    ),
    "too many parameter lists": ("\nint q" + "(int)" * 20_000 + ";", f"more than {DEEPEST_RUN:,} deep", 2),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", REFUSALS)
def test_is_refused_with_its_line(name: str, tmp_path: Path) -> None:
    text, message, line = REFUSALS[name]
    error = refusal(tmp_path, text)
    assert message in error.message
    assert error.where is not None
    assert (Path(error.where.file).name, error.where.line) == ("program.c", line)
    assert error.hint


@pytest.mark.parametrize("role", ["output", "ignore"])
def test_no_other_role_says_what_a_volatile_object_holds(role: str, tmp_path: Path) -> None:
    text = "volatile int port; int r; void step(void) { r = port; port = 5; }"
    assert "'port' is read before" in refusal(tmp_path, text, **{role: ("port",)}).message


def test_an_input_has_no_value_in_init(tmp_path: Path) -> None:
    text = "volatile int port; int r; void init(void) { r = port; } void step(void) { r += port; }"
    assert "no input has a value before the first step" in refusal(tmp_path, text, input=("port",)).message


@pytest.mark.slow
def test_brackets_beside_each_other_are_no_run(tmp_path: Path) -> None:
    """Only those that stand in a row on one level count."""
    many = "".join(f"int v{n}[1]; int g{n}(int);\n" for n in range(DEEPEST_RUN + 10))
    text = f"{many}int t[1]; int r; static int f(int x, int y) {{ return x + y; }}\nvoid step(int x) {{ r = f((x), (t)[0]); }}"
    assert read(tmp_path, text).system.state


VALUES = {
    "too large": ("signed char", "300", "300 does not fit 'k' (signed char: -128..127)"),
    "negative": ("unsigned short", "-1", "-1 does not fit 'k' (unsigned short: 0..65535)"),
    "a fraction": ("int", "2.7", "2.7 does not fit 'k' (int"),
    "a large fraction": ("int", "1e40", "1e40 does not fit 'k' (int"),
    "no truth value": ("_Bool", "2", "2 does not fit 'k' (_Bool: 0..1)"),
    "beyond float": ("float", "1e40", "1e40 does not fit 'k' (float)"),
    "computed beyond float": ("float", "1e39 * 2", "1e39 * 2 does not fit 'k' (float)"),
    "beyond double": ("double", "-1e400", "-1e400 does not fit 'k' (double)"),
}


@pytest.mark.parametrize("name", VALUES)
def test_a_value_that_does_not_fit(name: str, tmp_path: Path) -> None:
    ctype, value, message = VALUES[name]
    text = f"extern {ctype} k; int r; void step(int x) {{ r = k > x; }}"
    error = refusal(tmp_path, text, values={"k": value}, where=Location("chaincover.toml", 3))
    assert message in error.message
    assert error.where == Location("chaincover.toml", 3)
