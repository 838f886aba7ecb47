"""Enumerating all reachable states of a system, in arrays, as far as the caller lets it go on.

Steps are made from whole batches of states under all inputs that can be told apart. Three things keep that short:

- Where the combinations of inputs are many, those that matter in a state are found state by state
  (``bmc.explicit.splitting``); which way takes less work is measured.
- Where few states wait, as while a timer counts, steps are made ahead from the states that would follow if every
  variable went on changing as in the last step. What is not reached in the end is dropped.
- A start value that init leaves open and no allowed step reads is not enumerated: it stays open in the states.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from pysmt.fnode import FNode
from pysmt.shortcuts import And, Or

from bmc.explicit.input_classes import (
    InputTables,
    TooManyValues,
    all_values,
    allowed_ranges,
    combinations,
    combined_classes,
    input_tables,
    largest_terms,
    listed,
    value_count,
)
from bmc.explicit.rows import Layout, Numbering, Rows, Steps
from bmc.explicit.splitting import FIXED, Cases, PartialProgram, Splitter, TooManyCases
from bmc.explicit.state_graph import StateGraph, invariant_of
from bmc.explicit.vectors import Column, Program, arguments_of, node_count, walk, word
from bmc.formulas.unroll import unframed, unplaced
from bmc.system.hold import PHASE, PREFIX, hold, released
from bmc.system.simulation import Simulator
from bmc.system.transition import (
    Condition,
    InputVariable,
    TransitionSystem,
    symbols_of,
)

BLOCK = 1 << 15
"""Steps made at once: as many as keep the columns of a large step within a few megabytes."""

MEMORY = 1 << 30
"""Bytes that states and steps may take unless the caller says otherwise."""

MOST_AHEAD, LEAST_AHEAD = 1 << 13, 4
"""Steps made ahead at once at most; states ahead of each waiting one at first."""

MOST_STARTS = 1 << 22
"""Start states, by the values of variables that init leaves open."""

MOST_CASES = 1 << 20
"""Cases of inputs in one batch of states."""

FEW_INPUTS = 256
"""Finding the inputs that matter in a state takes longer than trying so many."""

SPLIT_AT_FIRST, SPLIT_TOGETHER = 16, 512
"""States for which the inputs that matter are found together."""

FEWER_STATES = (
    "give inputs smaller ranges, state an assumption that keeps such variables small, hold the inputs, "
    "or ask for goals and a final condition that read fewer variables"
)
"""What makes the reachable states fewer."""

AT_ONCE = 1 << 26
"""Work between two calls of a caller's check."""


