"""Runs over cells of values against all runs of a small floating-point system."""

from __future__ import annotations

import random
from functools import cache
from itertools import product
from unittest.mock import patch

import numpy as np
import pytest
from float_systems import FLOAT, known
from hypothesis import given, settings
from hypothesis import strategies as st
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, FALSE, TRUE, And, Not, Or, Symbol
from pysmt.typing import BOOL

from bmc.evaluation.intervals import Floats, Interval, keys_of
from bmc.floats import arithmetic, compare
from bmc.floats.format import FLOAT32, FLOAT64, Format, pattern
from bmc.floats.operations import Program
from bmc.formulas.terms import choose
from bmc.formulas.unroll import at, framed, with_terms
from bmc.system.simulation import Simulator
from bmc.system.transition import InputVariable, Run, StateVariable, TransitionSystem, ValueType
from chaincover.certificate import NoRun
from chaincover.verification import cells
from chaincover.verification.cases import Cases
from chaincover.verification.cells import Cells, Grid
from chaincover.verification.facts import WholeChains
from chaincover.verification.limits import Clock, Limits
from chaincover.verification.report import HOLDS
from chaincover.verification.setting import Setting, monitored_setting
from properties.goal import Goal

STEPS = 4
FEW = 1 / 64
"""The part of an effort for systems that are drawn."""
OUTSIDE = (-4.0, 12.0)
BYTE = ValueType("uint8", 8)
T, HEATER, LEVEL = FLOAT.symbol("cl_t"), FLOAT.symbol("cl_heater"), BYTE.symbol("cl_level")
AIR, ASKED = FLOAT.symbol("cl_outside"), Symbol("cl_asked", BOOL)


def heating() -> TransitionSystem:
    """t' = t + heat - (t - outside) / 8; the heating goes on below 5 and off above 7, or where it is not asked for.

    Each step that it is on counts, from 0 to 3 and again.
    """
    one, zero = known(1.0), known(0.0)
    cold, warm = compare.less(T, known(5.0), FLOAT32), compare.less(known(7.0), T, FLOAT32)
    switched = choose(Not(ASKED), zero, choose(cold, one, choose(warm, zero, HEATER)))
    on = compare.equal(switched, one, FLOAT32)
    loss = arithmetic.multiply(known(0.125), arithmetic.subtract(T, AIR, FLOAT32), FLOAT32)
    after = arithmetic.add(T, arithmetic.subtract(choose(on, known(2.0), zero), loss, FLOAT32), FLOAT32)
    raw = [pattern(value, FLOAT32) for value in OUTSIDE]
    return TransitionSystem(
        "heating",
        (
            StateVariable("cl_t", FLOAT, BV(pattern(4.0, FLOAT32), 32), after),
            StateVariable("cl_heater", FLOAT, BV(0, 32), switched),
            StateVariable(
                "cl_level", ValueType("uint8", 8), BV(0, 8), choose(on, (LEVEL + BV(1, 8)) & BV(3, 8), LEVEL)
            ),
        ),
        (
            InputVariable("cl_outside", FLOAT, tuple((value, value) for value in sorted(raw))),
            InputVariable("cl_asked", ValueType("_Bool", 0)),
        ),
        input_constraint=Or([AIR.Equals(BV(value, 32)) for value in raw]),
        defined=Not(And(ASKED, compare.less(T, known(-1.0), FLOAT32))),
    )


@cache
def all_runs() -> list[Run]:
    """All runs of ``STEPS`` steps, and those that end earlier as no step is possible."""
    simulator = Simulator(heating())
    choices = [{"cl_outside": pattern(v, FLOAT32), "cl_asked": flag} for v in OUTSIDE for flag in (0, 1)]
    runs = []
    for inputs in product(choices, repeat=STEPS):
        run = simulator.run(simulator.initial(), inputs)
        pairs = zip(run.states, run.inputs, strict=False)
        end = next((n for n, (s, i) in enumerate(pairs) if not simulator.allowed(s, i)), STEPS)
        runs.append(Run(run.states[: end + 1], run.inputs[:end]))
    return runs


