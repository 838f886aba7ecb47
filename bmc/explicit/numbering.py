"""Numbers for keys, in the order in which they first come: a hash table in arrays, whole batches at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Words = np.ndarray[Any, np.dtype[np.uint64]]
Numbers = np.ndarray[Any, np.dtype[np.int64]]

_FIRST = 1024
_MIX = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)


class Numbering:
    """Keys of ``width`` words of 64 bits each. Their numbers count up from 0 in the order of the first coming."""

    def __init__(self, width: int) -> None:
        self._words: list[Words] = [np.zeros(_FIRST, np.uint64) for _ in range(width)]
        self._slots = np.full(4 * _FIRST, -1, np.int32)
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
            self._words = [np.concatenate([own[:old], np.zeros(size - old, np.uint64)]) for own in self._words]
        for own, given in zip(self._words, keys, strict=True):
            own[old : old + count] = given
        self.size = old + count
        if 2 * self.size > self._slots.size:
            bits = (4 * self.size - 1).bit_length()
            self._slots = np.full(1 << bits, -1, np.int32)
            self._place(np.arange(self.size), (_hash(self.words) & np.uint64(self._slots.size - 1)).astype(np.int64))
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
