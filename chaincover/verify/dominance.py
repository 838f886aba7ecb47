"""What runs have had in each state, so that a later run which has nothing new is left out: the search over all runs."""

from __future__ import annotations

import numpy as np

from bmc.evaluation.vectors import Column

COMPARED, BESIDE = 4096, 256
"""Earlier nodes of a state with which a new one is compared, and how many at once."""
FEW = 32
"""Nodes of one state that are not compared in blocks."""


class Dominance:
    """The bits that runs had in each state, so that a later run with no other ones is left out.

    Few nodes of a state are compared one after the other, but those of all states at once: ``last`` is the place of the
    latest bits of a state, ``before`` leads to those before (-1: none). In a state with many whole blocks are compared.
    """

    def __init__(self, size: int, words: int) -> None:
        self._last = np.full(size, -1, np.int64)
        self._count = np.zeros(size, np.int64)
        self._bits, self._before = np.zeros((1024, words), np.uint64), np.zeros(1024, np.int64)
        self._size = 0
        self._blocks: dict[int, Column] = {}

    def fresh(self, state: Column, bits: Column) -> Column:
        """The numbers of the rows, sorted by ``state``, that are unlike what is known and the rows kept before."""
        cuts = np.flatnonzero(np.diff(state, prepend=-1))
        sizes = np.diff(cuts, append=len(state))
        large = (sizes > FEW) | (self._count[state[cuts]] > FEW)
        groups = zip(cuts[large].tolist(), sizes[large].tolist(), strict=True)
        kept = [self._in_blocks(first, size, state, bits) for first, size in groups]
        first, sizes = cuts[~large], sizes[~large]
        for rank in range(int(sizes.max(initial=0))):
            rows = first[sizes > rank] + rank
            rows = rows[self._beyond(state[rows], bits[rows])]
            self._add(state[rows], bits[rows])
            kept.append(rows)
        return np.concatenate([np.zeros(0, np.int64), *kept])

    def _beyond(self, state: Column, bits: Column) -> Column:
        """Marks the rows, of different states, that have a bit which each of those known in the state lacks."""
        fine = np.ones(len(state), bool)
        rows, place = np.arange(len(state)), self._last[state]
        while True:
            left = place >= 0
            rows, place = rows[left], place[left]
            if not len(rows):
                return fine
            own = (bits[rows] & ~self._bits[place]).any(axis=1)
            fine[rows[~own]] = False
            rows, place = rows[own], self._before[place[own]]

    def _add(self, state: Column, bits: Column) -> None:
        """Know ``bits`` in states that are different from each other."""
        end = self._size + len(state)
        if end > len(self._bits):
            more = max(end, 2 * len(self._bits)) - len(self._bits)
            self._bits = np.concatenate([self._bits, np.zeros((more, self._bits.shape[1]), np.uint64)])
            self._before = np.concatenate([self._before, np.zeros(more, np.int64)])
        self._bits[self._size : end], self._before[self._size : end] = bits, self._last[state]
        self._last[state] = np.arange(self._size, end)
        self._count[state] += 1
        self._size = end

    def _in_blocks(self, first: int, size: int, state: Column, bits: Column) -> Column:
        """As ``fresh`` for ``size`` rows of one state."""
        here, group = int(state[first]), np.arange(first, first + size)
        known = self._blocks.get(here)
        if known is None:
            known = self._bits[self._places(here)]
        group, own = _unlike(group, bits[group], known)
        taken = np.zeros(0, np.int64)
        for begin in range(0, len(group), BESIDE):
            part, own_bits = _unlike(group[begin : begin + BESIDE], own[begin : begin + BESIDE], bits[taken])
            taken = np.concatenate([taken, part[_maximal(own_bits)]])
        self._blocks[here] = np.concatenate([known, bits[taken]])
        self._count[here] = FEW + 1
        return taken

    def _places(self, state: int) -> list[int]:
        """The places of what is known in a state, in the order in which it came."""
        found, place = [], int(self._last[state])
        while place >= 0:
            found.append(place)
            place = int(self._before[place])
        return found[::-1]


def _unlike(group: Column, bits: Column, known: Column) -> tuple[Column, Column]:
    """Those rows (with their numbers) that have a bit which ``known`` rows lack, each of the last ``COMPARED``."""
    for begin in range(max(0, len(known) - COMPARED), len(known), BESIDE):
        if not len(group):
            break
        own = (bits[:, None, :] & ~known[None, begin : begin + BESIDE, :]).any(axis=2)
        beyond: Column = np.all(own, axis=1)
        group, bits = group[beyond], bits[beyond]
    return group, bits


def _maximal(bits: Column) -> Column:
    """The numbers of the rows that no earlier row has all bits of."""
    within = ~(bits[:, None, :] & ~bits[None, :, :]).any(axis=2)
    earlier = np.tril(np.ones((len(bits), len(bits)), bool), -1)
    return np.flatnonzero(~(within & earlier).any(axis=1))
