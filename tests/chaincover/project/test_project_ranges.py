"""Ranges, exclusive inputs and assumptions of project files, against direct evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import fresh_names, write_files
from small_programs import GOOD, project

from bmc.system.simulation import Simulator
from chaincover.project.load import load
from chaincover.project.project_file import read_project


@pytest.fixture(autouse=True)
def _names() -> Iterator[None]:
    with fresh_names():
        yield


def read(folder: Path, toml: str, code: str = GOOD) -> Simulator:
    write_files(folder, {"c.c": code, "chaincover.toml": toml})
    return Simulator(load(read_project(str(folder))).system)


@pytest.mark.parametrize(
    ("given", "allowed"),
    [
        ("'0..9'", ((0, 9),)),
        ("'-2 .. LIMIT'", ((-2, 4),)),
        ("[3, 1, 2, 7]", ((1, 3), (7, 7))),
        ("['LIMIT', 'LIMIT * 2', -1]", ((-1, -1), (4, 4), (8, 8))),
        ("'6'", ((6, 6),)),
        ("[true, false]", ((0, 1),)),
    ],
)
def test_ranges(given: str, allowed: tuple[tuple[int, int], ...], tmp_path: Path) -> None:
    toml = project(f"[ranges]\na = {given}")
    simulator = read(tmp_path, toml, "#define LIMIT 4\n" + GOOD)
    assert next(v.values for v in simulator.system.inputs if v.name == "i->a") == allowed
    for number in range(-4, 12):
        answer = simulator.allowed({"s->n": 0, "s->m": 0}, {"i->a": number % 2**32, "i->b": 0})
        assert answer == any(low <= number <= high for low, high in allowed)


BUTTONS = """\
typedef struct { _Bool up, down; unsigned char other; } t_in;
typedef struct { int n; } t_st;
void init(t_st *s) { s->n = 0; }
void compute(t_in *i, t_st *s) { s->n = i->up + 2 * i->down + 4 * (i->other != 0); }
"""


@pytest.mark.parametrize(
    ("constraint", "counts"),
    [
        ("at_most_one = [['up', 'i->down', 'other']]", {0, 1}),
        ("exactly_one = [['i->*']]", {1}),
        ("at_most_one = [['up', 'down']]\nexactly_one = [['down', 'other']]", None),
        ("assume = ['up + down + (other > 0) >= 2', 'other < 3']", {2, 3}),
    ],
)
def test_exclusive_inputs(constraint: str, counts: set[int] | None, tmp_path: Path) -> None:
    """Any value but 0 counts as pressed."""
    simulator = read(tmp_path, project(f"[constraints]\n{constraint}"), BUTTONS)
    for up, down, other in [(u, d, o) for u in (0, 1) for d in (0, 1) for o in (0, 2)]:
        answer = simulator.allowed({"s->n": 0}, {"i->up": up, "i->down": down, "i->other": other})
        pressed = up + down + (other > 0)
        expected = pressed in counts if counts is not None else up + down <= 1 and down + (other > 0) == 1
        assert answer == expected, (up, down, other)


def test_assumptions_may_read_the_state(tmp_path: Path) -> None:
    simulator = read(tmp_path, project("[constraints]\nassume = ['n < 3 || !b']"))
    allowed = [simulator.allowed({"s->n": n, "s->m": 0}, {"i->a": 0, "i->b": b}) for n, b in ((2, 1), (3, 1), (3, 0))]
    assert allowed == [True, False, True]
