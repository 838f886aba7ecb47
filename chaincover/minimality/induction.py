"""What is proved of all states at once where these are not enumerated: invariants, and unreachable goals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bmc.invariants.candidates import self_found, value_facts
from bmc.invariants.induction import Prover, never
from bmc.system.transition import Condition
from chaincover.chain import UNREACHABLE
from chaincover.facts import DISTANCES
from chaincover.graph.enumerated import analysed
from chaincover.known import Board, Reason
from chaincover.limits import BRIEF, INDUCTION
from chaincover.problem import Problem
from chaincover.stages import await_news
from chaincover.verdicts import never_by_induction
from chaincover.weights import INIT


def find_invariants(board: Board) -> None:
    """Find and prove invariants where the states are not enumerated: bounds rest on them.

    Values that variables never leave, and what random runs suggest and induction proves.
    """
    if board.known.enumerated is not None:
        return
    board.say("invariants: values of the state, and what random runs suggest")
    problem = board.known.problem
    prover = Prover(board.engine, board.limits.for_query, BRIEF)
    board.limits.spend(analysed(problem.system))
    found = self_found(problem.system, [goal.antecedent for goal in problem.goals], prover)
    if board.known.enumerated is None:
        _add(board, found)


def with_value_facts(board: Board) -> Problem:
    """The problem with the values that variables never leave, which no solver is asked for, as proved invariants."""
    system = board.known.problem.system
    board.limits.spend(analysed(system))
    _add(board, value_facts(system))
    return board.known.problem


def _add(board: Board, found: Sequence[Condition]) -> None:
    """Add proved invariants to the problem, those that it does not have."""
    problem = board.known.problem
    names = {fact.name for fact in problem.system.invariants}
    fresh = [fact for fact in found if fact.name not in names]
    if fresh:
        system = replace(problem.system, invariants=(*problem.system.invariants, *fresh))
        board.tell(problem=replace(problem, system=system))


def prove_unreachable(board: Board) -> None:
    """Try to prove by induction that no run covers the goals that nothing has reached; again when K has doubled."""
    asked = -1
    while True:
        while (depth := board.known.graph.depth) <= max(0, 2 * asked):
            await_news(board, DISTANCES, depth + 1)
        asked = depth
        known, problem = board.known, board.problem
        for name in known.targets:
            edge = (INIT, name)
            if name in board.known.seen or edge in {**known.observed, **known.graph.weights}:
                continue
            board.say(f"unreachable goals: is there a proof that no run covers {name}?")
            goal, refuted = problem.by_name[name], known.graph.lower.get(edge, 0)
            prover = Prover(board.engine, board.limits.for_query, board.limits.question())
            k = never(problem.system, goal.antecedent, goal.over(0), min(INDUCTION, refuted), prover)
            if k is not None:
                board.rule_out({name: Reason(UNREACHABLE, never_by_induction(k))})
