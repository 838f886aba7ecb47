"""Next states of a floating-point level: arithmetic of C in ``float``, held within bounds and mostly on a grid."""

from __future__ import annotations

import random

from pysmt.fnode import FNode

from bmc.floats import arithmetic, compare
from bmc.floats.format import FLOAT32, pattern
from bmc.formulas.terms import choose, constant

CONSTANTS = (0.1, 0.25, 0.3, 0.5, 0.7, 0.9, 1.0, 1.1, 1.5, 3.0)
OPERATIONS = {
    "add": arithmetic.add,
    "subtract": arithmetic.subtract,
    "multiply": arithmetic.multiply,
    "divide": arithmetic.divide,
}
EXTREMES = (-0.0, 1e-45, 1e38, float("inf"), float("nan"))
"""Minus zero, the least positive number, nearly the greatest one, and what is no number."""


def known(value: float) -> FNode:
    """The constant nearest to ``value``."""
    return constant(pattern(value, FLOAT32), FLOAT32.bits)


def number(rng: random.Random) -> float:
    """A constant, now and then an extreme one; either sign."""
    return rng.choice((-1.0, 1.0)) * (rng.choice(EXTREMES) if rng.random() < 0.06 else rng.choice(CONSTANTS))


def changed(rng: random.Random, level: FNode) -> FNode:
    """One operation of C on ``level``: a sum, a product, a quotient, another sign, or a constant."""
    operand = known(number(rng))
    operation = rng.choice(("add", "add", "add", "subtract", "multiply", "divide", "negate", "operand"))
    if operation == "operand":
        return operand
    if operation == "negate":
        return compare.negate(level, FLOAT32)
    return OPERATIONS[operation](level, operand, FLOAT32)


def held(rng: random.Random, value: FNode, grid: bool) -> FNode:
    """``value`` within bounds, which lets a NaN pass; on a ``grid`` of quarters, thirds or tenths before that."""
    if grid:
        places = rng.choice((4.0, 3.0, 10.0))
        rounding = rng.choice((arithmetic.floor, arithmetic.truncate, arithmetic.round_half_even))
        whole = rounding(arithmetic.multiply(value, known(places), FLOAT32), FLOAT32)
        value = arithmetic.multiply(whole, known(1 / places), FLOAT32)
    low, high = known(-rng.choice((0.0, 0.0, 0.5, 1.0))), known(rng.choice((0.7, 1.0, 1.5)))
    below, above = compare.less(value, low, FLOAT32), compare.less(high, value, FLOAT32)
    return choose(below, low, choose(above, high, value))


def compared(rng: random.Random, level: FNode, value: float) -> FNode:
    """``level`` equal to, below, or above and equal to ``value``, as C compares."""
    edge = known(value)
    return rng.choice(
        (
            compare.equal(level, edge, FLOAT32),
            compare.less(level, edge, FLOAT32),
            compare.less_equal(edge, level, FLOAT32),
        )
    )
