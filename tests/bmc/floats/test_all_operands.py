"""For all operands: the circuits of a half-precision format are what z3's floating-point theory says."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import z3
from c_support import own_environment  # noqa: F401
from float_cases import COMPARISONS, UNARY, operand
from pysmt.fnode import FNode
from pysmt.shortcuts import Solver

from bmc.floats import arithmetic
from bmc.floats.format import FLOAT32, Format

HALF = Format(16, 5, 10, "e")
SORT = z3.FPSort(5, 11)
SHORT, SHORT_SORT = Format(10, 5, 4), z3.FPSort(5, 5)
"""Sums of half precision take too long to prove."""
EVEN, AWAY = z3.RNE(), z3.RoundNearestTiesToAway()

ROUNDINGS: dict[str, Callable[..., z3.ExprRef]] = {
    "negate": z3.fpNeg,
    "absolute": z3.fpAbs,
    "floor": lambda a: z3.fpRoundToIntegral(z3.RTN(), a),
    "ceiling": lambda a: z3.fpRoundToIntegral(z3.RTP(), a),
    "truncate": lambda a: z3.fpRoundToIntegral(z3.RTZ(), a),
    "round_half_even": lambda a: z3.fpRoundToIntegral(EVEN, a),
    "round_half_away": lambda a: z3.fpRoundToIntegral(AWAY, a),
}
RELATIONS: dict[str, Callable[..., z3.BoolRef]] = {"equal": z3.fpEQ, "less": z3.fpLT, "less_equal": z3.fpLEQ}


def translated(term: FNode) -> z3.ExprRef:
    with Solver(name="z3", logic="QF_BV") as solver:
        return solver.converter.convert(term)


def refute(claim: z3.BoolRef) -> None:
    """Fails unless no operands contradict ``claim``."""
    solver = z3.SolverFor("QF_FPBV")
    solver.add(z3.Not(claim))
    assert solver.check() == z3.unsat


def same(word: z3.ExprRef, expected: z3.ExprRef, form: Format, sort: z3.SortRef) -> z3.BoolRef:
    nan = z3.BitVecVal(form.nan, form.bits)
    return z3.If(z3.fpIsNaN(expected), word == nan, z3.fpBVToFP(word, sort) == expected)


@pytest.mark.parametrize("name", list(ROUNDINGS))
def test_signs_and_roundings(name: str) -> None:
    a = operand("a", 16)
    expected = ROUNDINGS[name](z3.fpBVToFP(translated(a), SORT))
    refute(same(translated(UNARY[name](a, HALF)), expected, HALF, SORT))


def test_sums() -> None:
    a, b = operand("a", 10), operand("b", 10)
    expected = z3.fpAdd(EVEN, *(z3.fpBVToFP(translated(x), SHORT_SORT) for x in (a, b)))
    refute(same(translated(arithmetic.add(a, b, SHORT)), expected, SHORT, SHORT_SORT))


@pytest.mark.parametrize("name", list(RELATIONS))
def test_relations(name: str) -> None:
    a, b = operand("a", 16), operand("b", 16)
    expected = RELATIONS[name](*(z3.fpBVToFP(translated(x), SORT) for x in (a, b)))
    refute(translated(COMPARISONS[name](a, b, HALF)) == expected)


def test_widening_and_narrowing() -> None:
    a, x = operand("a", 16), operand("x", 32)
    wide = z3.fpFPToFP(EVEN, z3.fpBVToFP(translated(a), SORT), z3.Float32())
    refute(same(translated(arithmetic.resize(a, HALF, FLOAT32)), wide, FLOAT32, z3.Float32()))
    narrow = z3.fpFPToFP(EVEN, z3.fpBVToFP(translated(x), z3.Float32()), SORT)
    refute(same(translated(arithmetic.resize(x, FLOAT32, HALF)), narrow, HALF, SORT))


def test_integers() -> None:
    i, a = operand("i", 32), operand("a", 16)
    expected = z3.fpSignedToFP(EVEN, translated(i), SORT)
    refute(same(translated(arithmetic.from_int(i, True, HALF)), expected, HALF, SORT))
    word, defined = (translated(term) for term in arithmetic.to_int(a, HALF, 32, True))
    number = z3.fpBVToFP(translated(a), SORT)
    refute(z3.Implies(defined, word == z3.fpToSBV(z3.RTZ(), number, z3.BitVecSort(32))))
    refute(defined == z3.Not(z3.Or(z3.fpIsNaN(number), z3.fpIsInf(number))))
