"""Tests of goals that the best chain does not cover are joined to it, before it, after it, or on its way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from boards import board_of, run_by
from chain_checks import check_run
from enumerated import one_step
from problems import problem_of
from pysmt.fnode import FNode
from pysmt.shortcuts import FALSE, TRUE, And, Equals, Ite, Not
from random_systems import random_case

from benchmarks.checks.generated.systems import generated_case
from bmc.formulas.unroll import at
from bmc.system.simulation import Simulator
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, ValueType
from chaincover.known import Board
from chaincover.limits import UNITS, Limits
from chaincover.pipeline import STAGES
from chaincover.runs.joining import join_tests
from chaincover.stages import take_turns
from properties.goal import Goal

FLAG, AGE, PLACE, LEVER = ValueType("flag", 1), ValueType("age", 9), ValueType("joined place", 3), ValueType("lever", 2)


def joined(
    system: TransitionSystem,
    conditions: Mapping[str, FNode],
    final: FNode | None,
    runs: Sequence[Sequence[int]],
    units: float = 2.0,
) -> tuple[set[str], set[str]]:
    """The goals of the best chain of ``runs`` of a system with one input, and of the one in the end, which is checked.
    ``conditions`` are over plain symbols."""
    goals = [Goal(name, at(each, 0), None, 0) for name, each in conditions.items()]
    problem = problem_of(system, goals, final)
    board, _ = board_of((system, goals, final), limits=Limits(effort=units / UNITS))
    simulator = Simulator(system)
    (var,) = system.inputs
    for values in runs:
        board.offer(simulator.run(simulator.initial(), [{var.name: value} for value in values]))
    before = board.known.chain
    assert before is not None
    recombine(board)
    after = board.known.chain
    assert after is not None
    check_run(system, problem.of(after.goals).goals, final, problem.overlap, after.run)
    return {*before.goals}, {*after.goals}


def recombine(board: Board) -> None:
    take_turns([stage for stage in STAGES if stage.name == "recombine"], board)


def test_a_test_comes_first_where_the_chain_went_where_its_goal_cannot_be() -> None:
    """The chain of the goals that take long waits from the start; the button has to be pressed early."""
    pressed, age = FLAG.symbol("early_in"), AGE.symbol("early_age")
    older = Ite(age.BVULT(AGE.constant(500)), age + AGE.constant(1), age)
    state = (
        StateVariable("early_age", AGE, AGE.constant(0), older),
        StateVariable("early_held", FLAG, FLAG.constant(0), pressed),
    )
    system = TransitionSystem("early", state, (InputVariable("early_in", FLAG, ((0, 1),)),), TRUE())
    held = Equals(FLAG.symbol("early_held"), FLAG.constant(1))
    conditions = {
        "early": And(held, age.BVULT(AGE.constant(10))),
        "late": age.BVUGE(AGE.constant(300)),
        "later": age.BVUGE(AGE.constant(400)),
    }
    assert joined(system, conditions, None, [[0] * 400, [1] * 3]) == ({"late", "later"}, {*conditions})


def yard() -> TransitionSystem:
    """From place 0 a lever leads to 1 or 2 and back; from 1 also to 3, which nothing leads out of."""
    place, lever = PLACE.symbol("yard_place"), LEVER.symbol("yard_lever")
    here = {value: Equals(place, PLACE.constant(value)) for value in range(4)}
    pulled = {value: Equals(lever, LEVER.constant(value)) for value in range(4)}
    out = Ite(pulled[1], PLACE.constant(1), Ite(pulled[2], PLACE.constant(2), place))
    back = Ite(pulled[3], PLACE.constant(0), place)
    on = Ite(pulled[2], PLACE.constant(3), back)
    following = Ite(here[0], out, Ite(here[1], on, Ite(here[2], back, place)))
    state = (StateVariable("yard_place", PLACE, PLACE.constant(0), following),)
    return TransitionSystem("yard", state, (InputVariable("yard_lever", LEVER, ((0, 3),)),), TRUE())


def at_place(value: int) -> FNode:
    return Equals(PLACE.symbol("yard_place"), PLACE.constant(value))


def test_a_test_is_put_on_the_way_of_the_chain() -> None:
    """Place 2 has to come before 3, and after it the chain goes on from where it leads back to 0."""
    conditions = {"one": at_place(1), "end": at_place(3), "two": at_place(2)}
    assert joined(yard(), conditions, None, [[1, 3, 1, 2], [0, 2]]) == ({"one", "end"}, {*conditions})


def test_a_test_comes_last_and_random_runs_lead_on_to_the_final_condition() -> None:
    """No known run leads from place 2 back to place 0."""
    conditions = {"one": at_place(1), "two": at_place(2)}
    assert joined(yard(), conditions, at_place(0), [[1, 3], [2]]) == ({"one"}, {*conditions})


def test_goals_that_no_chain_covers_together_stay_apart() -> None:
    """Nothing leads from place 3 to the final condition, or to place 2 after it."""
    conditions = {"one": at_place(1), "end": at_place(3)}
    assert joined(yard(), conditions, at_place(0), [[1, 3], [1, 2]]) == ({"one"}, {"one"})


def test_each_of_several_tests_is_joined_to_what_there_is_by_then() -> None:
    conditions = {"one": at_place(1), "two": at_place(2), "end": at_place(3)}
    assert joined(yard(), conditions, None, [[1], [2], [1, 3, 1, 2]]) == ({"one", "end"}, {*conditions})


def test_what_is_left_is_joined_once_the_effort_is_used_up() -> None:
    """No stage had a turn; a part of the effort is left for what comes after the search."""
    goals = [Goal(name, at(at_place(place), 0), None, 0) for name, place in (("one", 1), ("two", 2))]
    board, _ = board_of((yard(), goals, at_place(0)), limits=Limits(effort=2.0 / UNITS))
    for values in ([1, 3], [2]):
        board.offer(run_by(yard(), *values))
    board.limits.spend(2.0)
    assert board.limits.used_up
    join_tests(board)
    chain = board.known.chain
    assert chain is not None
    assert chain.goals == {"one", "two"}
    check_run(yard(), goals, at_place(0), "allow", chain.run)


def test_a_program_without_inputs_has_one_run_only() -> None:
    """The final condition holds before the second goal is met, and never after it."""
    age = AGE.symbol("only_age")
    older = Ite(age.BVULT(AGE.constant(9)), age + AGE.constant(1), age)
    system = TransitionSystem("only", (StateVariable("only_age", AGE, AGE.constant(0), older),), (), TRUE())
    goals = [Goal(f"at {value}", at(Equals(age, AGE.constant(value)), 0), None, 0) for value in (1, 4)]
    board, _ = board_of((system, goals, Equals(age, AGE.constant(2))), limits=Limits(effort=2.0 / UNITS))
    simulator = Simulator(system)
    for steps in (2, 4):
        board.offer(simulator.run(simulator.initial(), [{}] * steps))
    board.limits.spend(2.0)
    assert {*board.known.seen} == {"at 1", "at 4"}
    join_tests(board)
    chain = board.known.chain
    assert chain is not None
    assert chain.goals == {"at 1"}


def test_no_test_of_no_step_is_joined() -> None:
    """It ends where all runs begin, and no run comes back there."""
    age, pressed = AGE.symbol("start_age"), Equals(FLAG.symbol("start_in"), FLAG.constant(1))
    older = Ite(And(pressed, Not(Equals(age, AGE.constant(3)))), age + AGE.constant(1), age)
    state = (StateVariable("start_age", AGE, AGE.constant(0), older),)
    system = TransitionSystem("start", state, (InputVariable("start_in", FLAG, ((0, 1),)),), TRUE())
    conditions = {"start": Equals(age, AGE.constant(0)), "never": FALSE(), "some": Equals(age, AGE.constant(2))}
    assert joined(system, conditions, Equals(age, AGE.constant(3)), [[1, 1, 1]]) == ({"start", "some"},) * 2


@pytest.mark.parametrize("seed", range(12))
def test_what_is_joined_is_a_run_through_more_goals(seed: int) -> None:
    """The chain and the tests are those of random steps, goal by goal."""
    case = generated_case(seed, states=16, goals=4, longest=2) if seed % 2 else random_case(seed, longest=2)
    problem = problem_of(*one_step((case.system, case.goals, case.final), "allow"))
    board, _ = board_of((problem.system, problem.goals, problem.final), limits=Limits(effort=1.0 / UNITS))
    take_turns([stage for stage in STAGES if stage.name == "simulate"][:1], board)
    shown = board.known
    board.known = type(shown)(problem, seen=shown.seen)
    for run in shown.seen.values():
        board.offer(run)
    if (before := board.known.chain) is None:
        return
    recombine(board)
    after = board.known.chain
    assert after is not None
    assert len(after.goals) >= len(before.goals)
    check_run(problem.system, problem.of(after.goals).goals, problem.final, problem.overlap, after.run)
