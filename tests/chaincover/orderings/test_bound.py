"""The lower bound for more goals than Held-Karp takes, and where single goals are far away."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ordering_problems import problem

from chaincover.orderings import choose
from chaincover.orderings.bound import FARTHEST, LEAST_ORDER, SOME_ORDER, order_bound
from chaincover.orderings.constraints import relaxed
from chaincover.orderings.mip import MipOrdering
from chaincover.orderings.protocol import Limit, OrderingProblem
from chaincover.weights import ReachGraph, transitive_closure


def closed_graph() -> ReachGraph:
    p = problem(2, 26, largest=40)
    graph = ReachGraph(p.nodes, "final", p.weights, p.weights, (), (), 9, 0, 0.0)
    closed = transitive_closure(graph)
    return replace(graph, weights=closed, lower=closed)


GRAPH = closed_graph()
PROBLEM = OrderingProblem(GRAPH.goals, GRAPH.lower, "init", "final")


@pytest.mark.parametrize("name", ["asp-usc", pytest.param("cpsat", marks=pytest.mark.needs("ortools"))])
def test_many_goals_are_bounded_by_a_proved_order(name: str) -> None:
    least = choose(name).solve(PROBLEM)
    assert least.proved
    bounds = order_bound(GRAPH)
    assert (bounds.lower, bounds.basis) == (least.cost, LEAST_ORDER)


def test_with_little_work_a_weaker_bound_says_so() -> None:
    least = MipOrdering().solve(PROBLEM).cost
    bounds = order_bound(GRAPH, Limit(work=1e-9))
    assert relaxed(PROBLEM).lower_bound <= bounds.lower < least
    assert bounds.basis == SOME_ORDER


def test_a_goal_that_is_far_away_bounds_though_the_way_over_others_seems_short() -> None:
    weights = {("init", "a"): 1, ("a", "b"): 1, ("b", "a"): 1, ("init", "b"): 7, ("a", "final"): 0, ("b", "final"): 1}
    graph = ReachGraph(("a", "b"), "final", weights, weights, (), (), 9, 0, 0.0)
    bounds = order_bound(graph)
    assert (bounds.lower, bounds.basis) == (8, FARTHEST)
