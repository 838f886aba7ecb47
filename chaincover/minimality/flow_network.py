"""The network of the covering flow: which steps a chain can take, and which goals each of them covers.

A chain is a walk from a start to an end; counting how often it takes each step makes it a flow of one unit that hangs
together and covers every goal. A flow that hangs together is a walk again (Euler).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from bmc.explicit.state_graph import UNREACHED
from bmc.explicit.vectors import Column
from bmc.records import dataclass
from chaincover.graph.goal_product import GoalProduct
from chaincover.orderings.mip import TINY, VIOLATED, Capacities
from properties.progression import bits

Arc = tuple[int, int, int]
"""From one node to another one, with the goals covered on arrival, as bits."""


@dataclass(frozen=True)
class Cut:
    """Whoever covers ``goal`` enters ``inside``, or covers it outside: ``columns`` are the variables of which one is
    positive then."""

    goal: int
    inside: frozenset[int]
    columns: tuple[int, ...]


class _Grouped:
    """The places in ``values`` of each value, rising: in arrays, for there are many places."""

    def __init__(self, values: Column) -> None:
        self._order = np.argsort(values, kind="stable").astype(np.int32)
        self._first = np.concatenate([[0], np.cumsum(np.bincount(values))])

    def __getitem__(self, value: int) -> list[int]:
        if value + 1 >= len(self._first):
            return []
        places: list[int] = self._order[self._first[value] : self._first[value + 1]].tolist()
        return places


AT_ONCE = 1 << 14
"""Arcs that are numbers of Python together."""


def _arcs(columns: Sequence[Column], sets: Sequence[int]) -> Iterator[Arc]:
    """The arcs of ``columns`` (tail, rising; head; number in ``sets``), without those of which another one covers
    all."""
    between: dict[int, set[int]] = {}
    before = -1
    for first in range(0, len(columns[0]), AT_ONCE):
        for tail, head, mask in zip(*(column[first : first + AT_ONCE].tolist() for column in columns), strict=True):
            if tail != before:
                yield from _undominated(before, between)
                between, before = {}, tail
            between.setdefault(head, set()).add(sets[mask])
    yield from _undominated(before, between)


def _undominated(tail: int, between: Mapping[int, set[int]]) -> Iterator[Arc]:
    """The arcs from ``tail``, by head the sets of goals covered ``between``."""
    for head, sets in between.items():
        for covered in sorted(sets):
            if (covered or tail != head) and not any(covered & ~other == 0 for other in sets if other != covered):
                yield tail, head, covered


class Network:
    """Nodes are numbered anew; ``nodes`` are their numbers in the goal product, ``states`` the states that they are in.

    The columns of the flow are the ``arcs``, then the ``starts`` (node, goals covered there) and the ``ends`` (nodes).
    Of arcs between the same two nodes those are left out whose goals another one covers too.
    """

    def __init__(self, made: GoalProduct, ends: Column, goals: int) -> None:
        product = made.product
        arrows = product.arrows
        forward = arrows.distances(product.starts) < UNREACHED
        useful = forward & (arrows.backward().distances(np.flatnonzero(ends)) < UNREACHED)
        number = np.cumsum(useful) - 1
        sources = np.repeat(np.arange(arrows.size), np.diff(arrows.offsets))
        kept = np.flatnonzero(useful[sources] & useful[arrows.ends])
        columns = number[sources[kept]], number[arrows.ends[kept]], product.masks[kept].astype(np.int64)
        self.goals = goals
        self.nodes = np.flatnonzero(useful)
        self.states: list[int] = product.states[self.nodes].tolist()
        self._in_state = _Grouped(product.states[self.nodes])
        self.arcs: list[Arc] = list(_arcs(columns, made.sets))
        self.starts = [
            (int(number[node]), made.sets[int(mask)])
            for node, mask in zip(product.starts.tolist(), product.start_masks.tolist(), strict=True)
            if useful[node]
        ]
        self.ends = number[np.flatnonzero(ends & useful)].tolist()
        self._leaving = _Grouped(np.fromiter((tail for tail, _, _ in self.arcs), np.int32, len(self.arcs)))
        self._entering = _Grouped(np.fromiter((head for _, head, _ in self.arcs), np.int32, len(self.arcs)))
        self.covering: list[list[int]] = [[] for _ in range(goals)]
        for place, (_, _, covered) in enumerate(self.arcs):
            for goal in bits(covered):
                self.covering[goal].append(place)
        self._beginning: dict[int, list[int]] = {}
        for place, (node, covered) in enumerate(self.starts, len(self.arcs)):
            self._beginning.setdefault(node, []).append(place)
            for goal in bits(covered):
                self.covering[goal].append(place)
        self._ending = {node: place for place, node in enumerate(self.ends, len(self.arcs) + len(self.starts))}

    @property
    def size(self) -> int:
        """The number of columns."""
        return len(self.arcs) + len(self.starts) + len(self.ends)

    def balance(self, node: int) -> dict[int, float]:
        """What enters ``node`` less what leaves it, by columns."""
        row: dict[int, float] = {}
        for place in self._entering[node]:
            row[place] = row.get(place, 0.0) + 1.0
        for place in self._leaving[node]:
            row[place] = row.get(place, 0.0) - 1.0
        row.update(dict.fromkeys(self._beginning.get(node, ()), 1.0))
        if node in self._ending:
            row[self._ending[node]] = -1.0
        return {place: factor for place, factor in row.items() if factor}

    def cut(self, goal: int, nodes: Iterable[int]) -> Cut:
        """The cut for ``goal`` around the states of ``nodes``."""
        inside = frozenset(node for state in {self.states[n] for n in nodes} for node in self._in_state[state])
        columns = {place for node in inside for place in self._entering[node] if self.arcs[place][0] not in inside}
        for place in self.covering[goal]:
            if place >= len(self.arcs) or self.arcs[place][0] not in inside:
                columns.add(place)
        columns |= {place for place, (node, _) in enumerate(self.starts, len(self.arcs)) if node in inside}
        return Cut(goal, inside, tuple(sorted(columns)))

    # what a flow misses

    def parts(self, flow: Column) -> list[set[int]]:
        """The nodes of each part of ``flow`` that does not hang together with a start, each part by itself."""
        around: dict[int, list[int]] = {}
        for place in np.flatnonzero(flow[: len(self.arcs)] > TINY).tolist():
            tail, head, _ = self.arcs[place]
            around.setdefault(tail, []).append(head)
            around.setdefault(head, []).append(tail)
        met = {node for place, (node, _) in enumerate(self.starts, len(self.arcs)) if flow[place] > TINY}
        _spread(met, around)
        parts = []
        for node in around:
            if node not in met:
                part = {node}
                _spread(part, around)
                met |= part
                parts.append(part)
        return parts

    def violated(self, flow: Column) -> list[Cut]:
        """Cuts that ``flow`` misses: parts of it that do not hang together, else the least cuts for each goal."""
        found: dict[tuple[int, ...], Cut] = {}
        parts = self.parts(flow)
        whole, used = set().union(*parts), [self.arcs[place] for place in self._used(flow)]
        for part in [*parts, *([whole] if len(parts) > 1 else [])]:
            own = {goal for tail, _, covered in used if tail in part for goal in bits(covered)}
            for goal in sorted(own):
                self._add(found, flow, self.cut(goal, part))
        if not found:
            support = _Support(self, flow)
            for goal in range(self.goals):
                for inside in support.least_cuts(goal):
                    self._add(found, flow, self.cut(goal, inside))
        return list(found.values())

    def _used(self, flow: Column) -> list[int]:
        used: list[int] = np.flatnonzero(flow[: len(self.arcs)] > TINY).tolist()
        return used

    def _add(self, found: dict[tuple[int, ...], Cut], flow: Column, cut: Cut) -> None:
        if flow[list(cut.columns)].sum() < 1 - VIOLATED:
            found.setdefault(cut.columns, cut)

    # walks

    def walk(self, flow: Column) -> list[int] | None:
        """The arcs of a walk, in order, that takes each arc as often as the integer ``flow`` says.

        Parts that do not hang together are joined by shortest detours. None where there is no way.
        """
        times = {place: round(float(flow[place])) for place in self._used(flow)}
        times = {place: count for place, count in times.items() if count > 0}
        begin = next(node for place, (node, _) in enumerate(self.starts, len(self.arcs)) if flow[place] > 0.5)
        while True:
            counted = np.zeros(self.size)
            counted[list(times)] = list(times.values())
            counted[[len(self.arcs) + n for n, (node, _) in enumerate(self.starts) if node == begin][:1]] = 1
            parts = self.parts(counted)
            if not parts:
                return self._circuit(begin, times)
            walked = {begin, *(node for place in times for node in self.arcs[place][:2])}
            detour = self._detour(walked.difference(*parts), parts)
            if detour is None:
                return None
            for place in detour:
                times[place] = times.get(place, 0) + 1

    def _circuit(self, begin: int, times: Mapping[int, int]) -> list[int]:
        """Hierholzer's walk."""
        left: dict[int, list[int]] = {}
        for place in sorted(times, reverse=True):
            left.setdefault(self.arcs[place][0], []).extend([place] * times[place])
        stack, walk = [(begin, -1)], list[int]()
        while stack:
            node, came = stack[-1]
            if left.get(node):
                place = left[node].pop()
                stack.append((self.arcs[place][1], place))
            else:
                stack.pop()
                if came >= 0:
                    walk.append(came)
        return walk[::-1]

    def _detour(self, walked: Iterable[int], parts: Sequence[set[int]]) -> list[int] | None:
        """A short way from a node that is walked to one of ``parts`` and back: the nearest part, from its best side."""
        begin = [*walked]
        there, back = self._ways(begin, self._leaving, 1), self._ways(begin, self._entering, 0)
        goals = [goal for goal in set().union(*parts) if goal in there and goal in back]
        if not goals:
            return None
        goal = min(goals, key=lambda node: (there[node][0] + back[node][0], node))
        there, back = self._ways([goal], self._entering, 0), self._ways([goal], self._leaving, 1)
        both = [(there[node][0] + back[node][0], node) for node in begin if node in there and node in back]
        if not both:
            return None
        node = min(both)[1]
        return [*_steps(self, there, node, 1), *_steps(self, back, node, 0)[::-1]]

    def _ways(self, nodes: Iterable[int], arcs: _Grouped, far: int) -> dict[int, tuple[int, int]]:
        """For each node the number of steps from the nearest of ``nodes`` (or to it), and the arc next to the
        former."""
        found = dict.fromkeys(sorted(nodes), (0, -1))
        todo = deque(found)
        while todo:
            here = todo.popleft()
            for place in arcs[here]:
                after = self.arcs[place][far]
                if after not in found:
                    found[after] = found[here][0] + 1, place
                    todo.append(after)
        return found


