"""The shortest run that meets all of some conditions, by a compiled search over pairs of a state and the set of
conditions met, along the arrows between reachable states that a search in layers has noted (``covering.c``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from bmc.explicit.layers import LayeredSystem, OutOfMemory
from bmc.explicit.layers_in_c import ARROW, CompiledLayers

COMPARED = 4.0
"""Nominal nanoseconds for the comparison of two sets of conditions. With twice as many, turns of this search are half
as long."""

ANY_LENGTH = (1 << 63) - 1


class CoveringSearch:
    """The shortest run from a start of ``made`` that meets the first ``wanted`` of its conditions, each in a state or
    on a step, and ends where the condition ``final`` holds, if there is one; in ``layers`` that have noted all arrows.

    ``found`` are the numbers of its inputs, from ``start`` on, once it is known; where the search is ``finished``
    without, there is no such run of fewer than ``below`` steps. ``lower``: every such run has at least so many steps,
    or at least ``below``. ``below`` may be lowered while the search goes on. ``work`` is what it has taken, in nominal
    nanoseconds, and ``pairs`` counts what it has met.
    """

    def __init__(self, layers: CompiledLayers, made: LayeredSystem, wanted: int, final: int | None) -> None:
        assert layers.arrows is not None
        self._layers, self._wanted = layers, wanted
        self._final = len(made.watched) if final is None else final
        self.below: int | None = None
        self.found: list[int] | None = None
        self.start = made.starts[0]
        self.work, self.lower, self.pairs = 0.0, 0, 0
        self._portion, self._last = 1.0, _Told(*[0] * len(_Told._fields))
        self._steps: Iterator[None] | None = self._search()

    @property
    def finished(self) -> bool:
        """Whether there is nothing more to search."""
        return self._steps is None

    def advance(self, work: float) -> None:
        """Go on for about so much more work. OutOfMemory where the memory does not suffice."""
        due, self._portion = self.work + work, work
        while self._steps is not None and self.work < due:
            try:
                next(self._steps)
            except StopIteration:
                self._steps = None

    def close(self) -> None:
        """Give back what it has taken."""
        self._layers.covering("drop")

    def _search(self) -> Iterator[None]:
        """The search, a portion at a time: the steps to come for one condition after the other, then the pairs.

        Runs are sought of one step more than there are to come; where there are none, of some more, and so on. Where
        pairs have taken as long as it takes to find the steps to come with one condition more, these are found.
        """
        yield from self.prepare()
        longer, most, group, since = 1, 1, 1, self.work
        while True:
            below = ANY_LENGTH if self.below is None else self.below
            over, told = self._covered(min(most, below))
            if told.found:
                self.start, self.found = self._layers.run()
                return
            if over and told.left_out >= below:
                self.lower = self.lower if self.below is None else max(self.lower, below)
                return
            if over:
                self.lower = max(self.lower, told.left_out)
                most, longer = told.left_out + longer, 2 * longer
                self._told("again")
            elif self.work - since > ARROW * told.left * group * self._wanted and self._told("group")[0]:
                yield from self._prepare()
                group, since = 2 * group, self.work
            yield

    def prepare(self) -> Iterator[None]:
        """Merge states that behave alike, and find the steps to come for one condition after the other."""
        self._told("wanted", self._wanted, self._final)
        yield from self._prepare()

    def _prepare(self) -> Iterator[None]:
        over = False
        while not over:
            over, told = self._told("prepare")
            self.work += ARROW * (told.left or self._layers.arrows or 0) + 1
            yield

    def _covered(self, below: int) -> tuple[bool, _Told]:
        """Whether the search for runs of fewer than ``below`` steps is over, after a portion of it."""
        pairs = max(1, int(self._portion / (8 * COMPARED * (1 + self._layers.arrows_each))))
        over, told = self._told("cover", pairs, below)
        self.pairs = max(self.pairs, told.pairs)
        self.work += COMPARED * (told.work - self._last.work)
        self._last = told
        if told.pairs:
            self.lower = max(self.lower, min(told.lower, below))
        return over, told

    def _told(self, what: str, *numbers: int) -> tuple[bool, _Told]:
        """Whether what was asked for is over, and the numbers of the answer."""
        said, *found = self._layers.covering(what, *numbers)
        if said == "memory":
            raise OutOfMemory
        return said == "over", _Told(*map(int, found))


class _Told(NamedTuple):
    """Numbers that ``covering.c`` tells: of arrows, pairs and comparisons, of bytes, the bound, whether a run is found,
    the inputs tried, the least length of a run that was left out, and the arrows that are left after merging."""

    arrows: int
    pairs: int
    work: int
    bytes: int
    lower: int
    found: int
    tried: int
    left_out: int
    left: int
