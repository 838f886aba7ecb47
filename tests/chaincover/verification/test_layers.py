"""Searches in layers against the table of all reachable states, and against forged bounds."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest
from command_line import chaincover
from pysmt.shortcuts import BV, BVSLT, BVULT, FALSE, And, Ite, Not, Symbol
from pysmt.typing import BOOL
from random_systems import random_case

from benchmarks.measures.families.members import member
from bmc.formulas.unroll import at, framed
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, ValueType
from chaincover.certificate import Certificate, PathFact
from chaincover.verification import layers as layers_module
from chaincover.verification.checks import MANY
from chaincover.verification.layers import Layers
from chaincover.verification.limits import Clock, Limits
from chaincover.verification.marks import Marks
from chaincover.verification.report import HOLDS, OPEN, WRONG
from chaincover.verification.setting import Setting, monitored_setting
from chaincover.verification.states import tabulate
from chaincover.weights import INIT
from properties.goal import Goal

pytestmark = pytest.mark.needs_compiler
FAR_OFF = 1000
"""No distance in these systems is as long, but for those without end."""


def claiming(setting: Setting, at_least: int) -> Certificate:
    """Every edge with the same bound."""
    edges = tuple(PathFact(pair, at_least) for pair in pairs(setting))
    return Certificate(setting.names, setting.end, setting.overlap, edges=edges)


def pairs(setting: Setting) -> list[tuple[str, str]]:
    ends = [*setting.names, setting.end]
    return [(a, b) for a in (INIT, *setting.names) for b in ends if a != b]


@pytest.mark.parametrize("overlap", ["allow", "forbid"])
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_distances_are_those_of_the_table(seed: int, overlap: str) -> None:
    """The greatest bound that holds on each edge is the same, and one more is WRONG."""
    case = random_case(seed, goals=4, longest=2 if overlap == "allow" else 1)
    agrees(monitored_setting(Setting(case.system, case.goals, case.final, overlap), None)[0])


def agrees(setting: Setting) -> Layers:
    table = tabulate(setting.system, setting.formulas, Clock(Limits()))
    assert table is not None
    marks = Marks(table, setting, setting.names)
    layers = Layers.of(setting, claiming(setting, FAR_OFF), Clock(Limits()))
    assert layers is not None
    assert layers.searched is not None
    assert (layers.searched.size, layers.searched.steps) == (table.size, table.steps)
    for pair in pairs(setting):
        exact = min(marks.least(pair), FAR_OFF - 1)
        told = [layers.verdict(PathFact(pair, n))[0] for n in (exact, exact + 1)]
        assert told == ([HOLDS, WRONG] if exact + 1 < FAR_OFF else [HOLDS, HOLDS]), (pair, exact)
    return layers


def signed() -> Setting:
    """A number goes down to -20 and up to 300 by an input, from a start of 5, while a switch is on."""
    kind = ValueType("int32", 32, signed=True)
    number, on, up = kind.symbol("la_n"), Symbol("la_on", BOOL), Symbol("la_up", BOOL)
    more = Ite(BVSLT(number, BV(300, 32)), number + BV(1, 32), number)
    less = Ite(BVSLT(BV(2**32 - 20, 32), number), number - BV(1, 32), number)
    flag = ValueType("_Bool", 0)
    system = TransitionSystem(
        "signed",
        (
            StateVariable("la_n", kind, BV(5, 32), Ite(on, Ite(up, more, less), number)),
            StateVariable("la_on", flag, FALSE(), Not(on)),
        ),
        (InputVariable("la_up", flag),),
    )
    low, high = number.Equals(BV(2**32 - 20, 32)), number.Equals(BV(300, 32))
    goals = (
        Goal("low", at(low, 0), None, 0),
        Goal("turn", And(at(low, 0), framed(up, 0), at(Not(low), 1)), None, 1),
        Goal("high", And(at(high, 0), at(on, 0)), None, 0),
    )
    return Setting(system, goals, BVULT(number, BV(10, 32)))


@pytest.mark.parametrize("overlap", ["allow", "forbid"])
def test_values_of_both_signs_get_the_bits_that_they_need(overlap: str) -> None:
    layers = agrees(monitored_setting(replace(signed(), overlap=overlap), None)[0])
    assert layers.verdict(PathFact((INIT, "low"), 51))[0] == WRONG, "25 down, in every second step"
    assert layers.verdict(PathFact((INIT, "low"), 50))[0] == HOLDS


def test_values_without_a_sign_are_told_apart() -> None:
    """A byte rises by 100 in each step and wraps around: it has the value 44 after three steps, and 200 after two."""
    byte = ValueType("uint8", 8)
    number = byte.symbol("la_byte")
    system = TransitionSystem("byte", (StateVariable("la_byte", byte, BV(0, 8), number + BV(100, 8)),), ())
    goals = tuple(Goal(f"at {value}", at(number.Equals(BV(value, 8)), 0), None, 0) for value in (44, 200, 3))
    layers = agrees(Setting(system, goals, None))
    assert layers.verdict(PathFact((INIT, "at 44"), 3))[0] == HOLDS
    assert layers.verdict(PathFact((INIT, "at 44"), 4))[0] == WRONG


@pytest.mark.parametrize("more", [0, 1])
def test_a_search_goes_as_far_as_the_bounds_speak(more: int) -> None:
    """The one bound from init, right or one step too long; nothing is said of a longer one."""
    setting = signed()
    proof = replace(claiming(setting, 0), edges=(PathFact((INIT, "low"), 50 + more),))
    layers = Layers.of(setting, proof, Clock(Limits()))
    assert layers is not None
    assert layers.verdict(PathFact((INIT, "low"), 50 + more))[0] == (WRONG if more else HOLDS)
    assert layers.verdict(PathFact((INIT, "low"), 60))[0] == OPEN


@pytest.mark.slow
@pytest.mark.parametrize(
    ("top", "states", "many"), [(60, 3_721, 1_000), pytest.param(600, 361_201, MANY, marks=pytest.mark.evidence)]
)
def test_a_file_about_very_many_states(
    top: int, states: int, many: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the file says holds; that an edge, the order and the chain take a step more is WRONG."""
    monkeypatch.setattr("chaincover.verification.checks.MANY", many)
    project = str(member(f"grid_3_{top}").write(tmp_path))
    assert chaincover("generate", project, "-o", str(tmp_path / "out")).code == 0
    found = chaincover("verify", project, str(tmp_path / "out"))
    assert found.code == 0, found.out
    assert f"met again in layers ({states})" in found.out
    place = tmp_path / "out" / "chain.json"
    document = json.loads(place.read_text())
    for claim in document["certificate"]["claims"]:
        if "path" in claim:
            claim["before"] += 1
    place.write_text(json.dumps(document))
    found = chaincover("verify", project, str(tmp_path / "out"))
    assert found.code == 7, found.out
    assert "a search over all reachable states meets it after" in found.out


def test_too_little_effort_proves_nothing() -> None:
    """Not all states are met, or all, but not how far they are from a goal."""
    setting = signed()
    proof = claiming(setting, 500)
    with patch.object(layers_module, "PORTION", 4):
        assert Layers.of(setting, proof, Clock(Limits(explored=2))) is None
        layers = Layers.of(setting, proof, Clock(Limits()))
        assert layers is not None
        layers._clock = Clock(Limits(explored=2))
        assert layers.verdict(PathFact(("low", "high"), 500))[0] == OPEN
