"""Facts of a run: what its stages need before they work, and what they add to what is known.

Each is a plain function of the board, and says nothing of who finds it out.
"""

from __future__ import annotations

from collections.abc import Callable

from bmc.floats.operations import has_arithmetic
from bmc.records import dataclass
from chaincover.known import Board


@dataclass(frozen=True, slots=True, eq=False)
class Fact:
    """Something that the board may tell: in words, and its value there, which is None or False while it is unknown.

    ``parts``: any of them will do.
    """

    says: str
    of: Callable[[Board], object]
    parts: tuple[Fact, ...] = ()

    def __or__(self, other: Fact) -> Fact:
        """One of both."""
        parts = (*self.any_of, *other.any_of)
        return Fact(f"{self.says}, or {other.says}", lambda board: self.known(board) or other.known(board), parts)

    @property
    def any_of(self) -> tuple[Fact, ...]:
        """The facts of which any will do."""
        return self.parts or (self,)

    def known(self, board: Board) -> bool:
        """Whether the board tells it."""
        value = self.of(board)
        return value is not None and value is not False


STATES = Fact("the reachable states", lambda board: board.known.enumerated)


def _listed(board: Board) -> bool:
    return board.known.enumerated is not None or bool(board.not_enumerated)


LISTED = Fact("whether the states can be enumerated", _listed)

WALKS = Fact("states on which chains are sought", lambda board: board.on_states)

FORM = Fact("whether the states have a normal form", lambda board: board.restore)

DISTANCES = Fact("least distances between goals, up to some K", lambda board: board.known.graph.depth + 1 or None)


def _exact(board: Board) -> bool:
    graph, problem = board.known.graph, board.known.problem
    return graph.exact and graph.end == problem.end and {*board.known.targets} <= {*graph.goals}


EXACT = Fact("exact distances between all goals that a chain is sought for", _exact)

OBSERVED = Fact("distances that runs have shown", lambda board: bool(board.known.observed))

CHAIN = Fact("a chain", lambda board: board.known.chain)


def tests_beside_chain(board: Board) -> tuple[str, ...]:
    """The goals that a chain is sought for which the best one does not cover, although a run does."""
    known = board.known
    covered = known.chain.goals if known.chain is not None else frozenset()
    left = [name for name in known.targets if name in known.seen and name not in covered]
    return tuple(name for name in left if known.seen[name].length)  # the others begin where all runs do


def _parts(board: Board) -> object:
    chain = board.known.chain
    return chain and (chain, board.lead, tests_beside_chain(board))


PARTS = Fact("a chain, tests of goals that it does not cover, and a run than which none is shorter", _parts)

COMPLETE = Fact("a chain through all goals that one is sought for", lambda board: board.known.complete)

DECIDED = Fact("for each goal a run, or a verdict", lambda board: not board.known.open(board.known.targets))

TARGETS = Fact("the goals that a chain is sought for", lambda board: board.known.targets)


def _prices(board: Board) -> object:
    proof = board.known.proof
    return proof.prices if proof.goals == board.known.targets else None


PRICES = Fact("prices of all goals", _prices)

STUCK = Fact("a covering path that cannot be run", lambda board: None if board.known.complete else board.known.failed)

FAR = 500
"""A goal that is more steps away than this is far: with so many, questions to a solver take gigabytes."""

SHORT = Fact("no proof that every chain is too long for questions to a solver", lambda board: board.known.lower <= FAR)

LAYERED = Fact("reachable states in layers", lambda board: board.layered is not None)

NEAR = Fact("no goal too far for questions to a solver", lambda board: not (board.layered and board.layered.far))

ASKING = Fact("a first chain, or that it takes questions to a solver", lambda board: not board.in_layers)

BETTER = Fact("a shorter chain, a higher bound or fewer goals, until all is settled", lambda board: board.settled)


def _whole(board: Board) -> bool:
    known = board.known
    if board.options.bound is not None:
        return known.complete
    return known.graph.depth >= 0 or (not known.open(known.targets) and board.engine.tries(known.problem.system))


WHOLE = Fact("distances, or a run through each goal where these take longer than a whole chain", _whole)
"""Longer they take with floating-point arithmetic. With a bound K they tell of chains only once one is complete."""


def _floating(board: Board) -> bool:
    system = board.known.problem.system
    return has_arithmetic([system.input_constraint, system.defined, *(var.next for var in system.state)])


FLOATING = Fact("floating-point arithmetic", _floating)

COUNTED = Fact("how many states there are", lambda board: bool(board.known.reachable) and not _listed(board))
"""While they are still being enumerated."""
