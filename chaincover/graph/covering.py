"""The K-reachability graph by itself, exact or up to the smallest K with a covering path."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from bmc.engines.protocol import Engine
from bmc.errors import LimitReached
from chaincover.graph.reachability import GraphBuilder
from chaincover.graph.states import enumerate_states, exact_graph
from chaincover.known import Board, Known
from chaincover.limits import Limits
from chaincover.options import Options
from chaincover.problem import Problem
from chaincover.replay.judge import Judge
from chaincover.result import INTERRUPT, Silent
from chaincover.weights import ReachGraph, exists_path, transitive_closure

ENUMERATING = 0.5
"""The part of the time and of the effort in which the reachable states are enumerated, if they can be."""


@dataclass(frozen=True)
class CoveringGraph:
    """``graph`` has a covering path, unless there is none, or a limit was met before it was found.

    ``stopped_by`` is ``time limit``, ``interrupt``, ``terminated`` or ''. ``used_up``: the effort was used up first.
    """

    graph: ReachGraph
    stopped_by: str = ""
    used_up: bool = False


def covering_graph(problem: Problem, options: Options, engine: Engine, tell: Callable[[str], None]) -> CoveringGraph:
    """Algorithm 2 for growing K, or exactly from the enumerated states where these can be enumerated."""
    limits = Limits(options.time_limit, options.query_limit, options.effort)
    limits.watch(engine)
    board = Board(Known(problem), options, engine, limits, Silent(tell), Judge(problem))
    builder: GraphBuilder | None = None
    stopped_by = ""
    try:
        if _enumerated(board):
            exact_graph(board)
            return CoveringGraph(board.known.graph)
        builder = GraphBuilder(board.questions, options.bound)
        while not (limits.used_up or builder.complete or _covers(builder.graph())):
            if options.bound is not None and builder.depth >= options.bound:
                break
            builder.extend()
            tell(f"graph: K = {builder.depth}")
    except LimitReached as error:
        stopped_by = error.limit
    except KeyboardInterrupt as error:
        stopped_by = str(error) or INTERRUPT
    graph = board.known.graph if builder is None else builder.graph()
    used_up = limits.used_up and not _covers(graph)
    return CoveringGraph(replace(graph, goals=problem.names, end=problem.end), stopped_by, used_up)


def _covers(graph: ReachGraph) -> bool:
    """Whether there is a covering path."""
    possible = graph.possible
    return graph.depth >= 0 and exists_path(possible, transitive_closure(possible)) is not None


def _enumerated(board: Board) -> bool:
    """Enumerate the reachable states in a part of what may be spent; whether that could be done."""
    limits = board.limits
    part = limits.share(ENUMERATING)
    with suppress(LimitReached):
        trial = replace(board, limits=part)
        enumerate_states(trial)
        board.known = trial.known
    limits.check()
    return board.known.enumerated is not None
