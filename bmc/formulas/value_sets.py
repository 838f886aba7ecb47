"""Sets of values as a few inclusive ranges over raw patterns, and what bit-vector operators make of them.

Sound, not tight. A range on one side of the sign bit has its bounds in both readings, unsigned and signed: operators
work on such pieces, in the reading that tells more, and wrap the result into the width.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise, product
from typing import NamedTuple

import pysmt.operators as op
from pysmt.fnode import FNode

Ranges = tuple[tuple[int, int], ...]
"""Rising inclusive ranges of raw patterns, apart from each other; Booleans are 0 and 1."""

PIECES = 8
"""A set of more ranges is widened to so many."""
POINTS = 32
"""Up to so many combinations of single values are computed one by one."""
COMBINED = 9
"""Up to so many combinations of ranges are computed one by one; else those of one sign are taken together."""

NEVER: Ranges = ((0, 0),)
ALWAYS: Ranges = ((1, 1),)
BOTH: Ranges = ((0, 1),)


def width_of(term: FNode) -> int:
    """The bits of a term; 0 for a Boolean."""
    if term.node_type() in _SIZED:
        return int(term._content.payload[0])
    kind = term.get_type()
    return 0 if kind.is_bool_type() else int(kind.width)


_RELATIONS = (op.BV_ULT, op.BV_ULE, op.BV_SLT, op.BV_SLE)
_SIZED = op.BV_OPERATORS - {*_RELATIONS, op.BV_CONSTANT, op.BV_TONATURAL}
"""Operators whose terms hold their width; asking pysmt takes longer than all else here."""


def whole(bits: int) -> Ranges:
    """All patterns of ``bits`` bits; 0: the Booleans."""
    return ((0, (1 << max(bits, 1)) - 1),)


def joined(pieces: Iterable[tuple[int, int]]) -> Ranges:
    """The union of inclusive ranges, rising; adjacent ones are one."""
    rising = sorted(pieces)
    if len(rising) < 2:
        return tuple(rising)
    found: list[tuple[int, int]] = []
    for low, high in rising:
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(high, found[-1][1]))
        else:
            found.append((low, high))
    return tuple(found)


def united(pieces: Iterable[tuple[int, int]]) -> Ranges:
    """The union as rising ranges, at most ``PIECES``: the narrowest gaps are filled."""
    rising = joined(pieces)
    if len(rising) <= PIECES:
        return rising
    gaps = sorted(range(1, len(rising)), key=lambda i: rising[i][0] - rising[i - 1][1])
    cuts = [0, *sorted(gaps[1 - PIECES :]), len(rising)]
    return tuple((rising[first][0], rising[last - 1][1]) for first, last in pairwise(cuts))


def common(one: Ranges, two: Ranges) -> Ranges:
    """The intersection; () where it is empty."""
    if one is two or one == two:
        return one
    found = []
    here = there = 0
    while here < len(one) and there < len(two):
        (low, high), (least, greatest) = one[here], two[there]
        first = low if low > least else least  # max() takes much longer
        if high < greatest:
            last, here = high, here + 1
        else:
            last, there = greatest, there + 1
        if first <= last:
            found.append((first, last))
    return tuple(found)


def contains(ranges: Iterable[tuple[int, int]], raw: int) -> bool:
    """Whether ``raw`` lies in one of ``ranges``."""
    return any(low <= raw <= high for low, high in ranges)


def only(ranges: Ranges) -> int | None:
    """The one member; None if there are more."""
    return ranges[0][0] if ranges[0][0] == ranges[-1][1] else None


def without(value: int, bits: int) -> Ranges:
    """All patterns of ``bits`` bits but one."""
    last = (1 << max(bits, 1)) - 1
    return tuple((low, high) for low, high in ((0, value - 1), (value + 1, last)) if low <= high)


def values(ranges: Ranges, most: int) -> list[int] | None:
    """The members, None if there are more than ``most``."""
    if sum(high - low + 1 for low, high in ranges) > most:
        return None
    return [raw for low, high in ranges for raw in range(low, high + 1)]


def pointwise(operands: Sequence[Ranges], compute: Callable[[Sequence[int]], int]) -> Ranges | None:
    """The results for all combinations of members; None if they are more than ``POINTS``."""
    members: list[list[int]] = []
    for operand in operands:
        found = values(operand, POINTS)
        if found is None:
            return None
        members.append(found)
    if math.prod(map(len, members)) > POINTS:
        return None
    results = {compute(raw) for raw in product(*members)}
    return united((raw, raw) for raw in results)


def wrapped(low: int, high: int, bits: int) -> Ranges:
    """The patterns of the numbers from ``low`` to ``high``, which may lie outside of the width."""
    size = 1 << bits
    if high - low >= size - 1:
        return whole(bits)
    first, last = low % size, high % size
    return ((first, last),) if first <= last else ((0, last), (first, size - 1))


def signed_ends(ranges: Ranges, bits: int) -> tuple[int, int]:
    """The least and the greatest signed number in ``ranges``."""
    low, high, size = ranges[0][0], ranges[-1][1], 1 << bits
    half = size >> 1
    if high < half:
        return low, high
    if low >= half:
        return low - size, high - size
    least = next(max(first, half) for first, last in ranges if last >= half)
    return least - size, next(min(last, half - 1) for first, last in reversed(ranges) if first < half)


class Piece(NamedTuple):
    """A range on one side of the sign bit: its bounds as unsigned and as signed numbers."""

    low: int
    high: int
    least: int
    greatest: int


def _pieces(ranges: Ranges, bits: int) -> list[Piece]:
    half = 1 << bits >> 1
    found = []
    for low, high in ranges:
        if low < half:
            end = min(high, half - 1)
            found.append(Piece(low, end, low, end))
        if high >= half:
            begin = max(low, half)
            found.append(Piece(begin, high, begin - 2 * half, high - 2 * half))
    return found


def _hulls(pieces: Sequence[Piece]) -> list[Piece]:
    """One piece for each sign."""
    found = []
    for negative in (False, True):
        own = [piece for piece in pieces if (piece.least < 0) == negative]
        if own:
            found.append(Piece(own[0].low, own[-1].high, own[0].least, own[-1].greatest))
    return found


Rule = Callable[[Piece, Piece, int], list[tuple[int, int]]]
"""What an operator makes of two pieces: intervals of numbers, each modulo the width."""


def _product(a: Piece, b: Piece, bits: int) -> list[tuple[int, int]]:
    ends = [x * y for x in (a.least, a.greatest) for y in (b.least, b.greatest)]
    readings = (a.low * b.low, a.high * b.high), (min(ends), max(ends))
    return [min(readings, key=lambda ends: ends[1] - ends[0])]


def _quotient(a: Piece, b: Piece, bits: int) -> list[tuple[int, int]]:
    by_zero = [((1 << bits) - 1,) * 2] if b.low == 0 else []
    return [*by_zero, *([(a.low // b.high, a.high // max(b.low, 1))] if b.high else [])]


def _remainder(a: Piece, b: Piece, bits: int) -> list[tuple[int, int]]:
    if b.low == 0 or a.high < b.low:
        return [(a.low, a.high)] if a.high < b.low or not b.high else [(0, a.high)]
    return [(0, min(a.high, b.high - 1))]


def _signed_quotient(a: Piece, b: Piece, bits: int) -> list[tuple[int, int]]:
    found = []
    if b.low == 0:
        found += [(1, 1)] if a.least < 0 else [(-1, -1)]
    if b.high:
        divisors = (b.least or 1, b.greatest)
        ends = [abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) for x in (a.least, a.greatest) for y in divisors]
        found.append((min(ends), max(ends)))
    return found


def _signed_remainder(a: Piece, b: Piece, bits: int) -> list[tuple[int, int]]:
    sizes = sorted((abs(b.least), abs(b.greatest)))
    most = max(abs(a.least), abs(a.greatest))
    if most < sizes[0] or not sizes[1]:
        return [(a.least, a.greatest)]
    size = most if not sizes[0] else min(most, sizes[1] - 1)
    return [(-size, 0)] if a.least < 0 else [(0, size)]


def _left(a: Piece, b: Piece, bits: int) -> list[tuple[int, int]]:
    if b.low >= bits:
        return [(0, 0)]
    return [(a.low << b.low, a.high << b.low)] if b.low == b.high else [(0, (1 << bits) - 1)]


def _right(a: Piece, b: Piece, bits: int) -> list[tuple[int, int]]:
    return [(a.low >> min(b.high, bits), a.high >> min(b.low, bits))]


def _arithmetic_right(a: Piece, b: Piece, bits: int) -> list[tuple[int, int]]:
    ends = [x >> min(y, bits) for x in (a.least, a.greatest) for y in (b.low, b.high)]
    return [(min(ends), max(ends))]


def _conjunction(a: Piece, b: Piece, bits: int) -> list[tuple[int, int]]:
    return [((1 << bits >> 1) if a.least < 0 and b.least < 0 else 0, min(a.high, b.high))]


def _disjunction(a: Piece, b: Piece, bits: int) -> list[tuple[int, int]]:
    return [(max(a.low, b.low), (1 << (a.high | b.high).bit_length()) - 1)]


def _difference_of_bits(a: Piece, b: Piece, bits: int) -> list[tuple[int, int]]:
    half = 1 << bits >> 1
    most = (1 << max(a.high % half, b.high % half).bit_length()) - 1 if half > 1 else 0
    if max(a.high, b.high) >= half:
        most = half - 1
    return [(half, half + most)] if (a.least < 0) != (b.least < 0) else [(0, most)]


_RULES: Mapping[int, Rule] = {
    op.BV_ADD: lambda a, b, bits: [(a.low + b.low, a.high + b.high)],
    op.BV_SUB: lambda a, b, bits: [(a.low - b.high, a.high - b.low)],
    op.BV_MUL: _product,
    op.BV_UDIV: _quotient,
    op.BV_UREM: _remainder,
    op.BV_SDIV: _signed_quotient,
    op.BV_SREM: _signed_remainder,
    op.BV_LSHL: _left,
    op.BV_LSHR: _right,
    op.BV_ASHR: _arithmetic_right,
    op.BV_AND: _conjunction,
    op.BV_OR: _disjunction,
    op.BV_XOR: _difference_of_bits,
}


def truth(possible: bool, sure: bool) -> Ranges:
    """The set of a Boolean's values."""
    return ALWAYS if sure else BOTH if possible else NEVER


