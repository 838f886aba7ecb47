"""Inputs that no formula can tell apart: one of each class stands for all, exactly.

What depends on one input alone, within a formula that depends on more, is all that the formula sees of that input.
Two values are of one class if all these terms have the same value for both: found by evaluating them on every value;
on a wide input where it is only compared with constants, between which nothing changes. Inputs that are compared or
calculated with each other make a group, whose cases are told apart together (``bmc.explicit.splitting``).
A table lists the classes of a group. Where the product of all tables is small, it is the inputs to try in every state;
else they are told apart state by state.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from math import prod

import numpy as np
import pysmt.operators as op
from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE, And, Or

from bmc.evaluation.vectors import Column, Program, arguments_of, bits_of, column, walk
from bmc.explicit.rows import Rows, first_of_each
from bmc.explicit.splitting import Cases, Splitter, TooManyCases
from bmc.floats.operations import operation_of
from bmc.floats.values import borders
from bmc.records import dataclass
from bmc.system.transition import InputVariable, StateVariable, conjunction, conjuncts, equal

MOST_VALUES = 1 << 16
"""Values of one input that are all looked at; combinations of inputs to be tried in every state."""

MOST_CASES = 1 << 14
"""Cases of one group of inputs; where there are more, its inputs are told apart in each state by itself."""

Variable = StateVariable | InputVariable


class TooManyValues(Exception):
    """Inputs cannot be divided into few enough classes; the text says which, as the rest of a sentence.

    ``remedy`` says what would make them fewer.
    """

    def __init__(self, text: str, remedy: str = "give them a range, or state an assumption that leaves fewer values"):
        super().__init__(text)
        self.remedy = remedy


def allowed_ranges(var: Variable) -> tuple[tuple[int, int], ...]:
    """The values that ``var`` may have, as inclusive ranges."""
    declared = var.values if isinstance(var, InputVariable) else var.starts
    return declared or ((var.type.least, var.type.greatest),)


def is_allowed(var: InputVariable) -> FNode:
    """The formula: ``var`` has one of its allowed values."""
    if not var.values:
        return TRUE()
    if not var.type.bits:
        return Or([equal(var.symbol, var.type.constant(value)) for value in all_values(var)])
    word, below = var.symbol, FNode.BVSLE if var.type.signed else FNode.BVULE
    bounds = [(var.type.constant(low), var.type.constant(high)) for low, high in var.values]
    return Or([And(below(low, word), below(word, high)) for low, high in bounds])


def value_count(var: Variable) -> int:
    """How many values ``var`` may have."""
    return sum(high - low + 1 for low, high in allowed_ranges(var))


def all_values(var: Variable) -> list[int]:
    """The allowed values, raw: those from 0 up before negative ones."""
    return _raw_from_zero(var, (value for low, high in allowed_ranges(var) for value in range(low, high + 1)))


def combinations(variables: Mapping[str, tuple[Sequence[int], int]]) -> Rows:
    """All combinations of (raw values, bits) by name, the last name's changing first."""
    tables = [Rows({name: column(values, bits)}, len(values)) for name, (values, bits) in variables.items()]
    return _product(tables)


