"""Shifters by a variable number of places, a stage for each of the number's bits."""

from __future__ import annotations

from pysmt.fnode import FNode
from pysmt.shortcuts import BV

from bmc.formulas import words
from bmc.formulas.terms import both, choose, negate


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


def normalised(word: FNode) -> tuple[FNode, FNode]:
    """``word`` without its leading zeros, and their number (a narrower word); unspecified number where it is zero."""
    size = words.width(word)
    count: list[FNode] = []
    for stage in reversed(range((size - 1).bit_length())):
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