class Enumeration:
    """The reachable states of ``system``, on the variables that ``formulas`` (framed) depend on, and their steps.

    Inputs differ where ``formulas`` or a step can tell; of those that none can tell apart one stands for all, and
    those that nothing reads keep one of their allowed values. Values from 0 up come before negative ones. The unit of
    work is one operation on a single value; an operation on an array costs ``FIXED`` of them more. What comes out
    depends on the arguments alone, not on the portions in which the work is done. ``remedy`` says what the user can
    change where ``reason`` says why the states are not enumerated.
    """

    def __init__(self, system: TransitionSystem, formulas: Sequence[FNode], memory: int = MEMORY) -> None:
        """``memory``: the bytes that states and steps may take."""
        self.graph: StateGraph | None = None
        self.obstacle: str | None = None
        self.remedy = FEWER_STATES
        self.work = 0
        self._due = 0
        self._memory = memory
        self._system = system
        self._search: _Search | None = None
        self._stages = self._enumerate(list(formulas))

    @property
    def done(self) -> bool:
        """Whether it has come to its end: ``graph`` has all states, or ``obstacle`` says why there is no way on."""
        return self.graph is not None or self.obstacle is not None

    @property
    def states(self) -> int:
        """The number of states known so far."""
        return 0 if self._search is None else self._search.size

    @property
    def reason(self) -> str | None:
        """Why the states are not enumerated, or not yet, as a sentence for the user; None if they are."""
        if self.graph is not None:
            return None
        return self.obstacle or self._so_far()

    def advance(self, work: int) -> None:
        """Do about ``work`` more units of work, or less if that is the end."""
        self._due += work
        while self._due > 0 and not self.done:
            try:
                spent = next(self._stages)
            except StopIteration:
                break
            except (TooManyValues, MemoryError) as error:
                self.obstacle = self._sentence(error)
                self.remedy = error.remedy if isinstance(error, TooManyValues) else self.remedy
                self._search = None
                break
            self._due -= spent
            self.work += spent

    def _sentence(self, error: Exception) -> str:
        if isinstance(error, TooManyValues):
            return f"The states of {self._system.name} cannot be enumerated: {error}."
        return f"The states of {self._system.name} and the steps between them take more than {self._memory >> 20} MB."

    def _so_far(self) -> str:
        text = f"The states of {self._system.name} are not all enumerated: {self.states} so far"
        growing = [] if self._search is None else self._search.growing()
        if growing:
            most = " and ".join(f"'{name}' has taken {count} values" for name, count in growing)
            text = f"{text}, in which {most}"
        return f"{text}."

    def _enumerate(self, formulas: list[FNode]) -> Iterator[int]:
        problem = _Problem(self._system, formulas)
        yield problem.size + FIXED
        inputs = _Inputs(problem)
        yield from inputs.prepare()
        told: frozenset[str] = frozenset()
        while True:
            self._search = _Search(problem, inputs, told, self._memory)
            try:
                yield from self._search.run()
            except _Read as found:
                told |= found.variables
                continue
            break
        self.graph = self._search.graph()


class _Read(Exception):
    """Start values that were left open are read: those of ``variables``."""

    def __init__(self, variables: frozenset[str]) -> None:
        super().__init__()
        self.variables = variables


class _Problem:
    """The part of a system that matters, and what is to be told apart.

    ``roots``: whether a step is allowed, the next state's variables, and the parts of the formulas that read the inputs
    of one step; ``on_states`` the parts that read states alone. All are over plain symbols.
    """

    def __init__(self, system: TransitionSystem, formulas: Sequence[FNode]) -> None:
        symbols = [unframed(s)[0] for formula in formulas for s in symbols_of(formula)]
        self.system = _relevant_part(replace(system, invariants=()), symbols)
        self.whole = system
        own = {var.name for var in self.system.state} | {var.name for var in self.system.inputs}
        names = {var.name for var in self.system.inputs}
        terms = _single_steps(formulas, own)
        on_inputs = [term for term in terms if any(s.symbol_name() in names for s in symbols_of(term))]
        self.on_states = [term for term in terms if term not in set(on_inputs)]
        step = self.system
        self.allowed = And(step.input_constraint, step.defined)
        self.nexts = [var.next for var in step.state]
        self.told = on_inputs
        self.roots = [self.allowed, *self.nexts, *self.told]
        self.size = node_count(self.roots)


def _relevant_part(system: TransitionSystem, observed: Sequence[str]) -> TransitionSystem:
    """``system`` with the state variables on which those ``observed`` and the steps' constraints depend.

    Only the inputs on which a step depends, and those ``observed``, are left.
    """
    free = released(system)
    own = {var.name for var in free.state} | {var.name for var in free.inputs}
    cone = free.cone(free.variable(name).symbol for name in dict.fromkeys(observed) if name in own)
    small = replace(free, state=cone, asserts=(), suspects=(), invariants=())
    formulas = [small.input_constraint, small.defined, *(var.next for var in small.state)]
    kept = {*observed, *(node.symbol_name() for node in walk(formulas) if node.is_symbol())}
    return hold(replace(small, inputs=tuple(var for var in system.inputs if var.name in kept)), system.hold)


