"""Goals that every run covers when it covers another goal: they need not be searched for.

If the antecedent of a implies that of b from the same step on, a chain through a covers b at that step. With overlap
allowed the least chain without b is then the least chain with it.
"""

from __future__ import annotations

from pysmt.fnode import FNode
from pysmt.shortcuts import Not, Or

from bmc.engines.protocol import Session, Status
from chaincover.known import Board
from chaincover.questions import Questions
from properties.goal import Goal
from properties.monitor import Monitor

EFFORT = 2
"""Units of work per query; where that does not suffice nothing is said to be implied."""


def represent_implied(board: Board) -> None:
    """Find the goals that others imply: these represent them, and a chain is sought for them alone.

    A goal that is represented comes back to the targets once the one that represents it is found to be uncoverable.
    """
    known = board.known
    if known.problem.forbid or len(known.targets) < 2:
        return
    board.say("implied: goals that other goals imply")
    represented = implied_goals(board.questions)
    kept = {goal: by for goal, by in represented.items() if by not in board.known.uncoverable}
    if kept:
        board.tell(represented={**board.known.represented, **kept})


def implied_goals(questions: Questions) -> dict[str, str]:
    """For each goal that another one implies, that other one, which itself is implied by none.

    Proved under the proved invariants of the system. Goals that nothing satisfies imply nothing. Of goals that imply
    each other the first stays. LimitReached when time is over.
    """
    goals = questions.problem.goals
    monitor = Monitor(goals)
    follows = {goal.name: _followers(questions, goal, monitor) for goal in goals}
    place = {goal.name: number for number, goal in enumerate(goals)}

    def stronger(a: str, b: str) -> bool:
        return b in follows[a] and (a not in follows[b] or place[a] < place[b])

    kept = [b for b in place if not any(stronger(a, b) for a in place if a != b)]
    return {b: next(a for a in kept if stronger(a, b)) for b in place if b not in kept}


def _followers(questions: Questions, goal: Goal, monitor: Monitor) -> frozenset[str]:
    """The goals that ``goal`` implies: those that no run of it leaves out."""
    left = [other for other in questions.problem.goals if other is not goal and other.length <= goal.length]
    session = questions.session(goal.antecedent)
    if not left or _check(questions, session, [], goal) is not Status.SAT:
        return frozenset()
    while left:
        run = session.run()
        left = [other for other in left if monitor.holds(run, other.name, 0)]
        if not left:
            break
        status = _check(questions, session, [Or([Not(other.antecedent) for other in left])], goal)
        if status is Status.UNSAT:
            return frozenset(other.name for other in left)
        if status is Status.UNKNOWN:
            break
    return frozenset()


def _check(questions: Questions, session: Session, formulas: list[FNode], goal: Goal) -> Status:
    return session.check(formulas, goal.length, questions.limits.for_query(), EFFORT).status
