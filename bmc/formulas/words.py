"""Bit-vector operations with constant folding.

Words are pysmt bit-vector terms. Two operands of one operation have the same width, unless said otherwise.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

from pysmt.fnode import FNode
from pysmt.shortcuts import (
    BV,
    BVULE,
    BVULT,
    FALSE,
    TRUE,
    BVAdd,
    BVAnd,
    BVConcat,
    BVExtract,
    BVLShl,
    BVLShr,
    BVMul,
    BVNot,
    BVOr,
    BVSub,
    BVURem,
    BVXor,
    BVZExt,
)

from bmc.formulas.terms import choose, constant, equals

Operation = Callable[[FNode, FNode], FNode]
"""From two words to a word."""


def width(word: FNode) -> int:
    return int(word.bv_width())


def value(word: FNode) -> int | None:
    """The unsigned value of a constant, else None."""
    return int(word.constant_value()) if word.is_bv_constant() else None


def bit(condition: FNode) -> FNode:
    """A Boolean as a word of one bit."""
    return choose(condition, BV(1, 1), BV(0, 1))


def is_set(word: FNode, index: int) -> FNode:
    """Whether a bit (0: lowest) is one: a Boolean."""
    return equals(extract(word, index, index), BV(1, 1))


def is_zero(word: FNode) -> FNode:
    return equals(word, BV(0, width(word)))


def is_ones(word: FNode) -> FNode:
    return equals(word, BV((1 << width(word)) - 1, width(word)))


def extract(word: FNode, high: int, low: int) -> FNode:
    """Bits ``high`` to ``low``, both included."""
    if low == 0 and high == width(word) - 1:
        return word
    known = value(word)
    if known is not None:
        return constant(known >> low, high - low + 1)
    if word.is_bv_extract():
        start = int(word.bv_extract_start())
        return extract(word.arg(0), high + start, low + start)
    if word.is_bv_concat():
        split = width(word.arg(1))
        if high < split:
            return extract(word.arg(1), high, low)
        if low >= split:
            return extract(word.arg(0), high - split, low - split)
    if word.is_bv_zext():
        inner = width(word.arg(0))
        if high < inner:
            return extract(word.arg(0), high, low)
        if low >= inner:
            return constant(0, high - low + 1)
    return BVExtract(word, low, high)


def join(*words: FNode) -> FNode:
    """The words one after the other, the highest bits first."""
    result = words[0]
    for word in words[1:]:
        left, right = value(result), value(word)
        total = width(result) + width(word)
        if left is not None and right is not None:
            result = constant(left << width(word) | right, total)
        else:
            result = BVZExt(word, width(result)) if left == 0 else BVConcat(result, word)
    return result


def extend(word: FNode, bits: int) -> FNode:
    """``word`` with zeros in front, ``bits`` wide in all."""
    return word if bits == width(word) else join(BV(0, bits - width(word)), word)


def pad(word: FNode, zeros: int) -> FNode:
    """``word`` with zeros behind."""
    return join(word, BV(0, zeros)) if zeros else word


def _with_neutral_zero(operation: Operation, numbers: Callable[[int, int], int], left: FNode, right: FNode) -> FNode:
    """``operation`` on two words, or what ``numbers`` computes of two constants; 0 changes nothing on either side."""
    first, second = value(left), value(right)
    if first is not None and second is not None:
        return constant(numbers(first, second), width(left))
    if first == 0:
        return right
    return left if second == 0 else operation(left, right)


def add(left: FNode, right: FNode) -> FNode:
    return _with_neutral_zero(BVAdd, operator.add, left, right)


def subtract(left: FNode, right: FNode) -> FNode:
    first, second = value(left), value(right)
    if first is not None and second is not None:
        return constant(first - second, width(left))
    return left if second == 0 else BVSub(left, right)


def difference(left: FNode, right: FNode) -> tuple[FNode, FNode]:
    """``left`` less ``right``, and whether it is negative (a Boolean).

    One sum with the inverted word and a carry: some solvers drag a subtraction's minus through all of ``right``.
    """
    size = width(left)
    carry = constant(1, 1)
    total = add(join(BV(0, 1), left, carry), join(BV(1, 1), invert(right), carry))
    return extract(total, size, 1), is_set(total, size + 1)


def multiply(left: FNode, right: FNode) -> FNode:
    first, second = value(left), value(right)
    if first is not None and second is not None:
        return constant(first * second, width(left))
    return BVMul(left, right)


def remainder(left: FNode, right: FNode) -> FNode:
    """Unsigned; ``left`` where ``right`` is zero."""
    first, second = value(left), value(right)
    if first is not None and second:
        return constant(first % second, width(left))
    return BV(0, width(left)) if second == 1 else BVURem(left, right)


def invert(word: FNode) -> FNode:
    known = value(word)
    return BVNot(word) if known is None else constant(~known, width(word))


def conjoin(left: FNode, right: FNode) -> FNode:
    """Bitwise and."""
    first, second = value(left), value(right)
    if first is not None and second is not None:
        return constant(first & second, width(left))
    if first == 0 or second == 0:
        return BV(0, width(left))
    return BVAnd(left, right)


def disjoin(left: FNode, right: FNode) -> FNode:
    """Bitwise or."""
    return _with_neutral_zero(BVOr, operator.or_, left, right)


def differ(left: FNode, right: FNode) -> FNode:
    """Bitwise exclusive or."""
    return _with_neutral_zero(BVXor, operator.xor, left, right)


def less(left: FNode, right: FNode) -> FNode:
    """Unsigned: a Boolean."""
    first, second = value(left), value(right)
    if first is not None and second is not None:
        return TRUE() if first < second else FALSE()
    if second == 0 or left is right:
        return FALSE()
    return BVULT(left, right)


def less_equal(left: FNode, right: FNode) -> FNode:
    """Unsigned: a Boolean."""
    first, second = value(left), value(right)
    if first is not None and second is not None:
        return TRUE() if first <= second else FALSE()
    if first == 0 or left is right:
        return TRUE()
    return BVULE(left, right)


def shift_left(word: FNode, amount: FNode) -> FNode:
    """``word`` times two to the power ``amount``, a word of any width; what leaves on the left is lost."""
    known, by = value(word), value(amount)
    if by is not None:
        by = min(by, width(word))
        return word if by == 0 else extract(pad(word, by), width(word) - 1, 0)
    if known == 0:
        return word
    size = max(width(word), width(amount))
    return extract(BVLShl(extend(word, size), extend(amount, size)), width(word) - 1, 0)


def shift_right(word: FNode, amount: FNode) -> FNode:
    """``word`` without its ``amount`` lowest bits; ``amount`` is a word of any width."""
    known, by = value(word), value(amount)
    if by is not None:
        if by == 0:
            return word
        top = width(word) - 1
        return extend(extract(word, top, by), top + 1) if by <= top else BV(0, top + 1)
    if known == 0:
        return word
    size = max(width(word), width(amount))
    return extract(BVLShr(extend(word, size), extend(amount, size)), width(word) - 1, 0)
