"""What the SAT solver answers about formulas, against z3 on the same formulas, and its models against evaluation."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, BVULT, FALSE, TRUE, And, BVAdd, BVMul, BVZExt, Equals, Iff, Not, Or, Symbol, is_sat
from pysmt.typing import BOOL, BVType
from random_terms import flag, term

from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import framed, shift
from bmc.system.transition import symbols_of
from chaincover.verification.clauses import OUT, Clauses, contradictory, template_of
from chaincover.verification.limits import Clock, Limits

WIDTHS = (3, 8)
"""Of wider words z3 has trouble with products and quotients."""

X, Y = (framed(Symbol(name, BVType(4)), 0) for name in ("clauses_x", "clauses_y"))
F = framed(Symbol("clauses_f", BOOL), 0)


def clauses() -> Clauses:
    return Clauses(Clock(Limits()))


@given(st.integers(0, 1 << 30))
@settings(max_examples=6, deadline=None)
def test_answers_are_those_of_z3_and_models_satisfy_the_formula(seed: int) -> None:
    """Several questions to one solver, each formula at steps of its own; later ones do not see the earlier ones."""
    rng, asked = random.Random(seed), clauses()
    for _ in range(4):
        formula = at_steps(flag(rng, 3, WIDTHS), rng)
        value = term(rng, 8, 2, WIDTHS)
        formula = And(formula, Equals(at_steps(value, rng), BV(rng.getrandbits(8), 8)))
        found = asked.possible(formula)
        assert found == is_sat(formula, solver_name="z3"), formula.serialize()
        if found:
            model = {s.symbol_name(): asked.value(s) for s in symbols_of(formula)}
            assert compile_formulas([formula])(model)[0], (formula.serialize(), model)


def at_steps(formula: FNode, rng: random.Random) -> FNode:
    """``formula`` with each of its symbols at some step."""
    return formula.substitute({s: framed(s, rng.randrange(3)) for s in symbols_of(formula)})


def test_a_template_is_placed_with_the_same_meaning_at_every_step() -> None:
    asked, formula = clauses(), Equals(BVAdd(X, BV(1, 4)), shift(X, 1))
    asked.demand(And(Equals(X, BV(3, 4)), *(shift(formula, step) for step in range(12))))
    assert asked.possible(TRUE())
    assert [asked.value(shift(X, step)) for step in range(13)] == [(3 + step) % 16 for step in range(13)]
    assert asked.possible(Equals(shift(X, 12), BV(0, 4))) is False


def test_the_facts_of_a_template_hold_whatever_is_asked() -> None:
    asked = clauses()
    out = asked.placed(BVULT(X, Y), (Equals(X, BV(5, 4)),))
    assert asked.possible(Equals(X, BV(4, 4))) is False
    assert asked.possible(Equals(Y, BV(6, 4)), [-out]) is False
    assert asked.possible(Equals(Y, BV(6, 4)), [out]) is True
    assert asked.possible(Equals(Y, BV(5, 4)), [out]) is False


def test_nothing_is_possible_beside_facts_that_contradict_each_other() -> None:
    asked = clauses()
    out = asked.placed(BVULT(X, Y), (Equals(X, BV(5, 4)), Equals(X, BV(6, 4))))
    assert asked.possible(Equals(Y, BV(6, 4)), [out]) is False
    assert asked.possible(Equals(Y, BV(6, 4)), [-out]) is False


def test_every_port_of_a_template_is_a_bit_that_is_asked_for() -> None:
    made = template_of(Iff(F, BVULT(X, Y)))
    ports = set(made.ports.values())
    assert ports == {(Symbol(OUT), 0), (F, 0), *((symbol, bit) for symbol in (X, Y) for bit in range(4))}
    assert {abs(literal) for clause in made.clauses for literal in clause} <= set(range(1, made.size + 1))


def test_own_symbols_and_differences() -> None:
    """A symbol of the question's own switches a demand on; without it the demand is not there."""
    asked = clauses()
    here = asked.own(Symbol("clauses here"))
    for value in range(15):
        asked.differs({X: value}, here)
    assert asked.possible(here)
    assert asked.value(X) == 15
    assert asked.possible(here, asked.equal(X, 3)) is False
    assert asked.possible(Not(here), asked.equal(X, 3))
    assert asked.value(X) == 3


@pytest.mark.parametrize("formula", [TRUE(), FALSE(), Or(F, TRUE()), And(F, FALSE()), Or(), And()])
def test_constants(formula: FNode) -> None:
    assert clauses().possible(formula) is formula.simplify().is_true()


@given(st.integers(0, 1 << 30))
@settings(max_examples=10, deadline=None)
def test_words_contradict_themselves_only_where_nothing_satisfies_them(seed: int) -> None:
    rng = random.Random(seed)
    formula = And(*(at_steps(flag(rng, 3, WIDTHS), rng) for _ in range(3)))
    assert contradictory(formula, Clock(Limits())) == (Clauses(Clock(Limits())).possible(formula) is False)


def test_limits_give_no_answer() -> None:
    """Neither a time that is over nor work that is used up is an answer."""
    factors = [framed(Symbol(f"clauses_{name}", BVType(20)), 0) for name in "ab"]
    product = BVMul(*(BVZExt(factor, 20) for factor in factors))
    prime = And(Equals(product, BV(1_048_573, 40)), *(BVULT(BV(1, 20), factor) for factor in factors))
    assert Clauses(Clock(Limits(seconds=0))).possible(F) is None
    assert Clauses(Clock(Limits(question=1e-6))).possible(prime) is None
    assert not contradictory(FALSE(), Clock(Limits(seconds=0)))
    assert not contradictory(prime, Clock(Limits(question=1e-6)))


def test_a_formula_that_is_too_large_has_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chaincover.verification.clauses.MOST_CLAUSES", 20)
    asked, large = clauses(), framed(Symbol("clauses_large", BVType(9)), 0)
    assert asked.possible(Equals(X, BV(3, 4))) is True
    assert asked.possible(Equals(BVMul(large, large), BV(8, 9))) is None
    assert asked.possible(FALSE()) is None, "nothing is told any more: some formula is not there"
