"""Circuits on words: the operators of SMT-LIB's theory of fixed-size bit-vectors.

A word is a sequence of literals of one graph, the lowest bit first. Operands of one operator have the same width.
"""

from __future__ import annotations

from collections.abc import Sequence

from bmc.engines.sat_encoding.aig import FALSE, TRUE, Graph

Word = Sequence[int]


def constant(value: int, bits: int) -> Word:
    """The word of ``bits`` bits that is ``value``."""
    return [value >> place & 1 for place in range(bits)]


def inverted(word: Word) -> Word:
    """Every bit inverted."""
    return [bit ^ 1 for bit in word]


def chosen(g: Graph, condition: int, then: Word, other: Word) -> Word:
    """``then`` where ``condition``, else ``other``."""
    if condition <= TRUE:
        return then if condition else other
    return [g.choice(condition, t, o) for t, o in zip(then, other, strict=True)]


def equal(g: Graph, a: Word, b: Word) -> int:
    """Whether two words are equal."""
    return g.all(g.exclusive(x, y) ^ 1 for x, y in zip(a, b, strict=True))


def size(word: Word) -> int:
    """The bits of ``word`` without those at its top that only repeat its sign."""
    bits = len(word)
    while bits > 1 and word[bits - 1] == word[bits - 2]:
        bits -= 1
    return bits


def extended(word: Word, bits: int) -> Word:
    """``word`` as a signed number of ``bits`` bits, cut off if it has more."""
    return [*word, *[word[-1]] * (bits - len(word))][:bits]


def below(g: Graph, a: Word, b: Word, or_equal: bool = False) -> int:
    """Whether ``a`` is less than ``b``, both unsigned; or at most ``b``. Repeated signs say nothing more."""
    found = TRUE if or_equal else FALSE
    bits = max(size(a), size(b))
    for x, y in zip(a[:bits], b[:bits], strict=True):
        found = g.majority(x ^ 1, y, found)
    return found


def signed_below(g: Graph, a: Word, b: Word, or_equal: bool = False) -> int:
    """Whether ``a`` is less than ``b``, both signed; or at most ``b``."""
    return below(g, [*a[:-1], a[-1] ^ 1], [*b[:-1], b[-1] ^ 1], or_equal)


def sum_of(g: Graph, a: Word, b: Word, carry: int = FALSE) -> Word:
    """The sum of two words and a carry, wrapped; it has at most one bit more than they have without repeated signs."""
    found = []
    bits = min(len(a), max(size(a), size(b)) + 1)
    for x, y in zip(a[:bits], b[:bits], strict=True):
        found.append(g.exclusive(g.exclusive(x, y), carry))
        carry = g.majority(x, y, carry)
    return extended(found, len(a))


def difference(g: Graph, a: Word, b: Word) -> Word:
    """``a - b``, wrapped."""
    return sum_of(g, a, inverted(b), TRUE)


def negated(g: Graph, a: Word) -> Word:
    """``-a``, wrapped."""
    return sum_of(g, constant(0, len(a)), inverted(a), TRUE)


def product(g: Graph, a: Word, b: Word) -> Word:
    """The product of two words, wrapped: rows of the one, added where the other has a bit, subtracted where its sign.

    The order of the words makes no difference.
    """
    if _unknown(a) < _unknown(b):
        a, b = b, a
    if _unknown(b) == 0:
        return _multiple(g, a, sum(bit << place for place, bit in enumerate(b)))
    bits = len(a)
    a, b = sorted((list(a[: size(a)]), list(b[: size(b)])), key=lambda word: (len(word), word), reverse=True)
    found: Word = [FALSE]
    for place, factor in enumerate(b):
        if factor != FALSE:
            room = min(len(a) + 1, bits - place)
            row = extended([g.conjunction(bit, factor) for bit in a[:room]], room)
            rest = extended(found, max(len(found), place + 1))[place:]
            add = difference if place == len(b) - 1 else sum_of
            found = [*extended(found, place), *add(g, extended(rest[: size(rest)], room), row)]
    return extended(found, bits)


def _unknown(word: Word) -> int:
    return sum(bit > TRUE for bit in word)


def _multiple(g: Graph, a: Word, factor: int) -> Word:
    """``a`` times a number: as few additions and subtractions of shifted words as digits 1 and -1 can spell it."""
    bits = len(a)
    found, place = constant(0, bits), 0
    while factor and place < bits:
        if factor & 1:
            rest = a[: bits - place]
            less = factor & 3 == 3
            part = difference(g, found[place:], rest) if less else sum_of(g, found[place:], rest)
            found = [*found[:place], *part]
            factor += 1 if less else -1
        factor >>= 1
        place += 1
    return found


def divided(g: Graph, a: Word, b: Word) -> tuple[Word, Word]:
    """Quotient and remainder of unsigned words; by zero all ones and ``a``. Subtracts from the highest place down."""
    bits = len(a)
    used = max((place + 1 for place, bit in enumerate(b) if bit != FALSE), default=0)
    divisor = list(b[:used])
    rest: list[int] = []
    quotient = [FALSE] * bits
    for place in reversed(range(bits)):
        rest = [a[place], *rest][: used + 1]
        width = len(rest)
        over = g.any(divisor[width:])
        wide = [*divisor, FALSE][:width]
        fits = g.conjunction(over ^ 1, below(g, wide, rest, or_equal=True))
        quotient[place] = fits
        rest = list(chosen(g, fits, difference(g, rest, wide), rest))[: max(used, 0)]
    remainder = [*rest, *constant(0, bits - len(rest))]
    return quotient, chosen(g, g.any(b) ^ 1, a, remainder)


def _magnitude(g: Graph, a: Word) -> Word:
    return chosen(g, a[-1], negated(g, a), a)


def signed_quotient(g: Graph, a: Word, b: Word) -> Word:
    """The quotient of signed words, rounded to zero; by zero 1 for a negative ``a``, else -1."""
    quotient = divided(g, _magnitude(g, a), _magnitude(g, b))[0]
    return chosen(g, g.exclusive(a[-1], b[-1]), negated(g, quotient), quotient)


def signed_remainder(g: Graph, a: Word, b: Word) -> Word:
    """The remainder of signed words with the sign of ``a``; by zero ``a``."""
    remainder = divided(g, _magnitude(g, a), _magnitude(g, b))[1]
    return chosen(g, a[-1], negated(g, remainder), remainder)


def shifted(g: Graph, a: Word, amount: Word, left: bool, fill: int = FALSE) -> Word:
    """``a`` shifted by ``amount`` places; ``fill`` comes in, and is all that is left from the width on."""
    word = list(reversed(a)) if left else list(a)
    bits = len(word)
    stages = (bits - 1).bit_length()
    for stage in range(stages):
        moved = [*word[1 << stage :], *[fill] * min(1 << stage, bits)]
        word = list(chosen(g, amount[stage], moved, word))
    word = list(chosen(g, g.any(amount[stages:]), [fill] * bits, word))
    return list(reversed(word)) if left else word
