"""Objects and loops of any size are read or refused with their place, without taking time or memory first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from c_support import own_environment, read, refusal  # noqa: F401

from bmc.limits import ELEMENTS, NUMBERS, WORK, TooLarge
from bmc.models.c.controller import reading
from bmc.models.c.execute import statements

SIZES = [ELEMENTS.most + 1, 10**9]
NEST = "struct s0 { int a; };\n" + "".join(f"struct s{k} {{ struct s{k - 1} a, b, c, d; }};\n" for k in range(1, 31))
LARGE = {
    "read": ("int q[SIZE]; int r;", "if (a >= 0 && a < SIZE) r = q[a];", 1),
    "written": ("int q[SIZE]; int r;", "if (a >= 0 && a < SIZE) q[a] = 1; r = q[5];", 1),
    "constant": ("static const char q[SIZE] = {1, 2, 3}; int r;", "r = q[a & 3];", 1),
    "local": ("int r;", "int q[SIZE]; q[0] = a; r = q[0];", 2),
    "set to zero": ("int r;", "int q[SIZE] = {0}; q[0] = a; r = q[0];", 2),
    "two dimensions": ("int q[SIZE][SIZE]; int r;", "r = q[1][2];", 1),
    "designator": ("int q[] = {[SIZE - 1] = 1}; int r;", "r = q[0];", 1),
    "structs": ("struct { int a, b; } q[SIZE]; int r;", "r = q[0].a;", 1),
}
"""What stands before the step, its body, and the line of the refusal."""


@pytest.mark.parametrize("name", LARGE)
def test_a_large_object_is_refused_with_its_line(name: str, tmp_path: Path) -> None:
    before, body, line = LARGE[name]
    for size in SIZES:
        error = refusal(tmp_path, f"{before}\nvoid step(int a) {{ {body} }}".replace("SIZE", f"{size}ul"))
        assert isinstance(error, TooLarge), (size, error)
        assert "more than 100,000 numbers in one object that is used" in error.message
        assert error.where is not None
        assert line <= error.where.line <= 2


def test_large_objects_that_are_not_used_are_read_over(tmp_path: Path) -> None:
    text = f"{NEST}struct s30 s; char q[1000000000]; int r; void step(int a) {{ r = a + (sizeof(s) == 1ul << 62); }}"
    assert [var.name for var in read(tmp_path, text).system.state] == ["r"]


def test_many_objects_are_read_over_where_they_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of objects that are too large together the largest are refused where they are used, and the others read."""
    monkeypatch.setattr(reading, "NUMBERS", replace(NUMBERS, most=100))
    before = "int large[90], many[60], few[20];\nint r;"
    assert read(tmp_path, f"{before} void step(int a) {{ r = few[3] + many[5] + a; }}").system.state
    error = refusal(tmp_path, f"{before} void step(int a) {{ r = large[0] + few[3]; }}")
    assert isinstance(error, TooLarge)
    assert "more than 100 numbers in all objects at file scope" in error.message
    assert error.where is not None
    assert error.where.line == 1


def test_structs_that_multiply_are_refused_with_their_line(tmp_path: Path) -> None:
    error = refusal(tmp_path, f"{NEST}struct s30 s; int r; void step(int a) {{ r = s{'.a' * 31}; }}")
    assert isinstance(error, TooLarge)
    assert error.where is not None
    assert error.where.line == 32


LOOPS = {
    "long": "for (int k = 0; k < 100000000; k++)\nr ^= k & 1;",
    "nested": "for (int k = 0; k < 2000; k++) for (int l = 0; l < 2000; l++)\nr ^= k & 1;",
    "calls": "r =\nf9(a);",
}
CALLS = "static int f0(int x) { return x; }\n" + "".join(
    f"static int f{k}(int x) {{ return f{k - 1}(x) + f{k - 1}(x) + f{k - 1}(x) + f{k - 1}(x); }}\n"
    for k in range(1, 10)
)


@pytest.mark.parametrize("name", LOOPS)
def test_many_statements_are_refused_with_their_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statements, "WORK", replace(WORK, most=2_000))
    error = refusal(tmp_path, f"int r; {CALLS}void step(int a) {{ {LOOPS[name]} }}")
    assert isinstance(error, TooLarge)
    assert "more than 2,000 statements executed, numbers read or written" in error.message
    assert ("bound the loop" in error.hint) is (name != "calls")
    assert error.where is not None
    assert error.where.line > 0


TWICE = {
    "always": "return f{}(x) + f{}(x);",
    "where it must be": "if (x & 1) return f{}(x / 3) + f{}(x * 5); return x;",
}


@pytest.mark.parametrize("name", TWICE)
def test_functions_that_call_twice_are_refused_without_talk_of_loops(name: str, tmp_path: Path) -> None:
    """The calls are 2^40; each counts the functions around it, which note what it reads."""
    rows = (f"static int f{k}(int x) {{ {TWICE[name].format(k - 1, k - 1)} }}\n" for k in range(1, 41))
    statements_only = 12 * 2**9
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(statements, "WORK", replace(WORK, most=statements_only))
        text = f"int r; static int f0(int x) {{ return x; }}\n{''.join(rows)}void step(int a) {{ r = f40(a); }}"
        error = refusal(tmp_path, text)
    assert isinstance(error, TooLarge)
    assert "loop" not in error.hint
    assert "executed at each of its calls" in error.hint


def test_a_call_counts_the_functions_around_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain of 100 calls executes some 1,000 statements and reads, and has 5,000 functions active at its calls."""
    rows = "".join(f"static int f{k}(int x) {{ return f{k - 1}(x); }}\n" for k in range(1, 101))
    text = f"int r; static int f0(int x) {{ return x; }}\n{rows}void step(int a) {{ r = f100(a); }}"
    monkeypatch.setattr(statements, "WORK", replace(WORK, most=7_000))
    assert read(tmp_path, text).system.state
    monkeypatch.setattr(statements, "WORK", replace(WORK, most=4_000))
    assert isinstance(refusal(tmp_path, text), TooLarge)


def test_init_may_take_many_statements_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loop = "for (int k = 0; k < 300; k++) r ^= k & 1;"
    text = f"int r; void init(void) {{ {loop} }} void step(int a) {{ {loop} }}"
    monkeypatch.setattr(statements, "WORK", replace(WORK, most=4_000))
    assert read(tmp_path, text).system.state