def _any_or_all(term: FNode, operands: Sequence[Ranges]) -> Ranges:
    decisive = ALWAYS if term.node_type() == op.OR else NEVER
    if decisive in operands:
        return decisive
    return BOTH if BOTH in operands else operands[0]


def _negated(term: FNode, operands: Sequence[Ranges]) -> Ranges:
    return truth(operands[0] != ALWAYS, operands[0] == NEVER)


def _implied(term: FNode, operands: Sequence[Ranges]) -> Ranges:
    condition, consequence = operands
    return truth(condition != ALWAYS or consequence != NEVER, condition == NEVER or consequence == ALWAYS)


def _equal(term: FNode, operands: Sequence[Ranges]) -> Ranges:
    a, b = operands
    one = only(a)
    return truth(bool(common(a, b)), one is not None and one == only(b))


def _chosen(term: FNode, operands: Sequence[Ranges]) -> Ranges:
    condition, one, other = operands
    if condition != BOTH:
        return one if condition == ALWAYS else other
    return one if one == other else united([*one, *other])


def _compared(term: FNode, operands: Sequence[Ranges]) -> Ranges:
    kind, (a, b) = term.node_type(), operands
    if kind in (op.BV_ULT, op.BV_ULE):
        (low, high), (least, greatest) = (a[0][0], a[-1][1]), (b[0][0], b[-1][1])
    else:
        bits = width_of(term.arg(0))
        (low, high), (least, greatest) = signed_ends(a, bits), signed_ends(b, bits)
    if kind in (op.BV_ULT, op.BV_SLT):
        return truth(low < greatest, high < least)
    return truth(low <= greatest, high <= least)


