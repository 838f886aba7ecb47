"""The searches of the baselines on small systems made at random, against exhaustive searches."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from chain_checks import check_run
from command_line import fresh_names
from drawn_seeds import seeds
from explicit import Explicit
from problems import problem_of
from random_systems import RandomCase, random_case

from benchmarks.bench.tools import per_goal, random_runs
from benchmarks.bench.tools.baseline import Search
from benchmarks.bench.tools.greedy import GreedyChains
from bmc.engines import choose
from bmc.explicit.batch import Batch, EventFinder
from bmc.formulas.evaluate import compile_formulas
from properties.monitor import Monitor

BOUND = 9


def search_of(case: RandomCase) -> Search:
    """A search on a system that no project describes."""
    subject: Any = SimpleNamespace(problem=problem_of(case.system, case.goals, case.final))
    return Search(subject, 1, None)


@seeds(15)
def test_tests_per_goal_are_as_short_as_can_be(seed: int) -> None:
    with fresh_names():
        case = random_case(seed, goals=3)
        explicit = Explicit(case.system)
        least = {goal.name: explicit.least_chain([goal], case.final, BOUND) for goal in case.goals}
        search = search_of(case)
        found = per_goal.shortest_tests(search, "sat", False, BOUND)
        assert {name: run.length for name, run in found.items()} == {n: k for n, k in least.items() if k is not None}
        for name, run in found.items():
            check_run(case.system, [goal for goal in case.goals if goal.name == name], case.final, "allow", run)
        kept = per_goal.reduced(list(found.values()), search.problem, None)
        assert covered(case, kept) == covered(case, list(found.values()))


@seeds(15)
def test_greedy_chains_go_on_to_the_nearest_goal_and_end_in_final(seed: int) -> None:
    with fresh_names():
        case = random_case(seed, goals=3)
        explicit = Explicit(case.system)
        within = len(explicit.reachable())
        run = GreedyChains(search_of(case), choose("sat"), within).chain([goal.name for goal in case.goals])
        coverable = [explicit.least_chain([goal], None, within + 3) for goal in case.goals]
        names = set() if run is None else covered(case, [run])
        if case.final is None:
            assert bool(names) == any(length is not None for length in coverable)
        if run is not None:
            check_run(case.system, [goal for goal in case.goals if goal.name in names], case.final, "allow", run)


@seeds(10)
def test_random_runs_are_cut_where_goals_are_covered_and_final_holds(seed: int) -> None:
    with fresh_names():
        case = random_case(seed, goals=3)
        given = search_of(case).problem
        problem, _ = given.in_one_step(given.names)
        batch = Batch(problem.system, [], seed)
        runs = batch.draw(batch.initial(), 8, 10)
        events = EventFinder({goal.name: (goal.antecedent, goal.takes_step) for goal in problem.targets})
        found = random_runs.ends_of(runs, events, problem)
        final = None if problem.final is None else compile_formulas([problem.final])
        monitor = Monitor(given.goals)
        for number in range(8):
            run = batch.run(batch.initial(), runs.run_inputs(number, int(runs.valid[number])))
            covered_at = monitor.covered(run)
            for place, goal in enumerate(given.goals):
                ends = [
                    length
                    for length in range(run.length + 1)
                    if (final is None or final(run.states[length])[0])
                    and any(step + goal.length <= length for step in covered_at[goal.name])
                ]
                assert found[place, number] == min(ends, default=random_runs.NEVER)


def test_the_pool_keeps_the_shortest_test_case_of_each_set() -> None:
    never = random_runs.NEVER
    ends = np.array([[2, 2, never, 1], [5, 4, never, never]])
    pool = random_runs.Pool()
    column = np.arange(24, dtype=np.uint8).reshape(6, 4)
    runs: Any = SimpleNamespace(inputs={"i": column}, valid=np.full(4, 6))
    pool.add(runs, ends)
    assert pool.lengths == {0b11: 4, 0b01: 1}
    assert pool.steps(0b01) == [{"i": 3}]
    assert pool.steps(0b11) == [{"i": 1}, {"i": 5}, {"i": 9}, {"i": 13}]
    assert pool.covered == 0b11
    assert random_runs.runs_until_covered(ends, 0) == 1
    assert random_runs.runs_until_covered(ends[:, 2:], 0b10) == 2
    assert random_runs.runs_until_covered(ends[:, 2:], 0b00) is None


def covered(case: RandomCase, runs: list[Any]) -> set[str]:
    """The goals that any of ``runs`` covers."""
    monitor = Monitor(case.goals)
    return {name for run in runs for name, steps in monitor.covered(run).items() if steps}
