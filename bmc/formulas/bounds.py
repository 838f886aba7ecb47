"""Bounds of bit-vector terms, unsigned and signed at once; sound, not tight.

Those of a Boolean are the bounds of 0 and 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import pysmt.operators as op
from pysmt.fnode import FNode


class Bounds(NamedTuple):
    """A value of some width lies in ``low..high`` as an unsigned and in ``least..greatest`` as a signed number."""

    low: int
    high: int
    least: int
    greatest: int


FALSE, TRUE, EITHER = Bounds(0, 0, 0, 0), Bounds(1, 1, 1, 1), Bounds(0, 1, 0, 1)


def width_of(term: FNode) -> int:
    """The bits of a term; 0 for a Boolean."""
    kind = term.get_type()
    return 0 if kind.is_bool_type() else int(kind.width)


def anything(bits: int) -> Bounds:
    """The bounds of all values of ``bits`` bits (0: Boolean)."""
    half = 1 << bits >> 1
    return Bounds(0, (1 << bits) - 1, -half, half - 1) if bits else EITHER


def point(raw: int, bits: int) -> Bounds:
    """The bounds of one raw value."""
    signed = raw - (1 << bits) if bits and raw >> (bits - 1) else raw
    return Bounds(raw, raw, signed, signed)


def unsigned(low: int, high: int, bits: int) -> Bounds:
    """From the bounds of an unsigned number, which may lie outside of the width."""
    turns = low >> bits
    if high >> bits != turns:
        return anything(bits)
    low, high, half = low - (turns << bits), high - (turns << bits), 1 << bits >> 1
    if low >= half:
        return Bounds(low, high, low - 2 * half, high - 2 * half)
    return Bounds(low, high, low, high) if high < half else Bounds(low, high, -half, half - 1)


def signed(least: int, greatest: int, bits: int) -> Bounds:
    """From the bounds of a signed number, which may lie outside of the width."""
    half = 1 << bits >> 1
    turns = (least + half) >> bits
    if (greatest + half) >> bits != turns:
        return anything(bits)
    least, greatest = least - (turns << bits), greatest - (turns << bits)
    if greatest < 0:
        return Bounds(least + 2 * half, greatest + 2 * half, least, greatest)
    return Bounds(least, greatest, least, greatest) if least >= 0 else Bounds(0, 2 * half - 1, least, greatest)


def meet(one: Bounds, two: Bounds) -> Bounds:
    """What lies in both; ``one`` where nothing does."""
    low, high = max(one.low, two.low), min(one.high, two.high)
    least, greatest = max(one.least, two.least), min(one.greatest, two.greatest)
    return Bounds(low, high, least, greatest) if low <= high and least <= greatest else one


def hull(one: Bounds, two: Bounds) -> Bounds:
    """What holds both."""
    ends = min(one.low, two.low), max(one.high, two.high), min(one.least, two.least), max(one.greatest, two.greatest)
    return Bounds(*ends)


def _truth(possible: bool, sure: bool) -> Bounds:
    return TRUE if sure else EITHER if possible else FALSE


def _and(a: Sequence[Bounds]) -> Bounds:
    return _truth(all(x.high for x in a), all(x.low for x in a))


def _or(a: Sequence[Bounds]) -> Bounds:
    return _truth(any(x.high for x in a), any(x.low for x in a))


def _not(a: Bounds) -> Bounds:
    return _truth(not a.low, not a.high)


def _equal(a: Bounds, b: Bounds) -> Bounds:
    apart = a.high < b.low or b.high < a.low or a.greatest < b.least or b.greatest < a.least
    return _truth(not apart, a.low == a.high == b.low == b.high)


def _sum(a: Bounds, b: Bounds, bits: int) -> Bounds:
    plain = unsigned(a.low + b.low, a.high + b.high, bits)
    return meet(plain, signed(a.least + b.least, a.greatest + b.greatest, bits))


def _difference(a: Bounds, b: Bounds, bits: int) -> Bounds:
    plain = unsigned(a.low - b.high, a.high - b.low, bits)
    return meet(plain, signed(a.least - b.greatest, a.greatest - b.least, bits))


def _product(a: Bounds, b: Bounds, bits: int) -> Bounds:
    ends = [x * y for x in (a.least, a.greatest) for y in (b.least, b.greatest)]
    return meet(unsigned(a.low * b.low, a.high * b.high, bits), signed(min(ends), max(ends), bits))


def _quotient(a: Bounds, b: Bounds, bits: int) -> Bounds:
    return unsigned(a.low // b.high, a.high // b.low, bits) if b.low > 0 else anything(bits)


def _remainder(a: Bounds, b: Bounds, bits: int) -> Bounds:
    return unsigned(0, min(a.high, b.high - 1), bits) if b.low > 0 else unsigned(0, a.high, bits)


def _signed_quotient(a: Bounds, b: Bounds, bits: int) -> Bounds:
    if b.least <= 0:
        return anything(bits)
    ends = [abs(x) // y * (1 if x >= 0 else -1) for x in (a.least, a.greatest) for y in (b.least, b.greatest)]
    return signed(min(ends), max(ends), bits)


def _signed_remainder(a: Bounds, b: Bounds, bits: int) -> Bounds:
    if b.least <= 0:
        return anything(bits)
    size = b.greatest - 1
    return signed(max(-size, min(a.least, 0)), min(size, max(a.greatest, 0)), bits)


def _concat(a: Bounds, b: Bounds, bits: int, lower: int) -> Bounds:
    return unsigned((a.low << lower) + b.low, (a.high << lower) + b.high, bits)


def _extract(term: FNode, a: Bounds) -> Bounds:
    start, bits = term.bv_extract_start(), width_of(term)
    moved = unsigned(a.low >> start, a.high >> start, bits)
    return meet(moved, signed(a.least >> start, a.greatest >> start, bits))


def _left(a: Bounds, b: Bounds, bits: int) -> Bounds:
    if b.low != b.high or b.low >= bits:
        return anything(bits)
    return _product(a, Bounds(*[1 << b.low] * 4), bits)


def _right(a: Bounds, b: Bounds, bits: int) -> Bounds:
    return unsigned(a.low >> min(b.high, bits), a.high >> min(b.low, bits), bits)


def _arithmetic_right(a: Bounds, b: Bounds, bits: int) -> Bounds:
    ends = [x >> min(y, bits) for x in (a.least, a.greatest) for y in (b.low, b.high)]
    return signed(min(ends), max(ends), bits)


def _either_bits(a: Sequence[Bounds], bits: int, least: int) -> Bounds:
    return unsigned(least, (1 << max(x.high.bit_length() for x in a)) - 1, bits)


Rule = Callable[[FNode, Sequence[Bounds]], Bounds]

_BINARY: Mapping[int, Callable[[Bounds, Bounds, int], Bounds]] = {
    op.BV_ADD: _sum,
    op.BV_SUB: _difference,
    op.BV_MUL: _product,
    op.BV_UDIV: _quotient,
    op.BV_UREM: _remainder,
    op.BV_SDIV: _signed_quotient,
    op.BV_SREM: _signed_remainder,
    op.BV_LSHL: _left,
    op.BV_LSHR: _right,
    op.BV_ASHR: _arithmetic_right,
}
_RULES: Mapping[int, Rule] = {
    op.AND: lambda t, a: _and(a),
    op.OR: lambda t, a: _or(a),
    op.NOT: lambda t, a: _not(a[0]),
    op.IMPLIES: lambda t, a: _or([_not(a[0]), a[1]]),
    op.IFF: lambda t, a: _equal(a[0], a[1]),
    op.EQUALS: lambda t, a: _equal(a[0], a[1]),
    op.ITE: lambda t, a: a[1] if a[0] == TRUE else a[2] if a[0] == FALSE else hull(a[1], a[2]),
    op.BV_COMP: lambda t, a: unsigned(*_equal(a[0], a[1])[:2], 1),
    op.BV_ULT: lambda t, a: _truth(a[0].low < a[1].high, a[0].high < a[1].low),
    op.BV_ULE: lambda t, a: _truth(a[0].low <= a[1].high, a[0].high <= a[1].low),
    op.BV_SLT: lambda t, a: _truth(a[0].least < a[1].greatest, a[0].greatest < a[1].least),
    op.BV_SLE: lambda t, a: _truth(a[0].least <= a[1].greatest, a[0].greatest <= a[1].least),
    op.BV_NOT: lambda t, a: signed(~a[0].greatest, ~a[0].least, width_of(t)),
    op.BV_NEG: lambda t, a: signed(-a[0].greatest, -a[0].least, width_of(t)),
    op.BV_AND: lambda t, a: unsigned(0, min(x.high for x in a), width_of(t)),
    op.BV_OR: lambda t, a: _either_bits(a, width_of(t), max(x.low for x in a)),
    op.BV_XOR: lambda t, a: _either_bits(a, width_of(t), 0),
    op.BV_ZEXT: lambda t, a: unsigned(a[0].low, a[0].high, width_of(t)),
    op.BV_SEXT: lambda t, a: signed(a[0].least, a[0].greatest, width_of(t)),
    op.BV_CONCAT: lambda t, a: _concat(a[0], a[1], width_of(t), width_of(t.arg(1))),
    op.BV_EXTRACT: lambda t, a: _extract(t, a[0]),
}


def bounds(term: FNode, arguments: Sequence[Bounds]) -> Bounds:
    """The bounds of ``term``, no symbol, from those of its arguments."""
    kind = term.node_type()
    if term.is_constant():
        return point(int(term.constant_value()), width_of(term))
    binary = _BINARY.get(kind)
    if binary is not None:
        return binary(arguments[0], arguments[1], width_of(term))
    rule = _RULES.get(kind)
    return anything(width_of(term)) if rule is None else rule(term, arguments)
