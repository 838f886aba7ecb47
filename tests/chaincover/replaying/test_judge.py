"""What a run is credited with, and the chain that is made of it, against all choices of steps."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product

import pytest
from boards import run_by
from hypothesis import given, settings
from hypothesis import strategies as st
from machines import Machine, fork
from problems import problem_of
from pysmt.shortcuts import BV, TRUE, Equals, Ite
from random_systems import random_case

from bmc.errors import CheckDisagreed
from bmc.explicit.batch import Batch
from bmc.formulas.unroll import at
from bmc.system.simulation import Simulator
from bmc.system.transition import InputVariable, Run, StateVariable, TransitionSystem, ValueType
from chaincover.chain import Chain, Plan
from chaincover.replaying.judge import EXACTLY, Judge, all_disjoint, credited_with, on_whole
from properties.goal import Goal

LEFT, RIGHT = 0, 1


def apart(spans: list[tuple[int, int]]) -> bool:
    """Whether no two spans of steps (first, and first after) meet; one of no steps may lie on a border."""
    return all(a[1] <= b[0] for a, b in pairwise(sorted(spans)))


def check_disjoint(found: dict[str, int], covered: dict[str, list[int]], lengths: dict[str, int]) -> None:
    assert all(step in covered[name] for name, step in found.items())
    assert list(found.values()) == sorted(found.values())
    assert apart([(step, step + lengths[name]) for name, step in found.items()])


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.data())
def test_disjoint_steps_for_all_goals_against_all_choices(data: st.DataObject) -> None:
    lengths = {
        f"g{n}": length for n, length in enumerate(data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=4)))
    }
    covered = {name: sorted(data.draw(st.sets(st.integers(0, 7), min_size=1, max_size=4))) for name in lengths}
    spans = [[(step, step + lengths[name]) for step in covered[name]] for name in lengths]
    found = all_disjoint(covered, lambda name, step: step + lengths[name])
    assert (found is not None) == any(apart(list(chosen)) for chosen in product(*spans))
    if found is not None:
        assert found.keys() == lengths.keys()
        check_disjoint(found, covered, lengths)


NUMBER = ValueType("judge number", 3)
now, given_now = NUMBER.symbol("judge_now"), NUMBER.symbol("judge_given")
ECHO = TransitionSystem(
    "echo", (StateVariable("judge_now", NUMBER, BV(0, 3), given_now),), (InputVariable("judge_given", NUMBER),)
)
"""The state is the input of the step before."""


def shows(name: str, value: int, length: int) -> Goal:
    """The state is ``value``, and then ``length`` steps follow."""
    return Goal(name, at(Equals(now, BV(value, 3)), 0), None, length)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 4), max_size=7), st.lists(st.integers(0, 3), min_size=1, max_size=4))
def test_credited_goals_against_all_choices(choices: list[int], lengths: list[int]) -> None:
    goals = tuple(shows(f"g{n}", n + 1, length) for n, length in enumerate(lengths))
    run = run_by(ECHO, *choices)
    values = [0, *choices]
    covered = {
        goal.name: [k for k in range(len(values) - goal.length) if values[k] == n + 1] for n, goal in enumerate(goals)
    }
    free = Judge(problem_of(ECHO, goals, None)).chain(run)
    assert free is not None
    assert {hit.goal: hit.step for hit in free.hits} == {name: steps[0] for name, steps in covered.items() if steps}
    assert free.length == max((hit.step + lengths[int(hit.goal[1:])] for hit in free.hits), default=0)
    disjoint = Judge(problem_of(ECHO, goals, None, "forbid")).chain(run)
    assert disjoint is not None
    by_name = {goal.name: goal.length for goal in goals}
    check_disjoint({hit.goal: hit.step for hit in disjoint.hits}, covered, by_name)
    spans = [[(step, step + by_name[name]) for step in steps] for name, steps in covered.items() if steps]
    if any(apart(list(chosen)) for chosen in product(*spans)):
        assert disjoint.goals == free.goals, "all are credited, if that is possible at all"


def test_the_goals_that_are_asked_for_are_credited_where_not_all_can_be() -> None:
    """Of two goals that take the same step the one that is asked for."""
    goals = (shows("a", 0, 1), shows("b", 0, 1))
    problem, run = problem_of(ECHO, goals, None, "forbid"), run_by(ECHO, 0)
    for name in ("a", "b"):
        chain = credited_with({name}, problem, run)
        assert chain is not None
        assert chain.goals == {name}
    assert credited_with((), problem, run) == Judge(problem).chain(run)


def test_a_chain_shares_the_states_that_were_claimed_and_has_equal_inputs_once() -> None:
    run = run_by(ECHO, 3, 3, 1, 3)
    claimed = Run((run.states[0], {"judge_now": 7}, *run.states[2:]), tuple(dict(inputs) for inputs in run.inputs))
    chain = Judge(problem_of(ECHO, (shows("last", 3, 0), shows("first", 1, 0)), Equals(now, BV(3, 3)))).chain(claimed)
    assert chain is not None
    assert chain.run == run
    shared = [own is given for own, given in zip(chain.run.states, claimed.states, strict=True)]
    assert shared == [True, False, True, True, True]
    assert len({id(inputs) for inputs in chain.run.inputs}) == 2


def test_a_claimed_run_may_name_its_start_alone() -> None:
    run = run_by(ECHO, 3, 1)
    chain = Judge(problem_of(ECHO, (shows("last", 1, 0),), None)).chain(Run(run.states[:1], run.inputs))
    assert chain is not None
    assert chain.run == run


@pytest.mark.parametrize("times", [1, 3])
def test_many_goals_are_credited_apart(times: int) -> None:
    """Far more sets of goals than can be gone through, each goal ``times`` times."""
    number = 2 * EXACTLY + 2
    names = [f"g{n:02}" for n in range(number)]
    covered = {name: [n + turn * number for turn in range(times)] for n, name in enumerate(names)}
    lengths = dict.fromkeys(names, 1)
    found = all_disjoint(covered, lambda name, step: step + 1)
    assert found is not None
    assert found.keys() == lengths.keys()
    check_disjoint(found, covered, lengths)


def judged(*choices: int, final: bool = True) -> Chain | None:
    system, goals, end = fork(stuck=False)
    return Judge(problem_of(system, goals, end if final else None)).chain(run_by(system, *choices))


def test_a_chain_ends_as_early_as_it_may() -> None:
    chain = judged(LEFT, RIGHT, LEFT, RIGHT)
    assert chain is not None
    assert (chain.length, chain.order) == (2, ("near",))
    assert [(hit.goal, hit.step) for hit in chain.hits] == [("near", 1)]
    anywhere = judged(LEFT, RIGHT, LEFT, RIGHT, final=False)
    assert anywhere is not None
    assert anywhere.length == 1


def test_goals_behind_the_last_end_are_not_credited() -> None:
    chain = judged(LEFT, RIGHT, RIGHT, RIGHT)
    assert chain is not None
    assert (chain.length, chain.order) == (2, ("near",))


def test_a_run_that_never_gets_to_the_end_is_no_chain() -> None:
    system, goals, _ = fork(stuck=False)
    machine = Machine("fork", ["m", "l", "r", "f"], ["left", "right"], [])
    judge = Judge(problem_of(system, goals, machine.at_any("r")))
    assert judge.chain(run_by(system, LEFT)) is None
    assert judge.first_steps(run_by(system, LEFT)) == {"near": 1}


def test_the_states_of_a_run_are_not_believed() -> None:
    """The inputs are simulated from init: what is said about the states makes no difference."""
    system, goals, final = fork(stuck=False)
    true = run_by(system, LEFT, RIGHT)
    made_up = Run((true.states[0], *run_by(system, RIGHT, RIGHT).states[1:]), true.inputs)
    assert Judge(problem_of(system, goals, final)).chain(made_up) == judged(LEFT, RIGHT)


def test_a_step_that_is_not_allowed_is_a_disagreement() -> None:
    system, goals, final = fork(stuck=False)
    machine = Machine("fork", ["m", "l", "r", "f"], ["left", "right"], [])
    narrow = TransitionSystem(system.name, system.state, system.inputs, input_constraint=machine.chosen("left"))
    with pytest.raises(CheckDisagreed, match="step 1 of the chain found breaks the input constraint"):
        Judge(problem_of(narrow, goals, final)).chain(run_by(system, LEFT, RIGHT))


def test_the_plan_of_a_chain() -> None:
    chain = judged(RIGHT, RIGHT, LEFT, LEFT, RIGHT)
    assert chain is not None
    system, goals, final = fork(stuck=False)
    plan = Judge(problem_of(system, goals, final)).plan(chain)
    assert plan == Plan(("init", "far", "near", "final"), (2, 2, 1))


def test_steps_that_depend_on_an_open_start_value_are_not_credited_where_others_are() -> None:
    """The goal holds at once for one start value, and for all of them after a step."""
    noise = NUMBER.symbol("judge_noise")
    kept = StateVariable("judge_noise", NUMBER, None, Ite(TRUE(), BV(5, 3), noise))
    system = TransitionSystem("open", (*ECHO.state, kept), ECHO.inputs)
    goal = Goal("five", at(Equals(noise, BV(5, 3)), 0), None, 0)
    simulator = Simulator(system)
    run = simulator.run(simulator.initial({"judge_noise": 5}), [{"judge_given": 0}] * 2)
    chain = Judge(problem_of(system, (goal,), None)).chain(run)
    assert chain is not None
    assert [(hit.goal, hit.step) for hit in chain.hits] == [("five", 1)]
    assert chain.relies_on == ("judge_noise",)


def independent(judge: Judge, run: Run) -> dict[str, list[int]]:
    """The steps at which goals are credited: by whole runs from each sample of the open start values."""
    found = judge._monitor.covered(run)
    simulator = judge._simulator
    for sample in judge._samples():
        other = simulator.run({**run.states[0], **sample}, run.inputs)
        if all(simulator.allowed(state, given) for state, given in zip(other.states, other.inputs, strict=False)):
            there = judge._monitor.covered(other)
            kept = {name: [step for step in steps if step in there[name]] for name, steps in found.items()}
            found = {name: kept[name] or steps for name, steps in found.items()}
    return found


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 10**9), st.integers(0, 12))
def test_steps_that_open_start_values_do_not_change_against_whole_runs(seed: int, steps: int) -> None:
    """Runs from other start values are simulated until they are in the state of the run, and not to the end."""
    case = random_case(seed)
    state = tuple(replace(var, init=None) if var.name != "rs_a" else var for var in case.system.state)
    system = replace(case.system, state=state)
    judge = Judge(problem_of(system, case.goals, None))
    batch = Batch(system, seed=seed)
    runs = batch.draw(batch.initial(), 1, steps)
    run = batch.run(batch.initial(), runs.run_inputs(0, int(runs.valid[0])))
    assert judge._independent(run, judge._monitor.covered(run)) == independent(judge, run)


def test_goals_are_credited_where_they_were_on_a_slice_with_fewer_start_values() -> None:
    """There one start value stands for all; with all of them the first step depends on it, the next one not."""
    noise = NUMBER.symbol("judge_noise")
    kept = StateVariable("judge_noise", NUMBER, None, Ite(TRUE(), BV(5, 3), noise))
    goal = Goal("five", at(Equals(noise, BV(5, 3)), 0), None, 0)
    whole, small = (
        problem_of(replace(ECHO, state=(*ECHO.state, replace(kept, starts=starts))), [goal], None)
        for starts in ((), ((5, 5),))
    )
    run = Simulator(whole.system).run(Simulator(whole.system).initial({"judge_noise": 5}), [{"judge_given": 0}] * 2)
    chain = Judge(small).chain(run)
    assert chain is not None
    assert (chain.length, on_whole(chain, whole).hits) == (0, chain.hits)


def test_what_a_slice_relies_on_is_told_of_the_whole_system() -> None:
    """Of two open start values the slice has one; the chain of the whole system relies on both."""
    kept, left = (
        StateVariable(f"judge_{name}", NUMBER, None, NUMBER.symbol(f"judge_{name}")) for name in ("kept", "left")
    )
    goal = Goal("three", at(Equals(now, BV(3, 3)), 0), None, 0)
    whole = replace(ECHO, state=(*ECHO.state, kept, left))
    run = Simulator(whole).run(Simulator(whole).initial({"judge_kept": 1, "judge_left": 2}), [{"judge_given": 3}])
    small = problem_of(replace(ECHO, state=(*ECHO.state, kept)), [goal], None)
    chain = Judge(small).chain(
        Run(tuple({n: v for n, v in s.items() if n != "judge_left"} for s in run.states), run.inputs)
    )
    assert chain is not None
    assert chain.relies_on == ("judge_kept",)
    problem = problem_of(whole, [goal], None)
    assert on_whole(chain, problem).relies_on == ("judge_kept", "judge_left")
    assert on_whole(replace(chain, relies_on=()), problem).relies_on == ()
