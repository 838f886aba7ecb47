"""The search in jumps over counters against the search over all states, and what verify says of its bounds."""

from __future__ import annotations

from dataclasses import replace

import pytest
from boards import board_of
from drawn_seeds import seeds
from enumerated import one_step
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, And, Ite, Not

from benchmarks.checks.accelerated.compare import compare, verdicts
from benchmarks.checks.accelerated.programs import random_program
from bmc.engines.sat import SatEngine
from bmc.formulas.unroll import framed
from bmc.system.ties import boundary, hold
from bmc.system.transition import BOOLEAN, InputVariable, StateVariable, TransitionSystem, ValueType
from chaincover.certificate import Acceleration
from chaincover.chain import UNREACHABLE
from chaincover.graph.enumerated import enumerate_states
from chaincover.known import Reason
from chaincover.minimality.acceleration import accelerate
from chaincover.options import Options
from chaincover.pipeline import generate
from chaincover.problem import Problem
from chaincover.verification.report import HOLDS, OPEN, WRONG
from properties.goal import Goal

WIDE, MODE, BELT = ValueType("timer", 32), ValueType("mode", 2), BOOLEAN.symbol("reminder_belt")
TIMER, NOW = WIDE.symbol("reminder_timer"), MODE.symbol("reminder_mode")
CELLS = {"reminder_timer": (0, 499, 500, 1 << 31)}


@pytest.mark.evidence
@seeds(5)
def test_no_bound_is_above_the_shortest_chain_and_no_chain_below_it(seed: int) -> None:
    """Jumped and walked; verify proves each bound again, and none that is above the shortest chain."""
    found = compare(random_program(seed).problem, kept=(0, 2))
    assert found is None or (found.sound and found.verified), found


def mode(number: int, step: int = 0) -> FNode:
    return framed(NOW, step).Equals(BV(number, 2))


def reminder(steps: int = 500) -> Problem:
    """Without a belt for so many steps it warns; the belt ends that, and the timer is of 32 bits."""
    timer = Ite(NOW.Equals(BV(1, 2)), TIMER.BVAdd(BV(1, 32)), BV(0, 32))
    late = Ite(TIMER.Equals(BV(steps - 1, 32)), BV(2, 2), BV(1, 2))
    following = Ite(BELT, BV(0, 2), Ite(NOW.Equals(BV(0, 2)), BV(1, 2), Ite(NOW.Equals(BV(1, 2)), late, NOW)))
    state = (
        StateVariable("reminder_mode", MODE, BV(0, 2), following),
        StateVariable("reminder_timer", WIDE, BV(0, 32), timer),
    )
    system = TransitionSystem("reminder", state, (InputVariable("reminder_belt", BOOLEAN),))
    last = framed(TIMER, 0).Equals(BV(steps - 1, 32))
    goals = (
        Goal("warns", And(mode(1), mode(2, 1)), None, 1),
        Goal("in time", And(mode(1), last, framed(BELT, 0)), None, 1),
        Goal("early", And(mode(1), Not(last), framed(BELT, 0)), None, 1),
    )
    return Problem(system, goals, NOW.Equals(BV(0, 2)))


def test_a_timer_is_jumped_over_and_the_chain_proved_shortest() -> None:
    problem = reminder()
    case = problem.system, problem.goals, problem.final
    board, _ = board_of(case, Options(), engine=SatEngine())
    accelerate(board)
    assert board.known.length == board.known.lower == 1005  # 502 to warn and back, 501 in time, 2 early
    assert board.known.proof.acceleration == Acceleration(CELLS, 2, 1005)


@pytest.mark.parametrize(("steps", "jumps"), [(500, True), (5, False)])
def test_no_question_is_asked_where_the_states_are_enumerated_and_jumps_would_hardly_be_fewer(
    steps: int, jumps: bool
) -> None:
    problem = reminder(steps)
    board, _ = board_of((problem.system, problem.goals, problem.final), Options(), engine=SatEngine())
    enumerate_states(board)
    accelerate(board)
    assert (board.accelerated is not None) == jumps == (board.engine.cost.queries > 0)


def test_goals_that_no_run_covers_are_ruled_out() -> None:
    problem = reminder()
    beyond = Goal("beyond", framed(TIMER, 0).Equals(BV(700, 32)), None, 0)
    board, _ = board_of((problem.system, (*problem.goals, beyond), problem.final), Options(), engine=SatEngine())
    accelerate(board)
    assert {goal: reason.status for goal, reason in board.known.uncoverable.items()} == {"beyond": UNREACHABLE}


