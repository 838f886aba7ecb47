"""Steps from whole batches of states: under every input, or under those that can be told apart; and steps ahead."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

import numpy as np
from pysmt.fnode import FNode

from bmc.explicit.input_classes import (
    TooManyValues,
    largest_terms,
    listed,
)
from bmc.explicit.rows import Layout, Numbering, Rows
from bmc.explicit.scope import FoundSteps, Inputs, Scope
from bmc.explicit.splitting import FIXED, Cases, PartialProgram, Splitter, TooManyCases
from bmc.explicit.vectors import Column, Program, walk
from bmc.system.hold import PHASE, PREFIX
from bmc.system.transition import (
    TransitionSystem,
)

BLOCK = 1 << 15
"""Steps made at once: as many as keep the columns of a large step within a few megabytes."""

MOST_CASES = 1 << 20
"""Cases of inputs in one batch of states."""

FEW_INPUTS = 256
"""Finding the inputs that matter in a state takes longer than trying so many."""

MOST_AHEAD, LEAST_AHEAD = 1 << 13, 4
"""Steps made ahead at once at most; states ahead of each waiting one at first."""

SPLIT_AT_FIRST, SPLIT_TOGETHER = 16, 512
"""States for which the inputs that matter are found together."""

Pack = Callable[[Sequence[Column]], list[Column]]
"""From the columns of the variables to the keys of states."""


class Ahead:
    """States that would follow those that wait if every variable went on changing as in the last two steps.

    A key is a sum of the variables' values times powers of two, so that the difference of two keys says how all of them
    changed; where a variable overflows, the guess is wrong, and no step leads there.
    """

    def __init__(self) -> None:
        self._far = LEAST_AHEAD
        self._threads = 1
        self._before: Column = np.full(1024, -1, np.int64)

    def note(self, known: int, sources: Column, nexts: Column) -> None:
        """Remember from which state each of those numbered from ``known`` on was first reached."""
        if len(nexts) > 4 * MOST_AHEAD:
            return
        fresh = np.flatnonzero(nexts >= known)
        if not fresh.size:
            return
        numbers, first = np.unique(nexts[fresh], return_index=True)
        if numbers[-1] >= len(self._before):
            more = np.full(max(len(self._before), int(numbers[-1]) + 1 - len(self._before)), -1, np.int64)
            self._before = np.concatenate([self._before, more])
        self._before[numbers] = sources[fresh[first]]

    def extended(self, numbers: Column, states: Numbering, inputs: int) -> list[Column]:
        """The keys of the states that wait, and after them of those that may follow."""
        keys = [key[numbers] for key in states.words]
        if len(numbers) * inputs > MOST_AHEAD or numbers[-1] >= len(self._before):
            return keys
        before = self._before[numbers]
        first = np.where(before >= 0, self._before[before], -1)
        steady = first >= 0
        for key in states.words:
            steady &= key[numbers] - key[before] == key[before] - key[first]
        chosen, before = numbers[steady], before[steady]
        room = MOST_AHEAD // inputs // max(1, len(chosen))
        if room < 2 or not len(chosen):
            return keys
        times = np.arange(1, min(self._far, room) + 1, dtype=np.uint64)
        more = [
            (key[chosen][:, None] + (key[chosen] - key[before])[:, None] * times[None, :]).ravel()
            for key in states.words
        ]
        self._threads = len(chosen)
        return [np.concatenate([key, added]) for key, added in zip(keys, more, strict=True)]

    def reached(self, waiting: int, keys: list[Column], fresh: Column, row: Column, nexts: list[Column]) -> Column:
        """The places among ``keys`` to which steps lead from the first so many, and these themselves.

        Of the others only ``fresh`` ones count. ``row`` and ``nexts``: for each step its place, and where it leads.
        """
        local = Numbering(len(keys))
        places = local.add(keys)
        first = np.full(local.size, len(places))
        np.minimum.at(first, places, np.arange(len(places)))
        target = local.find(nexts)
        inside = np.flatnonzero(target >= 0)
        inside = inside[fresh[first[target[inside]]]]
        target = first[target[inside]]
        ends = np.searchsorted(row[inside], np.arange(len(places) + 1)).tolist()
        follow = target.tolist()
        seen = [False] * len(places)
        todo = list(range(waiting))
        found = []
        while todo:
            here = todo.pop()
            for after in follow[ends[here] : ends[here + 1]]:
                if not seen[after]:
                    seen[after] = True
                    found.append(after)
                    todo.append(after)
        span = (len(places) - waiting) // self._threads
        farthest = max(((place - waiting) % span for place in found), default=-1) + 1
        self._far = min(2 * self._far, MOST_AHEAD) if farthest == span else max(LEAST_AHEAD, 2 * farthest)
        return np.concatenate([np.arange(waiting), np.sort(np.array(found, np.int64))])


class EveryInput:
    """Steps from states under every combination of inputs, or the one that is held."""

    def __init__(self, scope: Scope, inputs: Inputs) -> None:
        assert inputs.every is not None
        self._inputs = inputs.every
        self._program = Program([scope.allowed, *scope.nexts])
        self.size = max(1, len(self._inputs))
        self.work_each = self._program.size * self.size
        self._held = _Held(scope.system, self._inputs) if scope.system.hold > 1 else None

    def steps(self, columns: Mapping[str, Column], count: int, pack: Pack) -> tuple[int, Column, Column, list[Column]]:
        """The work done; the state (by its place), the input (by its number) and the next state's key of each step."""
        if self._held is not None:
            return self._under_held(columns, self._held.choices(columns), pack)
        down = {name: column[:, None] for name, column in columns.items()}
        parts = []
        for first in range(0, max(1, len(self._inputs)), BLOCK):
            block = slice(first, min(first + BLOCK, len(self._inputs)))
            across = {name: column[None, block] for name, column in self._inputs.columns.items()}
            allowed, *nexts = self._program({**down, **across})
            shape = (count, block.stop - first)
            where = np.nonzero(np.broadcast_to(allowed, shape))
            keys = [np.broadcast_to(key, shape)[where] for key in pack(nexts)]
            parts.append((where[0], where[1] + first, keys))
        row, choice, found = zip(*parts, strict=True)  # more than one part only where there is one state
        spent = self._program.size * (count * self.size + FIXED * len(parts))
        return spent, np.concatenate(row), np.concatenate(choice), [np.concatenate(k) for k in zip(*found, strict=True)]

    def _under_held(
        self, columns: Mapping[str, Column], held: Column, pack: Pack
    ) -> tuple[int, Column, Column, list[Column]]:
        """As ``steps``, where only one input may be tried in some states (``held``, -1: all)."""
        repeats = np.where(held < 0, self.size, 1)
        source = np.repeat(np.arange(len(held)), repeats)
        place = np.arange(len(source)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
        choice = np.where(held[source] < 0, place, held[source])
        values = {name: column[source] for name, column in columns.items()}
        values.update((name, column[choice]) for name, column in self._inputs.columns.items())
        allowed, *nexts = self._program(values)
        made = np.flatnonzero(np.broadcast_to(allowed, (len(source),)))
        keys = [np.broadcast_to(key, (len(source),))[made] for key in pack(nexts)]
        return self._program.size * (len(source) + FIXED), source[made], choice[made], keys


class _Held:
    """The inputs that states within held steps keep."""

    def __init__(self, system: TransitionSystem, inputs: Rows) -> None:
        kept = [var for var in system.inputs if var.name in inputs.columns]
        self._names = [var.name for var in kept]
        self._layout = Layout([(var.name, var.type.bits) for var in kept])
        self._numbers = Numbering(self._layout.width)
        self._numbers.add(self._packed([inputs.columns[name] for name in self._names], len(inputs)))

    def choices(self, columns: Mapping[str, Column]) -> Column:
        """For each state the number of the input that it keeps, -1 where inputs are free."""
        phases = columns[PHASE]
        kept = self._packed([columns[f"{PREFIX}{name}"] for name in self._names], len(phases))
        return np.where(phases == 0, -1, self._numbers.find(kept))

    def _packed(self, columns: Sequence[Column], size: int) -> list[Column]:
        return [np.broadcast_to(key, (size,)) for key in self._layout.pack(columns)]


class ByCases:
    """Steps from states under those inputs that can be told apart in each. Numbers the inputs.

    The splitter reads what depends on states alone as one value each.
    """

    def __init__(self, scope: Scope, inputs: Inputs) -> None:
        self._scope, self._tables = scope, inputs.tables.tables
        self._kinds = [(var.name, var.type.bits) for var in scope.system.inputs]
        self._layout = Layout(self._kinds)
        self._numbers = Numbering(self._layout.width)
        if inputs.every is not None:
            self._number([inputs.every.columns[name] for name, _ in self._kinds], len(inputs.every))
        self._few = inputs.every is not None and len(inputs.every) <= FEW_INPUTS
        self._leaves = inputs.tables.leaves
        self._made: tuple[PartialProgram, Splitter] | None = None
        self._spent = self._looked_at = self._asked = 0
        self._next_look = 1

    @property
    def together(self) -> int:
        """States that are looked at together; few as long as it is not known how long that takes."""
        return SPLIT_TOGETHER if self._looked_at else SPLIT_AT_FIRST

    @property
    def bytes(self) -> int:
        """Memory that the inputs take."""
        return self._numbers.bytes

    def inputs(self) -> Rows:
        """The inputs by number."""
        return Rows(self._layout.columns(self._numbers.words), self._numbers.size)

    def cheaper(self, work_each: int) -> bool:
        """Whether a state should be looked at in this way, and not under every input, which takes ``work_each``.

        Measured on the first states, and again each time as many batches have been made.
        """
        if self._few:
            return False
        self._asked += 1
        if self._asked >= self._next_look:
            self._next_look *= 2
            return True
        return self._spent < work_each * self._looked_at

    def steps(
        self, columns: Mapping[str, Column], open_at: Mapping[str, Column], count: int
    ) -> Iterator[int | FoundSteps]:
        """Yields the work done, and at last the steps of ``count`` states. TooManyValues where inputs have no end."""
        if self._made is None:
            self._made = self._prepared()
            yield self._made[1].program.size
        read, splitter = self._made
        done = read.evaluate(columns, {name: ~mask for name, mask in open_at.items()})
        shape = (count,)
        names = [f"state#{number}" for number in range(len(read.roots))]
        values = {n: np.broadcast_to(done.values[place], shape) for n, place in zip(names, read.roots, strict=True)}
        known = {n: done.known[place] for n, place in zip(names, read.roots, strict=True)}
        known = {n: None if part is None else np.broadcast_to(part, shape) for n, part in known.items()}
        self._spent = self._looked_at = 0
        try:
            for step in splitter.split(values, known, count, MOST_CASES):
                if isinstance(step, int):
                    self._spent += step
                    yield step
                else:
                    yield self._numbered(step)
        except TooManyCases as error:
            names = [name for rows in self._tables for name in rows.columns if not name.startswith("input#")]
            raise TooManyValues(
                f"the inputs {listed(names)} have too many combinations that matter in one state"
            ) from error
        self._looked_at = count

    def _prepared(self) -> tuple[PartialProgram, Splitter]:
        roots = self._scope.roots
        order = walk(roots, self._leaves)
        own = {node: True for node in order if node.is_symbol() and node not in self._leaves}
        states = {var.name for var in self._scope.system.state}
        own = {node: True for node in own if node.symbol_name() in states}
        groups: dict[FNode, Hashable] = {**{leaf: leaf for leaf in self._leaves}, **own}
        terms = [term for term, symbol in largest_terms(order, set(roots), groups).items() if symbol in own]
        leaves = {**self._leaves, **{term: f"state#{number}" for number, term in enumerate(terms)}}
        return PartialProgram(terms), Splitter(roots, self._tables, leaves, required=0)

    def _numbered(self, cases: Cases) -> FoundSteps:
        columns: dict[str, Column] = {}
        for rows, choice in zip(self._tables, cases.choices, strict=True):
            columns.update((name, column[choice]) for name, column in rows.columns.items())
        choice = self._number([columns[name] for name, _ in self._kinds], len(cases.source))
        states = self._scope.system.state
        last = 1 + len(states)
        nexts = [
            np.where(k, v, np.zeros(1, v.dtype)) for v, k in zip(cases.values[1:last], cases.known[1:last], strict=True)
        ]
        open_next = {var.name: ~known for var, known in zip(states, cases.known[1:last], strict=True)}
        return FoundSteps(cases.source, choice, nexts, open_next, cases.known[0])

    def _number(self, columns: Sequence[Column], size: int) -> Column:
        return self._numbers.add([np.broadcast_to(key, (size,)) for key in self._layout.pack(columns)])
