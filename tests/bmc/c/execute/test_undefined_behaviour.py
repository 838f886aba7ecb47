"""Steps that C leaves undefined are excluded, those beside them are not; what is volatile through a pointer counts."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_support import own_environment, read, refusal  # noqa: F401

from bmc.system.simulation import Simulator

INT, LONG = -(1 << 31), -(1 << 63)


def allowed(folder: Path, text: str, **inputs: int) -> bool:
    """Whether the first step under ``inputs`` is defined."""
    model = read(folder, text)
    simulator = Simulator(model.system)
    raw = {var.name: inputs[var.name] % (1 << max(var.type.bits, 1)) for var in model.system.inputs}
    return simulator.allowed(simulator.initial(), raw)


@pytest.mark.parametrize("op", ["/", "%", "/=", "%="])
@pytest.mark.parametrize(
    ("ctype", "a", "b", "defined"),
    [
        ("int", INT, -1, False),
        ("int", INT + 1, -1, True),
        ("int", INT, 1, True),
        ("int", INT, -2, True),
        ("int", 5, 0, False),
        ("long long", LONG, -1, False),
        ("long long", LONG, 1, True),
        ("short", -(1 << 15), -1, True),
        ("unsigned", 1 << 31, (1 << 32) - 1, True),
    ],
)
def test_the_least_number_divided_by_minus_one(
    tmp_path: Path, op: str, ctype: str, a: int, b: int, defined: bool
) -> None:
    work = f"{ctype} q = a; q {op} b; r = q;" if "=" in op else f"r = a {op} b;"
    assert allowed(tmp_path, f"long long r; void step({ctype} a, {ctype} b) {{ {work} }}", a=a, b=b) is defined


@pytest.mark.parametrize(
    ("point", "index", "defined"),
    [
        ("int *p = &x;", 0, True),
        ("int *p = &x;", 1, False),
        ("int *p = &x;", -1, False),
        ("int *p = &s.b;", 0, True),
        ("int *p = &s.b;", -1, False),
        ("int *p = i > 5 ? &x : &t[1];", 1, True),
        ("int *p = i > 5 ? &x : &t[1];", -1, True),
        ("int *p = i > 5 ? &x : &t[1];", 2, False),
        ("int *p = i > 5 ? &x : &t[1];", 6, False),
    ],
)
@pytest.mark.parametrize("access", ["r = p[i];", "p[i] = 2;"])
def test_beyond_what_a_pointer_points_to(tmp_path: Path, point: str, index: int, defined: bool, access: str) -> None:
    text = f"int x, t[3], r; struct {{ int a, b, c; }} s; void step(int i) {{ {point} {access} }}"
    assert allowed(tmp_path, text, i=index) is defined


@pytest.mark.parametrize(
    "work",
    [
        "volatile int *p = &x; r = *p;",
        "volatile int *p = &x; r = p[0];",
        "int *q = &x; r = *(volatile int *)q;",
        "const volatile struct s *p = &y; r = p->a;",
    ],
)
def test_what_is_accessed_as_volatile_is_volatile_though_declared_plain(tmp_path: Path, work: str) -> None:
    """Its value comes from outside: the project must say what it is, unless the step has written it before."""
    text = f"int x, r; struct s {{ int a; }} y; void step(int i) {{ {{written}} {work} x = i; }}"
    error = refusal(tmp_path, text.replace("{written}", ""))
    assert "is read before the step writes it" in error.message or "and the step never writes it" in error.message
    read(tmp_path, text.replace("{written}", "x = i; y.a = i;"))
    plain = text.replace("{written}", "").replace("volatile ", "")
    read(tmp_path, plain)
