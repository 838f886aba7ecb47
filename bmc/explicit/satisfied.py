"""The runs of a fixed number of steps through listed states that satisfy formulas: where they start, end, and how.

Where the runs are few they are all evaluated; else the formula is read along them (``bmc.explicit.queries``).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, reduce
from typing import Protocol

import numpy as np
from pysmt.fnode import FNode

from bmc.explicit.every_run import EveryRun, Way
from bmc.explicit.paths import Check
from bmc.explicit.product import Product, product
from bmc.explicit.queries import Query, run_between
from bmc.explicit.vectors import Column
from bmc.system.transition import conjunction

MOST_ARROWS = 100_000_000
"""Steps between states with what is left of a formula that are kept."""


class TooManyNodes(Exception):
    """More states with what is left of a formula than may be kept."""


class Satisfied(Protocol):
    """The runs that satisfy formulas. ``size``: the bytes that are kept, about."""

    size: int

    @property
    def starts(self) -> Column:
        """Whether one starts in each state."""

    @property
    def ends(self) -> Column:
        """Whether one ends in each state."""

    def way(self, start: int | None = None, end: int | None = None) -> Way | None:
        """The first of them (that starts or ends in a state, if one is given)."""


def satisfied(runs: EveryRun, formulas: Sequence[FNode], steps: int, most: int, check: Check) -> Satisfied:
    """The runs of ``steps`` steps that satisfy all ``formulas`` (framed).

    TooManyNodes where more than ``most`` states, with what is left of the formula, would have to be looked at.
    ``check`` is called now and then and may raise.
    """
    if runs.count(steps) <= most and all(runs.knows(formula) for formula in formulas):
        return Enumerated(runs, [runs.holding(formula, steps, check) for formula in formulas], steps)
    query = Query(runs.graph, conjunction(formulas), steps)
    every = np.arange(len(runs.graph.states))
    found = product(runs.graph, query.classes, query, every, most, MOST_ARROWS, check)
    if found is None:
        raise TooManyNodes
    return Watched(found, len(every))


class Enumerated:
    """Runs by their numbers."""

    def __init__(self, runs: EveryRun, holding: Sequence[Column], steps: int) -> None:
        """``holding``: for each formula whether each run satisfies it, packed."""
        self._runs, self._steps = runs, steps
        self._which = runs.numbered(steps)
        self._bits = reduce(np.bitwise_and, holding)
        self.size = self._bits.nbytes + len(self._which.before)

    @cached_property
    def starts(self) -> Column:
        places = np.searchsorted(self._numbers(0, len(self._which.ends)), self._which.before)
        return np.asarray(places[1:] > places[:-1])

    @property
    def ends(self) -> Column:
        return _present(self._which.ends[self._numbers(0, len(self._which.ends))], len(self._which.before) - 1)

    def way(self, start: int | None = None, end: int | None = None) -> Way | None:
        if start is None and end is None:
            first = 8 * int(np.argmax(self._bits != 0)) if self._bits.size else 0
            numbers = self._numbers(first, min(first + 8, len(self._which.ends)))
        elif start is None:
            numbers = self._numbers(0, len(self._which.ends))
        else:
            numbers = self._numbers(int(self._which.before[start]), int(self._which.before[start + 1]))
        if end is not None:
            numbers = numbers[self._which.ends[numbers] == end]
        return self._runs.way(int(numbers[0]), self._steps) if numbers.size else None

    def _numbers(self, first: int, last: int) -> Column:
        """The runs from number ``first`` to before ``last``."""
        byte = first // 8
        found = np.flatnonzero(np.unpackbits(self._bits[byte : -(-last // 8)])) + 8 * byte
        return found[(found >= first) & (found < last)]


class Watched:
    """Runs through the product of the states with what is left of the formula."""

    def __init__(self, found: Product, states: int) -> None:
        self._found, self._count = found, states
        self.size = 16 * len(found.arrows.ends) + 12 * len(found.states)

    @property
    def starts(self) -> Column:
        left = self._found.arrows.backward().distances(self._found.done)
        return _present(self._found.states[self._found.starts[left[self._found.starts] >= 0]], self._count)

    @property
    def ends(self) -> Column:
        return _present(self._found.states[self._found.done], self._count)

    def way(self, start: int | None = None, end: int | None = None) -> Way | None:
        starts, ends = (None if state is None else self._found.states == state for state in (start, end))
        return run_between(self._found, starts, ends)


def _present(states: Column, count: int) -> Column:
    found = np.zeros(count, bool)
    found[states] = True
    return found
