"""The shortest path over a graph's edges that covers all goals (Lemma 2), or that there is none yet (Lemma 1)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from chaincover.concretise.check_path import Plan
from chaincover.orderings.protocol import Limit, Ordering, OrderingProblem
from chaincover.weights import INIT, ReachGraph, exists_path, transitive_closure


@dataclass(frozen=True)
class CoveringPath:
    """``plan`` goes along the path; ``proved``: none is shorter. ``by`` is the backend that found it."""

    plan: Plan
    proved: bool
    by: str


def shortest_covering_path(graph: ReachGraph, ordering: Ordering, seconds: float | None) -> CoveringPath | None:
    """The path from init through the goals of ``graph`` to its end by ``ordering``; None if there is none."""
    closed = transitive_closure(graph)
    some_path = exists_path(graph, closed)
    if some_path is None:
        return None
    found = ordering.solve(OrderingProblem(graph.goals, closed, INIT, graph.end), Limit(seconds))
    path = found.path or some_path
    return CoveringPath(Plan(path, tuple(closed[edge] for edge in pairwise(path))), found.proved, found.by)
