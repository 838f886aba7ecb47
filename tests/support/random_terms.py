"""Random terms and formulas of words and flags, with every operator."""

from __future__ import annotations

import random
from collections.abc import Sequence

from pysmt.fnode import FNode
from pysmt.shortcuts import (
    BV,
    BVSLE,
    BVSLT,
    BVULE,
    BVULT,
    And,
    BVAdd,
    BVAnd,
    BVAShr,
    BVComp,
    BVConcat,
    BVExtract,
    BVLShl,
    BVLShr,
    BVMul,
    BVNeg,
    BVNot,
    BVOr,
    BVSDiv,
    BVSExt,
    BVSRem,
    BVSub,
    BVUDiv,
    BVURem,
    BVXor,
    BVZExt,
    Equals,
    Iff,
    Implies,
    Ite,
    Not,
    Or,
    Symbol,
)
from pysmt.typing import BOOL, BVType

WIDTHS = (3, 8, 32, 64, 70)
SYMBOLS = {width: [Symbol(f"vec{width}_{n}", BVType(width)) for n in range(2)] for width in WIDTHS}
FLAGS = [Symbol(f"vec_flag{n}", BOOL) for n in range(2)]
WORDS = (BVAdd, BVSub, BVMul, BVUDiv, BVURem, BVLShl, BVLShr, BVAShr, BVAnd, BVOr, BVXor, BVSDiv, BVSRem)
TESTS = (BVULT, BVULE, BVSLT, BVSLE, Equals)


def term(rng: random.Random, width: int, depth: int, widths: Sequence[int] = WIDTHS) -> FNode:
    """A term of ``width`` bits over ``SYMBOLS`` and ``FLAGS``; comparisons in it are of words of these ``widths``."""
    if depth == 0:
        return rng.choice([*SYMBOLS[width], BV(rng.getrandbits(width), width)])
    kind = rng.randrange(len(WORDS) + 5)
    one, other = term(rng, width, depth - 1, widths), term(rng, width, depth - 1, widths)
    if kind < len(WORDS):
        return WORDS[kind](one, other)
    if kind == len(WORDS):
        return rng.choice((BVNot, BVNeg))(one)
    if kind == len(WORDS) + 1:
        return Ite(flag(rng, depth - 1, widths), one, other)
    if kind == len(WORDS) + 2:
        return BVExtract(BVConcat(one, other), width // 2, width // 2 + width - 1)
    longer = rng.choice((BVSExt, BVZExt))(one, rng.choice((5, 70)))
    return BVExtract(longer, 3, width + 2)


def flag(rng: random.Random, depth: int, widths: Sequence[int] = WIDTHS) -> FNode:
    """A formula over ``SYMBOLS`` and ``FLAGS`` with comparisons of words of these ``widths``."""
    if depth == 0:
        return rng.choice(FLAGS)
    if rng.random() < 0.5:
        width = rng.choice(widths)
        return rng.choice(TESTS)(term(rng, width, depth - 1, widths), term(rng, width, depth - 1, widths))
    one, other = flag(rng, depth - 1, widths), flag(rng, depth - 1, widths)
    bit = Equals(BVComp(SYMBOLS[8][0], SYMBOLS[8][1]), BV(1, 1))
    return rng.choice((And(one, other, bit), Or(one, Not(other)), Iff(one, other), Implies(one, other)))
