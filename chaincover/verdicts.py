"""What became of each goal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bmc.engines.protocol import Status
from chaincover.chain import (
    COVERED,
    EXCLUDED,
    NO_WAY_TO_FINAL,
    NOT_WITHIN_BOUND,
    UNDECIDED,
    UNREACHABLE,
    Chain,
    Verdict,
)
from chaincover.concretise.check_path import Attempt
from chaincover.weights import INIT, Edge, Obstacles, ReachGraph, obstacles, transitive_closure
from properties.goal import Goal

NEXT_STEP = {
    UNREACHABLE: "correct the antecedent, or the ranges, assumptions and held inputs that exclude it",
    NOT_WITHIN_BOUND: "give a larger -K, leave the goal out with --exclude, or, if it reads a variable that init "
    "leaves open ('chaincover check' shows them), list that in interface.chosen",
    NO_WAY_TO_FINAL: "look at the final condition (--final none: a chain may end anywhere), or give a larger -K",
    EXCLUDED: "leave out what stands in the way with --exclude, and generate another chain for it",
    UNDECIDED: "allow more time with --time-limit (for one question: --query-limit), let --engine portfolio work on "
    "hard questions without an end, or ask for fewer goals",
}
"""What a user can do about a goal that is not covered."""

MOST_NAMES = 8
"""Goals named in one verdict."""

_NEXT_STEP_GENERATED = {
    UNREACHABLE: "nothing, if it is dead code or a combination that the constraints or held inputs exclude; it "
    "does not count as missed",
    EXCLUDED: "let --several cover it with another chain, or leave it out with --exclude",
}
"""The same for generated goals, where it differs."""


def next_step(status: str, generated: bool) -> str:
    """What a user can do about a goal with this verdict, '' if it is covered."""
    advice = NEXT_STEP.get(status, "")
    return _NEXT_STEP_GENERATED.get(status, advice) if generated else advice


def infeasible(goals: Sequence[Goal], verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """The generated goals that are proved unreachable, in order: findings about the code, no failure of a run."""
    generated = {goal.name for goal in goals if goal.generated}
    return tuple(v.goal for v in verdicts if v.status == UNREACHABLE and v.goal in generated)


@dataclass(frozen=True)
class NoChain:
    """What is known about why goals are not covered.

    ``attempt`` is the last failed concretisation, None if no covering path was tried; its edges were lengthened up to
    ``longest`` steps. ``proved`` has the verdicts of single goals that are proved, with how. ``impossible`` says how it
    is proved that no chain covers all the other goals, or is '', ``apart`` which pairs of them exclude each other for
    this reason; ``too_long`` why the limit on the length leaves none.
    """

    attempt: Attempt | None
    longest: int
    proved: Mapping[str, tuple[str, str]]
    impossible: str
    apart: frozenset[frozenset[str]]
    too_long: str


def judge(graph: ReachGraph, chain: Chain | None, why: NoChain, stopped_by: str) -> tuple[Verdict, ...]:
    """One verdict per goal of ``graph``, in its order.

    ``stopped_by`` is what ended the run early, or ''.
    """
    possible = graph.possible
    closed = transitive_closure(possible)
    found = obstacles(possible, closed)
    hits = {hit.goal: hit.step for hit in chain.hits} if chain else {}
    verdicts = []
    for goal in graph.goals:
        if goal in graph.unsatisfiable:
            reason = "no state and inputs satisfy it together with the constraints and the proved invariants"
            verdicts.append(Verdict(goal, UNREACHABLE, detail=reason))
        elif goal in hits:
            verdicts.append(Verdict(goal, COVERED, hits[goal]))
        elif goal in why.proved:
            verdicts.append(Verdict(goal, why.proved[goal][0], detail=why.proved[goal][1]))
        elif stopped_by:
            verdicts.append(Verdict(goal, UNDECIDED, detail=f"stopped by {stopped_by}{_so_far(possible, found, goal)}"))
        else:
            others = [g for g in possible.goals if g != goal and g not in why.proved]
            apart = [g for g in others if frozenset((g, goal)) in why.apart]
            verdicts.append(
                (_by_proof(why, apart or others, goal) if why.impossible else None)
                or _by_graph(possible, closed, found, goal)
                or _by_others(possible, closed, found, goal)
                or _by_length(why, goal)
                or _by_attempt(goal, why.attempt, why.longest)
            )
    return tuple(verdicts)


def _by_graph(graph: ReachGraph, closed: Mapping[Edge, int], found: Obstacles, goal: str) -> Verdict | None:
    """The verdict if the goal itself stands against a chain.

    Only edges from init are known to start in states that can be reached; a way through other goals need not be a run.
    """
    within = f"within K = {graph.depth}"
    if goal in found.unreached:
        if _gave_up(graph, closed, INIT, goal):
            return Verdict(goal, UNDECIDED, detail="the solver gave up on whether it can be reached")
        return Verdict(goal, NOT_WITHIN_BOUND, detail=f"not reached from init {within}")
    if goal in found.stuck:
        if _gave_up(graph, closed, goal, graph.end):
            return Verdict(goal, UNDECIDED, detail="the solver gave up on whether it has a way to the final condition")
        reached = "reached" if (INIT, goal) in graph.weights else "may be reached"
        return Verdict(goal, NO_WAY_TO_FINAL, detail=f"{reached}, but no way to the final condition found {within}")
    apart = [pair for pair in found.exclusive if goal in pair]
    others = [b if a == goal else a for a, b in apart]
    others = [other for other in others if other not in (*found.unreached, *found.stuck)]
    if not others:
        return None
    if any(_gave_up(graph, closed, goal, other) or _gave_up(graph, closed, other, goal) for other in others):
        return Verdict(goal, UNDECIDED, detail=f"the solver gave up on whether it goes together with {_list(others)}")
    return Verdict(goal, EXCLUDED, detail=f"no run {within} per goal covers it together with {_list(others)}")


def _so_far(graph: ReachGraph, found: Obstacles, goal: str) -> str:
    """What keeps ``goal`` from a chain at the K reached, if the goal itself does."""
    if graph.depth < 0:
        return ""
    if goal in found.unreached:
        return f"; not reached from init within K = {graph.depth} so far"
    if goal in found.stuck:
        return f"; no way to the final condition within K = {graph.depth} so far"
    return ""


def _gave_up(graph: ReachGraph, closed: Mapping[Edge, int], a: str, b: str) -> bool:
    """Whether an unknown answer may hide a way from ``a`` to ``b``."""
    return any((x == a or (a, x) in closed) and (y == b or (y, b) in closed) for x, y in graph.unknown)


def undecided_between(graph: ReachGraph, a: str, b: str) -> bool:
    """Whether an unknown answer may hide a way between two goals of ``graph``, one way or the other."""
    closed = transitive_closure(graph)
    return _gave_up(graph, closed, a, b) or _gave_up(graph, closed, b, a)


def _by_others(graph: ReachGraph, closed: Mapping[Edge, int], found: Obstacles, goal: str) -> Verdict | None:
    """The verdict of a goal that only the other goals keep out of a chain."""
    lost = {*found.unreached, *found.stuck}
    pairs = [pair for pair in found.exclusive if not lost & {*pair}]
    known = [(a, b) for a, b in pairs if not _gave_up(graph, closed, a, b) and not _gave_up(graph, closed, b, a)]
    guilty = {name for pair in known or pairs for name in pair}
    names = [g for g in graph.goals if g in guilty]
    if not names:
        return None
    if not known:
        return Verdict(goal, UNDECIDED, detail=f"the solver gave up on whether these go together: {_list(names)}")
    reason = f"because within K = {graph.depth} per goal not all goals fit into one: {_list(names)}"
    return Verdict(goal, EXCLUDED, detail=f"no chain was made, {reason}")


def _by_proof(why: NoChain, others: list[str], goal: str) -> Verdict:
    """The verdict of one of the goals that no chain covers together: proved, so whatever the graph has found so far.

    ``others``: those of which each excludes ``goal``, or all.
    """
    if not others:
        return Verdict(goal, NO_WAY_TO_FINAL, detail=f"no run covers it and goes on to the end: {why.impossible}")
    apart = all(frozenset((other, goal)) in why.apart for other in others)
    which = "" if len(others) == 1 else "any of " if apart else "all of "
    return Verdict(goal, EXCLUDED, detail=f"no run covers it together with {which}{_list(others)}: {why.impossible}")


def _by_length(why: NoChain, goal: str) -> Verdict | None:
    """The verdict where the limit on the length is what leaves no chain."""
    return Verdict(goal, NOT_WITHIN_BOUND, detail=why.too_long) if why.too_long else None


def _by_attempt(goal: str, attempt: Attempt | None, bound: int) -> Verdict:
    """The verdict of a goal on a covering path that could not be concretised."""
    if attempt is None:
        return Verdict(goal, UNDECIDED, detail="no order of the goals was tried")
    if attempt.status is Status.UNKNOWN:
        return Verdict(goal, UNDECIDED, detail="the solver gave up on the inputs for the covering path")
    names = " -> ".join(attempt.failed)
    return Verdict(
        goal,
        NOT_WITHIN_BOUND,
        detail=f"the graph has a covering path, but no inputs with K = {bound} join {names} in its order",
    )


def _list(names: list[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