def _steps(network: Network, ways: Mapping[int, tuple[int, int]], node: int, side: int) -> list[int]:
    """The arcs from ``node`` to where ``ways`` begin; ``side``: the end of an arc that is nearer to there."""
    found = []
    while ways[node][1] >= 0:
        found.append(ways[node][1])
        node = network.arcs[ways[node][1]][side]
    return found


def _spread(met: set[int], around: Mapping[int, Iterable[int]]) -> None:
    """Add to ``met`` what can be reached from it."""
    todo = list(met)
    while todo:
        for after in around.get(todo.pop(), ()):
            if after not in met:
                met.add(after)
                todo.append(after)


class _Support:
    """The part of a network that a flow uses, for least cuts between the starts and a goal."""

    _SOURCE = -1

    def __init__(self, network: Network, flow: Column) -> None:
        self._network, self._graph = network, Capacities()
        self._middle: dict[int, int] = {}
        starts = len(network.arcs)
        for place in np.flatnonzero(flow > TINY).tolist():
            capacity = float(flow[place])
            if place < starts:
                tail, head, covered = network.arcs[place]
                if not covered:
                    self._graph.connect(tail, head, capacity)
                    continue
                middle = self._middle[place] = -2 - place
                self._graph.connect(tail, middle, capacity)
                self._graph.connect(middle, head, capacity)
            elif place < starts + len(network.starts):
                self._graph.connect(self._SOURCE, network.starts[place - starts][0], capacity)

    def least_cuts(self, goal: int) -> list[frozenset[int]]:
        """The nodes behind the least cuts between the starts and ``goal``, if less than one unit passes: all, and few.

        Nothing where a start covers the goal, or some flow of one unit gets there.
        """
        network = self._network
        if any(covered >> goal & 1 for _, covered in network.starts):
            return []
        sinks = [self._middle[place] for place in network.covering[goal] if place in self._middle]
        cuts = self._graph.least_cuts(self._SOURCE, sinks)
        if cuts is None:
            return []
        far = frozenset(range(len(network.nodes))) - cuts[0]
        near = frozenset(node for node in cuts[1] if node >= 0)
        return [far] if near == far else [far, near]
