"""Exact chains in large lists of states: breadth first over (state, obligations, goals covered), whole layers at once.

The first node at an end that has all goals lies at the end of a shortest run. Nodes from which the goals that are
missing cannot all be completed on a way to an end are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bmc.explicit.paths import Check
from bmc.explicit.product import Product
from bmc.explicit.rows import Numbering
from bmc.explicit.vectors import Column
from properties.obligations import Arrival, Obligations, bits

MOST_GOALS = 40
"""Goals that a node's number has room for, beside its place."""

DENSE_CELLS = 1 << 28
"""Nodes that may come up, for which a table has a cell each; above that only those that do come up are kept."""

BLOCK = 1 << 20
"""Arrows followed at once."""


Worth = Callable[[Column, Column], Column]
"""Whether to keep nodes, from the goals covered and the places in the product."""


class Watch:
    """What a cover search remembers: the obligations under way. With ``forbid`` goals are credited one by one."""

    def __init__(self, obligations: Obligations, forbid: bool) -> None:
        self._obligations, self._forbid = obligations, forbid

    def start(self, state_class: int) -> Sequence[tuple[Hashable, int]]:
        return self._ways(self._obligations.fresh(state_class), state_class)

    def advance(self, memory: Hashable, input_class: int, state_class: int) -> Sequence[tuple[Hashable, int]]:
        assert isinstance(memory, int)
        return self._ways(self._obligations.advance(memory, input_class, state_class), state_class)

    def _ways(self, arrival: Arrival, state_class: int) -> Sequence[tuple[Hashable, int]]:
        if not self._forbid:
            return [(arrival.pending, arrival.completed)]
        goals, begun = self._obligations.goals, self._obligations.fresh(state_class).pending
        at_once = sum(1 << goal for goal in bits(arrival.completed) if goals[goal].length == 0)
        ways = [1 << goal | at_once for goal in bits(arrival.completed & ~at_once)] or ([at_once] if at_once else [])
        return [*((begun, credited) for credited in ways), (arrival.pending, 0)]


class Visited(Protocol):
    """The nodes met so far, by depth."""

    @property
    def size(self) -> int:
        """How many there are."""

    def add(self, keys: Column, depth: int) -> Column:
        """Those of ``keys`` that are met for the first time, once each, rising."""

    def before(self, keys: Column, depth: int) -> Column:
        """Whether each of ``keys`` was met at a lesser depth."""


class _Table:
    """A depth for each key there can be."""

    def __init__(self, cells: int) -> None:
        self._depths: Column = np.full(cells, np.iinfo(np.uint16).max, np.uint16)
        self.size = 0

    def add(self, keys: Column, depth: int) -> Column:
        if depth >= np.iinfo(self._depths.dtype).max:
            wider = self._depths.astype(np.uint32)
            wider[self._depths == np.iinfo(np.uint16).max] = np.iinfo(np.uint32).max
            self._depths = wider
        unseen = np.iinfo(self._depths.dtype).max
        fresh = np.unique(keys[self._depths[keys] == unseen])
        self._depths[fresh] = depth
        self.size += len(fresh)
        return fresh

    def before(self, keys: Column, depth: int) -> Column:
        return self._depths[keys] < depth


class _Met:
    """The keys that came up, numbered layer by layer."""

    def __init__(self) -> None:
        self._keys = Numbering(1)
        self._first: list[int] = []

    @property
    def size(self) -> int:
        return self._keys.size

    def add(self, keys: Column, depth: int) -> Column:
        while len(self._first) <= depth:
            self._first.append(self._keys.size)
        known = self._keys.size
        different = np.unique(keys)
        return different[self._keys.add([different.astype(np.uint64)]) >= known]

    def before(self, keys: Column, depth: int) -> Column:
        numbers = self._keys.find([keys.astype(np.uint64)])
        return (numbers >= 0) & (numbers < self._first[depth])


@dataclass(frozen=True, slots=True)
class Found:
    """A node: its place in the product, its depth and the goals that are covered there."""

    node: int
    depth: int
    covered: int


