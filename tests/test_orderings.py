"""Ordering backends against all permutations, and against each other."""

from __future__ import annotations

import random
import sys
from itertools import pairwise, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bmc.errors import UsageError
from chaincover.orderings import choose, tsp
from chaincover.orderings.exact import LARGEST, ExactOrdering
from chaincover.orderings.local import LocalOrdering
from chaincover.orderings.protocol import OrderingProblem, path_cost
from chaincover.orderings.tsp import TspOrdering

needs_elkai = pytest.mark.skipif(not tsp.available(), reason="elkai is not installed")


def problem(seed: int, count: int, density: float = 1.0) -> OrderingProblem:
    rng = random.Random(seed)
    nodes = tuple(f"g{n}" for n in range(count))
    everything = ("init", *nodes, "final")
    weights = {
        (a, b): rng.randint(0, 9)
        for a in everything
        for b in everything
        if a != b and a != "final" and b != "init" and rng.random() < density
    }
    return OrderingProblem(nodes, weights, "init", "final")


def brute_force(given_problem: OrderingProblem) -> tuple[int, tuple[str, ...]] | None:
    found = []
    for order in permutations(given_problem.nodes):
        path = (given_problem.start, *order, given_problem.end)
        if all(edge in given_problem.weights for edge in pairwise(path)):
            found.append((sum(given_problem.weights[edge] for edge in pairwise(path)), path))
    return min(found, key=lambda item: item[0], default=None)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(0, 6), st.sampled_from([0.4, 0.7, 1.0]))
def test_exact_is_least_and_first_in_node_order(seed: int, count: int, density: float) -> None:
    p = problem(seed, count, density)
    result, expected = ExactOrdering().solve(p), brute_force(p)
    assert result.proved
    if expected is None:
        assert (result.path, result.cost) == ((), 0)
    else:
        assert (result.cost, result.path) == expected
        assert result.lower_bound == result.cost


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(0, 8), st.sampled_from([0.5, 1.0]))
def test_local_gives_right_paths_never_below_the_optimum(seed: int, count: int, density: float) -> None:
    p = problem(seed, count, density)
    result, best = LocalOrdering().solve(p), ExactOrdering().solve(p)
    assert not result.proved
    if result.path:
        assert sorted(result.path) == sorted((p.start, *p.nodes, p.end))
        assert path_cost(p, result.path) == result.cost >= best.cost
        assert LocalOrdering().solve(p).path == result.path


def test_local_takes_many_nodes() -> None:
    p = problem(3, 60)
    result = LocalOrdering().solve(p)
    assert path_cost(p, result.path) == result.cost < 60


@needs_elkai
@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(0, 9))
def test_tsp_finds_the_optimum(seed: int, count: int) -> None:
    p = problem(seed, count)
    result = TspOrdering().solve(p)
    assert path_cost(p, result.path) == result.cost == ExactOrdering().solve(p).cost


@needs_elkai
def test_tsp_never_returns_a_path_over_a_missing_edge() -> None:
    for seed in range(30):
        p = problem(seed, 6, 0.4)
        result = TspOrdering().solve(p)
        assert not result.path or path_cost(p, result.path) == result.cost


@needs_elkai
def test_tsp_refuses_weights_that_could_abort_the_process() -> None:
    p = problem(1, 4)
    large = OrderingProblem(p.nodes, {**p.weights, ("g0", "g1"): 10**8}, p.start, p.end)
    with pytest.raises(UsageError, match="weights up to"):
        TspOrdering().solve(large)


def test_without_elkai_tsp_names_the_package_and_auto_takes_local(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chaincover.orderings.tsp.available", lambda: False)
    monkeypatch.setattr("chaincover.orderings.available", lambda: False)
    monkeypatch.setitem(sys.modules, "elkai", None)
    with pytest.raises(UsageError, match="package elkai"):
        choose("tsp", 5).solve(problem(1, 5))
    assert choose("tsp", 2).solve(problem(1, 2)).proved
    assert choose("auto", LARGEST + 1).name == "local"


def test_choosing() -> None:
    assert choose("auto", LARGEST).name == "exact"
    assert choose("local", 1).name == "local"
    with pytest.raises(UsageError, match="no ordering is called 'lhk'"):
        choose("lhk", 1)
    with pytest.raises(UsageError, match=f"at most {LARGEST} goals"):
        ExactOrdering().solve(problem(1, LARGEST + 1))


def test_exact_is_quick_for_eighteen_goals() -> None:
    result = ExactOrdering().solve(problem(5, 18))
    assert result.seconds < 5
    assert path_cost(problem(5, 18), result.path) == result.cost
