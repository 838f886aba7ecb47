"""All cases of a step from cells of values: inputs in pieces, each comparison decided either way where it may be.

Thousands of cases are computed at a time. One that leaves something open is cut in two, until each tells what is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pysmt.operators as op
from pysmt.fnode import FNode

from bmc.evaluation.intervals import WIDEST, Beyond, Floats, Interval
from bmc.evaluation.programs import JOINED, Machine, compared_so
from bmc.evaluation.vectors import Column
from bmc.floats.format import FORMATS
from bmc.formulas.evaluate import names_in
from bmc.formulas.unroll import with_terms
from bmc.records import dataclass
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, conjunction, conjuncts
from chaincover.verification.limits import BLOCK

SINGLE = 256
"""An input with so many values, or fewer, is cut into single ones."""
ASKED = np.uint64(1 << 63)
"""The use of a number for anything but a number after the step."""


class TooMany(Exception):
    """Limits came first."""


@dataclass
class _Rows:
    """Cases of steps: from the cell ``node``, each input from one piece to another one, and what is assumed."""

    node: Column
    first: Column
    last: Column
    told: Column
    low: Column
    high: Column

    def which(self, chosen: Column) -> _Rows:
        parts = (self.first, self.last, self.told, self.low, self.high)
        return _Rows(self.node[chosen], *(part[:, chosen] for part in parts))

    @staticmethod
    def joined(parts: Sequence[_Rows]) -> _Rows:
        names = ("first", "last", "told", "low", "high")
        stacked = (np.concatenate([getattr(part, name) for part in parts], axis=1) for name in names)
        return _Rows(np.concatenate([part.node for part in parts]), *stacked)


class Cases:
    """All outcomes of a step from some cells. ``words`` and ``numbers`` are the variables that steps read."""

    def __init__(self, system: TransitionSystem, moves: Sequence[FNode], states: Sequence[FNode], pieces: int) -> None:
        """``moves`` and ``states`` are asked of a step and of the state after it; inputs are cut into ``pieces``."""
        following = {var.symbol: var.next for var in system.state}
        valid = conjunction([*_between_inputs(system), system.defined])
        after = with_terms(states, following)
        roots = [valid, *moves, *after]
        read = replace(system, invariants=()).cone(roots)
        self.words = [var for var in read if not var.type.floating]
        self.numbers = [var for var in read if var.type.floating]
        every: list[StateVariable | InputVariable] = [*system.state, *system.inputs]
        floating = {var.name: floats_of(var).form for var in every if var.type.floating}
        if max((var.type.bits for var in self.words), default=0) > WIDEST:
            raise Beyond
        nexts = [var.next for var in (*self.words, *self.numbers)]
        self.machine = machine = Machine([*roots, *nexts], floating)
        self.inputs = [var for var in system.inputs if var.name in machine.symbols]
        self.pieces = [_pieces(var, pieces) for var in self.inputs]
        self._atoms = list(filter(machine.is_atom, range(len(machine.instructions))))
        self._kept = sorted(set[int]().union(*map(machine.compared, self._atoms)))
        self._asked, self._count = machine.results[: len(roots) + len(self.words)], len(roots)
        self._deep = machine.results[len(roots) :]
        self.spent = 0

    def outcomes(
        self, nodes: Column, boxes: Mapping[str, Interval], most: int
    ) -> Iterator[tuple[Column, list[Interval]]]:
        """For all cases of steps from the cells ``nodes``, in ``boxes``: the cell, and the values of all results but
        the first, in turn: predicates of the step, of the state after it, words and numbers after it.

        TooMany where these take more than ``most`` instructions, with those before.
        """
        for part, found, done in self._finished(nodes, boxes, most):
            ends = [found[place] for place in self.machine.results[1:]]
            yield part.node[done], [Interval(low[done], high[done]) for low, high in ends]

    def uses(self, nodes: Column, boxes: Mapping[str, Interval], most: int) -> Iterator[tuple[Column, Column, Column]]:
        """As ``outcomes``: the cell, the words after the step, and for each of ``numbers`` what it was used for.

        A use is a bit: of the number after the step that is calculated from it, or ``ASKED``, where anything else
        depends on it. What has one value whatever the numbers are does not use them.
        """
        first = len(self.machine.results) - len(self.numbers)
        words = self.machine.results[first - len(self.words) : first]
        for part, found, done in self._finished(nodes, boxes, most):
            after = np.array([found[place].low[done] for place in words], np.int64).reshape(len(words), len(done))
            yield part.node[done], after, self._used(part, found)[:, done]

    def _used(self, rows: _Rows, found: Sequence[Interval]) -> Column:
        """The uses of each of ``numbers`` in each of ``rows``, where all that is asked is decided."""
        machine = self.machine
        marks = np.zeros((len(found), len(rows.node)), np.uint64)
        last = machine.results[len(machine.results) - len(self.numbers) :]
        for number, place in enumerate(last):
            marks[place] |= bit_of(number)
        narrowed = {}
        for number, place in enumerate(self._kept):
            least, most = machine.everything(place)
            narrowed[place] = (rows.low[number] > least) | (rows.high[number] < most)
        told = {place: rows.told[number] >= 0 for number, place in enumerate(self._atoms)}
        for place in reversed(range(len(found))):
            unsure = found[place].low < found[place].high
            marks[place] = np.where(unsure | narrowed.get(place, False), marks[place], np.uint64(0))
            if place in told:
                marks[place] = np.where(told[place], ASKED, marks[place])
            instruction = machine.instructions[place]
            if instruction.floating is None and instruction.node.node_type() == op.ITE:
                condition, then, other = instruction.arguments
                low, high = found[condition]
                marks[condition] |= np.where(low < high, marks[place], np.uint64(0))
                marks[then] |= np.where(high == 1, marks[place], np.uint64(0))
                marks[other] |= np.where(low == 0, marks[place], np.uint64(0))
            else:
                for argument in instruction.arguments:
                    marks[argument] |= marks[place]
        read = [machine.symbols.get(var.name) for var in self.numbers]
        used = np.zeros((len(read), len(rows.node)), np.uint64)
        for number, symbol in enumerate(read):
            if symbol is not None:
                used[number] = marks[symbol]
        return used

    def _finished(
        self, nodes: Column, boxes: Mapping[str, Interval], most: int
    ) -> Iterator[tuple[_Rows, list[Interval], Column]]:
        """Cases with the values at all places, and which of them tell all that is asked."""
        todo = [self._all(nodes)]
        while todo:
            rows = _Rows.joined(todo)
            self.spent += len(rows.node) * len(self.machine.instructions)
            if self.spent > most:
                raise TooMany
            todo = []
            for begin in range(0, len(rows.node), BLOCK):
                part = rows.which(np.arange(begin, min(begin + BLOCK, len(rows.node))))
                values = self._values(part, boxes)
                told = {place: part.told[n] for n, place in enumerate(self._atoms)}
                kept = {place: Interval(part.low[n], part.high[n]) for n, place in enumerate(self._kept)}
                found, possible = self.machine.run(values, told, kept, len(part.node))
                possible = possible & (found[self.machine.results[0]].high == 1)
                split, more = self._cases(part, found, possible)
                todo += more
                done = np.flatnonzero(possible & ~split)
                if len(done):
                    yield part, found, done

    def _all(self, nodes: Column) -> _Rows:
        size = len(nodes)
        ends = [self.machine.everything(place) for place in self._kept]
        low, high = (np.array([end[n] for end in ends], np.int64).reshape(-1, 1) for n in (0, 1))
        last = np.array([len(pieces) - 1 for pieces in self.pieces], np.int64).reshape(-1, 1)
        return _Rows(
            nodes,
            np.zeros((len(self.pieces), size), np.int64),
            np.repeat(last, size, axis=1),
            np.full((len(self._atoms), size), -1, np.int8),
            np.repeat(low, size, axis=1),
            np.repeat(high, size, axis=1),
        )

    def _values(self, rows: _Rows, boxes: Mapping[str, Interval]) -> dict[int, Interval]:
        found = {}
        for var in (*self.words, *self.numbers):
            if var.name in self.machine.symbols:
                box = boxes[var.name]
                found[self.machine.symbols[var.name]] = Interval(box.low[rows.node], box.high[rows.node])
        for number, pieces in enumerate(self.pieces):
            ends = Interval(pieces[rows.first[number], 0], pieces[rows.last[number], 1])
            found[self.machine.symbols[self.inputs[number].name]] = ends
        return found

    def _cases(self, rows: _Rows, found: Sequence[Interval], possible: Column) -> tuple[Column, list[_Rows]]:
        """Which rows are cut into cases, and these: by an input that tells more in pieces, else by a comparison."""
        wanted, open_ones = self._wanted(found, possible)
        split = np.zeros(len(rows.node), bool)
        more: list[_Rows] = []
        for number, var in enumerate(self.inputs):
            here = wanted[self.machine.symbols[var.name]] & ~split & (rows.first[number] < rows.last[number])
            split |= here
            if here.any():
                lower, upper = rows.which(here), rows.which(here)
                middle = (lower.first[number] + lower.last[number]) // 2
                lower.last[number], upper.first[number] = middle, middle + 1
                more += [lower, upper]
        for number, place in enumerate(self._atoms):
            here = open_ones[place] & ~split
            split |= here
            if here.any():
                for holds in (True, False):
                    part = rows.which(here)
                    part.told[number] = holds
                    values = [Interval(v.low[here], v.high[here]) for v in found]
                    for kept, (low, high) in compared_so(self.machine, place, holds, values).items():
                        at_place = self._kept.index(kept)
                        part.low[at_place] = np.maximum(part.low[at_place], low)
                        part.high[at_place] = np.minimum(part.high[at_place], high)
                    more.append(part)
        return split, more

    def _wanted(self, found: Sequence[Interval], possible: Column) -> tuple[Column, Column]:
        """Two marks for every place and row: values that should be told in pieces, conditions that have to be told."""
        machine = self.machine
        deep, ways, asked = (np.zeros((len(found), len(possible)), bool) for _ in range(3))
        deep[list(self._deep)] = asked[list(self._asked)] = possible
        for place in reversed(range(len(found))):
            unsure = found[place].low < found[place].high
            for marks in (asked, deep, ways):
                marks[place] &= unsure
            every = asked[place] | deep[place] | ways[place]
            if not every.any():
                continue
            instruction = machine.instructions[place]
            node, arguments = instruction.node, instruction.arguments
            if instruction.floating is None and node.node_type() == op.ITE:
                condition, then, other = arguments
                low, high = found[condition]
                asked[condition] |= every & (low < high)
                for marks in (asked, deep, ways):
                    marks[then] |= marks[place] & (low == 1)
                    marks[other] |= marks[place] & (high == 0)
            elif instruction.floating is None and node.node_type() in JOINED:
                left = every.copy()
                for argument in arguments:
                    here = left & (found[argument].low < found[argument].high)
                    asked[argument] |= here
                    left &= ~here
            else:
                atom = machine.is_atom(place)
                for argument in arguments:
                    ways[argument] |= ways[place] | every if atom else ways[place]
                    if not atom:
                        deep[argument] |= deep[place] | asked[place]
        return deep | asked, asked


def bit_of(number: int) -> np.uint64:
    """The bit of one of ``Cases.numbers``; beyond 63 they share bits, and count as used where one of them is."""
    return np.uint64(1 << number % 63)


def floats_of(var: StateVariable | InputVariable) -> Floats:
    """The numbers of a floating variable."""
    return Floats.of(FORMATS.get(var.type.bits))


def _between_inputs(system: TransitionSystem) -> list[FNode]:
    """What the constraint says beyond the values of single inputs."""
    declared = {var.name for var in system.inputs if var.values}
    parts = [(part, names_in([part])) for part in conjuncts(system.input_constraint)]
    return [part for part, names in parts if len(names) != 1 or not names <= declared]


def _pieces(var: InputVariable, count: int) -> Column:
    """The values of an input, in rising pieces: their ends as they are kept in intervals."""
    size = 1 << max(var.type.bits, 1)
    raw = [(low % size, high % size) for low, high in var.allowed]
    raw = [pair for low, high in raw for pair in ([(low, high)] if low <= high else [(low, size - 1), (0, high)])]
    if not var.type.floating:
        if sum(high - low + 1 for low, high in raw) <= SINGLE:
            return np.array(sorted((value, value) for low, high in raw for value in range(low, high + 1)), np.int64)
        if var.type.bits >= 64:
            raise Beyond
        return np.array(sorted(part for low, high in raw for part in _cut(low, high, count)), np.int64)
    return _pieces_of_numbers(floats_of(var), raw, count)


def _pieces_of_numbers(floats: Floats, raw: Sequence[tuple[int, int]], count: int) -> Column:
    """The values of a floating input, whose patterns are ``raw``, in rising pieces of keys."""
    keys = [pair for low, high in raw for pair in _keys(low, high, floats.form.sign)]
    joined: list[tuple[int, int]] = []
    for low, high in sorted(keys):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = joined[-1][0], max(high, joined[-1][1])
        else:
            joined.append((low, high))
    found: list[tuple[int, int]] = []
    for low, high in joined:
        first, last = (float(floats.numbers(np.array([end], np.int64))[0]) for end in (low, high))
        if np.isfinite(first) and np.isfinite(last) and first < last:
            between = floats.keys(np.linspace(first, last, count + 1)[1:-1]).tolist()
            found += pairwise(sorted([low, *(min(max(end, low), high) for end in between), high]))
        else:
            found.append((low, high))
    return np.array(found, np.int64)


def _keys(low: int, high: int, sign: int) -> list[tuple[int, int]]:
    """The keys of a range of patterns."""
    found = [(low, min(high, sign - 1))] if low < sign else []
    if high >= sign:
        found.append((sign - 1 - high, sign - 1 - max(low, sign)))
    return found


def _cut(low: int, high: int, count: int) -> list[tuple[int, int]]:
    ends = [low + (high - low + 1) * n // count for n in range(count + 1)]
    return [(a, b - 1) for a, b in pairwise(ends) if a < b]
