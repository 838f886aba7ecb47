"""Valuations and steps kept in arrays, to be read like tuples of dictionaries and of pairs; numbers for them.

A valuation is packed into a key of a few words, and keys get numbers in the order in which they first come: a hash
table in arrays, to which whole batches are added at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeVar, overload

import numpy as np

from bmc.evaluation.vectors import Column, word
from bmc.records import dataclass

Words = np.ndarray[Any, np.dtype[np.uint64]]
Numbers = np.ndarray[Any, np.dtype[np.int64]]

_MIX = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)
AT_ONCE = 4096
"""Rows that are looked at together, and for which a table has places at first."""


@dataclass(frozen=True, slots=True)
class Field:
    """Where a variable of ``bits`` bits (0: Boolean) lies in a key: in word number ``word``, from bit ``shift`` on."""

    name: str
    bits: int
    word: int
    shift: int


class Layout:
    """Variables of (name, bits), at most 64 bits each, packed into words of 64 bits."""

    def __init__(self, variables: Sequence[tuple[str, int]]) -> None:
        self.fields: list[Field] = []
        self.width, used = 1, 0
        for name, bits in variables:
            size = max(bits, 1)
            if used + size > 64:
                self.width, used = self.width + 1, 0
            self.fields.append(Field(name, bits, self.width - 1, used))
            used += size

    def pack(self, columns: Sequence[Column]) -> list[Column]:
        """The words of the variables' ``columns``, which may have to be broadcast."""
        words: list[Column] = [np.zeros(1, np.uint64) for _ in range(self.width)]
        for field, column in zip(self.fields, columns, strict=True):
            part = column.astype(np.uint64)
            words[field.word] = words[field.word] | (part << np.uint64(field.shift) if field.shift else part)
        return words

    def columns(self, words: Sequence[Words]) -> dict[str, Column]:
        """The variables' columns by name."""
        return {field.name: self.column(words, field) for field in self.fields}

    def column(self, words: Sequence[Words], field: Field) -> Column:
        bits = max(field.bits, 1)
        values = words[field.word] >> np.uint64(field.shift) if field.shift else words[field.word]
        if field.shift + bits < 64:
            values = values & np.uint64((1 << bits) - 1)
        return values.astype(word(field.bits))


Item = TypeVar("Item")


class _LikeTuple(Sequence[Item]):
    """Read like a tuple: equal to every sequence of the same items."""

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Sequence)
            and len(other) == len(self)
            and all(a == b for a, b in zip(self, other, strict=True))
        )

    __hash__ = None  # type: ignore[assignment]


class Rows(_LikeTuple[Mapping[str, int]]):
    """Valuations by number: ``columns`` hold each variable's raw values.

    ``open`` tells for some variables in which valuations their value is open: shown as 0, it may be any other.
    """

    def __init__(self, columns: Mapping[str, Column], size: int, open_at: Mapping[str, Column] | None = None) -> None:
        self.columns = dict(columns)
        self.open = dict(open_at or {})
        self._size = size

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, index: int) -> Mapping[str, int]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Mapping[str, int]]: ...
    def __getitem__(self, index: int | slice) -> Mapping[str, int] | Sequence[Mapping[str, int]]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(self._size))]
        if not -self._size <= index < self._size:
            raise IndexError(index)
        return {name: int(column[index]) for name, column in self.columns.items()}

    def __iter__(self) -> Iterator[Mapping[str, int]]:
        for first in range(0, self._size, AT_ONCE):
            last = min(first + AT_ONCE, self._size)
            lists = [_integers(column[first:last]) for column in self.columns.values()]
            for row in zip(*lists, strict=True) if lists else [()] * (last - first):
                yield dict(zip(self.columns, row, strict=True))

    def which(self, numbers: Any) -> Rows:
        """The valuations of these numbers, in their order."""
        columns, open_at = ({n: column[numbers] for n, column in part.items()} for part in (self.columns, self.open))
        return Rows(columns, len(numbers), open_at)


def _integers(column: Column) -> list[int]:
    values: list[int] = (column.astype(np.uint8) if column.dtype == bool else column).tolist()
    return values


