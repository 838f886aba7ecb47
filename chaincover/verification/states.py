"""All reachable states of a system with every step between them, and whether the compiled original takes these steps.

States are found in layers, whole arrays of steps at a time; where only few wait (a timer counts), one after the other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property

import numpy as np
from pysmt.fnode import FNode
from pysmt.shortcuts import FALSE, TRUE, And, Bool, EqualsOrIff, Ite, Not, Or, Symbol
from pysmt.typing import BOOL

from bmc.evaluation.vectors import Column, Columns, Program, arguments_of, column, walk
from bmc.formulas.evaluate import names_in
from bmc.formulas.unroll import NEXT, plain_symbols
from bmc.records import dataclass
from bmc.system.simulation import Simulator
from bmc.system.transition import BOOLEAN, InputVariable, StateVariable, TransitionSystem, Valuation, conjunction
from chaincover.verification.inputs import InputClasses, distinct, input_classes, told_apart
from chaincover.verification.limits import BLOCK, Clock
from chaincover.verification.outcomes import Outcomes

FEW = 24
"""Steps that are rather made one by one."""
TRIED = 1 << 10
"""Combinations of inputs that are rather tried in each state than told apart for states of one kind. With twice as
many, up to twice as many steps are tried where few of them make a difference."""
START_VALUES = 1 << 12
"""Combinations of start values that init leaves open."""
KNOWN = "known "
"""Before the name of a symbol: the name of a Boolean that tells where the symbol's value is known."""

READ = "an open value is read"
"""The name of a Boolean that tells whether it depended on an open value that the last step was allowed."""


@dataclass(frozen=True)
class Table:
    """The reachable part of a system: move m leads from state ``source[m]`` under input class ``choice[m]`` to
    ``target[m]``; the moves of a state lie together, in the order of the states.

    ``columns`` hold for each of ``variables`` its value in each of ``size`` states. ``starts`` are numbers of states.
    ``open_at`` marks for a variable the states in which its value is one that init left open, or comes from such; it is
    0 there.
    """

    variables: tuple[StateVariable, ...]
    columns: dict[str, Column]
    size: int
    starts: tuple[int, ...]
    inputs: InputClasses
    source: Column
    choice: Column
    target: Column
    open_at: dict[str, Column] = field(default_factory=dict)

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return len(self.source)

    @cached_property
    def first(self) -> Column:
        """The place of the first move of each state, and behind the last the number of moves."""
        return np.searchsorted(self.source, np.arange(self.size + 1))

    @cached_property
    def backwards(self) -> tuple[Column, Column]:
        """The sources of all moves sorted by target, and the place of the first of each target."""
        order = np.argsort(self.target, kind="stable")
        return self.source[order], np.searchsorted(self.target[order], np.arange(self.size + 1))

    def state(self, number: int) -> Valuation:
        """One state."""
        return {name: int(values[number]) for name, values in self.columns.items()}

    def knows(self, formula: FNode) -> bool:
        """Whether ``formula`` (plain) speaks of the table's variables only."""
        return names_in([formula]) <= self.columns.keys()

    def holds(self, formula: FNode, where: Column | None = None) -> Column:
        """For each state whether ``formula`` (plain, over the table's variables) is true in it.

        OpenValueRead where that depends on an open value in one of the states marked in ``where`` (None: in any).
        """
        return self._computed(formula, self.columns, self.open_at, self.size, where)

    def on_moves(self, formula: FNode, where: Column | None = None) -> Column:
        """For each move whether ``formula`` (plain, over the table's variables, before and after it, and the inputs) is
        true of it; see ``holds``."""
        read = names_in([formula])
        places = {name: (name, self.source) for name in read & self.columns.keys()}
        places |= {NEXT + name: (name, self.target) for name in self.columns if NEXT + name in read}
        values = {read_as: self.columns[name][place] for read_as, (name, place) in places.items()}
        values |= {name: self.inputs.columns[name][self.choice] for name in read - places.keys()}
        opened = {read_as: at for read_as, at in places.items() if at[0] in self.open_at}
        unknown = {read_as: self.open_at[name][place] for read_as, (name, place) in opened.items()}
        return self._computed(formula, values, unknown, self.steps, where)

    def _computed(self, formula: FNode, values: Columns, unknown: Columns, size: int, where: Column | None) -> Column:
        marks = {KNOWN + name: ~mark for name, mark in unknown.items()}
        found, sure = Program([formula, *known([formula], unknown.keys())])({**values, **marks})
        if ((np.ones(size, bool) if where is None else where) & ~sure).any():
            raise OpenValueRead
        return np.broadcast_to(found, (size,))


