"""Enumerating all reachable states of a system, in arrays, as far as the caller lets it go on.

Steps are made from whole batches of states under all inputs that can be told apart. Three things keep that short:

- Where the combinations of inputs are many, those that matter in a state are found state by state
  (``bmc.explicit.splitting``); which way takes less work is measured.
- Where few states wait, as while a timer counts, steps are made ahead from the states that would follow if every
  variable went on changing as in the last step. What is not reached in the end is dropped.
- A start value that init leaves open and no allowed step reads is not enumerated: it stays open in the states.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

import numpy as np
from pysmt.fnode import FNode

from bmc.evaluation.vectors import Column, word
from bmc.explicit.input_classes import (
    TooManyValues,
)
from bmc.explicit.rows import AT_ONCE, NUMBERED, Layout, Numbering, Rows, Steps, distinct
from bmc.explicit.scope import OPEN, FoundSteps, Inputs, OpenValues, ReadOpenValue, Scope
from bmc.explicit.splitting import FIXED
from bmc.explicit.state_graph import StateGraph
from bmc.explicit.steps import BLOCK, Ahead, ByCases, Choices, EveryInput, Solving
from bmc.system.memory import called
from bmc.system.transition import (
    TransitionSystem,
)

MEMORY = 1 << 30
"""Bytes that states and steps may take unless the caller says otherwise."""

PORTION = 10_000_000
"""Operations on single values that are done before the caller is asked whether to go on. With twice as many, small
systems are listed in half of the portions, and a run that is called off ends later."""


FEWER_STATES = (
    "give inputs smaller ranges, state an assumption that keeps such variables small, hold the inputs, "
    "or ask for goals and a final condition that read fewer variables"
)
"""What makes the reachable states fewer."""


BATCH = 100_000
"""Units of work that it takes besides to choose a batch of states and to keep what is found of it: where states follow
one by one it is most of the work. With half of it, such states are listed for twice as long as is counted."""


LOOKED_AT = 100_000
"""States that are looked at for the variables that take most values."""


class Enumeration:
    """The reachable states of ``system``, on the variables that ``formulas`` (framed) depend on, and their steps.

    Inputs differ where ``formulas`` or a step can tell; of those that none can tell apart one stands for all, and
    those that nothing reads keep one of their allowed values. Values from 0 up come before negative ones. The unit of
    work is one operation on a single value; an operation on an array costs ``FIXED`` of them more, and the number of a
    state ``NUMBERED``. What comes out depends on the arguments alone, not on the portions in which the work is done.
    ``remedy`` says what the user can change where ``reason`` says why the states are not enumerated.
    """

    def __init__(
        self,
        system: TransitionSystem,
        formulas: Sequence[FNode],
        memory: int = MEMORY,
        solving: Solving | None = None,
    ) -> None:
        """``memory``: the bytes that states and steps may take. ``solving`` makes the solver that may be asked."""
        self.graph: StateGraph | None = None
        self.obstacle: str | None = None
        self.remedy = FEWER_STATES
        self.work = 0
        self._due = 0
        self._memory, self._solving = memory, solving
        self._system = system
        self._search: _Search | None = None
        self._by_solver = ""
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
    def counted(self) -> int:
        """The work that was asked for, or was done where that is more: a step of it is done as a whole."""
        return self.work + max(0, self._due)

    @property
    def rest(self) -> float:
        """The work of the steps from the states known so far that lack them, if each takes as much as one that has them
        took; infinite while none has."""
        made = 0 if self._search is None else self._search.expanded
        return self.work * (self.states - made) / made if made else inf

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
        text = f"The states of {self._system.name} are not all enumerated: {self.states:,} so far"
        growing = [] if self._search is None else self._search.growing()
        if growing:
            most = " and ".join(f"{called(name)} has taken {count:,} values" for name, count in growing)
            text = (
                f"{text}, in which {most}" if self.states <= LOOKED_AT else f"{text}; in the first {LOOKED_AT:,} {most}"
            )
        elif self._by_solver:
            text = f"{text}, step by step by a solver, for {self._by_solver}"
        return f"{text}."

    def _enumerate(self, formulas: list[FNode]) -> Iterator[int]:
        scope = Scope(self._system, formulas)
        yield scope.size + FIXED
        inputs = Inputs(scope)
        try:
            yield from inputs.prepare()
        except TooManyValues as error:
            if self._solving is None:
                raise
            inputs.obstacle = error
            self._by_solver = str(error)
        told: frozenset[str] = frozenset()
        while True:
            self._search = _Search(scope, OpenValues(scope, told), inputs, self._memory, self._solving)
            try:
                yield from self._search.run()
            except ReadOpenValue as found:
                told |= found.variables
                continue
            break
        self.graph = self._search.graph()


class _Search:
    """One search from the start states, some values of which stay open.

    What it does to a batch of states gives (row of the batch, number of the input, key of the next state) for each
    step; ``_kept`` collects that.
    """

    def __init__(
        self, scope: Scope, open_values: OpenValues, inputs: Inputs, memory: int, solving: Solving | None
    ) -> None:
        self._scope, self._memory = scope, memory
        system = scope.system
        self._open = open_values
        fields = [(var.name, var.type.bits) for var in system.state]
        self._layout = Layout([*fields, *((OPEN + name, 0) for name in self._open.possible)])
        self._states = Numbering(self._layout.width)
        self._dense = EveryInput(scope, inputs) if inputs.every is not None else None
        self._choices = Choices(scope, inputs)
        self._split = ByCases(scope, inputs, self._choices, solving)
        self._kept = _Kept()
        self._ahead = Ahead()
        self._waiting = _Waiting()
        self._starts: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """The number of states known."""
        return self._states.size

    @property
    def expanded(self) -> int:
        """The number of states from which all steps were made."""
        return self._kept.sources

    def growing(self) -> list[tuple[str, int]]:
        """The two variables that have taken most values in the first ``LOOKED_AT`` states, with their number."""
        columns = self._layout.columns([key[:LOOKED_AT] for key in self._states.words])
        counts = [(var.name, len(distinct(columns[var.name]))) for var in self._scope.system.state]
        return [(name, count) for name, count in sorted(counts, key=lambda it: -it[1])[:2] if count > 2]

    def run(self) -> Iterator[int]:
        """Enumerate. Yields the work done; ReadOpenValue where it has to be begun anew with more start values."""
        starts = self._open.starts()
        yield FIXED + len(starts) * len(starts.columns)
        keys = self._layout.pack([starts.columns[field.name] for field in self._layout.fields])
        numbers = self._states.add([np.broadcast_to(key, (len(starts),)) for key in keys])
        self._starts = tuple(distinct(numbers).tolist())
        self._wait(0)
        while self._waiting:
            if self._states.bytes + self._kept.bytes + self._choices.bytes > self._memory:
                raise MemoryError
            yield from self._expand()
        if self._open.possible:
            yield from self._open.check_formulas(self.graph())

    def graph(self) -> StateGraph:
        """What was found, all of it."""
        columns = self._layout.columns(self._states.words)
        open_at = {name: columns.pop(OPEN + name) for name in self._open.possible}
        open_at = {name: mask for name, mask in open_at.items() if mask.any()}
        states = Rows(columns, self._states.size, open_at)
        rows, order = self._choices.sorted()
        rest = {var.name: var for var in self._scope.whole.inputs if var.name not in rows.columns}
        kept = {name: np.full(len(rows), var.plainest, word(var.type.bits)) for name, var in rest.items()}
        inputs = Rows({**rows.columns, **kept}, len(rows))
        return StateGraph(states, self._starts, inputs, self._kept.steps(self._states.size, order))

    def _wait(self, first: int) -> None:
        """The states from number ``first`` on that no step was made from wait for that."""
        fresh = np.arange(first, self._states.size)
        fresh = fresh[~self._kept.expanded(fresh)]
        if self._open.possible and fresh.size:
            columns = self._layout.columns([key[fresh] for key in self._states.words])
            is_open = np.logical_or.reduce([columns[OPEN + name] for name in self._open.possible])
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
        yield BATCH + spent + NUMBERED * (total + len(row))
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
        open_at = {name: columns[OPEN + name] for name in self._open.possible} if are_open else {}
        found: FoundSteps | None = None
        try:
            for step in self._split.steps(columns, open_at, len(numbers)):
                if isinstance(step, int):
                    yield step
                else:
                    found = step
        except ReadOpenValue as error:
            raise ReadOpenValue(self._open.origins(error.variables)) from None
        assert found is not None
        yield NUMBERED * len(found.row)
        if are_open:
            yield self._open.check_steps(columns, open_at, found, self._choices.rows())
        pieces = [*found.nexts, *(found.open_next[name] for name in self._open.possible)]
        keys = [np.broadcast_to(key, found.row.shape) for key in self._layout.pack(pieces)]
        known = self._states.size
        self._kept.add(numbers, found.row, found.choice, self._states.add(keys))
        self._wait(known)


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

    @property
    def sources(self) -> int:
        """The number of states from which all steps were made."""
        return int(np.count_nonzero(self._flags))

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

    def steps(self, states: int, ranks: Column) -> Steps:
        """All steps, by state and there by the inputs, which get the numbers ``ranks``."""
        self._made = [self._joined()]
        ((sources, counts, choices, nexts),) = self._made
        order = np.argsort(sources)
        assert len(order) == states
        before = np.cumsum(counts, dtype=np.int64) - counts
        offsets = np.concatenate([[0], np.cumsum(counts[order], dtype=np.int64)])
        mixed = bool((np.diff(ranks) < 0).any())
        chosen = np.empty(int(offsets[-1]), np.min_scalar_type(max(len(ranks) - 1, 0)))
        after = np.empty(int(offsets[-1]), np.int32)
        for first in range(0, states, AT_ONCE):  # the places of all steps at once would take more than the steps
            own = order[first : first + AT_ONCE]
            kept = counts[own]
            low, high = int(offsets[first]), int(offsets[first + len(own)])
            places = np.arange(low, high) + np.repeat(before[own] - offsets[first : first + len(own)], kept)
            numbers = ranks[choices[places]]
            if mixed:
                by_input = np.lexsort([numbers, np.repeat(np.arange(len(own)), kept)])
                numbers, places = numbers[by_input], places[by_input]
            chosen[low:high], after[low:high] = numbers, nexts[places]
        return Steps(offsets, chosen, after)
