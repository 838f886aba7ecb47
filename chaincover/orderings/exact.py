"""Ordering ``exact``: always proves. Held-Karp dynamic programming, vectorised over all sets of one size, for few nodes
without path constraints; else a backend that proves."""

from __future__ import annotations

from typing import Any

import numpy as np

from chaincover.orderings.protocol import UNLIMITED, Clock, Limit, Ordering, OrderingProblem, OrderingResult

LARGEST = 16
"""Most nodes for Held-Karp: the table then takes 4 MB and some hundredths of a second. For more, ``mip`` is first."""

INFINITE = 1 << 29

Table = np.ndarray[Any, np.dtype[np.int32]]


def prover(problem: OrderingProblem) -> Ordering:
    """The backend that proves ``problem``, of any size: mip, but with path constraints cpsat, or asp-usc without
    OR-tools."""
    if not problem.constrained:
        from chaincover.orderings.mip import MipOrdering

        return MipOrdering()
    from chaincover.orderings import cpsat
    from chaincover.orderings.asp import AspOrdering

    return cpsat.CpsatOrdering() if cpsat.available() else AspOrdering("usc")


class ExactOrdering:
    """Shortest path; the first in the order of the nodes among equals, where Held-Karp answers."""

    name = "exact"

    def solve(self, problem: OrderingProblem, limit: Limit = UNLIMITED) -> OrderingResult:
        """The shortest path with its proof. Above ``LARGEST`` nodes or with path constraints ``prover`` has ``limit``.

        When its seconds are over, what the local ordering finds, with the bound of the assignment relaxation.
        UsageError if neither OR-tools nor clingo is there for path constraints.
        """
        if len(problem.nodes) > LARGEST or problem.constrained:
            return prover(problem).solve(problem, limit)
        clock = Clock(limit)
        between, first, last = _matrices(problem)
        table = _table(between, last, clock)
        if table is None:
            from chaincover.orderings.constraints import Answer, outcome, relaxed

            bound = relaxed(problem)
            return outcome(problem, Answer(bound.by, (), bound.lower_bound, bound.proved), clock)
        path, cost = _least_path(table, between, first, problem)
        return OrderingResult(path, cost, cost, True, clock.spent, self.name)


def _matrices(problem: OrderingProblem) -> tuple[Table, Table, Table]:
    """Weights between nodes, from start, and to end; missing ones infinite."""
    names = problem.nodes
    between = np.array([[problem.weights.get((a, b), INFINITE) for b in names] for a in names], dtype=np.int32).reshape(
        len(names), len(names)
    )
    first = np.array([problem.weights.get((problem.start, b), INFINITE) for b in names], dtype=np.int32)
    last = np.array([problem.weights.get((a, problem.end), INFINITE) for a in names], dtype=np.int32)
    return between, first, last


def _table(between: Table, last: Table, clock: Clock) -> Table | None:
    """Row S, column j: least cost from node j (not in S) through all nodes of the bit set S to the end.

    None if time is over before.
    """
    count = len(last)
    table = np.full((1 << count, count), INFINITE, dtype=np.int32)
    table[0] = last
    sets = np.arange(1 << count, dtype=np.int64)
    sizes = np.bitwise_count(sets)
    for size in range(1, count):
        layer = sets[sizes == size]
        rows = np.full((len(layer), count), INFINITE, dtype=np.int32)
        for node in range(count):
            if clock.over:
                return None
            chosen = np.flatnonzero(layer >> node & 1)
            onward = table[layer[chosen] ^ (1 << node), node]
            step = onward[:, None] + between[None, :, node]
            rows[chosen] = np.minimum(rows[chosen], step)
        table[layer] = rows
    return table


def _least_path(table: Table, between: Table, first: Table, problem: OrderingProblem) -> tuple[tuple[str, ...], int]:
    """The first path of least cost, read forwards from the table; empty if every path has an infinite edge."""
    count = len(first)
    if count == 0:
        cost = problem.weights.get((problem.start, problem.end))
        return ((), 0) if cost is None else ((problem.start, problem.end), cost)
    rest, costs = (1 << count) - 1, first
    path, total = [problem.start], 0
    for place in range(count):
        options = {
            node: int(costs[node]) + int(table[rest ^ (1 << node), node]) for node in range(count) if rest >> node & 1
        }
        node = min(options, key=lambda n: (options[n], n))
        if place == 0:
            total = options[node]
            if total >= INFINITE:
                return (), 0
        path.append(problem.nodes[node])
        rest ^= 1 << node
        costs = between[node]
    return (*path, problem.end), total
