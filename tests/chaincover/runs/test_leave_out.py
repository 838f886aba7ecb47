"""Chains without the steps that no goal needs: what is left covers the same, and is a run of the system."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from chain_checks import check_run
from cruise import INIT as RESTED
from cruise import PROPERTIES, cruise
from drawn_seeds import seeds
from enumerated import one_step
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import problem_of
from random_systems import random_case
from timers import TIME, timer

from bmc.explicit.batch import Batch
from bmc.formulas.unroll import at
from bmc.system.simulation import Simulator
from bmc.system.ties import hold
from chaincover.limits import Limits
from chaincover.replaying.judge import Judge
from chaincover.runs.leave_out import Shortening
from properties.goal import Goal


def test_idle_steps_and_detours_are_left_out() -> None:
    """Of 40 on, 300 off, 90 on and 25 off the last 20 of the 90 and one off are enough for both goals."""
    count = TIME.symbol("timer_count")
    goals = [Goal("twenty", at(count.Equals(TIME.constant(20)), 0), None, 0)]
    goals += [Goal("back", at(count.Equals(TIME.constant(0)), 1), None, 1)]
    problem = problem_of(timer(), goals, count.Equals(TIME.constant(0)))
    inputs = [{"timer_on": int(step < 40 or 340 <= step < 430)} for step in range(455)]
    run = Simulator(problem.system).run(Simulator(problem.system).initial(), inputs)
    chain = Judge(problem).chain(run)
    assert chain is not None
    shorter = Shortening(problem, chain, Limits()).run()
    assert shorter is not None
    found = Judge(problem).chain(shorter)
    assert found is not None
    assert (found.length, found.goals) == (21, {"twenty", "back"})


def test_a_run_is_left_as_it_is_where_that_takes_too_much_work() -> None:
    ten = TIME.symbol("timer_count").Equals(TIME.constant(10))
    problem = problem_of(timer(), [Goal("ten", at(ten, 0), None, 0)], None)
    start = Simulator(problem.system).initial()
    run = Simulator(problem.system).run(start, [{"timer_on": int(step > 50)} for step in range(61)])
    chain = Judge(problem).chain(run)
    assert chain is not None
    limits = Limits()
    shorter = Shortening(problem, chain, limits).run()
    assert shorter is not None
    assert shorter.length == 10
    most, limits = limits.spent / 1000, Limits()
    assert Shortening(problem, chain, limits, most).run() is None
    assert limits.spent == 0


def test_each_step_counts_in_the_turn_in_which_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn ends where the limits are asked, before a step: what was counted by then is the steps made by then."""
    ten = TIME.symbol("timer_count").Equals(TIME.constant(10))
    problem = problem_of(timer(), [Goal("ten", at(ten, 0), None, 0)], None)
    start = Simulator(problem.system).initial()
    chain = Judge(problem).chain(Simulator(problem.system).run(start, [{"timer_on": int(n > 50)} for n in range(61)]))
    assert chain is not None
    limits, asked = Limits(), list[float]()
    monkeypatch.setattr(limits, "check", lambda: asked.append(limits.spent))
    assert Shortening(problem, chain, limits).run() is not None
    counted = [after - before for before, after in pairwise([*asked, limits.spent])]
    assert asked[0] == 0
    assert min(counted) > 0
    assert max(counted) < 1.2 * min(counted), "some steps count for others: of 4 to 90 runs the columns cost most"


def test_a_chain_that_needs_all_its_steps_stays() -> None:
    count = TIME.symbol("timer_count")
    problem = problem_of(timer(), [Goal("ten", at(count.Equals(TIME.constant(10)), 0), None, 0)], None)
    run = Simulator(problem.system).run(Simulator(problem.system).initial(), [{"timer_on": 1}] * 10)
    chain = Judge(problem).chain(run)
    assert chain is not None
    assert Shortening(problem, chain, Limits()).run() is None


def test_a_chain_keeps_the_start_value_that_it_begins_with() -> None:
    """From a count of 90 it takes 10 steps to 100; from 0, which runs begin with otherwise, it takes 100."""
    count = TIME.symbol("timer_count")
    state = replace(timer().state[0], init=None)
    system = replace(timer(), state=(state,), chosen=("timer_count",))
    problem = problem_of(system, [Goal("full", at(count.Equals(TIME.constant(100)), 0), None, 0)], None)
    simulator = Simulator(system)
    inputs = [{"timer_on": int(step > 0)} for step in range(101)]
    run = simulator.run(simulator.initial({"timer_count": 90}), [{"timer_on": 1}] * 5 + inputs)
    chain = Judge(problem).chain(run)
    assert chain is not None
    shorter = Shortening(problem, chain, Limits()).run()
    assert shorter is not None
    assert (shorter.states[0]["timer_count"], shorter.length) == (90, 10)


@settings(max_examples=15, deadline=None, derandomize=True)
@given(st.integers(0, 10**9))
def test_what_is_left_covers_the_same_goals(seed: int) -> None:
    case = random_case(seed)
    problem = problem_of(*one_step((case.system, case.goals, case.final)))
    batch = Batch(problem.system, seed=seed)
    runs = batch.draw(batch.initial(), 20, 30)
    for number in range(20):
        drawn = batch.run(batch.initial(), runs.run_inputs(number, int(runs.valid[number])))
        chain = Judge(problem).chain(drawn)
        if chain is None:
            continue
        shorter = Shortening(problem, chain, Limits()).run()
        if shorter is None:
            continue
        assert shorter.length < chain.length
        found = Judge(problem).chain(shorter)
        assert found is not None
        assert chain.goals <= found.goals
        covered = [goal for goal in case.goals if goal.name in found.goals]
        check_run(problem.system, covered, case.final, "allow", found.run)


@seeds(12)
def test_inputs_are_held_where_fewer_steps_are_left(seed: int) -> None:
    """Steps may be left out from the middle of a held one on: the inputs after them are those that are held."""
    case = random_case(seed)
    problem = problem_of(*one_step((hold(case.system, 2), case.goals, None)))
    batch = Batch(problem.system, seed=seed)
    runs = batch.draw(batch.initial(), 20, 30)
    for number in range(20):
        chain = Judge(problem).chain(batch.run(batch.initial(), runs.run_inputs(number, int(runs.valid[number]))))
        shorter = None if chain is None else Shortening(problem, chain, Limits()).run()
        if chain is not None and shorter is not None:
            found = Judge(problem).chain(shorter)
            assert found is not None
            assert chain.goals <= found.goals


def test_the_same_chain_gives_the_same_run() -> None:
    problem = problem_of(cruise(), PROPERTIES, RESTED)
    batch = Batch(cruise(), seed=3)
    runs = batch.draw(batch.initial(), 200, 200)
    chains = [
        Judge(problem).chain(batch.run(batch.initial(), runs.run_inputs(n, int(runs.valid[n])))) for n in range(20)
    ]
    chain = next(each for each in chains if each is not None and each.length > 20)
    first, second = (Shortening(problem, chain, Limits()).run() for _ in range(2))
    assert first is not None
    assert first == second
