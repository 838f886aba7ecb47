"""The exact search over enumerated states with the goals covered: the shortest chain of all, or that there is none."""

from __future__ import annotations

from chaincover.graph.enumerated_exact import least_run
from chaincover.known import Board
from chaincover.orderings.bound import EXACT
from chaincover.stages import wait_for

NODES = 5_000_000


def search_product(board: Board) -> None:
    """Search the product of the enumerated states with the goals covered, breadth first."""
    wait_for(board, lambda known: known.enumerated is not None and known.graph.depth >= 0)
    states = board.known.enumerated
    problem = board.problem
    if states is None or (board.options.bound is not None and board.known.length is None):
        return
    board.say("product: enumerated states with the goals covered")

    def tick() -> None:
        board.limits.spend(0.02)
        board.limits.check()

    found = least_run(problem.system, states, problem.goals, problem.final, problem.overlap, NODES, tick)
    if found is None:
        return
    if found.run is None:
        board.tell(no_chain=f"all {found.states} reachable states were searched")
        return
    board.offer(found.run)
    board.prove(states=found.states, searched=found.run.length, basis=EXACT)
