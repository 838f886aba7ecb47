"""Ordering ``auto``: the exact ordering for few nodes, above that a proof within a fixed amount of work."""

from __future__ import annotations

from dataclasses import replace

from chaincover.orderings.exact import LARGEST, ExactOrdering, prover
from chaincover.orderings.protocol import UNLIMITED, Clock, Limit, Ordering, OrderingProblem, OrderingResult

WORK = 10.0
"""Work that the search for a proof may take, in units of very roughly a second: the same result on every machine."""


class AutoOrdering:
    """Up to ``LARGEST`` nodes without path constraints ``exact``; above ``mip``, with path constraints ``cpsat`` or
    ``asp-usc``, each up to ``WORK``.

    Where these do not finish also ``local``, and the better path. Where nothing is installed for path
    constraints the bound is that of the assignment relaxation.
    """

    name = "auto"

    def solve(self, problem: OrderingProblem, limit: Limit = UNLIMITED) -> OrderingResult:
        """A short path with a lower bound, proved where that was possible within ``WORK`` and ``limit``."""
        if len(problem.nodes) <= LARGEST and not problem.constrained:
            return ExactOrdering().solve(problem, limit)
        from chaincover.orderings import asp, cpsat
        from chaincover.orderings.constraints import relaxed
        from chaincover.orderings.local import LocalOrdering
        from chaincover.orderings.mip import MipOrdering

        clock = Clock(limit)
        work = replace(limit, work=WORK if limit.work is None else min(WORK, limit.work))
        if not problem.constrained:
            return MipOrdering(_quick(problem)).solve(problem, work)
        if cpsat.available() or asp.available():
            found = prover(problem).solve(problem, work)
        else:
            found = relaxed(problem)
        if found.proved:
            return found
        other = LocalOrdering().solve(problem, Limit(clock.left))
        best = other if other.path and (not found.path or other.cost < found.cost) else found
        proved = bool(best.path) and best.cost == found.lower_bound
        return replace(best, lower_bound=found.lower_bound, proved=proved, seconds=clock.spent)


def _quick(problem: OrderingProblem) -> Ordering:
    from chaincover.orderings import tsp
    from chaincover.orderings.local import LocalOrdering
    from chaincover.orderings.tsp import TspOrdering

    return TspOrdering(runs=1) if tsp.available() and tsp.takes(problem) else LocalOrdering()


def ordering_effort(problem: OrderingProblem) -> float:
    """About how many units of work a shortest order of ``problem`` takes."""
    count = len(problem.nodes)
    if problem.constrained:
        return count**2 / 2000
    return 2.0 ** (count - LARGEST) if count <= LARGEST else min(WORK, count**3 / 200_000)
