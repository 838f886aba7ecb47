"""Whether the steps that a system allows are those that keep the project's constraints: proved, and refuted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from constrained_runs import random_rules
from drawn_seeds import seeds
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, FALSE, TRUE, And, Iff, Ite, Not, Or, Symbol
from pysmt.typing import BVType
from random_systems import random_case

from bmc.formulas.unroll import framed
from bmc.system.constraints import REMEMBERED, TICKS, Constraint, Dwell, constrained
from bmc.system.transition import BOOLEAN, InputVariable, StateVariable, TransitionSystem, conjunction
from chaincover.verification.constraints import Encoding, constraints
from chaincover.verification.limits import Clock, Limits
from chaincover.verification.report import HOLDS, OPEN, WRONG

CLOCK = Clock(Limits())
push = BOOLEAN.symbol("vc_push")
FREE = TransitionSystem("push", (), (InputVariable("vc_push", BOOLEAN),))
RULES = (
    Constraint("pushed at most twice in a row", Or(*(Not(framed(push, step)) for step in range(3)))),
    Constraint("not pushed first", Not(framed(push, 0)), first=True),
    Dwell("vc_push", 2),
)
SYSTEM = constrained(FREE, RULES)
BEFORE, TWICE_BEFORE, TWO, ONE, LEFT = (var.name for var in SYSTEM.state)
"""The input one and two steps before; that two steps were made, and one; the steps for which the input has to stay."""


@seeds(8)
def test_what_is_remembered_says_what_the_constraints_say(seed: int) -> None:
    case = random_case(seed)
    rules = random_rules(seed, case)
    found = constraints(constrained(case.system, rules), rules, CLOCK)
    assert found is not None
    assert found.verdict == HOLDS, found


def changed(name: str, **fields: FNode) -> TransitionSystem:
    """The system with another start or next value of one of the variables that remember something."""
    return replace(SYSTEM, state=tuple(replace(v, **fields) if v.name == name else v for v in SYSTEM.state))


def belated(where: FNode | None = None) -> TransitionSystem:
    """A push of six steps ago is taken for one of the step before: another step is forbidden, but no early one."""
    later: list[StateVariable] = []
    for number in range(6):
        before = later[-1].symbol if later else push
        later.append(StateVariable(f"{REMEMBERED}#late:{number}", BOOLEAN, FALSE(), before, role="internal"))
    system = changed(BEFORE, next=Or(push, And(later[-1].symbol, where or TRUE())))
    return replace(system, state=(*system.state, *later))


def restricted(number: int, formula: FNode, system: TransitionSystem = SYSTEM) -> TransitionSystem:
    """The system that restricts steps by ``formula`` in the place of one of the rules."""
    kept = [replace(c, formula=formula) if n == number else c for n, c in enumerate(system.constraints)]
    return replace(system, constraints=tuple(kept), input_constraint=conjunction(c.formula for c in kept))


def without(number: int) -> TransitionSystem:
    """The system that does not restrict steps by one of the rules."""
    return restricted(number, TRUE())


def steps(number: int) -> FNode:
    """That so many steps were made, as far as two are told apart."""
    return Symbol(TWO, BVType(2)).Equals(BV(number, 2))


def miscounting(following: FNode) -> TransitionSystem:
    """What was a push six steps ago counts where one step is counted, which ``following`` makes so later on."""
    forbidden = And(push, Symbol(BEFORE), Symbol(TWICE_BEFORE))
    late = belated(steps(1))
    state = tuple(replace(v, next=following) if v.name == TWO else v for v in late.state)
    return restricted(0, Not(forbidden), replace(late, state=state))


def once() -> TransitionSystem:
    """A push is forbidden in step 3 alone, by what is forgotten soon after two steps are counted."""
    early, late = (Symbol(f"{REMEMBERED}#once:{number}") for number in range(2))
    own = (
        StateVariable(early.symbol_name(), BOOLEAN, TRUE(), And(early, Not(steps(2))), role="internal"),
        StateVariable(late.symbol_name(), BOOLEAN, FALSE(), early, role="internal"),
    )
    system = replace(SYSTEM, state=(*SYSTEM.state, *own))
    return restricted(0, And(SYSTEM.constraints[0].formula, Not(And(late, Not(early), push))), system)


def read_by_a_step() -> TransitionSystem:
    """A variable of the program gets what is remembered."""
    own = StateVariable("vc_own", BOOLEAN, FALSE(), Symbol(BEFORE))
    return replace(SYSTEM, state=(*SYSTEM.state, own))


def ticks(number: int) -> FNode:
    return TICKS.constant(number)


@pytest.mark.parametrize(
    ("forged", "blamed"),
    [
        (lambda: without(0), "pushed at most twice"),
        (lambda: without(1), "not pushed first"),
        (lambda: without(2), "vc_push keeps each value"),
        (lambda: changed(BEFORE, next=TRUE()), "pushed at most twice"),
        (lambda: changed(TWICE_BEFORE, next=push), "pushed at most twice"),
        (belated, "pushed at most twice"),
        (lambda: miscounting(BV(1, 2)), "pushed at most twice"),
        (lambda: miscounting(Symbol(TWO, BVType(2)) + BV(1, 2)), "pushed at most twice"),
        (lambda: miscounting(Ite(steps(2), BV(2, 2), BV(1, 2))), "pushed at most twice"),
        (once, "pushed at most twice"),
        (lambda: restricted(1, And(SYSTEM.constraints[1].formula, Or(Not(push), Not(steps(1))))), "not pushed first"),
        (lambda: restricted(2, Or(SYSTEM.constraints[2].formula, push)), "vc_push keeps each value"),
        (lambda: changed(BEFORE, next=TRUE()), "vc_push keeps each value"),
        (read_by_a_step, BEFORE),
        (lambda: replace(SYSTEM, input_constraint=And(SYSTEM.input_constraint, Not(Symbol(BEFORE)))), BEFORE),
        (lambda: changed(LEFT, next=ticks(0)), "vc_push keeps each value"),
        (lambda: changed(LEFT, init=ticks(1)), "vc_push keeps each value"),
        (lambda: changed(TWO, next=BV(0, 2)), "pushed at most twice"),
        (lambda: changed(TWO, next=Symbol(TWO, BVType(2)) + BV(1, 2)), "pushed at most twice"),
        (lambda: changed(ONE, init=BV(1, 1)), "not pushed first"),
        (lambda: changed(ONE, next=BV(0, 1)), "vc_push keeps each value"),
        (lambda: replace(SYSTEM, defined=Symbol(ONE, BVType(1)).Equals(BV(0, 1))), ONE),
        (lambda: replace(SYSTEM, constraints=SYSTEM.constraints[:2]), "vc_push keeps each value"),
        (lambda: constrained(FREE, (*RULES[:2], Dwell("vc_push", 3))), "vc_push keeps each value"),
        (
            lambda: constrained(FREE, (replace(RULES[0], formula=Iff(framed(push, 0), framed(push, 2))), *RULES[1:])),
            "twi",
        ),
    ],
)
def test_steps_other_than_those_are_told(forged: Callable[[], TransitionSystem], blamed: str) -> None:
    found = constraints(forged(), RULES, CLOCK)
    assert found is not None
    assert found.verdict == WRONG
    assert blamed in "; ".join(found.details)


def test_what_is_read_beside_is_told_in_the_order_of_the_names() -> None:
    remembered = [var.symbol for var in SYSTEM.state]
    read = And(symbol if symbol.get_type().is_bool_type() else symbol.Equals(symbol + symbol) for symbol in remembered)
    assert Encoding(replace(SYSTEM, defined=read)).beside() == sorted((BEFORE, TWICE_BEFORE, TWO, ONE, LEFT))


def test_nothing_is_said_without_constraints_and_without_time() -> None:
    assert constraints(FREE, (), CLOCK) is None
    found = constraints(SYSTEM, RULES, Clock(Limits(seconds=0.0)))
    assert found is not None
    assert found.verdict == OPEN
