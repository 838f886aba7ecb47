"""Evaluating pysmt formulas on arrays: each symbol stands for many values at once.

A column is an array of raw unsigned patterns in the narrowest unsigned type that holds the width; Booleans are
``bool`` arrays, and patterns of more than 64 bits Python integers (``object`` arrays). Columns of different shapes are
broadcast: what depends on states alone is computed once per state, not once per state and input. Floating operations
are done by the processor's own arithmetic where that is bit by bit the same. IEEE-754 leaves one choice: which NaN
results. Here, as everywhere, it is the canonical one. The conversion to integers is left to its circuit, whose value
is told also where C leaves it undefined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
import pysmt.operators as op
from pysmt.fnode import FNode

from bmc.floats.format import FLOAT32, FLOAT64, Format
from bmc.floats.operations import Kind, Operation, operation_of
from bmc.formulas.evaluate import post_order
from bmc.formulas.terms import meanings

Column = np.ndarray[Any, np.dtype[Any]]
Columns = Mapping[str, Column]
Operator = Callable[..., Any]
"""From the columns of a node's arguments to the column of the node."""

_WORDS: tuple[tuple[int, type[np.unsignedinteger[Any]]], ...] = (
    (8, np.uint8),
    (16, np.uint16),
    (32, np.uint32),
    (64, np.uint64),
)

WORD = 64
"""The most bits of a column of machine words."""
VALUE, OVERHEAD = 5 / 6, 2_800
"""Nominal nanoseconds that an operation on one value takes; what an operation on a column takes besides, in such
operations. With twice as many, turns that work on columns are half as long."""


def word(bits: int) -> Any:
    """The numpy type of a column of ``bits`` bits (0: Boolean)."""
    if not bits:
        return np.bool_
    return next((kind for most, kind in _WORDS if bits <= most), object)


def column(values: Sequence[int] | Column, bits: int) -> Column:
    """Raw ``values`` as a column of ``bits`` bits (0: Boolean)."""
    return np.asarray(values).astype(word(bits)) if isinstance(values, np.ndarray) else np.array(values, word(bits))


def node_count(formulas: Sequence[FNode]) -> int:
    """How many operations one evaluation of ``formulas`` takes, a floating one counting as one."""
    return sum(1 for node in walk(formulas) if node._content.args)


def arguments_of(node: FNode) -> tuple[FNode, ...]:
    """What an evaluation of ``node`` reads: its arguments, or the operands of the floating operation that it is."""
    found = _floating(node) if meanings() else None
    arguments: tuple[FNode, ...] = node._content.args if found is None else found.operands
    return arguments


def _floating(node: FNode) -> Operation | None:
    found = operation_of(node)
    return found if found is not None and vector_operation(found) is not None else None


def walk(formulas: Iterable[FNode], leaves: Iterable[FNode] = ()) -> Sequence[FNode]:
    """Every node to compute once, what it reads before it; nothing below ``leaves``."""
    order: list[FNode] = []
    met: set[int] = set()
    cut, special = {id(leaf) for leaf in leaves}, meanings()
    if not cut and not special:
        return post_order([*formulas])
    stack: list[FNode | None] = [*reversed(list(formulas))]
    while stack:
        node = stack.pop()
        if node is None:
            order.append(stack.pop())
            continue
        number = id(node)
        if number in met:
            continue
        met.add(number)
        below = () if number in cut else arguments_of(node)
        if below:
            stack += [node, None, *below[::-1]]
        else:
            order.append(node)
    return order


def bits_of(node: FNode) -> int:
    """The width of ``node``, 0 for a Boolean."""
    kind = node.get_type()
    return 0 if kind.is_bool_type() else int(kind.width)


