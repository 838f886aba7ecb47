"""Several chains as one run with resets: its length against an explicit search, and what its parts are."""

from __future__ import annotations

from itertools import combinations

import pytest
from drawn_seeds import seeds

from benchmarks.checks.generated.reference import COVERABLE, Reference
from benchmarks.checks.generated.systems import generated_case
from chaincover.chain import COVERED
from chaincover.options import Options
from chaincover.pipeline import generate
from chaincover.problem import Problem
from chaincover.reductions.resets import parts, placed_apart, with_resets


@pytest.mark.parametrize("overlap", ["allow", "forbid"])
@seeds(3)
def test_the_shortest_run_with_resets_is_the_least_total_length(seed: int, overlap: str) -> None:
    """By a breadth-first search over all sets of goals; goals take up to three steps, none of them across a reset."""
    made = generated_case(seed, states=12, goals=4, longest=3)
    reference = Reference(made.system, made.goals, made.final, overlap)
    answer = reference.answer()
    goals = [goal for goal in made.goals if answer.verdicts[goal.name] == COVERABLE]
    if not goals:
        return
    names = [goal.name for goal in made.goals]
    bits = {name: 1 << place for place, name in enumerate(names)}
    pairs = {
        frozenset(pair)
        for pair in combinations([goal.name for goal in goals], 2)
        if sum(bits[name] for name in pair) not in answer.least
    }
    problem = Problem(made.system, tuple(goals), made.final, overlap)
    for placed in ({}, placed_apart([goal.name for goal in goals], pairs, answer.chains)):
        found = generate(with_resets(problem, answer.chains, placed), Options(overlap=overlap))
        assert found.chain is not None
        assert found.bounds.minimal
        assert {verdict.status for verdict in found.verdicts} == {COVERED}
        assert found.chain.length - (answer.chains - 1) == answer.total
        runs = parts(made.system, found.chain.run)
        assert len(runs) == answer.chains
        assert sum(run.length for run in runs) == answer.total
        for run in runs:
            assert not reference.faults(run.inputs, run.states, {})


def test_goals_that_exclude_each_other_number_the_chains() -> None:
    pairs = {frozenset(pair) for pair in (("a", "b"), ("b", "c"), ("a", "d"), ("e", "a"), ("e", "b"))}
    placed = placed_apart(["a", "b", "c", "d", "e"], pairs, 3)
    assert {*placed.values()} == {0, 1, 2}
    assert {*placed} == {"a", "b", "e"}, "c may be with a or e, d with b or e"
    two = placed_apart(["a", "b", "c", "d"], {pair for pair in pairs if "e" not in pair}, 2)
    assert two["a"] == two["c"] != two["b"] == two["d"], "c excludes b, so it is with a"
    assert placed_apart(["a", "b"], set(), 2) == {"a": 0}
    assert placed_apart([], set(), 2) == {}
