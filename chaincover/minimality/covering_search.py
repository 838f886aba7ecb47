"""The compiled search for a shortest chain: all pairs of a state and the set of goals covered, layer by layer.

It goes along the arrows that a search in layers has noted, and needs no listed states.
"""

from __future__ import annotations

from contextlib import suppress

from bmc.engines.protocol import PORTION, WORK
from bmc.errors import counted
from bmc.explicit.covering import CoveringSearch
from bmc.explicit.layers import NotInLayers, OutOfMemory
from bmc.native.kernel import KernelFailed
from chaincover.graph.enumerated import ENUMERATING
from chaincover.graph.layered import PART, LayeredGoals, layers_of
from chaincover.known import Board
from chaincover.orderings.bound import EXACT

STAGE = "covering search"


def search_covering_runs(board: Board) -> None:
    """Search all runs that cover the goals, breadth first, until a shortest one is found, or it is proved that none is
    shorter than the chain that is known. What is searched so far is told as a bound."""
    if board.options.engine != ENUMERATING:
        return
    board.say(f"{STAGE}: states with the goals covered, compiled")
    try:
        with layers_of(board) as layered:
            _search_in(board, layered)
    except NotInLayers as error:
        board.say(f"{STAGE}: {error}")


def _search_in(board: Board, layered: LayeredGoals) -> None:
    """Search along the arrows that ``layered`` has noted, if there are any."""
    search = layered.covering()
    if search is None:
        board.say(f"{STAGE}: there is no compiler, or no memory for the arrows between the states")
        return
    try:
        _search(board, layered, search)
    except (OutOfMemory, KernelFailed):
        board.give_up(STAGE, f"{search.pairs} pairs of a state and goals covered take all memory that there is")
    finally:
        with suppress(KernelFailed):  # the layers may be closed by now
            search.close()


def _search(board: Board, layered: LayeredGoals, search: CoveringSearch) -> None:
    """Go on with ``search`` to its end, and tell what it finds.

    Where its bound will soon meet the chain, as fast as it has risen so far, the turn lasts until then.
    """
    limits, begun, first = board.limits, 0.0, 0
    while not search.finished:
        before, search.below = search.work, board.known.length
        board.say(f"{STAGE}: {counted(search.pairs, 'pair')} of a state and the goals covered")
        search.advance(PORTION * WORK)
        limits.spend((search.work - before) / WORK)
        if search.lower:
            _prove(board, layered, search.lower if search.below is None else min(search.lower, search.below))
            begun, first = (begun, first) if first else (search.work, search.lower)
        if search.below is not None and search.lower > first:
            left = (search.below - search.lower) * (search.work - begun) / (search.lower - first) / WORK
            limits.extend(left if left <= PART * limits.foreseen else 0.0)
        limits.check()
    if search.found is not None:
        board.offer(layered.run_of(search.found, search.start))
        _prove(board, layered, len(search.found))
    elif search.below is not None:
        _prove(board, layered, search.below)
    elif board.known.graph.exact:  # else some goal may have no chain by itself
        board.tell(no_chain=f"all {layered.states} reachable states were searched")


def _prove(board: Board, layered: LayeredGoals, steps: int) -> None:
    board.prove(states=layered.states, searched=steps, basis=EXACT)
