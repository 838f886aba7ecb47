"""What is proved of all states at once, most of it where these are not enumerated: invariants, goals that others imply,
unreachable goals.

A goal is implied by another one if it holds wherever the other one does: if the antecedent of a implies that of b from
the same step on, a chain through a covers b at that step. With overlap allowed the shortest chain without b is then the
shortest chain with it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from pysmt.fnode import FNode
from pysmt.shortcuts import Not, Or

from bmc.engines.protocol import Session, Status
from bmc.errors import counted
from bmc.invariants.candidates import self_found, value_facts
from bmc.invariants.induction import Prover, never
from bmc.system.transition import Condition
from chaincover.chain import UNREACHABLE
from chaincover.graph.enumerated import PER_UNIT
from chaincover.graph.goal_product import followers_on_steps
from chaincover.known import Board, Known, Reason
from chaincover.problem import Problem, Questions
from chaincover.stages import after_counted_states, unless_far, wait_for
from chaincover.weights import INIT
from properties.goal import Goal
from properties.monitor import Monitor

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
    if board.known.enumerated is None:
        _add(board, found)


def with_value_facts(board: Board) -> Problem:
    """The problem with the values that variables never leave, which no solver is asked for, as proved invariants."""
    _add(board, value_facts(board.known.problem.system))
    return board.known.problem


def _add(board: Board, found: Sequence[Condition]) -> None:
    """Add proved invariants to the problem, those that it does not have."""
    problem = board.known.problem
    names = {fact.name for fact in problem.system.invariants}
    fresh = [fact for fact in found if fact.name not in names]
    if fresh:
        system = replace(problem.system, invariants=(*problem.system.invariants, *fresh))
        board.tell(problem=replace(problem, system=system))


IMPLICATION_EFFORT = 2
"""Units of work per query; where that does not suffice nothing is said to be implied."""


MANY = 20
"""More goals than these, of several steps, are compared by a solver where the states are enumerated; fewer are not."""


def represent_implied_on_states(board: Board) -> None:
    """As ``represent_implied``, as soon as the states are enumerated: before work that grows with the number of goals.

    Goals of up to one step are compared on all steps.
    """
    wait_for(board, lambda known: known.enumerated is not None)
    problem, states = board.problem, board.known.enumerated
    assert states is not None
    if max((goal.length for goal in problem.goals), default=0) > 1:
        if len(problem.goals) > MANY:
            _represent(board, implied_goals)
        return
    board.limits.spend(states.steps.total * len(problem.goals) / PER_UNIT)
    _represent(board, lambda questions: _represented(followers_on_steps(questions.problem, states, board.limits.check)))


def represent_implied(board: Board) -> None:
    """Find the goals that others imply: these represent them, and a chain is sought for them alone.

    A goal that is represented comes back to the targets once the one that represents it is found to be uncoverable.
    """
    after_counted_states(board)
    if board.known.enumerated is None:
        _represent(board, implied_goals)


def _represent(board: Board, implied: Callable[[Questions], dict[str, str]]) -> None:
    known = board.known
    if known.problem.forbid or known.no_chain or len(known.targets) < 2:
        return
    board.say("implied goals: those that other goals imply")
    represented = implied(board.questions)
    targets = {*board.known.targets}  # what others have found out in the meantime, by other means, comes first
    kept = {goal: by for goal, by in represented.items() if {goal, by} <= targets}
    if kept:
        board.tell(represented={**board.known.represented, **kept})


def implied_goals(questions: Questions) -> dict[str, str]:
    """For each goal that another one implies, that other one, which itself is implied by none.

    Proved under the proved invariants of the system. Goals that nothing satisfies imply nothing. Of goals that imply
    each other the first stays. LimitReached when time is over.
    """
    goals = questions.problem.goals
    monitor = Monitor(goals)
    return _represented({goal.name: _followers(questions, goal, monitor) for goal in goals})


def _represented(follows: Mapping[str, Collection[str]]) -> dict[str, str]:
    """Who represents whom, by what each goal implies."""
    place = {goal: number for number, goal in enumerate(follows)}

    def stronger(a: str, b: str) -> bool:
        return b in follows[a] and (a not in follows[b] or place[a] < place[b])

    kept = [b for b in place if not any(stronger(a, b) for a in place if a != b)]
    return {b: next(a for a in kept if stronger(a, b)) for b in place if b not in kept}


def _followers(questions: Questions, goal: Goal, monitor: Monitor) -> frozenset[str]:
    """The goals that ``goal`` implies: those that no run of it leaves out."""
    left = [other for other in questions.problem.goals if other is not goal and other.length <= goal.length]
    session = questions.session(goal.antecedent)
    if not left or _checked(questions, session, [], goal) is not Status.SAT:
        return frozenset()
    while left:
        run = session.run()
        left = [other for other in left if monitor.holds(run, other.name, 0)]
        if not left:
            break
        status = _checked(questions, session, [Or([Not(other.antecedent) for other in left])], goal)
        if status is Status.UNSAT:
            return frozenset(other.name for other in left)
        if status is Status.UNKNOWN:
            break
    return frozenset()


def _checked(questions: Questions, session: Session, formulas: list[FNode], goal: Goal) -> Status:
    return session.check(formulas, goal.length, questions.limits.for_query(), IMPLICATION_EFFORT).status


def prove_unreachable(board: Board) -> None:
    """Try to prove by induction that no run covers the goals that nothing has reached; again when K has doubled."""
    asked = -1
    while True:
        wait_for(board, lambda known, asked=asked: _due(known, asked))  # type: ignore[misc]
        unless_far(board)
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
                how = f"no run covers it: proved by induction over {counted(k, 'step')}"
                board.rule_out({name: Reason(UNREACHABLE, how)})


def _due(known: Known, asked: int) -> bool:
    return known.enumerated is None and known.graph.depth > max(0, 2 * asked)
