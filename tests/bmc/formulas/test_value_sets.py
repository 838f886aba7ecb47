"""Sets of terms hold all values that the operators give."""

from __future__ import annotations

import random
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pysmt.shortcuts import And, BVConcat, BVExtract, BVSExt, BVZExt, Iff, Implies, Ite, Not, Or

from bmc.formulas.evaluate import operation
from bmc.formulas.value_sets import (
    PIECES,
    Ranges,
    applied,
    common,
    contains,
    joined,
    signed_ends,
    united,
    values,
    whole,
    width_of,
)
from bmc.system.transition import BOOLEAN, ValueType

BITS = 3
a, b, flag, other = (
    ValueType("three", BITS).symbol("sr_a"),
    ValueType("three", BITS).symbol("sr_b"),
    BOOLEAN.symbol("sr_flag"),
    BOOLEAN.symbol("sr_other"),
)
TERMS = {
    "add": a + b,
    "sub": a - b,
    "mul": a * b,
    "udiv": a.BVUDiv(b),
    "urem": a.BVURem(b),
    "sdiv": a.BVSDiv(b),
    "srem": a.BVSRem(b),
    "lshl": a.BVLShl(b),
    "lshr": a.BVLShr(b),
    "ashr": a.BVAShr(b),
    "and": a & b,
    "or": a | b,
    "xor": a.BVXor(b),
    "not": ~a,
    "neg": -a,
    "comp": a.BVComp(b),
    "concat": BVConcat(a, b),
    "zext": BVZExt(a, 2),
    "sext": BVSExt(a, 2),
    "low bits": BVExtract(a, 0, 1),
    "high bits": BVExtract(a, 1, 2),
    "ult": a.BVULT(b),
    "ule": a.BVULE(b),
    "slt": a.BVSLT(b),
    "sle": a.BVSLE(b),
    "equals": a.Equals(b),
    "choice": Ite(flag, a, b),
    "both": And(flag, other),
    "either": Or(flag, other),
    "implies": Implies(flag, other),
    "iff": Iff(flag, other),
    "no": Not(flag),
    "rotation": a.BVRol(1),
}


def some_set(rng: random.Random, bits: int) -> Ranges:
    """A few values, or a range, or two."""
    last = (1 << max(bits, 1)) - 1
    lows = [rng.randint(0, last) for _ in range(rng.choice([1, 1, 2, 3]))]
    return united((low, min(last, low + rng.choice([0, 0, 1, 3]))) for low in lows)


def test_what_two_sets_have_in_common_and_their_ends_are_those_of_their_members() -> None:
    for seed in range(400):
        rng = random.Random(seed)
        one, two = some_set(rng, 4), some_set(rng, 4)
        members = values(one, 16) or []
        assert values(common(one, two), 16) == [raw for raw in members if contains(two, raw)]
        signed = [raw - 16 if raw >= 8 else raw for raw in members]
        assert signed_ends(one, 4) == (min(signed), max(signed))


@pytest.mark.parametrize("name", TERMS)
def test_the_set_of_a_term_holds_all_values_of_its_arguments(name: str) -> None:
    term, rng = TERMS[name], random.Random(name)
    compute = operation(term)
    widths = [width_of(argument) for argument in term.args()]
    bits, tighter = width_of(term), 0
    for _ in range(400):
        chosen = [some_set(rng, width) for width in widths]
        here = applied(term, chosen)
        members = [values(ranges, 100) or [] for ranges in chosen]
        assert all(contains(here, compute(raw)) for raw in product(*members)), chosen
        assert list(here) == sorted(here)
        tighter += here != whole(bits)
    assert (tighter > 20) == (name != "rotation")


@given(st.integers(0, 10**9))
@settings(max_examples=300, deadline=None)
def test_a_wide_word_wraps(seed: int) -> None:
    """Sums, products and quotients of ranges too large to be listed, near all the ends."""
    rng = random.Random(seed)
    x, y = (ValueType("wide", 16).symbol(f"vs_{name}") for name in "xy")
    near = [0, 1, 5, 255, 256, 0x7FFE, 0x7FFF, 0x8000, 0x8001, 0xFFFE, 0xFFFF, rng.randrange(1 << 16)]
    make = [x + y, x - y, x * y, x.BVUDiv(y), x.BVURem(y), x.BVSDiv(y), x.BVSRem(y), x & y, x | y, x.BVXor(y)]
    make += [x.BVLShl(y), x.BVLShr(y), x.BVAShr(y), -x, ~x, BVSExt(x, 8), BVExtract(x, 4, 11), BVConcat(x, y)]
    term = rng.choice(make)
    chosen = [
        united(tuple(sorted((rng.choice(near), rng.choice(near)))) for _ in range(rng.randint(1, 2))) for _ in "xy"
    ]
    chosen = chosen[: len(term.args())]
    here, compute = applied(term, chosen), operation(term)
    ends = [
        {raw for part in ranges for raw in part} | {rng.randint(*rng.choice(ranges)) for _ in range(9)}
        for ranges in chosen
    ]
    assert all(contains(here, compute(raw)) for raw in product(*ends))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 300), st.integers(0, 3)), max_size=40))
def test_the_narrowest_gaps_are_filled(drawn: list[tuple[int, int]]) -> None:
    pieces = [(low, low + more) for low, more in drawn]
    left = list(joined(pieces))
    while len(left) > PIECES:
        gap = min(range(1, len(left)), key=lambda place: left[place][0] - left[place - 1][1])
        left[gap - 1 : gap + 1] = [(left[gap - 1][0], left[gap][1])]
    assert united(pieces) == tuple(left)


def test_very_many_values_are_united_at_once() -> None:
    """As many as a list of scattered values of an input has: gap by gap that would take hours."""
    found = united((7 * k + 900 * (k >= 150_000),) * 2 for k in range(200_000))
    assert len(found) == PIECES
    assert (7 * 149_999, 7 * 150_000 + 900) in [(before[1], after[0]) for before, after in pairwise(found)]
