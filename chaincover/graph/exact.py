"""Exact answers where the reachable states are enumerated: shortest runs, and the sets of goals that a run covers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import overload

from pysmt.fnode import FNode

from bmc.explicit.state_graph import StateGraph
from bmc.system.hold import boundary
from bmc.system.run import Run
from chaincover.graph.goal_runs import Check
from chaincover.graph.product import CoverableSets, ShortestRun
from chaincover.options import Options
from chaincover.problem import Problem
from chaincover.weights import ReachGraph, obstacles, transitive_closure

WORK_PER_NODE = 300
"""Units of work for each node that the option ``exhaust`` allows."""

MOST_PAIRS = 200
"""Pairs of goals of which it is found out whether they exclude each other."""


@dataclass(frozen=True, slots=True)
class Cover:
    """One run from init to the end covers ``goals`` in ``length`` steps; no run covers them in fewer."""

    goals: frozenset[str]
    length: int


@dataclass(frozen=True)
class Exhaustion:
    """What a search for coverable sets found; what it did not find does not exist, if it is ``complete``.

    ``covers`` are, by rising length, the sets of goals that one run covers, unless a superset takes no more steps.
    ``runs`` holds a run for each of them. ``states`` reachable states, ``nodes`` of the search.
    """

    states: int
    nodes: int
    covers: tuple[Cover, ...]
    runs: Sequence[Run] = field(repr=False)
    complete: bool = True

    def least(self, goals: Collection[str]) -> Run | None:
        """A shortest run that covers at least ``goals`` and ends in the final condition; None: none was found."""
        wanted = frozenset(goals)
        fitting = (place for place, cover in enumerate(self.covers) if wanted <= cover.goals)
        place = next(fitting, None)
        return None if place is None else self.runs[place]


@dataclass(frozen=True, slots=True)
class Least:
    """``run``: a shortest one over all goals to the end; None: proved to be none. ``states``, ``nodes``: the effort."""

    run: Run | None
    states: int
    nodes: int


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
    return Exhaustion(len(graph.states), search.nodes, covers, _Runs(search), search.finished)


def shortest_run(problem: Problem, graph: StateGraph, work: float, check: Check = lambda: None) -> Least | None:
    """A shortest run over all goals of ``problem``, or that there is none; None where ``work`` does not suffice."""
    search = ShortestRun(problem, graph, check)
    search.advance(work)
    if not search.finished:
        return None
    run = None if search.found is None else search.run_to(search.found)
    return Least(run, len(graph.states), search.nodes)


def work_of(options: Options) -> int:
    """The units of work that the options allow for one answer."""
    return WORK_PER_NODE * options.exhaust


class ExactSearch:
    """Answers about sets of goals of ``problem``; each may take ``work`` units of work, and is remembered.

    ``states`` gives the states for the goals and the final condition, None where they are too many; it is called
    when the first question is asked. ``check`` is called now and then during a search and may raise LimitReached.
    """

    def __init__(
        self, problem: Problem, states: Callable[[], StateGraph | None], work: int, check: Check = lambda: None
    ) -> None:
        self._problem, self._states, self._work, self._check = problem, states, work, check
        self._least: dict[tuple[frozenset[str], bool], Least | None] = {}

    def least(self, names: Collection[str], to_end: bool = True) -> Least | None:
        """A shortest run over the goals ``names``, or that there is none; None where that takes too much.

        ``to_end``: the run must end in the final condition.
        """
        key = (frozenset(names), to_end)
        if key not in self._least:
            self._least[key] = self._search(names, self._problem.final) if to_end else self._anywhere(names)
        return self._least[key]

    def covers(self, names: Collection[str]) -> Exhaustion | None:
        """The sets of the goals ``names`` that one run covers; None where the states are too many."""
        graph = self._states() if self._work else None
        return None if graph is None else coverable_sets(self._problem.of(names), graph, self._work, self._check)

    def apart(self, graph: ReachGraph) -> frozenset[frozenset[str]]:
        """The pairs of goals between which ``graph`` has no way yet and of which it is proved that none has both."""
        pairs = obstacles(graph, transitive_closure(graph)).exclusive[:MOST_PAIRS]
        answers = ((pair, self.least(pair)) for pair in pairs)
        return frozenset(frozenset(pair) for pair, exact in answers if exact is not None and exact.run is None)

    def _anywhere(self, names: Collection[str]) -> Least | None:
        """A shortest run over ``names`` that may end anywhere; where inputs are held, the end of a held step is tried
        first, because that is faster."""
        held = boundary(self._problem.system, None)
        found = None if held is None else self._search(names, held)
        return found if found is not None and found.run is not None else self._search(names, None)

    def _search(self, names: Collection[str], final: FNode | None) -> Least | None:
        graph = self._states() if self._work else None
        if graph is None:
            return None
        chosen = self._problem.of(names)
        problem = Problem(chosen.system, chosen.goals, final, chosen.overlap)
        return shortest_run(problem, graph, self._work, self._check)
