"""Inputs that no formula can tell apart: one representative of each class, by looking at all values or by a solver.

A formula sees of the inputs only the largest terms over inputs alone that are in it. Two combinations of inputs for
which all these terms have the same values are of one class. Inputs that no common term reads are looked at apart.
Where there are too many classes, ``outcomes`` looks at states of one kind after the other.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from itertools import chain, product
from math import prod

import numpy as np
from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE, Symbol

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
"""Classes that the solver is asked for, one after the other."""

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
        values = values_of(var, read_alone(var, terms), clock)
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


def together(
    var: InputVariable, inputs: Sequence[InputVariable], terms: Sequence[FNode], clock: Clock
) -> list[Valuation] | None:
    """One combination of values for each class of those ``inputs`` that are read together with ``var``; None if there
    are too many."""
    names = {each.name for each in inputs}
    read = largest_terms(terms, lambda symbol: "" if symbol.symbol_name() in names else None)
    group = next(group for group in _groups(inputs, read) if var in group)
    rows = _rows(group, read, clock, {})
    return None if rows is None else [dict(zip([each.name for each in group], row, strict=True)) for row in rows]


def _each_alone(group: list[InputVariable], terms: list[FNode], clock: Clock, own: Valuation) -> list[list[int]] | None:
    """All combinations of one raw value of each class of each input; None if there are too many.

    An ``own`` value, if the input may have it, represents its class.
    """
    found: list[list[int]] = []
    for var in group:
        alone = read_alone(var, terms)
        values = values_of(var, alone, clock)
        if values is None:
            return None
        if var.name in own and compile_formulas([_in_range(var)])(own)[0]:
            look = compile_formulas(alone)
            same = look({var.name: own[var.name]})
            values = [own[var.name], *(value for value in values if look({var.name: value}) != same)]
        found.append(values)
    return None if prod(map(len, found)) > TOGETHER else [list(row) for row in product(*found)]


def read_alone(var: InputVariable, terms: Sequence[FNode]) -> list[FNode]:
    """The largest parts of ``terms`` that read ``var`` alone."""
    return largest_terms(terms, lambda symbol: symbol.symbol_name() == var.name or None)


def values_of(var: InputVariable, terms: list[FNode], clock: Clock) -> list[int] | None:
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
    values = sorted(chain.from_iterable(range(low, high + 1) for low, high in var.allowed))
    negative = bisect_left(values, 0)
    return [*values[negative:], *(value + (1 << var.type.bits) for value in values[:negative])]


def _solved(group: list[InputVariable], terms: list[FNode], clock: Clock) -> list[list[int]] | None:
    """As ``_classes_of``: the solver gives a combination of values that differs from all before in one of ``terms``."""
    look, clauses = compile_formulas(terms), Clauses(clock)
    values = [Symbol(f"\n{term.get_type()} {place}@0", term.get_type()) for place, term in enumerate(terms)]
    facts = (equal(value, term) for value, term in zip(values, at_each(terms, 0), strict=True))
    clauses.placed(TRUE(), tuple(facts))
    clauses.demand(at(conjunction(_in_range(var) for var in group), 0))
    rows: list[list[int]] = []
    while len(rows) <= BY_SOLVER:
        found = clauses.possible(TRUE())
        if not found:
            return None if found is None else rows
        row = {var.name: clauses.value(framed(var.symbol, 0)) for var in group}
        rows.append(list(row.values()))
        clauses.differs(dict(zip(values, look(row), strict=True)), TRUE())
    return None


def of_choices(inputs: Sequence[InputVariable], choices: Sequence[Valuation]) -> InputClasses:
    """Combinations of values of ``inputs`` as columns."""
    columns = {var.name: column([choice[var.name] for choice in choices], var.type.bits) for var in inputs}
    return InputClasses(columns, len(choices))


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