def _moved(term: FNode, operands: Sequence[Ranges]) -> Ranges:
    """Operators on one word, each range on its own."""
    bits = width_of(term)
    return united(part for low, high in _numbers(term, operands[0]) for part in wrapped(low, high, bits))


def _numbers(term: FNode, a: Ranges) -> Iterable[tuple[int, int]]:
    """Operators on one word: intervals of numbers, each modulo the width."""
    kind = term.node_type()
    if kind == op.BV_NOT:
        return [(~high, ~low) for low, high in a]
    if kind == op.BV_NEG:
        return [(-high, -low) for low, high in a]
    if kind == op.BV_SEXT:
        return [(piece.least, piece.greatest) for piece in _pieces(a, width_of(term.arg(0)))]
    if kind == op.BV_EXTRACT:
        start = int(term.bv_extract_start())
        return [(low >> start, high >> start) for low, high in a]
    assert kind == op.BV_ZEXT
    return a


def _concatenated(term: FNode, operands: Sequence[Ranges]) -> Ranges:
    lower = width_of(term.arg(1))
    pairs = product(operands[0], operands[1])
    return united(((a << lower) + c, (b << lower) + d) for (a, b), (c, d) in pairs)


def _by_rule(term: FNode, operands: Sequence[Ranges]) -> Ranges:
    """Operators on two words, by their rules for pieces; any value for an operator without a rule."""
    bits = width_of(term)
    rule = _RULES.get(term.node_type())
    if rule is None:
        return whole(bits)
    sides = [_pieces(operand, bits) for operand in operands]
    if len(sides[0]) * len(sides[1]) > COMBINED:
        sides = [_hulls(side) for side in sides]
    found = [ends for a, b in product(*sides) for ends in rule(a, b, bits)]
    return united(part for low, high in found for part in wrapped(low, high, bits))


_APPLIED: Mapping[int, Callable[[FNode, Sequence[Ranges]], Ranges]] = {
    op.AND: _any_or_all,
    op.OR: _any_or_all,
    op.NOT: _negated,
    op.IMPLIES: _implied,
    op.EQUALS: _equal,
    op.IFF: _equal,
    op.BV_COMP: _equal,
    op.ITE: _chosen,
    **dict.fromkeys(_RELATIONS, _compared),
    **dict.fromkeys([op.BV_NOT, op.BV_NEG, op.BV_SEXT, op.BV_EXTRACT, op.BV_ZEXT], _moved),
    op.BV_CONCAT: _concatenated,
}


def applied(term: FNode, operands: Sequence[Ranges]) -> Ranges:
    """The set of ``term``, an operator's, from those of its arguments; none of them is empty."""
    return _APPLIED.get(term.node_type(), _by_rule)(term, operands)
