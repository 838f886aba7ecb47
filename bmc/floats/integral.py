"""Rounding IEEE-754 numbers to integers in the same format, as bit-vector terms.

A number's pattern is cut where its fraction begins, after adding what makes it round up: the carry out of the
fraction into the exponent is just right. The sign stays, also of zero; every NaN result is canonical.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from pysmt.fnode import FNode
from pysmt.shortcuts import FALSE

from bmc.floats.choices import apply
from bmc.floats.compare import is_nan, is_negative, magnitude
from bmc.floats.format import Format, number, pattern
from bmc.floats.operations import Kind
from bmc.formulas import words
from bmc.formulas.terms import both, choose, constant, equals, negate


@dataclass(frozen=True, slots=True)
class _Cut:
    """A number's magnitude (pattern) at its binary point; words are as wide as the magnitude."""

    negative: FNode
    size: FNode
    mask: FNode
    """Ones where ``size`` has its fraction, for numbers of one or more."""
    half: FNode
    """The highest one of ``mask``."""
    field: FNode
    form: Format

    def none(self) -> FNode:
        return constant(0, self.form.bits - 1)

    def nonzero(self) -> FNode:
        return negate(words.is_zero(self.size))

    def from_half(self) -> FNode:
        """Whether a number below one is one half or more."""
        return equals(self.field, constant(self.form.bias - 1, self.form.exponent))

    def odd(self) -> FNode:
        """Whether the last bit before the fraction is set (of a number from one to two: the exponent's lowest is)."""
        lowest = words.differ(words.join(words.extract(self.mask, self.form.bits - 3, 0), constant(1, 1)), self.mask)
        return negate(words.is_zero(words.conjoin(self.size, lowest)))


Decision = Callable[[_Cut], tuple[FNode, FNode]]
"""What to add to the magnitude of a number of one or more, and whether a number below one becomes one."""


def floor(a: FNode, form: Format) -> FNode:
    """C's ``floor``."""

    def decide(cut: _Cut) -> tuple[FNode, FNode]:
        return choose(cut.negative, cut.mask, cut.none()), both(cut.negative, cut.nonzero())

    return _rounded(a, Kind("floor", form), math.floor, decide)


def ceiling(a: FNode, form: Format) -> FNode:
    """C's ``ceil``."""

    def decide(cut: _Cut) -> tuple[FNode, FNode]:
        return choose(cut.negative, cut.none(), cut.mask), both(negate(cut.negative), cut.nonzero())

    return _rounded(a, Kind("ceiling", form), math.ceil, decide)


def truncate(a: FNode, form: Format) -> FNode:
    """C's ``trunc``."""
    return _rounded(a, Kind("truncate", form), math.trunc, lambda cut: (cut.none(), FALSE()))


def round_half_away(a: FNode, form: Format) -> FNode:
    """C's ``round``: ties away from zero."""

    def compute(x: float) -> int:
        whole = math.trunc(x)
        return whole + int(math.copysign(1, x)) if abs(x - whole) >= 0.5 else whole

    return _rounded(a, Kind("round_half_away", form), compute, lambda cut: (cut.half, cut.from_half()))


def round_half_even(a: FNode, form: Format) -> FNode:
    """C's ``rint`` and ``nearbyint``: ties to even."""

    def decide(cut: _Cut) -> tuple[FNode, FNode]:
        fraction = words.extract(cut.size, form.fraction - 1, 0)
        below_half = words.differ(cut.mask, cut.half)
        return choose(cut.odd(), cut.half, below_half), both(cut.from_half(), negate(words.is_zero(fraction)))

    return _rounded(a, Kind("round_half_even", form), round, decide)


def _rounded(a: FNode, kind: Kind, whole: Callable[[float], int], decide: Decision) -> FNode:
    """``whole`` of a Python float is the same as the circuit that ``decide`` completes."""
    form = kind.form

    def compute(raw: tuple[int, ...]) -> FNode:
        x = number(raw[0], form)
        result = math.copysign(float(whole(x)), x) if math.isfinite(x) else x
        return constant(pattern(result, form), form.bits)

    def build(x: FNode) -> FNode:
        cut = _cut(x, form)
        added, one = decide(cut)
        kept = words.conjoin(words.add(cut.size, added), words.invert(cut.mask))
        below_one = words.less(cut.field, constant(form.bias, form.exponent))
        unit = choose(one, constant(form.bias << form.fraction, form.bits - 1), cut.none())
        sign = words.extract(x, form.bits - 1, form.bits - 1)
        result = words.join(sign, choose(below_one, unit, kept))
        return choose(is_nan(x, form), constant(form.nan, form.bits), result)

    return apply((a,), compute, build, kind)


def _cut(x: FNode, form: Format) -> _Cut:
    size = magnitude(x, form)
    field = words.extract(size, form.bits - 2, form.fraction)
    places = words.subtract(field, constant(form.bias, form.exponent))
    mask = words.shift_right(constant((1 << form.fraction) - 1, form.bits - 1), places)
    half = words.differ(mask, words.extend(words.extract(mask, form.bits - 2, 1), form.bits - 1))
    return _Cut(is_negative(x, form), size, mask, half, field, form)