def test_goals_that_no_run_covers_may_be_all_that_read_a_counter() -> None:
    """The cells are those of all goals, the graph is that of the targets: of none here, or of one without a state."""
    timer = StateVariable("reminder_timer", WIDE, BV(0, 32), Ite(BELT, BV(0, 32), below(500)))
    system = TransitionSystem("timer", (timer,), (InputVariable("reminder_belt", BOOLEAN),))
    never = [
        Goal(f"never {back}", And(framed(TIMER, 0).Equals(BV(499, 32)), framed(TIMER, 1).Equals(BV(back, 32))), None, 1)
        for back in (300, 301)
    ]
    belted = Goal("belted", framed(BELT, 0), None, 1)
    for goals in (never, [*never, belted]):
        result = generate(Problem(system, tuple(goals), None))
        assert [verdict.status for verdict in result.verdicts[:2]] == [UNREACHABLE, UNREACHABLE]
        board, _ = board_of((system, tuple(goals), None), Options(), engine=SatEngine())
        board.rule_out({goal.name: Reason(UNREACHABLE, "as an earlier turn has found out") for goal in never})
        accelerate(board)
        assert not board.engine.cost.queries, "no target reads a counter"


def below(most: int) -> FNode:
    """The timer after a step that counts up to ``most``."""
    return Ite(TIMER.BVULT(BV(most, 32)), TIMER.BVAdd(BV(1, 32)), TIMER)


def divided() -> Problem:
    """The reminder, whose timer counts in every fifth step: a divider runs freely."""
    problem, slot = reminder(), ValueType("slot", 3)
    divider, last = slot.symbol("reminder_slot"), slot.symbol("reminder_slot").Equals(BV(4, 3))
    mode_var, timer = problem.system.state
    counted = Ite(NOW.Equals(BV(1, 2)), Ite(last, TIMER.BVAdd(BV(1, 32)), TIMER), BV(0, 32))
    state = (
        mode_var,
        StateVariable(timer.name, WIDE, BV(0, 32), counted),
        StateVariable("reminder_slot", slot, BV(0, 3), Ite(last, BV(0, 3), divider.BVAdd(BV(1, 3)))),
    )
    return Problem(TransitionSystem("divided", state, problem.system.inputs), problem.goals, problem.final)


def test_a_timer_that_counts_in_every_fifth_step_is_jumped_over_and_the_chain_proved_shortest() -> None:
    problem = divided()
    board, _ = board_of((problem.system, problem.goals, problem.final), Options(), engine=SatEngine())
    accelerate(board)
    claim = board.known.proof.acceleration
    assert claim is not None
    assert claim.slow == ("reminder_timer",)
    assert board.known.length == board.known.lower == claim.bound
    assert verdicts(problem, claim, False) == (HOLDS, OPEN)
    assert verdicts(problem, replace(claim, slow=()), False)[0] == OPEN, "its gap is what proves the bound"
    assert verdicts(problem, replace(claim, bound=claim.bound // 5, slow=()), False)[0] == HOLDS


@pytest.mark.parametrize(("ticks", "length"), [(2, 1010), (5, 1025)])
def test_timers_are_jumped_over_while_inputs_are_held(ticks: int, length: int) -> None:
    problem = reminder()
    system = hold(problem.system, ticks)
    board, _ = board_of((system, problem.goals, boundary(system, problem.final)), Options(), engine=SatEngine())
    accelerate(board)
    assert board.known.length == length
    assert length - ticks < board.known.lower <= length


@pytest.mark.parametrize(
    ("cells", "bound", "expected"),
    [
        (CELLS, 1005, HOLDS),
        (CELLS, 1006, OPEN),
        ({"reminder_timer": (0, 100, 499, 500, 501)}, 1005, HOLDS),
        ({"reminder_timer": (0, 500)}, 1005, WRONG),
        ({"reminder_timer": (0,)}, 1, WRONG),
        ({"reminder_timer": (1, 499, 500)}, 1005, WRONG),
        ({"reminder_timer": (0, 500, 499)}, 1005, WRONG),
        ({"reminder_mode": (0, 1)}, 3, WRONG),
        ({"nobody": (0,)}, 3, WRONG),
    ],
)
def test_verify_believes_neither_cells_nor_bound(cells: dict[str, tuple[int, ...]], bound: int, expected: str) -> None:
    assert verdicts(reminder(), Acceleration(cells, 2, bound), False)[0] == expected


def test_a_goal_of_several_steps_is_covered_by_a_run_over_jumps() -> None:
    """Its monitor is state like other: the bound is that of the goal."""
    problem = reminder()
    twice = And(mode(2), mode(2, 1), mode(2, 2), mode(0, 3))
    case = one_step((problem.system, (Goal("ignored twice", twice, None, 3),), problem.final))
    board, _ = board_of(case, Options(), engine=SatEngine())
    accelerate(board)
    assert (board.known.length, board.known.lower) == (504, 504)
