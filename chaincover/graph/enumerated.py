"""The K-reachability graph from enumerated states, without a solver: every weight is exact.

Between the end of one goal and the start of another a shortest run is a shortest path: breadth first from all starts
of a goal at once. Where two goals overlap, the second is watched on all runs of the first one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from math import inf

import numpy as np

from bmc.explicit.paths import Arrows
from bmc.explicit.state_graph import StateGraph
from bmc.explicit.vectors import Column
from chaincover.graph.goal_runs import EnumeratedGoals, states_in
from chaincover.graph.reachability import Level
from chaincover.limits import Limits
from chaincover.problem import Problem
from chaincover.weights import END, FINAL, INIT, Edge, ReachGraph


class EnumeratedGraphBuilder:
    """As ``chaincover.graph.reachability.GraphBuilder``, from all reachable states: one ``extend`` finds every weight.

    ``enumerated`` holds the states for the goals and the final condition of ``problem``, or for more. ``limit`` is the
    largest weight that the graph has (None: no limit); longer ones are lower bounds. An edge without a weight at all
    has a lower bound above every finite weight.
    """

    def __init__(
        self, problem: Problem, enumerated: StateGraph, limits: Limits | None = None, limit: int | None = None
    ) -> None:
        problem.check_names()
        self.levels: list[Level] = []
        self.depth = -1
        self.enumerated, self._problem, self._limit = enumerated, problem, limit
        self._limits = limits or Limits()
        self._goals: EnumeratedGoals | None = None
        self._search = self._rows()
        self._weights: dict[Edge, int] = {}
        self._lower: dict[Edge, int] = {}
        self._unsatisfiable: list[str] = []
        self._seconds = 0.0
        self._followed = 0

    @property
    def complete(self) -> bool:
        """Whether no edge is left to ask for, at whatever distance."""
        return self.depth >= 0

    @property
    def work(self) -> int:
        """The work done so far: a unit is a step of the system that was followed, for one goal."""
        return self._followed + (0 if self._goals is None else self._goals.followed)

    def observe(self, upper: Mapping[Edge, int]) -> None:
        """Nothing is to be learned from runs: every weight is found."""

    def extend(self, to: int | None = None) -> None:
        """Find every weight. LimitReached when the time is over; the call can be repeated."""
        self._limits.check()
        self._go_on(inf)

    def advance(self, work: float) -> None:
        """Work on for some ``work`` more units, or until every weight is found. LimitReached as in ``extend``."""
        self._go_on(self.work + work)

    def graph(self) -> ReachGraph:
        """What is known so far: nothing until all of it is."""
        return ReachGraph(
            goals=tuple(goal.name for goal in self._problem.goals),
            end=END if self._problem.final is None else FINAL,
            weights=dict(self._weights),
            lower=dict(self._lower),
            unknown=(),
            unsatisfiable=tuple(self._unsatisfiable),
            depth=self.depth,
            queries=0,
            seconds=self._seconds,
            exact=self.complete and self._limit is None,
        )

    def _go_on(self, until: float) -> None:
        begun = time.monotonic()
        try:
            while not self.complete and self.work < until:
                try:
                    next(self._search, None)
                except BaseException:
                    self._search = self._rows()
                    raise
        finally:
            self._seconds += time.monotonic() - begun

    def _rows(self) -> Iterator[None]:
        """Finds the weights goal by goal; starts again where it was interrupted, with what is known of the goals."""
        if self._goals is None:
            self._goals = EnumeratedGoals(self._problem, self.enumerated, self._limits.check)
            yield
        names = [goal.name for goal in self._problem.goals]
        possible = []
        for number in range(len(names)):
            if self._goals.ends_of(number)[0].size:
                possible.append(number)
            yield
        if self._problem.overlap == "allow":
            for number in possible:
                self._goals.together_with(number)
                yield
        weights, lower = dict[Edge, int](), dict[Edge, int]()
        backward = self._moves().backward()
        for edges in self._edges(self._goals, possible, backward):
            for edge, steps in edges.items():
                lower[edge] = self._impossible if steps is None else steps
                if steps is not None and (self._limit is None or steps <= self._limit):
                    weights[edge] = steps
            self._followed += len(backward.ends)
            yield
        self._weights, self._lower = weights, lower
        self._unsatisfiable = [name for number, name in enumerate(names) if number not in possible]
        self.depth = max(weights.values(), default=0) if self._limit is None else self._limit

    @property
    def _impossible(self) -> int:
        """Above every finite weight: a shortest way between two goals meets no state twice."""
        return len(self.enumerated.states) + max((goal.length for goal in self._problem.goals), default=0) + 1

    def _moves(self) -> Arrows:
        """The steps between states, one of those that lead from one state to the same other one."""
        size, steps = np.int64(len(self.enumerated.states)), self.enumerated.steps
        pairs = np.unique(steps.sources * size + steps.nexts)
        offsets = np.searchsorted(pairs, np.arange(size + 1) * size)
        return Arrows(offsets, (pairs % size).astype(np.int32))

    def _edges(
        self, goals: EnumeratedGoals, possible: Sequence[int], backward: Arrows
    ) -> Iterator[dict[Edge, int | None]]:
        """The edges to each of the goals ``possible``, then those to the end, with their weights (None: no way)."""
        every, starts = self._problem.goals, np.array(self.enumerated.starts, np.int64)
        ends = [goals.ends_of(number)[1] for number in possible]
        nodes = np.concatenate([starts, *ends])
        first = np.cumsum([0, len(starts), *(len(each) for each in ends)])[:-1]
        sources = [(INIT, 0), *((every[number].name, every[number].length) for number in possible)]
        for number in possible:
            target = every[number].name
            near = _least_of(backward.distances(goals.ends_of(number)[0], self._limits.check), nodes, first)
            ways = {(name, target): _after(length, way) for (name, length), way in zip(sources, near, strict=True)}
            ways.pop((target, target), None)
            for source in possible if self._problem.overlap == "allow" else ():
                if number in goals.together_with(source):
                    ways[every[source].name, target] = goals.together_with(source)[number]
            yield ways
        last = sources[1:] if every else sources
        if self._problem.final is None:
            yield {(name, END): length for name, length in last}
            return
        final = np.flatnonzero(states_in(self.enumerated, self._problem.final))
        near = _least_of(backward.distances(final, self._limits.check), nodes, first)
        yield {
            (name, FINAL): _after(length, way)
            for (name, length), way in zip(sources, near, strict=True)
            if (name, length) in last
        }


def _least_of(distances: Column, nodes: Column, first: Column) -> list[int]:
    """For each part of ``nodes``, which begin at ``first``, the least of the ``distances``; -1: there is no way."""
    unreached = np.iinfo(np.int32).max
    found = np.where(distances < 0, unreached, distances)[nodes]
    return [-1 if way == unreached else way for way in np.minimum.reduceat(found, first).tolist()]


def _after(length: int, way: int) -> int | None:
    return None if way < 0 else length + way
