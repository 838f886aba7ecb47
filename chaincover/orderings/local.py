"""Ordering ``local``: cheapest insertion, then moving short sub-paths (or-opt) while it helps; proves nothing."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from chaincover.orderings.protocol import UNLIMITED, Clock, Limit, OrderingProblem, OrderingResult, path_cost

LONGEST = 3
"""Nodes of the longest part of an order that is moved. Twice as many: each round looks at twice as many moves."""

Costs = dict[tuple[str, str], int]


class LocalOrdering:
    """A deterministic heuristic for any number of nodes; path constraints are looked at only when moves are judged."""

    name = "local"

    def solve(self, problem: OrderingProblem, limit: Limit = UNLIMITED) -> OrderingResult:
        """A path that no move of up to three neighbours to their cheapest place shortens; its lower bound is 0.

        When the seconds of ``limit`` are over, the path so far; its work is not counted.
        """
        clock = Clock(limit)
        costs = _penalised(problem)
        filled = replace(problem, weights=costs, forbidden=())
        path = [problem.start, problem.end]
        for node in problem.nodes:
            path = _insert(path, [node], costs)
        while (better := _moved(path, costs, problem, filled, clock)) is not None:
            path = better
        cost = path_cost(problem, path)
        if cost is None:
            return OrderingResult((), 0, 0, False, clock.spent, self.name)
        return OrderingResult(tuple(path), cost, 0, False, clock.spent, self.name)


def _penalised(problem: OrderingProblem) -> Costs:
    """All edges' costs; a missing edge costs more than any path without one."""
    everything = (problem.start, *problem.nodes, problem.end)
    dearest = [*problem.weights.values(), *problem.least.values()]
    missing = 1 + sum(sorted(dearest, reverse=True)[: len(everything)])
    return {(a, b): problem.weights.get((a, b), missing) for a in everything for b in everything}


def _insert(path: list[str], sub: list[str], costs: Costs) -> list[str]:
    """``path`` with ``sub`` at its cheapest place, the first among equals."""

    def added(place: int) -> int:
        before, after = path[place - 1], path[place]
        return costs[before, sub[0]] + costs[sub[-1], after] - costs[before, after]

    place = min(range(1, len(path)), key=added)
    return [*path[:place], *sub, *path[place:]]


def _moved(
    path: list[str], costs: Costs, problem: OrderingProblem, filled: OrderingProblem, clock: Clock
) -> list[str] | None:
    """``path`` after the first move of a short sub-path that makes it cheaper; None without one, or if time is over."""
    total = _total(path, costs, problem, filled)
    for length in range(1, LONGEST + 1):
        for begin in range(1, len(path) - length):
            if clock.over:
                return None
            sub = path[begin : begin + length]
            other = _insert(path[:begin] + path[begin + length :], sub, costs)
            if _total(other, costs, problem, filled) < total:
                return other
    return None


def _total(path: list[str], costs: Costs, problem: OrderingProblem, filled: OrderingProblem) -> int:
    """The cost of ``path``, with the penalty of a missing edge for each forbidden sub-path."""
    if not problem.constrained:
        return sum(costs[edge] for edge in pairwise(path))
    text, penalty = tuple(path), max(costs.values(), default=0)
    broken = sum(
        text[begin : begin + len(sub)] == sub for sub in problem.forbidden for begin in range(len(text) - len(sub) + 1)
    )
    return (path_cost(filled, path) or 0) + penalty * broken
