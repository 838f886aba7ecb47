"""Terms in place of other terms, beside pysmt's own substitution."""

from __future__ import annotations

import random

from pysmt.shortcuts import BV, BVULT, And, BVAdd, BVMul, Equals, Ite, Not, Symbol
from pysmt.typing import BVType

from bmc.formulas import unroll
from bmc.formulas.unroll import with_terms

X, Y, P = Symbol("un_x", BVType(6)), Symbol("un_y", BVType(6)), Symbol("un_p")


def word(source: random.Random, depth: int):
    if not depth:
        return source.choice([X, Y, BV(source.randrange(64), 6)])
    left, right = word(source, depth - 1), word(source, depth - 1)
    return source.choice([BVAdd(left, right), BVMul(left, right), Ite(truth(source, depth - 1), left, right)])


def truth(source: random.Random, depth: int):
    if not depth:
        return source.choice([P, Equals(X, BV(source.randrange(64), 6))])
    left, right = word(source, depth - 1), word(source, depth - 1)
    return source.choice([Equals(left, right), BVULT(left, right), And(truth(source, depth - 1), Not(P))])


def test_symbols_and_larger_terms_are_replaced_as_pysmt_does_it() -> None:
    source = random.Random(3)
    changed = 0
    for _ in range(300):
        whole = word(source, 4)
        inner = source.choice([node for node in parts(whole) if node.get_type() == BVType(6)])
        for terms in ({inner: BVAdd(Y, BV(1, 6))}, {X: inner, P: Equals(Y, BV(2, 6))}):
            (found,) = with_terms([whole], terms)
            assert found is whole.substitute(terms)
            changed += found is not whole
    assert changed > 300


def parts(formula) -> list:
    """All terms in a formula."""
    found = {formula: None}
    for node in list(found):
        for argument in node.args():
            found.update(dict.fromkeys(parts(argument)))
    return list(found)


def test_what_only_a_replaced_term_reads_is_not_looked_at(monkeypatch) -> None:
    inner = BVMul(X, BVAdd(Y, BV(3, 6)))
    orders = []
    order = unroll.post_order
    monkeypatch.setattr(unroll, "post_order", lambda *given: orders.append(order(*given)) or orders[-1])
    assert with_terms([Equals(inner, X)], {inner: Y}) == [Equals(Y, X)]
    assert orders == [[X, Equals(inner, X)]]
