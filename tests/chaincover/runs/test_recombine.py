"""Chains from parts of known runs in other orders: they are shorter, cover the same goals, and are runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from boards import board_of
from chain_checks import check_run
from enumerated import one_step
from problems import problem_of
from pysmt.shortcuts import TRUE, And, Ite
from random_systems import random_case
from timers import TIME, timer

from bmc.explicit.batch import NEVER, Batch
from bmc.formulas.unroll import at
from bmc.system.simulation import Simulator
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, ValueType
from chaincover.known import Lead
from chaincover.limits import UNITS, Limits
from chaincover.pipeline import STAGES
from chaincover.problem import Problem
from chaincover.runs import recombine
from chaincover.runs.cuts import Cuts, Part
from chaincover.runs.side_by_side import SideBySide, Start
from chaincover.stages import take_turns
from properties.goal import Goal
from properties.monitor import Monitor

AT, COOL, PRESS = ValueType("place", 2), ValueType("cooling", 4), ValueType("press", 2)
PLACES = ValueType("places", 6)


def stations() -> TransitionSystem:
    """A button leads to one of two stations; it does nothing for 12 steps after the first one, 3 after the other."""
    cool, press = COOL.symbol("cooling"), PRESS.symbol("press")
    ready = cool.Equals(COOL.constant(0))
    first, second = (And(ready, press.Equals(PRESS.constant(value))) for value in (1, 2))
    gone = Ite(first, AT.constant(1), Ite(second, AT.constant(2), AT.constant(0)))
    waits = Ite(ready, COOL.constant(0), cool - COOL.constant(1))
    cooling = Ite(first, COOL.constant(12), Ite(second, COOL.constant(3), waits))
    state = StateVariable("place", AT, AT.constant(0), gone), StateVariable("cooling", COOL, COOL.constant(0), cooling)
    return TransitionSystem("stations", state, (InputVariable("press", PRESS, ((0, 2),)),), TRUE())


def recombined(
    problem: Problem, inputs: list[dict[str, int]], units: float = 2.0, lead: Sequence[dict[str, int]] = ()
) -> tuple[int, int]:
    """The steps of the chain of the run under ``inputs``, and of the best one in the end, which is checked. The inputs
    of ``lead`` are those of a run through some goals."""
    board, _ = board_of((problem.system, problem.goals, problem.final), limits=Limits(effort=units / UNITS))
    simulator = Simulator(problem.system)
    board.offer(simulator.run(simulator.initial(), inputs))
    if lead:
        board.lead = Lead(simulator.run(simulator.initial(), lead), frozenset())
    before = board.known.chain
    assert before is not None
    take_turns([stage for stage in STAGES if stage.name == "recombine"], board)
    after = board.known.chain
    assert after is not None
    assert after.goals >= before.goals
    check_run(problem.system, problem.of(after.goals).goals, problem.final, problem.overlap, after.run)
    return before.length, after.length


def test_runs_without_steps_and_programs_without_inputs_have_no_parts() -> None:
    """A goal that init covers takes no step; without inputs there is one run only."""
    system = timer()
    count = system.state[0].symbol
    goals = [Goal("begun", at(count.Equals(TIME.constant(0)), 0), None, 0)]
    assert recombined(problem_of(system, goals, None), []) == (0, 0)
    alone = replace(system.state[0], next=count + TIME.constant(1))
    counting = TransitionSystem("counting", (alone,), (), TRUE())
    later = [Goal("later", at(count.Equals(TIME.constant(9)), 0), None, 0)]
    assert recombined(problem_of(counting, later, None), [{}] * 9) == (9, 9)


def test_a_run_through_some_goals_is_gone_on_from() -> None:
    """The chain counts one by one; the other run counts by eights, and does not press the button in the end."""
    count, press = PLACES.symbol("counted"), PRESS.symbol("press")
    by = Ite(press.Equals(PRESS.constant(2)), PLACES.constant(8), PLACES.constant(1))
    more = Ite(And(press.Equals(PRESS.constant(0)), count.BVULT(PLACES.constant(25))), count, count + by)
    state = StateVariable("counted", PLACES, PLACES.constant(0), more)
    system = TransitionSystem("counted", (state,), (InputVariable("press", PRESS, ((0, 2),)),), TRUE())
    goals = [Goal(f"at {value}", at(count.Equals(PLACES.constant(value)), 0), None, 0) for value in (8, 24, 26)]
    ones, eights = [{"press": 1}] * 26, [{"press": 2}] * 3
    assert recombined(problem_of(system, goals, None), ones) == (26, 26)
    assert recombined(problem_of(system, goals, None), ones, lead=eights) == (26, 5)


def test_the_goal_after_which_the_other_one_is_near_comes_first() -> None:
    """The run goes to the first station and waits for 12 steps; the other way round it has to wait for 3."""
    place = AT.symbol("place")
    goals = [Goal(f"at {value}", at(place.Equals(AT.constant(value)), 0), None, 0) for value in (1, 2)]
    inputs = [{"press": press} for press in [0] * 5 + [1] + [0] * 12 + [2]]
    assert recombined(problem_of(stations(), goals, None), inputs) == (19, 5)


def test_a_search_that_takes_all_the_room_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends by itself, with what was found by then: the steps without idle ones in the same order."""
    monkeypatch.setattr(recombine, "NODES", 1)
    place = AT.symbol("place")
    goals = [Goal(f"at {value}", at(place.Equals(AT.constant(value)), 0), None, 0) for value in (1, 2)]
    inputs = [{"press": press} for press in [0] * 5 + [1] + [0] * 12 + [2]]
    assert recombined(problem_of(stations(), goals, None), inputs) == (19, 14)


