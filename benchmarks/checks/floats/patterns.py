"""Raw patterns of floating-point numbers and integers with much weight on what arithmetic finds hard."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bmc.floats.format import Format

Words = NDArray[np.uint64]


def float_patterns(form: Format, count: int, chance: np.random.Generator) -> Words:
    """Zeros, subnormals, the ends of the ranges, infinities, NaN (canonical), powers of two and their neighbours,
    small integers and halves, numbers with few bits, and numbers without any pattern.
    """
    top, ones, half = (1 << form.exponent) - 1, (1 << form.fraction) - 1, 1 << (form.fraction - 1)
    integers = form.bias + form.fraction
    edges = [0, 0, 1, 2, form.bias - 1, form.bias, form.bias + 1, integers, integers + 1, top - 1, top]
    near = form.bias + chance.integers(-form.fraction, form.fraction + 2, count)
    field = _one_of([chance.choice(edges, count), chance.integers(0, top + 1, count), near], chance)
    few = chance.integers(0, 16, count) << (form.fraction - 4)
    edge = chance.choice([0, 1, 2, ones, ones - 1, half, half - 1, half + 1], count)
    fraction = _one_of([edge, few, chance.integers(0, ones + 1, count)], chance)
    signs = chance.integers(0, 2, count).astype(np.uint64) << np.uint64(form.bits - 1)
    return canonical(signs | field << np.uint64(form.fraction) | fraction, form)


def related(first: Words, form: Format, chance: np.random.Generator) -> Words:
    """Second operands: a third of them equal, opposite to, or close to the first."""
    count = len(first)
    noise = [0, form.sign, 1, form.sign | 1, 2, 3 << form.fraction, form.sign | 1 << form.fraction]
    close = canonical(first ^ chance.choice(np.array(noise, np.uint64), count), form)
    return np.where(chance.integers(0, 3, count) == 0, close, float_patterns(form, count, chance))


def integer_patterns(bits: int, count: int, chance: np.random.Generator) -> Words:
    """Integers of all lengths, powers of two and their neighbours, of both signs."""
    any_bits = chance.integers(0, 1 << 63, count, dtype=np.uint64, endpoint=True) << np.uint64(1)
    any_bits |= chance.integers(0, 2, count).astype(np.uint64)
    length = chance.integers(0, bits, count).astype(np.uint64)
    power = np.uint64(1) << length
    short = any_bits >> (np.uint64(63) - length)
    found = _one_of([any_bits, short, power, power - np.uint64(1), power + np.uint64(1)], chance)
    found = np.where(chance.integers(0, 2, count) == 0, found, np.uint64(0) - found)
    return found & np.uint64((1 << bits) - 1)


def canonical(raw: Words, form: Format) -> Words:
    """The patterns with every NaN the canonical one."""
    return np.where((raw & np.uint64(form.sign - 1)) > form.infinity, np.uint64(form.nan), raw).astype(np.uint64)


def _one_of(choices: list[NDArray[np.integer]], chance: np.random.Generator) -> Words:
    """At each place the value of one of the arrays."""
    which = chance.integers(0, len(choices), len(choices[0]))
    return np.choose(which, [choice.astype(np.uint64) for choice in choices])
