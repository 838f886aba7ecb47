"""Conversions between integers and IEEE-754 formats, as bit-vector terms; every NaN result is the canonical one."""

from __future__ import annotations

import math
from fractions import Fraction

from pysmt.fnode import FNode
from pysmt.shortcuts import FALSE, TRUE, BVNeg

from bmc.floats import shifters
from bmc.floats.choices import apply
from bmc.floats.compare import is_nan, magnitude
from bmc.floats.format import Format, exact, nearest, number, pattern
from bmc.floats.operations import Kind
from bmc.floats.rounding import normal_form, parts, rounded
from bmc.formulas import words
from bmc.formulas.terms import both, choose, constant, negate


def from_int(term: FNode, signed: bool, form: Format) -> FNode:
    """The number nearest to an integer of any width (ties to even)."""
    bits = words.width(term)

    def compute(raw: tuple[int, ...]) -> FNode:
        found = raw[0] - (1 << bits) if signed and raw[0] >> (bits - 1) else raw[0]
        return constant(nearest(found, form), form.bits)

    def build(x: FNode) -> FNode:
        negative = words.is_set(x, bits - 1) if signed else FALSE()
        size, zeros = shifters.normalised(choose(negative, BVNeg(x), x) if signed else x)
        room = max(form.exponent, (form.bias + bits).bit_length()) + 1
        exponent = words.subtract(constant(form.bias + bits - 1, room), words.extend(zeros, room))
        padded = words.pad(size, max(0, form.fraction + 1 - bits))
        found = rounded(words.bit(negative), exponent, padded, form, small=False)
        return choose(words.is_zero(x), constant(0, form.bits), found)

    return apply((term,), compute, build, Kind("from_int", form, bits=bits, signed=signed))


def to_int(a: FNode, form: Format, bits: int, signed: bool) -> tuple[FNode, FNode]:
    """The integer of ``bits`` bits that C's cast gives (rounded to zero), and whether the cast is defined.

    It is not for a NaN, an infinity, and where the integer does not fit; the term is unspecified there.
    """
    high = 1 << (bits - 1 if signed else bits)
    low = high + 1 if signed else 1

    def fits(raw: tuple[int, ...]) -> FNode:
        limit = low if raw[0] & form.sign else high
        return TRUE() if raw[0] & ~form.sign < _first_from(limit, form) else FALSE()

    def fits_term(x: FNode) -> FNode:
        size = magnitude(x, form)
        below = [words.less(size, constant(_first_from(limit, form), form.bits - 1)) for limit in (low, high)]
        return choose(words.is_set(x, form.bits - 1), *below)

    def compute(raw: tuple[int, ...]) -> FNode:
        return constant(math.trunc(exact(raw[0], form)) if fits(raw).is_true() else 0, bits)

    kind = Kind("to_int", form, bits=bits, signed=signed)
    found = apply((a,), compute, lambda x: _integer(x, form, bits, signed), kind)
    return found, apply((a,), fits, fits_term)


def resize(a: FNode, form: Format, to_form: Format) -> FNode:
    """The number nearest to ``a`` in another format; ``a`` itself in its own."""
    if form == to_form:
        return a

    def compute(raw: tuple[int, ...]) -> FNode:
        return constant(pattern(number(raw[0], form), to_form), to_form.bits)

    return apply((a,), compute, lambda x: _resized(x, form, to_form), Kind("resize", form, to_form))


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
