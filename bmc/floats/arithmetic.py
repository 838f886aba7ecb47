"""IEEE-754 arithmetic as bit-vector terms: nearest-even rounding, subnormals, every NaN result canonical.

All functions take and give terms of ``form.bits`` bits. Constants, and choices between few of them, are computed.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from pysmt.fnode import FNode
from pysmt.shortcuts import FALSE, BVNeg

from bmc.floats import circuits
from bmc.floats.circuits import Parts, nearest_even, normal_form, parts, rounded
from bmc.floats.compare import is_infinite, is_nan, is_negative, is_zero, magnitude
from bmc.floats.format import Format, exact, nearest
from bmc.floats.operations import Kind, apply, folded, truth
from bmc.formulas import words
from bmc.formulas.terms import both, choose, constant, either, equals
from bmc.formulas.terms import negate as no
from bmc.records import dataclass


def add(a: FNode, b: FNode, form: Format) -> FNode:
    """C's ``+``."""
    return apply(Kind("add", form), (a, b), lambda x, y: _sum(x, y, form))


def subtract(a: FNode, b: FNode, form: Format) -> FNode:
    """C's ``-``."""
    return apply(Kind("subtract", form), (a, b), lambda x, y: _sum(x, _opposite(y, form), form))


def multiply(a: FNode, b: FNode, form: Format) -> FNode:
    """C's ``*``."""
    return apply(Kind("multiply", form), (a, b), lambda x, y: _product(x, y, form))


def divide(a: FNode, b: FNode, form: Format) -> FNode:
    """C's ``/``; by zero: infinity or NaN."""
    return apply(Kind("divide", form), (a, b), lambda x, y: _quotient(x, y, form))


def remainder(a: FNode, b: FNode, form: Format) -> FNode:
    """C's ``fmod``: the sign of ``a``, exact; NaN for an infinite ``a`` or a zero ``b``. Large: see ``modulo``."""
    return apply(Kind("remainder", form), (a, b), lambda x, y: modulo(x, y, form))


def square_root(a: FNode, form: Format) -> FNode:
    """C's ``sqrt``: NaN below zero; the root of minus zero is minus zero."""
    return apply(Kind("root", form), (a,), lambda x: _root(x, form))


def _nan(form: Format) -> FNode:
    return constant(form.nan, form.bits)


def _opposite(a: FNode, form: Format) -> FNode:
    """The other sign bit, also of a NaN."""
    return words.join(words.invert(words.extract(a, form.bits - 1, form.bits - 1)), magnitude(a, form))


def _sum(a: FNode, b: FNode, form: Format) -> FNode:
    """The smaller number is shifted to the larger one's exponent, with three bits more, the last of them sticky."""
    swap = words.less(magnitude(a, form), magnitude(b, form))
    large, small = parts(choose(swap, b, a), form), parts(choose(swap, a, b), form)
    first = words.join(constant(0, 1), large.significand, constant(0, 3))
    distance = words.subtract(large.scale, small.scale)
    second = circuits.shift_right_sticky(words.pad(small.significand, 3), distance)
    second = words.extend(second, words.width(first))
    carry = words.differ(large.sign, small.sign)
    opposite = words.is_set(carry, 0)
    # One sum for both: to subtract is to add the inverted word and a carry, which comes from a place below the others.
    turned = choose(opposite, words.invert(second), second)
    total = words.extract(words.add(words.join(first, carry), words.join(turned, carry)), words.width(first), 1)
    # The top bit is the carry's: it weighs one more than the exponent says.
    normal, left = circuits.normalised_within(total, large.scale)
    top = words.is_set(normal, words.width(normal) - 1)
    field = choose(top, words.add(left, constant(1, form.exponent)), constant(0, form.exponent))
    result = choose(words.is_ones(field), constant(form.infinity, form.bits - 1), nearest_even(field, normal, form))
    sign = choose(words.is_zero(total), words.conjoin(large.sign, small.sign), large.sign)
    invalid = either(is_nan(a, form), either(is_nan(b, form), both(small.special, opposite)))
    infinite = words.join(large.sign, constant(form.infinity, form.bits - 1))
    return choose(large.special, choose(invalid, _nan(form), infinite), words.join(sign, result))


