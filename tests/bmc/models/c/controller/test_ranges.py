"""Allowed values: of inputs by their types, of start values that the tester chooses, of ``_Bool`` by any name."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_support import own_environment, read, refusal  # noqa: F401

from bmc.formulas.evaluate import compile_formulas
from bmc.models.c.controller.ranges import only_named
from bmc.native.differential import Sampler, compare
from bmc.native.original import compiled
from bmc.system.simulation import Simulator

FLAGS = """
typedef _Bool flag; typedef struct { flag on; _Bool many[2]; int n; } state;
int r;
void init(state *s) { s->n = 1; }
void step(state *s, int i) { r = s->on + s->many[1] * 2; s->on = !s->many[0]; s->many[0] = !s->on;
  s->many[1] = i != 0; }
"""
BOOLEANS = ("s->on", "s->many[0]", "s->many[1]")


def starts(folder: Path, text: str, name: str, **config: object) -> list[int]:
    """The patterns below 256 that the variable may start with, all others as ``initial`` has them."""
    system = read(folder, text, **config).system
    holds, first = compile_formulas([system.init_formula]), Simulator(system).initial()
    return [value for value in range(256) if holds({**first, name: value})[0]]


@pytest.mark.parametrize("name", BOOLEANS)
def test_a_boolean_starts_with_0_or_1_whatever_its_type_is_called(tmp_path: Path, name: str) -> None:
    assert starts(tmp_path, FLAGS, name, init=("init",), chosen=("s->*",)) == [0, 1]


@pytest.mark.needs_compiler
def test_a_boolean_by_any_name_is_compared_with_0_and_1_alone(tmp_path: Path) -> None:
    model = read(tmp_path, FLAGS, init=("init",), chosen=("s->*",))
    sampler = Sampler(model.system, 1)
    drawn = [sampler.random_state() for _ in range(50)]
    assert {state[name] for state in drawn for name in BOOLEANS} == {0, 1}
    with compiled(model.native) as original:
        assert compare(model.system, original, 400).differences == ()


OPEN = "typedef struct { signed char n; double x; } t; t s; int r; void init(t *s) {} void step(t *s) { r = s->n; %s }"
"""What ``init`` leaves open: all of ``*s``."""


@pytest.mark.parametrize(
    ("allowed", "patterns", "first"),
    [
        ("3..5", [3, 4, 5], 3),
        (("7", "-2", "9"), [7, 9, 254], 7),
        (("-2", "-3"), [253, 254], 253),
        ("-1..1", [0, 1, 255], 0),
    ],
)
def test_ranges_restrict_the_start_value_that_the_tester_chooses(
    tmp_path: Path, allowed: str | tuple[str, ...], patterns: list[int], first: int
) -> None:
    config = {"init": ("init",), "chosen": ("s->n",), "ranges": {"s->n": allowed}}
    assert starts(tmp_path, OPEN % "s->n++;", "s->n", **config) == patterns
    simulator = Simulator(read(tmp_path, OPEN % "s->n++;", **config).system)
    assert simulator.initial()["s->n"] == first
    assert simulator.chosen() == {"s->n": first}


def test_ranges_do_not_restrict_what_init_leaves_open_and_nobody_chooses(tmp_path: Path) -> None:
    text = OPEN % "s->n = 1;"
    assert len(starts(tmp_path, text, "s->n", init=("init",), ranges={"s->n": "3..5"})) == 256


def test_inputs_that_only_take_what_their_types_name_are_told_and_ranges_widen_them(tmp_path: Path) -> None:
    text = """typedef enum { OFF, ON = 4 } mode; typedef unsigned char boolean_T; int r;
    void step(mode m, boolean_T b, _Bool c, int n) { r = m + b + c + n; }"""
    model = read(tmp_path, text)
    assert {v.name: v.values for v in model.system.inputs if v.name != "n"} == {
        "m": ((0, 0), (4, 4)),
        "b": ((0, 1),),
        "c": ((0, 1),),
    }
    assert only_named(model) == ["m", "b"]
    assert [note.split(" is given")[0] for note in model.notes] == ["'m'", "'b'"]
    wide = read(tmp_path, text, ranges={"m": "0..9", "b": ("0", "1", "255")})
    assert {v.name: v.values for v in wide.system.inputs if v.name in "mb"} == {
        "m": ((0, 9),),
        "b": ((0, 1), (255, 255)),
    }
    assert not only_named(wide)
    assert not wide.notes
    assert "does not fit" in str(refusal(tmp_path, text, ranges={"m": "-1..9"}))
