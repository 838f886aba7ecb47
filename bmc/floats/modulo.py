"""C's ``fmod`` as a circuit: the exact remainder, for numbers of any distance.

With significands mx, my and exponents ex, ey it is (mx * 2^(ex - ey)) mod my. The power of two modulo my is made by
squaring, bit by bit of the exponents' difference; the remainder needs no rounding.
"""

from __future__ import annotations

from pysmt.fnode import FNode

from bmc.floats import digits, shifters
from bmc.floats.compare import is_infinite, is_nan, is_zero, magnitude
from bmc.floats.format import Format
from bmc.floats.rounding import Parts, nearest_even, parts
from bmc.formulas import words
from bmc.formulas.terms import choose, constant, either


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
        rest = _times_power(digits.remainder_by(dividend, odd), distance, odd)
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
            rest = choose(words.is_set(exponent, index), digits.remainder_by(product, divisor), rest)
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
    normal, left = shifters.normalised_within(significand, words.subtract(scale, constant(1, form.exponent)))
    field = words.add(left, constant(1, form.exponent))
    field = choose(words.is_set(normal, form.fraction), field, constant(0, form.exponent))
    return words.join(sign, nearest_even(field, normal, form))
