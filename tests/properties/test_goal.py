"""Where goals lie in a run: the step at which one is over, and what has to hold for it to be over at a step."""

from __future__ import annotations

import pytest
from pysmt.shortcuts import FALSE, And, Symbol
from pysmt.typing import BOOL

from bmc.formulas.unroll import framed
from properties.goal import Goal, need_monitors


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


@pytest.mark.parametrize("first", [0, 1, 3])
@pytest.mark.parametrize("second", [0, 1, 3])
def test_goals_meet_where_a_step_of_both_is_one(first: int, second: int) -> None:
    """A goal of no step takes the place between two steps, and lies amid those of another goal where both are its."""
    one, other = goal(first), goal(second)
    for begin in range(5):
        for later in range(5):
            both = set(range(2 * begin + 1, 2 * (begin + first))) or {2 * begin}
            others = set(range(2 * later + 1, 2 * (later + second))) or {2 * later}
            together = bool(both & others) and (first > 0 or second > 0)
            assert one.meets(begin, other, later) == together == other.meets(later, one, begin)


def test_another_goal_begins_while_a_goal_is_under_way() -> None:
    assert [list(goal(length).under_way) for length in (0, 1, 3)] == [[0], [0], [0, 1, 2]]


def test_there_is_room_for_a_goal_that_is_over_no_later() -> None:
    for length in range(4):
        for other in range(4):
            fitting = [k for k in range(6) if goal(other).over(k) <= goal(length).over(0)]
            assert list(goal(length).room_for(goal(other))) == fitting


def test_what_reads_the_state_before_one_step_and_its_inputs_is_a_plain_formula() -> None:
    state = Symbol("s", BOOL)
    before = Goal("g", framed(state, 0), None, 1)
    assert before.before_step == state
    assert [each.before_step for each in (goal(0), goal(1), goal(2))] == [None] * 3


def test_goals_of_several_steps_need_monitors_and_of_any_where_they_share_none() -> None:
    assert [need_monitors([goal(0), goal(length)], forbid=False) for length in (0, 1, 2)] == [False, False, True]
    assert [need_monitors([goal(0), goal(length)], forbid=True) for length in (0, 1, 2)] == [False, True, True]
