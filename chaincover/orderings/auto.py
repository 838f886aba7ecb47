"""Ordering ``auto``: the exact ordering for few nodes, above that a proof within a fixed amount of work."""

from __future__ import annotations

from dataclasses import replace

from chaincover.orderings import asp, cpsat, tsp
from chaincover.orderings.constraints import relaxed
from chaincover.orderings.exact import LARGEST, ExactOrdering, prover
from chaincover.orderings.local import LocalOrdering
from chaincover.orderings.protocol import UNLIMITED, Clock, Limit, Ordering, OrderingProblem, OrderingResult
from chaincover.orderings.tsp import TspOrdering

WORK = 10.0
"""Work that the search for a proof may take, in units of very roughly a second: the same result on every machine."""


class AutoOrdering:
    """Up to ``LARGEST`` nodes without path constraints ``exact``; else ``cpsat`` or ``asp-usc``, up to ``WORK``.

    Where these do not finish also ``tsp`` (else ``local``), and the better path. Where neither is installed the bound
    is that of the assignment relaxation.
    """

    name = "auto"

    def solve(self, problem: OrderingProblem, limit: Limit = UNLIMITED) -> OrderingResult:
        """A short path with a lower bound, proved where that was possible within ``WORK`` and ``limit``."""
        if len(problem.nodes) <= LARGEST and not problem.constrained:
            return ExactOrdering().solve(problem, limit)
        clock = Clock(limit)
        work = WORK if limit.work is None else min(WORK, limit.work)
        if cpsat.available() or asp.available():
            found = prover().solve(problem, replace(limit, work=work))
        else:
            found = relaxed(problem)
        if found.proved:
            return found
        other = _quick(problem).solve(problem, Limit(clock.left))
        best = other if other.path and (not found.path or other.cost < found.cost) else found
        proved = bool(best.path) and best.cost == found.lower_bound
        return replace(best, lower_bound=found.lower_bound, proved=proved, seconds=clock.spent)


def _quick(problem: OrderingProblem) -> Ordering:
    return TspOrdering() if tsp.available() and tsp.takes(problem) else LocalOrdering()


def ordering_effort(problem: OrderingProblem) -> float:
    """About how many units of work a shortest order of ``problem`` takes."""
    if len(problem.nodes) <= LARGEST and not problem.constrained:
        return float(2.0 ** (len(problem.nodes) - LARGEST))
    return len(problem.nodes) ** 2 / 2000
