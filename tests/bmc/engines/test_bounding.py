"""Combinations of alternatives that sets leave possible, against all runs of a small floating-point system."""

from __future__ import annotations

from functools import cache
from itertools import product

import pytest
from float_systems import FLOAT, known
from hypothesis import given, settings
from hypothesis import strategies as st
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, And, Not, Or, Symbol
from pysmt.typing import BOOL

from bmc.engines.bounding import Bounding
from bmc.engines.guessing import GuessingSession, Sampling
from bmc.engines.protocol import Answer, Status
from bmc.floats import arithmetic, compare
from bmc.floats.format import FLOAT32, pattern
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.terms import choose
from bmc.formulas.unroll import at, framed
from bmc.formulas.value_sets import contains
from bmc.system.memory import Memory, with_memory
from bmc.system.simulation import Simulator
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, ValueType

STEPS = 3
OUTSIDE = tuple(sorted(pattern(value, FLOAT32) for value in (-4.0, 0.0, 12.0)))
FLAG = ValueType("_Bool", 0)


def heating() -> TransitionSystem:
    """t' = t + heat - (t - outside) / 8; the heating goes on below 5 and off above 7, or where it is not asked for."""
    t, heater = FLOAT.symbol("bd_t"), FLOAT.symbol("bd_heater")
    outside, asked = FLOAT.symbol("bd_outside"), Symbol("bd_asked", BOOL)
    one, zero = known(1.0), known(0.0)
    cold, warm = compare.less(t, known(5.0), FLOAT32), compare.less(known(7.0), t, FLOAT32)
    switched = choose(Not(asked), zero, choose(cold, one, choose(warm, zero, heater)))
    heat = choose(compare.equal(switched, one, FLOAT32), known(2.0), zero)
    loss = arithmetic.multiply(known(0.125), arithmetic.subtract(t, outside, FLOAT32), FLOAT32)
    after = arithmetic.add(t, arithmetic.subtract(heat, loss, FLOAT32), FLOAT32)
    return TransitionSystem(
        "heating",
        (
            StateVariable("bd_t", FLOAT, BV(pattern(4.0, FLOAT32), 32), after),
            StateVariable("bd_heater", FLOAT, BV(0, 32), switched),
        ),
        (
            InputVariable("bd_outside", FLOAT, tuple((value, value) for value in OUTSIDE)),
            InputVariable("bd_asked", FLAG),
        ),
        input_constraint=Or([outside.Equals(BV(value, 32)) for value in OUTSIDE]),
    )


@cache
def all_runs() -> list[dict[str, int]]:
    """The framed values of all runs of ``STEPS`` steps."""
    simulator = Simulator(heating())
    choices = [{"bd_outside": value, "bd_asked": flag} for value in OUTSIDE for flag in (0, 1)]
    start = {"bd_t": pattern(4.0, FLOAT32), "bd_heater": 0}
    runs = [simulator.run(start, inputs) for inputs in product(choices, repeat=STEPS)]
    return [
        {
            f"{name}@{step}": v
            for rows in (run.states, run.inputs)
            for step, row in enumerate(rows)
            for name, v in row.items()
        }
        for run in runs
    ]


def switched_off(step: int) -> FNode:
    heater = FLOAT.symbol("bd_heater")
    on, off = (compare.equal(heater, known(value), FLOAT32) for value in (1.0, 0.0))
    return And(at(on, step), at(off, step + 1), framed(Symbol("bd_asked", BOOL), step))


def compared(value: float, above: bool, step: int) -> FNode:
    t = FLOAT.symbol("bd_t")
    return at(compare.less(known(value), t, FLOAT32) if above else compare.less(t, known(value), FLOAT32), step)


LEVELS = (2.75, 3.5, 4.5, 5.5, 6.5, 7.25, 8.0, 9.0)


@st.composite
def questions(draw: st.DrawFn) -> list[FNode]:
    """Conditions, each at any of some steps; one of them may be that the heating is switched off."""
    found = []
    for _ in range(draw(st.integers(1, 3))):
        value, above = draw(st.sampled_from(LEVELS)), draw(st.booleans())
        steps = draw(st.sets(st.integers(0, STEPS), min_size=1))
        found.append(Or([compared(value, above, step) for step in sorted(steps)]))
    if draw(st.booleans()):
        found.append(Or([switched_off(step) for step in range(STEPS)]))
    return found


class GivesUp:
    """A solver that gives up."""

    def check(self, formulas: object, steps: int, time_limit: object = None, effort: object = None) -> Answer:
        return Answer(Status.UNKNOWN)


