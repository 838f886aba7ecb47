"""IEEE-754 arithmetic as bit-vector terms: nearest-even rounding, subnormals, every NaN result canonical.

All functions take and give terms of ``form.bits`` bits. Constants, and choices between few of them, are computed.
"""

from __future__ import annotations

from dataclasses import dataclass

from pysmt.fnode import FNode

from bmc.floats import circuits
from bmc.floats.circuits import Parts, nearest_even, normal_form, parts, rounded
from bmc.floats.compare import is_infinite, is_nan, is_zero, magnitude
from bmc.floats.format import Format
from bmc.floats.operations import Kind, apply
from bmc.formulas import words
from bmc.formulas.terms import both, choose, constant, either
from bmc.formulas.terms import negate as no


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
    opposite = words.is_set(words.differ(large.sign, small.sign), 0)
    total = choose(opposite, words.difference(first, second)[0], words.add(first, second))
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
    """One product of significands, of subnormals as they are; leading zeros are taken off the product."""
    room, size = _room(form), form.fraction + 1
    left, right = parts(a, form), parts(b, form)
    product = words.multiply(words.extend(left.significand, 2 * size), words.extend(right.significand, 2 * size))
    product, zeros = circuits.normalised(product)
    lost = words.bit(no(words.is_zero(words.extract(product, size - 2, 0))))
    significand = words.join(words.extract(product, 2 * size - 1, size - 1), lost)
    exponent = words.add(words.extend(left.scale, room), words.extend(right.scale, room))
    exponent = words.subtract(exponent, words.add(words.extend(zeros, room), constant(form.bias - 1, room)))
    sign = words.differ(left.sign, right.sign)
    result = rounded(sign, exponent, significand, form)
    zero = either(is_zero(a, form), is_zero(b, form))
    infinite = either(is_infinite(a, form), is_infinite(b, form))
    invalid = either(either(is_nan(a, form), is_nan(b, form)), both(zero, infinite))
    return _Special(zero, infinite, invalid).or_else(sign, result, form)


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
    result = rounded(found.sign, half, significand, form, small=form.fraction >= form.bias)
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