def _single_steps(formulas: Sequence[FNode], names: set[str]) -> list[FNode]:
    """The largest parts of ``formulas`` (framed) that read the variables called ``names`` at one step, unframed."""
    order = walk(formulas)
    several = -1
    step: dict[FNode, int | None] = {}
    for node in order:
        if node.is_symbol():
            name, at = unframed(node)
            step[node] = at if name in names else several
        else:
            below = {step[a] for a in arguments_of(node)} - {None}
            step[node] = None if not below else below.pop() if len(below) == 1 else several
    found: dict[FNode, None] = {}
    todo = list(dict.fromkeys(formulas))
    seen = set(todo)
    while todo:
        node = todo.pop()
        if step[node] is None:
            continue
        if step[node] != several:
            found[node] = None
            continue
        arguments = arguments_of(node)
        joins = (node.is_and() or node.is_or()) and arguments == tuple(node.args())
        parts: dict[int | None, list[FNode]] = {}
        for argument in arguments:
            if joins and step[argument] != several:
                parts.setdefault(step[argument], []).append(argument)
            elif argument not in seen:
                seen.add(argument)
                todo.append(argument)
        for at_step, group in parts.items():
            if at_step is not None:
                found[And(group) if node.is_and() else Or(group)] = None
    return list(dict.fromkeys(unplaced(list(found))))


class _Inputs:
    """The inputs to try: ``every`` combination (None: too many to be tried in every state), and group by group."""

    def __init__(self, problem: _Problem) -> None:
        self._problem = problem
        self.every: Rows | None = None
        self.tables = InputTables((), {})

    def prepare(self) -> Iterator[int]:
        """Divide the inputs into classes. Yields the work done; TooManyValues where that has no end."""
        system = self._problem.system
        if system.hold > 1:
            yield from self._prepare_held()
            return
        for step in input_tables(system.inputs, self._problem.roots):
            if isinstance(step, int):
                yield step
            else:
                self.tables = step
        constraint = [system.input_constraint, system.defined]
        self.every = combined_classes(self.tables, self._problem.roots, constraint)
        yield FIXED

    def _prepare_held(self) -> Iterator[int]:
        """Held inputs are part of the state: there every value is one of its own."""
        system = self._problem.system
        count = prod(value_count(var) for var in system.inputs)
        if count > MOST_CASES:
            names = [var.name for var in sorted(system.inputs, key=value_count)[-3:]]
            raise TooManyValues(
                f"the inputs, which are held, have {count} combinations of values ({listed(names)})",
                "give them ranges with fewer values, or do not hold them",
            )
        yield count
        values = {var.name: (all_values(var), var.type.bits) for var in system.inputs}
        self.every = combinations(values)
        self.tables = InputTables(tuple(combinations({name: one}) for name, one in values.items()), {})


