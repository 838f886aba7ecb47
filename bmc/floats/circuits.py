"""Taking IEEE-754 numbers apart and putting results together: what the circuits of all operations share.

Shifters have a stage for each bit of the number of places; division, root and remainder go digit by digit.
"""

from __future__ import annotations

from pysmt.fnode import FNode
from pysmt.shortcuts import BV

from bmc.floats.format import Format
from bmc.formulas import words
from bmc.formulas.terms import both, choose, constant, either, negate
from bmc.records import dataclass


@dataclass(frozen=True, slots=True)
class Parts:
    """A number's bits: ``sign`` (1 bit), ``exponent`` field and ``fraction``."""

    sign: FNode
    exponent: FNode
    fraction: FNode
    normal: FNode
    """A Boolean: the exponent field is not zero."""
    special: FNode
    """A Boolean: infinity or NaN."""

    @property
    def significand(self) -> FNode:
        """The fraction with its hidden bit in front."""
        return words.join(words.bit(self.normal), self.fraction)

    @property
    def scale(self) -> FNode:
        """The exponent field, that of subnormals counted as one (where the hidden bit's weight is the same)."""
        low = words.disjoin(words.extract(self.exponent, 0, 0), words.bit(negate(self.normal)))
        return words.join(words.extract(self.exponent, words.width(self.exponent) - 1, 1), low)


def parts(a: FNode, form: Format) -> Parts:
    exponent = words.extract(a, form.bits - 2, form.fraction)
    return Parts(
        words.extract(a, form.bits - 1, form.bits - 1),
        exponent,
        words.extract(a, form.fraction - 1, 0),
        negate(words.is_zero(exponent)),
        words.is_ones(exponent),
    )


def normal_form(a: Parts, bits: int) -> tuple[FNode, FNode]:
    """Significand with its top bit set, and exponent (biased; two's complement of ``bits`` bits: it may be below 1).

    Unspecified for zeros, infinities and NaNs.
    """
    significand, zeros = normalised(a.significand)
    return significand, words.subtract(words.extend(a.scale, bits), words.extend(zeros, bits))


def rounded(sign: FNode, exponent: FNode, significand: FNode, form: Format, deepest: int | None = None) -> FNode:
    """The number nearest to a value (ties to even), infinite where that is too large.

    ``significand``: its top bit is set; more than ``form.fraction`` + 2 bits wide, the lowest standing for all that
    were lost. ``exponent``: biased, that of the top bit; two's complement, wide enough for all the operation's results
    and for the number of the significand's bits. ``deepest``: no exponent is less than 1 - ``deepest``; with 0, no
    result is less than the least normal number.
    """
    size = words.width(exponent)
    negative = words.is_set(exponent, size - 1)
    if deepest != 0:
        below = either(negative, words.is_zero(exponent))
        amount = words.subtract(constant(1, size), exponent)
        if deepest is not None:
            amount = words.extract(amount, min(size, max(1, deepest.bit_length())) - 1, 0)
        shifted = shift_right_sticky(significand, choose(below, amount, constant(0, words.width(amount))))
        field = choose(below, constant(0, size), exponent)
    else:
        shifted, field = significand, exponent
    result = nearest_even(words.extract(field, form.exponent - 1, 0), shifted, form)
    largest = constant((1 << form.exponent) - 1, size)
    large = both(negate(negative), words.less_equal(largest, exponent))
    return words.join(sign, choose(large, constant(form.infinity, form.bits - 1), result))


def nearest_even(field: FNode, significand: FNode, form: Format) -> FNode:
    """Exponent field and fraction (no sign), after rounding the bits of ``significand`` below its leading ones.

    The top bit of ``significand`` is the hidden bit (not kept); a carry goes into the exponent, where it belongs.
    """
    rest = words.width(significand) - form.fraction - 1
    kept = words.join(field, words.extract(significand, words.width(significand) - 2, rest))
    if rest == 0:
        return kept
    guard = words.is_set(significand, rest - 1)
    lost = words.is_set(kept, 0)
    if rest > 1:
        lost = either(lost, negate(words.is_zero(words.extract(significand, rest - 2, 0))))
    return words.add(kept, words.extend(words.bit(both(guard, lost)), form.bits - 1))


