"""A proven lower bound on the length of every chain through the same goals, from the distances between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bmc.records import dataclass
from chaincover.orderings.protocol import UNLIMITED, Limit, OrderingProblem
from chaincover.weights import INIT, Edge, ReachGraph

LEAST_ORDER = "shortest order over direct distances, proved exactly"
SOME_ORDER = "bound on the shortest order over direct distances, proved until the limit"
LEARNED = "shortest order over direct distances and least lengths of sub-paths, proved exactly"
WHOLE = "search over whole chains of every shorter length"
EXACT = "search over all reachable states with the goals covered"
FLOW = "least covering flow over all reachable states, its dual solution checked exactly"
ACCELERATED = "search over all jumps of counters with the goals covered"
FARTHEST = "distance of the farthest single goal"


@dataclass(frozen=True, slots=True)
class OrderBound:
    """No chain through all goals takes fewer than ``lower`` steps; ``basis`` says why.

    ``impossible``: it is proved that no order of the goals has edges that may all exist, so that there is no chain.
    """

    lower: int
    basis: str
    impossible: bool = False


def farthest(goals: Sequence[str], end: str, lower: Mapping[Edge, int]) -> int:
    """The steps from init over the farthest of ``goals`` to the end, by bounds on single edges."""
    return max((lower.get((INIT, goal), 0) + lower.get((goal, end), 0) for goal in goals), default=0)


def order_bound(graph: ReachGraph, limit: Limit = UNLIMITED) -> OrderBound:
    """The bound from the direct weights of ``graph``.

    In any chain, goals that follow each other lie at least their direct distance apart, so the shortest path through
    all goals, each edge at the least distance not proved impossible, bounds every chain; so does the distance of the
    farthest single goal, which is more where distances over other goals are shorter. For many goals the shortest path
    is sought as far as ``limit`` and ``auto`` go, and what is proved until then counts.
    """
    from chaincover.orderings.auto import AutoOrdering

    far = farthest(graph.goals, graph.end, graph.lower)
    problem = OrderingProblem(graph.goals, graph.lower, INIT, graph.end)
    found = AutoOrdering().solve(problem, limit)
    if far > found.lower_bound:
        return OrderBound(far, FARTHEST)
    impossible = found.proved and not found.path
    return OrderBound(found.lower_bound, LEAST_ORDER if found.proved else SOME_ORDER, impossible)
