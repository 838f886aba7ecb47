"""The exact search over enumerated states with the goals covered: the shortest chain of all, or that there is none."""

from __future__ import annotations

from chaincover.certificate import Prices
from chaincover.graph.product import Found, ShortestRun
from chaincover.known import Board
from chaincover.orderings.bound import EXACT
from chaincover.stages import wait_for

PORTION = 100_000
"""Arrows of the product that are followed before the limits are asked."""

PER_UNIT = 1_500_000
"""Arrows that are followed in about a unit of work."""


def search_product(board: Board) -> None:
    """Search the product of the enumerated states with the goals covered, nearest to the end first.

    Whatever it meets on the way is told: a run through more goals than before, and that no chain is shorter than what
    it has searched.
    """
    bounded = board.options.bound is not None
    wait_for(board, lambda now: now.enumerated is not None and now.graph.depth >= 0 and (now.complete or not bounded))
    states, problem = board.known.enumerated, board.problem
    assert states is not None
    board.say("product search: enumerated states with the goals covered")
    search, best = ShortestRun(problem, states, board.limits.check), None
    prices: Prices | None = None
    while search.advance(PORTION):
        board.limits.spend(PORTION / PER_UNIT)
        search.shorter_than = board.known.length
        board.prove(states=len(states.states), searched=search.lower, basis=EXACT)
        proof = board.known.proof
        if proof.prices is not prices and proof.prices is not None and proof.goals == problem.names:
            prices = proof.prices
            search.use(prices)
        best = _offered(board, search, best)
    if search.given_up:
        board.say(f"product search: {search.given_up}")
        return
    if search.found is not None:
        board.offer(search.run_to(search.found))
        board.prove(states=len(states.states), searched=search.found.length, basis=EXACT)
    elif board.known.length is not None:
        board.prove(states=len(states.states), searched=board.known.length, basis=EXACT)
    else:
        _offered(board, search, best)
        board.tell(no_chain=f"all {len(states.states)} reachable states were searched")


def _offered(board: Board, search: ShortestRun, before: Found | None) -> Found | None:
    """The run through most goals that ``search`` has met, offered if it is another one than ``before``."""
    best = search.best
    if best is not None and best is not before and not board.known.complete:
        board.offer(search.run_to(best))
    return best
