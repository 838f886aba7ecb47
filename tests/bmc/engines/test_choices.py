"""Trees of choices as gates: the same values as one choice after the other, and fewer gates."""

from __future__ import annotations

import random

import pysmt.shortcuts as smt
from gates import Blasted
from hypothesis import given, settings
from hypothesis import strategies as st
from pysmt.fnode import FNode
from pysmt.typing import BOOL, BVType

from bmc.engines.sat_encoding import blast
from bmc.engines.sat_encoding.blast import tree_of
from bmc.formulas.evaluate import compile_formulas

BITS = 8
WORDS = [smt.Symbol(f"ch_{n}", BVType(BITS)) for n in range(3)]
CONDITIONS = [smt.Symbol(f"ch_c{n}", BOOL) for n in range(4)]


def random_choices(rng: random.Random) -> list[FNode]:
    """Words chosen from each other over and over, shared between trees, some with sums of chosen words below."""
    words = [*WORDS, smt.BV(0, BITS), smt.BV(7, BITS), smt.BVAdd(WORDS[0], smt.BV(1, BITS))]
    conditions = [*CONDITIONS, smt.Not(CONDITIONS[0]), smt.Equals(WORDS[1], smt.BV(7, BITS))]
    for _ in range(rng.randint(1, 25)):
        recent = rng.choice(words[-3:] if rng.random() < 0.7 else words)
        sides = [recent, rng.choice(words)]
        rng.shuffle(sides)
        words.append(smt.Ite(rng.choice(conditions), *sides))
        if rng.random() < 0.15:
            words.append(smt.BVAdd(words[-1], smt.BV(1, BITS)))
        if rng.random() < 0.15:
            conditions.append(smt.Equals(words[-1], rng.choice(words)))
    return rng.sample(words, min(4, len(words)))


def rows(rng: random.Random, count: int) -> list[dict[str, int]]:
    bits = {symbol.symbol_name(): BITS for symbol in WORDS} | {symbol.symbol_name(): 1 for symbol in CONDITIONS}
    return [{name: rng.choice((0, 7, rng.randrange(256))) % (1 << n) for name, n in bits.items()} for _ in range(count)]


@given(st.integers(0, 1 << 30))
@settings(max_examples=60, deadline=None)
def test_trees_choose_what_choices_one_by_one_choose(seed: int) -> None:
    rng = random.Random(seed)
    formulas = random_choices(rng)
    given_rows = rows(rng, 60)
    for most in (blast.MOST, 5):
        before, blast.MOST = blast.MOST, most
        try:
            assert Blasted(formulas).results(given_rows) == [
                list(compile_formulas(formulas)(row)) for row in given_rows
            ]
        finally:
            blast.MOST = before


def chain(length: int, different: int) -> FNode:
    """A chain of ``length`` choices between ``different`` words, each under a condition of its own."""
    selector, found = smt.Symbol("ch_selector", BVType(16)), WORDS[0]
    for n in range(length):
        found = smt.Ite(smt.Equals(selector, smt.BV(n, 16)), smt.BV(n % different, BITS), found)
    return found


def test_a_tree_takes_gates_for_its_words_not_for_its_choices() -> None:
    def gates(length: int) -> int:
        return len(Blasted([chain(length, 2)]).graph.kinds)

    conditions = [smt.Equals(smt.Symbol("ch_selector", BVType(16)), smt.BV(n, 16)) for n in range(100)]
    alone = len(Blasted(conditions).graph.kinds)
    assert gates(100) - alone < 100 * BITS / 2


def test_choices_between_different_words_stay_as_they_are() -> None:
    a, b, c = WORDS
    assert tree_of(smt.Ite(CONDITIONS[0], a, smt.Ite(CONDITIONS[1], b, c)), (), BITS) is None
    tree = tree_of(smt.Ite(CONDITIONS[0], a, smt.Ite(CONDITIONS[1], b, a)), (), BITS)
    assert tree is not None
    assert set(tree.words) == {a, b}


def test_long_chains_need_no_recursion_and_are_right() -> None:
    rng, length = random.Random(1), 3_000
    formula = chain(length, 3)
    given_rows = [{**row, "ch_selector": rng.randrange(length + 500)} for row in rows(rng, 50)]
    expected = [[r["ch_selector"] % 3 if r["ch_selector"] < length else r["ch_0"]] for r in given_rows]
    assert Blasted([formula]).results(given_rows) == expected
