"""Steps from whole batches of states: under every input, or under those that can be told apart; and steps ahead."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Protocol

import numpy as np
from pysmt.fnode import FNode

from bmc.errors import StepTooLarge
from bmc.evaluation.vectors import Column, Program, bits_of, column, walk
from bmc.explicit.input_classes import InputTables, TooManyValues, is_allowed, largest_terms, listed
from bmc.explicit.rows import Layout, Numbering, Rows
from bmc.explicit.scope import FoundSteps, Inputs, ReadOpenValue, Scope
from bmc.explicit.splitting import FIXED, Cases, PartialProgram, Splitter, TooManyCases
from bmc.system.ties import ties
from bmc.system.transition import TransitionSystem, Valuation, conjunction

BLOCK = 1 << 15
"""Steps made at once: as many as keep the columns of a large step within a few megabytes."""

MOST_CASES = 1 << 20
"""Cases of inputs in one batch of states."""

MOST_OUTCOMES = 1 << 10
"""Inputs that a solver is asked for in one state: a second or two of its work."""

PER_OPERATION = 2.5
"""Nominal nanoseconds of a solver's work that count as one operation on a value."""

MADE = 40_000_000
"""Operations that to make a solver takes nearly always; they are told before it is made, and are all that listing may
take before there is a first chain."""

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
    """Steps from states under every combination of inputs, or the one to which the state ties them."""

    def __init__(self, scope: Scope, inputs: Inputs) -> None:
        assert inputs.every is not None
        self._inputs = inputs.every
        self._program = Program([scope.allowed, *scope.nexts])
        self.size = max(1, len(self._inputs))
        self.work_each = self._program.size * self.size
        together: dict[FNode, dict[str, FNode]] = {}
        for tie in ties(scope.system):
            together.setdefault(tie.free, {})[tie.name] = tie.value
        vary = {var.name for var in scope.system.inputs if var.count > 1}
        every = next(((free, tied) for free, tied in together.items() if tied.keys() == vary), None)
        self._tied = None if every is None else _Tied(*every, self._inputs)

    def steps(self, columns: Mapping[str, Column], count: int, pack: Pack) -> tuple[int, Column, Column, list[Column]]:
        """The work done; the state (by its place), the input (by its number) and the next state's key of each step."""
        if self._tied is not None:
            return self._under_tied(columns, self._tied.choices(columns, count), pack)
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

    def _under_tied(
        self, columns: Mapping[str, Column], tied: Column, pack: Pack
    ) -> tuple[int, Column, Column, list[Column]]:
        """As ``steps``, where only one input may be tried in some states (``tied``, -1: all)."""
        repeats = np.where(tied < 0, self.size, 1)
        source = np.repeat(np.arange(len(tied)), repeats)
        place = np.arange(len(source)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
        choice = np.where(tied[source] < 0, place, tied[source])
        values = {name: column[source] for name, column in columns.items()}
        values.update((name, column[choice]) for name, column in self._inputs.columns.items())
        allowed, *nexts = self._program(values)
        made = np.flatnonzero(np.broadcast_to(allowed, (len(source),)))
        keys = [np.broadcast_to(key, (len(source),))[made] for key in pack(nexts)]
        return self._program.size * (len(source) + FIXED), source[made], choice[made], keys


class _Tied:
    """The inputs to which states tie all of them at once."""

    def __init__(self, free: FNode, tied: Mapping[str, FNode], inputs: Rows) -> None:
        self._read = Program([free, *tied.values()])
        self._layout = Layout([(name, bits_of(term)) for name, term in tied.items()])
        self._numbers = Numbering(self._layout.width)
        self._numbers.add(self._packed([inputs.columns[name] for name in tied], len(inputs)))

    def choices(self, columns: Mapping[str, Column], count: int) -> Column:
        """For each of ``count`` states the number of the input that is left, -1 where they are free."""
        free, *values = self._read(columns)
        return np.where(free, -1, self._numbers.find(self._packed(values, count)))

    def _packed(self, columns: Sequence[Column], size: int) -> list[Column]:
        return [np.broadcast_to(key, (size,)) for key in self._layout.pack(columns)]


class Choices:
    """Numbers the combinations of input values that states are given."""

    def __init__(self, scope: Scope, inputs: Inputs) -> None:
        self._kinds = [(var.name, var.type.bits) for var in scope.system.inputs]
        self._layout = Layout(self._kinds)
        self._numbers = Numbering(self._layout.width)
        if inputs.every is not None:
            self.number(inputs.every.columns, len(inputs.every))

    @property
    def bytes(self) -> int:
        """Memory that they take."""
        return self._numbers.bytes

    def number(self, columns: Mapping[str, Column], size: int) -> Column:
        """The numbers of ``size`` combinations."""
        keys = self._layout.pack([columns[name] for name, _ in self._kinds])
        return self._numbers.add([np.broadcast_to(key, (size,)) for key in keys])

    def rows(self) -> Rows:
        """The combinations by number."""
        return Rows(self._layout.columns(self._numbers.words), self._numbers.size)

    def sorted(self) -> tuple[Rows, Column]:
        """The combinations by the first input's raw value, then by the next one's; for each number its place there."""
        rows = self.rows()
        order = np.lexsort([rows.columns[name] for name, _ in reversed(self._kinds)] or [np.zeros(len(rows))])
        ranks = np.empty(len(rows), np.int64)
        ranks[order] = np.arange(len(rows))
        return rows.which(order), ranks


class InputSolver(Protocol):
    """Finds the inputs that can be told apart in a state by questions to a solver.

    ``making``: the work that making it took.
    """

    making: int

    def of(self, state: Valuation) -> Iterator[int | Valuation]:
        """Yields inputs, one for each outcome of a step from ``state``; and the work done, in nominal nanoseconds.

        It ends when it is proved that there are no others.
        """


Solving = Callable[[TransitionSystem, Sequence[FNode]], InputSolver]
"""Makes a solver for a system; two steps have the same outcome where these terms (plain) have the same values."""


class ByCases:
    """Steps from states under those inputs that can be told apart in each.

    A splitter finds them, or a solver if there is one and it takes less work: both begin with the first states, and
    again each time thrice as many batches are made, and the first to end goes on. Open values are for the splitter.
    """

    def __init__(self, scope: Scope, inputs: Inputs, choices: Choices, solving: Solving | None) -> None:
        self._splits = None if inputs.tables is None else _Splits(scope, inputs.tables, choices)
        self._solves = None if solving is None else _Solves(scope, choices, solving)
        self._few = inputs.every is not None and len(inputs.every) <= FEW_INPUTS
        self._names = [var.name for var in scope.system.inputs]
        self._obstacle = inputs.obstacle
        self._faster = ""
        self._spent = self._looked_at = self._asked = self._batches = 0
        self._next_look = self._next_measured = 1

    @property
    def together(self) -> int:
        """States that are looked at together; few where it is measured how long that takes."""
        return SPLIT_AT_FIRST if self._measures else SPLIT_TOGETHER

    @property
    def _measures(self) -> bool:
        """Whether both ways are measured with the next batch."""
        return self._batches + 1 == self._next_measured

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
        """Yields the work done, and at last the steps of ``count`` states.

        TooManyValues where the inputs of one are too many; ReadOpenValue where that may be a matter of open values.
        """
        yield from self._made(columns, open_at, count)
        self._looked_at = count
        if not self._faster:
            if open_at and self._solves is not None:
                raise ReadOpenValue(frozenset(name for name, mask in open_at.items() if mask.any()))
            raise self._obstacle or TooManyValues(
                f"the inputs {listed(self._names)} have too many combinations that matter in one state"
            )

    def _made(
        self, columns: Mapping[str, Column], open_at: Mapping[str, Column], count: int
    ) -> Iterator[int | FoundSteps]:
        """Yields no steps where neither way finds them."""
        ways: dict[str, Iterator[int | FoundSteps]] = {}
        if self._splits is not None:
            ways["cases"] = self._splits.steps(columns, open_at, count)
        if self._solves is not None and not open_at:
            try:
                yield from self._solves.prepared()
                ways["solver"] = self._solves.steps(columns, count)
            except StepTooLarge:
                self._solves = None
        begin = [way for way in ways if self._measures or way == self._faster]
        self._next_measured *= 4 if self._measures else 1
        self._batches += 1
        self._faster = ""
        yield from self._raced({way: ways.pop(way) for way in begin})
        if not self._faster:
            yield from self._raced(ways)

    def _raced(self, ways: dict[str, Iterator[int | FoundSteps]]) -> Iterator[int | FoundSteps]:
        """What the first of ``ways`` finds that comes to an end: they go on in turns, with as much work each."""
        spent = dict.fromkeys(ways, 0)
        while spent:
            way = min(spent, key=spent.__getitem__)
            step = next(ways[way], None)
            if step is None:
                del spent[way]
                continue
            yield step
            if isinstance(step, FoundSteps):
                self._faster, self._spent = way, spent[way]
                return
            spent[way] += step


class _Splits:
    """Steps by a splitter, which reads what depends on states alone as one value each."""

    def __init__(self, scope: Scope, tables: InputTables, choices: Choices) -> None:
        self._scope, self._tables, self._choices = scope, tables, choices
        self._made: tuple[PartialProgram, Splitter] | None = None

    def steps(
        self, columns: Mapping[str, Column], open_at: Mapping[str, Column], count: int
    ) -> Iterator[int | FoundSteps]:
        """Yields no steps where they have too many cases."""
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
        try:
            for step in splitter.split(values, known, count, MOST_CASES):
                yield self._numbered(step) if isinstance(step, Cases) else step
        except TooManyCases:
            return

    def _prepared(self) -> tuple[PartialProgram, Splitter]:
        roots, given = self._scope.roots, self._tables.leaves
        terms = _over_states(roots, self._scope.system)
        leaves = {**given, **{term: f"state#{number}" for number, term in enumerate(terms)}}
        return PartialProgram(terms), Splitter(roots, self._tables.tables, leaves, required=0)

    def _numbered(self, cases: Cases) -> FoundSteps:
        columns: dict[str, Column] = {}
        for rows, choice in zip(self._tables.tables, cases.choices, strict=True):
            columns.update((name, values[choice]) for name, values in rows.columns.items())
        choice = self._choices.number(columns, len(cases.source))
        states = self._scope.system.state
        last = 1 + len(states)
        nexts = [
            np.where(k, v, np.zeros(1, v.dtype)) for v, k in zip(cases.values[1:last], cases.known[1:last], strict=True)
        ]
        open_next = {var.name: ~known for var, known in zip(states, cases.known[1:last], strict=True)}
        return FoundSteps(cases.source, choice, nexts, open_next, cases.known[0])


class _Solves:
    """Steps by a solver, which is asked about one state after the other.

    States have the same inputs where the terms over state alone, of all that reads inputs, have the same values.
    """

    def __init__(self, scope: Scope, choices: Choices, solving: Solving) -> None:
        self._scope, self._choices, self._solving = scope, choices, solving
        self._solver: InputSolver | None = None
        self._known: dict[tuple[int, ...], list[tuple[int, ...]]] = {}

    @cached_property
    def _nexts(self) -> Program:
        return Program(self._scope.nexts)

    @cached_property
    def _terms(self) -> list[FNode]:
        return [term for term in (*self._scope.nexts, *self._scope.told) if self._scope.reads_inputs(term)]

    @cached_property
    def _read(self) -> Program:
        return Program(_over_states([self._scope.allowed, *self._terms], self._scope.system))

    def prepared(self) -> Iterator[int]:
        """Make the solver, once. Yields the work that it takes, a part of that before: who has little work for all
        does without."""
        if self._solver is None:
            yield MADE
            system = self._scope.system
            allowed = conjunction([system.input_constraint, *map(is_allowed, system.inputs)])
            self._solver = self._solving(replace(system, input_constraint=allowed), self._terms)
            yield max(0, int(self._solver.making / PER_OPERATION) - MADE)

    def steps(self, columns: Mapping[str, Column], count: int) -> Iterator[int | FoundSteps]:
        """Yields no steps where one state has too many."""
        assert self._solver is not None
        read = [np.broadcast_to(values, (count,)) for values in self._read(columns)]
        yield self._read.size * (count + FIXED)
        rows: list[int] = []
        inputs: list[tuple[int, ...]] = []
        for row in range(count):
            key = tuple(int(values[row]) for values in read)
            if key not in self._known:
                found: list[tuple[int, ...]] = []
                for step in self._solver.of({name: int(values[row]) for name, values in columns.items()}):
                    if isinstance(step, int):
                        yield int(step / PER_OPERATION)
                    elif len(found) == MOST_OUTCOMES:
                        return
                    else:
                        found.append(tuple(step[var.name] for var in self._scope.system.inputs))
                self._known[key] = sorted(found)
            rows += [row] * len(self._known[key])
            inputs += self._known[key]
        yield self._made(columns, np.array(rows, np.int64), inputs)

    def _made(self, columns: Mapping[str, Column], source: Column, inputs: Sequence[tuple[int, ...]]) -> FoundSteps:
        given = {
            var.name: column([values[place] for values in inputs], var.type.bits)
            for place, var in enumerate(self._scope.system.inputs)
        }
        nexts = self._nexts({**{name: values[source] for name, values in columns.items()}, **given})
        made = [np.broadcast_to(values, source.shape) for values in nexts]
        nowhere = np.zeros(len(source), bool)
        choice = self._choices.number(given, len(source))
        return FoundSteps(source, choice, made, dict.fromkeys(columns, nowhere), ~nowhere)


def _over_states(roots: Sequence[FNode], system: TransitionSystem) -> list[FNode]:
    """The largest terms in ``roots`` that read state variables alone."""
    order = walk(roots)
    states = {var.symbol for var in system.state}
    return list(largest_terms(order, set(roots), {node: True for node in order if node in states}))
