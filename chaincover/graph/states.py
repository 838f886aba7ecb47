"""The reachable states, where they can be enumerated, and the exact K-reachability graph that they give (Algorithm
2)."""

from __future__ import annotations

from dataclasses import replace

from bmc.explicit.explore import IN_ARRAYS, StateGraph, state_graph
from chaincover.chain import NO_WAY_TO_FINAL, UNREACHABLE
from chaincover.graph.enumerated import EnumeratedGraphBuilder
from chaincover.known import Board, Reason
from chaincover.limits import Limits
from chaincover.problem import Problem
from chaincover.stages import wait_for
from chaincover.weights import FINAL, INIT, ReachGraph

ENUMERATING = ("auto", "explicit")
"""The engines with which states are enumerated."""


PORTION = 1_000_000
"""Steps of the system that are followed before the limits are asked."""

PER_UNIT = 20_000_000
"""Steps of the system that are followed in about a unit of work."""


def enumerate_states(board: Board) -> None:
    """Enumerate the reachable states, on what the goals and the final condition depend on."""
    if board.options.engine not in ENUMERATING:
        return
    board.say("enumerate: reachable states")
    found = enumerated_within(board.known.problem, board.limits)
    if found is not None:
        board.say(f"enumerate: {len(found.states)} reachable states")
        board.tell(enumerated=found)


def enumerated_within(problem: Problem, limits: Limits) -> StateGraph | None:
    """The reachable states on what the goals and the final condition of ``problem`` depend on; None if there are too
    many.

    LimitReached when time is over.
    """
    formulas = [goal.antecedent for goal in problem.goals] + problem.end_formulas(0)

    def tick() -> None:
        limits.spend(0.02)
        limits.check()

    found = state_graph(problem.system, formulas, IN_ARRAYS * 100_000, tick)
    return found if found is not None and found.states else None


def exact_graph(board: Board) -> None:
    """Exact distances from the enumerated states, and the goals that no chain covers."""
    wait_for(board, lambda known: known.enumerated is not None)
    states, problem = board.known.enumerated, board.problem
    assert states is not None
    board.say("graph: distances between enumerated states")
    builder = EnumeratedGraphBuilder(problem, states, board.limits)
    while not builder.complete:
        builder.advance(PORTION)
        board.limits.spend(PORTION / PER_UNIT)
        board.limits.check()
    graph = builder.graph()
    how = f"all {len(states.states)} reachable states were searched"
    gone = {name: Reason(UNREACHABLE, f"no run covers it: {how}") for name in graph.unsatisfiable}
    for goal in graph.goals:
        if goal in gone:
            continue
        if (INIT, goal) not in graph.weights:
            gone[goal] = Reason(UNREACHABLE, f"no run covers it: {how}")
        elif graph.end == FINAL and (goal, FINAL) not in graph.weights:
            gone[goal] = Reason(NO_WAY_TO_FINAL, f"reached, but no run goes on to the final condition: {how}")
    board.tell(graph=_within(graph, board.options.bound))
    if gone:
        board.rule_out(gone)


def _within(graph: ReachGraph, bound: int | None) -> ReachGraph:
    """``graph`` without the weights above ``bound``."""
    if bound is None:
        return graph
    return replace(graph, weights={edge: w for edge, w in graph.weights.items() if w <= bound}, depth=bound)