def _room(form: Format) -> int:
    """Bits (two's complement) for the exponents of products and quotients of any two numbers."""
    return max(form.exponent + 2, (2 * form.fraction + form.bias).bit_length() + 1)


def _product(a: FNode, b: FNode, form: Format) -> FNode:
    """One product of significands, of subnormals as they are; leading zeros are taken off the product.

    Of normal numbers it has at most one. Times a constant, only so many are taken off as leave a result that is no less
    than the least normal number: a lesser one is shifted back.
    """
    room, size = _room(form), form.fraction + 1
    left, right = parts(a, form), parts(b, form)
    product = words.multiply(words.extend(left.significand, 2 * size), words.extend(right.significand, 2 * size))
    field = _normal_field(a, b, form)
    product, zeros = circuits.normalised(product, None if field is None else max(1, field - form.bias + 2))
    lost = words.bit(no(words.is_zero(words.extract(product, size - 2, 0))))
    significand = words.join(words.extract(product, 2 * size - 1, size - 1), lost)
    exponent = words.add(words.extend(left.scale, room), words.extend(right.scale, room))
    exponent = words.subtract(exponent, words.add(words.extend(zeros, room), constant(form.bias - 1, room)))
    sign = words.differ(left.sign, right.sign)
    deepest = None if field is None else max(0, form.bias + (1 << words.width(zeros)) - field - 2)
    result = rounded(sign, exponent, significand, form, deepest)
    zero = either(is_zero(a, form), is_zero(b, form))
    infinite = either(is_infinite(a, form), is_infinite(b, form))
    invalid = either(either(is_nan(a, form), is_nan(b, form)), both(zero, infinite))
    return _Special(zero, infinite, invalid).or_else(sign, result, form)


def _normal_field(a: FNode, b: FNode, form: Format) -> int | None:
    """The exponent field of ``a`` or ``b``, if one of them is a normal constant."""
    fields = [known >> form.fraction & form.infinity >> form.fraction for known in map(words.value, (a, b)) if known]
    return fields[0] if fields and 0 < fields[0] < form.infinity >> form.fraction else None


@dataclass(frozen=True, slots=True)
class _Special:
    """When the result is a zero, an infinity or a NaN, whatever the circuit gives; the last counts."""

    zero: FNode
    infinite: FNode
    invalid: FNode

    def or_else(self, sign: FNode, result: FNode, form: Format) -> FNode:
        """``result``, unless the result is special."""
        result = choose(self.zero, words.pad(sign, form.bits - 1), result)
        result = choose(self.infinite, words.join(sign, constant(form.infinity, form.bits - 1)), result)
        return choose(self.invalid, _nan(form), result)


def _quotient(a: FNode, b: FNode, form: Format) -> FNode:
    """One division of significands, the dividend made the larger one, to two bits more than the result has."""
    room, size = _room(form), form.fraction + 1
    left, right = parts(a, form), parts(b, form)
    (first, exponent), (second, other) = normal_form(left, room), normal_form(right, room)
    lesser = words.less(first, second)
    dividend = choose(lesser, words.pad(first, 1), words.extend(first, size + 1))
    quotient, rest = circuits.long_division(dividend, second, size + 1)
    significand = words.join(quotient, words.bit(no(words.is_zero(rest))))
    exponent = words.subtract(words.subtract(exponent, other), words.extend(words.bit(lesser), room))
    exponent = words.add(exponent, constant(form.bias, room))
    sign = words.differ(left.sign, right.sign)
    result = rounded(sign, exponent, significand, form)
    zero = either(is_zero(a, form), is_infinite(b, form))
    infinite = either(is_infinite(a, form), is_zero(b, form))
    unusable = either(is_nan(a, form), is_nan(b, form))
    invalid = either(unusable, both(zero, infinite))
    return _Special(zero, infinite, invalid).or_else(sign, result, form)


