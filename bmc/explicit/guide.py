"""The steps to come along an order of conditions, for all states of a system that was searched in layers (``guide.c``).

A search in a system of which this one is an abstraction is led by them (S. Edelkamp: Planning with pattern databases,
2001).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bmc.evaluation.vectors import Column, Columns
from bmc.explicit.covering import CoveringSearch
from bmc.explicit.layers import LayeredSystem
from bmc.explicit.layers_in_c import ARROW, CompiledLayers
from bmc.explicit.rows import Numbering

MOST = 1 << 22
"""Numbers of steps, and states, that are taken from the compiled search. With twice as many, larger systems guide a
search, which begins later."""

TAKEN = 400.0
"""Nominal nanoseconds for each of these."""

NOWHERE = -1
"""The steps to come where no run meets what is left."""


class Guide:
    """The fewest steps in which a run of ``made`` meets what is left of an ``order`` of its conditions, one after the
    other, and ends where the condition ``final`` holds, if there is one.

    ``layers`` have noted all arrows; ``wanted`` conditions, the first ones, are told apart. ``make`` has to come to its
    end before the steps are asked for; ``work`` is what it has taken, in nominal nanoseconds.
    """

    def __init__(
        self, layers: CompiledLayers, made: LayeredSystem, wanted: int, final: int | None, order: Sequence[int]
    ) -> None:
        self._layers, self._made, self._order = layers, made, order
        self._search = CoveringSearch(layers, made, wanted, final)
        self._numbers = Numbering(made.layout.width)
        self._class_of: Column = np.zeros(0, np.int64)
        self._rows: Column = np.zeros((0, 0), np.int64)
        self.work = 0.0

    def make(self) -> Iterator[None]:
        """Find the steps to come, a portion at a time. OutOfMemory where the memory does not suffice; nothing is found
        where there are too many states."""
        for _ in self._search.prepare():
            self.work = self._search.work
            yield
        self._layers.along(*self._order)
        for _ in range(len(self._order) + 1):
            self._layers.add_row()
            self.work += ARROW * (self._layers.arrows or 0)
            yield
        width, rows = self._made.layout.width, len(self._order) + 1
        if self._layers.states * max(width + 1, rows) > MOST:
            return
        keys = self._layers.all_keys()
        self._class_of = self._layers.classes()
        self._numbers.add([keys[:, place] for place in range(width)])
        self._rows = np.stack([self._layers.row(place) for place in range(rows)])
        self.work += TAKEN * (keys.size + self._class_of.size + self._rows.size)
        yield

    @property
    def there(self) -> bool:
        """Whether the steps were found."""
        return self._rows.size > 0

    def numbers(self, states: Columns) -> Column:
        """The number of each of ``states``, the raw values of its variables by name; -1 where it is none of those."""
        fields, inside = [], np.full(1, True)
        for each in self._made.fields:
            above = (states[each.var.name].astype(np.uint64) - np.uint64(each.least)) & np.uint64(each.mask)
            inside = inside & (above <= np.uint64(each.span))
            if each.bits:
                fields.append(above)
        keys = self._made.layout.pack(fields)
        size = len(inside) if fields else len(next(iter(states.values())))
        found = self._numbers.find([np.broadcast_to(key, (size,)) for key in keys])
        return np.where(inside, found, -1)

    def steps(self, numbers: Column, met: Column) -> Column:
        """The steps to come from each of the states of these ``numbers``, once so many conditions of the order are
        ``met``; ``NOWHERE`` where no run meets the others, or the state has no number."""
        found: Column = self._rows[met, self._class_of[np.maximum(numbers, 0)]]
        return np.where(numbers >= 0, found, NOWHERE)
