"""Why no path costs less than so many steps: branch and bound, with a dual solution of a linear program in each case.

The linear program is that of the ordering ``mip``. Its dual solutions are rounded to integers and need no trust, for
whoever reads the proof adds them up. Where one does not suffice, the paths are divided by the next node after a node.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from chaincover.certificate import OrderProof
from chaincover.limits import PER_UNIT
from chaincover.orderings.constraints import Edge, path_model
from chaincover.orderings.mip import ROUNDING, VIOLATED, Program, Solution, missed
from chaincover.orderings.protocol import UNLIMITED, Clock, Limit, OrderingProblem, Path, path_cost

SCALE = 1 << 30
"""Parts of a step in prices: what rounding takes off the sum of hundreds of them is far less than ``VIOLATED``."""

MOST = 1 << 40
"""Bounds above are not proved: the solver adds in floating point, and counts large numbers as infinite."""


def order_proof(problem: OrderingProblem, at_least: int, limit: Limit = UNLIMITED) -> OrderProof | Path | None:
    """The proof that no path costs less than ``at_least``, or a path that does; None where ``limit`` ends before."""
    listed = (problem.start, *problem.nodes, problem.end)
    cost = path_cost(problem, listed)
    if cost is not None and cost < at_least:
        return listed
    if at_least > MOST:
        return None
    maker = _Maker(problem, at_least, limit)
    return maker.case(frozenset()) or maker.path or None


class _Maker:
    """Divides the paths into cases until a dual solution settles each, or a ``path`` is found that costs too little."""

    def __init__(self, problem: OrderingProblem, at_least: int, limit: Limit) -> None:
        self._model = path_model(problem)
        self._program = Program(self._model)
        self._penalty, self._enough = at_least * self._program.size, at_least - 1 + VIOLATED
        self._clock = Clock(limit)
        self._work = math.inf if limit.work is None else limit.work * PER_UNIT.order_simplex
        self._cuts: list[frozenset[int]] = []
        self.path: Path = ()

    def case(self, without: frozenset[Edge]) -> OrderProof | None:
        """The proof for the paths along no edge of ``without``; None where there is a path, or work ends before."""
        solution = self._relax(without)
        if solution is None:
            return None
        proof, names = self._prices(solution), self._model.names
        if solution.value > self._enough:
            return proof
        edges, used = self._program.edges, self._program.used(solution)
        (tail, head), part = min(used, key=lambda flow: (flow[0] in without, abs(flow[1] - 0.5)))
        if min(part, 1 - part) < ROUNDING:
            self.path = self._model.path({a: b for (a, b), flow in used if flow > 0.5})
            return None
        dear = np.flatnonzero(solution.value + solution.reduced_costs[: len(edges)] > self._enough)
        without |= {edges[place] for place in dear.tolist()}
        there = self.case(without | {edge for edge in edges if edge[0] == tail and edge[1] != head})
        elsewhere = there and self.case(without | {(tail, head)})
        if not there or not elsewhere:
            return None
        return replace(proof, node=names[tail], following=(names[head],), cases=(there, elsewhere))

    def _relax(self, without: frozenset[Edge]) -> Solution | None:
        """The solution of the linear program with all cuts that it misses, or with those that suffice."""
        program = self._program
        program.charge(without, self._penalty)
        while self._work > 0 and not self._clock.over:
            solution = program.solve(self._clock.left)
            self._work -= program.work
            cuts = []
            if solution is not None and solution.value <= self._enough:
                cuts = missed(program.size, program.used(solution))
            if not cuts:
                return solution
            self._cuts += cuts
            program.add_cuts(cuts)
        return None

    def _prices(self, solution: Solution) -> OrderProof:
        """The dual solution in integers."""
        names, excesses = self._model.names, self._model.excesses
        into, sets = len(names), 2 * len(names) + len(excesses)
        prices = [math.floor(price * SCALE) for price in solution.row_prices.tolist()]
        along = [(excess.edges[0][0], *(head for _, head in excess.edges)) for excess in excesses]
        return OrderProof(
            SCALE,
            {name: price for name, price in zip(names[1:], prices[into + 1 :], strict=False) if price},
            tuple(
                (tuple(names[n] for n in sorted(cut)), price)
                for cut, price in zip(self._cuts, prices[sets:], strict=True)
                if price > 0
            ),
            {
                tuple(names[n] for n in path): price
                for path, price in zip(along, prices[2 * into :], strict=False)
                if price > 0
            },
        )