class Program:
    """``formulas`` as a sequence of operations on columns: a call with the symbols' columns by name gives theirs.

    What the columns have in common in shape the results have too; a constant is a column of one value. ``size`` is the
    number of operations. ``leaves`` are terms whose columns are given by name, as those of symbols are. ValueError for
    an operator that is neither Boolean nor of bit-vectors.
    """

    def __init__(self, formulas: Sequence[FNode], leaves: Mapping[FNode, str] | None = None) -> None:
        given = leaves or {}
        order = walk(formulas, given)
        places = {node: place for place, node in enumerate(order)}
        self._start: list[Any] = [None] * len(order)
        self._read: list[tuple[int, str]] = []
        operations: list[tuple[int, Operator, tuple[int, ...]]] = []
        for place, node in enumerate(order):
            if node in given:
                self._read.append((place, given[node]))
            elif node.is_constant():
                self._start[place] = np.array([int(node.constant_value())], word(bits_of(node)))
            elif node.is_symbol():
                self._read.append((place, node.symbol_name()))
            else:
                operations.append((place, operator(node), tuple([places[a] for a in arguments_of(node)])))
        self._results = [places[formula] for formula in formulas]
        self.size = len(operations)
        kept = set(self._results)
        self._operations: list[tuple[int, Operator, tuple[int, ...], tuple[int, ...]]] = []
        for place, function, arguments in reversed(operations):
            ended = tuple({a for a in arguments if a not in kept})
            kept.update(ended)
            self._operations.append((place, function, arguments, ended))
        self._operations.reverse()

    def __call__(self, columns: Columns) -> tuple[Column, ...]:
        values = self._start.copy()
        for place, name in self._read:
            values[place] = columns[name]
        for place, function, arguments, ended in self._operations:
            if len(arguments) == 2:
                values[place] = function(values[arguments[0]], values[arguments[1]])
            else:
                values[place] = function(*[values[a] for a in arguments])
            for used in ended:
                values[used] = None
        return tuple([values[place] for place in self._results])


def operator(node: FNode) -> Operator:
    """What computes the column of ``node`` from those of ``arguments_of(node)``."""
    floating = operation_of(node)
    function = None if floating is None else vector_operation(floating)
    if function is not None:
        return function
    made = _OPERATORS.get(node.node_type())
    if made is None:
        raise ValueError(f"cannot evaluate operator {op.op_to_str(node.node_type())}: not Boolean nor bit-vector")
    return made(node)


def _exact(bits: int) -> bool:
    """Whether a column of ``bits`` bits wraps around by itself."""
    return bits in (0, 8, 16, 32, 64)


def _number(value: int, bits: int) -> Column:
    """A column of one value."""
    return np.array([value], word(bits))


def _masked(function: Operator) -> Callable[[FNode], Operator]:
    """An operator on two columns, cut to the width of the node where its column is wider."""

    def made(node: FNode) -> Operator:
        bits = bits_of(node)
        if _exact(bits):
            return function
        mask = _number((1 << bits) - 1, bits)
        return lambda a, b: function(a, b) & mask

    return made


def _each(function: Operator) -> Callable[[FNode], Operator]:
    """The same operator at every width; of more than two columns one after the other."""
    return lambda node: function if len(arguments_of(node)) == 2 else lambda *columns: reduce(function, columns)


def _with_width(function: Operator) -> Callable[[FNode], Operator]:
    def made(node: FNode) -> Operator:
        bits = bits_of(node.arg(0))
        return lambda a, b: function(a, b, bits)

    return made


def _cast(values: Column, kind: Any) -> Column:
    return values if values.dtype == kind else values.astype(kind)


def _negation(node: FNode) -> Operator:
    bits = bits_of(node)
    zero, mask = _number(0, bits), _number((1 << bits) - 1, bits)
    return (lambda a: zero - a) if _exact(bits) else (lambda a: (zero - a) & mask)


def _complement(node: FNode) -> Operator:
    bits = bits_of(node)
    mask = _number((1 << bits) - 1, bits)
    return lambda a: a ^ mask


def _concat(node: FNode) -> Operator:
    bits, low = bits_of(node), bits_of(node.arg(1))
    kind, shift = word(bits), _number(low, bits)
    return lambda a, b: (_cast(a, kind) << shift) | _cast(b, kind)


def _extract(node: FNode) -> Operator:
    wide, bits, start = bits_of(node.arg(0)), bits_of(node), int(node.bv_extract_start())
    kind, shift, mask = word(bits), _number(start, wide), _number((1 << bits) - 1, wide)
    cut = start + bits < wide and not (_exact(bits) and kind is not word(wide) and wide <= 64)

    def extract(a: Column) -> Column:
        part = a >> shift if start else a
        return _cast(part & mask if cut else part, kind)

    return extract


def _zero_extend(node: FNode) -> Operator:
    kind = word(bits_of(node))
    return lambda a: _cast(a, kind)


def _sign_extend(node: FNode) -> Operator:
    narrow, bits = bits_of(node.arg(0)), bits_of(node)
    kind, top, mask = word(bits), _number(1 << (narrow - 1), bits), _number((1 << bits) - 1, bits)
    if _exact(bits):
        return lambda a: (_cast(a, kind) ^ top) - top
    return lambda a: ((_cast(a, kind) ^ top) - top) & mask


def _rotate(left: int) -> Callable[[FNode], Operator]:
    """Rotation by the step of the node, to the left (1) or to the right (-1)."""

    def made(node: FNode) -> Operator:
        bits = bits_of(node)
        by = left * int(node.bv_rotation_step()) % bits
        up, down, mask = _number(by, bits), _number(bits - by, bits), _number((1 << bits) - 1, bits)
        return (lambda a: ((a << up) | (a >> down)) & mask) if by else (lambda a: a)

    return made


