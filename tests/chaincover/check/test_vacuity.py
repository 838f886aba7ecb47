"""Goals that can hold are told apart from those that cannot, also where there is no time for a search."""

from __future__ import annotations

import pytest
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, TRUE, Not

from bmc.engines import choose
from bmc.formulas.unroll import framed
from bmc.system.transition import BOOLEAN, InputVariable, StateVariable, TransitionSystem, ValueType
from chaincover.check.goal_facts import VacuitySearch
from chaincover.limits import Limits
from properties.goal import Goal

BYTE = ValueType("byte", 8)
count, push = BYTE.symbol("va_count"), BOOLEAN.symbol("va_push")


def system(constraint: FNode) -> TransitionSystem:
    state = (StateVariable("va_count", BYTE, BV(3, 8), count + BV(1, 8)),)
    return TransitionSystem("count", state, (InputVariable("va_push", BOOLEAN),), constraint)


def at_value(value: int, length: int = 0) -> Goal:
    return Goal(f"at_{value}_{length}", framed(count, 0).Equals(BV(value, 8)), None, length)


GOALS = (at_value(3), at_value(4), at_value(3, 1), Goal("none", framed(push, 0).And(Not(framed(push, 0))), None, 1))


@pytest.mark.parametrize("constraint", [TRUE(), count.BVULT(BV(3, 8))])
def test_what_holds_after_init_is_decided_without_any_time(constraint: FNode) -> None:
    search = VacuitySearch(system(constraint), GOALS, choose("z3"))
    search.run(Limits(0.0))
    assert search.undecided == GOALS[1:]
    assert search.unsatisfiable == ()


def test_the_rest_takes_a_search() -> None:
    """The constraint allows no step after init, so that simulation shows nothing more."""
    search = VacuitySearch(system(count.BVULT(BV(3, 8))), GOALS, choose("z3"))
    search.run(Limits(None))
    assert search.undecided == ()
    assert [goal.name for goal in search.unsatisfiable] == ["at_3_1", "none"]