@settings(max_examples=15, deadline=None, derandomize=True)
@given(questions())
def test_every_run_that_answers_lies_in_a_leaf(question: list[FNode]) -> None:
    system = heating()
    leaves, complete = Bounding(system, at(system.init_formula, 0)).leaves(question, STEPS, 1_000_000)
    assert complete
    satisfied = compile_formulas(question)
    parts = [compile_formulas(list(leaf.formulas)) for leaf in leaves]
    for values in all_runs():
        if all(satisfied(values)):
            assert any(
                all(part(values)) and all(contains(leaf.box.get(name, ((v, v),)), v) for name, v in values.items())
                for leaf, part in zip(leaves, parts, strict=True)
            )


@settings(max_examples=15, deadline=None, derandomize=True)
@given(questions())
def test_answers_without_a_solver_are_right(question: list[FNode]) -> None:
    system = heating()
    sampling = Sampling(system, Simulator(system))
    session = GuessingSession(system, at(system.init_formula, 0), [], sampling, GivesUp)  # type: ignore[arg-type]
    answer = session.check(question, STEPS)
    satisfied = compile_formulas(question)
    exists = any(all(satisfied(values)) for values in all_runs())
    assert answer.status in (Status.UNKNOWN, Status.SAT if exists else Status.UNSAT)


@settings(max_examples=4, deadline=None, derandomize=True)
@given(st.lists(questions(), min_size=2, max_size=3))
def test_kept_answers_are_those_of_a_new_session(asked: list[list[FNode]]) -> None:
    """However many questions came before, an answer is what it would be if it were the first."""
    system = heating()
    source = at(system.init_formula, 0)
    kept = Bounding(system, source)
    for question in asked:
        new = Bounding(system, source)
        assert kept.leaves(question, STEPS, 1_000_000) == new.leaves(question, STEPS, 1_000_000)
        assert kept.refuted(question, STEPS) == new.refuted(question, STEPS)


def test_what_only_combinations_show_is_refuted() -> None:
    """From 4 each of above 8, below 3.5 and switching off is possible in three steps; not all of them, in any order."""
    system = heating()
    bounding = Bounding(system, at(system.init_formula, 0))
    hot, cold = (Or([compared(value, value == 8.0, step) for step in range(STEPS + 1)]) for value in (8.0, 3.5))
    off = Or([switched_off(step) for step in range(STEPS)])
    for one in (hot, cold, off):
        assert bounding.leaves([one], STEPS, 100_000)[0]
    assert bounding.refuted([hot, cold, off], STEPS)[0] is None
    assert bounding.leaves([hot, cold, off], STEPS, 100_000) == ([], True)


def test_what_is_remembered_is_told_of_the_step_itself() -> None:
    """After a step that began with the heating on it is not so cold; without solver and trial runs sets show that."""
    on = compare.equal(FLOAT.symbol("bd_heater"), known(1.0), FLOAT32)
    memory = Memory("bd_memory")
    was_on = memory.before(on, 1)
    system = with_memory(heating(), memory.variables)
    source, steps = at(system.init_formula, 0), range(1, STEPS + 1)
    cold = [Or([And(at(was_on, step), compared(value, False, step)) for step in steps]) for value in (2.75, 4.5)]
    session = GuessingSession(system, source, [], Sampling(system, Simulator(system)), GivesUp)  # type: ignore[arg-type]
    assert [bool(Bounding(system, source).leaves([one], STEPS, 100_000)[0]) for one in cold] == [True, True]
    assert [session.check([one], STEPS).status for one in cold] == [Status.UNSAT, Status.SAT]
    assert session.check([at(on, 1), at(was_on, 0)], STEPS) == Answer(Status.UNSAT, (at(was_on, 0),))


@pytest.mark.parametrize("steps", range(STEPS + 1))
def test_facts_hold_in_all_runs(steps: int) -> None:
    system = heating()
    bounding = Bounding(system, at(system.init_formula, 0))
    assert bounding.facts(steps)
    facts = compile_formulas(bounding.facts(steps))
    assert all(all(facts(values)) for values in all_runs())


def test_leaves_end_where_too_many_sets_are_needed() -> None:
    system = heating()
    bounding = Bounding(system, at(system.init_formula, 0))
    wanted = [Or([compared(value, value > 4, step) for step in range(STEPS)]) for value in LEVELS[1:4]]
    some, complete = bounding.leaves(wanted, STEPS, 1)
    assert not complete
    every, complete = bounding.leaves(wanted, STEPS, 1_000_000)
    assert complete
    assert len(some) < len(every)


@pytest.mark.parametrize("value", [0.0, -0.0])
def test_a_comparison_with_zero_leaves_both_zeros(value: float) -> None:
    system = heating()
    bounding = Bounding(system, compare.equal(framed(FLOAT.symbol("bd_heater"), 0), known(value), FLOAT32))
    box = bounding.sets([], 0)
    assert box is not None
    assert box["bd_heater@0"] == ((0, 0), (FLOAT32.sign, FLOAT32.sign))
