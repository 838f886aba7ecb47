"""Searches in layers in arrays: slower than the compiled ones, with the same answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from bmc.errors import CheckDisagreed
from bmc.evaluation.vectors import OVERHEAD, VALUE, Column, Columns, Program, word
from bmc.explicit.input_classes import TooManyValues
from bmc.explicit.layers import Key, LayeredSystem, NotInLayers, OutOfMemory, Way
from bmc.explicit.modes import MOST_MODES, Modes, inputs_by_mode
from bmc.explicit.rows import Numbering, distinct
from bmc.explicit.scope import Scope
from bmc.explicit.steps import BLOCK
from bmc.records import dataclass
from bmc.system.transition import Valuation

NUMBERED = 180
"""In arrays: operations on columns that take as long as numbering the states of a column, and keeping them."""


class VectorLayers:
    """``Layers`` in arrays: states are numbered as they are met first."""

    def __init__(self, made: LayeredSystem, memory: int) -> None:
        self._steps, self._memory = _Steps(made), memory
        self.work, self.states, self.bytes = 0.0, 0, 0
        self.work_each = self._steps.work_of(self._steps.together) / self._steps.together
        self._seen: Column = np.zeros(0, bool)
        self._ends: dict[int, Column] = {}
        self._together = [set[int]() for _ in made.watched]
        self._now = _Search([], set(), whole=True)

    def from_starts(self) -> None:
        made = self._steps.made
        self._begin(self._steps.numbered(made.starts), _Search([], {*range(len(made.watched))}, whole=True))

    def list_arrows(self, work: float) -> bool:
        return True

    def from_ends(self, condition: int, sought: Sequence[int]) -> None:
        self._begin(np.flatnonzero(self._ends.get(condition, np.zeros(0, bool))), _Search([], {*sought}))

    def from_state(self, key: Key | None, sought: int) -> None:
        keys = self._steps.made.starts if key is None else (key,)
        self._begin(self._steps.numbered(keys), _Search([], {sought}))

    def go(self, work: float) -> bool:
        now, due = self._now, self.work + work
        while True:
            while now.done < len(now.layers[-1]):
                if self.work >= due:
                    return False
                part = now.layers[-1][now.done : now.done + self._steps.together]
                self._expand(part)
                now.done += len(part)
            if not now.following or (not now.whole and not now.missing):
                return True
            now.layers.append(np.concatenate(now.following))
            now.following, now.done = [], 0

    def first(self) -> list[int]:
        return [self._now.first.get(number, -1) for number in range(len(self._steps.made.watched))]

    def together(self) -> list[set[int]]:
        return self._together

    def way(self, condition: int, portion: float) -> Iterator[Way | None]:
        steps, due = self._steps, self.work + portion
        layers = self._now.layers[: self._now.first[condition] + 1]
        target: list[Any] | None = None
        begin = end = 0
        found: list[int] = []
        if condition in steps.on_state:
            last = layers.pop()
            target = steps.words(steps.least(last[steps.met_in(last)[condition]]))
            begin = end = steps.key(target)
        for layer in reversed(layers):
            parts = []
            for first in range(0, len(layer), steps.together):
                here = layer[first : first + steps.together]
                row, choice, after, met = steps.of(here)
                same = [] if target is None else [a == t for a, t in zip(after, target, strict=True)]
                kept = np.flatnonzero(met[condition] if target is None else np.logical_and.reduce(same))
                parts.append((here[row[kept]], choice[kept], *(column[kept] for column in after)))
                self.work += steps.work_of(len(here))
                if self.work >= due:
                    due = self.work + portion
                    yield None
            sources, choice, *after = (np.concatenate(columns) for columns in zip(*parts, strict=True))
            place = steps.least_step(sources, choice)
            end = steps.key([column[place] for column in after]) if target is None else end
            target = steps.words(int(sources[place]))
            begin = steps.key(target)
            found.append(int(choice[place]))
        yield Way(begin, found[::-1], end)

    def input(self, number: int) -> Valuation:
        steps = self._steps
        return {**steps.made.rest, **(steps.inputs[number] if len(steps.inputs) else {})}

    def inputs(self) -> Columns:
        return self._steps.inputs.columns

    def close(self) -> None:
        self._now = _Search([], set())

    def _begin(self, numbers: Column, search: _Search) -> None:
        self._seen = np.zeros(max(self._steps.numbers.size, len(self._seen)), bool)
        self._seen[numbers] = True
        search.layers.append(numbers)
        self._now, self.states = search, len(numbers)

    def _expand(self, part: Column) -> None:
        steps, now = self._steps, self._now
        met = steps.met_in(part)
        row, _, after, on_step = steps.of(part)
        for condition, holds in (met | on_step).items():
            if condition in now.missing and holds.any():
                now.missing.discard(condition)
                now.first[condition] = len(now.layers) - 1
        numbers = steps.numbers.add(after)
        self._seen = _grown(self._seen, steps.numbers.size)
        fresh = distinct(numbers[~self._seen[numbers]])
        self._seen[fresh] = True
        if fresh.size:
            now.following.append(fresh)
            self.states += len(fresh)
        if now.whole:
            for condition, holds in met.items():
                self._remember(condition, part[holds])
            for condition, holds in on_step.items():
                self._remember(condition, numbers[holds])
                beside = {**on_step, **{other: column[row] for other, column in met.items()}} if holds.any() else {}
                self._together[condition] |= {other for other, column in beside.items() if (column & holds).any()}
        self.work += steps.work_of(len(part))
        self.bytes = steps.numbers.bytes + len(self._seen) * (1 + len(self._ends)) + 8 * self.states
        if self.bytes > self._memory:
            raise OutOfMemory

    def _remember(self, condition: int, numbers: Column) -> None:
        self._ends[condition] = _grown(self._ends.get(condition, np.zeros(0, bool)), len(self._seen))
        self._ends[condition][numbers] = True


def _grown(flags: Column, size: int) -> Column:
    """``flags`` with room for ``size`` of them."""
    if len(flags) >= size:
        return flags
    return np.concatenate([flags, np.zeros(max(size, 2 * len(flags)) - len(flags), bool)])


@dataclass
class _Search:
    """One search: its ``layers`` so far, the ``following`` one, how many of the last layer's states are ``done``.

    ``missing`` are the conditions that are still sought, ``first`` the distances of the others. Where it is ``whole``
    all states are sought.
    """

    layers: list[Column]
    missing: set[int]
    whole: bool = False
    following: list[Column] = field(default_factory=list)
    done: int = 0
    first: dict[int, int] = field(default_factory=dict)


def modes_of(made: LayeredSystem) -> Modes:
    """The inputs to try in each state of ``made``, mode by mode. NotInLayers where they are too many."""
    few = [each for each in made.fields if each.span < MOST_MODES]
    domains = [(each.var.name, [(each.least + n) & each.mask for n in range(each.span + 1)]) for each in few]
    try:
        return inputs_by_mode(Scope(made.system, [each.formula for each in made.watched]), domains, lambda work: None)
    except TooManyValues as error:
        raise NotInLayers(str(error)) from error


class _Steps:
    """Makes steps of numbered states, whole arrays at a time. Conditions go by their numbers."""

    def __init__(self, made: LayeredSystem) -> None:
        self.made, self.modes = made, modes_of(made)
        self.inputs = self.modes.rows
        self.tried = max(1, len(self.inputs) // (len(self.modes.begins) - 1))
        self.numbers = Numbering(made.layout.width)
        self.together = max(1, BLOCK // self.tried)
        self.on_state = [number for number, each in enumerate(made.watched) if not each.on_step]
        self._state_program = Program([made.conditions[number] for number in self.on_state])
        self._step_program = Program(
            [made.allowed, *made.nexts, *(made.conditions[number] for number in made.numbers_on_step)]
        )

    def work_of(self, states: int) -> float:
        """Nominal nanoseconds for trying all inputs in so many states at once."""
        return (self.made.size + NUMBERED) * (states * self.tried + OVERHEAD) * VALUE

    def numbered(self, keys: Sequence[Key]) -> Column:
        """The numbers of packed states."""
        mask = (1 << 64) - 1
        return self.numbers.add(
            [np.array([key >> (64 * at) & mask for key in keys], np.uint64) for at in range(self.made.layout.width)]
        )

    def words(self, number: int) -> list[Any]:
        """The words of a packed state."""
        return [column[number] for column in self.numbers.words]

    @staticmethod
    def key(words: Sequence[Any]) -> Key:
        """The packed state of these words."""
        return sum(int(each) << (64 * at) for at, each in enumerate(words))

    def least(self, numbers: Column) -> int:
        """Of ``numbers`` that of the least packed state."""
        return int(numbers[np.lexsort([column[numbers] for column in self.numbers.words])[0]])

    def least_step(self, numbers: Column, choice: Column) -> int:
        """The row of the least packed state, and of its least input."""
        return int(np.lexsort([choice, *(column[numbers] for column in self.numbers.words)])[0])

    def met_in(self, numbers: Column) -> dict[int, Column]:
        """Where the conditions on states are met."""
        found = self._state_program(self._columns(numbers))
        return {n: np.broadcast_to(column, (len(numbers),)) for n, column in zip(self.on_state, found, strict=True)}

    def of(self, numbers: Column) -> tuple[Column, Column, list[Column], dict[int, Column]]:
        """For up to ``together`` states: each step's row of ``numbers``, its input, the words of the next packed state;
        where conditions on steps are met."""
        made, parts = self.made, []
        columns = self._columns(numbers)
        mode = self._modes(columns, len(numbers))
        for each in distinct(mode).tolist():
            here, (begin, end) = np.flatnonzero(mode == each), self.modes.begins[each : each + 2]
            down = {name: column[here][:, None] for name, column in columns.items()}
            for first in range(begin, max(end, begin + 1), BLOCK):
                last = min(first + BLOCK, end)
                across = {name: column[None, first:last] for name, column in self.inputs.columns.items()}
                allowed, *found = self._step_program({**down, **across})
                shape = (len(here), last - first)
                where = np.nonzero(np.broadcast_to(allowed, shape))
                kept = [np.broadcast_to(column, shape)[where] for column in found]
                nexts, met = kept[: len(made.nexts)], kept[len(made.nexts) :]
                parts.append((here[where[0]], where[1] + first, *self._packed(nexts, len(where[0])), *met))
        row, choice, *others = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        width = made.layout.width
        return row, choice, others[:width], dict(zip(made.numbers_on_step, others[width:], strict=True))

    def _modes(self, columns: Mapping[str, Column], size: int) -> Column:
        """The numbers of the modes of so many states."""
        found = np.zeros(size, np.int64)
        by_name = {each.var.name: each for each in self.made.fields}
        for name, raw in self.modes.values:
            each, count = by_name[name], len(raw)
            above = (columns[each.var.name].astype(np.uint64) - np.uint64(each.least)) & np.uint64(each.mask)
            found = found * count + above.astype(np.int64)
        return found

    def _columns(self, numbers: Column) -> dict[str, Column]:
        packed = self.made.layout.columns([column[numbers] for column in self.numbers.words])
        columns = {}
        for each in self.made.fields:
            raw = packed[each.var.name].astype(np.uint64) if each.bits else np.zeros(len(numbers), np.uint64)
            columns[each.var.name] = ((raw + np.uint64(each.least)) & np.uint64(each.mask)).astype(
                word(each.var.type.bits)
            )
        return columns

    def _packed(self, nexts: Sequence[Column], size: int) -> list[Column]:
        fields = []
        for each, column in zip(self.made.fields, nexts, strict=True):
            above = (column.astype(np.uint64) - np.uint64(each.least)) & np.uint64(each.mask)
            if (above > np.uint64(each.span)).any():
                raise CheckDisagreed(f"'{each.var.name}' leaves the range that was proved for it")
            if each.bits:
                fields.append(above)
        return [np.broadcast_to(key, (size,)) for key in self.made.layout.pack(fields)]
