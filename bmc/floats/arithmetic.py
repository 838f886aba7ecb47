"""IEEE-754 arithmetic as bit-vector terms: nearest-even rounding, subnormals, every NaN result canonical.

All functions take and give terms of ``form.bits`` bits. Constants, and choices between few of them, are computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from pysmt.fnode import FNode

from bmc.floats import digits, shifters
from bmc.floats.choices import Compute, apply
from bmc.floats.compare import is_infinite, is_nan, is_zero, magnitude
from bmc.floats.format import Format, number, pattern
from bmc.floats.modulo import modulo
from bmc.floats.operations import Kind
from bmc.floats.rounding import nearest_even, normal_form, parts, rounded
from bmc.formulas import words
from bmc.formulas.terms import both, choose, constant, either
from bmc.formulas.terms import negate as no


def add(a: FNode, b: FNode, form: Format) -> FNode:
    """C's ``+``."""
    return apply((a, b), _computed(lambda x, y: x + y, form), lambda x, y: _sum(x, y, form), Kind("add", form))


def subtract(a: FNode, b: FNode, form: Format) -> FNode:
    """C's ``-``."""

    def build(x: FNode, y: FNode) -> FNode:
        return _sum(x, _opposite(y, form), form)

    return apply((a, b), _computed(lambda x, y: x - y, form), build, Kind("subtract", form))


def multiply(a: FNode, b: FNode, form: Format) -> FNode:
    """C's ``*``."""
    return apply((a, b), _computed(lambda x, y: x * y, form), lambda x, y: _product(x, y, form), Kind("multiply", form))


def divide(a: FNode, b: FNode, form: Format) -> FNode:
    """C's ``/``; by zero: infinity or NaN."""
    return apply((a, b), _computed(_quotient_number, form), lambda x, y: _quotient(x, y, form), Kind("divide", form))


def remainder(a: FNode, b: FNode, form: Format) -> FNode:
    """C's ``fmod``: the sign of ``a``, exact; NaN for an infinite ``a`` or a zero ``b``. Large: see ``modulo``."""

    def compute(x: float, y: float) -> float:
        return math.fmod(x, y) if y and not math.isinf(x) else math.nan

    return apply((a, b), _computed(compute, form), lambda x, y: modulo(x, y, form), Kind("remainder", form))


def square_root(a: FNode, form: Format) -> FNode:
    """C's ``sqrt``: NaN below zero; the root of minus zero is minus zero."""
    operation = _computed(lambda x: math.sqrt(x) if x >= 0 else math.nan, form)
    return apply((a,), operation, lambda x: _root(x, form), Kind("root", form))


def _computed(operation: Callable[..., float], form: Format) -> Compute:
    """``operation`` on Python floats, rounded once more for a narrower format.

    The second rounding does no harm to ``+ - * /`` and the root: a Python float has more than twice the bits.
    """
    return lambda raw: constant(pattern(operation(*(number(r, form) for r in raw)), form), form.bits)


def _quotient_number(x: float, y: float) -> float:
    if y:
        return x / y
    if x == 0 or math.isnan(x) or math.isnan(y):
        return math.nan
    return math.copysign(math.inf, x) * math.copysign(1.0, y)


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
    second = shifters.shift_right_sticky(words.pad(small.significand, 3), distance)
    second = words.extend(second, words.width(first))
    opposite = words.is_set(words.differ(large.sign, small.sign), 0)
    total = choose(opposite, words.difference(first, second)[0], words.add(first, second))
    # The top bit is the carry's: it weighs one more than the exponent says.
    normal, left = shifters.normalised_within(total, large.scale)
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
    product, zeros = shifters.normalised(product)
    lost = words.bit(no(words.is_zero(words.extract(product, size - 2, 0))))
    significand = words.join(words.extract(product, 2 * size - 1, size - 1), lost)
    exponent = words.add(words.extend(left.scale, room), words.extend(right.scale, room))
    exponent = words.subtract(exponent, words.add(words.extend(zeros, room), constant(form.bias - 1, room)))
    sign = words.differ(left.sign, right.sign)
    result = rounded(sign, exponent, significand, form)
    zero = either(is_zero(a, form), is_zero(b, form))
    infinite = either(is_infinite(a, form), is_infinite(b, form))
    invalid = either(either(is_nan(a, form), is_nan(b, form)), both(zero, infinite))
    return _special(sign, result, zero, infinite, invalid, form)


def _special(sign: FNode, result: FNode, zero: FNode, infinite: FNode, invalid: FNode, form: Format) -> FNode:
    """``result``, or what the operands' being zero, infinite or not valid makes of it."""
    result = choose(zero, words.pad(sign, form.bits - 1), result)
    result = choose(infinite, words.join(sign, constant(form.infinity, form.bits - 1)), result)
    return choose(invalid, _nan(form), result)


def _quotient(a: FNode, b: FNode, form: Format) -> FNode:
    """One division of significands, the dividend made the larger one, to two bits more than the result has."""
    room, size = _room(form), form.fraction + 1
    left, right = parts(a, form), parts(b, form)
    (first, exponent), (second, other) = normal_form(left, room), normal_form(right, room)
    lesser = words.less(first, second)
    dividend = choose(lesser, words.pad(first, 1), words.extend(first, size + 1))
    quotient, rest = digits.long_division(dividend, second, size + 1)
    significand = words.join(quotient, words.bit(no(words.is_zero(rest))))
    exponent = words.subtract(words.subtract(exponent, other), words.extend(words.bit(lesser), room))
    exponent = words.add(exponent, constant(form.bias, room))
    sign = words.differ(left.sign, right.sign)
    result = rounded(sign, exponent, significand, form)
    zero = either(is_zero(a, form), is_infinite(b, form))
    infinite = either(is_infinite(a, form), is_zero(b, form))
    unusable = either(is_nan(a, form), is_nan(b, form))
    invalid = either(unusable, both(zero, infinite))
    return _special(sign, result, zero, infinite, invalid, form)


def _root(a: FNode, form: Format) -> FNode:
    """The root's bits one after the other, of a significand shifted to an even exponent."""
    room, found = _room(form), parts(a, form)
    significand, exponent = normal_form(found, room)
    doubled = words.add(exponent, constant(form.bias, room))
    odd = words.is_set(doubled, 0)
    square = choose(odd, words.pad(significand, 1), words.extend(significand, form.fraction + 2))
    root, rest = digits.integer_root(words.pad(square, form.fraction + 2))
    significand = words.join(root, words.bit(no(words.is_zero(rest))))
    half = words.join(words.extract(doubled, room - 1, room - 1), words.extract(doubled, room - 1, 1))
    zero, negative = is_zero(a, form), words.is_set(found.sign, 0)
    result = rounded(found.sign, half, significand, form, small=form.fraction >= form.bias)
    invalid = either(is_nan(a, form), both(negative, no(zero)))
    return _special(found.sign, result, zero, is_infinite(a, form), invalid, form)