class _Search:
    """One search from the start states; the start values of variables in ``told`` are enumerated, others left open.

    What it does to a batch of states gives (row of the batch, number of the input, key of the next state) for each
    step; ``_kept`` collects that.
    """

    def __init__(self, problem: _Problem, inputs: _Inputs, told: frozenset[str], memory: int) -> None:
        self._problem, self._inputs, self._memory = problem, inputs, memory
        system = problem.system
        self._open = _OpenValues(problem, told)
        fields = [(var.name, var.type.bits) for var in system.state]
        self._layout = Layout([*fields, *((_OPEN + name, 0) for name in self._open.possible)])
        self._states = Numbering(self._layout.width)
        self._dense = _EveryInput(problem, inputs) if inputs.every is not None else None
        self._split = _ByCases(problem, inputs)
        self._kept = _Kept()
        self._ahead = _Ahead()
        self._waiting = _Waiting()
        self._starts: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """The number of states known."""
        return self._states.size

    def growing(self) -> list[tuple[str, int]]:
        """The two variables that have taken most values, with their number."""
        columns = self._layout.columns(self._states.words)
        counts = [(var.name, len(np.unique(columns[var.name]))) for var in self._problem.system.state]
        return [(name, count) for name, count in sorted(counts, key=lambda it: -it[1])[:2] if count > 2]

    def run(self) -> Iterator[int]:
        """Enumerate. Yields the work done; _Read where the search has to be begun anew with more start values."""
        starts = self._open.starts()
        yield FIXED + len(starts) * len(starts.columns)
        keys = self._layout.pack([starts.columns[field.name] for field in self._layout.fields])
        numbers = self._states.add([np.broadcast_to(key, (len(starts),)) for key in keys])
        self._starts = tuple(np.unique(numbers).tolist())
        self._wait(0)
        while self._waiting:
            if self._states.bytes + self._kept.bytes + self._split.bytes > self._memory:
                raise MemoryError
            yield from self._expand()

    def graph(self) -> StateGraph:
        """What was found, all of it."""
        columns = self._layout.columns(self._states.words)
        open_at = {name: columns.pop(_OPEN + name) for name in self._open.possible}
        open_at = {name: mask for name, mask in open_at.items() if mask.any()}
        states = Rows(columns, self._states.size, open_at)
        rows = self._split.inputs()
        rest = {var.name: var for var in self._problem.whole.inputs if var.name not in rows.columns}
        kept = {name: np.full(len(rows), _plainest(var), word(var.type.bits)) for name, var in rest.items()}
        inputs = Rows({**rows.columns, **kept}, len(rows))
        return StateGraph(
            states, self._starts, inputs, self._kept.steps(self._states.size, len(inputs)), self._problem.system.hold
        )

    def _wait(self, first: int) -> None:
        """The states from number ``first`` on that no step was made from wait for that."""
        fresh = np.arange(first, self._states.size)
        fresh = fresh[~self._kept.expanded(fresh)]
        if self._open.possible and fresh.size:
            columns = self._layout.columns([key[fresh] for key in self._states.words])
            is_open = np.logical_or.reduce([columns[_OPEN + name] for name in self._open.possible])
            self._waiting.add(fresh[~is_open], fresh[is_open])
        else:
            self._waiting.add(fresh, fresh[:0])

    def _expand(self) -> Iterator[int]:
        """Make all steps from the next states that wait."""
        dense = self._dense
        if dense is None or not self._waiting.closed or self._split.cheaper(dense.work_each):
            numbers, are_open = self._waiting.next(self._split.together)
            yield from self._expand_by_cases(numbers, are_open)
            return
        numbers, _ = self._waiting.next(max(1, BLOCK // dense.size))
        if self._waiting or self._open.possible:
            keys = [key[numbers] for key in self._states.words]
        else:
            keys = self._ahead.extended(numbers, self._states, dense.size)
        total = len(keys[0])
        spent, row, choice, nexts = dense.steps(self._layout.columns(keys), total, self._pack)
        yield spent
        reached = np.arange(total)
        if total > len(numbers):
            fresh = self._states.find(keys) < 0
            reached = self._ahead.reached(len(numbers), keys, fresh, row, nexts)
            place = np.full(total, -1)
            place[reached] = np.arange(len(reached))
            made = place[row] >= 0
            row, choice, nexts = place[row[made]], choice[made], [key[made] for key in nexts]
        known = self._states.size
        found = self._states.add(nexts)
        ahead = reached[len(numbers) :]
        sources = np.concatenate([numbers, self._states.find([key[ahead] for key in keys])])
        self._kept.add(sources, row, choice, found)
        self._wait(known)
        self._ahead.note(known, sources[row], found)

    def _pack(self, nexts: Sequence[Column]) -> list[Column]:
        """The keys of states of which all values are known."""
        return self._layout.pack([*nexts, *(np.zeros(1, bool) for _ in self._open.possible)])

    def _expand_by_cases(self, numbers: Column, are_open: bool) -> Iterator[int]:
        columns = self._layout.columns([key[numbers] for key in self._states.words])
        open_at = {name: columns[_OPEN + name] for name in self._open.possible} if are_open else {}
        if are_open:
            yield self._open.check_states(columns, open_at)
        found: _Cases | None = None
        for step in self._split.steps(columns, open_at, len(numbers)):
            if isinstance(step, int):
                yield step
            else:
                found = step
        assert found is not None
        if are_open:
            yield self._open.check_steps(columns, open_at, found, self._split.inputs())
        pieces = [*found.nexts, *(found.open_next[name] for name in self._open.possible)]
        keys = [np.broadcast_to(key, found.row.shape) for key in self._layout.pack(pieces)]
        known = self._states.size
        self._kept.add(numbers, found.row, found.choice, self._states.add(keys))
        self._wait(known)


Pack = Callable[[Sequence[Column]], list[Column]]
_OPEN = "open#"
"""Before the name of a variable: whether its value is one that init left open, or was calculated from such."""


class _Waiting:
    """The numbers of the states from which steps are still to be made, those with open values apart."""

    def __init__(self) -> None:
        self.closed: list[Column] = []
        self._open: list[Column] = []

    def __bool__(self) -> bool:
        return bool(self.closed or self._open)

    def add(self, closed: Column, are_open: Column) -> None:
        if closed.size:
            self.closed.append(closed)
        if are_open.size:
            self._open.append(are_open)

    def next(self, most: int) -> tuple[Column, bool]:
        """At most ``most`` states, and whether they are those with open values."""
        queue = self.closed or self._open
        is_open = queue is self._open
        every = np.concatenate(queue) if len(queue) > 1 else queue[0]
        queue[:] = [every[most:]] if len(every) > most else []
        return every[:most], is_open


class _Kept:
    """The steps made so far."""

    def __init__(self) -> None:
        self._made: list[tuple[Column, Column, Column, Column]] = []
        self._flags = np.zeros(1024, bool)
        self.bytes = 0

    def expanded(self, numbers: Column) -> Column:
        """Whether all steps from these states were made."""
        found: Column = np.zeros(len(numbers), bool)
        inside = numbers < len(self._flags)
        found[inside] = self._flags[numbers[inside]]
        return found

    def add(self, sources: Column, row: Column, choice: Column, nexts: Column) -> None:
        """Steps from the states ``sources``: for each the place of its source there, its input, the next state."""
        most = int(sources.max(initial=0))
        if most >= len(self._flags):
            self._flags = np.concatenate(
                [self._flags, np.zeros(max(most + 1 - len(self._flags), len(self._flags)), bool)]
            )
        self._flags[sources] = True
        counts = np.bincount(row, minlength=len(sources))
        kept = (sources.astype(np.int32), counts.astype(np.int32), choice.astype(np.int32), nexts.astype(np.int32))
        self._made.append(kept)
        self.bytes += sum(column.nbytes for column in kept)
        if len(self._made) >= 1024:  # many small blocks would take more memory than what is in them
            self._made = [self._joined()]

    def _joined(self) -> tuple[Column, Column, Column, Column]:
        sources, counts, choices, nexts = zip(*self._made, strict=True)
        return np.concatenate(sources), np.concatenate(counts), np.concatenate(choices), np.concatenate(nexts)

    def steps(self, states: int, inputs: int) -> Steps:
        """All steps, by state."""
        sources, counts, choices, nexts = self._joined()
        order = np.argsort(sources)
        assert len(order) == states
        before = np.cumsum(counts, dtype=np.int64) - counts
        kept = counts[order]
        offsets = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])
        places = np.arange(offsets[-1]) + np.repeat(before[order] - offsets[:-1], kept)
        return Steps(offsets, choices[places].astype(np.min_scalar_type(max(inputs - 1, 0))), nexts[places])


