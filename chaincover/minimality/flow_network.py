"""The network of the covering flow: which steps a chain can take, and which goals each of them covers.

A chain is a walk from a start to an end; counting how often it takes each step makes it a flow of one unit that hangs
together and covers every goal. A flow that hangs together is a walk again (Euler). Several chains are a flow of as many
units: with an arc back from the ends to the starts they are one walk that goes round.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from bmc.evaluation.vectors import Column
from bmc.explicit.rows import distinct
from bmc.explicit.state_graph import UNREACHED, Arrows
from bmc.records import dataclass
from chaincover.graph.enumerated_goals import bits
from chaincover.graph.goal_product import Product
from chaincover.orderings.mip import TINY, VIOLATED, Capacities

Arc = tuple[int, int, int]
"""From one node to another one, with the goals covered on arrival, as bits."""


@dataclass(frozen=True, eq=False)
class Cut:
    """Whoever covers ``goal`` enters nodes, or covers it outside of them: one of ``columns`` is positive then.

    ``packed``: for each node whether it is one of those that are entered, bit by bit.
    """

    goal: int
    packed: Column
    columns: Column

    @property
    def key(self) -> bytes:
        """Alike for cuts that ask for the same."""
        return self.columns.tobytes()


def _undominated(columns: Sequence[Column], sets: Sequence[int]) -> list[Column]:
    """The arcs of ``columns`` (tail; head; number in ``sets``), rising, without those of which another one covers all,
    and without loops that cover nothing."""
    nodes = 1 + max(int(column.max(initial=0)) for column in columns[:2])
    keys = distinct((columns[0].astype(np.int64) * nodes + columns[1]) * len(sets) + columns[2].astype(np.int64))
    pairs, numbers = keys // len(sets), (keys % len(sets)).astype(np.int32)
    del keys
    empty = np.array([not covered for covered in sets])
    kept = ~empty[numbers] | (pairs // nodes != pairs % nodes)
    apart = 1
    while True:  # each arc beside the one that lies so far behind it, while some are between the same two nodes
        places = np.flatnonzero(pairs[apart:] == pairs[:-apart])
        if not len(places):
            break
        both, which = np.unique(
            numbers[places].astype(np.int64) * len(sets) + numbers[places + apart], return_inverse=True
        )
        one, other = (np.array([sets[int(number)] for number in part], object) for part in np.divmod(both, len(sets)))
        kept[places[(one & ~other == 0)[which]]] = False
        kept[places[(other & ~one == 0)[which]] + apart] = False
        apart += 1
    pairs, numbers = pairs[kept], numbers[kept]
    return [(pairs // nodes).astype(np.int32), (pairs % nodes).astype(np.int32), numbers]


class Network:
    """Nodes are numbered anew; ``nodes`` are their numbers in the goal product, ``states`` the states that they are in.

    The columns of the flow are the arcs, then the ``starts`` (node, goals covered there) and the ``ends`` (nodes). Of
    arcs between the same two nodes those are left out whose goals another one covers too. As there are many arcs they
    are kept in arrays: ``tails``, ``heads`` and, as numbers in ``sets``, the goals that are ``covered`` on arrival.
    ``leaving`` are the arcs of each node, ``entering`` those into it; ``covering`` are the columns that cover a goal.
    """

    def __init__(self, made: Product, ends: Column, goals: int) -> None:
        useful = _useful(made.arrows, made.starts, ends)
        number = (np.cumsum(useful) - 1).astype(np.int32)
        sources = np.repeat(np.arange(made.arrows.size, dtype=np.int32), np.diff(made.arrows.offsets))
        kept = np.flatnonzero(useful[sources] & useful[made.arrows.ends])
        columns = number[sources[kept]], number[made.arrows.ends[kept]], made.masks[kept]
        self.nodes = np.flatnonzero(useful).astype(np.int32)
        self.states: Column = self.nodes
        self.goals, self._sets = goals, made.sets
        del sources, kept
        self.tails, heads, self.covered = _undominated(columns, made.sets)
        del columns
        self.leaving = Arrows(np.searchsorted(self.tails, np.arange(len(self.nodes) + 1, dtype=np.int32)), heads)
        self.entering = self.leaving.backward()
        self.starts = [
            (int(number[node]), made.sets[int(mask)])
            for node, mask in zip(made.starts.tolist(), made.start_masks.tolist(), strict=True)
            if useful[node]
        ]
        self.ends: Column = number[np.flatnonzero(ends & useful)]
        self.covering = [self._covering(goal) for goal in range(goals)]

    def _covering(self, goal: int) -> Column:
        has = np.array([bool(covered >> goal & 1) for covered in self._sets])
        starts = [len(self.tails) + place for place, (_, covered) in enumerate(self.starts) if covered >> goal & 1]
        return np.concatenate([np.flatnonzero(has[self.covered]), starts]).astype(np.int32)

    @property
    def heads(self) -> Column:
        """Where each arc goes."""
        return self.leaving.ends

    @property
    def size(self) -> int:
        """The number of columns."""
        return len(self.tails) + len(self.starts) + len(self.ends)

    def arc(self, place: int) -> Arc:
        """One of the arcs."""
        return int(self.tails[place]), int(self.heads[place]), self._sets[int(self.covered[place])]

    def cut(self, goal: int, nodes: Iterable[int]) -> Cut:
        """The cut for ``goal`` around the states of ``nodes``."""
        marked = np.zeros(int(self.states.max()) + 1, bool)
        marked[self.states[list(nodes)]] = True
        inside = marked[self.states]
        crossed = np.zeros(self.size, bool)
        crossed[self.covering[goal]] = True
        arcs = len(self.tails)
        crossed[:arcs] = ~inside[self.tails] & (crossed[:arcs] | inside[self.heads])
        crossed[arcs : arcs + len(self.starts)] |= inside[[node for node, _ in self.starts]]
        return Cut(goal, np.packbits(inside), np.flatnonzero(crossed).astype(np.int32))

    def inside(self, cut: Cut) -> Column:
        """The states that whoever covers the goal of ``cut`` enters, rising."""
        return distinct(self.states[np.unpackbits(cut.packed, count=len(self.nodes)).astype(bool)])

    # what a flow misses

    def parts(self, flow: Column) -> list[set[int]]:
        """The nodes of each part of ``flow`` that does not hang together with a start, each part by itself."""
        around: dict[int, list[int]] = {}
        for place in self._used(flow):
            tail, head, _ = self.arc(place)
            around.setdefault(tail, []).append(head)
            around.setdefault(head, []).append(tail)
        met = {node for place, (node, _) in enumerate(self.starts, len(self.tails)) if flow[place] > TINY}
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
        found: dict[bytes, Cut] = {}
        parts = self.parts(flow)
        whole, used = set().union(*parts), [self.arc(place) for place in self._used(flow)]
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
        used: list[int] = np.flatnonzero(flow[: len(self.tails)] > TINY).tolist()
        return used

    def _add(self, found: dict[bytes, Cut], flow: Column, cut: Cut) -> None:
        if flow[cut.columns].sum() < 1 - VIOLATED:
            found.setdefault(cut.key, cut)

    # walks

    def walks(self, flow: Column) -> list[list[int]] | None:
        """The columns of walks, each from a start to an end, that take each arc together as often as the integer
        ``flow`` says.

        Parts that do not hang together are joined by shortest detours. None where there is no way.
        """
        times = {place: round(float(flow[place])) for place in np.flatnonzero(flow > TINY).tolist()}
        times = {place: count for place, count in times.items() if count > 0}
        while True:
            counted = np.zeros(self.size)
            counted[list(times)] = list(times.values())
            parts = self.parts(counted)
            if not parts:
                return self._round(times)
            walked = {node for place in times for node in self._nodes(place) if node >= 0}
            detour = self._detour(walked.difference(*parts), parts)
            if detour is None:
                return None
            for place in detour:
                times[place] = times.get(place, 0) + 1

    def _nodes(self, place: int) -> tuple[int, int]:
        """Where a column leads from and to; -1 is outside of all nodes."""
        arcs, starts = len(self.tails), len(self.starts)
        if place < arcs:
            return int(self.tails[place]), int(self.heads[place])
        if place < arcs + starts:
            return -1, self.starts[place - arcs][0]
        return int(self.ends[place - arcs - starts]), -1

    def _round(self, times: Mapping[int, int]) -> list[list[int]]:
        """Hierholzer's walk, from outside of all nodes round and back again, and divided where it comes out."""
        left: dict[int, list[int]] = {}
        for place in sorted(times, reverse=True):
            left.setdefault(self._nodes(place)[0], []).extend([place] * times[place])
        stack, walk = [(-1, -1)], list[int]()
        while stack:
            node, came = stack[-1]
            if left.get(node):
                place = left[node].pop()
                stack.append((self._nodes(place)[1], place))
            else:
                stack.pop()
                if came >= 0:
                    walk.append(came)
        walks = list[list[int]]()
        for place in reversed(walk):
            if self._nodes(place)[0] < 0:
                walks.append([])
            walks[-1].append(place)
        return walks

    def _detour(self, walked: Iterable[int], parts: Sequence[set[int]]) -> list[int] | None:
        """A short way from a node that is walked to one of ``parts`` and back: the nearest part, from its best side."""
        begin = sorted(walked)
        (there, _), (back, _) = ways(self.leaving, begin), ways(self.entering, begin)
        goals = [goal for goal in set().union(*parts) if max(there[goal], back[goal]) < UNREACHED]
        if not goals:
            return None
        goal = min(goals, key=lambda node: (int(there[node]) + int(back[node]), node))
        (there, onward), (back, before) = ways(self.entering, [goal]), ways(self.leaving, [goal])
        both = [
            (int(there[node]) + int(back[node]), node) for node in begin if max(there[node], back[node]) < UNREACHED
        ]
        if not both:
            return None
        node = min(both)[1]
        return [*_steps(onward, self.heads, node), *_steps(before, self.tails, node)[::-1]]


