"""The whole chain in one question: goals at any steps in any order, at a given length.

Finds chains shorter than those of a fixed order and fixed distances, and raises the proven lower bound length by
length.
"""

from __future__ import annotations

from bmc.engines.protocol import Status
from chaincover.concretise.any_order import AnyOrder
from chaincover.known import Board
from chaincover.orderings.bound import WHOLE
from chaincover.stages import wait_for

PER_UNIT = 300_000
"""Places of goals for which formulas are made and encoded in about a unit of work."""


def refute_lengths(board: Board) -> None:
    """Refute lengths upwards from the bound that orders give: the first length that has a chain is the least.

    Where the solver gives up on a length, the lengths up to that of the best chain are halved.
    """
    bounded = board.options.bound is not None
    wait_for(board, lambda now: now.enumerated is not None or (now.complete if bounded else now.graph.depth >= 0))
    if board.known.enumerated is not None:
        return
    whole = _WholeChains(board)
    first = following = board.known.proof.order_bound if board.known.still_holds(board.known.proof) else 0
    while (length := board.known.length) is None or following < length:
        board.say(f"lengths: is there a chain of {following} steps?")
        if whole.ask(following) is not Status.UNSAT:
            break
        following += 1
        board.prove(refuted=(first, following), basis=WHOLE)
    low = following + 1
    while (length := board.known.length) is not None and low < length:
        middle = (low + length) // 2
        if whole.ask(middle) is not Status.SAT or board.known.length == length:
            low = middle + 1


class _WholeChains:
    """Asks for chains of a given length."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._any_order = AnyOrder(board.problem.by_name, board.problem.overlap)

    def ask(self, length: int) -> Status:
        """Is there a chain of exactly ``length`` steps? It is offered, if there is."""
        questions = self._board.questions
        formulas = self._any_order.formulas(questions.problem.names, length) + questions.problem.end_formulas(length)
        session, limits = questions.from_init, questions.limits
        limits.spend(length * len(questions.problem.names) / PER_UNIT)
        status = session.check(formulas, length, limits.for_query(), limits.question()).status
        if status is Status.SAT:
            self._board.offer(session.run())
        return status