def _root(a: FNode, form: Format) -> FNode:
    """The root's bits one after the other, of a significand shifted to an even exponent."""
    room, found = _room(form), parts(a, form)
    significand, exponent = normal_form(found, room)
    doubled = words.add(exponent, constant(form.bias, room))
    odd = words.is_set(doubled, 0)
    square = choose(odd, words.pad(significand, 1), words.extend(significand, form.fraction + 2))
    root, rest = circuits.integer_root(words.pad(square, form.fraction + 2))
    significand = words.join(root, words.bit(no(words.is_zero(rest))))
    half = words.join(words.extract(doubled, room - 1, room - 1), words.extract(doubled, room - 1, 1))
    zero, negative = is_zero(a, form), words.is_set(found.sign, 0)
    result = rounded(found.sign, half, significand, form, None if form.fraction >= form.bias else 0)
    invalid = either(is_nan(a, form), both(negative, no(zero)))
    return _Special(zero, is_infinite(a, form), invalid).or_else(found.sign, result, form)


def modulo(a: FNode, b: FNode, form: Format) -> FNode:
    """The circuit: about 200 nodes, but large ones.

    For two variables they are 5 (float32) or 7 (float64) divisions of words twice as wide as the significand. z3 makes
    700,000 clauses of them for float32; for float64 making them takes over a minute. By a constant, the remainder is
    made digit by digit, as narrow as the divisor's significand without the zeros behind, and so are its products with
    powers of two: 14,000 clauses for 360.0 and float32, 27,000 for float64; 111,000 and 793,000 for 0.3. A power of
    two needs none: 6,000 and 12,000.
    """
    left, right = parts(a, form), parts(b, form)
    invalid = either(either(is_nan(a, form), is_nan(b, form)), either(is_infinite(a, form), is_zero(b, form)))
    known = words.value(b)
    if known is not None and known & ~form.sign and known & ~form.sign < form.infinity:
        result = _by_constant(left, known & ~form.sign, form)
    else:
        result = choose(words.less(magnitude(a, form), magnitude(b, form)), a, _by_variable(left, right, form))
    return choose(invalid, constant(form.nan, form.bits), result)


def _by_variable(left: Parts, right: Parts, form: Format) -> FNode:
    """For a dividend that is no less than the divisor."""
    divisor = right.significand
    power = _power_of_two(words.subtract(left.scale, right.scale), divisor)
    rest = _product_modulo(left.significand, power, divisor)
    return _packed(left.sign, rest, right.scale, form)


def _by_constant(left: Parts, raw: int, form: Format) -> FNode:
    """The divisor is an odd number times a power of two: bits of the dividend below that power stay as they are."""
    field, fraction = raw >> form.fraction, raw & (1 << form.fraction) - 1
    odd = fraction | (1 << form.fraction if field else 0)
    zeros = (odd & -odd).bit_length() - 1
    odd >>= zeros
    size, room = form.fraction + 1, form.exponent + 1
    unit, scale = constant(max(field, 1) + zeros, room), words.extend(left.scale, room)
    below = words.less(scale, unit)
    places = choose(below, words.subtract(unit, scale), constant(0, room))
    dividend = words.shift_right(left.significand, places)
    kept = words.differ(left.significand, words.shift_left(dividend, places))
    if odd > 1:
        distance = choose(below, constant(0, room), words.subtract(scale, unit))
        rest = _times_power(circuits.remainder_by(dividend, odd), distance, odd)
        kept = words.disjoin(kept, words.shift_left(words.extend(rest, size), places))
    lowest = words.extract(choose(below, scale, unit), form.exponent - 1, 0)
    return _packed(left.sign, kept, lowest, form)


def _times_power(rest: FNode, exponent: FNode, divisor: int) -> FNode:
    """``rest``, which is below ``divisor``, times two to the power ``exponent``, modulo ``divisor``."""
    size = divisor.bit_length()
    for index in range(words.width(exponent)):
        factor = pow(2, 1 << index, divisor)
        if factor != 1:
            product = words.multiply(words.extend(rest, 2 * size), constant(factor, 2 * size))
            rest = choose(words.is_set(exponent, index), circuits.remainder_by(product, divisor), rest)
    return rest


