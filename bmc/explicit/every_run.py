"""All runs of a fixed number of steps through listed states, numbered, and which of them satisfy a formula.

Runs are numbered by the state where they start, then by their steps in the order of the list. What a formula says of
each is evaluated in arrays and kept as one bit, so that formulas are combined without another look at the runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from pysmt.fnode import FNode

from bmc.explicit.paths import Arrows, Check
from bmc.explicit.state_graph import StateGraph
from bmc.explicit.vectors import Column, compile_columns
from bmc.formulas.unroll import unframed
from bmc.system.transition import symbols_of

TOGETHER = 1 << 19
"""Runs that are evaluated together."""

KEPT_BYTES = 200_000_000
"""Memory for what is known of formulas asked about before."""

Way = tuple[int, list[int]]
"""A state of the list, and the inputs of a run from there."""


@dataclass(frozen=True)
class Numbered:
    """``before[s]`` runs start in states before s; run r ends in the state ``ends[r]``."""

    before: Column
    ends: Column


class EveryRun:
    """The runs through ``graph``."""

    def __init__(self, graph: StateGraph) -> None:
        self.graph = graph
        self.forward = Arrows(graph.steps.offsets, graph.steps.nexts)
        self._backward: Arrows | None = None
        self._counts = [np.ones(len(graph.states))]
        self._numbered: dict[int, Numbered] = {}
        self._known: dict[tuple[FNode, int], Column] = {}

    @property
    def backward(self) -> Arrows:
        """The steps the other way round."""
        if self._backward is None:
            self._backward = self.forward.backward()
        return self._backward

    def knows(self, formula: FNode) -> bool:
        """Whether all symbols of ``formula`` (framed) are variables of the list."""
        names = (unframed(symbol)[0] for symbol in symbols_of(formula))
        return all(name in self.graph.states.columns or name in self.graph.inputs.columns for name in names)

    def count(self, steps: int) -> float:
        """How many runs of ``steps`` steps there are; beyond 2 ** 53 about."""
        return float(self._from_each(steps).sum())

    def holding(self, formula: FNode, steps: int, check: Check) -> Column:
        """Whether each run of ``steps`` steps satisfies ``formula``, all of whose symbols are known; packed bits."""
        key = (formula, steps)
        if key in self._known:
            self._known[key] = self._known.pop(key)
        else:
            self._known[key] = self._evaluated(formula, steps, check)
            while len(self._known) > 2 and sum(bits.nbytes for bits in self._known.values()) > KEPT_BYTES:
                del self._known[next(iter(self._known))]
        return self._known[key]

    def numbered(self, steps: int) -> Numbered:
        """How the runs of ``steps`` steps are numbered."""
        if steps not in self._numbered:
            before = np.concatenate([[0], np.cumsum(self._from_each(steps).astype(np.int64))])
            ends = [states[-1].astype(np.int32) for states, _ in self._in_parts(steps)]
            self._numbered[steps] = Numbered(before, np.concatenate(ends))
        return self._numbered[steps]

    def way(self, number: int, steps: int) -> Way:
        """The run of that number."""
        before = self.numbered(steps).before
        start = state = int(np.searchsorted(before, number, side="right")) - 1
        left, choices = number - int(before[start]), list[int]()
        for more in range(steps - 1, -1, -1):
            arrows = np.arange(self.forward.offsets[state], self.forward.offsets[state + 1])
            after = np.cumsum(self._from_each(more)[self.forward.ends[arrows]])
            place = int(np.searchsorted(after, left, side="right"))
            left -= int(after[place - 1]) if place else 0
            choices.append(int(self.graph.steps.choices[arrows[place]]))
            state = int(self.forward.ends[arrows[place]])
        return start, choices

    def _from_each(self, steps: int) -> Column:
        """The number of runs of ``steps`` steps from each state."""
        while len(self._counts) <= steps:
            sums = np.concatenate([[0.0], np.cumsum(self._counts[-1][self.graph.steps.nexts])])
            self._counts.append(sums[self.graph.steps.offsets[1:]] - sums[self.graph.steps.offsets[:-1]])
        return self._counts[steps]

    def _evaluated(self, formula: FNode, steps: int, check: Check) -> Column:
        compiled = compile_columns([formula])
        symbols = [(symbol.symbol_name(), *unframed(symbol)) for symbol in symbols_of(formula)]
        found = []
        for states, choices in self._in_parts(steps):
            check()
            columns = {}
            for framed, name, step in symbols:
                rows, numbers = (
                    (self.graph.states, states)
                    if name in self.graph.states.columns
                    else (
                        self.graph.inputs,
                        choices,
                    )
                )
                columns[framed] = rows.columns[name][numbers[step]]
            (holds,) = compiled(columns)
            found.append(np.broadcast_to(holds, states[0].shape))
        return np.packbits(np.concatenate(found))

    def _in_parts(self, steps: int) -> Iterator[tuple[list[Column], list[Column]]]:
        """The states and the inputs of all runs, step by step, in the order of their numbers."""
        for starts in _parts(self._from_each(steps)):
            states, choices = [starts], list[Column]()
            for _ in range(steps):
                places, rows = self.forward.of(states[-1])
                states = [*(column[rows] for column in states), self.forward.ends[places].astype(np.int64)]
                choices = [*(column[rows] for column in choices), self.graph.steps.choices[places]]
            yield states, choices


def _parts(counts: Column) -> Iterator[Column]:
    """All states in order, so many at a time that not too many runs start there."""
    sums, first = np.cumsum(counts), 0
    while first < len(counts):
        before = sums[first - 1] if first else 0.0
        last = max(first + 1, int(np.searchsorted(sums, before + TOGETHER, side="right")))
        yield np.arange(first, last)
        first = last
