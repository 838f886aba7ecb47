"""Algorithm 4 (GetChain) as a stage: the shortest covering path of the graph so far, made concrete and repaired."""

from __future__ import annotations

from itertools import pairwise

from bmc.engines.protocol import Status
from bmc.errors import counted
from bmc.records import dataclass
from chaincover.chain import Plan
from chaincover.concretise.check_path import plan_length
from chaincover.concretise.refine import constrained_chain, refined_chain
from chaincover.concretise.repair import concretise
from chaincover.concretise.subpaths import Task
from chaincover.facts import DISTANCES
from chaincover.known import Board, FailedRepair, Known
from chaincover.orderings import choose
from chaincover.orderings.bound import order_bound
from chaincover.orderings.protocol import Limit, Ordering, OrderingProblem
from chaincover.stages import await_news, pause
from chaincover.weights import INIT, ReachGraph, exists_path, transitive_closure


@dataclass(frozen=True)
class CoveringPath:
    """``plan`` goes along the path; ``proved``: none is shorter. ``by`` is the backend that found it."""

    plan: Plan
    proved: bool
    by: str


def shortest_covering_path(graph: ReachGraph, ordering: Ordering, seconds: float | None) -> CoveringPath | None:
    """Lemma 2 (GetShortestPath): the shortest covering path of ``graph``, from init through all its goals to its end.

    First the transitive closure is taken, so that an edge may stand for a walk over other goals. If the graph has no
    covering path (Lemma 1, Algorithm 3) the result is None. Else ``ordering`` is asked for the shortest order of the
    goals over the closed edges, for up to ``seconds``; if it gives none in that time, the path of Algorithm 3 is taken.
    The result is the path with the length of each of its edges.
    """
    closed = transitive_closure(graph)
    some_path = exists_path(graph, closed)
    if some_path is None:
        return None
    found = ordering.solve(OrderingProblem(graph.goals, closed, INIT, graph.end), Limit(seconds))
    path = found.path or some_path
    return CoveringPath(Plan(path, tuple(closed[edge] for edge in pairwise(path))), found.proved, found.by)


def get_chain(board: Board) -> None:
    """Whenever the graph has grown, find its bound, its shortest covering path, and the chain along this path."""
    from chaincover.orderings.auto import ordering_effort  # here, for most runs ask for no order

    ordering, questions = choose(board.options.ordering), board.questions
    failed: tuple[Plan, int] | None = None
    while True:
        known, graph = board.known, board.known.target_graph
        found = shortest_covering_path(graph, ordering, board.limits.for_query()) if graph.depth >= 0 else None
        if found is not None:
            bound = order_bound(graph, Limit(board.limits.for_query()))
            board.limits.spend(2 * ordering_effort(OrderingProblem(graph.goals, graph.lower, INIT, graph.end)))
            board.prove(order_bound=bound.lower, edges=graph.lower, basis=bound.basis)
            length = plan_length(questions.problem, found.plan)
            limit = max(graph.depth, max(found.plan.gaps, default=0))
            if _worth_trying(known, length) and not _in_vain(found.plan, limit, failed):
                board.ordered_by = found.by
                board.say(f"get chain: {' -> '.join(found.plan.path)}, {counted(length, 'step')}")
                _, attempt = concretise(questions, found.plan, limit, board.say)
                if attempt.run is not None:
                    board.offer(attempt.run)
                else:
                    failed = found.plan, limit
                    gave_up = attempt.status is Status.UNKNOWN
                    board.tell(failed=None if gave_up else FailedRepair(attempt.failed, limit))
        await_news(board, DISTANCES, graph.depth + 1)


def _worth_trying(known: Known, length: int) -> bool:
    """Whether a chain along a path of ``length`` steps, which repairs only lengthen, would be news."""
    return known.length is None or length < known.length


def _in_vain(plan: Plan, limit: int, failed: tuple[Plan, int] | None) -> bool:
    """Whether ``plan`` has failed before, with edges that may now grow less than twice as long as then."""
    return failed is not None and failed[0] == plan and limit < 2 * failed[1]


def other_orders(board: Board) -> None:
    """Search other orders of the goals, where no repair of the shortest covering path gives a chain.

    With the option ``repair`` = ``refine`` it is Algorithm 5; with
    ``paths``, orders are sought that contain none of the sub-paths found infeasible (Section 4.2). With ``auto`` it is
    Algorithm 5 if the covering path came from an ordering that proves nothing (``tsp``, ``local``), else path
    constraints. A run that is found is offered as a chain.
    """
    options = board.options
    if options.repair == "none":
        return
    ordered_by = board.ordered_by
    refine = ordered_by in ("tsp", "local") if options.repair == "auto" else options.repair == "refine"
    board.say(f"other orders: {'refine' if refine else 'path constraints'}")
    failed = board.known.failed
    limit = max(1, failed.within if failed else 0)

    def extended() -> bool:
        """Whether the graph grows to the limit; it is waited for."""
        depth = board.known.graph.depth
        if depth >= limit:
            return False
        pause()
        return board.known.graph.depth > depth

    task = Task(board.questions, lambda: board.known.target_graph, extended, choose(options.ordering), limit, board.say)
    found = (refined_chain if refine else constrained_chain)(task)
    if found.run is not None:
        board.offer(found.run)
