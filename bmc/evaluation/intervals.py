"""Programs of a step computed on intervals of values, one for each row of a table; ends are computed by the processor.

A floating value is a *key*: its pattern read in the order of the numbers (-0.0 comes before 0.0), NaN behind infinity.
Rounding keeps the order of the numbers, so that the ends of an interval give the ends of the result. Any other value is
a word, in the order of unsigned numbers, or a Boolean. What has no rule may be anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pysmt.operators as op

from bmc.evaluation.vectors import Column
from bmc.floats.format import FORMATS, Format
from bmc.floats.operations import Operation
from bmc.records import dataclass

WIDEST = 62
"""Bits of the widest word that is computed as an interval; patterns of floating values may have more."""


class Beyond(Exception):
    """A system that has no rule here: a floating format of another width, say."""


class Interval(NamedTuple):
    """The least and the greatest value in each row; a Boolean is 0 or 1."""

    low: Column
    high: Column


# patterns and keys


def keys_of(raw: Column, bits: int) -> Column:
    """The keys of patterns (unsigned)."""
    signed = raw.astype(np.uint64).view(np.int64)
    if bits < 64:
        signed = raw.astype(np.uint32).view(np.int32).astype(np.int64)
    return np.where(signed < 0, signed ^ ((1 << (bits - 1)) - 1), signed)


def patterns_of(keys: Column, bits: int) -> Column:
    """The patterns of keys: ``keys_of`` the other way."""
    signed = np.where(keys < 0, keys ^ ((1 << (bits - 1)) - 1), keys)
    return signed.view(np.uint64) if bits == 64 else signed.astype(np.int32).view(np.uint32).astype(np.uint64)


@dataclass(frozen=True)
class Floats:
    """The keys of one format and the numbers that they stand for."""

    form: Format

    @staticmethod
    def of(form: Format | None) -> Floats:
        """Beyond where the processor has no such numbers."""
        if form is None or FORMATS.get(form.bits) != form:
            raise Beyond
        return Floats(form)

    @property
    def infinity(self) -> int:
        return self.form.infinity

    @property
    def nan(self) -> int:
        return self.form.nan

    def numbers(self, keys: Column) -> Column:
        raw = patterns_of(keys, self.form.bits)
        return raw.view(np.float64) if self.form.bits == 64 else raw.astype(np.uint32).view(np.float32)

    def keys(self, numbers: Column) -> Column:
        kind, raw = (np.float64, np.uint64) if self.form.bits == 64 else (np.float32, np.uint32)
        found = keys_of(np.ascontiguousarray(numbers, kind).view(raw), self.form.bits)
        return np.where(np.isnan(numbers), self.nan, found)

    def ends(self, values: Interval) -> tuple[Column, Column, Column]:
        """The least and the greatest number, and where there may be a NaN (then the ends may be of NaNs alone)."""
        nan = (values.high > self.infinity) | (values.low < ~self.infinity)
        low, high = np.maximum(values.low, ~self.infinity), np.minimum(values.high, self.infinity)
        return self.numbers(low), self.numbers(high), nan

    def between(self, low: Column, high: Column, nan: Column, single: Column) -> Interval:
        """The interval of these numbers, with zeros of both signs, and NaN where marked; all where an end is NaN.

        Where the operands were ``single`` values it is the one number, with its own sign.
        """
        least, greatest = self.keys(low), self.keys(high)
        least, greatest = np.where((low == 0) & ~single, -1, least), np.where((high == 0) & ~single, 0, greatest)
        unknown = np.isnan(low) | np.isnan(high)
        least = np.where(unknown, ~self.infinity, least)
        return Interval(least, np.where(unknown | nan, self.nan, greatest))


# what operations make of intervals

_MONOTONE: dict[str, Callable[[Any], Any]] = {
    "root": np.sqrt,
    "floor": np.floor,
    "ceiling": np.ceil,
    "truncate": np.trunc,
    "round_half_even": np.rint,
    "round_half_away": lambda x: np.trunc(x) + np.where(np.abs(x - np.trunc(x)) >= 0.5, np.copysign(1, x), 0 * x),
}
_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
}


def float_result(floating: Operation, operands: Sequence[Interval]) -> Interval:
    """What a floating operation with a floating result makes of floating operands."""
    name, floats = floating.name, Floats.of(floating.form)
    if name == "negate":
        return _mirrored(operands[0], floats)
    if name == "absolute":
        return _size(operands[0], floats)
    if name in ("fmin", "fmax"):
        return _selected(name == "fmin", operands[0], operands[1], floats)
    ends = [floats.ends(values) for values in operands]
    nan = np.logical_or.reduce(np.broadcast_arrays(*(n for _, _, n in ends)))
    single = np.logical_and.reduce(np.broadcast_arrays(*(values.low == values.high for values in operands)))
    if name == "resize":
        assert floating.to_form is not None
        to = Floats.of(floating.to_form)
        kind = np.float64 if floating.to_form.bits == 64 else np.float32
        return to.between(ends[0][0].astype(kind), ends[0][1].astype(kind), nan, single)
    if name in _MONOTONE:
        rounded = _MONOTONE[name]
        return floats.between(rounded(ends[0][0]), rounded(ends[0][1]), nan, single)
    low, high = _remainder(*ends[0][:2], *ends[1][:2]) if name == "remainder" else _corners(name, ends)
    endless = np.zeros(np.shape(low), bool)
    for least, greatest, _ in ends:
        endless = endless | np.isinf(least) | np.isinf(greatest)
    return floats.between(np.where(endless, np.nan, low), np.where(endless, np.nan, high), nan, single)


def _corners(name: str, ends: Sequence[tuple[Column, Column, Column]]) -> tuple[Column, Column]:
    """The ends of a sum, difference, product or quotient of finite numbers."""
    (a, b, _), (c, d, _) = ends
    found = np.stack(np.broadcast_arrays(*(_BINARY[name](x, y) for x in (a, b) for y in (c, d))))
    low, high = found.min(axis=0), found.max(axis=0)
    if name == "divide":
        by_zero = (c <= 0) & (d >= 0)
        low, high = np.where(by_zero, np.nan, low), np.where(by_zero, np.nan, high)
    return low, high


def _remainder(a: Column, b: Column, c: Column, d: Column) -> tuple[Column, Column]:
    """The remainder of a number between a and b by a single positive c = d; all where it is another divisor.

    It rises as long as the quotient stays the same; then it is not less at the end, and the ends lie within ``c``.
    """
    small = (-c < a) & (b < c)
    one_sign, first, last = (a >= 0) | (b <= 0), np.fmod(a, c), np.fmod(b, c)
    same = one_sign & (b - a < c) & (first <= last)
    low = np.where(small, a, np.where(same, first, np.where(a >= 0, 0, -c)))
    high = np.where(small, b, np.where(same, last, np.where(b <= 0, 0, c)))
    usual = (c == d) & (c > 0) & np.isfinite(c)
    return np.where(usual, low, np.nan), np.where(usual, high, np.nan)


def _mirrored(values: Interval, floats: Floats) -> Interval:
    nan = (values.high > floats.infinity) | (values.low < ~floats.infinity)
    low, high = ~np.minimum(values.high, floats.infinity), ~np.maximum(values.low, ~floats.infinity)
    only = low > high
    return Interval(np.where(only, floats.nan, low), np.where(nan, floats.nan, high))


def _size(values: Interval, floats: Floats) -> Interval:
    turned = _mirrored(values, floats)
    low = np.where(values.low >= 0, values.low, np.where(values.high < 0, turned.low, 0))
    high = np.where(values.low >= 0, values.high, np.maximum(values.high, turned.high))
    return _with_nan(Interval(low, high), floats)


def _with_nan(values: Interval, floats: Floats) -> Interval:
    """``values``, with the NaN that stands for all where there may be one."""
    nan = values.high > floats.infinity
    return Interval(
        np.where(nan, np.minimum(values.low, floats.nan), values.low), np.where(nan, floats.nan, values.high)
    )


def _selected(lesser: bool, a: Interval, b: Interval, floats: Floats) -> Interval:
    """The lesser or the greater one; either where there may be a NaN, or zeros of both signs."""
    hull = Interval(np.minimum(a.low, b.low), np.maximum(a.high, b.high))
    nan = (hull.high > floats.infinity) | (hull.low < ~floats.infinity)
    if lesser:
        high = np.minimum(a.high, b.high)
        return Interval(hull.low, np.where(nan, floats.nan, np.where(high == -1, 0, high)))
    low = np.maximum(a.low, b.low)
    return Interval(np.where(nan, hull.low, np.where(low == 0, -1, low)), np.where(nan, floats.nan, hull.high))


def compared(floating: Operation, operands: Sequence[Interval]) -> Interval:
    """Whether a comparison of numbers is surely true, surely false, or neither. No comparison with NaN is true."""
    floats = Floats.of(floating.form)
    (least, most, nan), (low, high, other) = (floats.ends(values) for values in operands)
    if floating.name == "equal":
        sure, never = (least == most) & (low == high) & (least == low), (most < low) | (high < least)
    elif floating.name == "less":
        sure, never = most < low, least >= high
    else:
        sure, never = most <= low, least > high
    return Interval((sure & ~(nan | other)).astype(np.int64), (~never).astype(np.int64))


def from_int(floating: Operation, values: Interval) -> Interval:
    floats, kind = Floats.of(floating.form), np.float64 if floating.form.bits == 64 else np.float32
    if floating.bits > WIDEST:
        raise Beyond
    low, high = values
    if floating.signed:
        half, size = 1 << (floating.bits - 1), 1 << floating.bits
        across = (low < half) & (high >= half)
        low, high = np.where(low >= half, low - size, low), np.where(high >= half, high - size, high)
        low, high = np.where(across, -half, low), np.where(across, half - 1, high)
    never = np.zeros(np.shape(low), bool)
    return floats.between(low.astype(kind), high.astype(kind), never, ~never)


def to_int(floating: Operation, operands: Sequence[Interval]) -> Interval:
    floats, size = Floats.of(floating.form), 1 << floating.bits
    if floating.bits > WIDEST:
        raise Beyond
    low, high, nan = floats.ends(operands[0])
    low, high = np.trunc(low).astype(np.float64), np.trunc(high).astype(np.float64)
    least, most = (-(size >> 1), (size >> 1) - 1) if floating.signed else (0, size - 1)
    unknown = nan | ~((low >= least) & (high <= most)) | ((low < 0) & (high >= 0))
    first, last = np.where(unknown, 0, low).astype(np.int64), np.where(unknown, 0, high).astype(np.int64)
    return Interval(np.where(unknown, 0, first % size), np.where(unknown, size - 1, last % size))


def ordered_so(floating: Operation, holds: bool, a: Interval, b: Interval) -> tuple[Interval, Interval]:
    """What remains of two values where the comparison between them is ``holds``: NaN compares with nothing."""
    floats = Floats.of(floating.form)
    infinity = floats.infinity
    nan = np.zeros(np.shape(a.low), bool)
    for values in (a, b):
        nan = nan | (values.high > infinity) | (values.low < ~infinity)
    strict = (floating.name == "less") == holds
    if floating.name == "equal":
        if not holds:
            return a, b
        least, most = np.maximum(a.low, b.low), np.minimum(a.high, b.high)
        both = Interval(
            np.maximum(np.where(least == 0, -1, least), ~infinity), np.minimum(np.where(most == -1, 0, most), infinity)
        )
        return both, both
    if not holds:
        a, b = b, a
    most = np.where((b.high == 0) | (b.high == -1), -2 if strict else 0, b.high - strict)
    least = np.where((a.low == 0) | (a.low == -1), 1 if strict else -1, a.low + strict)
    lesser = Interval(np.maximum(a.low, ~infinity), np.minimum(a.high, np.minimum(most, infinity)))
    greater = Interval(np.maximum(b.low, np.maximum(least, ~infinity)), np.minimum(b.high, infinity))
    if holds:
        return lesser, greater
    kept = [
        Interval(np.where(nan, v.low, w.low), np.where(nan, v.high, w.high)) for v, w in ((b, greater), (a, lesser))
    ]
    return kept[0], kept[1]


# words and Booleans


def joined(kind: int, parts: Sequence[Interval]) -> Interval:
    """Booleans put together."""
    if kind == op.NOT:
        return Interval(1 - parts[0].high, 1 - parts[0].low)
    if kind == op.IMPLIES:
        return Interval(np.maximum(1 - parts[0].high, parts[1].low), np.maximum(1 - parts[0].low, parts[1].high))
    if kind == op.IFF:
        known = (parts[0].low == parts[0].high) & (parts[1].low == parts[1].high)
        same = (parts[0].low == parts[1].low).astype(np.int64)
        return Interval(np.where(known, same, 0), np.where(known, same, 1))
    choose = np.minimum if kind == op.AND else np.maximum
    low, high = parts[0]
    for part in parts[1:]:
        low, high = choose(low, part.low), choose(high, part.high)
    return Interval(low, high)


def magnitudes(values: Interval) -> Interval:
    """The patterns of keys without their sign."""
    low = np.where(values.low >= 0, values.low, np.where(values.high < 0, ~values.high, 0))
    return Interval(low, np.where(values.low >= 0, values.high, np.maximum(values.high, ~values.low)))


def _sum(parts: Sequence[Interval], most: int) -> tuple[Column, Column]:
    high = parts[0].high + parts[1].high
    fits = (high <= most) & (high >= 0)
    return np.where(fits, parts[0].low + parts[1].low, 0), np.where(fits, high, most)


def _difference(parts: Sequence[Interval], most: int) -> tuple[Column, Column]:
    low = parts[0].low - parts[1].high
    return np.where(low >= 0, low, 0), np.where(low >= 0, parts[0].high - parts[1].low, most)


def _before(parts: Sequence[Interval], most: int) -> tuple[Column, Column]:
    a, b = parts
    return (a.high < b.low).astype(np.int64), (a.low < b.high).astype(np.int64)


def _no_later(parts: Sequence[Interval], most: int) -> tuple[Column, Column]:
    a, b = parts
    return (a.high <= b.low).astype(np.int64), (a.low <= b.high).astype(np.int64)


def _same(parts: Sequence[Interval], most: int) -> tuple[Column, Column]:
    a, b = parts
    return np.zeros(np.shape(a.low), np.int64), ((a.low <= b.high) & (b.low <= a.high)).astype(np.int64)


RULES: dict[int, Callable[[Sequence[Interval], int], tuple[Column, Column]]] = {
    op.BV_ADD: _sum,
    op.BV_SUB: _difference,
    op.BV_ULT: _before,
    op.BV_ULE: _no_later,
    op.EQUALS: _same,
    op.BV_ZEXT: lambda parts, most: (parts[0].low, parts[0].high),
}
"""Operators on words of fewer than 64 bits that are not single."""
