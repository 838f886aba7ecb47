"""Goals that no chain covers, where the states are not enumerated: invariants, and proofs by induction."""

from __future__ import annotations

from dataclasses import replace

from bmc.invariants.candidates import self_found
from bmc.invariants.induction import Prover, never
from chaincover.chain import UNREACHABLE
from chaincover.known import Board, Known, Reason
from chaincover.minimality.explicit_sub_paths import ExplicitSubPaths
from chaincover.minimality.sub_path_lengths import SubPath
from chaincover.stages import wait_for
from chaincover.weights import INIT

INDUCTION = 8
"""The largest k of a proof by k-induction."""

INVARIANT_EFFORT = 1
"""Units of work for one question about suggested invariants."""


def find_invariants(board: Board) -> None:
    """Find and prove invariants where the states are not enumerated: bounds rest on them.

    Values that variables never leave, and what random runs suggest and induction proves.
    """
    if board.known.enumerated is not None:
        return
    board.say("invariants: values of the state, and what random runs suggest")
    problem = board.known.problem
    prover = Prover(board.engine, board.limits.for_query, INVARIANT_EFFORT)
    found = self_found(problem.system, [goal.antecedent for goal in problem.goals], prover)
    if found and board.known.enumerated is None:
        system = replace(problem.system, invariants=(*problem.system.invariants, *found))
        board.tell(problem=replace(board.known.problem, system=system))


def find_tests(board: Board) -> None:
    """A shortest run to each goal that the best chain leaves out and some run covers, from the enumerated states."""
    known = board.known
    if known.enumerated is None:
        return
    covered = frozenset() if known.chain is None else known.chain.goals
    never = {name for name, reason in known.uncoverable.items() if reason.status == UNREACHABLE}
    missing = [name for name in known.problem.names if name not in {*covered, *never, *known.seen}]
    distances = ExplicitSubPaths(known.problem, known.enumerated, board.limits)
    for name in missing:
        found = distances.least(SubPath((INIT, name), 0, len(known.enumerated.states)))
        _, run = distances.ask((INIT, name), found.at_least) if found.exact else (None, None)
        if run is not None:
            board.offer(run)


def prove_unreachable(board: Board) -> None:
    """Try to prove by induction that no run covers the goals that nothing has reached; again when K has doubled."""
    asked = -1
    while True:
        wait_for(board, lambda known, asked=asked: _due(known, asked))  # type: ignore[misc]
        asked = board.known.graph.depth
        known, problem = board.known, board.problem
        for name in known.targets:
            edge = (INIT, name)
            if name in board.known.seen or edge in {**known.observed, **known.graph.weights}:
                continue
            board.say(f"unreachable goals: is there a proof that no run covers {name}?")
            goal, refuted = problem.by_name[name], known.graph.lower.get(edge, 0)
            prover = Prover(board.engine, board.limits.for_query, board.limits.question())
            k = never(problem.system, goal.antecedent, goal.length, min(INDUCTION, refuted), prover)
            if k is not None:
                how = f"no run covers it: proved by induction over {k} step(s)"
                board.rule_out({name: Reason(UNREACHABLE, how)})


def _due(known: Known, asked: int) -> bool:
    return known.enumerated is None and known.graph.depth > max(3, 2 * asked)
