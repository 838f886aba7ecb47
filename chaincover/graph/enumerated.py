"""The K-reachability graph from a list of all reachable states, without a solver: every weight exact, or none at all.

Between the end of one goal and the start of another a shortest run is a shortest path: breadth first from all starts
of a goal at once. Where two goals overlap both are watched together, for each distance below the first one's length.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from pysmt.fnode import FNode

from bmc.explicit.paths import Arrows
from bmc.explicit.product import Classes
from bmc.explicit.state_graph import StateGraph
from bmc.explicit.vectors import Column
from bmc.system.transition import TransitionSystem
from chaincover.budget import Budget
from chaincover.graph.enumerated_exact import goal_classes, states_in
from chaincover.graph.enumerated_goals import runs_of, watched
from chaincover.graph.explored import Reachable
from chaincover.graph.reachability import Level
from chaincover.graph.small import ONE_BY_ONE
from chaincover.options import Options
from chaincover.weights import END, FINAL, INIT, Edge, ReachGraph
from properties.goal import Goal
from properties.obligations import Obligations, bits

MOST_GOALS = 63
"""Goals that fit into the mask of an arrow."""


class ListedGraphBuilder:
    """As ``chaincover.graph.reachability.GraphBuilder``, from all reachable states: one ``extend`` finds every weight.

    ``listed`` holds the states for these goals and ``final`` or more. ``limit`` is the largest weight told (None: no
    limit); longer ones are lower bounds. An edge without a weight at all has a lower bound above every finite weight.
    """

    def __init__(
        self,
        system: TransitionSystem,
        listed: StateGraph,
        goals: Sequence[Goal],
        final: FNode | None,
        overlap: str = "allow",
        budget: Budget | None = None,
        limit: int | None = None,
    ) -> None:
        self.levels: list[Level] = []
        self.depth = -1
        self.listed, self._goals, self._final = listed, tuple(goals), final
        self._overlap, self._limit = overlap, limit
        self._budget = budget or Budget()
        self._obligations = Obligations(goals, {var.name for var in system.inputs})
        self._arrows = Arrows(listed.steps.offsets, listed.steps.nexts)
        self._weights: dict[Edge, int] = {}
        self._lower: dict[Edge, int] = {}
        self._unsatisfiable: list[str] = []
        self._seconds = 0.0

    @property
    def complete(self) -> bool:
        """Whether no edge is left to ask for, at whatever distance."""
        return self.depth >= 0

    def observe(self, upper: Mapping[Edge, int]) -> None:
        """Nothing is to be learned from runs: every weight is found."""

    def extend(self, to: int | None = None) -> None:
        """Find every weight. LimitReached when the time is over; the call can be repeated."""
        begun = time.monotonic()
        try:
            if not self.complete:
                self._find()
                self.depth = max(self._weights.values(), default=0) if self._limit is None else self._limit
        finally:
            self._seconds += time.monotonic() - begun

    def graph(self) -> ReachGraph:
        """What is known so far."""
        return ReachGraph(
            goals=tuple(goal.name for goal in self._goals),
            end=END if self._final is None else FINAL,
            weights=dict(self._weights),
            lower=dict(self._lower),
            unknown=(),
            unsatisfiable=tuple(self._unsatisfiable),
            depth=self.depth,
            queries=0,
            seconds=self._seconds,
        )

    @cached_property
    def _impossible(self) -> int:
        """Above every finite weight: a shortest way between two goals meets no state twice."""
        return len(self.listed.states) + max((goal.length for goal in self._goals), default=0) + 1

    def _find(self) -> None:
        runs = {number: runs_of(*self._known, number, self._budget.check) for number in range(len(self._goals))}
        possible = [number for number, found in runs.items() if found.starts.size]
        weights, lower = dict[Edge, int](), dict[Edge, int]()
        near = {number: self._near(number) for number in possible} if self._overlap == "allow" else {}
        backward = self._arrows.backward()
        starts = np.array(self.listed.starts, np.int64)
        for target in possible:
            name = self._goals[target].name
            distances = backward.distances(runs[target].starts, self._budget.check)
            self._note(weights, lower, (INIT, name), 0, distances[starts])
            for source in possible:
                if source == target:
                    continue
                goal, edge = self._goals[source], (self._goals[source].name, name)
                if target in near.get(source, {}):
                    self._note(weights, lower, edge, near[source][target], np.zeros(1, np.int32))
                else:
                    self._note(weights, lower, edge, goal.length, distances[runs[source].ends])
        sources = [(self._goals[number].name, self._goals[number].length, runs[number].ends) for number in possible]
        self._to_end(weights, lower, sources if self._goals else [(INIT, 0, starts)], backward)
        self._weights, self._lower = weights, lower
        self._unsatisfiable = [self._goals[number].name for number in runs if number not in possible]

    def _to_end(
        self,
        weights: dict[Edge, int],
        lower: dict[Edge, int],
        sources: Sequence[tuple[str, int, Column]],
        backward: Arrows,
    ) -> None:
        """The edges to the end from ``sources``: name, steps and the states in which they end."""
        if self._final is None:
            weights.update(((name, END), steps) for name, steps, _ in sources)
            lower.update(((name, END), steps) for name, steps, _ in sources)
            return
        distances = backward.distances(np.flatnonzero(states_in(self.listed, self._final)), self._budget.check)
        for name, steps, ends in sources:
            self._note(weights, lower, (name, FINAL), steps, distances[ends])

    def _note(
        self, weights: dict[Edge, int], lower: dict[Edge, int], edge: Edge, before: int, distances: Column
    ) -> None:
        """An edge of ``before`` steps and the least of ``distances`` (-1: no way)."""
        ways = distances[distances >= 0]
        lower[edge] = before + int(ways.min()) if ways.size else self._impossible
        if ways.size and (self._limit is None or lower[edge] <= self._limit):
            weights[edge] = lower[edge]

    def _near(self, goal: int) -> dict[int, int]:
        """The other goals that can start while ``goal`` runs, with the least distance."""
        near: dict[int, int] = {}
        for distance in range(self._goals[goal].length):
            found = watched(*self._known, goal, distance, self._budget.check)
            done = int(
                np.bitwise_or.reduce(found.masks, initial=0) | np.bitwise_or.reduce(found.start_masks, initial=0)
            )
            for other in bits(done & ~(1 << goal)):
                near.setdefault(other, distance)
        return near

    @cached_property
    def _known(self) -> tuple[StateGraph, Classes, Obligations]:
        return self.listed, goal_classes(self.listed, self._obligations), self._obligations


def listed_builder(
    reachable: Reachable, goals: Sequence[Goal], final: FNode | None, options: Options, budget: Budget
) -> ListedGraphBuilder | None:
    """A builder from the list of all reachable states, where there is one and it is long.

    None where there is none, or a short one, on which the solver is quick too; or for too many goals.
    """
    listed = reachable.graph if options.exhaust else None
    if listed is None or len(listed.states) <= ONE_BY_ONE or len(goals) > MOST_GOALS:
        return None
    return ListedGraphBuilder(reachable.plain, listed, goals, final, options.overlap, budget, options.bound)
