"""All reachable states, whole batches at a time, numbered in the order of a breadth-first search one by one.

That is: by the number of the state before, then by that of the input. A batch is a block of states times all inputs;
where few states wait (a timer that counts, say), steps are made one by one (``bmc.explicit.narrow``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bmc.explicit.narrow import few_steps, step_formulas, walk_on
from bmc.explicit.numbering import Numbering
from bmc.explicit.rows import Layout, Rows, Steps
from bmc.explicit.vectors import Column, Compiled, column, compile_columns
from bmc.system.hold import PHASE, PREFIX
from bmc.system.transition import TransitionSystem

BLOCK = 1 << 15
"""Steps made at once: as many as keep the columns of a large step within a few megabytes."""

SMALL_BATCH, MOST_AT_ONCE = 500, 1_000_000
"""States that are prepared for steps one by one in the time of a small batch; states found so before limits are looked
at again."""


@dataclass(frozen=True, slots=True)
class Limits:
    """``steps`` from states where inputs are free, ``inside`` states within held steps, ``bytes`` of memory."""

    steps: int
    inside: int
    bytes: int


@dataclass(frozen=True)
class Listing:
    """``starts`` are the numbers of the states where runs start; ``steps`` is empty where not asked for."""

    states: Rows
    starts: tuple[int, ...]
    steps: Steps


def list_states(
    system: TransitionSystem,
    starts: Rows,
    inputs: Rows,
    limits: Limits,
    with_steps: bool = True,
    check: Callable[[], None] = lambda: None,
) -> Listing | None:
    """The states of ``system`` reachable from ``starts``, which name all its variables, by ``inputs``.

    Inputs of ``system`` that ``inputs`` do not name must not matter. None above a limit. ``check`` is called before
    each batch; what it raises ends the listing.
    """
    return _Lister(system, inputs, limits, with_steps, check).run(starts)


class _Lister:
    def __init__(
        self, system: TransitionSystem, inputs: Rows, limits: Limits, with_steps: bool, check: Callable[[], None]
    ) -> None:
        self._check = check
        self._inputs, self._limits, self._with_steps = inputs, limits, with_steps
        self._layout = Layout([(var.name, var.type.bits) for var in system.state])
        self._keys = Numbering(self._layout.width)
        self._system = system
        self._few = few_steps(system)
        self._held = _Held(system, inputs) if system.hold > 1 else None
        self._made: list[tuple[Column, Column, Column]] = []
        self._made_bytes = self._expanded = self._inside = self._small_batches = 0

    @cached_property
    def _batch(self) -> Compiled:
        """Whether a step is allowed, and the next state."""
        return compile_columns(step_formulas(self._system))

    def run(self, starts: Rows) -> Listing | None:
        columns = [np.broadcast_to(starts.columns[field.name], len(starts)) for field in self._layout.fields]
        numbers = self._number(columns, len(starts))
        self._count_inside(0)
        while not self._too_many():
            if self._expanded == self._keys.size:
                states = Rows(self._layout.columns(self._keys.words), self._keys.size)
                return Listing(states, tuple(numbers.tolist()), self._steps())
            self._check()
            self._expand()
        return None

    def _too_many(self) -> bool:
        limits, taken = self._limits, self._keys.bytes + self._made_bytes
        free = (self._keys.size - self._inside) * len(self._inputs)
        return free > limits.steps or self._inside > limits.inside or taken > limits.bytes

    def _count_inside(self, first: int) -> None:
        """Count the states from ``first`` on that lie within held steps."""
        if self._held is not None:
            self._inside += int(np.count_nonzero(self._held.phases(self._columns(first, self._keys.size))))

    def _columns(self, first: int, last: int) -> dict[str, Column]:
        return self._layout.columns([key[first:last] for key in self._keys.words])

    def _number(self, columns: Sequence[Column], size: int) -> Column:
        """The numbers of the states of which ``columns`` hold the variables."""
        return self._keys.add([np.broadcast_to(key, (size,)) for key in self._layout.pack(columns)])

    def _expand(self) -> None:
        """Make all steps from the next states that wait."""
        known, every = self._keys.size, max(len(self._inputs), 1)
        if (known - self._expanded) * every <= self._few:
            self._small_batches += 1
            if self._small_batches * SMALL_BATCH >= known:
                return self._expand_each()
        last = min(known, self._expanded + max(1, BLOCK // every))
        columns = self._columns(self._expanded, last)
        if self._held is None:
            counts, choices, keys = self._all_inputs(columns, last - self._expanded)
        else:
            counts, choices, keys = self._own_inputs(columns, self._held.choices(columns))
        nexts = self._keys.add(keys)
        self._expanded = last
        self._count_inside(known)
        self._keep(counts, choices, nexts)

    def _expand_each(self) -> None:
        """Make steps one by one as long as few states wait."""
        known, every = self._keys.size, max(len(self._inputs), 1)
        states = Rows(self._columns(0, known), known)
        most = min(self._limits.steps // every + self._limits.inside, known + MOST_AT_ONCE)
        found = walk_on(self._system, self._inputs, states, self._expanded, 2 * self._few // every, most)
        if found.states:
            fields = self._layout.fields
            values = [column([state[field.name] for state in found.states], field.bits) for field in fields]
            self._number(values, len(found.states))
        self._expanded += len(found.counts)
        self._small_batches = 0
        self._count_inside(known)
        self._keep(np.array(found.counts), np.array(found.choices, np.int64), np.array(found.nexts, np.int64))

    def _all_inputs(self, columns: Mapping[str, Column], count: int) -> tuple[Column, Column, list[Column]]:
        """For each state the number of its steps; for each step its input and the key of the next state."""
        down = {name: column[:, None] for name, column in columns.items()}
        parts = []
        for first in range(0, len(self._inputs), BLOCK):
            block = slice(first, min(first + BLOCK, len(self._inputs)))
            across = {name: column[None, block] for name, column in self._inputs.columns.items()}
            allowed, *nexts = self._batch({**down, **across})
            shape = (count, block.stop - first)
            allowed = np.broadcast_to(allowed, shape)
            keys = [np.broadcast_to(key, shape)[allowed] for key in self._layout.pack(nexts)]
            parts.append((np.count_nonzero(allowed, axis=1), np.nonzero(allowed)[1] + first, keys))
        counts, choices, found = zip(*parts, strict=True)  # more than one part only where there is one state
        return sum(counts), np.concatenate(choices), [np.concatenate(key) for key in zip(*found, strict=True)]

    def _own_inputs(self, columns: Mapping[str, Column], held: Column) -> tuple[Column, Column, list[Column]]:
        """As ``_all_inputs``, where only one input may be tried in some states (``held``, -1: all)."""
        every = len(self._inputs)
        repeats = np.where(held < 0, every, 1)
        source = np.repeat(np.arange(len(held)), repeats)
        place = np.arange(len(source)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
        choice = np.where(held[source] < 0, place, held[source])
        values = {name: column[source] for name, column in columns.items()}
        values.update((name, column[choice]) for name, column in self._inputs.columns.items())
        allowed, *nexts = self._batch(values)
        allowed = np.broadcast_to(allowed, (len(source),))
        keys = [np.broadcast_to(key, (len(source),))[allowed] for key in self._layout.pack(nexts)]
        return np.bincount(source[allowed], minlength=len(held)), choice[allowed], keys

    def _keep(self, counts: Column, choices: Column, nexts: Column) -> None:
        if not self._with_steps:
            return
        most = np.min_scalar_type(max(len(self._inputs) - 1, 0))
        kept = (counts.astype(np.int32), choices.astype(most), nexts.astype(np.int32))
        self._made.append(kept)
        self._made_bytes += sum(column.nbytes for column in kept)
        if len(self._made) >= 1024:  # many small blocks would take more memory than what is in them
            self._made = [self._joined()]

    def _joined(self) -> tuple[Column, Column, Column]:
        if not self._made:
            return np.zeros(0, np.int32), np.zeros(0, np.uint8), np.zeros(0, np.int32)
        counts, choices, nexts = zip(*self._made, strict=True)
        return np.concatenate(counts), np.concatenate(choices), np.concatenate(nexts)

    def _steps(self) -> Steps:
        counts, choices, nexts = self._joined()
        return Steps(np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]), choices, nexts)


class _Held:
    """The inputs that states within held steps keep."""

    def __init__(self, system: TransitionSystem, inputs: Rows) -> None:
        self._names = [var.name for var in system.inputs if var.name in inputs.columns]
        self._layout = Layout([(var.name, var.type.bits) for var in system.inputs if var.name in inputs.columns])
        self._numbers = Numbering(self._layout.width)
        self._numbers.add(self._packed([inputs.columns[name] for name in self._names], len(inputs)))

    def phases(self, columns: Mapping[str, Column]) -> Column:
        return columns[PHASE]

    def choices(self, columns: Mapping[str, Column]) -> Column:
        """For each state the number of the input that it keeps, -1 where inputs are free."""
        phases = self.phases(columns)
        kept = self._packed([columns[f"{PREFIX}{name}"] for name in self._names], len(phases))
        return np.where(phases == 0, -1, self._numbers.find(kept))

    def _packed(self, columns: Sequence[Column], size: int) -> list[Column]:
        return [np.broadcast_to(key, (size,)) for key in self._layout.pack(columns)]
