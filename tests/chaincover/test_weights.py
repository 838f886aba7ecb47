"""Transitive closure, Lemma 1 and Algorithm 3; names of goals."""

from __future__ import annotations

import random
from itertools import pairwise, permutations

import pytest
from cruise import INIT as RESTED
from cruise import PROPERTIES, cruise, prop
from hypothesis import given, settings
from hypothesis import strategies as st
from pysmt.shortcuts import FALSE, TRUE

from bmc.engines import choose
from bmc.engines.protocol import Answer, Status, check_in_turn
from bmc.errors import InputRefused, LimitReached
from chaincover.graph.reachability import GraphBuilder
from chaincover.limits import Limits
from chaincover.problem import Problem, Questions
from chaincover.weights import INIT, ReachGraph, exists_path, obstacles, transitive_closure


def random_graph(seed: int, count: int) -> ReachGraph:
    rng = random.Random(seed)
    goals = tuple(f"g{n}" for n in range(count))
    pairs = [(INIT, g) for g in goals] + [(g, "final") for g in goals]
    pairs += [(a, b) for a in goals for b in goals if a != b]
    weights = {pair: rng.randint(0, 5) for pair in pairs if rng.random() < 0.55}
    return ReachGraph(goals, "final", weights, {}, (), (), 0, 0, 0.0)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(1, 5))
def test_algorithm_3_and_lemma_1_agree_with_all_orders(seed: int, count: int) -> None:
    graph = random_graph(seed, count)
    closed = transitive_closure(graph)
    possible = any(
        all(edge in closed for edge in pairwise((INIT, *order, "final"))) for order in permutations(graph.goals)
    )
    path = exists_path(graph, closed)
    assert (path is not None) == possible
    assert bool(obstacles(graph, closed)) != possible
    if path is not None:
        assert sorted(path) == sorted(graph.nodes)
        assert all(edge in closed for edge in pairwise(path))


def test_closure_takes_the_shorter_way() -> None:
    graph = ReachGraph(
        ("a", "b"), "final", {(INIT, "a"): 1, ("a", "b"): 1, (INIT, "b"): 5, ("b", "final"): 2}, {}, (), (), 0, 0, 0.0
    )
    closed = transitive_closure(graph)
    assert closed[INIT, "b"] == 2
    assert closed[INIT, "final"] == 4
    assert ("b", "a") not in closed


def test_obstacles_are_named() -> None:
    graph = ReachGraph(
        ("a", "b", "c", "d"),
        "final",
        {(INIT, "a"): 0, (INIT, "b"): 0, (INIT, "c"): 0, ("a", "final"): 0, ("b", "final"): 0, ("d", "final"): 0},
        {}, (), (), 0, 0, 0.0,
    )  # fmt: skip
    found = obstacles(graph, transitive_closure(graph))
    assert found.unreached == ("d",)
    assert found.stuck == ("c",)
    assert ("a", "b") in found.exclusive


def build(goals, final, depth: int, overlap: str = "allow", **options) -> ReachGraph:
    builder = GraphBuilder(Questions(Problem(cruise(), tuple(goals), final, overlap), choose("z3"), Limits()))
    for _ in range(depth + 1):
        builder.extend()
    return builder.graph()


def test_the_paper_s_graph() -> None:
    graph = build(PROPERTIES, RESTED, 2)
    direct = {edge: graph.weights[edge] for edge in [("p1", "p2"), ("p2", "p3"), ("p3", "final"), (INIT, "p4")]}
    assert direct == {("p1", "p2"): 2, ("p2", "p3"): 1, ("p3", "final"): 2, (INIT, "p4"): 2}
    assert (INIT, "p2") not in graph.weights
    assert graph.lower[INIT, "p2"] == 3
    assert graph.queries < 40


def test_goals_that_nothing_satisfies_are_told_and_left_out() -> None:
    graph = build([PROPERTIES[0], prop("void", FALSE())], None, 0)
    assert graph.unsatisfiable == ("void",)
    assert not any("void" in edge for edge in graph.lower)
    assert graph.restricted(["p1"]).goals == ("p1",)


@pytest.mark.parametrize("name", ["init", "final", "end"])
def test_goals_may_not_have_the_end_nodes_names(name: str) -> None:
    with pytest.raises(InputRefused, match=f"may not be called '{name}'"):
        build([prop(name, TRUE())], None, 0)


def test_two_goals_of_one_name_are_refused() -> None:
    with pytest.raises(InputRefused, match="two goals"):
        build([prop("x", TRUE()), prop("x", TRUE())], None, 0)


class GivesUp:
    """An engine whose queries about two steps and more are never answered."""

    name, version = "gives-up", "0"

    def session(self, system, source, goals=()):
        inner = choose("z3").session(system, source, goals)

        class Session:
            def check(self, formulas, steps, time_limit=None, effort=None):
                return inner.check(formulas, steps) if steps < 2 else Answer(Status.UNKNOWN)

            def check_any(self, alternatives, time_limit=None, effort=None):
                return check_in_turn(self, alternatives, time_limit, effort)

            def run(self):
                return inner.run()

        return Session()


def test_unknown_freezes_the_lower_bound_and_is_kept_apart() -> None:
    builder = GraphBuilder(Questions(Problem(cruise(), tuple(PROPERTIES), None, "allow"), GivesUp(), Limits()))
    for _ in range(4):
        builder.extend()
    graph = builder.graph()
    assert (INIT, "p4") in graph.unknown
    assert graph.lower[INIT, "p4"] == 1
    assert (INIT, "p4") not in graph.weights


def test_the_time_limit_ends_the_construction_between_queries() -> None:
    builder = GraphBuilder(Questions(Problem(cruise(), tuple(PROPERTIES), None, "allow"), choose("z3"), Limits(1e-9)))
    with pytest.raises(LimitReached, match="time limit"):
        builder.extend()
    assert builder.graph().depth == -1