def least(setting: Setting) -> int:
    """The length of the shortest chain, by all runs; one more than their length where there is none."""
    found = STEPS + 1
    for run in all_runs():
        covered = setting.covered(run)
        for end in range(min(run.length, found - 1) + 1):
            places = {g.name: [k for k in covered[g.name] if k + g.length <= end] for g in setting.goals}
            if setting.ends_well(run, end) and _placed(setting, list(places.items()), []):
                found = end
                break
    return found


def _placed(setting: Setting, left: list[tuple[str, list[int]]], taken: list[tuple[str, int]]) -> bool:
    if not left:
        return True
    (name, steps), *rest = left
    return any(
        _placed(setting, rest, [*taken, (name, step)])
        for step in steps
        if not setting.forbid
        or not any(setting.by_name[name].meets(step, setting.by_name[other], later) for other, later in taken)
    )


def goals() -> st.SearchStrategy[Goal]:
    """Antecedents over two states and a step between them."""
    number = st.sampled_from([3.0, 4.0, 4.5, 5.5, 6.25, 7.0, 8.0])

    def of_state(step: int) -> st.SearchStrategy[FNode]:
        return st.one_of(
            st.builds(lambda value: at(compare.less(known(value), T, FLOAT32), step), number),
            st.builds(lambda value: at(compare.less(T, known(value), FLOAT32), step), number),
            st.builds(
                lambda value: at(compare.equal(HEATER, known(value), FLOAT32), step), st.sampled_from([0.0, 1.0])
            ),
            st.builds(lambda value: at(LEVEL.Equals(BV(value, 8)), step), st.integers(0, 3)),
        )

    asked = st.sampled_from([framed(ASKED, 0), Not(framed(ASKED, 0))])
    warmer = st.just(at(compare.less(T, AIR, FLOAT32), 0))
    part = st.one_of(of_state(0), of_state(1), asked, warmer)
    antecedent = st.one_of(
        part,
        st.builds(And, part, part),
        st.builds(lambda a, b, c: And(a, Or(b, c)), part, part, part),
        st.builds(lambda a, b: And(a, Not(b)), part, part),
    )
    return st.builds(lambda formula: Goal("", formula, None, 1), antecedent)


def setting_of(found: list[Goal], cold_end: bool, overlap: str) -> Setting:
    named = tuple(Goal(f"g{n}", goal.antecedent, None, 1) for n, goal in enumerate(found))
    return Setting(heating(), named, compare.less(T, known(4.25), FLOAT32) if cold_end else None, overlap)


@pytest.mark.slow
@settings(max_examples=2, deadline=None)
@given(
    st.lists(goals(), min_size=1, max_size=3),
    st.booleans(),
    st.sampled_from(["allow", "forbid"]),
    st.sampled_from([0, 64]),
)
def test_no_length_is_refuted_that_has_a_chain(found: list[Goal], cold_end: bool, overlap: str, points: int) -> None:
    """With no value as a cell of its own, nearly every comparison may turn out either way."""
    setting = setting_of(found, cold_end, overlap)
    shortest = least(setting)
    if shortest <= STEPS:
        with patch.object(cells, "POINTS", points):
            asked = monitored_setting(setting, None)[0]
            assert Cells(asked, asked.names).refuted(shortest + 1, Clock(Limits()), FEW) == ""


def heated_twice() -> Setting:
    """Above 6.25 degrees, and off again while asked for; then below 4 degrees."""
    above, below = compare.less(known(5.5), T, FLOAT32), compare.less(T, known(4.0), FLOAT32)
    on = compare.equal(HEATER, known(1.0), FLOAT32)
    return setting_of(
        [Goal("", at(And(above, on), 0), None, 1), Goal("", And(at(below, 0), framed(ASKED, 0)), None, 1)],
        True,
        "allow",
    )


def test_the_least_length_is_told() -> None:
    setting = heated_twice()
    shortest = least(setting)
    assert 2 < shortest <= STEPS
    chains = Cells(setting, setting.names)
    assert chains.refuted(shortest, Clock(Limits()), 1)
    assert chains.refuted(shortest + 1, Clock(Limits()), 1) == ""


