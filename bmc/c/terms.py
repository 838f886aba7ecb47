"""Building blocks for pysmt terms with constant folding, and intervals of bit-vector terms.

Folding keeps loop counters, indices and flags constant while code is unrolled; intervals show that most
arithmetic cannot overflow, so that no check is needed.
"""

from __future__ import annotations

from pysmt.fnode import FNode
from pysmt.shortcuts import BV, FALSE, TRUE, And, Equals, Ite, Not, Or

from bmc.c.types import IntType

_DEPTH = 24
_INTERVALS: dict[tuple[FNode, bool], tuple[int, int]] = {}


def negate(cond: FNode) -> FNode:
    """Not, folded."""
    if cond.is_true():
        return FALSE()
    if cond.is_false():
        return TRUE()
    return cond.arg(0) if cond.is_not() else Not(cond)


def both(left: FNode, right: FNode) -> FNode:
    """And of two, folded."""
    if left.is_false() or right.is_true() or left is right:
        return left
    if right.is_false() or left.is_true():
        return right
    return FALSE() if left is negate(right) else And(left, right)


def either(left: FNode, right: FNode) -> FNode:
    """Or of two, folded."""
    if left.is_true() or right.is_false() or left is right:
        return left
    if right.is_true() or left.is_false():
        return right
    if left is negate(right):
        return TRUE()
    pairs = left.is_and() and right.is_and() and len(left.args()) == len(right.args()) == 2
    if pairs and left.arg(0) is right.arg(0) and left.arg(1) is negate(right.arg(1)):
        return left.arg(0)
    return Or(left, right)


def implies(left: FNode, right: FNode) -> FNode:
    """Implication, folded."""
    return either(negate(left), right)


def choose(cond: FNode, then: FNode, other: FNode) -> FNode:
    """If-then-else of two Booleans or two bit-vectors, folded."""
    if cond.is_true() or then is other:
        return then
    if cond.is_false():
        return other
    if then.is_bool_constant() and other.is_bool_constant():
        return cond if then.is_true() else negate(cond)
    if then.is_true():
        return either(cond, other)
    if then.is_false():
        return both(negate(cond), other)
    if other.is_true():
        return either(negate(cond), then)
    if other.is_false():
        return both(cond, then)
    if then.is_ite() and then.arg(0) is cond:
        then = then.arg(1)
    if other.is_ite() and other.arg(0) is cond:
        other = other.arg(2)
    return then if then is other else Ite(cond, then, other)


def folded(term: FNode) -> FNode:
    """``term``, computed where all its operands are constants."""
    return term.simplify() if all(arg.is_constant() for arg in term.args()) else term


def is_constant_choice(term: FNode) -> bool:
    """Whether ``term`` chooses between two constants."""
    return bool(term.is_ite() and term.arg(1).is_constant() and term.arg(2).is_constant())


def equals(left: FNode, right: FNode) -> FNode:
    """Equality of two bit-vectors, folded, also through a choice between constants."""
    if left is right:
        return TRUE()
    if left.is_constant() and not right.is_constant():
        left, right = right, left
    if right.is_constant():
        if left.is_constant():
            return TRUE() if left.bv_unsigned_value() == right.bv_unsigned_value() else FALSE()
        if is_constant_choice(left):
            return choose(left.arg(0), equals(left.arg(1), right), equals(left.arg(2), right))
    return Equals(left, right)


def constant(value: int, bits: int) -> FNode:
    """A bit-vector constant, wrapped to ``bits``."""
    return BV(value % (1 << bits), bits)


def number(term: FNode, signed: bool) -> int:
    """The value of a bit-vector constant."""
    return int(term.bv_signed_value() if signed else term.bv_unsigned_value())


def forget_intervals() -> None:
    """Drop the remembered intervals, which keep the terms of earlier models alive."""
    _INTERVALS.clear()


def interval(term: FNode, ctype: IntType, depth: int = _DEPTH) -> tuple[int, int]:
    """Bounds (least, greatest) of a term of integer type ``ctype``; sound, not tight."""
    full = (ctype.least, (1 << ctype.bits) - 1 if ctype.is_bool else ctype.greatest)
    if term.is_constant():
        value = number(term, ctype.signed)
        return value, value
    known = _INTERVALS.get((term, ctype.signed))
    if known is None:
        if depth == 0:
            return full
        found = _interval(term, ctype, depth - 1)
        known = found if found and full[0] <= found[0] and found[1] <= full[1] else full
        _INTERVALS[term, ctype.signed] = known
    return known


def _interval(term: FNode, ctype: IntType, depth: int) -> tuple[int, int] | None:
    if term.is_ite():
        a, b = (interval(term.arg(i), ctype, depth) for i in (1, 2))
        return min(a[0], b[0]), max(a[1], b[1])
    if term.is_bv_zext():
        bits = term.arg(0).bv_width()
        return interval(term.arg(0), IntType("", bits, False, 0), depth)
    if term.is_bv_sext() and ctype.signed:
        return interval(term.arg(0), IntType("", term.arg(0).bv_width(), True, 0), depth)
    if term.is_bv_and():
        return _and_interval(term, ctype, depth)
    if term.is_bv_add() or term.is_bv_sub() or term.is_bv_mul():
        a, b = (interval(term.arg(i), ctype, depth) for i in (0, 1))
        if term.is_bv_add():
            return a[0] + b[0], a[1] + b[1]
        if term.is_bv_sub():
            return a[0] - b[1], a[1] - b[0]
        products = [x * y for x in a for y in b]
        return min(products), max(products)
    if (term.is_bv_srem() if ctype.signed else term.is_bv_urem()) and term.arg(1).is_constant():
        size = abs(number(term.arg(1), ctype.signed)) - 1
        low, high = interval(term.arg(0), ctype, depth)
        return (max(-size, low) if low < 0 else 0, min(size, high) if high >= 0 else 0) if size >= 0 else None
    return None


def _and_interval(term: FNode, ctype: IntType, depth: int) -> tuple[int, int] | None:
    bounds = [interval(arg, ctype, depth) for arg in term.args()]
    upper = [high for low, high in bounds if low >= 0]
    return (0, min(upper)) if upper else None