def rows_of(columns: Iterable[Column], size: int) -> Iterable[tuple[int, ...]]:
    """The ``size`` rows of some columns, as numbers."""
    lists = [[int(value) for value in part.tolist()] for part in columns]
    return zip(*lists, strict=True) if lists else [()] * size


class OpenValueRead(Exception):
    """Something depends on a start value that init leaves open, and that stands for many."""


def known(formulas: Sequence[FNode], hidden: Collection[str]) -> list[FNode]:
    """For each of ``formulas`` one that tells where its value does not depend on that of ``hidden`` symbols, except
    where their own Booleans (``KNOWN``) say that they are known.

    A condition decides an alternative, and one part a conjunction, whatever else is not known.
    """
    sure: dict[FNode, FNode] = {}
    for node in walk(formulas):
        is_hidden = node.is_symbol() and node.symbol_name() in hidden
        sure[node] = Symbol(KNOWN + node.symbol_name(), BOOL) if is_hidden else _known(node, sure)
    return [sure[formula] for formula in formulas]


def _known(node: FNode, sure: Mapping[FNode, FNode]) -> FNode:
    """That the value of ``node`` is known, where ``sure`` tells that of its arguments."""
    parts = arguments_of(node)
    every = And(dict.fromkeys(sure[part] for part in parts if not sure[part].is_true()))
    if every.is_true() or parts != node.args():
        return every  # nothing is hidden; a floating-point operation depends on each of its operands
    if node.is_ite():
        condition, *either = parts
        decided = And(sure[condition], Ite(condition, *(sure[part] for part in either)))
        return Or(decided, And(*(sure[part] for part in either), EqualsOrIff(*either)))
    if node.is_and() or node.is_or():
        return Or(every, *(And(sure[part], part if node.is_or() else Not(part)) for part in parts))
    if node.is_implies():
        left, right = parts
        return Or(every, And(sure[left], Not(left)), And(sure[right], right))
    return every


def runs(first: Column, last: Column) -> Column:
    """The numbers from each of ``first`` up to, without, that of ``last``, one run after the other."""
    counts = last - first
    shift = np.repeat(first - np.cumsum(counts) + counts, counts)
    numbers: Column = np.arange(len(shift)) + shift
    return numbers


@dataclass(frozen=True)
class Prepared:
    """A ``system`` of those variables alone on which some formulas depend.

    ``classes`` of inputs and ``starts``: None where there are too many. ``kept``: some state variable keeps an input.
    """

    system: TransitionSystem
    classes: InputClasses | None
    starts: list[Valuation] | None
    kept: bool


def prepared(system: TransitionSystem, formulas: Sequence[FNode], clock: Clock) -> Prepared:
    """What is needed to follow all runs, as far as the framed ``formulas`` depend on them."""
    system = replace(system, asserts=(), undefined_behaviour=(), invariants=())
    read = plain_symbols(formulas)
    cone = system.cone(read)
    small = replace(system, state=cone)
    wanted = {s.symbol_name() for s in read}
    seen, kept = told_apart(small, wanted)
    classes = input_classes(system.inputs, seen, formulas, clock, kept)
    return Prepared(small, classes, start_states(small, formulas, clock), bool(kept))


def tabulate(system: TransitionSystem, formulas: Sequence[FNode], clock: Clock) -> Table | None:
    """The table on the variables that the framed ``formulas`` depend on; None where it takes more than the limits."""
    made = prepared(system, formulas, clock)
    small, classes, starts = made.system, made.classes, made.starts
    if starts is None:
        return None if classes is None or made.kept else _with_open_values(small, classes, clock)
    table = None
    if classes is None or classes.size > TRIED:
        table = _ByOutcomes(small, Outcomes(small, formulas, clock), clock).run(starts)
    return table if table is not None or classes is None else _Explorer(small, classes, clock).run(starts)