def _signed(function: Operator) -> Callable[[FNode], Operator]:
    def made(node: FNode) -> Operator:
        bits = bits_of(node.arg(0))
        top = _number(1 << (bits - 1), bits)
        return lambda a, b: function(a ^ top, b ^ top)

    return made


# What numpy does otherwise than SMT-LIB: division, shifts by the width or more.


def _cut(values: Column, bits: int) -> Column:
    """``values`` modulo 2 ** ``bits``."""
    return values if _exact(bits) else values & _one((1 << bits) - 1, values)


def _one(value: int, like: Column) -> Column:
    """A column of one value, of the type of ``like``."""
    return np.array([value], like.dtype)


def _divisor(b: Column, zero: Column) -> Column:
    """``b`` with 1 in place of 0."""
    return b + zero.astype(b.dtype) if b.dtype != object else b + zero


def unsigned_quotient(a: Column, b: Column, bits: int) -> Column:
    """``bvudiv``: all ones for a divisor of 0."""
    zero = b == 0
    return np.where(zero, _one((1 << bits) - 1, a), a // _divisor(b, zero))


def unsigned_remainder(a: Column, b: Column, bits: int) -> Column:
    """``bvurem``: the dividend for a divisor of 0."""
    zero = b == 0
    return np.where(zero, a, a % _divisor(b, zero))


def _magnitude(a: Column, bits: int) -> tuple[Column, Column]:
    """Whether each value is negative, and its absolute value."""
    negative = (a >> _one(bits - 1, a)) != 0
    return negative, np.where(negative, _cut(_one(0, a) - a, bits), a)


def signed_quotient(a: Column, b: Column, bits: int) -> Column:
    """``bvsdiv``: rounds to zero; x / 0 is 1 for x < 0, else -1."""
    (below, size), (under, divisor) = _magnitude(a, bits), _magnitude(b, bits)
    zero = b == 0
    quotient = size // _divisor(divisor, zero)
    signed = np.where(below != under, _cut(_one(0, a) - quotient, bits), quotient)
    return np.where(zero, np.where(below, _one(1, a), _one((1 << bits) - 1, a)), signed)


def signed_remainder(a: Column, b: Column, bits: int) -> Column:
    """``bvsrem``: the sign of the dividend; x rem 0 is x."""
    (below, size), (_, divisor) = _magnitude(a, bits), _magnitude(b, bits)
    zero = b == 0
    rest = size % _divisor(divisor, zero)
    return np.where(zero, a, np.where(below, _cut(_one(0, a) - rest, bits), rest))


def shift_left(a: Column, b: Column, bits: int) -> Column:
    """``bvshl``."""
    less = b < bits
    return _cut(np.where(less, a << np.where(less, b, _one(0, b)), _one(0, a)), bits)


def shift_right(a: Column, b: Column, bits: int) -> Column:
    """``bvlshr``."""
    less = b < bits
    return np.where(less, a >> np.where(less, b, _one(0, b)), _one(0, a))


def shift_right_signed(a: Column, b: Column, bits: int) -> Column:
    """``bvashr``."""
    by = np.minimum(b, _one(bits - 1, b))
    top = _one(1 << (bits - 1), a)
    if a.dtype == object:
        return _cut(((a ^ top) - top) >> by, bits)
    kind = np.dtype(f"i{a.dtype.itemsize}")
    return _cut((((a ^ top) - top).view(kind) >> by.view(kind)).view(a.dtype), bits)


_OPERATORS: dict[int, Callable[[FNode], Operator]] = {
    op.AND: _each(np.bitwise_and),
    op.OR: _each(np.bitwise_or),
    op.NOT: lambda node: np.logical_not,
    op.IMPLIES: lambda node: lambda a, b: ~a | b,
    op.IFF: _each(np.equal),
    op.EQUALS: _each(np.equal),
    op.ITE: lambda node: np.where,
    op.BV_NOT: _complement,
    op.BV_AND: _each(np.bitwise_and),
    op.BV_OR: _each(np.bitwise_or),
    op.BV_XOR: _each(np.bitwise_xor),
    op.BV_CONCAT: _concat,
    op.BV_EXTRACT: _extract,
    op.BV_ULT: _each(np.less),
    op.BV_ULE: _each(np.less_equal),
    op.BV_NEG: _negation,
    op.BV_ADD: _masked(np.add),
    op.BV_SUB: _masked(np.subtract),
    op.BV_MUL: _masked(np.multiply),
    op.BV_UDIV: _with_width(unsigned_quotient),
    op.BV_UREM: _with_width(unsigned_remainder),
    op.BV_LSHL: _with_width(shift_left),
    op.BV_LSHR: _with_width(shift_right),
    op.BV_ROL: _rotate(1),
    op.BV_ROR: _rotate(-1),
    op.BV_ZEXT: _zero_extend,
    op.BV_SEXT: _sign_extend,
    op.BV_SLT: _signed(np.less),
    op.BV_SLE: _signed(np.less_equal),
    op.BV_COMP: lambda node: lambda a, b: (a == b).astype(np.uint8),
    op.BV_SDIV: _with_width(signed_quotient),
    op.BV_SREM: _with_width(signed_remainder),
    op.BV_ASHR: _with_width(shift_right_signed),
}


_FLOATS = {32: np.float32, 64: np.float64}

BINARY: dict[str, Operator] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "remainder": np.fmod,
}
COMPARISONS: dict[str, Operator] = {"equal": np.equal, "less": np.less, "less_equal": np.less_equal}


