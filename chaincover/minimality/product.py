"""The exact search over enumerated states with the goals covered: the shortest chain of all, or that there is none.

The search is A*. The estimate of a node is the greatest of several lower bounds on the steps to an end: for each
missing goal the exact number of steps to complete that goal alone and to go on to an end, how many goals a step can
complete, and what the prices of the covering flow say.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from bmc.evaluation.vectors import Column
from chaincover.certificate import Prices
from chaincover.facts import PRICES
from chaincover.graph.enumerated_goals import BLOCK
from chaincover.graph.goal_product import largest_sets
from chaincover.graph.product import MEMORY, Found, ProductSearch
from chaincover.known import Board
from chaincover.limits import PER_UNIT
from chaincover.orderings.bound import EXACT
from chaincover.stages import await_news

if TYPE_CHECKING:
    from chaincover.minimality.covering_flow import PricedProduct

PORTION = 25_000
"""Arrows that are followed before the limits are asked."""

PARTS = 8
"""A search that takes more than one part of the memory begins anew where the covering flow has given prices meanwhile:
they rule out many of the nodes."""


class ShortestRun(ProductSearch):
    """The shortest run over all goals of ``problem`` to an end.

    ``found`` is its end once it is known; where the search is ``finished`` without, there is no such run. ``lower`` is
    the proved bound so far: every such run has at least so many steps. ``shorter_than`` may be set to the length of a
    run that is known: only shorter ones are then sought, and ``lower`` ends there.
    """

    CHUNK = 1 << 14
    """Some so many nodes are expanded together."""

    found: Found | None = None
    lower = 0
    shorter_than: int | None = None
    _priced: PricedProduct | None = None

    def use(self, prices: Prices) -> None:
        """Estimate by ``prices`` too from now on, which raises the totals of the nodes that wait."""
        from chaincover.minimality.covering_flow import CircleOfGain, PricedProduct  # here, where that has given prices

        if self._met is None:
            return
        made, ends = self._around.product, self._around.ends
        try:
            self._priced = PricedProduct(self._problem, self._graph, made, ends, prices)
        except CircleOfGain:
            return
        self.work += self._priced.work
        waiting, self._waiting = self._waiting, {}
        for numbers in waiting.values():
            opened = self._met.opened(np.concatenate(numbers), expand=False)
            for first in range(0, len(opened), BLOCK):
                part = opened[first : first + BLOCK]
                words = self._met.words(part)
                places, covered = self._around.layout.place(words), self._around.layout.covered(words)
                self._wait(part, self._met.depths(part) + self._estimate(places, covered))

    def _running(self) -> Iterator[bool]:
        if not self._prepare():
            return
        yield True
        everything = (1 << len(self._problem.goals)) - 1
        self.work += len(self._around.product.arrows.ends)
        if largest_sets(self._around.product, self._around.ends, everything.bit_count()) == ():
            return
        while self._waiting:
            total = min(self._waiting)
            self.lower = max(self.lower, total if self.shorter_than is None else min(total, self.shorter_than))
            if self.lower == self.shorter_than:
                return
            numbers = self._next(self.CHUNK)
            for found in self._ends_among(numbers):
                self._note(found)
                if found.covered == everything:
                    self.found = found
                    return
            yield from self._follow(numbers)
            if self.given_up:
                return

    def _worth(self, places: Column, covered: Sequence[Column]) -> Column:
        return self._can_cover(places, covered, (1 << len(self._problem.goals)) - 1)

    def _estimate(self, places: Column, covered: Sequence[Column]) -> Column:
        least = self._around.to_end[places].astype(np.int64)
        if not self._problem.goals or not len(places):
            return least
        missing = 1 - self._around.layout.each(covered)
        alone: Column = (self._around.to_complete[places] * missing).max(axis=1)
        together = self._at_once(missing)
        estimate: Column = np.maximum(np.maximum(least, alone), together)
        if self._priced is not None:
            estimate = np.maximum(estimate, self._priced.still(places, missing))
        return estimate

    def _at_once(self, missing: Column) -> Column:
        """A bound from how many goals a step can complete."""
        count: Column = missing.sum(axis=1, dtype=np.int64)
        return -(-count // max(1, self._around.at_once))


def search_product(board: Board) -> None:
    """Search the product of the enumerated states with the goals covered, nearest to the end first.

    Whatever it meets on the way is told: a run through more goals than before, and that no chain is shorter than what
    it has searched.
    """
    states, problem = board.known.enumerated, board.problem
    assert states is not None
    board.say("product search: enumerated states with the goals covered")
    limits, best, part = board.limits, None, board.limits.memory(MEMORY) // PARTS

    def count(steps: int) -> None:
        limits.spend(steps / PER_UNIT.steps)

    while True:
        begun = prices = _prices(board)
        search = ShortestRun(problem, states, limits.check, limits.memory(MEMORY), count)
        if prices is not None:
            search.use(prices)
        before = inf  # the first portion makes the product, which counts by itself
        while search.advance(PORTION) and (begun or not prices or search.bytes < part):
            limits.spend(max(0.0, search.work - before) / PER_UNIT.arrows)
            search.shorter_than = board.known.length
            board.prove(states=len(states.states), searched=search.lower, basis=EXACT)
            found = _prices(board)
            if found is not None and found is not prices:
                prices = found
                search.use(prices)
            before = search.work
            best = _offered(board, search, best)
        if search.finished:
            break
        if search.given_up:
            board.give_up("product search", search.given_up)
        del search  # before the next one takes its memory
        gc.collect()
        await_news(board, PRICES, begun)
    if search.found is not None:
        board.offer(search.run_to(search.found))
        board.prove(states=len(states.states), searched=search.found.length, basis=EXACT)
    elif board.known.length is not None:
        board.prove(states=len(states.states), searched=board.known.length, basis=EXACT)
    else:
        _offered(board, search, best)
        board.tell(no_chain=f"all {len(states.states)} reachable states were searched")


def _prices(board: Board) -> Prices | None:
    """The prices that the covering flow has given for all goals so far."""
    proof = board.known.proof
    return proof.prices if proof.goals == board.problem.names else None


def _offered(board: Board, search: ShortestRun, before: Found | None) -> Found | None:
    """The run through most goals that ``search`` has met, offered if it is another one than ``before``."""
    best = search.best
    if best is not None and best is not before and not board.known.complete:
        board.offer(search.run_to(best))
    return best