def start_states(system: TransitionSystem, formulas: Sequence[FNode], clock: Clock) -> list[Valuation] | None:
    """The start states, in which open variables that no first step reads have one value, and the others one of each
    class of values that nothing tells apart; None if they are too many."""
    simulator, loose = Simulator(system), [var for var in system.state if var.init is None]
    if not loose:
        return [simulator.initial()]
    known = {var.symbol: var.init for var in system.state if var.init is not None}
    steps = [system.input_constraint, system.defined, *(var.next for var in system.state)]
    read = names_in([*plain_symbols(formulas), *(step.substitute(known).simplify() for step in steps)])
    varied = [InputVariable(var.name, var.type, var.starts) for var in loose if var.name in read]
    seen = [part for var in system.state for part in _read_but_to_stay(var)]
    classes = input_classes(varied, [system.input_constraint, system.defined, *seen], formulas, clock, {})
    if classes is None or classes.size > START_VALUES:
        return None
    return [simulator.initial(choice) for choice in classes.choices]


def _read_but_to_stay(var: StateVariable) -> list[FNode]:
    """What the next value of a variable is made of, but for the variable where init leaves it open and it stays as it
    is: then its class stays as well."""
    if var.init is not None:
        return [var.next]
    found: dict[FNode, None] = {}
    todo, met = [var.next], {var.symbol}
    while todo:
        part = todo.pop()
        if part not in met:
            met.add(part)
            found[part.arg(0) if part.is_ite() else part] = None
            todo += part.args()[1:] if part.is_ite() else ()
    return [*found]