@pytest.mark.parametrize("more", [0, 1])
def test_a_forged_bound_is_refused(more: int) -> None:
    """The claim that a length is impossible that has a chain does not hold, the true one does."""
    setting = heated_twice()
    chains = WholeChains(setting, setting.names, TRUE(), Clock(Limits()))
    verdict, why = chains.verdict(NoRun(setting.names, before=least(setting) + more))
    assert (verdict == HOLDS) == (more == 0)
    assert ("cells of values" in why) == (more == 0)


def test_what_has_no_rule_is_left_to_the_solver() -> None:
    """A start value that init leaves open, and a goal that compares values of two steps."""
    setting = heated_twice()
    rising = Goal("g0", compare.less(framed(T, 0), framed(T, 1), FLOAT32), None, 1)
    first, *others = setting.system.state
    opened = TransitionSystem(
        "open", (StateVariable(first.name, FLOAT, None, first.next), *others), setting.system.inputs
    )
    for asked in (Setting(setting.system, (rising,), None), Setting(opened, setting.goals, None)):
        assert Cells(asked, asked.names).refuted(1, Clock(Limits()), 1) == ""


def test_too_little_effort_refutes_nothing() -> None:
    setting = heated_twice()
    chains, shortest = Cells(setting, setting.names), least(setting)
    assert chains.refuted(shortest, Clock(Limits()), 1e-9) == ""
    assert chains.refuted(shortest, Clock(Limits()), 1)


@pytest.mark.parametrize("form", [FLOAT32, FLOAT64], ids=["float", "double"])
def test_every_value_of_an_interval_lies_in_one_of_its_cells(form: Format) -> None:
    source, floats = random.Random(1), Floats.of(form)
    for width in (0.25, 4.0):
        grid = Grid(floats, width)
        for _ in range(300):
            ends = [source.choice((0.0, -0.0, 4.0, -8.25, 1e-30, -1e-30, source.uniform(-20, 20))) for _ in range(2)]
            low, high = sorted(int(floats.keys(np.array([end]))[0]) for end in ends)
            first, last = grid.cells(Interval(*(np.array([end], np.int64) for end in (low, high))))
            boxes = grid.boxes(np.arange(first[0], last[0] + 1, 2))
            for key in (low, high, source.randint(low, high)):
                assert ((boxes.low <= key) & (key <= boxes.high)).any(), (ends, key)


def test_every_outcome_of_a_step_is_among_the_cases() -> None:
    """From 3 to 8 degrees, heated or not, each comparison may turn out either way."""
    system, floats, source = heating(), Floats.of(FLOAT32), random.Random(1)
    mild = compare.less(T, known(4.5), FLOAT32)
    case = Cases(system, [And(mild, ASKED)], [mild], 2)
    low, high = (floats.keys(np.array([end], np.float32)) for end in (3.0, 8.0))
    on = floats.keys(np.array([0.0, 1.0], np.float32))
    boxes = {
        "cl_t": Interval(low, high),
        "cl_heater": Interval(on[:1], on[1:]),
        "cl_level": Interval(*[np.array([2])] * 2),
    }
    found = [ends for _, ends in case.outcomes(np.array([0]), boxes, 10**9)]
    lows, highs = (np.concatenate([np.stack([end[n] for end in ends]) for ends in found], axis=1) for n in (0, 1))
    results = [And(mild, ASKED), *with_terms([mild], {v.symbol: v.next for v in system.state})]
    program = Program([*results, *(var.next for var in (*case.words, *case.numbers))])
    for _ in range(200):
        state = {
            "cl_t": pattern(source.uniform(3, 8), FLOAT32),
            "cl_heater": pattern(source.choice((0.0, 1.0)), FLOAT32),
        }
        inputs = {"cl_outside": pattern(source.choice(OUTSIDE), FLOAT32), "cl_asked": source.choice((0, 1))}
        values = program.run({**state, **inputs, "cl_level": 2})
        raw = [values[place] for place in program.results]
        *exact, t, heater = [*raw[:-2], *(int(keys_of(np.array([r], np.uint64), 32)[0]) for r in raw[-2:])]
        row = np.array([*map(int, exact), t, heater])[:, None]
        assert ((lows <= row) & (row <= highs)).all(axis=0).any(), (state, inputs)