class Steps(_LikeTuple[tuple[tuple[int, int], ...]]):
    """For each state its steps as (input, next state): those of state s at ``offsets[s]`` to ``offsets[s + 1]``."""

    def __init__(self, offsets: Column, choices: Column, nexts: Column) -> None:
        self.offsets, self.choices, self.nexts = offsets, choices, nexts

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def total(self) -> int:
        """How many steps there are in all."""
        return len(self.nexts)

    @property
    def sources(self) -> Column:
        """For each step the state that it leaves."""
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.offsets))

    @overload
    def __getitem__(self, index: int) -> tuple[tuple[int, int], ...]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[tuple[tuple[int, int], ...]]: ...
    def __getitem__(self, index: int | slice) -> tuple[tuple[int, int], ...] | Sequence[tuple[tuple[int, int], ...]]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index %= len(self)
        part = slice(int(self.offsets[index]), int(self.offsets[index + 1]))
        return tuple(zip(self.choices[part].tolist(), self.nexts[part].tolist(), strict=True))

    def __iter__(self) -> Iterator[tuple[tuple[int, int], ...]]:
        for first in range(0, len(self), AT_ONCE):
            bounds = self.offsets[first : first + AT_ONCE + 1].tolist()
            choices = self.choices[bounds[0] : bounds[-1]].tolist()
            nexts = self.nexts[bounds[0] : bounds[-1]].tolist()
            pairs = list(zip(choices, nexts, strict=True))
            for low, high in pairwise(bounds):
                yield tuple(pairs[low - bounds[0] : high - bounds[0]])


LOOKED_UP, NUMBERED = 20, 100
"""Units of work that it takes to look up the number of a known key, and of a state with what is kept of it."""


class Numbering:
    """Keys of ``width`` words of 64 bits each. Their numbers count up from 0 in the order of the first coming."""

    def __init__(self, width: int) -> None:
        self._words: list[Words] = [np.zeros(AT_ONCE, np.uint64) for _ in range(width)]
        self._slots = np.full(4 * AT_ONCE, -1, np.int32)
        self.size = 0

    @property
    def words(self) -> list[Words]:
        """The keys by number, one array for each word."""
        return [column[: self.size] for column in self._words]

    @property
    def bytes(self) -> int:
        """Memory that the table takes."""
        return int(self._slots.nbytes + sum(column.nbytes for column in self._words))

    def add(self, keys: Sequence[Words]) -> Numbers:
        """The numbers of ``keys`` (an array for each word); those that come for the first time get the next ones."""
        found, places = self._look_up(keys)
        fresh = np.flatnonzero(found < 0)
        if fresh.size:
            first, group = _groups([column[fresh] for column in keys])
            order = np.argsort(first)
            rank = np.empty_like(order)
            rank[order] = np.arange(order.size)
            found[fresh] = self.size + rank[group]
            chosen = fresh[first[order]]
            self._insert([column[chosen] for column in keys], places[chosen])
        return found

    def find(self, keys: Sequence[Words]) -> Numbers:
        """The numbers of ``keys``, -1 for one that has none."""
        return self._look_up(keys)[0]

    def _look_up(self, keys: Sequence[Words]) -> tuple[Numbers, Numbers]:
        """The numbers (-1: none) and the slots where the search for each key ended."""
        mask = self._slots.size - 1
        places = (_hash(keys) & np.uint64(mask)).astype(np.int64)
        found = np.full(places.size, -1, np.int64)
        left = np.arange(places.size)
        while left.size:
            here = self._slots[places[left]]
            held = here >= 0
            left, here = left[held], here[held]
            same = np.ones(left.size, bool)
            for own, given in zip(self._words, keys, strict=True):
                same &= own[here] == given[left]
            found[left[same]] = here[same]
            left = left[~same]
            places[left] = (places[left] + 1) & mask
        return found, places

    def _insert(self, keys: Sequence[Words], places: Numbers) -> None:
        """Number different new ``keys`` in their order; the search for each ended at ``places``."""
        count, old = places.size, self.size
        if old + count > self._words[0].size:
            size = max(2 * self._words[0].size, old + count)
            for number in range(len(self._words)):  # one after the other, so that one alone is there twice
                self._words[number] = grown(self._words[number], size)
        for own, given in zip(self._words, keys, strict=True):
            own[old : old + count] = given
        self.size = old + count
        if 3 * self.size > 2 * self._slots.size:
            bits = (2 * self.size - 1).bit_length()
            self._slots = self._slots[:0].copy()  # first of all the old one goes
            self._slots = np.full(1 << bits, -1, np.int32)
            for first in range(0, self.size, AT_ONCE):  # at once they would take more memory than the table
                words = [column[first : first + AT_ONCE] for column in self.words]
                mask = np.uint64(self._slots.size - 1)
                self._place(np.arange(first, first + len(words[0])), (_hash(words) & mask).astype(np.int64))
        else:
            self._place(np.arange(old, self.size), places)

    def _place(self, numbers: Numbers, places: Numbers) -> None:
        """Put ``numbers`` of different keys into the first free slots from ``places`` on."""
        mask = self._slots.size - 1
        while numbers.size:
            free = self._slots[places] < 0
            self._slots[places[free]] = numbers[free]
            left = self._slots[places] != numbers
            numbers, places = numbers[left], (places[left] + 1) & mask


