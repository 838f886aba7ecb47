"""Lightest paths through the graph of accelerated transitions: over all events of the goals, along runs only, or to one
goal.

The searches are A*: the estimate is the exact weight of the way over the farthest missing event to an end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import heappop, heappush
from math import inf

from bmc.records import dataclass
from bmc.system.simulation import Simulator
from bmc.system.transition import Run, Valuation
from chaincover.graph.accelerated import Arc, JumpGraph
from chaincover.graph.counter_groups import Moves
from chaincover.graph.counter_steps import MOST_EVENTS
from chaincover.minimality.product import PORTION
from chaincover.problem import Problem
from properties.goal import Events
from properties.monitor import Monitor

COMPARED = 16
"""A place is compared with so many at the same node that the search has passed, whether one of them dominates it."""

PROGRESSED, SIMULATED = 2, 15
"""An arc with the goals on it takes as long as so many, and so does a step on which they are sought."""

TOLD_APART = 4
"""Steps alike of which goals of one step can tell the first and the last ones apart; more make no difference."""

MOST_PLACES = 400_000
"""Nodes with events covered that a search keeps: some 200 MB. What it has proved until then counts."""


@dataclass(frozen=True)
class Distances:
    """For each node the least weight to an end (``to_end``), and that over each event to an end (``over``)."""

    to_end: Sequence[float]
    over: Sequence[Sequence[float]]


def distances(graph: JumpGraph, events: int, runs: bool) -> Distances:
    """The least weights; ``runs``: by arcs of runs only."""
    arcs: list[tuple[int, Arc]] = [
        (node, arc) for node, out in enumerate(graph.arcs) for arc in out if not runs or arc.moves is not None
    ]
    backward: list[list[tuple[int, int]]] = [[] for _ in range(graph.size)]
    for source, arc in arcs:
        backward[arc.target].append((source, arc.weight))
    to_end = _lightest(backward, {node: 0.0 for node, end in enumerate(graph.ends) if end})
    over = []
    for event in range(events):
        begin: dict[int, float] = {}
        for source, arc in arcs:
            if arc.mask >> event & 1:
                weight = arc.weight + to_end[arc.target]
                if weight < begin.get(source, inf):
                    begin[source] = weight
        over.append(_lightest(backward, begin))
    return Distances(to_end, over)


def _lightest(backward: Sequence[Sequence[tuple[int, int]]], begin: dict[int, float]) -> list[float]:
    found = [inf] * len(backward)
    queue: list[tuple[float, int]] = []
    for node, weight in begin.items():
        found[node] = weight
        heappush(queue, (weight, node))
    while queue:
        weight, node = heappop(queue)
        if weight > found[node]:
            continue
        for source, step in backward[node]:
            if weight + step < found[source]:
                found[source] = weight + step
                heappush(queue, (weight + step, source))
    return found


Place = tuple[int, ...]
"""A node, and what is covered, as bits."""


class PathSearch:
    """A* over places, from ``start`` to an end where all of ``everything`` (as bits) is covered.

    ``lower`` is the proved bound so far; ``path`` is there once it is found; where the search is ``finished`` without
    one, there is none. ``work`` counts arcs that could be followed in the same time.
    """

    to_end = True

    def __init__(self, graph: JumpGraph, start: Place, everything: int) -> None:
        self._graph, self._start, self._everything = graph, start, everything
        self.lower: float = 0
        self.finished = False
        self.path: list[Arc] | None = None
        self.work = 0

    def advance(self) -> Iterator[None]:
        """Search; pauses after each portion of work."""
        ends, everything = self._graph.ends, self._everything
        best: dict[Place, float] = {self._start: 0}
        before: dict[Place, tuple[Place, Arc]] = {}
        passed: dict[Place, list[tuple[int, float]]] = {}
        estimate, pause = self._estimate(self._start), PORTION
        queue = [(estimate, 0.0, self._start)] if estimate < inf else []
        while queue:
            total, back, place = heappop(queue)
            if -back > best[place] or _dominated(passed.get(place[:-1], ()), place[-1], -back):
                continue
            here = passed.setdefault(place[:-1], [])
            if len(here) < COMPARED:
                here.append((place[-1], -back))
            self.lower = max(self.lower, total)
            if place[-1] == everything and (ends[place[0]] or not self.to_end):
                self.path = _traced(before, place)
                break
            for arc, key in self._onward(place):
                weight = arc.weight - back
                if weight < best.get(key, inf) and not _dominated(passed.get(key[:-1], ()), key[-1], weight):
                    ahead = self._estimate(key)
                    if ahead < inf:
                        best[key], before[key] = weight, (place, arc)
                        heappush(queue, (weight + ahead, -weight, key))
            if self.work >= pause:
                pause += PORTION
                yield
            if len(best) > MOST_PLACES:
                return
        self.finished = True

    def _estimate(self, place: Place) -> float:
        """A bound on the weight from ``place`` to an end."""
        raise NotImplementedError

    def _onward(self, place: Place) -> Iterator[tuple[Arc, Place]]:
        """The arcs from ``place``, with the places that they lead to."""
        raise NotImplementedError


def _dominated(passed: Sequence[tuple[int, float]], mask: int, weight: float) -> bool:
    """Whether the search has passed the same node with no more weight and no fewer events."""
    return any(not mask & ~other and earlier <= weight for other, earlier in passed)


class LightestPath(PathSearch):
    """The lightest path from the start through all of ``events`` (as bits) to an end."""

    def __init__(self, graph: JumpGraph, events: int, ahead: Distances) -> None:
        super().__init__(graph, (0, graph.begun & events), events)
        self._ahead = ahead

    def _onward(self, place: Place) -> Iterator[tuple[Arc, Place]]:
        node, mask = place
        arcs = self._graph.arcs[node]
        self.work += len(arcs) + 1
        for arc in arcs:
            yield arc, (arc.target, mask | arc.mask & self._everything)

    def _estimate(self, place: Place) -> float:
        node, mask = place
        least, missing, over = self._ahead.to_end[node], self._everything & ~mask, self._ahead.over
        while missing:
            low = missing & -missing
            least = max(least, over[low.bit_length() - 1][node])
            missing ^= low
        return least


class NearestRun(PathSearch):
    """The shortest run along arcs of ``graph`` from a node to one of the events ``missing``; none: to an end."""

    def __init__(self, graph: JumpGraph, node: int, missing: int) -> None:
        super().__init__(graph, (node, 0), int(missing > 0))
        self._missing, self.to_end = missing, not missing

    def _onward(self, place: Place) -> Iterator[tuple[Arc, Place]]:
        arcs = self._graph.arcs[place[0]]
        self.work += len(arcs) + 1
        for arc in arcs:
            if arc.moves is not None:
                yield arc, (arc.target, int(arc.mask & self._missing > 0))

    def _estimate(self, place: Place) -> float:
        return 0.0


class ShortestRun(PathSearch):
    """The shortest run along arcs of ``graph`` that covers all goals of ``problem``, whole, and gets to an end.

    ``ahead`` are the distances by arcs of runs.
    """

    def __init__(self, graph: JumpGraph, problem: Problem, ahead: Distances) -> None:
        self._ahead, self._numbers = ahead, {name: number for number, name in enumerate(problem.names)}
        of_goal = Events.of(problem.goals, problem.system).of_goal
        self._events = [[event for event in of_goal[goal.name] if event < MOST_EVENTS] for goal in problem.goals]
        self._simulator, self._monitor = Simulator(graph.system), Monitor(problem.goals)
        self._completed: dict[tuple[int, Moves], int] = {}
        begun = self._among(Run((graph.state(0),), ()))
        super().__init__(graph, (0, begun), (1 << len(problem.goals)) - 1)

    def _onward(self, place: Place) -> Iterator[tuple[Arc, Place]]:
        node, covered = place
        arcs = self._graph.arcs[node]
        self.work += PROGRESSED * (len(arcs) + 1)
        for arc in arcs:
            if arc.moves is not None:
                yield arc, (arc.target, covered | self._on(node, arc.target, arc.moves))

    def _estimate(self, place: Place) -> float:
        node, covered = place
        least = self._ahead.to_end[node]
        for goal, events in enumerate(self._events):
            if not covered >> goal & 1:
                least = max([least, *(self._ahead.over[event][node] for event in events)])
        return least

    def _on(self, node: int, target: int, moves: Moves) -> int:
        """The goals that are completed along an arc, as bits; of many steps alike only so many are looked at as goals
        can tell apart."""
        key = node, moves
        if key not in self._completed:
            states, inputs = [self._graph.state(node)], list[Valuation]()
            for sequence, count in moves:
                for choice in sequence * min(count, TOLD_APART):
                    inputs.append(self._graph.inputs[choice])
                    states.append(self._simulator.step(states[-1], inputs[-1]))
            states[-1] = self._graph.state(target)
            self._completed[key] = self._among(Run(tuple(states), tuple(inputs)))
            self.work += SIMULATED * len(inputs)
        return self._completed[key]

    def _among(self, run: Run) -> int:
        """The goals that ``run`` covers, as bits."""
        return sum(1 << self._numbers[name] for name, steps in self._monitor.covered(run).items() if steps)


def _traced(before: Mapping[Place, tuple[Place, Arc]], key: Place) -> list[Arc]:
    path = []
    while key in before:
        key, arc = before[key]
        path.append(arc)
    return path[::-1]