def _half_away(x: Column) -> Column:
    whole = np.trunc(x)
    up = np.abs(x - whole) >= 0.5
    return np.where(up, whole + np.copysign(x.dtype.type(1), x), whole)


UNARY: dict[str, Operator] = {
    "root": np.sqrt,
    "floor": np.floor,
    "ceiling": np.ceil,
    "truncate": np.trunc,
    "round_half_even": np.rint,
    "round_half_away": _half_away,
}


def vector_operation(operation: Operation | Kind) -> Operator | None:
    """From columns of the operands' raw patterns to that of the result; None where only the circuit will do."""
    forms = [operation.form] if operation.to_form is None else [operation.form, operation.to_form]
    if not all(form in (FLOAT32, FLOAT64) for form in forms):
        return None
    name, form = operation.name, operation.form
    if name in BINARY:
        return _arithmetic(BINARY[name], form)
    if name in UNARY:
        return _arithmetic(UNARY[name], form)
    if name in COMPARISONS:
        return _comparison(COMPARISONS[name], form)
    if name in ("fmin", "fmax"):
        return _selecting(name == "fmin", form)
    if name in ("negate", "absolute"):
        return _sign(name == "negate", form)
    if name == "resize":
        return _resized(operation)
    if name == "from_int" and operation.bits <= 64:
        return _from_int(operation)
    return None


def _numbers(raw: Column, form: Format) -> Column:
    return np.ascontiguousarray(raw).view(_FLOATS[form.bits])


def _patterns(values: Column, form: Format) -> Column:
    kind: type[np.unsignedinteger[Any]] = word(form.bits)
    return np.where(np.isnan(values), kind(form.nan), np.ascontiguousarray(values).view(kind))


def _arithmetic(function: Operator, form: Format) -> Operator:
    def compute(*raw: Column) -> Column:
        with np.errstate(all="ignore"):
            return _patterns(function(*(_numbers(column, form) for column in raw)), form)

    return compute


def _comparison(function: Operator, form: Format) -> Operator:
    def compute(a: Column, b: Column) -> Column:
        with np.errstate(all="ignore"):
            found: Column = function(_numbers(a, form), _numbers(b, form))
            return found

    return compute


def _selecting(lesser: bool, form: Format) -> Operator:
    def compute(a: Column, b: Column) -> Column:
        with np.errstate(all="ignore"):
            x, y = _numbers(a, form), _numbers(b, form)
            first = (np.isnan(y) & ~np.isnan(x)) | ((x < y) if lesser else (y < x))
            return _patterns(_numbers(np.where(first, a, b), form), form)

    return compute


def _sign(negate: bool, form: Format) -> Operator:
    sign = word(form.bits)(form.sign)

    def compute(a: Column) -> Column:
        raw = a ^ sign if negate else a & ~sign
        return _patterns(_numbers(raw, form), form)

    return compute


def _resized(operation: Operation | Kind) -> Operator:
    form, to_form = operation.form, operation.to_form
    assert to_form is not None

    def compute(a: Column) -> Column:
        with np.errstate(all="ignore"):
            return _patterns(_numbers(a, form).astype(_FLOATS[to_form.bits]), to_form)

    return compute


def _from_int(operation: Operation | Kind) -> Operator:
    form, bits, signed = operation.form, operation.bits, operation.signed

    def compute(a: Column) -> Column:
        wide = a.astype(np.uint64)
        if signed:
            top = np.uint64(1 << (bits - 1))
            return _patterns(((wide ^ top) - top).view(np.int64).astype(_FLOATS[form.bits]), form)
        return _patterns(wide.astype(_FLOATS[form.bits]), form)

    return compute