def shift_right_sticky(word: FNode, amount: FNode) -> FNode:
    """As ``shift_right``, but the lowest bit of the result is also set where a one is lost. ``amount``: any width."""
    size = words.width(word)
    if words.value(word) == 0:
        return word
    stages = min(words.width(amount), size.bit_length())
    if stages < words.width(amount):
        high = negate(words.is_zero(words.extract(amount, words.width(amount) - 1, stages)))
        amount = choose(high, BV((1 << stages) - 1, stages), words.extract(amount, stages - 1, 0))
    for stage in range(stages):
        step = 1 << stage
        lost = words.bit(negate(words.is_zero(words.extract(word, step - 1, 0))))
        kept = words.extract(word, size - 1, step) if step < size else BV(0, 1)
        lowest = words.disjoin(words.extract(kept, 0, 0), lost)
        jammed = words.join(words.extract(kept, words.width(kept) - 1, 1), lowest) if words.width(kept) > 1 else lowest
        word = choose(words.is_set(amount, stage), words.extend(jammed, size), word)
    return word


def normalised(word: FNode, most: int | None = None) -> tuple[FNode, FNode]:
    """``word`` without its leading zeros, and their number (a narrower word); unspecified number where it is zero.

    ``most``: where it has more, so many at least are taken off, and their number is that of those.
    """
    size = words.width(word)
    count: list[FNode] = []
    for stage in reversed(range((size - 1 if most is None else min(most, size - 1)).bit_length())):
        step = 1 << stage
        empty = words.is_zero(words.extract(word, size - 1, size - step))
        word = choose(empty, words.pad(words.extract(word, size - step - 1, 0), step), word)
        count.append(words.bit(empty))
    return word, words.join(*count) if count else BV(0, 1)


def normalised_within(word: FNode, limit: FNode) -> tuple[FNode, FNode]:
    """``word`` without its leading zeros, but not shifted by more than ``limit``; and what is left of the limit.

    The number left is unspecified where ``word`` is zero.
    """
    size = words.width(word)
    for stage in reversed(range((size - 1).bit_length())):
        step = 1 << stage
        if stage >= words.width(limit):
            continue
        high = words.extract(limit, words.width(limit) - 1, stage)
        empty = both(words.is_zero(words.extract(word, size - 1, size - step)), negate(words.is_zero(high)))
        word = choose(empty, words.pad(words.extract(word, size - step - 1, 0), step), word)
        less_one = words.subtract(high, BV(1, words.width(high)))
        if stage:
            less_one = words.join(less_one, words.extract(limit, stage - 1, 0))
        limit = choose(empty, less_one, limit)
    return word, limit


def long_division(dividend: FNode, divisor: FNode, places: int) -> tuple[FNode, FNode]:
    """Quotient and remainder of ``dividend`` times two to the power ``places``, by ``divisor``.

    The divisor is not zero, the dividend less than twice the divisor; so the quotient has ``places`` + 1 bits.
    """
    size = words.width(divisor) + 1
    divisor, rest = words.extend(divisor, size), words.extend(dividend, size)
    digits: list[FNode] = []
    for place in range(places + 1):
        if place:
            rest = words.pad(words.extract(rest, size - 2, 0), 1)
        less, negative = words.difference(rest, divisor)
        digits.append(words.bit(negate(negative)))
        rest = choose(negative, rest, less)
    return words.join(*digits), rest


def integer_root(square: FNode) -> tuple[FNode, FNode]:
    """The integer part of the square root of a word of an even number of bits, and what remains."""
    places = words.width(square) // 2
    root, rest = BV(0, 1), BV(0, 1)
    for place in range(places):
        low = 2 * (places - place - 1)
        rest = words.join(rest, words.extract(square, low + 1, low))
        trial = words.extend(words.join(root, BV(1, 2)), words.width(rest))
        less, negative = words.difference(rest, trial)
        root = words.join(root, words.bit(negate(negative)))
        rest = words.extract(choose(negative, rest, less), words.width(root), 0)
    return words.extract(root, places - 1, 0), rest


def remainder_by(word: FNode, divisor: int) -> FNode:
    """``word`` modulo a constant above 1, digit by digit; as wide as the constant."""
    size = divisor.bit_length()
    if words.width(word) < size:
        return words.extend(word, size)
    rest = words.extract(word, words.width(word) - 1, words.width(word) - size + 1)
    for place in reversed(range(words.width(word) - size + 1)):
        longer = words.join(words.extend(rest, size), words.extract(word, place, place))
        less, negative = words.difference(longer, constant(divisor, size + 1))
        rest = words.extract(choose(negative, longer, less), size - 1, 0)
    return rest
