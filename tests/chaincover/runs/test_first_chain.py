"""A first chain by trial runs: it is one, and costs nothing but trials, whatever ends them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from chaincover.runs.first_chain import FirstChain, by_trials
from engine_doubles import LIMIT, Open, Trying, check_found, few_trial_runs, small, tried  # noqa: F401
from explicit import Explicit
from hypothesis import given, settings
from hypothesis import strategies as st
from machines import Machine, fork

from bmc.engines.protocol import Status
from bmc.errors import CheckDisagreed, LimitReached
from bmc.formulas.unroll import at
from chaincover.chain import Chain, Plan
from chaincover.limits import Limits
from chaincover.orderings.protocol import UNLIMITED
from chaincover.problem import Problem
from chaincover.questions import Questions
from chaincover.replay.judge import Judge
from chaincover.runs import nearest
from chaincover.weights import ReachGraph
from properties.goal import Goal

pytestmark = pytest.mark.usefixtures("few_trial_runs")


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), overlap=st.sampled_from(["allow", "forbid"]))
def test_what_is_taken_is_a_chain_for_the_goals_it_is_credited_with(seed: int, overlap: str) -> None:
    case = small(seed)
    engine = Trying()
    found = tried(case, overlap, engine)
    assert engine.solved == 0
    if found is not None:
        assert set(found[1]) <= {goal.name for goal in case[1]}
        check_found(case, overlap, *found)


def test_trial_runs_find_many_chains_and_none_is_shorter_than_the_least() -> None:
    complete = 0
    for seed in range(30):
        system, goals, final = case = small(seed)
        found = tried(case, "allow")
        if found is None or len(found[1]) < len(goals):
            continue
        complete += 1
        if found[0].length <= 6:
            least = Explicit(system).least_chain(goals, final, found[0].length)
            assert least is not None
            assert least <= found[0].length
    assert complete > 5


def test_a_chain_that_does_not_end_in_the_final_condition_is_none() -> None:
    """Stopped on the way: taken where the run may end there, and not else."""

    def stop_after(number: int) -> Trying:
        def count() -> None:
            if engine.trials == number:
                raise LimitReached("over")

        engine = Trying(before=count)
        return engine

    system, goals, _ = fork(stuck=False)
    machine_in_m = Machine("fork", ["m", "l", "r", "f"], ["left", "right"], []).at_any("m")
    machine_in_l = Machine("fork", ["m", "l", "r", "f"], ["left", "right"], []).at_any("l")
    for final, expected in ((machine_in_m, None), (machine_in_l, {"near": 1}), (None, {"near": 1})):
        questions = Questions(Problem(system, tuple(goals), final), stop_after(3), Limits())
        found: list[Mapping[str, int]] = []
        with pytest.raises(LimitReached):
            by_trials(questions, ["far", "near"], "allow", LIMIT, lambda run, steps, found=found: found.append(steps))
        assert found == ([] if expected is None else [expected])


def test_the_end_of_time_ends_the_trial_runs() -> None:
    with pytest.raises(LimitReached):
        tried(fork(stuck=False), "allow", budget=Limits(1e-9))


def test_what_trial_runs_do_not_find_is_sought_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """A place that no run reaches, and that no bound excludes; the other goal is still taken."""
    monkeypatch.setattr(nearest, "PATIENCE", 3)
    steps = [("m", "left", "l"), ("l", "right", "m"), ("f", "left", "m")]
    machine = Machine("apart", ["m", "l", "r", "f"], ["left", "right"], steps)
    goals = tuple(Goal(place, at(machine.at_any(place), 0), None, 0) for place in ("l", "f"))
    engine = Trying()
    engine.session = lambda *asked: Open(engine, Trying.session(engine, *asked), [Status.UNSAT])  # type: ignore[method-assign]
    found = tried((machine.system(), goals, None), "allow", engine, limit=30)
    assert found is not None
    assert list(found[1]) == ["l"]
    assert engine.open == 1 + 4


def test_a_first_chain_is_least_only_by_proof() -> None:
    system, goals, final = fork(stuck=False)
    found = tried((system, goals[:1], None), "allow")
    assert found is not None
    assert final is not None
    plan = Plan(("init", "far", "end"), (2, 0))
    chain: Chain = Judge(Problem(system, tuple(goals[:1]), None)).chain(plan, found[0])
    first = FirstChain(chain, plan)

    def graph(lower: int) -> ReachGraph:
        return ReachGraph(("far",), "end", {}, {("init", "far"): lower, ("far", "end"): 0}, (), (), 0, 0, 0.0)

    assert [first.is_least(graph(lower), UNLIMITED) for lower in (0, 1, 2)] == [False, False, True]
    with pytest.raises(CheckDisagreed):
        first.is_least(graph(3), UNLIMITED)
