"""Steps of parts of runs that no goal needs are left out, by simulation alone.

Delta debugging (A. Zeller, R. Hildebrandt: Simplifying and isolating failure-inducing input, 2002): of many blocks of
steps, short and long ones, some are left out together, in many choices side by side, and the way that comes first to
what is needed takes the place of the part. Half of the blocks are drawn at random, the others go from a state to one
that is most like it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bmc.engines.protocol import SEED
from bmc.evaluation.vectors import Column
from bmc.explicit.batch import NEVER
from bmc.explicit.draws import Draws
from chaincover.runs.side_by_side import SideBySide, Start, Way

TRIES = 48, 256
"""Ways with steps left out that are tried of a part at a time, at least and at most. With twice as many, more is left
out at a time, in twice the work."""

CELLS = 1 << 17
"""Steps of these ways, about, where a part is neither short nor long. With twice as many, more is left out at a
time."""

WIDTH = 1024
"""Half of the ways that are tried side by side. With twice as many, parts that lead to worse states are cut sooner."""

FROM = 64
"""Steps of a part from which blocks go to like states. With twice as many, states are compared for twice as long."""

WORTH = 16
"""Where less than one step in so many was left out, no others are tried. With twice as many, ways are somewhat shorter,
and fewer orders are tried."""

SIZES = 7
"""Numbers of blocks that are left out together: 1, 2, 4 and so on. With twice as many, more of a long way is left out
at a time, and less is tried of a short one."""

Block = tuple[int, int]
"""Steps of a way: the first one, and the one after the last."""


class Part(NamedTuple):
    """A ``way`` from ``start`` to where it has covered the goals ``needed``: ``end``."""

    start: Start
    way: Way
    needed: Column
    end: Start


class Cuts:
    """Leaves out steps of parts of runs; repeatable."""

    def __init__(self, ways: SideBySide) -> None:
        self._ways, self._random = ways, Draws(SEED)

    def shortest(self, parts: Sequence[Part]) -> list[Part]:
        """Each of ``parts`` with steps left out again and again, as long as that is worth it."""
        found, left = list(parts), [place for place, part in enumerate(parts) if len(part.way) > 1]
        while left:
            left.sort(key=lambda place: len(found[place].way))
            some = left[: in_reach([found[place].way for place in left])]
            for place, part in zip(some, self.once([found[place] for place in some]), strict=True):
                if not worth(found[place], part):
                    left.remove(place)
                found[place] = part
        return found

    def once(self, parts: Sequence[Part]) -> list[Part]:
        """Each of ``parts`` with steps left out once."""
        tries = [self._tried(part.way) for part in parts]
        flat = [(part, way) for part, ways in zip(parts, tries, strict=True) for way in ways]
        if not flat:
            return list(parts)
        needed = np.stack([part.needed for part, _ in flat], axis=1)
        counts = [len(ways) for ways in tries]
        rivals = np.repeat(np.arange(len(parts)), counts)
        met = self._ways.follow([part.start for part, _ in flat], [way for _, way in flat], needed, rivals)
        lengths = np.where(needed, met.first, 0).max(axis=0)
        found, before = list[Part](), 0
        for part, ways in zip(parts, tries, strict=True):
            ends = lengths[before : before + len(ways)]
            best = int(ends.argmin()) if len(ways) else 0
            steps = int(ends[best]) if len(ways) else NEVER
            end = met.at(before + best, steps) if steps < len(part.way) else None
            found.append(part if end is None else part._replace(way=ways[best][:steps], end=end))
            before += len(ways)
        return found

    def _tried(self, way: Way) -> list[Way]:
        """``way`` without several blocks of steps, in several choices."""
        blocks, found = self._blocks(way), list[Way]()
        for number in range(2 * _tries(len(way)) if blocks else 0):
            order = np.argsort(self._random.parts(len(blocks)), kind="stable")[: 1 << number % SIZES]
            kept = np.full(len(way), True)
            for begin, end in _disjoint([blocks[place] for place in order.tolist()]):
                kept[begin:end] = False
            found.append(way[kept])
        return found

    def _blocks(self, way: Way) -> list[Block]:
        """Blocks of steps that may not be needed: all but the last ones, and of each size some."""
        length = len(way)
        if length < 2:
            return []
        found: dict[Block, None] = dict.fromkeys((0, length - (1 << k)) for k in range((length - 1).bit_length()))
        starts = np.unique(self._random.below(length, FROM))
        apart = self._ways.apart(way, {name: values[starts] for name, values in self._ways.before(way).items()})
        sizes = np.arange(length)[None, :] - starts[:, None]
        each = max(2, _tries(length) // max(1, (length - 1).bit_length()) // 2)
        for size in (1 << k for k in range((length - 1).bit_length())):
            rows, ends = np.nonzero((sizes >= size) & (sizes < 2 * size))
            alike = np.argsort(apart[rows, ends], kind="stable")[:each]
            found |= dict.fromkeys(zip(starts[rows[alike]].tolist(), ends[alike].tolist(), strict=True))
            drawn = self._random.below(length - size, each).tolist()
            found |= dict.fromkeys((begin, begin + size) for begin in drawn)
        return list(found)


def worth(before: Part, after: Part, each: int = WORTH) -> bool:
    """Whether one step in ``each`` of ``before`` was left out, so that others may be."""
    return len(before.way) - len(after.way) >= max(1, len(before.way) // each)


def in_reach(ways: Sequence[Way]) -> int:
    """Of how many of ``ways``, the first ones, steps are left out side by side: at least one."""
    columns = np.cumsum([_tries(len(way)) for way in ways])
    return max(1, int(np.searchsorted(columns, WIDTH, side="right")))


def _tries(length: int) -> int:
    return min(TRIES[1], max(TRIES[0], CELLS // max(1, length)))


def _disjoint(blocks: Sequence[Block]) -> list[Block]:
    """Those of ``blocks`` that have no step in common with one before."""
    taken: list[Block] = []
    for begin, end in blocks:
        if all(end <= first or last <= begin for first, last in taken):
            taken.append((begin, end))
    return taken
