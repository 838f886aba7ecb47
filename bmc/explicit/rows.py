"""Valuations and steps kept in arrays, to be read like tuples of dictionaries and of pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, overload

import numpy as np

from bmc.explicit.numbering import Words
from bmc.explicit.vectors import Column, word

_AT_ONCE = 4096


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


class Rows(Sequence[Mapping[str, int]]):
    """Valuations by number: ``columns`` hold each variable's raw values."""

    def __init__(self, columns: Mapping[str, Column], size: int) -> None:
        self.columns = dict(columns)
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
        for first in range(0, self._size, _AT_ONCE):
            last = min(first + _AT_ONCE, self._size)
            lists = [_integers(column[first:last]) for column in self.columns.values()]
            for row in zip(*lists, strict=True) if lists else [()] * (last - first):
                yield dict(zip(self.columns, row, strict=True))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Sequence)
            and len(other) == len(self)
            and all(a == b for a, b in zip(self, other, strict=True))
        )

    __hash__ = None  # type: ignore[assignment]

    def which(self, numbers: Any) -> Rows:
        """The valuations of these numbers, in their order."""
        return Rows({name: column[numbers] for name, column in self.columns.items()}, len(numbers))


def _integers(column: Column) -> list[int]:
    values: list[int] = (column.astype(np.uint8) if column.dtype == bool else column).tolist()
    return values


class Steps(Sequence[tuple[tuple[int, int], ...]]):
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
        for first in range(0, len(self), _AT_ONCE):
            bounds = self.offsets[first : first + _AT_ONCE + 1].tolist()
            choices = self.choices[bounds[0] : bounds[-1]].tolist()
            nexts = self.nexts[bounds[0] : bounds[-1]].tolist()
            pairs = list(zip(choices, nexts, strict=True))
            for low, high in pairwise(bounds):
                yield tuple(pairs[low - bounds[0] : high - bounds[0]])

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Sequence)
            and len(other) == len(self)
            and all(a == b for a, b in zip(self, other, strict=True))
        )

    __hash__ = None  # type: ignore[assignment]
