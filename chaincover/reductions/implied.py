"""Goals that every run covers when it covers another goal: they need not be searched for.

If the antecedent of a implies that of b from the same step on, a chain through a covers b at that step. With overlap
allowed the least chain without b is then the least chain with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pysmt.fnode import FNode
from pysmt.shortcuts import Not, Or

from bmc.engines.protocol import Engine, Session, Status
from bmc.errors import CheckDisagreed
from bmc.system.transition import TransitionSystem
from chaincover.budget import Budget
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
from chaincover.concretise.any_order import AnyOrder
from chaincover.replay.simulated import Checker
from chaincover.weights import END, FINAL, RESERVED
from properties.goal import Goal
from properties.monitor import Monitor

EFFORT = 2
"""Work per query, in units of about a second; where that does not suffice nothing is said to be implied."""

LOST = (UNREACHABLE, NOT_WITHIN_BOUND, NO_WAY_TO_FINAL)
"""Verdicts of a goal that say nothing of the goals that it implies."""


def implied_goals(system: TransitionSystem, goals: Sequence[Goal], engine: Engine, budget: Budget) -> dict[str, str]:
    """For each goal that another one implies, that other one, which itself is implied by none.

    Proved under the proved invariants of ``system``. Goals that nothing satisfies imply nothing. Of goals that imply
    each other the first stays. None are where names are not fit for a search, which refuses them. LimitReached when
    time is over.
    """
    if len({goal.name for goal in goals} - {*RESERVED}) < len(goals):
        return {}
    monitor = Monitor(goals)
    follows = {goal.name: _followers(system, goal, goals, monitor, engine, budget) for goal in goals}
    place = {goal.name: number for number, goal in enumerate(goals)}

    def stronger(a: str, b: str) -> bool:
        return b in follows[a] and (a not in follows[b] or place[a] < place[b])

    kept = [b for b in place if not any(stronger(a, b) for a in place if a != b)]
    return {b: next(a for a in kept if stronger(a, b)) for b in place if b not in kept}


def _followers(
    system: TransitionSystem, goal: Goal, goals: Sequence[Goal], monitor: Monitor, engine: Engine, budget: Budget
) -> frozenset[str]:
    """The goals that ``goal`` implies: those that no run of it leaves out."""
    left = [other for other in goals if other is not goal and other.length <= goal.length]
    session = engine.session(system, goal.antecedent, [other.antecedent for other in goals])
    if not left or _check(session, [], goal, budget) is not Status.SAT:
        return frozenset()
    while left:
        run = session.run()
        left = [other for other in left if monitor.holds(run, other.name, 0)]
        if not left:
            break
        status = _check(session, [Or([Not(other.antecedent) for other in left])], goal, budget)
        if status is Status.UNSAT:
            return frozenset(other.name for other in left)
        if status is Status.UNKNOWN:
            break
    return frozenset()


def _check(session: Session, formulas: list[FNode], goal: Goal, budget: Budget) -> Status:
    return session.check(formulas, goal.length, budget.for_query(), EFFORT).status


def left_to_search(
    implied: Mapping[str, str], verdicts: Sequence[Verdict], excluded_too: bool = False
) -> dict[str, str]:
    """``implied`` without the goals whose stronger goal no chain covers: they may be covered all the same.

    ``excluded_too``: nor those whose stronger goal was only left out.
    """
    lost = {v.goal for v in verdicts if v.status in LOST or (excluded_too and v.status == EXCLUDED)}
    return {goal: by for goal, by in implied.items() if by not in lost}


def credited_with(goals: Sequence[Goal], implied: Mapping[str, str]) -> dict[str, list[Goal]]:
    """For each goal that implies others, those of ``goals`` that are covered with it and not searched for."""
    return {by: [goal for goal in goals if implied.get(goal.name) == by] for by in implied.values()}


def credit_all(
    chain: Chain, system: TransitionSystem, goals: Sequence[Goal], final: FNode | None, implied: Mapping[str, str]
) -> Chain:
    """``chain`` credited with each of ``goals`` at the first step at which its run covers it.

    Where the chain works for all values of open start variables, at the step of the goal that implies it: the first one
    may depend on them. With overlap allowed only. CheckDisagreed if one is not covered.
    """
    if not chain.relies_on and any(var.init is None and var.name not in system.chosen for var in system.state):
        steps = {hit.goal: hit.step for hit in chain.hits}
        placed = {goal.name: steps[implied.get(goal.name, goal.name)] for goal in goals}
        credited = dict(sorted(placed.items(), key=lambda item: item[1]))
    else:
        credited = _first_steps(chain, goals)
    checker = Checker(system, goals, final)
    plan = checker.plan(chain.run, credited, END if final is None else FINAL)
    return replace(checker.chain(plan, chain.run), relies_on=chain.relies_on)


def _first_steps(chain: Chain, goals: Sequence[Goal]) -> dict[str, int]:
    try:
        return AnyOrder({goal.name: goal for goal in goals}, "allow").credited(chain.run, [g.name for g in goals])
    except KeyError as error:
        raise CheckDisagreed(f"the chain does not cover {error.args[0]}, which another goal of it implies") from None


def all_verdicts(
    goals: Sequence[Goal], verdicts: Sequence[Verdict], implied: Mapping[str, str], chains: Sequence[Chain]
) -> tuple[Verdict, ...]:
    """``verdicts`` with one for each goal that others imply, in the order of ``goals``.

    Each goal is credited in one of ``chains``. Where a limit stopped the search, a goal may be undecided although the
    one that implies it is not.
    """
    known = {verdict.goal: verdict for verdict in verdicts}
    steps = {hit.goal: hit.step for chain in reversed(chains) for hit in chain.hits}
    found = []
    for goal in goals:
        source = known[implied.get(goal.name, goal.name)]
        if source.status == COVERED:
            found.append(replace(source, goal=goal.name, step=steps[goal.name]))
        elif goal.name in implied and source.status in LOST:
            detail = f"not searched for before the limit: {source.goal}, which implies it, is {source.status}"
            found.append(Verdict(goal.name, UNDECIDED, detail=detail))
        elif goal.name in implied:
            detail = f"as {source.goal}, which implies it: {source.detail}"
            found.append(Verdict(goal.name, source.status, detail=detail))
        else:
            found.append(source)
    return tuple(found)