def grown(values: Column, size: int) -> Column:
    """``values`` with zeros behind them, ``size`` in all: these take memory only once they are written."""
    found: Column = np.zeros(size, values.dtype)
    found[: len(values)] = values
    return found


def _hash(keys: Sequence[Words]) -> Words:
    value = keys[0] * np.uint64(_MIX[0])
    value ^= value >> np.uint64(32)
    for column in keys[1:]:
        value += column
        value *= np.uint64(_MIX[1])
        value ^= value >> np.uint64(29)
    value *= np.uint64(_MIX[1])
    value ^= value >> np.uint64(32)
    return value


def _groups(keys: Sequence[Words]) -> tuple[Numbers, Numbers]:
    """For each different key the row where it first comes, and for each row which of these it has."""
    one = keys[0] if len(keys) == 1 else _hash(keys)
    _, first, group = np.unique(one, return_index=True, return_inverse=True)
    if all(np.array_equal(column[first[group]], column) for column in keys):
        return first, group
    _, first, group = np.unique(np.stack(keys, axis=1), axis=0, return_index=True, return_inverse=True)
    return first, group.reshape(-1)


def first_of_each(columns: Sequence[Column], among: Column) -> Column:
    """The rows of ``among`` (a mask) that no earlier one equals in all ``columns``, which may have to be broadcast."""
    rows = np.flatnonzero(among)
    first, _ = groups_of([column if len(column) == 1 else column[rows] for column in columns], len(rows))
    return rows[first]


def distinct(values: Column) -> Column:
    """The different ``values``, in order: what ``np.unique`` gives, whose hash table is slow where they are many."""
    values = np.sort(values, axis=None)
    kept = np.ones(len(values), bool)
    np.not_equal(values[1:], values[:-1], out=kept[1:])
    return values[kept]


def groups_of(columns: Sequence[Column], size: int) -> tuple[Column, Column]:
    """The first of the rows that are equal in all ``columns``, in order; for each row the number of its group."""
    fields: list[tuple[str, int]] = []
    parts: list[Column] = []
    for values in columns:
        part = values
        if len(part) <= 1 or (part == part[0]).all():
            continue
        if part.dtype == object:
            _, part = np.unique(part, return_inverse=True)
        fields.append((str(len(fields)), 0 if part.dtype == bool else 8 * part.itemsize))
        parts.append(part)
    if not parts:
        return np.arange(min(size, 1)), np.zeros(size, np.int64)
    layout = Layout(fields)
    numbers = Numbering(layout.width).add(layout.pack(parts))
    first = np.full(int(numbers.max()) + 1, size)
    np.minimum.at(first, numbers, np.arange(size))
    return first, numbers
