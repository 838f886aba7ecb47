"""Inputs that no formula can tell apart: one of each class stands for all, exactly.

What depends on one input alone, within a formula that depends on more, is all that the formula sees of that input.
Two values are of one class if all these terms have the same value for both: found by evaluating them on every value;
on a wide input where it is only compared with constants, between which nothing changes. Then combinations of inputs
are put together in the same way, by the terms that depend on inputs alone.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import product
from math import prod

import numpy as np
import pysmt.operators as op
from pysmt.fnode import FNode

from bmc.explicit.rows import Rows
from bmc.explicit.vectors import Column, arguments_of, column, compile_columns, walk
from bmc.floats.format import FORMATS
from bmc.floats.operations import operation_of
from bmc.system.transition import InputVariable, StateVariable

MOST_VALUES = 1 << 16
"""Values of one input, or combinations of inputs, on which all terms are evaluated."""

Variable = StateVariable | InputVariable
Places = Mapping[FNode, tuple[str, int]]
"""For each symbol of the formulas the name of its variable, and its step: at two steps two values are seen."""


def allowed_ranges(var: Variable) -> tuple[tuple[int, int], ...]:
    """The values that ``var`` may have, as inclusive ranges."""
    declared = var.values if isinstance(var, InputVariable) else ()
    return declared or ((var.type.least, var.type.greatest),)


def value_count(var: Variable) -> int:
    """How many values ``var`` may have."""
    return sum(high - low + 1 for low, high in allowed_ranges(var))


def all_values(var: Variable) -> list[int]:
    """The allowed values, raw: those from 0 up before negative ones."""
    return _raw_from_zero(var, (value for low, high in allowed_ranges(var) for value in range(low, high + 1)))


def combinations(variables: Mapping[str, tuple[Sequence[int], int]]) -> Rows:
    """All combinations of (raw values, bits) by name, the last name's changing first."""
    size = prod(len(values) for values, _ in variables.values())
    columns, after = {}, size
    for name, (values, bits) in variables.items():
        after //= max(len(values), 1)
        repeated = np.repeat(column(values, bits), after)
        columns[name] = np.tile(repeated, size // max(len(repeated), 1))
    return Rows(columns, size)


def input_classes(
    inputs: Sequence[InputVariable], formulas: Sequence[FNode], places: Places, constraint: Sequence[FNode], limit: int
) -> Rows | None:
    """One combination of values for each class of ``inputs``, the first of it; None if there are more than ``limit``.

    Values from 0 up come first. Combinations that break one of ``constraint`` (over plain symbols) in every state are
    left out, unless all do.
    """
    order = walk(list(formulas))
    roots = set(formulas)
    names = {var.name for var in inputs}
    own = largest_terms(order, roots, {s: s for s, (name, _) in places.items() if name in names})
    kept = {}
    for var in inputs:
        terms = {term: symbol for term, symbol in own.items() if places[symbol][0] == var.name}
        if (values := _class_values(var, terms)) is None:
            return None
        kept[var.name] = (values, var.type.bits)
    if prod(len(values) for values, _ in kept.values()) > max(limit, MOST_VALUES):
        return None
    found = combinations(kept)
    found = _possible(found, constraint, names)
    if len(found) <= MOST_VALUES:
        common = largest_terms(order, roots, {s: step for s, (name, step) in places.items() if name in names})
        found = found.which(_firsts(common, lambda term: _seen(term, places, found), len(found)))
    return found if len(found) <= limit else None


def largest_terms(order: Sequence[FNode], roots: set[FNode], groups: Mapping[FNode, Hashable]) -> dict[FNode, FNode]:
    """The largest terms over symbols of one group alone, each with one of its symbols.

    ``order`` as that of ``vectors.walk`` for the formulas ``roots``. Symbols without a group are of none.
    """
    nothing, mixed = object(), object()
    group: dict[FNode, object] = {}
    symbol: dict[FNode, FNode] = {}
    found: dict[FNode, FNode] = {}
    for node in order:
        if node.is_symbol():
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


def _seen(term: FNode, places: Places, rows: Rows) -> Column:
    """The value of ``term`` for each combination."""
    symbols = [node for node in walk([term]) if node.is_symbol()]
    (values,) = compile_columns([term])({s.symbol_name(): rows.columns[places[s][0]] for s in symbols})
    return np.broadcast_to(values, (len(rows),))


def _firsts(terms: Mapping[FNode, FNode], seen: Callable[[FNode], Column], size: int) -> Column:
    """The rows that differ in what is ``seen`` of them from every earlier one."""
    label = np.zeros(size, np.int64)
    for term in terms:
        _, part = np.unique(seen(term), return_inverse=True)
        _, label = np.unique(label * (int(part.max(initial=0)) + 1) + part, return_inverse=True)
    _, first = np.unique(label, return_index=True)
    return np.sort(first)


def _possible(rows: Rows, constraint: Sequence[FNode], names: set[str]) -> Rows:
    """``rows`` without those that break a part of ``constraint`` that reads inputs alone."""
    kept = np.ones(len(rows), bool)
    for part in _conjuncts(constraint):
        symbols = {node.symbol_name() for node in walk([part]) if node.is_symbol()}
        if symbols <= names:
            kept &= compile_columns([part])(rows.columns)[0]
    return rows.which(np.flatnonzero(kept)) if kept.any() else rows


def _conjuncts(formulas: Sequence[FNode]) -> list[FNode]:
    found, todo = [], list(formulas)
    while todo:
        part = todo.pop()
        if part.is_and():
            todo += part.args()
        else:
            found.append(part)
    return found


def _class_values(var: InputVariable, terms: Mapping[FNode, FNode]) -> list[int] | None:
    """A raw value of each class of ``var``; None if there are too many to look at."""
    if value_count(var) <= MOST_VALUES:
        values = all_values(var)
    else:
        borders = {0, 1 << max(var.type.bits - 1, 0)}
        for term, symbol in terms.items():
            if not _collect_borders(term, symbol, borders):
                return None
        values = _first_values(var, borders)
    if any(term is symbol for term, symbol in terms.items()):
        return values
    raw = column(values, var.type.bits)
    firsts = _firsts(terms, lambda term: _on_values(term, terms[term], raw), len(values))
    return [values[place] for place in firsts.tolist()]


def _on_values(term: FNode, symbol: FNode, raw: Column) -> Column:
    (values,) = compile_columns([term])({symbol.symbol_name(): raw})
    return np.broadcast_to(values, raw.shape)


def _raw_from_zero(var: Variable, values: object) -> list[int]:
    wrap = 1 << max(var.type.bits, 1)
    ordered = sorted(set(values), key=lambda value: (value < 0, value))  # type: ignore[call-overload]
    return [value % wrap for value in ordered]


def _first_values(var: InputVariable, borders: set[int]) -> list[int]:
    """The first allowed values of each stretch between ``borders`` (raw)."""
    found = set()
    for low, high in allowed_ranges(var):
        signed = [var.type.value(border % (1 << var.type.bits)) for border in borders]
        found |= {low, *(value for value in signed if low <= value <= high)}
    return _raw_from_zero(var, found)


def _collect_borders(term: FNode, symbol: FNode, borders: set[int]) -> bool:
    """Add the raw values from which on a comparison in ``term`` with a constant may turn out otherwise.

    False if ``symbol`` is read otherwise.
    """
    todo, seen = [term], {term}
    while todo:
        node = todo.pop()
        if node is symbol:
            return False
        constant = _compared(node, symbol)
        if constant is not None:
            borders |= constant
            continue
        fresh = [a for a in arguments_of(node) if a not in seen]
        seen.update(fresh)
        todo += fresh
    return True


_COMPARISONS = (op.EQUALS, op.BV_ULT, op.BV_ULE, op.BV_SLT, op.BV_SLE, op.BV_COMP)
_FLOAT_COMPARISONS = ("equal", "less", "less_equal")


def _compared(node: FNode, symbol: FNode) -> set[int] | None:
    """The borders of a comparison of ``symbol``, perhaps extended, with a constant; None for anything else."""
    floating = operation_of(node)
    arguments = arguments_of(node)
    if floating is not None and floating.name in _FLOAT_COMPARISONS and floating.form in FORMATS.values():
        form, special = floating.form, floating.form.infinity + 1
        found = {0, 1, form.sign, form.sign + 1, special, form.sign | special}
    elif node.node_type() in _COMPARISONS:
        found = set()
    else:
        return None
    for one, other in product(arguments, repeat=2):
        if one.is_constant() and _extended(other) is symbol:
            width = int(symbol.bv_width())
            value = int(one.constant_value()) % (1 << width)
            return found | {value, value + 1}
    return None


def _extended(node: FNode) -> FNode:
    """``node`` without an extension to more bits."""
    return node.arg(0) if node.is_bv_zext() or node.is_bv_sext() else node