def kept_while_on() -> TransitionSystem:
    """Switched on, a number begins at the input; it sinks by the input while on, and stays what it was while off."""
    on, number, given = Symbol("ko_on", BOOL), FLOAT.symbol("ko_x"), FLOAT.symbol("ko_in")
    asked = Symbol("ko_asked", BOOL)
    raw = [pattern(value, FLOAT32) for value in (1.0, 9.0)]
    sunk = arithmetic.subtract(number, given, FLOAT32)
    return TransitionSystem(
        "kept",
        (
            StateVariable("ko_on", ValueType("_Bool", 0), FALSE(), asked),
            StateVariable(
                "ko_x", FLOAT, BV(pattern(20.0, FLOAT32), 32), choose(asked, choose(on, sunk, given), number)
            ),
        ),
        (
            InputVariable("ko_in", FLOAT, ((raw[0], raw[1]),)),
            InputVariable("ko_asked", ValueType("_Bool", 0)),
        ),
    )


def sunk(off_before: bool) -> Setting:
    """Below -40 while on, which takes 6 steps; or a step after it was switched off. The end is off."""
    on, low = Symbol("ko_on", BOOL), compare.less(FLOAT.symbol("ko_x"), known(-40.0), FLOAT32)
    later = And(at(Not(on), 0), at(And(Not(on), low), 1)) if off_before else at(And(on, low), 0)
    return Setting(kept_while_on(), (Goal("g0", later, None, int(off_before)),), Not(on))


@pytest.mark.parametrize("off_before", [False, True])
@patch.object(cells, "LADDER", cells.LADDER[:2])
def test_what_makes_no_difference_is_left_open(off_before: bool) -> None:
    """While the system is off, the number is set before it is read, unless a goal asks for it then."""
    setting, shortest = sunk(off_before), 8 if off_before else 7
    chains = Cells(setting, setting.names)
    found = chains.refuted(shortest, Clock(Limits()), 1)
    assert found
    assert chains.refuted(shortest + 1, Clock(Limits()), 1) == ""
    with patch.object(cells.Live, "of", lambda _, words: [np.ones(len(words), bool)]):
        told = Cells(setting, setting.names).refuted(shortest, Clock(Limits()), 1)
    assert told
    assert (cells_in(told) == cells_in(found)) == off_before


def cells_in(text: str) -> int:
    return int(text.split(" cells")[0])


@patch.object(cells, "LADDER", cells.LADDER[:2])
def test_goals_that_are_not_asked_for_need_no_cells() -> None:
    """Another goal of the setting, on the number while off, leaves the cells as few as they are without it."""
    alone, both = sunk(False), sunk(True)
    other = Goal("g1", both.goals[0].antecedent, None, 1)
    setting = Setting(alone.system, (*alone.goals, other), alone.final)
    found = [Cells(these, alone.names).refuted(7, Clock(Limits()), 1) for these in (alone, setting)]
    assert found[0]
    assert found[0] == found[1]


def test_goals_that_no_number_decides_need_no_cells_of_numbers() -> None:
    """A count of the steps in which something is asked for; another goal is on a number that counts beside it."""
    counted = StateVariable("cl_level", BYTE, BV(0, 8), choose(ASKED, LEVEL + BV(1, 8), LEVEL))
    number = StateVariable("cl_t", FLOAT, BV(0, 32), arithmetic.add(T, known(1.0), FLOAT32))
    system = TransitionSystem("count", (counted, number), (InputVariable("cl_asked", ValueType("_Bool", 0)),))
    third = Goal("third", at(LEVEL.Equals(BV(3, 8)), 0), None, 0)
    warm = Goal("warm", at(compare.less(known(5.0), T, FLOAT32), 0), None, 0)
    chains = Cells(Setting(system, (third, warm), None), ["third"])
    assert chains.refuted(3, Clock(Limits()), 1)
    assert chains.refuted(4, Clock(Limits()), 1) == ""
