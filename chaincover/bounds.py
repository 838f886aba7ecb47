"""A proven lower bound on the length of every chain through the same goals."""

from __future__ import annotations

from bmc.errors import CheckDisagreed
from chaincover.chain import Bounds
from chaincover.graph import INIT, ReachGraph
from chaincover.orderings.exact import LARGEST, ExactOrdering
from chaincover.orderings.protocol import OrderingProblem


def lower_bound(graph: ReachGraph, length: int | None, refuted_below: int = 0) -> Bounds:
    """The bound from ``graph``'s direct weights, beside the ``length`` of the chain found (None: none).

    In any chain, goals that follow each other lie at least their direct distance apart, so the shortest path through
    all goals, each edge at the least distance not proved impossible, bounds every chain. Above the size of the exact
    ordering the farthest single goal does. ``refuted_below``: no chain is shorter, by the search over whole chains.
    CheckDisagreed if the chain is shorter than the bound.
    """
    goals = graph.goals
    if not graph.lower:
        bounds = Bounds(0, length, "nothing was asked yet")
    elif len(goals) <= LARGEST:
        problem = OrderingProblem(goals, graph.lower, INIT, graph.end)
        bounds = Bounds(
            ExactOrdering().solve(problem).lower_bound, length, "least order over direct distances, proved exactly"
        )
    else:
        far = max(graph.lower[INIT, g] + graph.lower[g, graph.end] for g in goals)
        bounds = Bounds(far, length, "distance of the farthest single goal")
    if refuted_below > bounds.lower:
        bounds = Bounds(refuted_below, length, "search over whole chains of every shorter length")
    if length is not None and length < bounds.lower:
        raise CheckDisagreed(f"a chain of {length} steps was found below the proven least length {bounds.lower}")
    return bounds
