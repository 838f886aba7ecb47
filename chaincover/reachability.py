"""Algorithm 10 (GetKreachEdges) and the loop body of Algorithm 2 (BuildPropKReachGraph): weights by bounded search."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pysmt.fnode import FNode
from pysmt.shortcuts import Or

from bmc.engines.protocol import Engine, Session, Status
from bmc.errors import CheckDisagreed, InputRefused
from bmc.system import TransitionSystem
from bmc.unroll import at, shift
from chaincover.budget import Budget
from chaincover.graph import END, FINAL, INIT, RESERVED, Edge, ReachGraph
from properties.goal import Goal
from properties.monitor import Monitor


@dataclass
class _Source:
    """A node whose outgoing edges are searched: ``pending`` holds each target's next distance to ask."""

    goal: Goal
    make_session: Callable[[], Session]
    pending: dict[str, int] = field(default_factory=dict)

    @cached_property
    def session(self) -> Session:
        """Made when it is first asked."""
        return self.make_session()


@dataclass(frozen=True)
class Level:
    """What is known after one more K: ``pending`` has each edge's next distance to ask."""

    weights: Mapping[Edge, int]
    lower: Mapping[Edge, int]
    pending: Mapping[Edge, int]
    unknown: tuple[Edge, ...]
    unsatisfiable: tuple[str, ...]


