"""Goals that need not be searched for, because whoever covers another goal covers them: each gets a verdict of its own.

Goals that ask for the same: generated goals often coincide. A decision of one condition has the same two goals as
branch, as condition and for MC/DC, and all goals of dead code are the formula *false*.

Goals that another goal implies: if the antecedent of a implies that of b from the same step on, a chain through a
covers b at that step. With overlap allowed the shortest chain without b is then the shortest chain with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pysmt.fnode import FNode
from pysmt.shortcuts import Not, Or

from bmc.engines.protocol import Session, Status
from chaincover.chain import Chain, Hit, Verdict
from chaincover.known import Board
from chaincover.problem import Problem, Questions
from chaincover.reductions.reduction import Reduction
from chaincover.result import ChainResult
from properties.goal import Goal
from properties.monitor import Monitor

SameAs = Mapping[str, str]
"""From the name of each goal that was left out to its representative."""


def distinct_goals(problem: Problem) -> Reduction:
    """The reduction to goals that differ: a run that covers one of a kind covers all of them."""
    few, same_as = distinct(problem.goals, problem.overlap)

    def restore(result: ChainResult) -> ChainResult:
        if not same_as:
            return result
        chain = result.chain and expanded_chain(result.chain, problem.goals, same_as)
        tests = {
            name: result.tests[kept] for name in problem.names if (kept := same_as.get(name, name)) in result.tests
        }
        verdicts = expanded_verdicts(result.verdicts, problem.goals, same_as)
        return replace(result, chain=chain, verdicts=verdicts, tests=tests)

    return Reduction(replace(problem, goals=few), restore)


def distinct(goals: Sequence[Goal], overlap: str = "allow") -> tuple[tuple[Goal, ...], SameAs]:
    """The first goal of each kind, in their order, and for the name of every other goal its representative.

    Two goals are of one kind if antecedent (as the same formula) and length agree: then a run covers both at the same
    steps. Consequents may differ, they are judged for each. With overlap ``forbid`` goals of a step or more must not
    share steps, and each represents itself.
    """
    first: dict[tuple[int, int], str] = {}
    kept: list[Goal] = []
    same_as: dict[str, str] = {}
    for goal in goals:
        mergeable = overlap == "allow" or goal.length == 0
        representative = (
            first.setdefault((goal.antecedent.node_id(), goal.length), goal.name) if mergeable else goal.name
        )
        if representative == goal.name:
            kept.append(goal)
        else:
            same_as[goal.name] = representative
    return tuple(kept), same_as


def expanded_verdicts(verdicts: Sequence[Verdict], goals: Sequence[Goal], same_as: SameAs) -> tuple[Verdict, ...]:
    """The verdicts of representative goals, expanded to all ``goals`` in their order.

    A goal gets a verdict if it or its representative has one.
    """
    own = {verdict.goal: verdict for verdict in verdicts}
    pairs = ((goal.name, own.get(same_as.get(goal.name, goal.name))) for goal in goals)
    return tuple(replace(verdict, goal=name) for name, verdict in pairs if verdict is not None)


def expanded_chain(chain: Chain, goals: Sequence[Goal], same_as: SameAs) -> Chain:
    """``chain``, found for representative goals, expanded to all ``goals``.

    Order, hits and repeats name each duplicate right after its representative, at the same step; its own
    consequent is judged there.
    """
    others: dict[str, list[str]] = {}
    for name, representative in same_as.items():
        others.setdefault(representative, []).append(name)
    monitor = Monitor([goal for goal in goals if goal.name in same_as])

    def all_of(hits: Sequence[Hit]) -> Iterator[Hit]:
        for hit in hits:
            yield hit
            for name in others.get(hit.goal, ()):
                yield Hit(name, hit.step, monitor.judge(chain.run, name, hit.step))

    order = tuple(name for representative in chain.order for name in (representative, *others.get(representative, ())))
    return replace(chain, order=order, hits=tuple(all_of(chain.hits)), repeats=tuple(all_of(chain.repeats)))


EFFORT = 2
"""Units of work per query; where that does not suffice nothing is said to be implied."""


def represent_implied(board: Board) -> None:
    """Find the goals that others imply: these represent them, and a chain is sought for them alone.

    A goal that is represented comes back to the targets once the one that represents it is found to be uncoverable.
    """
    known = board.known
    if known.problem.forbid or len(known.targets) < 2:
        return
    board.say("implied goals: those that other goals imply")
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