class _Ahead:
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


class _EveryInput:
    """Steps from states under every combination of inputs, or the one that is held."""

    def __init__(self, problem: _Problem, inputs: _Inputs) -> None:
        assert inputs.every is not None
        self._inputs = inputs.every
        self._program = Program([problem.allowed, *problem.nexts])
        self.size = max(1, len(self._inputs))
        self.work_each = self._program.size * self.size
        self._held = _Held(problem.system, self._inputs) if problem.system.hold > 1 else None

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


@dataclass(frozen=True)
class _Cases:
    """For each step its state (by place), its input (by number) and the next state; where that is not known."""

    row: Column
    choice: Column
    nexts: list[Column]
    open_next: Mapping[str, Column]
    allowed_known: Column
    told_known: Column


class _ByCases:
    """Steps from states under those inputs that can be told apart in each. Numbers the inputs.

    The splitter reads what depends on states alone as one value each.
    """

    def __init__(self, problem: _Problem, inputs: _Inputs) -> None:
        self._problem, self._tables = problem, inputs.tables.tables
        self._kinds = [(var.name, var.type.bits) for var in problem.system.inputs]
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

    def steps(self, columns: Mapping[str, Column], open_at: Mapping[str, Column], count: int) -> Iterator[int | _Cases]:
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
        roots = self._problem.roots
        order = walk(roots, self._leaves)
        own = {node: True for node in order if node.is_symbol() and node not in self._leaves}
        states = {var.name for var in self._problem.system.state}
        own = {node: True for node in own if node.symbol_name() in states}
        groups: dict[FNode, Hashable] = {**{leaf: leaf for leaf in self._leaves}, **own}
        terms = [term for term, symbol in largest_terms(order, set(roots), groups).items() if symbol in own]
        leaves = {**self._leaves, **{term: f"state#{number}" for number, term in enumerate(terms)}}
        return PartialProgram(terms), Splitter(roots, self._tables, leaves, required=0)

    def _numbered(self, cases: Cases) -> _Cases:
        columns: dict[str, Column] = {}
        for rows, choice in zip(self._tables, cases.choices, strict=True):
            columns.update((name, column[choice]) for name, column in rows.columns.items())
        choice = self._number([columns[name] for name, _ in self._kinds], len(cases.source))
        states = self._problem.system.state
        last = 1 + len(states)
        nexts = [
            np.where(k, v, np.zeros(1, v.dtype)) for v, k in zip(cases.values[1:last], cases.known[1:last], strict=True)
        ]
        open_next = {var.name: ~known for var, known in zip(states, cases.known[1:last], strict=True)}
        told = np.ones(len(cases.source), bool)
        for known in cases.known[last:]:
            told &= known
        return _Cases(cases.source, choice, nexts, open_next, cases.known[0], told)

    def _number(self, columns: Sequence[Column], size: int) -> Column:
        return self._numbers.add([np.broadcast_to(key, (size,)) for key in self._layout.pack(columns)])


