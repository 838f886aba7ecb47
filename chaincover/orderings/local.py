"""Ordering ``local``: cheapest insertion, then moving short segments (or-opt) while it helps; proves nothing."""

from __future__ import annotations

import time
from itertools import pairwise

from chaincover.orderings.protocol import OrderingProblem, OrderingResult, path_cost

LONGEST_SEGMENT = 3

Costs = dict[tuple[str, str], int]


class LocalOrdering:
    """A deterministic heuristic for any number of nodes."""

    name = "local"

    def solve(self, problem: OrderingProblem) -> OrderingResult:
        """A path that no move of up to three neighbours shortens; its lower bound is 0 and nothing is proved."""
        begun = time.monotonic()
        costs = _penalised(problem)
        path = [problem.start, problem.end]
        for node in problem.nodes:
            path = _insert(path, [node], costs)
        while (better := _moved(path, costs)) is not None:
            path = better
        cost = path_cost(problem, path)
        if cost is None:
            return OrderingResult((), 0, 0, False, time.monotonic() - begun)
        return OrderingResult(tuple(path), cost, 0, False, time.monotonic() - begun)


def _penalised(problem: OrderingProblem) -> Costs:
    """All edges' costs; a missing edge costs more than any path without one."""
    everything = (problem.start, *problem.nodes, problem.end)
    missing = 1 + sum(sorted(problem.weights.values(), reverse=True)[: len(everything)])
    return {(a, b): problem.weights.get((a, b), missing) for a in everything for b in everything}


def _insert(path: list[str], segment: list[str], costs: Costs) -> list[str]:
    """``path`` with ``segment`` at its cheapest place, the first among equals."""

    def added(place: int) -> int:
        before, after = path[place - 1], path[place]
        return costs[before, segment[0]] + costs[segment[-1], after] - costs[before, after]

    place = min(range(1, len(path)), key=added)
    return [*path[:place], *segment, *path[place:]]


def _moved(path: list[str], costs: Costs) -> list[str] | None:
    """``path`` after the first move of a short segment that makes it cheaper, None if there is none."""
    total = _total(path, costs)
    for length in range(1, LONGEST_SEGMENT + 1):
        for begin in range(1, len(path) - length):
            segment = path[begin : begin + length]
            other = _insert(path[:begin] + path[begin + length :], segment, costs)
            if _total(other, costs) < total:
                return other
    return None


def _total(path: list[str], costs: Costs) -> int:
    return sum(costs[edge] for edge in pairwise(path))
