"""Finds what ``check`` tells about the goals: on the listed reachable states, else by queries.

A *state* here is a valuation of the variables on which goals, final condition and the steps' constraints depend.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import combinations

from pysmt.fnode import FNode
from pysmt.shortcuts import Not

from bmc.engines.protocol import Engine, Session, Status
from bmc.errors import LimitReached
from bmc.explicit.enumeration import affordable, enumerated
from bmc.explicit.state_graph import EXACT_STATES, StateGraph, invariant_of
from bmc.formulas.unroll import at, plain, shift
from bmc.system.transition import TransitionSystem, Valuation, conjunction, equal, symbols_of
from chaincover.budget import Budget
from chaincover.check.goal_facts import (
    APART,
    EQUAL,
    INSIDE,
    MEETS,
    NONE,
    SEVERAL,
    SINGLE,
    UNKNOWN,
    GoalFacts,
    Sharing,
    Trigger,
    lemma_3,
    theorem_2,
)
from chaincover.check.trigger_states import components, states_where, trigger_states
from chaincover.graph.reachability import GraphBuilder
from chaincover.weights import Edge, ReachGraph
from properties.goal import Goal

EXPLORED = 100_000
"""Simulated steps, fewer in a large model, within which all reachable states are listed."""
SEARCH_DEPTH = 8
"""Steps from init within which two different start states of a goal are sought, where the states are not listed."""


def find_facts(
    system: TransitionSystem,
    goals: Sequence[Goal],
    final: FNode | None,
    engine: Engine,
    budget: Budget,
    overlap: str = "allow",
    explore: int = EXPLORED,
) -> GoalFacts:
    """All facts about ``goals``; what ``budget`` does not suffice for is undecided.

    ``final`` is over plain state symbols, or None. ``overlap`` (``allow`` or ``forbid``) is what the claims are for.
    The reachable states are listed where ``explore`` simulated steps suffice (0: not at all; fewer in a large model).
    """
    graph = list_states(system, goals, final, explore)
    return facts_among(graph, system, goals, final, engine, budget, overlap)


def list_states(
    system: TransitionSystem, goals: Sequence[Goal], final: FNode | None, explore: int = EXPLORED
) -> StateGraph | None:
    """The reachable states for ``find_facts``; None where they are too many, or there are no goals."""
    limit = affordable(explore)
    return enumerated(replace(system, invariants=()), _asked_of(goals, final), limit) if limit and goals else None


def facts_among(
    graph: StateGraph | None,
    system: TransitionSystem,
    goals: Sequence[Goal],
    final: FNode | None,
    engine: Engine,
    budget: Budget,
    overlap: str = "allow",
) -> GoalFacts:
    """As ``find_facts``, with the states that ``list_states`` gives."""
    return _Finder(system, goals, final, engine, budget, graph).facts(overlap)


def _asked_of(goals: Sequence[Goal], final: FNode | None) -> list[FNode]:
    return [goal.antecedent for goal in goals] + ([] if final is None else [at(final, 0)])


class _Finder:
    """``_graph`` holds the reachable states, None if they are too many; ``_system`` has them as an invariant."""

    def __init__(
        self,
        system: TransitionSystem,
        goals: Sequence[Goal],
        final: FNode | None,
        engine: Engine,
        budget: Budget,
        graph: StateGraph | None,
    ) -> None:
        self._goals, self._final, self._engine, self._budget = tuple(goals), final, engine, budget
        self._formulas = _asked_of(goals, final)
        bare = replace(system, invariants=())
        self._graph = graph
        self._variables = bare.cone(plain(s) for formula in self._formulas for s in symbols_of(formula))
        found = invariant_of(bare, self._graph.states) if self._graph else None
        self._system = replace(system, invariants=(*system.invariants, *([found] if found else [])))
        self._init = conjunction(equal(var.symbol, var.init) for var in self._variables if var.init is not None)
        self._component = components(self._graph) if self._graph else {}
        self._from_init: Session | None = None

    def facts(self, overlap: str) -> GoalFacts:
        """See ``find_facts``."""
        triggers = tuple(self._trigger(goal) for goal in self._goals)
        goals = [goal for goal, trigger in zip(self._goals, triggers, strict=True) if trigger.kind != NONE]
        weights = self._near_weights(goals)
        sharing, undecided = _sharing(goals, weights)
        implied, open_pairs = self._implied(goals, weights)
        exact = self._graph is not None and len(self._graph.states) <= EXACT_STATES
        clash = [(s.first, s.second) for s in sharing if s.distance or self._longer(s.first, s.second)]
        sure, unsure = (clash if exact else []), ([] if exact else clash) + undecided
        given = (triggers, sure, unsure) if overlap == "allow" else (triggers, [], [])
        return GoalFacts(
            triggers=triggers,
            sharing=tuple(sharing),
            exact=exact,
            sharing_undecided=tuple(undecided),
            implied=tuple(implied),
            implied_undecided=tuple(open_pairs),
            reachable=None if self._graph is None else len(self._graph.states),
            lemma_3=lemma_3(*given),
            theorem_2=theorem_2(*given),
        )

    def _longer(self, *names: str) -> bool:
        """Whether one of these goals takes a step at all: state goals alone can hold together without harm."""
        return any(goal.length for goal in self._goals if goal.name in names)

    def _trigger(self, goal: Goal) -> Trigger:
        try:
            self._budget.check()
            found = None if self._graph is None else trigger_states(self._graph, self._system, goal)
            if self._graph is not None and found is not None:
                return self._listed(self._graph, goal, found)
            return self._asked(goal)
        except LimitReached:
            return Trigger(goal.name, UNKNOWN, None, None, UNKNOWN, "" if self._final is None else UNKNOWN)

    def _listed(self, graph: StateGraph, goal: Goal, found: frozenset[int]) -> Trigger:
        """The trigger whose states are known one by one."""
        kind = NONE if not found else SINGLE if len(found) == 1 else SEVERAL
        connected = len({self._component[state] for state in found}) <= 1
        final = "" if self._final is None else _relation(found, states_where(graph, self._final))
        return Trigger(goal.name, kind, len(found), connected, _relation(found, frozenset(graph.starts)), final)

    def _asked(self, goal: Goal) -> Trigger:
        """The trigger as far as queries tell, over all states that the proved invariants allow."""
        session = self._engine.session(self._system, goal.antecedent, self._formulas)
        status = self._check(session, [], goal.length)
        if status is Status.UNSAT:
            return Trigger(goal.name, NONE, 0, True, APART, "" if self._final is None else APART)
        only = self._same(session.run().states[0]) if status is Status.SAT else None
        if only is not None:
            status = self._check(session, [at(Not(only), 0)], goal.length)
        single = only is not None and status is Status.UNSAT
        places = [self._init, *([] if self._final is None else [self._final])]
        init, *final = [self._lies(session, goal, place, only if single else None) for place in places]
        if single:
            return Trigger(goal.name, SINGLE, 1, True, init, *final or [""])
        kind = SEVERAL if self._two_reached(goal) else UNKNOWN
        return Trigger(goal.name, kind, None, None, init, *final or [""])

    def _lies(self, session: Session, goal: Goal, place: FNode, only: FNode | None) -> str:
        """How the start states of ``goal`` lie to the states of ``place``; ``only`` is its single start state."""
        common = self._check(session, [at(place, 0)], goal.length)
        if common is Status.UNSAT:
            return APART
        outside = self._check(session, [at(Not(place), 0)], goal.length)
        if outside is Status.UNSAT:
            return EQUAL if self._fills(goal, place, only) else INSIDE
        return MEETS if common is outside is Status.SAT else UNKNOWN

    def _fills(self, goal: Goal, place: FNode, only: FNode | None) -> bool:
        """Whether ``goal`` is proved to start in every state of ``place``; only asked where it does not need a run."""
        if only is None and goal.length:
            return False
        elsewhere = Not(goal.antecedent) if only is None else at(Not(only), 0)
        session = self._engine.session(self._system, at(place, 0), self._formulas)
        return self._check(session, [elsewhere], 0) is Status.UNSAT

    def _two_reached(self, goal: Goal) -> bool:
        """Whether runs of up to ``SEARCH_DEPTH`` steps from init meet two different start states of ``goal``."""
        if self._from_init is None:
            self._from_init = self._engine.session(self._system, at(self._init, 0), self._formulas)
        session, other = self._from_init, list[FNode]()
        for step in range(SEARCH_DEPTH + 1):
            start = shift(goal.antecedent, step)
            while self._check(session, [start, *(at(f, step) for f in other)], step + goal.length) is Status.SAT:
                if other:
                    return True
                other.append(Not(self._same(session.run().states[step])))
        return False

    def _same(self, state: Valuation) -> FNode:
        """The formula: the variables have the values of ``state``."""
        return conjunction(equal(v.symbol, v.type.constant(state[v.name])) for v in self._variables)

    def _near_weights(self, goals: Sequence[Goal]) -> ReachGraph:
        """Which goals can start during which: the weights that tell of it (Algorithm 10)."""
        lengths = [goal.length for goal in goals] or [0]
        limit = max(0, max(lengths) - min(1, *lengths))
        builder = GraphBuilder(self._system, goals, None, self._engine, "allow", self._budget, limit)
        with suppress(LimitReached):
            for _ in range(limit + 1):
                builder.extend()
        return builder.graph()

    def _implied(self, goals: Sequence[Goal], weights: ReachGraph) -> tuple[list[Edge], list[Edge]]:
        """The pairs (a, b) where every run that covers a covers b within a's steps; the pairs not decided."""
        implied: list[Edge] = []
        undecided: list[Edge] = []
        for a in goals:
            session = None
            for b in goals:
                spare, edge = a.length - b.length, (a.name, b.name)
                if a is b or spare < 0 or {*edge} & {*weights.unsatisfiable}:
                    continue
                if edge not in weights.weights and weights.lower.get(edge, 0) <= spare:
                    undecided.append(edge)
                if weights.weights.get(edge, spare + 1) > spare:
                    continue
                session = session or self._engine.session(self._system, a.antecedent, self._formulas)
                status = self._try(session, [shift(Not(b.antecedent), d) for d in range(spare + 1)], a.length)
                if status is not Status.SAT:
                    (implied if status is Status.UNSAT else undecided).append(edge)
        return implied, undecided

    def _check(self, session: Session, formulas: Sequence[FNode], steps: int) -> Status:
        return session.check(formulas, steps, self._budget.for_query()).status

    def _try(self, session: Session, formulas: Sequence[FNode], steps: int) -> Status:
        """As ``_check``; unknown once the time is over."""
        try:
            return self._check(session, formulas, steps)
        except LimitReached:
            return Status.UNKNOWN


def _relation(states: frozenset[int], place: frozenset[int]) -> str:
    if not states & place:
        return APART
    if states <= place:
        return EQUAL if states == place else INSIDE
    return MEETS


def _sharing(goals: Sequence[Goal], graph: ReachGraph) -> tuple[list[Sharing], list[Edge]]:
    """The pairs that can share a step, each once where both can start together; the pairs not decided."""
    found, undecided = [], []
    for a, b in combinations([goal for goal in goals if goal.name not in graph.unsatisfiable], 2):
        if 0 in (graph.weights.get((a.name, b.name)), graph.weights.get((b.name, a.name))):
            found.append(Sharing(a.name, b.name, 0))
            continue
        for first, second in ((a, b), (b, a)):
            edge, before = (first.name, second.name), max(first.length, 1)
            if graph.weights.get(edge, before) < before:
                found.append(Sharing(*edge, graph.weights[edge]))
            elif graph.lower.get(edge, 0) < before:
                undecided.append(edge)
    return found, undecided
