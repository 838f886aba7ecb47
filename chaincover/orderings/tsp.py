"""Ordering ``tsp``: Lemma 2, the covering path as an asymmetric travelling salesman tour, by elkai (LKH)."""

from __future__ import annotations

from importlib.util import find_spec

from bmc.errors import UsageError
from chaincover.orderings.exact import ExactOrdering
from chaincover.orderings.local import LocalOrdering
from chaincover.orderings.protocol import UNLIMITED, Clock, Limit, OrderingProblem, OrderingResult, path_cost

LARGEST_WEIGHT = 10_000_000
"""LKH can abort the whole process on larger numbers."""

RUNS = 10
"""How often LKH begins anew, at most. Twice as often: an ordering takes up to twice the time."""

WORK = 1e-5
"""Units of work that one run of LKH takes for each pair of nodes, roughly."""


def available() -> bool:
    """Whether elkai can be imported."""
    return find_spec("elkai") is not None


def takes(problem: OrderingProblem) -> bool:
    """Whether ``problem`` can be given to LKH: no path constraints, no weight above ``LARGEST_WEIGHT``."""
    return not problem.constrained and max(problem.weights.values(), default=0) <= LARGEST_WEIGHT


class TspOrdering:
    """Finds the optimum in practice, but proves nothing; below three nodes the exact ordering answers."""

    name = "tsp"

    def __init__(self, runs: int = RUNS) -> None:
        """``runs``: how often LKH begins anew at most; the best tour counts."""
        self._runs = runs

    def runs_within(self, limit: Limit, nodes: int) -> int:
        """How often LKH begins anew: as often as is likely to take no more than ``limit``, and once at least."""
        amounts = [amount for amount in (limit.seconds, limit.work) if amount is not None]
        return max(1, min([self._runs, *(int(amount / (WORK * nodes**2)) for amount in amounts)]))

    def solve(self, problem: OrderingProblem, limit: Limit = UNLIMITED) -> OrderingResult:
        """Lemma 2: the shortest path from start through all nodes to end, as a tour of a travelling salesman.

        The path becomes a tour by a free edge from end to start; edges that are missing in ``problem`` get a weight
        above that of every path. LKH, a heuristic, looks for the shortest tour, and the tour is cut at the free edge.
        If it uses a missing edge, the answer is that of the ordering ``local``. The path is never said to be proved the
        shortest. LKH cannot be stopped: ``limit`` decides how often it begins anew. UsageError if elkai is not
        installed, for path constraints, and for a weight above ``LARGEST_WEIGHT``.
        """
        if problem.constrained:
            raise UsageError(
                "the ordering tsp takes no path constraints", hint="use the ordering auto, exact, mip, cpsat or asp"
            )
        if len(problem.nodes) < 3:
            return ExactOrdering().solve(problem, limit)
        if not available():
            raise UsageError(
                "the ordering tsp needs the package elkai", hint="pip install elkai, or use the ordering auto"
            )
        import elkai

        clock = Clock(limit)
        runs = self.runs_within(limit, len(problem.nodes))
        tour = elkai.DistanceMatrix(_matrix(problem)).solve_tsp(runs=runs)
        names = (problem.start, *problem.nodes, problem.end)
        path = tuple(names[i] for i in tour[:-1])
        cost = path_cost(problem, path) if path[-1] == problem.end else None
        if cost is None:
            return LocalOrdering().solve(problem, Limit(clock.left))
        return OrderingResult(path, cost, 0, False, clock.spent, self.name)


def _matrix(problem: OrderingProblem) -> list[list[int]]:
    """Distances between start, nodes and end, with the free edge end to start that closes the tour."""
    names = (problem.start, *problem.nodes, problem.end)
    largest = max(problem.weights.values(), default=0)
    if largest > LARGEST_WEIGHT:
        raise UsageError(f"the ordering tsp takes weights up to {LARGEST_WEIGHT}, not {largest}")
    missing = min((largest + 1) * len(names), LARGEST_WEIGHT)
    matrix = [[problem.weights.get((a, b), missing) for b in names] for a in names]
    for i, name in enumerate(names):
        matrix[i][i] = 0
        matrix[i][0] = 0 if name in (problem.start, problem.end) else missing
    return matrix
