"""Conversions between integers and IEEE-754 formats, and rounding to integers, as bit-vector terms.

Every NaN result is the canonical one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from pysmt.fnode import FNode
from pysmt.shortcuts import FALSE, BVNeg

from bmc.floats import circuits
from bmc.floats.circuits import normal_form, parts, rounded
from bmc.floats.compare import is_nan, is_negative, magnitude
from bmc.floats.format import Format, exact, nearest
from bmc.floats.operations import Kind, apply, folded, truth
from bmc.formulas import words
from bmc.formulas.terms import both, choose, constant, equals, negate


def from_int(term: FNode, signed: bool, form: Format) -> FNode:
    """The number nearest to an integer of any width (ties to even)."""
    bits = words.width(term)

    def build(x: FNode) -> FNode:
        negative = words.is_set(x, bits - 1) if signed else FALSE()
        size, zeros = circuits.normalised(choose(negative, BVNeg(x), x) if signed else x)
        room = max(form.exponent, (form.bias + bits).bit_length()) + 1
        exponent = words.subtract(constant(form.bias + bits - 1, room), words.extend(zeros, room))
        padded = words.pad(size, max(0, form.fraction + 1 - bits))
        found = rounded(words.bit(negative), exponent, padded, form, small=False)
        return choose(words.is_zero(x), constant(0, form.bits), found)

    return apply(Kind("from_int", form, bits=bits, signed=signed), (term,), build)


def to_int(a: FNode, form: Format, bits: int, signed: bool) -> tuple[FNode, FNode]:
    """The integer of ``bits`` bits that C's cast gives (rounded to zero), and whether the cast is defined.

    It is not for a NaN, an infinity, and where the integer does not fit; the term is unspecified there.
    """
    high = 1 << (bits - 1 if signed else bits)
    low = high + 1 if signed else 1

    def fits(raw: tuple[int, ...]) -> FNode:
        limit = low if raw[0] & form.sign else high
        return truth(raw[0] & ~form.sign < _first_from(limit, form))

    def fits_term(x: FNode) -> FNode:
        size = magnitude(x, form)
        below = [words.less(size, constant(_first_from(limit, form), form.bits - 1)) for limit in (low, high)]
        return choose(words.is_set(x, form.bits - 1), *below)

    kind = Kind("to_int", form, bits=bits, signed=signed)
    return apply(kind, (a,), lambda x: _integer(x, form, bits, signed)), folded((a,), fits, fits_term)


def resize(a: FNode, form: Format, to_form: Format) -> FNode:
    """The number nearest to ``a`` in another format; ``a`` itself in its own."""
    if form == to_form:
        return a
    return apply(Kind("resize", form, to_form), (a,), lambda x: _resized(x, form, to_form))


def _first_from(limit: int, form: Format) -> int:
    """The pattern of the least number that is ``limit`` or more."""
    raw = nearest(limit, form)
    return raw if raw == form.infinity or exact(raw, form) >= limit else raw + 1


def _integer(x: FNode, form: Format, bits: int, signed: bool) -> FNode:
    """The integer part of a number whose integer part fits."""
    found = parts(x, form)
    significand = words.join(constant(1, 1), found.fraction)
    surplus = words.width(significand) - bits
    aligned = words.pad(significand, -surplus) if surplus < 0 else words.extract(significand, form.fraction, surplus)
    room = max(form.exponent, (form.bias + bits).bit_length()) + 1
    amount = words.subtract(constant(form.bias + bits - 1, room), words.extend(found.exponent, room))
    size = words.shift_right(aligned, words.extract(amount, max(0, (bits - 1).bit_length() - 1), 0))
    fraction_only = words.less(words.extend(found.exponent, room), constant(form.bias, room))
    size = choose(fraction_only, constant(0, bits), size)
    return choose(words.is_set(found.sign, 0), BVNeg(size), size) if signed else size


def _resized(x: FNode, form: Format, to_form: Format) -> FNode:
    found = parts(x, form)
    room = max(form.exponent, to_form.exponent) + 2
    least = Fraction(2) ** (1 - to_form.bias - to_form.fraction)
    vanishing = Fraction(2) ** (1 - form.bias) <= least / 2
    if vanishing:
        significand, exponent = words.join(constant(1, 1), found.fraction), words.extend(found.exponent, room)
        zero = negate(found.normal)
    else:
        significand, exponent = normal_form(found, room)
        zero = both(negate(found.normal), words.is_zero(found.fraction))
    exponent = words.add(exponent, constant(to_form.bias - form.bias, room))
    small = 1 - form.bias - form.fraction < 1 - to_form.bias
    padded = words.pad(significand, max(0, to_form.fraction + (2 if small else 0) - form.fraction))
    result = rounded(found.sign, exponent, padded, to_form, small=small)
    signed_zero = words.pad(found.sign, to_form.bits - 1)
    infinite = words.join(found.sign, constant(to_form.infinity, to_form.bits - 1))
    result = choose(zero, signed_zero, choose(found.special, infinite, result))
    return choose(is_nan(x, form), constant(to_form.nan, to_form.bits), result)


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

    return _rounded(a, Kind("floor", form), decide)


def ceiling(a: FNode, form: Format) -> FNode:
    """C's ``ceil``."""

    def decide(cut: _Cut) -> tuple[FNode, FNode]:
        return choose(cut.negative, cut.none(), cut.mask), both(negate(cut.negative), cut.nonzero())

    return _rounded(a, Kind("ceiling", form), decide)


def truncate(a: FNode, form: Format) -> FNode:
    """C's ``trunc``."""
    return _rounded(a, Kind("truncate", form), lambda cut: (cut.none(), FALSE()))


def round_half_away(a: FNode, form: Format) -> FNode:
    """C's ``round``: ties away from zero."""
    return _rounded(a, Kind("round_half_away", form), lambda cut: (cut.half, cut.from_half()))


def round_half_even(a: FNode, form: Format) -> FNode:
    """C's ``rint`` and ``nearbyint``: ties to even."""

    def decide(cut: _Cut) -> tuple[FNode, FNode]:
        fraction = words.extract(cut.size, form.fraction - 1, 0)
        below_half = words.differ(cut.mask, cut.half)
        return choose(cut.odd(), cut.half, below_half), both(cut.from_half(), negate(words.is_zero(fraction)))

    return _rounded(a, Kind("round_half_even", form), decide)


def _rounded(a: FNode, kind: Kind, decide: Decision) -> FNode:
    """``decide`` completes the circuit of the rounding ``kind``."""
    form = kind.form

    def build(x: FNode) -> FNode:
        cut = _cut(x, form)
        added, one = decide(cut)
        kept = words.conjoin(words.add(cut.size, added), words.invert(cut.mask))
        below_one = words.less(cut.field, constant(form.bias, form.exponent))
        unit = choose(one, constant(form.bias << form.fraction, form.bits - 1), cut.none())
        sign = words.extract(x, form.bits - 1, form.bits - 1)
        result = words.join(sign, choose(below_one, unit, kept))
        return choose(is_nan(x, form), constant(form.nan, form.bits), result)

    return apply(kind, (a,), build)


def _cut(x: FNode, form: Format) -> _Cut:
    size = magnitude(x, form)
    field = words.extract(size, form.bits - 2, form.fraction)
    places = words.subtract(field, constant(form.bias, form.exponent))
    mask = words.shift_right(constant((1 << form.fraction) - 1, form.bits - 1), places)
    half = words.differ(mask, words.extend(words.extract(mask, form.bits - 2, 1), form.bits - 1))
    return _Cut(is_negative(x, form), size, mask, half, field, form)