def test_far_goals_that_random_runs_met_last_are_brought_near() -> None:
    """Of 6,000 steps of wandering before the last goal those that it needs are left."""
    count = TIME.symbol("timer_count")
    goals = [Goal(f"g{value}", at(count.Equals(TIME.constant(value)), 0), None, 0) for value in (10, 30)]
    inputs = [{"timer_on": int(step % 29 > 0)} for step in range(6000)] + [{"timer_on": 1}] * 30
    before, after = recombined(problem_of(timer(), goals, None), inputs, 8.0)
    assert before > 6000
    assert after == 30


def test_a_chain_ends_as_it_has_to() -> None:
    """Of 40 on, 300 off, 90 on and 25 off the last 20 of the 90 and one off are enough for both goals."""
    count = TIME.symbol("timer_count")
    goals = [Goal("twenty", at(count.Equals(TIME.constant(20)), 0), None, 0)]
    goals += [Goal("back", at(count.Equals(TIME.constant(0)), 1), None, 1)]
    problem = problem_of(timer(), goals, count.Equals(TIME.constant(0)))
    inputs = [{"timer_on": int(step < 40 or 340 <= step < 430)} for step in range(455)]
    assert recombined(problem, inputs)[1] == 21


def drawn(seed: int, overlap: str = "allow") -> tuple[Problem, list[list[dict[str, int]]]]:
    """A random problem, and the inputs of some random runs."""
    case = random_case(seed)
    problem = problem_of(*one_step((case.system, case.goals, case.final), overlap), overlap)
    batch = Batch(problem.system, seed=seed)
    runs = batch.draw(batch.initial(), 8, 30)
    return problem, [runs.run_inputs(number, int(runs.valid[number])) for number in range(8)]


@pytest.mark.parametrize("overlap", ["allow", "forbid"])
def test_what_is_found_covers_the_same_goals_in_no_more_steps(overlap: str) -> None:
    shorter = 0
    for seed in range(8):
        problem, runs = drawn(seed, overlap)
        board, _ = board_of((problem.system, problem.goals, problem.final))
        inputs = max(runs, key=len)
        simulator = Simulator(problem.system)
        if board.offer(simulator.run(simulator.initial(), inputs)):
            before, after = recombined(problem, inputs, 0.2)
            assert after <= before
            shorter += after < before
            assert (before, after) == recombined(problem, inputs, 0.2), "the same run gives the same chain"
    assert shorter > 1


@pytest.mark.parametrize("seed", range(6))
def test_ways_cover_what_the_simulator_says(seed: int) -> None:
    """Steps of several runs in any order, from a state in the middle of one."""
    problem, inputs = drawn(seed)
    simulator, monitor = Simulator(problem.system), Monitor(list(problem.goals))
    runs = [simulator.run(simulator.initial(), each) for each in inputs if each]
    ways = SideBySide(problem, Limits(), lambda: None)
    noted = np.concatenate([ways.note(run) for run in runs])
    taken = [step for run in runs for step in run.inputs]
    random = np.random.default_rng(seed)
    tried = [noted[random.integers(0, len(noted), random.integers(0, 40))] for _ in range(20)]
    state = {var.name: runs[0].states[len(inputs) % runs[0].length][var.name] for var in problem.system.state}
    goals = len(ways.goals)
    met = ways.follow([Start(state, np.zeros(goals, bool))] * 20, tried, np.full((goals, 20), True))
    for number, way in enumerate(tried):
        run = simulator.valid_part(simulator.run(state, [taken[step] for step in way.tolist()]))
        covered = monitor.covered(run)
        first = {goal.name: goal.over(covered[goal.name][0]) if covered[goal.name] else NEVER for goal in problem.goals}
        late = met.first[: len(problem.goals), number]
        if len(way):
            over = late.max() if goals == len(problem.goals) else met.first[:, number].max()
            assert [min(steps, NEVER) for steps in first.values() if steps <= over] == late[late <= over].tolist()


def test_a_part_is_cut_to_what_its_goal_needs() -> None:
    """Two parts from different states, side by side."""
    count = TIME.symbol("timer_count")
    problem = problem_of(timer(), [Goal("forty", at(count.Equals(TIME.constant(40)), 0), None, 0)], None)
    simulator = Simulator(problem.system)
    run = simulator.run(simulator.initial(), [{"timer_on": int(step % 50 > 0)} for step in range(95)])
    ways = SideBySide(problem, Limits(), lambda: None)
    way, none, needed = ways.note(run), np.array([False]), np.array([True])
    starts = [Start({"timer_count": value}, none) for value in (0, 35)]
    parts = Cuts(ways).shortest([Part(start, way, needed, start) for start in starts])
    assert [len(part.way) for part in parts] == [40, 5]
    assert all(part.end.state == {"timer_count": 40} for part in parts)
