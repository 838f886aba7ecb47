"""How far formulas reach: the steps that they need, and the state variables that must be encoded for them."""

from __future__ import annotations

from pysmt.shortcuts import BV, TRUE, And, Not, Or, Symbol
from pysmt.typing import BOOL

from bmc.engines.reach import Reaches
from bmc.system import BOOLEAN, InputVariable, StateVariable, TransitionSystem, ValueType
from bmc.unroll import framed

NIBBLE = ValueType("nibble", 4)
state, other, given = NIBBLE.symbol("ur_state"), BOOLEAN.symbol("ur_other"), BOOLEAN.symbol("ur_given")
SYSTEM = TransitionSystem(
    "reach",
    (StateVariable("ur_state", NIBBLE, None, state), StateVariable("ur_other", BOOLEAN, None, other)),
    (InputVariable("ur_given", BOOLEAN),),
)


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
