"""Formulas computed on whole columns of values: words of up to 64 bits as unsigned numbers, wider ones as Python's.

A floating operation that the front end has told (``bmc.floats.operations``) is left to the processor, everything else
follows the definition of SMT-LIB.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pysmt.operators as op
from pysmt.fnode import FNode

from bmc.floats.format import FLOAT32, FLOAT64, Format
from bmc.floats.operations import Operation, operation_of
from bmc.formulas.evaluate import operation

Column = np.ndarray[Any, np.dtype[Any]]
Values = Mapping[str, Column]

WORD = 64
"""The most bits of a word that is kept in an array of machine words."""

_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "root": np.sqrt,
    "floor": np.floor,
    "ceiling": np.ceil,
    "truncate": np.trunc,
}
_COMPARISONS: dict[str, Callable[..., Any]] = {"equal": np.equal, "less": np.less, "less_equal": np.less_equal}


def column(values: Sequence[int], bits: int) -> Column:
    """Raw values of a variable of ``bits`` bits (0: Boolean) as a column."""
    if bits > WORD:
        wide = np.empty(len(values), object)
        wide[:] = list(values)
        return wide
    return np.array(values, np.uint64 if bits else bool)


class Vectors:
    """Some formulas, compiled: called with the columns of their symbols it gives a column for each of them.

    Columns are broadcast against each other as numpy does; a result may be narrower than what it was computed from.
    """

    def __init__(self, formulas: Sequence[FNode]) -> None:
        self._steps: list[tuple[FNode, int, tuple[int, ...], Callable[..., Any] | None]] = []
        places: dict[FNode, int] = {}
        for node, arguments, floating in _ordered(formulas):
            compute = None if node.is_symbol() else computing_of(node, floating)
            self._steps.append((node, len(places), tuple(places[a] for a in arguments), compute))
            places[node] = len(places)
        self._results = [places[formula] for formula in formulas]
        last = {place: number for number, step in enumerate(self._steps) for place in step[2]}
        kept = set(self._results)
        self._spent: list[tuple[int, ...]] = [
            tuple(place for place in dict.fromkeys(step[2]) if last[place] == number and place not in kept)
            for number, step in enumerate(self._steps)
        ]

    def __call__(self, values: Values) -> list[Column]:
        found: list[Any] = [None] * len(self._steps)
        with np.errstate(all="ignore"):
            for (node, place, arguments, compute), spent in zip(self._steps, self._spent, strict=True):
                if compute is None:
                    found[place] = values[node.symbol_name()]
                else:
                    found[place] = compute(*(found[a] for a in arguments))
                for argument in spent:
                    found[argument] = None
        return [np.asarray(found[place]) for place in self._results]


class Knowing:
    """Some formulas, computed where the values of some symbols are not known: for each its column, and where it is
    known.

    A condition decides an alternative, and one part a conjunction, whatever else is not known.
    """

    def __init__(self, formulas: Sequence[FNode]) -> None:
        self._formulas = list(formulas)
        self._order = [
            (node, arguments, None if node.is_symbol() else computing_of(node, floating))
            for node, arguments, floating in _ordered(formulas)
        ]

    def __call__(self, values: Values, known: Values) -> list[tuple[Column, Column]]:
        found: dict[FNode, tuple[Any, Any]] = {}
        with np.errstate(all="ignore"):
            for node, arguments, compute in self._order:
                if compute is None:
                    name = node.symbol_name()
                    found[node] = values[name], known.get(name, _SURE)
                else:
                    parts = [found[argument] for argument in arguments]
                    found[node] = compute(*(value for value, _ in parts)), _certain(node, parts)
        return [(np.asarray(value), np.asarray(sure)) for value, sure in map(found.__getitem__, self._formulas)]


_SURE = np.bool_(True)


def _certain(node: FNode, parts: Sequence[tuple[Any, Any]]) -> Any:
    """Where ``node`` is known, from the values of its arguments and where these are known."""
    kind = node.node_type()
    if kind == op.ITE:
        (cond, told), (then, then_told), (other, other_told) = parts
        return (told & np.where(cond, then_told, other_told)) | (then_told & other_told & (then == other))
    every = _all_of(*(sure for _, sure in parts)) if parts else _SURE
    if kind in (op.AND, op.OR):
        return _any_of(every, *(sure & (value == (kind == op.OR)) for value, sure in parts))
    if kind == op.IMPLIES:
        (left, left_told), (right, right_told) = parts
        return every | (left_told & ~left) | (right_told & right)
    return every


def _ordered(formulas: Sequence[FNode]) -> list[tuple[FNode, tuple[FNode, ...], Operation | None]]:
    """Every node that is computed, with its arguments and the floating operation that it is, arguments first."""
    done: dict[FNode, tuple[tuple[FNode, ...], Operation | None]] = {}
    pending: dict[FNode, tuple[tuple[FNode, ...], Operation | None]] = {}
    stack = list(reversed(formulas))
    while stack:
        node = stack[-1]
        if node in done:
            stack.pop()
        elif node in pending:
            done[node] = pending.pop(node)
            stack.pop()
        else:
            floating = operation_of(node)
            if floating is not None and not _native(floating):
                floating = None
            arguments = node.args() if floating is None else floating.operands
            pending[node] = tuple(arguments), floating
            stack.extend(a for a in reversed(arguments) if a not in done)
    return [(node, *rest) for node, rest in done.items()]


def _native(floating: Operation) -> bool:
    """Whether the processor computes the operation as the circuits do."""
    forms = {floating.form, floating.to_form or floating.form}
    if not forms <= {FLOAT32, FLOAT64}:
        return False
    return floating.name in _ARITHMETIC or floating.name in _COMPARISONS or floating.name == "resize"


def computing_of(node: FNode, floating: Operation | None) -> Callable[..., Any]:
    """From the columns of the arguments of ``node``, or of the operands of ``floating``, to its own."""
    if floating is not None:
        return _on_floats(floating)
    widths = [a.bv_width() for a in (node, *node.args()) if not _boolean(a)]
    if max(widths, default=0) > WORD:
        return _one_by_one(node)
    return _on_words(node)


def _boolean(node: FNode) -> bool:
    return bool(node.get_type().is_bool_type())


def _on_floats(floating: Operation) -> Callable[..., Any]:
    form, name = floating.form, floating.name
    if name in _COMPARISONS:
        test = _COMPARISONS[name]
        return lambda a, b: test(_numbers(a, form), _numbers(b, form))
    if name == "resize":
        to_form = floating.to_form
        assert to_form is not None
        kind = np.float32 if to_form == FLOAT32 else np.float64
        return lambda a: _patterns(_numbers(a, form).astype(kind), to_form)
    function = _ARITHMETIC[name]
    return lambda *raw: _patterns(function(*(_numbers(a, form) for a in raw)), form)


def _numbers(raw: Any, form: Format) -> Column:
    if form == FLOAT32:
        return np.ascontiguousarray(raw).astype(np.uint32).view(np.float32)
    return np.ascontiguousarray(raw, np.uint64).view(np.float64)


def _patterns(values: Column, form: Format) -> Column:
    kind = np.uint32 if form == FLOAT32 else np.uint64
    raw = np.ascontiguousarray(values).view(kind).astype(np.uint64)
    return np.where(np.isnan(values), np.uint64(form.nan), raw)


def _one_by_one(node: FNode) -> Callable[..., Any]:
    """A node that numpy does not compute, mostly one with wide words: Python computes each value by itself."""
    if node.is_constant():
        value = np.empty((), object)
        value[()] = int(node.constant_value())
        return lambda: value
    compute = operation(node)
    boolean, wide = _boolean(node), not _boolean(node) and node.bv_width() > WORD

    def on_columns(*columns: Any) -> Column:
        spread = np.broadcast_arrays(*columns)
        rows = zip(*(part.ravel().tolist() for part in spread), strict=True)
        results = [compute(row) for row in rows]
        out = np.empty(len(results), object if wide else bool if boolean else np.uint64)
        out[:] = results
        return out.reshape(spread[0].shape)

    return on_columns


def _on_words(node: FNode) -> Callable[..., Any]:
    kind = node.node_type()
    if kind == op.BOOL_CONSTANT:
        truth = np.bool_(node.constant_value())
        return lambda: truth
    if kind == op.BV_CONSTANT:
        word = np.uint64(node.constant_value())
        return lambda: word
    if kind in _BOOLEAN:
        return _BOOLEAN[kind]
    return _word_operation(node, kind)


def _all_of(*parts: Any) -> Any:
    found = parts[0]
    for part in parts[1:]:
        found = found & part
    return found


def _any_of(*parts: Any) -> Any:
    found = parts[0]
    for part in parts[1:]:
        found = found | part
    return found


_BOOLEAN: dict[int, Callable[..., Any]] = {
    op.AND: _all_of,
    op.OR: _any_of,
    op.NOT: np.logical_not,
    op.IMPLIES: lambda a, b: ~a | b,
    op.IFF: np.equal,
    op.EQUALS: np.equal,
    op.ITE: np.where,
    op.BV_ULT: np.less,
    op.BV_ULE: np.less_equal,
    op.BV_AND: _all_of,
    op.BV_OR: _any_of,
    op.BV_XOR: np.bitwise_xor,
    op.BV_COMP: lambda a, b: np.equal(a, b).astype(np.uint64),
    op.BV_ZEXT: lambda a: a,
}
"""Operators that need to know nothing of the width."""


def _on_signed(kind: int, mask: np.uint64, top: np.uint64) -> Callable[..., Any]:
    """Division and remainder that round to zero, as SMT-LIB has them for 0 too, and the shift that keeps the sign."""

    def negated(negative: Any, a: Any) -> Any:
        return np.where(negative, (np.uint64(0) - a) & mask, a)

    def quotient(a: Any, b: Any) -> Any:
        below, other = (a & top) != 0, (b & top) != 0
        divisor = np.where(b == 0, np.uint64(1), negated(other, b))
        found = negated(below != other, negated(below, a) // divisor)
        return np.where(b == 0, np.where(below, np.uint64(1), mask), found)

    def remainder(a: Any, b: Any) -> Any:
        below = (a & top) != 0
        divisor = np.where(b == 0, np.uint64(1), negated((b & top) != 0, b))
        return np.where(b == 0, a, negated(below, negated(below, a) % divisor))

    def shifted(a: Any, b: Any) -> Any:
        by, below = np.minimum(b, np.uint64(63)), (a & top) != 0
        return np.where(below, ~((~a & mask) >> by) & mask, a >> by)

    return {op.BV_SDIV: quotient, op.BV_SREM: remainder, op.BV_ASHR: shifted}[kind]


def _word_operation(node: FNode, kind: int) -> Callable[..., Any]:
    first = node.arg(0)
    bits = int(first.bv_width())
    mask, top = np.uint64((1 << bits) - 1), np.uint64(1 << (bits - 1))
    every: dict[int, Callable[..., Any]] = {
        op.BV_NOT: lambda a: a ^ mask,
        op.BV_NEG: lambda a: (np.uint64(0) - a) & mask,
        op.BV_ADD: lambda a, b: (a + b) & mask,
        op.BV_SUB: lambda a, b: (a - b) & mask,
        op.BV_MUL: lambda a, b: (a * b) & mask,
        op.BV_SLT: lambda a, b: (a ^ top) < (b ^ top),
        op.BV_SLE: lambda a, b: (a ^ top) <= (b ^ top),
        op.BV_UDIV: lambda a, b: np.where(b == 0, mask, a // np.where(b == 0, np.uint64(1), b)),
        op.BV_UREM: lambda a, b: np.where(b == 0, a, a % np.where(b == 0, np.uint64(1), b)),
        op.BV_LSHL: lambda a, b: np.where(b < bits, (a << np.minimum(b, np.uint64(63))) & mask, np.uint64(0)),
        op.BV_LSHR: lambda a, b: np.where(b < bits, a >> np.minimum(b, np.uint64(63)), np.uint64(0)),
    }
    if kind in every:
        return every[kind]
    if kind in (op.BV_SDIV, op.BV_SREM, op.BV_ASHR):
        return _on_signed(kind, mask, top)
    if kind == op.BV_EXTRACT:
        start, kept = np.uint64(node.bv_extract_start()), np.uint64((1 << int(node.bv_width())) - 1)
        return lambda a: (a >> start) & kept
    if kind == op.BV_CONCAT:
        by = np.uint64(node.arg(1).bv_width())
        return lambda a, b: (a << by) | b
    if kind == op.BV_SEXT:
        whole = np.uint64((1 << int(node.bv_width())) - 1)
        return lambda a: ((a ^ top) - top) & whole
    return _one_by_one(node)
