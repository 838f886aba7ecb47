"""The reachable states, where they can be enumerated, and the exact K-reachability graph that they give (Algorithm
2)."""

from __future__ import annotations

from dataclasses import replace

from bmc.explicit.enumeration import Enumeration
from bmc.explicit.state_graph import StateGraph
from chaincover.chain import NO_WAY_TO_FINAL, UNREACHABLE
from chaincover.graph.enumerated import enumerated_graph
from chaincover.known import Board, Reason
from chaincover.limits import Limits
from chaincover.problem import Problem
from chaincover.stages import wait_for
from chaincover.weights import FINAL, INIT, ReachGraph

ENUMERATING = "auto"
"""The engine with which states are enumerated; with any other one it answers all questions."""


STATES_PORTION = 10_000_000
"""Operations on single values that are done before the limits are asked."""

STATES_PER_UNIT = 400_000_000
"""Operations on single values that are done in about a unit of work."""


def enumerate_states(board: Board) -> None:
    """Enumerate the reachable states, on what the goals and the final condition depend on."""
    if board.options.engine != ENUMERATING:
        return
    board.say("enumerate: reachable states")
    enumeration = enumeration_of(board.known.problem)
    try:
        while not enumeration.done:
            advance(enumeration, board.limits)
            board.limits.check()
    finally:
        board.not_enumerated = enumeration.reason or ""
    if enumeration.graph is None or not enumeration.graph.states:
        board.say(f"enumerate: {board.not_enumerated}")
        return
    board.say(f"enumerate: {enumeration.states} reachable states")
    board.tell(enumerated=enumeration.graph)


def enumeration_of(problem: Problem) -> Enumeration:
    """The enumeration of the states on what the goals and the final condition of ``problem`` depend on."""
    return Enumeration(problem.system, [goal.antecedent for goal in problem.goals] + problem.end_formulas(0))


def advance(enumeration: Enumeration, limits: Limits) -> None:
    """Go on with ``enumeration`` by a portion of work, and count it."""
    enumeration.advance(STATES_PORTION)
    limits.spend(STATES_PORTION / STATES_PER_UNIT)


def enumerate_within(enumeration: Enumeration, limits: Limits) -> StateGraph | None:
    """What ``enumeration`` gives until ``limits`` are over; None if that is not all."""
    while not enumeration.done and not limits.over:
        advance(enumeration, limits)
    return enumeration.graph if enumeration.graph is not None and enumeration.graph.states else None


def enumerated_within(problem: Problem, limits: Limits) -> StateGraph | None:
    """The reachable states of ``problem``; None if they cannot be enumerated within ``limits``.

    LimitReached when time is over.
    """
    enumeration = enumeration_of(problem)
    while not enumeration.done and not limits.used_up:
        advance(enumeration, limits)
        limits.check()
    return enumeration.graph if enumeration.graph is not None and enumeration.graph.states else None


def exact_graph(board: Board) -> None:
    """Exact distances from the enumerated states, and the goals that no chain covers."""
    wait_for(board, lambda known: known.enumerated is not None)
    states, problem, known = board.known.enumerated, board.problem, board.known.graph
    assert states is not None
    if problem.goals and known.exact and known.end == problem.end and {*problem.names} <= {*known.goals}:
        return
    board.say("exact graph: distances between enumerated states")
    graph = enumerated_graph(problem, states, board.limits)
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
    kept = {edge: weight for edge, weight in graph.weights.items() if weight <= bound}
    return replace(graph, weights=kept, depth=bound, exact=False)
