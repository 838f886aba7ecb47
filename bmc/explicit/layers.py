"""Breadth-first layers over packed states, without the steps between them: exact distances in large state spaces.

A state is packed into as few bits as the values of its variables need. A search keeps the set of states that it has
met, and these in the order of their layers, but no step: each is made again when it is needed, by C code generated from
the transition system (``bmc.explicit.layers_in_c``), or, without a compiler or where a state is too wide for C, in
arrays. Both give the same answers; each counts the work that it takes itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import prod
from typing import NamedTuple, Protocol

from pysmt.fnode import FNode

from bmc.analysis.state_values import state_values
from bmc.evaluation.vectors import Columns, node_count
from bmc.explicit.input_classes import (
    MOST_CASES,
    InputTables,
    TooManyValues,
    all_values,
    input_tables,
    listed,
    value_count,
)
from bmc.explicit.kinds import allowed_tables
from bmc.explicit.rows import Layout, Rows
from bmc.explicit.scope import Scope
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
        self.layout = Layout([(f.var.name, f.bits) for f in self.fields if f.bits])
        self.allowed, self.nexts = scope.allowed, scope.nexts
        self.conditions = [self._plain(each) for each in watched]
        self.size = 1 + node_count([self.allowed, *self.nexts, *self.conditions])
        self.tables = self._tables(scope, spend)
        named = {name for table in self.tables for name in table.columns}
        self.rest = {var.name: var.plainest for var in system.inputs if var.name not in named}
        self.starts = tuple(dict.fromkeys(map(self.packed, starts)))

    def _tables(self, scope: Scope, spend: Callable[[int], None]) -> list[Rows]:
        """The cases of each group of inputs. NotInLayers where they are too many."""
        try:
            for step in input_tables(self.system.inputs, scope.roots):
                if isinstance(step, InputTables):
                    return allowed_tables(step, self.allowed)
                spend(step)
        except TooManyValues as error:
            raise NotInLayers(str(error)) from error
        raise AssertionError

    def input_of(self, cases: Sequence[int]) -> Valuation:
        """The input with these cases of the groups, every input named."""
        found = dict(self.rest)
        for table, case in zip(self.tables, cases, strict=True):
            found.update((name, int(values[case])) for name, values in table.columns.items())
        return found

    @property
    def bits(self) -> int:
        """The bits of a packed state."""
        return sum(each.bits for each in self.fields)

    @property
    def most_states(self) -> int:
        """There are no more states than this, by the values that each variable can have."""
        return prod(each.span + 1 for each in self.fields)

    @property
    def dense(self) -> bool:
        """Whether states have places in tables of bits."""
        return self.bits <= DENSE_BITS and (len(self.watched) + 3) << self.bits <= DENSE_SIZE

    @property
    def input_work(self) -> float:
        """Nominal nanoseconds for trying an input in a state, compiled."""
        return (self.size + (0 if self.dense else LOOKED_UP)) * OPERATION

    @property
    def work_each(self) -> float:
        """Nominal nanoseconds for trying inputs in one state, compiled, where one group of them matters at a time."""
        return (1 + sum(len(table) - 1 for table in self.tables)) * self.input_work

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

    def input(self, number: int) -> Valuation:
        """The input of this number, every input named."""

    def inputs(self) -> Columns:
        """The inputs that are tried in some state, by name."""

    def close(self) -> None:
        """Give back what it has taken."""
