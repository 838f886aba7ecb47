"""Sums of bit-vectors in one form: equal sums are one term, and no value changes."""

from __future__ import annotations

from random import Random

from drawn_seeds import seeds
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, BVUGT, BVExtract, BVSExt, BVZExt, Ite, Symbol
from pysmt.typing import BVType

from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.sums import MOST, Sum, in_one_form, leaves, sums_of

X, Y, Z = (Symbol(f"sums_{name}", BVType(8)) for name in "xyz")


def test_equal_sums_are_one_term() -> None:
    base = BV(200, 8)
    assert in_one_form((X + BV(3, 8)) - (Y + BV(3, 8)) + base) is in_one_form((X - Y) + base)
    assert in_one_form(X - Y) is not in_one_form(Y - X)
    assert in_one_form((X - Y) + (Y - X)) is BV(0, 8)


def test_what_is_promoted_added_and_cut_off_is_a_sum() -> None:
    wide = BVZExt(BVExtract(BVZExt(X, 24) + BV(100, 32), 0, 7), 24) + BVSExt(Y, 24)
    assert in_one_form(BVExtract(wide, 0, 7)) is in_one_form(X + Y + BV(100, 8))


def test_choices_of_one_condition_are_made_once() -> None:
    more = BVUGT(X, Y)
    tree = sums_of(Ite(more, X, Y) - Ite(more, X, Z), 8)
    assert tree is not None
    assert [dict(each.summands) for each in leaves(tree)] == [{}, {Y: 1, Z: 255}]


def test_a_sum_of_too_many_choices_stays() -> None:
    term = X
    for number in range(MOST):
        term = term + Ite(BVUGT(Y, BV(number, 8)), Z, X)
    assert sums_of(term, 8) is None
    assert in_one_form(term) is term


@seeds(40)
def test_no_value_changes(seed: int) -> None:
    random = Random(seed)
    term = drawn(random, 4)
    values = {f"sums_{name}": random.randrange(256) for name in "xyz"}
    one, other = compile_formulas([term, in_one_form(term)])(values)
    assert one == other
    tree = sums_of(term, 8)
    assert tree is None or isinstance(tree, Sum) or all(leaf.constant < 256 for leaf in leaves(tree))


def drawn(random: Random, deep: int) -> FNode:
    """A term of 8 bits."""
    if not deep:
        return random.choice([X, Y, Z, BV(random.randrange(256), 8)])
    one, two = drawn(random, deep - 1), drawn(random, deep - 1)
    promoted = BVExtract(BVZExt(one, 8) + BVSExt(two, 8), 0, 7)
    return random.choice([one + two, one - two, Ite(BVUGT(one, two), one, two), promoted, one & two])