class GraphBuilder:
    """Builds the K-reachability graph one k at a time: call ``extend`` until ``graph`` shows what is wanted.

    ``final`` is the condition (over plain state symbols) in which a chain must end, or None. ``overlap`` is ``allow``
    or ``forbid``. ``limit`` is the largest weight ever asked (None: no limit). Targets are grouped by the horizon that
    their runs need, so that no query is restricted by steps that a target does not need; within a group one query
    asks for all targets at once. ``levels`` are those that an earlier builder of the same graph went through: they are
    taken over without a query. InputRefused if two goals have one name, or a goal has the name of an end node.
    """

    def __init__(
        self,
        system: TransitionSystem,
        goals: Sequence[Goal],
        final: FNode | None,
        engine: Engine,
        overlap: str = "allow",
        budget: Budget | None = None,
        limit: int | None = None,
        levels: Sequence[Level] = (),
    ) -> None:
        _check_names(goals)
        self.levels = list(levels)
        self._budget = budget or Budget()
        self._overlap = overlap
        self._limit = limit
        self._goals = tuple(goals)
        self._end = END if final is None else FINAL
        self._start = Goal(INIT, at(system.init_formula, 0), None, 0)
        ends = [] if final is None else [Goal(FINAL, at(final, 0), None, 0)]
        self._targets = {goal.name: goal for goal in (*goals, *ends)}
        self._monitor = Monitor(list(self._targets.values()))
        self._placed: dict[tuple[str, int], FNode] = {}
        self._weights: dict[Edge, int] = {}
        self._lower: dict[Edge, int] = {}
        self._unknown: dict[Edge, None] = {}
        self._unsatisfiable: dict[str, None] = {}
        self._sources: list[_Source] | None = None
        self._system, self._engine = system, engine
        self.depth = -1
        self._queries = 0
        self._seconds = 0.0

    @property
    def complete(self) -> bool:
        """Whether no edge is left to ask for, at whatever distance."""
        return self._sources is not None and not any(source.pending for source in self._sources)

    def extend(self) -> None:
        """Ask for every edge not yet found at distance ``depth`` + 1, and count it into ``depth``.

        LimitReached when the time is over: what was found until then stays, and the call can be repeated.
        """
        begun = time.monotonic()
        try:
            if self.depth + 1 < len(self.levels):
                self._take_over(self.levels[self.depth + 1])
            else:
                if self._sources is None:
                    self._sources = self._make_sources()
                for source in self._sources:
                    while group := self._next_group(source, self.depth + 1):
                        self._ask(source, group)
                self.levels.append(self._level())
            self.depth += 1
        finally:
            self._seconds += time.monotonic() - begun

    def _level(self) -> Level:
        pending = {(s.goal.name, target): d for s in self._sources or () for target, d in s.pending.items()}
        known = dict(self._weights), dict(self._lower), pending, tuple(self._unknown), tuple(self._unsatisfiable)
        return Level(*known)

    def _take_over(self, level: Level) -> None:
        """Go on from ``level``, as if everything up to it had been asked."""
        self._unsatisfiable = dict.fromkeys(level.unsatisfiable)
        self._weights, self._lower = dict(level.weights), dict(level.lower)
        self._unknown = dict.fromkeys(level.unknown)
        if self._sources is None:
            self._sources = [self._source(g) for g in (self._start, *self._goals) if g.name not in self._unsatisfiable]
        for source in self._sources:
            source.pending = {b: d for (a, b), d in level.pending.items() if a == source.goal.name}

    def _source(self, goal: Goal) -> _Source:
        formulas = [target.antecedent for target in self._targets.values()]
        return _Source(goal, lambda: self._engine.session(self._system, goal.antecedent, formulas))

    def graph(self) -> ReachGraph:
        """What is known so far."""
        return ReachGraph(
            goals=tuple(goal.name for goal in self._goals),
            end=self._end,
            weights=dict(self._weights),
            lower=dict(self._lower),
            unknown=tuple(self._unknown),
            unsatisfiable=tuple(self._unsatisfiable),
            depth=self.depth,
            queries=self._queries,
            seconds=self._seconds,
        )

    def _make_sources(self) -> list[_Source]:
        """A session per source. Goals that nothing satisfies are dropped, as sources and as targets."""
        sources = []
        for goal in (self._start, *self._goals):
            source = self._source(goal)
            if goal is not self._start and self._check(source, [], goal.length) is Status.UNSAT:
                self._unsatisfiable[goal.name] = None
            else:
                sources.append(source)
        for source in sources:
            self._add_targets(source)
        return sources

    def _add_targets(self, source: _Source) -> None:
        """E_target of ``source``: the other goals, and the end unless other goals must come between."""
        name, length = source.goal.name, source.goal.length
        for goal in self._goals:
            if goal.name != name and goal.name not in self._unsatisfiable:
                source.pending[goal.name] = length if self._overlap == "forbid" else 0
        if self._end == FINAL and (name != INIT or not self._goals):
            source.pending[FINAL] = length
        self._lower.update({(name, target): distance for target, distance in source.pending.items()})
        if self._end == END and (name != INIT or not self._goals):
            self._weights[name, END] = self._lower[name, END] = length

    def _next_group(self, source: _Source, k: int) -> list[str]:
        """Targets to ask for together: due at ``k`` or one later, of the least horizon that is due; empty if none."""
        last = k + 1 if self._limit is None else min(k + 1, self._limit)
        due = [t for t, distance in source.pending.items() if distance <= min(k, last)]
        if not due:
            return []
        horizon = min(self._horizon(source, t) for t in due)
        return [t for t, d in source.pending.items() if d <= last and self._horizon(source, t) == horizon]

    def _horizon(self, source: _Source, target: str) -> int:
        return max(source.goal.length, source.pending[target] + self._targets[target].length)

    def _ask(self, source: _Source, group: list[str]) -> None:
        """Algorithm 10: which of ``group``, all of one horizon, can be reached at their next distance."""
        horizon = self._horizon(source, group[0])
        left = list(group)
        while left:
            status = self._check(source, [Or([self._at(t, source.pending[t]) for t in left])], horizon)
            if status is Status.SAT:
                left = self._take_hits(source, left)
                continue
            if status is Status.UNKNOWN and len(left) > 1:
                for target in left:
                    self._ask(source, [target])
                return
            for target in left:
                self._postpone(source, target, status)
            return

    def _take_hits(self, source: _Source, left: list[str]) -> list[str]:
        """Record the edges that the session's model shows; the targets that it does not show."""
        run = source.session.run()
        hits = [t for t in left if self._monitor.holds(run, t, source.pending[t])]
        if not hits:
            raise CheckDisagreed(f"the engine's run from {source.goal.name} reaches none of {', '.join(left)}")
        for target in hits:
            self._weights[source.goal.name, target] = source.pending.pop(target)
        return [t for t in left if t not in hits]

    def _postpone(self, source: _Source, target: str, status: Status) -> None:
        """Move ``target`` to the next distance; its lower bound follows only if this one is proved impossible."""
        edge = (source.goal.name, target)
        source.pending[target] += 1
        if status is Status.UNKNOWN:
            self._unknown[edge] = None
        elif edge not in self._unknown:
            self._lower[edge] = source.pending[target]

    def _at(self, target: str, distance: int) -> FNode:
        key = (target, distance)
        if key not in self._placed:
            self._placed[key] = shift(self._targets[target].antecedent, distance)
        return self._placed[key]

    def _check(self, source: _Source, formulas: list[FNode], horizon: int) -> Status:
        limit = self._budget.for_query()
        self._queries += 1
        status = source.session.check(formulas, horizon, limit).status
        if status is Status.UNKNOWN:
            self._budget.check()
        return status


def _check_names(goals: Sequence[Goal]) -> None:
    seen: set[str] = set()
    for goal in goals:
        if goal.name in RESERVED:
            raise InputRefused(f"a goal may not be called {goal.name!r}", goal.where, "give it another name")
        if goal.name in seen:
            raise InputRefused(f"two goals are called {goal.name!r}", goal.where, "give one another name")
        seen.add(goal.name)