def _useful(arrows: Arrows, starts: Column, ends: Column) -> Column:
    """The nodes on a way from one of ``starts`` to one of the marked ``ends``."""
    found: Column = arrows.distances(starts) < UNREACHED
    found &= arrows.backward().distances(np.flatnonzero(ends)) < UNREACHED
    return found


def ways(arrows: Arrows, nodes: Sequence[int] | Column) -> tuple[Column, Column]:
    """For each node the number of steps from the nearest of ``nodes``, and the last arc on the way, -1 without one.

    ``UNREACHED`` where there is no way.
    """
    distances, last = np.full(arrows.size, UNREACHED, np.int32), np.full(arrows.size, -1, np.int32)
    layer: Column = np.array(nodes, np.int64)
    distances[layer] = depth = 0
    while len(layer):
        depth += 1
        places, _ = arrows.of(layer)
        layer, first = np.unique(arrows.ends[places], return_index=True)
        new = distances[layer] == UNREACHED
        layer, places = layer[new], places[first[new]]
        distances[layer] = depth
        last[layer] = places if arrows.numbers is None else arrows.numbers[places]
    return distances, last


def _steps(last: Column, ends: Column, node: int) -> list[int]:
    """The arcs from ``node`` to where the ways begin whose ``last`` arcs are given; ``ends``: of arcs those nearer to
    there."""
    found = list[int]()
    while last[node] >= 0:
        found.append(int(last[node]))
        node = int(ends[last[node]])
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
        starts = len(network.tails)
        for place in np.flatnonzero(flow > TINY).tolist():
            capacity = float(flow[place])
            if place < starts:
                tail, head, covered = network.arc(place)
                if not covered:
                    self._graph.connect(tail, head, capacity)
                    continue
                middle = self._middle[place] = -2 - place
                self._graph.connect(tail, middle, capacity)
                self._graph.connect(middle, head, capacity)
            elif place < starts + len(network.starts):
                self._graph.connect(self._SOURCE, network.starts[place - starts][0], capacity)

    def least_cuts(self, goal: int) -> list[Iterable[int]]:
        """The nodes behind the least cuts between the starts and ``goal``, if less than one unit passes: all, and few.

        Nothing where a start covers the goal, or some flow of one unit gets there.
        """
        network = self._network
        if any(covered >> goal & 1 for _, covered in network.starts):
            return []
        sinks = [self._middle[place] for place in network.covering[goal].tolist() if place in self._middle]
        cuts = self._graph.least_cuts(self._SOURCE, sinks)
        if cuts is None:
            return []
        far = np.ones(len(network.nodes), bool)
        far[[node for node in cuts[0] if node >= 0]] = False
        near = [node for node in cuts[1] if node >= 0]
        same = len(near) == far.sum() and far[near].all()
        return [np.flatnonzero(far)] if same else [np.flatnonzero(far), near]
