"""The sets of goals that one run covers, where the reachable states are enumerated."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import field
from math import inf
from typing import overload

import numpy as np

from bmc.evaluation.vectors import Column
from bmc.explicit.state_graph import UNREACHED, StateGraph
from bmc.records import dataclass
from bmc.system.transition import Run
from chaincover.graph.enumerated_goals import Check, states_in
from chaincover.graph.goal_product import goal_product, largest_sets
from chaincover.graph.product import MEMORY, Found, ProductSearch
from chaincover.problem import Problem


@dataclass(frozen=True, slots=True)
class Cover:
    """One run from init to the end covers ``goals`` in ``length`` steps; no run covers them in fewer."""

    goals: frozenset[str]
    length: int


@dataclass(frozen=True)
class Exhaustion:
    """What a search for coverable sets found; what it did not find does not exist, if it is ``complete``.

    ``covers`` are, by rising length, the sets of goals that one run covers, unless a superset takes no more steps.
    ``runs`` holds a run for each of them. ``states`` reachable states, ``nodes`` of the search; ``work`` is what it
    took. ``measured``: the lengths are the least ones; else they are 0, and there are no runs.
    """

    states: int
    nodes: int
    covers: tuple[Cover, ...]
    runs: Sequence[Run] = field(repr=False)
    complete: bool = True
    work: float = 0.0
    measured: bool = True

    def least(self, goals: Collection[str]) -> Run | None:
        """A shortest run that covers at least ``goals`` and ends in the final condition; None: none was found."""
        wanted = frozenset(goals)
        fitting = (place for place, cover in enumerate(self.covers) if wanted <= cover.goals)
        place = next(fitting, None)
        return None if place is None else self.runs[place]


class CoverableSets(ProductSearch):
    """All sets of goals that one run to an end covers, by rising length, unless a superset takes no more steps.

    ``found`` has those found so far, each with its least length; they are all once the search is ``finished``.
    """

    COMPARED = 64
    """So many of the largest sets found are compared with what a node can still cover, to leave it out."""

    def __init__(self, problem: Problem, graph: StateGraph, check: Check = lambda: None, memory: int = MEMORY) -> None:
        super().__init__(problem, graph, check, memory)
        self.found: list[Found] = []
        self._largest: list[int] = []

    def _running(self) -> Iterator[bool]:
        self.found, self._largest = [], []
        if not self._prepare():
            return
        yield True
        while self._waiting:
            numbers = self._next(inf)
            for found in sorted(self._ends_among(numbers), key=_by_size):
                self.work += 1 + len(self._largest) // 64
                if all(found.covered & ~known for known in self._largest):
                    self.found.append(found)
                    self._largest = [known for known in self._largest if known & ~found.covered] + [found.covered]
                    self._note(found)
            self._largest.sort(key=lambda known: (-known.bit_count(), known))
            yield from self._follow(numbers)
            if self.given_up:
                return

    def _worth(self, places: Column, covered: Sequence[Column]) -> Column:
        good = np.ones(len(places), bool)
        reach = [word | possible[places] for word, possible in zip(covered, self._around.possible, strict=True)]
        for known in self._largest[: self.COMPARED]:
            adds = np.zeros(len(places), bool)
            for word, has in zip(reach, self._around.layout.split(known), strict=True):
                adds |= (word & ~np.uint64(has)) != 0
            good &= adds
        return good

    def _estimate(self, places: Column, covered: Sequence[Column]) -> Column:
        return np.zeros(len(places), np.int64)


class LargestSet(ProductSearch):
    """The shortest run to an end that covers as many goals as any: ``found``, once the search is ``finished``.

    ``sets`` are the largest sets of goals that one run covers, at ``least`` so many, found on the graph of components;
    None where that is too large. Where there is but one there is no search.
    """

    CHUNK = 1 << 14
    """Some so many nodes are expanded together."""

    def __init__(
        self, problem: Problem, graph: StateGraph, least: int, check: Check = lambda: None, memory: int = MEMORY
    ) -> None:
        super().__init__(problem, graph, check, memory)
        self._least = least
        self.sets: tuple[int, ...] | None = None
        self.found: Found | None = None

    def _running(self) -> Iterator[bool]:
        if not self._prepare():
            return
        yield True
        sets = largest_sets(self._around.product, self._around.ends, self._least)
        if sets is None:
            self.given_up = "there are too many components of states, or sets of goals"
            return
        number = max((goals.bit_count() for goals in sets), default=0)
        self.sets = tuple(goals for goals in sets if goals.bit_count() == number)
        while len(self.sets) > 1 and self._waiting:
            numbers = self._next(self.CHUNK)
            for found in self._ends_among(numbers):
                if found.covered.bit_count() >= number:
                    self.found = found
                    return
            yield from self._follow(numbers)
            if self.given_up:
                return

    def _worth(self, places: Column, covered: Sequence[Column]) -> Column:
        good = np.zeros(len(places), bool)
        for goals in self.sets or [0]:
            good |= self._can_cover(places, covered, goals)
        return good

    def _estimate(self, places: Column, covered: Sequence[Column]) -> Column:
        missing = 1 - self._around.layout.each(covered)
        alone = self._around.to_complete[places] * missing
        least = np.full(len(places), UNREACHED, np.int64)
        for goals in self.sets or [0]:
            own = [goal for goal in range(len(self._problem.goals)) if goals >> goal & 1]
            least = np.minimum(least, alone[:, own].max(axis=1, initial=0))
        estimate: Column = np.maximum(least, self._around.to_end[places])
        return estimate


class _Runs(Sequence[Run]):
    """The runs to what a search found, each made when it is asked for."""

    def __init__(self, search: CoverableSets) -> None:
        self._search, self._found = search, tuple(search.found)

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, index: int) -> Run: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Run]: ...
    def __getitem__(self, index: int | slice) -> Run | Sequence[Run]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        return self._search.run_to(self._found[index])


def largest_set(problem: Problem, graph: StateGraph, least: int, work: float, check: Check) -> Exhaustion | None:
    """One of the largest sets of goals that one run covers, by ``work`` units of work: that with the shortest run.

    Its length may be more than is told where no other set has as many goals, or the search does not finish. None where
    the components of the states do not tell the sets, or no run covers at ``least`` so many goals.
    """
    search = LargestSet(problem, graph, least, check)
    search.advance(work)
    if not search.sets:
        return None
    goals, length = (search.sets[0], 0) if search.found is None else (search.found.covered, search.found.length)
    cover = Cover(frozenset(name for place, name in enumerate(problem.names) if goals >> place & 1), length)
    return Exhaustion(len(graph.states), search.nodes, (cover,), (), True, search.work)


def maximal_sets(problem: Problem, graph: StateGraph, check: Check) -> Exhaustion | None:
    """The sets of goals that one run covers without those within others, not measured; None where the components of the
    states do not tell them."""
    made = goal_product(problem, graph, check)
    sets = None if made is None else largest_sets(made, states_in(graph, problem.final), 1)
    if made is None or sets is None:
        return None
    names, work = problem.names, len(made.arrows.ends) * (1 + len(problem.goals))
    covers = [frozenset(name for place, name in enumerate(names) if goals >> place & 1) for goals in sets]
    return Exhaustion(
        len(graph.states), made.arrows.size, tuple(Cover(goals, 0) for goals in covers), (), True, work, False
    )


def coverable_sets(problem: Problem, graph: StateGraph, work: float, check: Check = lambda: None) -> Exhaustion:
    """The sets of goals that one run covers, as far as they are found by ``work`` units of work."""
    search = CoverableSets(problem, graph, check)
    search.advance(work)
    names = problem.names
    covers = tuple(
        Cover(frozenset(name for place, name in enumerate(names) if found.covered >> place & 1), found.length)
        for found in search.found
    )
    return Exhaustion(len(graph.states), search.nodes, covers, _Runs(search), search.finished, search.work)


def _by_size(found: Found) -> tuple[int, int]:
    return -found.covered.bit_count(), found.covered