def _product(tables: Sequence[Rows]) -> Rows:
    """All combinations of the rows of ``tables``, those of the last one changing first."""
    size = prod(len(table) for table in tables)
    columns: dict[str, Column] = {}
    after = size
    for table in tables:
        after //= max(len(table), 1)
        for name, values in table.columns.items():
            repeated = np.repeat(values, after)
            columns[name] = np.tile(repeated, size // max(len(repeated), 1))
    return Rows(columns, size)


@dataclass(frozen=True)
class InputTables:
    """For each group of inputs the ``tables`` of its classes: the inputs' values by name, and those of ``leaves``.

    The leaves are terms over inputs alone, with the names of their columns.
    """

    tables: tuple[Rows, ...]
    leaves: Mapping[FNode, str]

    @property
    def size(self) -> int:
        """How many combinations of classes there are."""
        return prod(len(table) for table in self.tables)


def input_tables(inputs: Sequence[InputVariable], formulas: Sequence[FNode]) -> Iterator[int | InputTables]:
    """Yields the work done, now and then, and at last the tables; TooManyValues where there is no end to it.

    ``formulas`` are over plain symbols. Values from 0 up come first.
    """
    order = walk(formulas)
    names = [var.name for var in inputs]
    symbols = {node: node.symbol_name() for node in order if node.is_symbol() and node.symbol_name() in names}
    found = _input_terms(order, formulas, set(names))
    leaves = {leaf: symbols.get(leaf, f"input#{number}") for number, leaf in enumerate(found)}
    read = {leaf: _names_in(leaf) for leaf in leaves}
    own = largest_terms(order, set(formulas), symbols)
    single: dict[str, Rows] = {}
    for var in inputs:
        terms = {term: symbol for term, symbol in own.items() if symbols[symbol] == var.name}
        yield min(value_count(var), MOST_VALUES) * (len(terms) + 1)
        values = class_values(var, terms)
        single[var.name] = Rows({var.name: column(values, var.type.bits)}, len(values))
    tables: list[Rows] = []
    told: dict[FNode, str] = {}
    for group in _groups(names, list(read.values())):
        kept = {leaf: name for leaf, name in leaves.items() if read[leaf] <= set(group)}
        for step in _tables_of_group(group, single, kept):
            if isinstance(step, int):
                yield step
            else:
                tables += step.tables
                told.update(step.leaves)
    yield InputTables(tuple(tables), told)


def _tables_of_group(
    group: Sequence[str], single: Mapping[str, Rows], leaves: Mapping[FNode, str]
) -> Iterator[int | InputTables]:
    """The work done, and at last one table for a group of inputs, of which ``single`` has the values one by one.

    There is a table for each input where their combinations have too many cases.
    """
    try:
        for step in _cases([single[name] for name in group], list(leaves)):
            yield step if isinstance(step, int) else InputTables((_with_leaves(step, leaves),), leaves)
    except TooManyCases:
        own = {name: {leaf: text for leaf, text in leaves.items() if _names_in(leaf) == {name}} for name in group}
        tables = tuple(_with_leaves(single[name], own[name]) for name in group)
        yield InputTables(tables, {leaf: text for leaf, text in leaves.items() if len(_names_in(leaf)) == 1})


def _cases(single: Sequence[Rows], terms: Sequence[FNode]) -> Iterator[int | Rows]:
    """The classes of a group of inputs, of which ``single`` has the values one by one. TooManyCases may be raised."""
    if len(single) == 1:
        yield single[0]
        return
    for step in Splitter(terms, single).split({}, {}, 1, MOST_CASES):
        if isinstance(step, Cases):
            parts = [rows.which(choice) for rows, choice in zip(single, step.choices, strict=True)]
            yield Rows({name: values for part in parts for name, values in part.columns.items()}, len(step.source))
        else:
            yield step


def _with_leaves(rows: Rows, leaves: Mapping[FNode, str]) -> Rows:
    """``rows`` of inputs with the values of ``leaves``, by their names."""
    computed = Program(list(leaves))(rows.columns)
    columns = {name: np.broadcast_to(c, (len(rows),)) for name, c in zip(leaves.values(), computed, strict=True)}
    return Rows({**columns, **rows.columns}, len(rows))


def listed(names: Sequence[str]) -> str:
    """``names`` as part of a sentence."""
    shown = [f"'{name}'" for name in names]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _groups(names: Sequence[str], together: Sequence[set[str]]) -> list[list[str]]:
    """``names`` in groups, so that each of the sets ``together`` lies within one."""
    group = {name: {name} for name in names}
    for joined in together:
        united = set().union(*(group[name] for name in joined))
        group.update(dict.fromkeys(united, united))
    different = {id(found): found for found in group.values()}
    return [[name for name in names if name in found] for found in different.values()]


_CONNECTIVES = frozenset((op.AND, op.OR, op.NOT, op.IMPLIES, op.IFF))


def _input_terms(order: Sequence[FNode], roots: Sequence[FNode], names: set[str]) -> list[FNode]:
    """The largest terms that read inputs only and are no connectives of others, in a repeatable order."""
    only: dict[FNode, bool | None] = {}
    for node in order:
        if node.is_symbol():
            only[node] = node.symbol_name() in names
        else:
            below = {only[a] for a in arguments_of(node)} - {None}
            only[node] = None if not below else below == {True}
    found: dict[FNode, None] = {}
    todo = list(dict.fromkeys(roots))
    seen = set(todo)
    while todo:
        node = todo.pop()
        if only[node] and not _connects(node):
            found[node] = None
        elif only[node] is not None:
            fresh = [a for a in arguments_of(node) if a not in seen]
            seen.update(fresh)
            todo += fresh
    return list(found)


def _connects(node: FNode) -> bool:
    if operation_of(node) is not None:
        return False
    return node.node_type() in _CONNECTIVES or (node.is_ite() and not bits_of(node))


def combined_classes(tables: InputTables, formulas: Sequence[FNode], constraint: Sequence[FNode]) -> Rows | None:
    """One combination of values for each class of all inputs, the first of it; None if there are too many to compare.

    Combinations that break one of ``constraint`` in every state are left out, unless all do.
    """
    if tables.size > MOST_VALUES:
        return None
    rows = _product(tables.tables)
    inputs = Rows({name: values for name, values in rows.columns.items() if not name.startswith("input#")}, len(rows))
    kept = np.ones(len(rows), bool)
    parts = [part for part in conjuncts(conjunction(constraint)) if _names_in(part) <= inputs.columns.keys()]
    if parts:
        for holds in Program(parts)(inputs.columns):
            kept &= holds
    rows = inputs.which(np.flatnonzero(kept)) if kept.any() and not kept.all() else inputs
    order = walk(formulas)
    groups = {node: True for node in order if node.is_symbol() and node.symbol_name() in inputs.columns}
    terms = list(largest_terms(order, set(formulas), groups))
    return rows.which(_firsts(Program(terms)(rows.columns), len(rows)))


def merged_classes(tables: InputTables, formulas: Sequence[FNode]) -> Iterator[int | Rows]:
    """Yields the work done, now and then, and at last one combination of values for each class of all inputs, where
    combinations are too many to be compared one by one.

    Group by group those are merged of which the same is left of ``formulas``, whatever the state is. Cases in which the
    first of these is false are left out. TooManyCases may be raised.
    """
    variables = tables.tables
    for step in Splitter(formulas, variables, tables.leaves, required=0).rows(MOST_CASES):
        if isinstance(step, int):
            yield step
            continue
        parts = [rows.which(choice) for rows, choice in zip(variables, step, strict=True)]
        columns = {name: values for part in parts for name, values in part.columns.items()}
        inputs = {name: values for name, values in columns.items() if not name.startswith("input#")}
        yield Rows(inputs, len(step[0]))


def _names_in(term: FNode) -> set[str]:
    return {node.symbol_name() for node in walk([term]) if node.is_symbol()}


def largest_terms(order: Sequence[FNode], roots: set[FNode], groups: Mapping[FNode, Hashable]) -> dict[FNode, FNode]:
    """The largest terms over symbols of one group alone, each with one of its symbols.

    ``order`` as that of ``vectors.walk`` for the formulas ``roots``. Symbols without a group are of none; terms that
    have one count as symbols.
    """
    nothing, mixed = object(), object()
    group: dict[FNode, object] = {}
    symbol: dict[FNode, FNode] = {}
    found: dict[FNode, FNode] = {}
    for node in order:
        if node.is_symbol() or node in groups:
            group[node] = groups.get(node, mixed)
            symbol[node] = node
        else:
            below = {group[a] for a in arguments_of(node)} - {nothing}
            group[node] = nothing if not below else below.pop() if len(below) == 1 else mixed
            symbol.update((node, symbol[a]) for a in arguments_of(node) if a in symbol)
        if group[node] is mixed:
            for a in arguments_of(node):
                if group[a] is not mixed and group[a] is not nothing:
                    found[a] = symbol[a]
        elif node in roots and group[node] is not nothing:
            found[node] = symbol[node]
    return found


def _firsts(columns: Sequence[Column], size: int) -> Column:
    """The rows that differ in ``columns`` from every earlier one."""
    return first_of_each([np.broadcast_to(values, (size,)) for values in columns], np.ones(size, bool))


def class_values(var: InputVariable, terms: Mapping[FNode, FNode]) -> list[int]:
    """A raw value of each class of ``var``, which is read in ``terms`` (each with its symbol) only."""
    if value_count(var) <= MOST_VALUES:
        values = all_values(var)
    else:
        found = borders(terms)
        if found is None:
            raise TooManyValues(f"the input '{var.name}' has {value_count(var)} values that can be told apart")
        values = _first_values(var, found)
    if any(term is symbol for term, symbol in terms.items()):
        return values
    raw = column(values, var.type.bits)
    names = {symbol.symbol_name(): raw for symbol in terms.values()}
    return [values[place] for place in _firsts(Program(list(terms))(names), len(values)).tolist()]


def _raw_from_zero(var: Variable, values: object) -> list[int]:
    wrap = 1 << max(var.type.bits, 1)
    ordered = sorted(set(values), key=lambda value: (value < 0, value))  # type: ignore[call-overload]
    return [value % wrap for value in ordered]


def _first_values(var: InputVariable, begins: set[int]) -> list[int]:
    """The first allowed values of each range that ``begins`` (raw)."""
    found = set()
    for low, high in allowed_ranges(var):
        signed = [var.type.value(border % (1 << var.type.bits)) for border in begins]
        found |= {low, *(value for value in signed if low <= value <= high)}
    return _raw_from_zero(var, found)