class _OpenValues:
    """Start values that init leaves open and that are not enumerated: all but those of the variables in ``told``.

    ``possible``: the variables that may hold such a value, or one calculated from such.
    """

    def __init__(self, problem: _Problem, told: frozenset[str]) -> None:
        self._problem, self._told = problem, told
        self._nexts = {var.name: var.next for var in problem.system.state}
        left = [var.name for var in problem.system.state if var.init is None and var.name not in told]
        self._reads: dict[str, set[str]] = {}
        if left:
            self._reads = {n: {s.symbol_name() for s in symbols_of(formula)} for n, formula in self._nexts.items()}
        self._left = left
        holding = set(left)
        while more := {n for n, read in self._reads.items() if n not in holding and read & holding}:
            holding |= more
        self.possible = tuple(name for name in self._nexts if name in holding)
        self._programs: dict[str, PartialProgram] = {}

    def starts(self) -> Rows:
        """The start states. TooManyValues if there are too many."""
        system = self._problem.system
        told = [var for var in system.state if var.name in self._told]
        count = prod(value_count(var) for var in told)
        if count > MOST_STARTS:
            names = listed([var.name for var in told])
            raise TooManyValues(
                f"init leaves {names} open, which makes {count} start states, and their values are read",
                "set them in init",
            )
        fixed = Simulator(system).initial()
        values = {
            var.name: (all_values(var) if var.name in self._told else [fixed[var.name]], var.type.bits)
            for var in system.state
        }
        bits = {_OPEN + name: ([int(name in self._left)], 0) for name in self.possible}
        return combinations({**values, **bits})

    def check_states(self, columns: Mapping[str, Column], open_at: Mapping[str, Column]) -> int:
        """The work of looking at what is told apart of states alone; _Read where that depends on an open value."""
        return self._check("states", self._problem.on_states, columns, open_at)

    def check_steps(
        self, columns: Mapping[str, Column], open_at: Mapping[str, Column], found: _Cases, inputs: Rows
    ) -> int:
        """The same for what is told of steps, and for whether they are allowed."""
        unsure = np.flatnonzero(~(found.allowed_known & found.told_known))
        if not unsure.size:
            return 0
        row, choice = found.row[unsure], found.choice[unsure]
        chosen = {name: column[choice] for name, column in inputs.columns.items()}
        values = {**{name: column[row] for name, column in columns.items()}, **chosen}
        masks = {name: mask[row] for name, mask in open_at.items()}
        return self._check("steps", [self._problem.allowed, *self._problem.told], values, masks)

    def _check(
        self, kind: str, formulas: Sequence[FNode], columns: Mapping[str, Column], open_at: Mapping[str, Column]
    ) -> int:
        if kind not in self._programs:
            self._programs[kind] = PartialProgram(formulas)
        program = self._programs[kind]
        done = program.evaluate(columns, {name: ~mask for name, mask in open_at.items()})
        left, _ = program.left(done, range(len(formulas)))
        read = {name for name, place in program.names.items() if place in left}
        if read:
            raise _Read(self._origins(read))
        return program.size * (FIXED + max(len(mask) for mask in open_at.values()))

    def _origins(self, names: set[str]) -> frozenset[str]:
        """The variables whose start values may have come to be those of ``names``."""
        found = set(names)
        while more := {n for name in found for n in self._reads[name] if n in self._reads} - found:
            found |= more
        return frozenset(found & set(self._left))


