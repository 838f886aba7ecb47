"""Division and square root of words, digit by digit."""

from __future__ import annotations

from pysmt.fnode import FNode
from pysmt.shortcuts import BV

from bmc.formulas import words
from bmc.formulas.terms import choose, constant, negate


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
