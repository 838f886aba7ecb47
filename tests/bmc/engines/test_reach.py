"""How far formulas reach: the steps that they need, and the state variables that must be encoded for them."""

from __future__ import annotations

from itertools import count
from types import SimpleNamespace

import pytest
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, TRUE, And, BVAdd, Not, Or, Symbol
from pysmt.typing import BOOL

from bmc.engines import choose, protocol, unrolling
from bmc.engines.protocol import Status
from bmc.engines.unrolling import Reaches
from bmc.formulas.unroll import framed
from bmc.system.transition import BOOLEAN, InputVariable, StateVariable, TransitionSystem, ValueType, symbols_of

NIBBLE = ValueType("nibble", 4)
state, other, given = NIBBLE.symbol("ur_state"), BOOLEAN.symbol("ur_other"), BOOLEAN.symbol("ur_given")
SYSTEM = TransitionSystem(
    "reach",
    (StateVariable("ur_state", NIBBLE, None, state), StateVariable("ur_other", BOOLEAN, None, other)),
    (InputVariable("ur_given", BOOLEAN),),
)
COUNTING = TransitionSystem("counting", (StateVariable("ur_state", NIBBLE, BV(0, 4), BVAdd(state, BV(1, 4))),), ())


def test_an_input_needs_its_step_and_a_state_only_those_before_it() -> None:
    reaches = Reaches(SYSTEM)
    assert reaches.span(framed(other, 3)) == 3
    assert reaches.span(framed(given, 3)) == 4
    assert reaches.span(And(framed(state, 5).Equals(BV(1, 4)), framed(given, 2))) == 5
    assert reaches.span(TRUE()) == 0
    assert reaches.span(Symbol("ur_free@0", BOOL)) == 0


def test_a_disjunction_reaches_as_far_as_its_parts() -> None:
    reaches = Reaches(SYSTEM)
    near, far = framed(other, 1), And(Not(framed(given, 6)), framed(state, 2).Equals(BV(1, 4)))
    assert reaches.span(Or(near, far)) == 7
    assert list(reaches.states([Or(near, far)])) == [other, state]
    assert list(reaches.states([near])) == [other]
    assert list(reaches.states([framed(given, 0)])) == []


def test_what_is_read_at_step_0_alone_is_told_apart() -> None:
    reaches = Reaches(SYSTEM)
    formula = And(framed(other, 0), framed(state, 2).Equals(BV(1, 4)))
    assert list(reaches.states([formula])) == [other, state]
    assert list(reaches.moved([formula])) == [state]
    assert list(reaches.moved([Or(formula, framed(other, 1))])) == [state, other]


@pytest.mark.parametrize("engine", ["sat", "z3"])
def test_a_variable_that_only_the_source_reads_starts_as_it_says_and_can_be_asked_about_later(engine: str) -> None:
    system = TransitionSystem(
        "starts",
        (
            StateVariable("ur_state", NIBBLE, BV(3, 4), BVAdd(state, BV(1, 4))),
            StateVariable("ur_other", BOOLEAN, TRUE(), Not(other)),
        ),
        (InputVariable("ur_given", BOOLEAN),),
    )
    source = And(framed(state, 0).Equals(BV(5, 4)), Not(framed(other, 0)))
    session = choose(engine).session(system, source, [framed(state, 0).Equals(BV(9, 4))])
    assert session.check([framed(state, 4).Equals(BV(9, 4))], 4).status is Status.SAT
    assert [row["ur_other"] for row in session.run().states] == [0, 1, 0, 1, 0]
    assert session.check([framed(other, 2)], 3).status is Status.UNSAT
    assert session.check([framed(other, 3)], 3).status is Status.SAT
    assert session.run().states[3] == {"ur_state": 8, "ur_other": 1}


@pytest.mark.parametrize("engine", ["sat", "z3"])
def test_a_time_limit_that_ends_while_steps_are_encoded_leaves_the_answer_open(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock is read once for each step; what was encoded serves when the question is put again."""
    session = choose(engine).session(COUNTING, framed(state, 0).Equals(BV(0, 4)), [framed(state, 0).Equals(BV(9, 4))])
    asked = [framed(state, 41).Equals(BV(9, 4))]
    readings = count()
    clock = SimpleNamespace(monotonic=lambda: float(next(readings)), perf_counter=lambda: 0.0)
    monkeypatch.setattr(protocol, "time", clock)
    assert session.check(asked, 41, 10.0).status is Status.UNKNOWN
    assert session.check(asked, 41, 1000.0).status is Status.SAT
    assert next(readings) < 100
    assert session.run().states[41]["ur_state"] == 9
    assert session.check(asked, 41, 0.0).status is Status.UNKNOWN
    assert session.check([framed(state, 40).Equals(BV(9, 4))], 41).status is Status.UNSAT


def test_nested_conjunctions_are_looked_at_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[FNode] = []

    def look(formula: FNode) -> list[FNode]:
        looked.append(formula)
        return symbols_of(formula)

    monkeypatch.setattr(unrolling, "symbols_of", look)
    reaches, nested = Reaches(SYSTEM), framed(other, 0)
    for step in range(1, 3000):
        nested = And(nested, framed(other, step))
        assert reaches.span(Or(nested, framed(given, 0))) == step
    assert len(looked) == 3001
