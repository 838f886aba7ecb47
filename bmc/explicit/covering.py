"""The shortest run that meets all of some conditions, by a compiled search over pairs of a state and the set of
conditions met, along the arrows between reachable states that a search in layers has noted (``covering.c``).
"""

from __future__ import annotations

from collections.abc import Iterator

from bmc.explicit.layers import LayeredSystem, OutOfMemory
from bmc.explicit.layers_in_c import ARROW, CompiledLayers

COMPARED = 8.0
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
        self._layers, self._made, self._wanted = layers, made, wanted
        self._final = len(made.watched) if final is None else final
        self.below: int | None = None
        self.found: list[int] | None = None
        self.start = made.starts[0]
        self.work, self.lower, self.pairs = 0.0, 0, 0
        self._portion = 1.0
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
        """The search, a portion at a time: the steps to come for one condition after the other, then the pairs."""
        yield from self.prepare()
        over, before, found = False, self.work, 0
        while not over:
            pairs = max(1, int(self._portion / (8 * COMPARED * (1 + self._layers.arrows_each))))
            below = ANY_LENGTH if self.below is None else self.below
            over, (_, self.pairs, compared, _, self.lower, found) = self._told("cover", pairs, below)
            self.work = before + COMPARED * compared
            yield
        if found:
            self.start, self.found = self._layers.run()

    def prepare(self) -> Iterator[None]:
        """Merge states that behave alike, and find the steps to come for one condition after the other."""
        self._told("wanted", self._wanted, self._final)
        over = False
        while not over:
            over, _ = self._told("prepare")
            self.work += ARROW * (self._layers.arrows or 0) + 1
            yield

    def _told(self, what: str, *numbers: int) -> tuple[bool, tuple[int, ...]]:
        """Whether what was asked for is over, and the numbers of the answer."""
        said, *found = self._layers.covering(what, *numbers)
        if said == "memory":
            raise OutOfMemory
        return said == "over", tuple(map(int, found))