def _plainest(var: InputVariable) -> int:
    """The first allowed value of ``var`` from 0 up, raw; the least one if all are negative."""
    values = [max(low, 0) for low, high in allowed_ranges(var) if high >= 0]
    return (min(values) if values else allowed_ranges(var)[0][0]) % (1 << max(var.type.bits, 1))


def enumerated(
    system: TransitionSystem,
    formulas: Iterable[FNode],
    work: int,
    check: Callable[[], None] = lambda: None,
    memory: int = MEMORY,
) -> StateGraph | None:
    """All states and steps at once (see ``Enumeration``); None where ``work`` does not suffice.

    ``check`` is called now and then; what it raises ends the enumeration.
    """
    found = Enumeration(system, list(formulas), memory)
    while not found.done and found.work < work:
        check()
        found.advance(min(AT_ONCE, work - found.work))
    return found.graph


def reachable_states(system: TransitionSystem, formulas: Iterable[FNode], work: int) -> Rows | None:
    """The reachable states, on what ``formulas`` (framed) depend on; None where ``work`` does not suffice."""
    found = enumerated(system, formulas, work)
    return None if found is None else found.states


def reachability_invariant(system: TransitionSystem, formulas: Iterable[FNode], work: int) -> Condition | None:
    """The proved invariant "one of the reachable states"; None if they are too many to explore, or say nothing."""
    states = reachable_states(system, formulas, work)
    return invariant_of(system, states) if states else None
