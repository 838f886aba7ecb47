"""The steps of many states at once: what they do with counters, and which events happen in them.

How a step moves a counter from any value of its cell is seen from two of its values; see ``bmc.invariants.counters``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from pysmt.shortcuts import TRUE

from bmc.evaluation.vectors import Column, Program, column
from bmc.explicit.rows import first_of_each
from bmc.explicit.scope import FoundSteps, Inputs, Scope
from bmc.explicit.splitting import FIXED
from bmc.explicit.steps import BLOCK, EveryInput
from bmc.formulas.unroll import NEXT
from bmc.records import dataclass
from chaincover.graph.counter_groups import Counter, State
from chaincover.problem import Problem
from properties.goal import Events

MOST_EVENTS = 62
"""Events that paths are asked for; of more, the first ones."""

PLACED, APART = 5_000, 400_000
"""Operations on values that could be done while a step takes its place among the nodes, and while the different steps
of some states are found out. With twice as many, turns that build a graph of jumps are half as long."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step from the state number ``row``; ``forgotten``: bits of the counters that are set anew, or have one value in
    their cell. It adds ``shift`` to counter ``mover`` (-1: to none); ``inner`` are its events within the cell."""

    row: int
    choice: int
    target: State
    mask: int
    forgotten: int
    mover: int
    shift: int
    inner: int


@dataclass(frozen=True)
class _Movement:
    """For each step the number of the counter that it moves (-1: none), by how much, and which it sets anew (as bits).
    ``samples`` has for each counter a value of its cell from which it is moved within the cell, if there is one."""

    mover: Column
    shift: Column
    forgotten: Column
    samples: Mapping[str, Column]


class Steps:
    """Makes steps from many states at once, under every combination of inputs; ``tried`` has these by number."""

    def __init__(self, problem: Problem, scope: Scope, inputs: Inputs, counters: Sequence[Counter]) -> None:
        self._variables, self._counters = scope.system.state, counters
        self._names = [var.name for var in self._variables]
        assert inputs.every is not None  # inputs of one outcome here may have different ones where a counter has moved
        self.tried, self._every = inputs.every, EveryInput(scope, inputs)
        self._looks = _Looks(problem, self._names)
        self._nexts = Program([var.next for var in self._variables])

    @property
    def together(self) -> int:
        """States from which steps are made at once."""
        return max(1, BLOCK // self._every.size)

    def seen_in(self, states: Sequence[State]) -> tuple[list[int], list[bool]]:
        """For each state its events, and whether a run may end there."""
        return self._looks.at(self._columns(states), len(states))

    def of(self, states: Sequence[State]) -> Iterator[int | Step]:
        """All different steps from ``states``, and the work done."""
        columns = self._columns(states)
        for found in self._found(columns, len(states)):
            if isinstance(found, int):
                yield found
                continue
            yield 3 * self._nexts.size * (FIXED + len(found.row))
            if len(found.row):
                yield APART
                yield from self._told(columns, found)

    def _columns(self, states: Sequence[State]) -> dict[str, Column]:
        rows = list(zip(*states, strict=True))
        return {var.name: column(rows[place], var.type.bits) for place, var in enumerate(self._variables)}

    def _found(self, columns: Mapping[str, Column], count: int) -> Iterator[int | FoundSteps]:
        """The work done, and at last all steps of ``count`` states."""
        spent, row, choice, nexts = self._every.steps(columns, count, list)
        yield spent
        yield FoundSteps(row, choice, nexts, {}, row)

    def _told(self, columns: Mapping[str, Column], found: FoundSteps) -> Iterator[Step]:
        row, size = found.row, len(found.row)
        nexts = [np.broadcast_to(part, (size,)) for part in found.nexts]
        given = {name: part[found.choice] for name, part in self.tried.columns.items()}
        here = {name: part[row] for name, part in columns.items()}
        moves = self._movement(here, given, nexts)
        sample = {**here, **moves.samples}
        after_sample = [np.broadcast_to(part, (size,)) for part in self._nexts({**sample, **given})]
        mask, inner = self._looks.on({**here, **given}, nexts), self._looks.on({**sample, **given}, after_sample)
        told = mask, moves.forgotten, moves.mover, moves.shift, inner
        chosen = first_of_each([key.astype(np.uint64) for key in (row, *nexts, *told)], np.ones(size, bool))
        targets = zip(*(list(map(int, part[chosen].tolist())) for part in nexts), strict=True)
        rest = zip(*(part[chosen].tolist() for part in (row, found.choice, *told)), strict=True)
        for target, (source, choice, *others) in zip(targets, rest, strict=True):
            yield Step(source, choice, target, *others)

    def _movement(self, here: Mapping[str, Column], given: Mapping[str, Column], nexts: Sequence[Column]) -> _Movement:
        """What steps do with counters, as steps from other values of the same cells tell."""
        size, names = len(nexts[0]), self._names
        beside = {**here}
        for counter in self._counters:
            name = names[counter.place]
            value = here[name].astype(np.int64)
            low, high = counter.all_bounds(value)
            other = np.where(high == low, value, np.where(value < high, value + 1, value - 1))
            beside[name] = column(other, counter.bits)
        there = self._nexts({**beside, **given})
        mover, shift, forgotten = np.full(size, -1), np.zeros(size, np.int64), np.zeros(size, np.int64)
        samples = {}
        for number, counter in enumerate(self._counters):
            value, following = here[names[counter.place]].astype(np.int64), nexts[counter.place]
            low, high = counter.all_bounds(value)
            alike = (np.broadcast_to(there[counter.place], (size,)) == following) | (low == high)
            delta = (following.astype(np.int64) - value) % (1 << counter.bits)
            moving = ~alike & (delta != 0)
            mover[moving], shift[moving] = number, delta[moving]
            forgotten |= alike.astype(np.int64) << number
            back = (1 << counter.bits) - delta
            up, down = moving & (delta <= high - low), moving & (back <= high - low)
            sample = np.where(up & (value + delta > high), high - delta, value)
            sample = np.where(~up & down & (value - back < low), low + back, sample)
            samples[names[counter.place]] = column(sample, counter.bits)
        return _Movement(mover, shift, forgotten, samples)


class _Looks:
    """Which events happen in states and steps, as bits."""

    def __init__(self, problem: Problem, names: Sequence[str]) -> None:
        events = Events.of(problem.goals, problem.system)
        self._names = names
        self._first = min(len(events.states), MOST_EVENTS)
        self._states = Program([*events.states[: self._first], problem.final or TRUE()])
        self._steps = Program(events.steps[: MOST_EVENTS - self._first])

    def at(self, columns: Mapping[str, Column], size: int) -> tuple[list[int], list[bool]]:
        """For each state its events, and whether a run may end there."""
        *values, ends = self._states(columns)
        return [int(mask) for mask in _bits(values, size, 0).tolist()], np.broadcast_to(ends, (size,)).tolist()

    def on(self, values: Mapping[str, Column], nexts: Sequence[Column]) -> Column:
        """For each step its events."""
        later = {NEXT + name: part for name, part in zip(self._names, nexts, strict=True)}
        return _bits(self._steps({**values, **later}), len(nexts[0]), self._first)


def _bits(values: Sequence[Column], size: int, first: int) -> Column:
    found = np.zeros(size, np.uint64)
    for number, value in enumerate(values):
        found |= np.broadcast_to(value, (size,)).astype(np.uint64) << np.uint64(first + number)
    return found
