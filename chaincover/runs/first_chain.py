"""A first chain by simulation, before any distance is asked for: a search that is stopped then still has one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pysmt.shortcuts import TRUE

from bmc.engines.protocol import Status
from bmc.errors import LimitReached
from bmc.formulas.unroll import at
from bmc.system.run import Run
from chaincover.chain import Chain
from chaincover.concretise.any_order import AnyOrder
from chaincover.concretise.check_path import Concretizer, Plan
from chaincover.minimality.direct_bound import lower_bound
from chaincover.orderings.protocol import Limit
from chaincover.runs.nearest import NearestFirst
from chaincover.runs.observed import seen_in
from chaincover.runs.random import Simulated
from chaincover.weights import FINAL, INIT, Edge, ReachGraph
from properties.goal import Goal
from properties.monitor import Monitor

TRIALS = 0.3
"""The part of the time left that trial runs may take: a goal that none covers may need the solver's proof."""

Take = Callable[[Run, Mapping[str, int]], None]


@dataclass(frozen=True)
class FirstChain:
    """``chain`` covers all goals, along ``plan``; the search falls back on it."""

    chain: Chain
    plan: Plan

    def is_least(self, graph: ReachGraph, limit: Limit) -> bool:
        """Whether what ``graph`` says so far proves that no chain is shorter; ``limit`` is that of the proof.

        CheckDisagreed if it says that the chain cannot be.
        """
        return lower_bound(graph, self.chain.length, limit).minimal


def by_simulation(
    tools: Concretizer, names: Sequence[str], overlap: str, limit: int, take: Take, progress: Callable[[str], None]
) -> dict[Edge, int]:
    """Random runs side by side, and where they miss goals and the engine tries runs, those too; see ``by_trials``.

    Goals that no state can satisfy by what is known of the state's values are left out of the trials.

    ``limit`` is the most steps to a goal's start. The result has the distances that the random runs have shown.
    """
    progress("simulate: random runs, nearest goal first")
    goals = [tools.goals[name] for name in names]
    simulated = Simulated(tools.system, goals, tools.final, overlap, tools.budget, limit)
    found = simulated.chain()
    most = 0 if found is None else len(found[1])
    if found is not None:
        take(*found)

    def take_more(run: Run, credited: Mapping[str, int]) -> None:
        if len(credited) > most:
            take(run, credited)

    if most < len(names) and tools.engine.tries(tools.system):
        progress("simulate: trial runs, nearest goal first")
        part = Concretizer(tools.system, goals, tools.final, tools.engine, tools.budget.share(TRIALS))
        try:
            by_trials(part, _possible(part, names), overlap, limit, take_more)
        except LimitReached:
            tools.budget.check()
    return simulated.upper


def _possible(tools: Concretizer, names: Sequence[str]) -> list[str]:
    """``names`` without the goals of which bounds tell that no state and inputs satisfy them: trials are in vain.

    LimitReached when time is over.
    """
    session, kept = tools.new_session(TRUE()), []
    for name in names:
        goal = tools.goals[name]
        answer = session.check([goal.antecedent], goal.length, tools.budget.for_query(), 0)
        if answer.status is not Status.UNSAT:
            kept.append(name)
    return kept


def by_trials(tools: Concretizer, names: Sequence[str], overlap: str, limit: int, take: Take) -> None:
    """Goes from init on to the nearest of the goals ``names`` each time, then to the end.

    The engine tries runs and asks no solver: it must be one that ``tries`` the system. ``limit`` is the most steps to
    a goal's start. ``take`` gets the run through as many goals as this way leads to, with the step credited to each, in
    the order of these steps; it is not called where there is none. LimitReached when time is over; then, and at an
    interrupt, ``take`` gets the run so far, if it may end there.
    """
    way = NearestFirst(tools, names, overlap, limit, effort=0)
    found = None
    try:
        found = way.partial()
    finally:
        found = found or way.so_far()
        if found is not None:
            take(found[0], AnyOrder({name: tools.goals[name] for name in names}, overlap).credited(*found))


def shown_distances(run: Run, tools: Concretizer, overlap: str) -> dict[Edge, int]:
    """The distances in steps that ``run``, a chain, shows between init, goals and final: no weight is more."""
    ends = [] if tools.final is None else [Goal(FINAL, at(tools.final, 0), None, 0)]
    covered = Monitor([*tools.goals.values(), *ends]).covered(run)
    lengths = {name: goal.length for name, goal in tools.goals.items()}
    return seen_in({INIT: [0], **covered}, lengths, overlap == "forbid", run.length)