class _Explorer:
    """Numbers states as it finds them."""

    def __init__(self, system: TransitionSystem, inputs: InputClasses, clock: Clock) -> None:
        self._system, self._inputs, self._clock = system, inputs, clock
        self._names = [var.name for var in system.state]
        self._numbers: dict[tuple[int, ...], int] = {}
        self._states: list[tuple[int, ...]] = []
        self._moves: list[tuple[Column, Column, Column]] = []
        self._simulator = Simulator(system)
        allowed = conjunction([system.input_constraint, system.defined])
        self._vectors = Program([allowed, *(var.next for var in system.state)])
        self._choices = inputs.choices if inputs.size <= FEW else []
        self._tried = 0

    def run(self, starts: Sequence[Valuation]) -> Table | None:
        """The table, None above the limits."""
        first = [self._number(tuple(state[name] for name in self._names)) for state in starts]
        done, most = 0, max(1, BLOCK // self._inputs.size)
        while done < len(self._states):
            last = min(len(self._states), done + most)
            self._tried += (last - done) * self._inputs.size
            if self._tried > self._clock.limits.explored or self._clock.over:
                return None
            if (last - done) * self._inputs.size <= FEW:
                self._each(done, last)
            else:
                self._together(done, last)
            done = last
        return self._table(first)

    def _number(self, state: tuple[int, ...]) -> int:
        number = self._numbers.get(state)
        if number is None:
            number = self._numbers[state] = len(self._states)
            self._states.append(state)
        return number

    def _each(self, first: int, last: int) -> None:
        """The steps from some states, one by one."""
        found: list[tuple[int, int, int]] = []
        for number in range(first, last):
            state = dict(zip(self._names, self._states[number], strict=True))
            for choice in self._possible(state):
                inputs = self._choices[choice]
                if self._simulator.allowed(state, inputs):
                    after = self._simulator.step(state, inputs)
                    found.append((number, choice, self._number(tuple(after.values()))))
        rows = np.array(found, np.int32).reshape(-1, 3)
        self._moves.append((rows[:, 0], rows[:, 1], rows[:, 2]))

    def _possible(self, state: Valuation) -> Iterable[int]:
        return range(self._inputs.size)

    def _together(self, first: int, last: int) -> None:
        """The steps from some states as arrays."""
        values = {name: values[:, None] for name, values in self._columns(self._states[first:last]).items()}
        size = self._inputs.size
        for begin in range(0, size, BLOCK):
            block = {name: part[None, begin : begin + BLOCK] for name, part in self._inputs.columns.items()}
            choice = np.arange(begin, min(size, begin + BLOCK))
            self._made({**values, **block}, np.arange(first, last)[:, None], choice[None, :])

    def _made(self, values: Columns, source: Column, choice: Column) -> None:
        """The steps with ``values`` from states ``source`` under each ``choice``, as far as they are allowed."""
        shape = np.broadcast_shapes(source.shape, choice.shape)
        allowed, *after = self._vectors(values)
        place = np.nonzero(np.broadcast_to(allowed, shape))
        source, choice, *nexts = (np.broadcast_to(part, shape)[place] for part in (source, choice, *after))
        self._moves.append((source.astype(np.int32), choice.astype(np.int32), self._numbered(nexts, len(source))))

    def _numbered(self, nexts: list[Column], size: int) -> Column:
        """The numbers of states given as columns."""
        if not size:
            return np.zeros(0, np.int32)
        place, which = distinct(nexts, size)
        states = zip(*([int(v) for v in part[place].tolist()] for part in nexts), strict=True) if nexts else [()]
        numbers = np.array([self._number(state) for state in states], np.int32)
        return numbers[which]

    def _columns(self, states: Sequence[tuple[int, ...]]) -> dict[str, Column]:
        """Some states as columns by the names of variables."""
        rows = list(zip(*states, strict=True)) or [()] * len(self._names)
        return {v.name: column(row, v.type.bits) for v, row in zip(self._system.state, rows, strict=True)}

    def _table(self, starts: list[int]) -> Table:
        parts = list(zip(*self._moves, strict=True)) or [(), (), ()]
        source, choice, target = (np.concatenate([np.zeros(0, np.int32), *part]) for part in parts)
        order = np.argsort(source, kind="stable")
        return Table(
            variables=self._system.state,
            columns=self._columns(self._states),
            size=len(self._states),
            starts=tuple(dict.fromkeys(starts)),
            inputs=self._inputs,
            source=source[order],
            choice=choice[order],
            target=target[order],
        )


class _Known(_Explorer):
    """Explores a system of which the last variable tells that a step depended on an open value: no step may."""

    def _number(self, state: tuple[int, ...]) -> int:
        if state[-1]:
            raise OpenValueRead
        return super()._number(state)


def _with_open_values(system: TransitionSystem, inputs: InputClasses, clock: Clock) -> Table | None:
    """The table without the start values that init leaves open: they are 0, and marked, as is what comes from them.

    Whether a variable is known is part of the state. No table where it depends on an open value whether a step is
    allowed.
    """
    allowed = conjunction([system.input_constraint, system.defined])
    fine, *sure = known([allowed, *(var.next for var in system.state)], [var.name for var in system.state])
    values, marks = [], []
    for var, now in zip(system.state, sure, strict=True):
        zero = var.type.constant(0)
        init = zero if var.init is None else var.init
        values.append(replace(var, init=init, next=Ite(now, var.next, zero)))
        marks.append(StateVariable(KNOWN + var.name, BOOLEAN, Bool(var.init is not None), now))
    read = StateVariable(READ, BOOLEAN, FALSE(), Not(fine))
    whole = replace(system, state=(*values, *marks, read), input_constraint=Or(allowed, Not(fine)), defined=TRUE())
    try:
        table = _Known(whole, inputs, clock).run([Simulator(whole).initial()])
    except OpenValueRead:
        return None
    if table is None:
        return None
    columns = {var.name: table.columns[var.name] for var in system.state}
    unknown = {name: ~table.columns[KNOWN + name] for name in columns}
    open_at = {name: mark for name, mark in unknown.items() if mark.any()}
    return replace(table, variables=system.state, columns=columns, open_at=open_at)


class _ByOutcomes(_Explorer):
    """Explores with the choices that make a difference in each state."""

    def __init__(self, system: TransitionSystem, outcomes: Outcomes, clock: Clock) -> None:
        super().__init__(system, InputClasses({}, 1), clock)
        self._outcomes = outcomes
        self._choices = outcomes.choices
        self._gave_up = False

    def run(self, starts: Sequence[Valuation]) -> Table | None:
        """The table, None above the limits."""
        table = super().run(starts)
        return None if table is None or self._gave_up else replace(table, inputs=self._outcomes.classes())

    def _possible(self, state: Valuation) -> Sequence[int]:
        if self._gave_up:
            return ()
        found = self._outcomes.of(state)
        self._gave_up = found is None
        self._tried += len(found or ())
        return found or ()

    def _together(self, first: int, last: int) -> None:
        states = (dict(zip(self._names, state, strict=True)) for state in self._states[first:last])
        found = [self._possible(state) for state in states]
        source = np.repeat(np.arange(last - first), [len(choices) for choices in found])
        choice = np.array([number for choices in found for number in choices], np.int64)
        values = {name: values[source] for name, values in self._columns(self._states[first:last]).items()}
        values |= {name: values[choice] for name, values in self._outcomes.classes().columns.items()}
        self._made(values, source + first, choice)
