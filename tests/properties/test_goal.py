"""Where goals lie in a run: the step at which one is over, and what has to hold for it to be over at a step."""

from __future__ import annotations

import pytest
from pysmt.shortcuts import FALSE, And, Symbol
from pysmt.typing import BOOL

from bmc.formulas.unroll import framed
from properties.goal import Goal


def goal(length: int) -> Goal:
    """A goal of ``length`` steps: its state variable ``s`` holds before the first and after each of them."""
    state = Symbol("s", BOOL)
    return Goal("g", And(framed(state, step) for step in range(length + 1)), None, length)


@pytest.mark.parametrize(("length", "earlier"), [(0, 0), (1, 0), (2, 1), (4, 3)])
def test_a_goal_begins_before_its_last_step_where_it_takes_several(length: int, earlier: int) -> None:
    assert goal(length).earlier == earlier


@pytest.mark.parametrize("length", [0, 1, 3])
def test_a_goal_is_over_in_the_last_state_that_it_reads(length: int) -> None:
    one = goal(length)
    assert one.over(5) == 5 + length
    assert one.ending(one.over(5)) == And(framed(Symbol("s", BOOL), step) for step in range(5, 6 + length))


def test_no_goal_is_over_before_it_has_taken_its_steps() -> None:
    assert goal(2).ending(1) == FALSE()
    assert goal(2).ending(2) == goal(2).antecedent


def test_what_takes_a_step_is_asked_of_goals_of_one_step_at_most() -> None:
    assert [goal(length).takes_step for length in (0, 1)] == [False, True]
    with pytest.raises(AssertionError, match="without its monitor"):
        assert goal(2).takes_step
