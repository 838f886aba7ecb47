"""Runs side by side, of which some give way to copies of others: where they are, and the way back to their start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

import numpy as np

from bmc.evaluation.vectors import Column
from bmc.explicit.batch import NEVER, Batch, Manner, Runs
from bmc.explicit.draws import Draws
from bmc.records import dataclass
from bmc.system.transition import MODES, Valuation

WIDTH = 1024
"""Runs side by side."""

STRIDE = 3
"""Steps until some runs give way to others."""

CHANGED = 0.05
"""Part of its inputs for which a run that is chosen draws anew how often they change."""

CHOICE = 26
"""Operations on columns, for each goal and each variable of the state, that it takes to choose the runs that go on."""

BLOCKS = 8
"""Blocks of steps after which what led to no run any more is forgotten. With twice as many, twice as many blocks are
held whole, and choosing takes a little less."""

RIVALS = 12
"""Runs, drawn at random, the best of which goes on."""

SHOWN = 128
"""Runs in which steps between modes are looked at."""


@dataclass(frozen=True)
class _Block:
    """A few steps of some runs: their inputs, and the column of the block before from which each of them goes on."""

    inputs: Mapping[str, Column]
    steps: int
    parents: Column


@dataclass
class Population:
    """Runs side by side: ``steps`` steps so far, the ``states`` they are in, and ``ends``: for each goal and run the
    step at which it was covered first, or ``NEVER``.

    ``tail`` are the last steps, in which a goal may have begun. ``past`` leads back to the start; ``origin`` has for
    each run its column in the last block.
    """

    states: dict[str, Column]
    manner: Manner
    ends: Column
    origin: Column
    alive: Column
    steps: int = 0
    tail: Runs | None = None
    past: list[_Block] = field(default_factory=list)

    @property
    def last(self) -> Column:
        """The step at which each run has covered its last goal so far."""
        found: Column = np.where(self.ends < NEVER, self.ends, 0).max(axis=0, initial=0)
        return found

    def best(self) -> int:
        """The run that has covered most goals; of several the one that was first to."""
        return int(np.lexsort((self.last, -(self.ends < NEVER).sum(axis=0)))[0])

    def state(self, number: int) -> Valuation:
        """The state that the run ``number`` is in."""
        return {name: int(values[number]) for name, values in self.states.items()}

    def inputs(self, number: int, steps: int | None = None) -> list[dict[str, int]]:
        """The inputs of the run ``number`` in so many steps (None: up to the last goal that it has covered)."""
        end = int(self.last[number]) if steps is None else steps
        blocks: list[list[dict[str, int]]] = []
        place, begin = int(self.origin[number]), self.steps
        for block in reversed(self.past):
            begin -= block.steps
            if begin < end:
                columns = {name: values[: end - begin, place].tolist() for name, values in block.inputs.items()}
                count = min(block.steps, end - begin)
                blocks.append([{name: values[k] for name, values in columns.items()} for k in range(count)])
            place = int(block.parents[place])
        return [row for rows in reversed(blocks) for row in rows]

    def add(self, runs: Runs, longest: int) -> Runs:
        """Take the steps of ``runs``; these, after those before them in which a goal of ``longest`` steps may begin."""
        joined = runs if self.tail is None else self.tail.then(runs)
        self.past.append(_Block(runs.inputs, runs.steps, self.origin))
        self.origin = np.arange(len(runs.valid))
        self.alive = runs.valid == runs.steps
        self.states = {name: values[-1] for name, values in runs.states.items()}
        self.steps += runs.steps
        self.tail = joined.last(min(joined.steps, longest - 1)) if longest > 1 else None
        return joined

    def select(self, chosen: Column) -> None:
        """Go on with the runs ``chosen``, some of them several times."""
        self.states = {name: values[chosen] for name, values in self.states.items()}
        self.ends, self.alive = self.ends[:, chosen], self.alive[chosen]
        if self.tail is not None:
            self.tail = self.tail.of(chosen)
        last = {name: values[-1] for name, values in self.past[-1].inputs.items()}
        self.manner = self.manner.of(chosen, {name: v[self.origin[chosen]] for name, v in last.items()})
        self.origin = self.origin[chosen]
        self._forget()

    def _forget(self) -> None:
        """Forget the part of the past that leads to no run any more, after every few blocks."""
        if len(self.past) % BLOCKS:
            return
        wanted = self.origin
        for place in range(len(self.past) - 1, -1, -1):
            block = self.past[place]
            named = np.zeros(len(block.parents), bool)
            named[wanted] = True
            kept, renamed = np.flatnonzero(named), (np.cumsum(named) - 1)[wanted]
            if place == len(self.past) - 1:
                self.origin = renamed
            else:
                self.past[place + 1] = replace(self.past[place + 1], parents=renamed)
            if len(kept) == len(block.parents):
                return
            inputs = {name: values[:, kept] for name, values in block.inputs.items()}
            self.past[place] = _Block(inputs, block.steps, block.parents[kept])
            wanted = block.parents[kept]


def started(batch: Batch, state: Valuation, goals: int, width: int = WIDTH) -> Population:
    """``width`` runs in ``state``, and so many goals to cover."""
    starts = batch.repeated(state, width)
    ends = np.full((goals, width), NEVER, np.int64)
    return Population(starts, batch.manner(width), ends, np.zeros(width, np.int64), np.full(width, True))


def rivals(population: Population, random: Draws, alive: Column, worth: Column) -> Column:
    """``WIDTH`` places among the runs ``alive``, of some rivals each time the one of most ``worth``; for a quarter
    it is the one whose values of the state few runs have."""
    by_values = np.zeros(len(alive))
    for values in population.states.values():
        by_values += _commonness(values[alive])
    drawn = random.below(len(alive), (WIDTH, RIVALS))
    first = worth[drawn].argmax(axis=1)
    first[::4] = by_values[drawn[::4]].argmax(axis=1)
    chosen: Column = drawn[np.arange(WIDTH), first]
    return chosen


def information(counts: Column, runs: int) -> Column:
    """What it tells of a run that it is one of ``counts`` among so many, in bits, and one more."""
    found: Column = 1 + np.log2(runs / np.maximum(counts, 1))
    return found


def _commonness(values: Column) -> Column:
    """How much the value that each run has of a variable tells of it, by how many runs have that value.

    Of more values than a mode has, by how many have one of as many bits.
    """
    if values.dtype == object:
        return np.zeros(len(values))
    if values.dtype.itemsize == 1:
        often = np.bincount(values)
        if np.count_nonzero(often) <= MODES:
            found: Column = information(often, len(values))[values.astype(np.uint8)]
            return found
    different, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    if len(different) > MODES:
        _, place, counts = np.unique(np.frexp(values.astype(float))[1], return_inverse=True, return_counts=True)
    return information(counts, len(values))[place]
