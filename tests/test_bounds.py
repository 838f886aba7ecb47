"""The lower bound for more goals than Held-Karp takes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ordering_problems import problem

from chaincover.bounds import FARTHEST, LEAST_ORDER, lower_bound
from chaincover.graph import ReachGraph
from chaincover.orderings import asp, cpsat
from chaincover.orderings.constraints import relaxed
from chaincover.orderings.exact import prover
from chaincover.orderings.local import LocalOrdering
from chaincover.orderings.protocol import Limit

PROBLEM = problem(2, 26)
GRAPH = ReachGraph(PROBLEM.nodes, "final", PROBLEM.weights, PROBLEM.weights, (), (), 9, 0, 0.0)
PROVERS = [("cpsat", cpsat), ("asp-usc", asp)]


@pytest.mark.parametrize("name", [name for name, _ in PROVERS])
def test_many_goals_are_bounded_by_a_proved_order(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for other, module in PROVERS:
        if other == name and not module.available():
            pytest.skip(f"{name} is not installed")
        if other != name and other == "cpsat":
            monkeypatch.setattr(module, "available", lambda: False)
    assert prover().name == name
    least = prover().solve(PROBLEM)
    assert least.proved
    bounds = lower_bound(GRAPH, None)
    assert (bounds.lower, bounds.basis) == (least.cost, LEAST_ORDER)


def test_without_a_prover_or_without_time_the_relaxation_and_the_farthest_goal_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    farthest = max(PROBLEM.weights["init", g] + PROBLEM.weights[g, "final"] for g in PROBLEM.nodes)
    if asp.available() or cpsat.available():
        least = prover().solve(PROBLEM).cost
        stopped = lower_bound(GRAPH, None, limit=Limit(work=1e-9))
        assert stopped.lower <= max(least, farthest)
    for module in (asp, cpsat):
        monkeypatch.setattr(module, "available", lambda: False)
    relaxation = relaxed(PROBLEM).lower_bound
    assert relaxation <= LocalOrdering().solve(PROBLEM).cost
    bounds = lower_bound(GRAPH, None)
    assert bounds.lower >= max(relaxation, farthest)
    weights = {edge: 9 * (edge[0] == "init") for edge in PROBLEM.weights} | {("init", "g0"): 100}
    far = lower_bound(replace(GRAPH, weights=weights, lower=weights), None)
    assert (far.lower, far.basis) == (100, FARTHEST)
