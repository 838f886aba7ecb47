"""A proven lower bound on the length of every chain through the same goals."""

from __future__ import annotations

from bmc.errors import CheckDisagreed
from chaincover.chain import Bounds
from chaincover.orderings.auto import AutoOrdering
from chaincover.orderings.protocol import UNLIMITED, Limit, OrderingProblem
from chaincover.weights import INIT, ReachGraph

WORK = 5.0
"""Work that the proof of a least order may take above the size of Held-Karp, in the units of ``Limit``."""

LEAST_ORDER = "least order over direct distances, proved exactly"
SOME_ORDER = "bound on the least order over direct distances, proved until the limit"
LEARNED = "least order over direct distances and least lengths of sub-paths, proved exactly"
WHOLE = "search over whole chains of every shorter length"
EXACT = "search over all reachable states with the goals covered"
FARTHEST = "distance of the farthest single goal"


def lower_bound(graph: ReachGraph, length: int | None, limit: Limit = UNLIMITED) -> Bounds:
    """The bound from ``graph``'s direct weights, beside the ``length`` of the chain found (None: none).

    In any chain, goals that follow each other lie at least their direct distance apart, so the shortest path through
    all goals, each edge at the least distance not proved impossible, bounds every chain; so does the distance of the
    farthest single goal, which is more where distances over other goals are shorter. For many goals the least path is
    sought with up to ``WORK`` and ``limit``, and what is proved until then counts. CheckDisagreed if the chain is
    shorter than the bound.
    """
    if not graph.lower:
        return raised(Bounds(0, None, "nothing was asked yet"), length)
    steps, basis = _direct_bound(graph, limit)
    return raised(Bounds(steps, None, basis), length)


def raised(bounds: Bounds, length: int | None, learned: int = 0, refuted_below: int = 0, exact: int = 0) -> Bounds:
    """``bounds`` with all that is proved besides, beside the ``length`` of the chain found (None: none).

    ``learned`` is the least order under path weights; ``refuted_below``: no chain is shorter, by the search over whole
    chains; ``exact``: the least length, by the search over all reachable states. CheckDisagreed if the chain is shorter
    than the bound.
    """
    lower, basis = bounds.lower, bounds.basis
    if learned > lower:
        lower, basis = learned, LEARNED
    if refuted_below > lower:
        lower, basis = refuted_below, WHOLE
    if exact > lower:
        lower, basis = exact, EXACT
    if length is not None and length < lower:
        raise CheckDisagreed(f"a chain of {length} steps was found below the proven least length {lower}")
    return Bounds(lower, length, basis)


def _direct_bound(graph: ReachGraph, limit: Limit) -> tuple[int, str]:
    """The bound in steps from direct distances, and what it rests on."""
    far = max((graph.lower.get((INIT, g), 0) + graph.lower.get((g, graph.end), 0) for g in graph.goals), default=0)
    problem = OrderingProblem(graph.goals, graph.lower, INIT, graph.end)
    work = WORK if limit.work is None else min(WORK, limit.work)
    found = AutoOrdering().solve(problem, Limit(limit.seconds, work))
    if far > found.lower_bound:
        return far, FARTHEST
    return found.lower_bound, LEAST_ORDER if found.proved else SOME_ORDER
