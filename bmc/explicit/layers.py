"""Breadth-first layers over packed states, without the steps between them: exact distances in large state spaces.

A state is packed into as few bits as the values of its variables need. A search keeps the set of states that it has
met, and these in the order of their layers, but no step: each is made again when it is needed, by C code generated from
the transition system (``bmc.explicit.layers_in_c``), or, without a compiler or where a state is too wide for C, in
arrays. Both give the same answers; each counts the work that it takes itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import product
from math import prod
from typing import Any, NamedTuple, Protocol

import numpy as np
from pysmt.fnode import FNode

from bmc.analysis.state_values import state_values
from bmc.errors import CheckDisagreed
from bmc.evaluation.vectors import OVERHEAD, VALUE, Column, Program, node_count, word
from bmc.explicit.input_classes import MOST_CASES, TooManyValues, all_values, listed, value_count
from bmc.explicit.modes import MOST_MODES, Values, inputs_by_mode
from bmc.explicit.rows import Layout, Numbering, distinct
from bmc.explicit.scope import Scope
from bmc.explicit.steps import BLOCK
from bmc.formulas.unroll import unframed, with_terms
from bmc.records import dataclass
from bmc.system.simulation import Simulator
from bmc.system.transition import StateVariable, TransitionSystem, Valuation, symbols_of

Key = int
"""A packed state."""

DENSE_BITS, DENSE_SIZE = 30, 1 << 35
"""States of up to so many bits have places in tables of bits, of so many in all; others are numbered."""

OPERATION, LOOKED_UP = 1 / 20, 1_000
"""Compiled: nominal nanoseconds for an operation; operations that could be done while the number of a state is looked
up. With twice as many, turns in layers are half as long."""

NUMBERED = 180
"""In arrays: operations on columns that take as long as numbering the states of a column, and keeping them."""


class NotInLayers(Exception):
    """Why a system cannot be searched in layers, as the rest of a sentence."""


class OutOfMemory(Exception):
    """A search takes more memory than it may."""


@dataclass(frozen=True, slots=True)
class Watched:
    """A condition on a state, or, if ``on_step``, on a state, an input and the next state; over framed symbols."""

    formula: FNode
    on_step: bool


@dataclass(frozen=True, slots=True)
class _Field:
    """A variable in the packed state: the raw pattern of its least value, and how far its greatest one lies above."""

    var: StateVariable
    least: int
    span: int

    @property
    def bits(self) -> int:
        return self.span.bit_length()

    @property
    def mask(self) -> int:
        return (1 << max(self.var.type.bits, 1)) - 1


class LayeredSystem:
    """What a search needs: ``fields`` of the packed state, the ``inputs`` to try, and the formulas of a step.

    ``conditions`` are over plain symbols. NotInLayers where the system has no such form. ``spend`` is told of
    operations on values while the inputs are prepared.
    """

    def __init__(
        self, system: TransitionSystem, watched: Sequence[Watched], spend: Callable[[int], None] = lambda work: None
    ) -> None:
        scope = Scope(system, [each.formula for each in watched])
        self.system, self.watched = scope.system, tuple(watched)
        starts = _start_states(self.system)
        self.fields = _fields(self.system)
        try:
            self.modes = inputs_by_mode(scope, self._domains(), spend)
        except TooManyValues as error:
            raise NotInLayers(str(error)) from error
        self.inputs = self.modes.rows
        self.rest = {var.name: var.plainest for var in system.inputs if var.name not in self.inputs.columns}
        self.layout = Layout([(f.var.name, f.bits) for f in self.fields if f.bits])
        self.allowed, self.nexts = scope.allowed, scope.nexts
        self.conditions = [self._plain(each) for each in watched]
        self.size = 1 + node_count([self.allowed, *self.nexts, *self.conditions])
        self.starts = tuple(dict.fromkeys(map(self.packed, starts)))

    @property
    def bits(self) -> int:
        """The bits of a packed state."""
        return sum(each.bits for each in self.fields)

    def _domains(self) -> list[Values]:
        """The fields of few values."""
        few = [each for each in self.fields if each.span < MOST_MODES]
        return [(each.var.name, [(each.least + n) & each.mask for n in range(each.span + 1)]) for each in few]

    @property
    def digits(self) -> list[tuple[_Field, int]]:
        """The fields whose values are the digits of the number of a state's mode, each with how many values it has."""
        by_name = {each.var.name: each for each in self.fields}
        return [(by_name[name], len(raw)) for name, raw in self.modes.values]

    @property
    def most_states(self) -> int:
        """There are no more states than this, by the values that each variable can have."""
        return prod(each.span + 1 for each in self.fields)

    @property
    def tried(self) -> int:
        """How many inputs are tried in a state, on average."""
        return max(1, len(self.inputs) // (len(self.modes.begins) - 1))

    @property
    def dense(self) -> bool:
        """Whether states have places in tables of bits."""
        return self.bits <= DENSE_BITS and (len(self.watched) + 3) << self.bits <= DENSE_SIZE

    @property
    def work_each(self) -> float:
        """Nominal nanoseconds for trying all inputs in one state, compiled."""
        return self.tried * (self.size + (0 if self.dense else LOOKED_UP)) * OPERATION

    def bytes_for(self, states: int) -> int:
        """About how much a search takes that meets so many: their order, bits for all or for each goal, and keys."""
        sets = len(self.watched) + 2
        if self.dense:
            return 4 * states + min(sets * states, sets << self.bits) // 8
        return states * (4 + 8 + 8 * self.layout.width) + sets * states // 8

    @property
    def numbers_on_step(self) -> list[int]:
        """The numbers of the conditions on steps."""
        return [number for number, each in enumerate(self.watched) if each.on_step]

    def packed(self, state: Valuation) -> Key:
        """The packed form of a state, given by raw patterns."""
        by_name = {each.var.name: each for each in self.fields}
        key = 0
        for place in self.layout.fields:
            var = by_name[place.name]
            key |= ((state[place.name] - var.least) & var.mask) << (64 * place.word + place.shift)
        return key

    def opened(self, key: Key) -> Valuation:
        """The values of the variables that init leaves open, raw, in a packed state."""
        places = {place.name: 64 * place.word + place.shift for place in self.layout.fields}
        opened = [each for each in self.fields if each.var.init is None]
        above = {each: (key >> places[each.var.name]) & ((1 << each.bits) - 1) if each.bits else 0 for each in opened}
        return {each.var.name: (found + each.least) & each.mask for each, found in above.items()}

    def input(self, number: int) -> Valuation:
        """The input of this number, every input named."""
        return {**self.rest, **self.inputs[number]} if len(self.inputs) else self.rest

    def _plain(self, watched: Watched) -> FNode:
        following = {var.name: var.next for var in self.system.state}
        terms: dict[FNode, FNode] = {}
        for symbol in symbols_of(watched.formula):
            name, step = unframed(symbol)
            if step > int(watched.on_step and name in following):
                raise NotInLayers("a goal takes more than one step")
            terms[symbol] = following[name] if step else self.system.variable(name).symbol
        return with_terms([watched.formula], terms)[0]


def _fields(system: TransitionSystem) -> tuple[_Field, ...]:
    values = state_values(system)
    assert values is not None
    found = []
    for var in system.state:
        ranges = values[var.name]
        signed = var.type.signed and not var.type.floating
        low, high = (
            (min(map(var.type.value, (a for a, _ in ranges))), max(map(var.type.value, (b for _, b in ranges))))
            if signed and not any(a < 1 << (var.type.bits - 1) <= b for a, b in ranges)
            else (var.type.least, var.type.greatest)
            if signed
            else (min(a for a, _ in ranges), max(b for _, b in ranges))
        )
        found.append(_Field(var, low % (1 << max(var.type.bits, 1)), high - low))
    return tuple(found)


def _start_states(system: TransitionSystem) -> list[Valuation]:
    """The start states. NotInLayers where they are too many."""
    opened = [var for var in system.state if var.init is None]
    names, count = [var.name for var in opened], prod(map(value_count, opened))
    if count > MOST_CASES:
        raise NotInLayers(f"init leaves {listed(names)} open, which makes {count} start states")
    simulator = Simulator(system)
    return [simulator.initial(dict(zip(names, each, strict=True))) for each in product(*map(all_values, opened))]


class Way(NamedTuple):
    """A run between two states: the numbers of its ``inputs``."""

    start: Key
    inputs: list[int]
    end: Key


class Layers(Protocol):
    """A breadth-first search that can be begun again elsewhere. A state lies in the layer of its distance.

    ``work`` is what all has taken so far, in nominal nanoseconds; ``work_each`` what a state takes in which all inputs
    are tried, at least. ``states`` counts those that this search has met; ``bytes`` is the memory that is taken.
    """

    work: float
    work_each: float
    states: int
    bytes: int

    def from_starts(self) -> None:
        """Begin at the start states, to go on until all reachable ones are met. Comes first, and goes to its end."""

    def list_arrows(self, work: float) -> bool:
        """Note the steps between all reachable states, so that searches for conditions need not try inputs again, for
        about so much more work. Whether there is nothing more to note, as where memory does not suffice. Comes after
        the search from the starts."""

    def from_ends(self, condition: int, sought: Sequence[int]) -> None:
        """Begin at all reachable states in which a run of this condition can end, until all ``sought`` are met."""

    def from_state(self, key: Key | None, sought: int) -> None:
        """Begin at one state, or at the start states, until the condition ``sought`` is met."""

    def go(self, work: float) -> bool:
        """Go on for about so much more work, by a state at least. Whether the search is over. OutOfMemory may be
        raised."""

    def first(self) -> list[int]:
        """For each condition the least distance at which it is met, -1 where it is not."""

    def together(self) -> list[set[int]]:
        """For each condition on steps those that are met in the same state or step, itself included."""

    def way(self, condition: int, portion: float) -> Iterator[Way | None]:
        """A shortest run that meets a condition, with a condition's own step, from where the search began.

        The states of the layers before it are tried once more: None is yielded after each ``portion`` of that work."""

    def close(self) -> None:
        """Give back what it has taken."""


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


class _Steps:
    """Makes steps of numbered states, whole arrays at a time. Conditions go by their numbers."""

    def __init__(self, made: LayeredSystem) -> None:
        self.made = made
        self.numbers = Numbering(made.layout.width)
        self.together = max(1, BLOCK // made.tried)
        self.on_state = [number for number, each in enumerate(made.watched) if not each.on_step]
        self._state_program = Program([made.conditions[number] for number in self.on_state])
        self._step_program = Program(
            [made.allowed, *made.nexts, *(made.conditions[number] for number in made.numbers_on_step)]
        )

    def work_of(self, states: int) -> float:
        """Nominal nanoseconds for trying all inputs in so many states at once."""
        return (self.made.size + NUMBERED) * (states * self.made.tried + OVERHEAD) * VALUE

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
            here, (begin, end) = np.flatnonzero(mode == each), made.modes.begins[each : each + 2]
            down = {name: column[here][:, None] for name, column in columns.items()}
            for first in range(begin, max(end, begin + 1), BLOCK):
                last = min(first + BLOCK, end)
                across = {name: column[None, first:last] for name, column in made.inputs.columns.items()}
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
        for each, count in self.made.digits:
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
