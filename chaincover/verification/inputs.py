"""Inputs that no formula can tell apart: one representative of each class, by looking at all values or by a solver.

A formula sees of the inputs only the largest terms over inputs alone that are in it. Two combinations of inputs for
which all these terms have the same values are of one class. Inputs that no common term reads are looked at apart.
Where there are too many classes, the solver is asked for the outcomes that are possible in one state after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from itertools import product
from math import prod

import numpy as np
from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE, FreshSymbol, Not, Symbol

from bmc.evaluation.vectors import WORD, Column, Program, column
from bmc.formulas.evaluate import compile_formulas, names_in, post_order
from bmc.formulas.unroll import at, at_each, framed, unframed, unplaced
from bmc.records import dataclass
from bmc.system.ties import tie_of
from bmc.system.transition import (
    InputVariable,
    TransitionSystem,
    Valuation,
    conjunction,
    conjuncts,
    equal,
    membership,
)
from chaincover.verification.clauses import Clauses
from chaincover.verification.limits import Clock

TOGETHER = 1 << 20
"""Combinations of values that are looked at one by one."""
ALONE = 1 << 16
"""Values of one input that are looked at one by one."""
BY_SOLVER = 64
"""Classes, or outcomes in one state, that the solver is asked for, one after the other."""
ONE_QUESTION = 20_000
"""Steps tried that count as much as one question to the solver."""

_NONE, _STATE, _MIXED = object(), object(), object()


@dataclass(frozen=True)
class InputClasses:
    """``columns`` hold one combination of values for each of ``size`` classes, of all inputs."""

    columns: dict[str, Column]
    size: int

    @property
    def choices(self) -> list[Valuation]:
        """The inputs of each class."""
        return [self.choice(number) for number in range(self.size)]

    def choice(self, number: int) -> Valuation:
        """The inputs of one class."""
        return {name: int(values[number]) for name, values in self.columns.items()}


def input_classes(
    inputs: Sequence[InputVariable],
    formulas: Sequence[FNode],
    framed: Sequence[FNode],
    clock: Clock,
    kept: Valuation,
) -> InputClasses | None:
    """The classes of ``inputs`` for ``formulas`` over plain symbols and ``framed`` ones; None if there are too many.

    Of each of the inputs ``kept`` a value has one representative, whatever values the others have, and the value that
    is named there represents its own class.
    """
    names = {var.name for var in inputs}
    terms = dict.fromkeys(largest_terms(formulas, lambda s: "" if s.symbol_name() in names else None))
    own_steps = largest_terms(framed, lambda s: unframed(s)[1] if unframed(s)[0] in names else None)
    terms |= dict.fromkeys(unplaced(own_steps))
    parts = []
    for group in _groups(inputs, list(terms)):
        rows = _rows(group, terms, clock, kept)
        if rows is None:
            return None
        parts.append((group, rows))
    size = prod(len(rows) for _, rows in parts)
    if size > min(TOGETHER, clock.limits.explored):
        return None
    columns: dict[str, Column] = {}
    after = size
    for group, rows in parts:
        after //= len(rows)
        for place, var in enumerate(group):
            values = np.repeat(column([row[place] for row in rows], var.type.bits), after)
            columns[var.name] = np.tile(values, size // len(values))
    return InputClasses({var.name: columns[var.name] for var in inputs}, size)


def told_apart(system: TransitionSystem, wanted: Collection[str]) -> tuple[list[FNode], Valuation]:
    """What the steps of ``system`` tell apart of inputs, but for those that are only kept; and these, each with the
    value of its keeper in init.

    A keeper is a state variable that becomes its input, stays as it is, or becomes again what it was in init, and is
    read nowhere but where the input constraint ties its input to it; it is not ``wanted``. Let each value of the input
    be replaced by the representative of its class, and the keeper's value in init represent its own class: then all
    keepers have representatives of what they had, the ties that held still hold, and nothing else reads a keeper.
    """
    keepers = _keepers(system, wanted)
    while True:
        ours = {keeper.part for keeper in keepers.values()}
        seen = [part for part in conjuncts(system.input_constraint) if part not in ours]
        seen += [system.defined, *(var.next for var in system.state if var.name not in keepers)]
        seen += [condition for keeper in keepers.values() for condition in keeper.conditions]
        read = names_in(seen) & keepers.keys()
        if not read:
            return seen, {keeper.name: keeper.begin for keeper in keepers.values()}
        keepers = {name: keeper for name, keeper in keepers.items() if name not in read}


@dataclass(frozen=True)
class _Keeper:
    """Of the input ``name``: the ``part`` of the constraint that ties it, its value in init, and what decides its next
    value and where the tie holds."""

    name: str
    part: FNode
    begin: int
    conditions: Sequence[FNode]


def _keepers(system: TransitionSystem, wanted: Collection[str]) -> dict[str, _Keeper]:
    """The variables by name that may be keepers, by their next values."""
    inputs = {var.symbol for var in system.inputs}
    state = {var.symbol: var for var in system.state if var.init is not None and var.name not in wanted}
    found: dict[str, _Keeper] = {}
    for part in conjuncts(system.input_constraint):
        tie = tie_of(part, inputs)
        var = None if tie is None else state.get(tie.value)
        if tie is None or var is None or var.init is None:
            continue
        conditions = _conditions(var.next, {system.variable(tie.name).symbol, var.symbol, var.init})
        if conditions is not None:
            found[var.name] = _Keeper(tie.name, part, int(var.init.constant_value()), [*conditions, tie.free])
    return found


def _conditions(formula: FNode, values: Collection[FNode]) -> list[FNode] | None:
    """The conditions that decide which of ``values`` the ``formula`` is; None where it may be something else."""
    found: list[FNode] = []
    todo = [formula]
    while todo:
        part = todo.pop()
        if part.is_ite():
            found.append(part.arg(0))
            todo += part.args()[1:]
        elif part not in values:
            return None
    return found


def largest_terms(formulas: Sequence[FNode], group: Callable[[FNode], Hashable | None]) -> list[FNode]:
    """The largest terms in ``formulas`` whose symbols are all of one group; symbols without one (None) are of none."""
    kinds: dict[FNode, object] = {}
    found: dict[FNode, None] = {}
    for node in post_order(formulas):
        if node.is_symbol():
            own = group(node)
            kinds[node] = _STATE if own is None else own
            continue
        below = {kinds[a] for a in node.args()} - {_NONE}
        kinds[node] = _NONE if not below else below.pop() if len(below) == 1 else _MIXED
        if kinds[node] is _MIXED:
            found.update((a, None) for a in node.args() if kinds[a] not in (_NONE, _STATE, _MIXED))
    found.update((f, None) for f in formulas if kinds[f] not in (_NONE, _STATE, _MIXED))
    return list(found)


def _groups(inputs: Sequence[InputVariable], terms: Sequence[FNode]) -> list[list[InputVariable]]:
    """``inputs`` in groups, in their order: those that one of ``terms`` reads are together."""
    group = {var.name: var.name for var in inputs}
    for term in terms:
        joined = {group[name] for name in names_in([term])}
        group = {name: min(joined) if own in joined else own for name, own in group.items()}
    return [[var for var in inputs if group[var.name] == own] for own in dict.fromkeys(group.values())]


def _rows(group: list[InputVariable], terms: Iterable[FNode], clock: Clock, kept: Valuation) -> list[list[int]] | None:
    """One combination of raw values for each class of the inputs of one group; None if there are too many."""
    own = {var.name for var in group}
    read = [term for term in terms if names_in([term]) <= own]
    return _each_alone(group, read, clock, kept) if own & kept.keys() else _classes_of(group, read, clock)


def _classes_of(group: list[InputVariable], terms: list[FNode], clock: Clock) -> list[list[int]] | None:
    """One combination of raw values for each class of the inputs of one group; None if there are too many."""
    if any(var.count > ALONE and var.symbol in terms for var in group):
        return None
    kept: list[list[int]] = []
    for var in group:
        values = _values(var, _read_alone(var, terms), clock)
        if values is None:
            return _solved(group, terms, clock)
        kept.append(values)
    if len(group) == 1:
        return [[value] for value in kept[0]]
    if prod(map(len, kept)) > TOGETHER:
        return _solved(group, terms, clock)
    rows = list(product(*kept))
    columns = {v.name: column([row[n] for row in rows], v.type.bits) for n, v in enumerate(group)}
    return [list(rows[place]) for place in distinct(Program(terms)(columns), len(rows))[0]]


def _each_alone(group: list[InputVariable], terms: list[FNode], clock: Clock, own: Valuation) -> list[list[int]] | None:
    """All combinations of one raw value of each class of each input; None if there are too many.

    An ``own`` value, if the input may have it, represents its class.
    """
    found: list[list[int]] = []
    for var in group:
        alone = _read_alone(var, terms)
        values = _values(var, alone, clock)
        if values is None:
            return None
        if var.name in own and compile_formulas([_in_range(var)])(own)[0]:
            look = compile_formulas(alone)
            same = look({var.name: own[var.name]})
            values = [own[var.name], *(value for value in values if look({var.name: value}) != same)]
        found.append(values)
    return None if prod(map(len, found)) > TOGETHER else [list(row) for row in product(*found)]


def _read_alone(var: InputVariable, terms: Sequence[FNode]) -> list[FNode]:
    """The largest parts of ``terms`` that read ``var`` alone."""
    return largest_terms(terms, lambda symbol: symbol.symbol_name() == var.name or None)


def _values(var: InputVariable, terms: list[FNode], clock: Clock) -> list[int] | None:
    """One raw value of each class of an input that is read by ``terms`` alone."""
    if not terms:
        return [var.plainest]
    if var.count > ALONE:
        found = None if any(term.is_symbol() for term in terms) else _solved([var], terms, clock)
        return None if found is None else [row[0] for row in found]
    raw = raw_values(var)
    if any(term.is_symbol() for term in terms):
        return raw
    return [raw[place] for place in distinct(Program(terms)({var.name: column(raw, var.type.bits)}), len(raw))[0]]


def raw_values(var: InputVariable) -> list[int]:
    """All values of an input, raw, from 0 up, negative ones at last."""
    return sorted(value % (1 << max(var.type.bits, 1)) for a, b in var.allowed for value in range(a, b + 1))


def _solved(group: list[InputVariable], terms: list[FNode], clock: Clock) -> list[list[int]] | None:
    """As ``_classes_of``: the solver gives a combination of values that differs from all before in one of ``terms``."""
    look = compile_formulas(terms)
    outcomes = _Outcome(terms, conjunction(_in_range(var) for var in group), clock)
    rows: list[list[int]] = []
    while len(rows) <= BY_SOLVER:
        row = outcomes.another(group)
        if row is None:
            return None
        if not row:
            return rows
        rows.append(list(row.values()))
        outcomes.no_more(look(row))
    return None


class _Outcome:
    """Asks for inputs, and a state, that are ``allowed`` and under which ``terms`` have other values than before.

    All are over plain symbols.
    """

    def __init__(self, terms: Sequence[FNode], allowed: FNode, clock: Clock) -> None:
        self._clauses = Clauses(clock)
        self._values = [Symbol(f"\n{term.get_type()} {place}@0", term.get_type()) for place, term in enumerate(terms)]
        facts = (equal(value, term) for value, term in zip(self._values, at_each(terms, 0), strict=True))
        self._clauses.placed(TRUE(), tuple(facts))
        self._clauses.demand(at(allowed, 0))
        self._here, self._wanted = self._clauses.own(FreshSymbol()), list[int]()

    def begin(self, state: Valuation, symbols: Iterable[FNode]) -> None:
        """Ask about this state from now on, of which ``symbols`` are the variables; nothing was found there before."""
        self._clauses.demand(Not(self._here))
        self._here = self._clauses.own(FreshSymbol())
        self._wanted = [
            literal for s in symbols for literal in self._clauses.equal(framed(s, 0), state[s.symbol_name()])
        ]

    def no_more(self, values: Sequence[int]) -> None:
        """One of the terms has another value than these."""
        self._clauses.differs(dict(zip(self._values, values, strict=True)), self._here)

    def another(self, inputs: Sequence[InputVariable]) -> Valuation | None:
        """Values of ``inputs``; none if there are none, None if the solver gave up."""
        found = self._clauses.possible(self._here, self._wanted)
        if not found:
            return None if found is None else {}
        return {var.name: self._clauses.value(framed(var.symbol, 0)) for var in inputs}


class Outcomes:
    """What can happen in one step from a state: one combination of inputs for each outcome, ``choices`` in all so far.

    An outcome is the next state with what the goals see of the step. ``asked`` counts questions to the solver.
    """

    def __init__(self, system: TransitionSystem, formulas: Sequence[FNode], clock: Clock) -> None:
        self.choices: list[Valuation] = []
        self.asked = 0
        self._system, self._clock = system, clock
        terms = dict.fromkeys(var.next for var in system.state)
        terms |= dict.fromkeys(unplaced(largest_terms(formulas, lambda s: unframed(s)[1])))
        names = {var.name for var in system.inputs}
        read = [term for term in terms if names_in([term]) & names]
        allowed = conjunction([system.input_constraint, system.defined])
        self._look = compile_formulas([allowed, *read])
        self._outcome = _Outcome(read, conjunction([allowed, *(_in_range(var) for var in system.inputs)]), clock)

    def of(self, state: Valuation) -> list[int] | None:
        """The numbers of the choices from ``state``; None if there are too many, or the solver gave up."""
        found: dict[tuple[int, ...], int] = {}
        for number, known in enumerate(self.choices):
            fine, *outcome = self._look({**state, **known})
            if fine:
                found.setdefault(tuple(outcome), number)
        self._outcome.begin(state, [var.symbol for var in self._system.state])
        for values in found:
            self._outcome.no_more(values)
        while len(found) <= BY_SOLVER:
            self.asked += 1
            choice = self._outcome.another(self._system.inputs)
            if choice is None or self._clock.over or self.asked * ONE_QUESTION > self._clock.limits.explored:
                return None
            if not choice:
                return list(found.values())
            fresh = self._look({**state, **choice})[1:]
            found[fresh] = len(self.choices)
            self.choices.append(choice)
            self._outcome.no_more(fresh)
        return None

    def classes(self) -> InputClasses:
        """All choices as columns."""
        columns = {
            v.name: column([choice[v.name] for choice in self.choices], v.type.bits) for v in self._system.inputs
        }
        return InputClasses(columns, len(self.choices))


def _in_range(var: InputVariable) -> FNode:
    """The formula: the input has one of its allowed values."""
    return membership(var.symbol, var.type, var.values) if var.values else TRUE()


def distinct(columns: Sequence[Column], size: int) -> tuple[Column, Column]:
    """The places of rows that are different from each other, and for each row the number of the one that it equals."""
    if not size:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    label: Column = np.zeros(size, np.uint64)
    filled = 0
    for part in columns:
        if part.dtype == object:
            values = np.unique(part, return_inverse=True)[1].astype(np.uint64)
        else:
            values = part.astype(np.uint64)
        bits = max(1, int(values.max()).bit_length())
        if filled + bits > WORD:
            label = np.unique(label, return_inverse=True)[1].astype(np.uint64)
            filled = int(label.max()).bit_length()
            if filled + bits > WORD:
                values = np.unique(values, return_inverse=True)[1].astype(np.uint64)
                bits = max(1, int(values.max()).bit_length())
        label = (label << np.uint64(bits)) | values
        filled += bits
    _, place, which = np.unique(label, return_index=True, return_inverse=True)
    order = np.argsort(place, kind="stable")  # in the order in which they come
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return place[order], rank[which]
