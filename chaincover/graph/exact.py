"""The sets of goals that one run covers, where the reachable states are enumerated."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import overload

from bmc.explicit.state_graph import StateGraph
from bmc.system.run import Run
from chaincover.graph.goal_runs import Check
from chaincover.graph.product import CoverableSets
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
    took.
    """

    states: int
    nodes: int
    covers: tuple[Cover, ...]
    runs: Sequence[Run] = field(repr=False)
    complete: bool = True
    work: float = 0.0

    def least(self, goals: Collection[str]) -> Run | None:
        """A shortest run that covers at least ``goals`` and ends in the final condition; None: none was found."""
        wanted = frozenset(goals)
        fitting = (place for place, cover in enumerate(self.covers) if wanted <= cover.goals)
        place = next(fitting, None)
        return None if place is None else self.runs[place]


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
