"""Goals that other goals imply: a chain is sought for these alone.

A goal is implied by another one if it holds wherever the other one does: if the antecedent of a implies that of b from
the same step on, a chain through a covers b at that step. With overlap allowed the shortest chain without b is then the
shortest chain with it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from pysmt.fnode import FNode
from pysmt.shortcuts import Not, Or

from bmc.engines.protocol import Session, Status
from chaincover.facts import STATES
from chaincover.graph.goal_product import followers_on_steps
from chaincover.known import Board
from chaincover.limits import BRIEF, PER_UNIT
from chaincover.problem import Questions
from chaincover.stages import await_news
from properties.goal import Goal
from properties.monitor import Monitor


def represent_implied(board: Board) -> None:
    """Find the goals that others imply: these represent them, and a chain is sought for them alone.

    Goals are compared by a solver, and once the states are enumerated on all steps. A goal that is represented comes
    back to the targets once the one that represents it is found to be uncoverable.
    """
    if board.known.enumerated is None:
        _represent(board, implied_goals)
        await_news(board, STATES)
    states, limits = board.known.enumerated, board.limits
    assert states is not None

    def followers(questions: Questions) -> dict[str, set[str]]:
        return followers_on_steps(
            questions.problem, states, limits.check, lambda steps: limits.spend(steps / PER_UNIT.steps)
        )

    _represent(board, lambda questions: _represented(followers(questions)))


def _represent(board: Board, implied: Callable[[Questions], dict[str, str]]) -> None:
    known = board.known
    if known.no_chain or len(known.targets) < 2:
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
    left = [other for other in questions.problem.goals if other is not goal and other.takes_step <= goal.takes_step]
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
    return session.check(formulas, goal.over(0), questions.limits.for_query(), BRIEF).status