class CoverSearch:
    """One search over ``product`` for ``goals`` goals. ``ends``: for each node of the product whether a run may end.

    ``limit`` is the most nodes kept; ``check`` is called now and then.
    """

    def __init__(self, product: Product, goals: int, ends: Column, limit: int, check: Check) -> None:
        self._product, self._bits, self._ends = product, np.int64(goals), ends
        self._limit, self._check = limit, check
        self._back = product.arrows.backward()
        self._to_end = self._back.distances(np.flatnonzero(ends), check)
        self._possible = self._completable(goals)
        self._everything = (1 << goals) - 1
        cells = product.arrows.size << goals
        self._visited: Visited = _Table(cells) if cells <= DENSE_CELLS else _Met()

    @property
    def size(self) -> int:
        """Nodes kept."""
        return self._visited.size

    def all_goals(self) -> tuple[Found | None, bool]:
        """The first node that has all goals at an end; whether that is certain, no limit being met."""
        wanted = np.int64(self._everything)
        for depth, keys in self._layers(lambda covered, node: (covered | self._possible[node]) == wanted):
            done = keys[((keys & wanted) == wanted) & self._ends[keys >> self._bits]]
            if done.size:
                return Found(int(done[0] >> self._bits), depth, self._everything), True
        return None, self.size <= self._limit

    def every_set(self) -> list[Found] | None:
        """For each set of goals found at an end the first node, unless a set found before holds it; None: too many."""
        found: list[Found] = []
        largest: list[int] = []

        def adds(covered: Column, node: Column) -> Column:
            reach = covered | self._possible[node]
            kept = np.ones(len(reach), bool)
            for mask in largest:
                kept &= (reach & ~np.int64(mask)) != 0
            return kept

        for depth, keys in self._layers(adds):
            here = keys[self._ends[keys >> self._bits]]
            masks, first = np.unique(here & np.int64(self._everything), return_index=True)
            at_depth = sorted(
                zip(masks.tolist(), first.tolist(), strict=True), key=lambda it: (-it[0].bit_count(), it[0])
            )
            for mask, place in at_depth:
                if all(mask & ~known for known in largest):
                    found.append(Found(int(here[place] >> self._bits), depth, mask))
                    largest = [known for known in largest if known & ~mask] + [mask]
        return found if self.size <= self._limit else None

    def choices(self, end: Found) -> tuple[int, list[int]]:
        """The state where a run to ``end`` starts, and the inputs on its way."""
        node, covered, chosen = end.node, end.covered, list[int]()
        for depth in range(end.depth, 0, -1):
            places, _ = self._back.of(np.array([node]))
            before, number, options = self._earlier(places, covered)
            fits = np.flatnonzero(self._visited.before((before << self._bits) | options, depth))
            place = fits[0]
            node, covered = int(before[place]), int(options[place])
            chosen.append(int(self._product.choices[number[place]]))
        return int(self._product.states[node]), chosen[::-1]

    def _earlier(self, places: Column, covered: int) -> tuple[Column, Column, Column]:
        """For the arrows at ``places``: where they come from, their numbers, and what was covered there, each way."""
        assert self._back.numbers is not None
        before, number = self._back.ends[places].astype(np.int64), self._back.numbers[places]
        masks = self._product.masks[number].astype(np.int64)
        found = []
        for mask in np.unique(masks).tolist():
            if mask & ~covered:
                continue
            rows = np.flatnonzero(masks == mask)
            for part in _parts_of(mask):
                found.append((before[rows], number[rows], np.full(len(rows), (covered & ~mask) | part)))
        first, second, third = (np.concatenate(columns) for columns in zip(*found, strict=True))
        return first, second, third

    def _layers(self, worth: Worth) -> Iterator[tuple[int, Column]]:
        """The nodes by depth, those for which ``worth`` holds."""
        product = self._product
        nodes, covered = product.starts, product.start_masks.astype(np.int64)
        layer = self._kept(nodes, covered, worth, 0)
        depth = 0
        while layer.size and self.size <= self._limit:
            yield depth, layer
            depth += 1
            self._check()
            parts = []
            for first in range(0, len(layer), self._at_once):
                keys = layer[first : first + self._at_once]
                places, rows = product.arrows.of(keys >> self._bits)
                after = product.arrows.ends[places].astype(np.int64)
                masks = product.masks[places].astype(np.int64)
                covered = (keys & np.int64(self._everything))[rows] | masks
                parts.append(self._kept(after, covered, worth, depth))
            layer = np.concatenate(parts)

    @property
    def _at_once(self) -> int:
        arrows = self._product.arrows
        return max(1, BLOCK * arrows.size // max(1, len(arrows.ends)))

    def _kept(self, nodes: Column, covered: Column, worth: Worth, depth: int) -> Column:
        good = (self._to_end[nodes] >= 0) & worth(covered, nodes)
        return self._visited.add((nodes[good] << self._bits) | covered[good], depth)

    def _completable(self, goals: int) -> Column:
        """For each node the goals that can be completed by a step from it or later, on a way to an end."""
        product = self._product
        sources = np.repeat(np.arange(product.arrows.size), np.diff(product.arrows.offsets))
        useful = self._to_end[product.arrows.ends] >= 0
        found = np.zeros(product.arrows.size, np.int64)
        for goal in range(goals):
            completing = useful & ((product.masks >> np.uint64(goal)) & np.uint64(1)).astype(bool)
            found |= np.where(self._back.distances(sources[completing], self._check) >= 0, np.int64(1 << goal), 0)
        return found


def _parts_of(mask: int) -> Iterator[int]:
    """All subsets of a set of goals."""
    part = mask
    while True:
        yield part
        if not part:
            return
        part = (part - 1) & mask
