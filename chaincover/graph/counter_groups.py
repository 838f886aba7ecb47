"""How fast counters move: the nodes of a graph of jumps in groups, within which they differ in counters only, by values
of one cell.

By the lemma of ``bmc.invariants.counters`` a step does the same from all states of a group, so what is known of groups
holds for any run: by how much a counter moves in one step, how many steps there are from a group to the next one that
moves it, and hence how many lie at least between two steps that move it, its gap. A counter whose gap is 1 is fast;
behind a divider of the step's rate it is slow, and takes as many steps as its gap for each time that it moves.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from functools import cached_property
from math import inf

import numpy as np

from bmc.evaluation.vectors import Column
from bmc.records import dataclass

State = tuple[int, ...]
Moves = tuple[tuple[tuple[int, ...], int], ...]
"""Inputs by their numbers, one for each step, each such sequence with the number of times that it is made."""


@dataclass(frozen=True)
class Counter:
    """A variable of ``bits`` bits at a ``place`` of a state, with the first values of its cells."""

    place: int
    starts: Sequence[int]
    bits: int

    def bounds(self, value: int) -> tuple[int, int]:
        """The first and the last value of the cell of ``value``."""
        cell = bisect_right(self.starts, value)
        return self.starts[cell - 1], (self.starts[cell] if cell < len(self.starts) else 1 << self.bits) - 1

    def same_cell(self, value: int, other: int) -> bool:
        """Whether two values lie in one cell."""
        low, high = self.bounds(value)
        return low <= other <= high

    def within(self, value: int, shift: int) -> tuple[int, int]:
        """By how much adding ``shift``, modulo the width, leads up and down in the cell of ``value``; 0: it does not,
        from any value of the cell."""
        low, high = self.bounds(value)
        back = (1 << self.bits) - shift
        return shift if shift <= high - low else 0, back if back <= high - low else 0

    def exits(self, value: int, shift: int) -> range:
        """The values in the cell of ``value`` from which adding ``shift`` leaves it; where that leads both up and down,
        those from which it leaves upwards."""
        (low, high), (up, down) = self.bounds(value), self.within(value, shift)
        if up:
            return range(high - up + 1, high + 1)
        return range(low, low + down if down else high + 1)

    def all_bounds(self, values: Column) -> tuple[Column, Column]:
        """The same for many values."""
        starts = np.array(self.starts, np.int64)
        cell = np.searchsorted(starts, values, "right") - 1
        return starts[cell], np.append(starts[1:], 1 << self.bits)[cell] - 1


@dataclass(frozen=True, slots=True)
class _Way:
    """Steps from group to group; ``carried`` are the counters (as bits) that they neither set nor move out of a cell,
    ``mover`` is the one that they move within its cell, -1: none."""

    source: int
    target: int
    carried: int
    mover: int


class Groups:
    """The groups of the nodes of a graph in the making, and the steps between them, each with one of its inputs."""

    def __init__(self, counters: Sequence[Counter]) -> None:
        self._counters = counters
        self._numbers: dict[State, int] = {}
        self._ways: dict[_Way, int] = {}
        self._speeds: dict[tuple[int, int], list[int]] = {}

    def number(self, state: State) -> int:
        """The group of a state."""
        key = list(state)
        for counter in self._counters:
            key[counter.place] = counter.bounds(state[counter.place])[0]
        return self._numbers.setdefault(tuple(key), len(self._numbers))

    def step(self, source: int, target: int, carried: int, choice: int) -> None:
        """A step that moves no counter within its cell."""
        self._ways.setdefault(_Way(source, target, carried, -1), choice)

    def move(self, way: tuple[int, int], carried: int, number: int, choice: int, most: tuple[int, int]) -> None:
        """A step that moves the counter ``number`` within its cell, by ``most`` up or down."""
        source, target = way
        self._ways.setdefault(_Way(source, target, carried, number), choice)
        speeds = self._speeds.setdefault((target, number), [0, 0])
        speeds[:] = max(speeds[0], most[0]), max(speeds[1], most[1])

    @cached_property
    def speeds(self) -> dict[tuple[int, int], tuple[int, int]]:
        """By group and counter, the most by which a step may have moved it since it was set: up and down."""
        after_it: dict[tuple[int, int], list[int]] = {}
        for way in self._ways:
            for number in self._carried(way):
                after_it.setdefault((way.source, number), []).append(way.target)
        found = {key: (up, down) for key, (up, down) in self._speeds.items()}
        todo = [*found]
        while todo:
            group, number = todo.pop()
            up, down = found[group, number]
            for following in after_it.get((group, number), ()):
                before = found.get((following, number), (0, 0))
                most = max(before[0], up), max(before[1], down)
                if most != before:
                    found[following, number] = most
                    todo.append((following, number))
        return found

    def _carried(self, way: _Way) -> list[int]:
        return [number for number in range(len(self._counters)) if way.carried >> number & 1]

    @cached_property
    def _ahead(self) -> list[dict[int, float]]:
        """For each counter by group the least steps until one that moves it. Those that move another counter do not
        count, for they may be counted as steps of that one."""
        found = []
        for number in range(len(self._counters)):
            backward: dict[int, list[tuple[int, int]]] = {}
            for way in self._ways:
                if way.carried >> number & 1:
                    backward.setdefault(way.target, []).append((way.source, int(way.mover in (-1, number))))
            least: dict[int, float] = {way.source: 0 for way in self._ways if way.mover == number}
            queue = deque((0.0, group) for group in least)
            while queue:
                steps, group = queue.popleft()
                if steps > least[group]:
                    continue
                for before, weight in backward.get(group, ()):
                    if steps + weight < least.get(before, inf):
                        least[before] = steps + weight
                        (queue.append if weight else queue.appendleft)((steps + weight, before))
            found.append(least)
        return found

    @cached_property
    def gaps(self) -> list[int]:
        """For each counter the least number of steps from one that moves it to the next, that one included."""
        least: list[float] = [inf] * len(self._counters)
        for way in self._ways:
            if way.mover >= 0:
                least[way.mover] = min(least[way.mover], self._ahead[way.mover].get(way.target, inf) + 1)
        return [1 if gap == inf else int(gap) for gap in least]

    def due(self, group: int, number: int) -> int:
        """The steps from ``group`` until one that moves the counter, at most those of a whole gap before it."""
        return int(min(self._ahead[number].get(group, inf), self.gaps[number] - 1))

    def cycle(self, group: int, number: int) -> tuple[int, ...] | None:
        """The inputs of a shortest way from ``group`` back to it that moves the counter and no other; None: there is
        none."""
        key = group, number
        if key not in self._cycles:
            self._cycles[key] = self._cycle(group, number)
        return self._cycles[key]

    @cached_property
    def _cycles(self) -> dict[tuple[int, int], tuple[int, ...] | None]:
        return {}

    @cached_property
    def _forward(self) -> dict[int, list[tuple[_Way, int]]]:
        found: dict[int, list[tuple[_Way, int]]] = {}
        for way, choice in self._ways.items():
            found.setdefault(way.source, []).append((way, choice))
        return found

    def _cycle(self, group: int, number: int) -> tuple[int, ...] | None:
        start, end = (group, False), (group, True)
        before: dict[tuple[int, bool], tuple[tuple[int, bool], int]] = {}
        queue = deque([start])
        while queue and end not in before:
            place = queue.popleft()
            for way, choice in self._forward.get(place[0], ()):
                after = way.target, place[1] or way.mover == number
                if way.mover in (-1, number) and way.carried >> number & 1 and after != start and after not in before:
                    before[after] = place, choice
                    queue.append(after)
        if end not in before:
            return None
        found, place = [], end
        while place != start:
            place, choice = before[place]
            found.append(choice)
        return tuple(found[::-1])


def straight(way: int, steps: Sequence[tuple[int, int, int]]) -> tuple[int, Moves, int] | None:
    """A run that moves a counter by ``way``: its length, its inputs, and the events on it; None if none is found.

    ``steps``: by how much each step moves the counter, its input, and its events.
    """
    far, sign = abs(way), 1 if way > 0 else -1
    fitting: dict[tuple[int, int], int] = {}
    for moved, choice, mask in steps:
        if moved * sign > 0:
            fitting.setdefault((abs(moved), mask), choice)
    if not fitting:
        return None
    most = max(moved for moved, _ in fitting)
    count, rest = divmod(far, most)
    last = [(choice, mask) for (moved, mask), choice in fitting.items() if moved == rest][:1]
    if rest and not last:
        return None
    first = [(choice, mask) for (moved, mask), choice in sorted(fitting.items(), reverse=True) if moved == most]
    used = first[:count]
    moves = [((choice,), 1) for choice, _ in used[1:] + last]
    if used:
        moves.insert(0, ((used[0][0],), count - len(used) + 1))
    events = 0
    for _, mask in [*used, *last]:
        events |= mask
    return count + bool(rest), tuple(moves), events