def _power_of_two(exponent: FNode, divisor: FNode) -> FNode:
    """Two to the power ``exponent`` modulo ``divisor``, as wide as that."""
    size = words.width(divisor)
    first = min(words.width(exponent), (2 * size - 1).bit_length() - 1)
    bottom = words.width(exponent) - first
    wide = max(1 << first, size)
    power = words.shift_left(constant(1, wide), words.extract(exponent, words.width(exponent) - 1, bottom))
    power = words.extract(words.remainder(power, words.extend(divisor, wide)), size - 1, 0)
    for index in reversed(range(bottom)):
        square = words.multiply(words.extend(power, 2 * size), words.extend(power, 2 * size))
        doubled = choose(words.is_set(exponent, index), words.pad(square, 1), words.extend(square, 2 * size + 1))
        power = words.extract(words.remainder(doubled, words.extend(divisor, 2 * size + 1)), size - 1, 0)
    return power


def _product_modulo(left: FNode, right: FNode, divisor: FNode) -> FNode:
    """The product modulo ``divisor``, as wide as that."""
    wide = words.width(left) + words.width(right)
    product = words.multiply(words.extend(left, wide), words.extend(right, wide))
    found = words.remainder(product, words.extend(divisor, wide))
    return words.extract(found, words.width(divisor) - 1, 0)


def _packed(sign: FNode, significand: FNode, scale: FNode, form: Format) -> FNode:
    """The number of a significand with leading zeros; ``scale``: the exponent field that goes with its top bit."""
    normal, left = circuits.normalised_within(significand, words.subtract(scale, constant(1, form.exponent)))
    field = words.add(left, constant(1, form.exponent))
    field = choose(words.is_set(normal, form.fraction), field, constant(0, form.exponent))
    return words.join(sign, nearest_even(field, normal, form))


def from_int(term: FNode, signed: bool, form: Format) -> FNode:
    """The number nearest to an integer of any width (ties to even)."""
    bits = words.width(term)

    def build(x: FNode) -> FNode:
        negative = words.is_set(x, bits - 1) if signed else FALSE()
        size, zeros = circuits.normalised(choose(negative, BVNeg(x), x) if signed else x)
        room = max(form.exponent, (form.bias + bits).bit_length()) + 1
        exponent = words.subtract(constant(form.bias + bits - 1, room), words.extend(zeros, room))
        padded = words.pad(size, max(0, form.fraction + 1 - bits))
        found = rounded(words.bit(negative), exponent, padded, form, 0)
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
        zero = no(found.normal)
    else:
        significand, exponent = normal_form(found, room)
        zero = both(no(found.normal), words.is_zero(found.fraction))
    exponent = words.add(exponent, constant(to_form.bias - form.bias, room))
    small = 1 - form.bias - form.fraction < 1 - to_form.bias
    padded = words.pad(significand, max(0, to_form.fraction + (2 if small else 0) - form.fraction))
    result = rounded(found.sign, exponent, padded, to_form, None if small else 0)
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
        return no(words.is_zero(self.size))

    def from_half(self) -> FNode:
        """Whether a number below one is one half or more."""
        return equals(self.field, constant(self.form.bias - 1, self.form.exponent))

    def odd(self) -> FNode:
        """Whether the last bit before the fraction is set (of a number from one to two: the exponent's lowest is)."""
        lowest = words.differ(words.join(words.extract(self.mask, self.form.bits - 3, 0), constant(1, 1)), self.mask)
        return no(words.is_zero(words.conjoin(self.size, lowest)))


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
        return choose(cut.negative, cut.none(), cut.mask), both(no(cut.negative), cut.nonzero())

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
        return choose(cut.odd(), cut.half, below_half), both(cut.from_half(), no(words.is_zero(fraction)))

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
