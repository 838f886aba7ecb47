"""Integer arithmetic with exact C11 semantics on bit-vectors; undefined behaviour is told to a callback."""

from __future__ import annotations

from collections.abc import Callable

from pysmt.fnode import FNode
from pysmt.shortcuts import (
    BVSLT,
    BVULT,
    FALSE,
    BVAdd,
    BVAnd,
    BVAShr,
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
    Iff,
)

from bmc.formulas.terms import (
    both,
    choose,
    constant,
    equals,
    folded,
    is_constant,
    is_constant_choice,
    negate,
    number,
)
from bmc.models.c.execute.memory import Value
from bmc.models.c.source.types import DataModel, IntType, common_type, promote

Undefined = Callable[[str, FNode], None]
"""Called with the kind of undefined behaviour and when it happens."""

COMPARISONS = ("==", "!=", "<", ">", "<=", ">=")


def convert(value: Value, ctype: IntType) -> Value:
    """Integer conversion (C11 6.3.1.2, 6.3.1.3): to _Bool by comparison with 0, else modulo the width."""
    assert isinstance(value.ctype, IntType)
    if ctype.is_bool:
        if value.ctype.is_bool:
            return Value(_resize(value.bits, value.ctype, ctype.bits), ctype)
        return from_condition(truth(value), ctype)
    return Value(_resize(value.bits, value.ctype, ctype.bits), ctype)


def _resize(term: FNode, ctype: IntType, bits: int) -> FNode:
    if bits == ctype.bits:
        return term
    if is_constant_choice(term):
        return choose(term.arg(0), _resize(term.arg(1), ctype, bits), _resize(term.arg(2), ctype, bits))
    if bits < ctype.bits:
        if (term.is_bv_zext() or term.is_bv_sext()) and term.arg(0).bv_width() >= bits:
            inner = term.arg(0)
            return inner if inner.bv_width() == bits else folded(BVExtract(inner, 0, bits - 1))
        return folded(BVExtract(term, 0, bits - 1))
    extend = BVSExt if ctype.signed else BVZExt
    return folded(extend(term, bits - ctype.bits))


def truth(value: Value) -> FNode:
    """When an integer is nonzero."""
    assert isinstance(value.ctype, IntType)
    term = value.bits
    while term.is_bv_zext() or term.is_bv_sext():
        term = term.arg(0)
    return negate(equals(term, constant(0, term.bv_width())))


def from_condition(condition: FNode, ctype: IntType) -> Value:
    """1 where ``condition`` holds, else 0."""
    return Value(choose(condition, constant(1, ctype.bits), constant(0, ctype.bits)), ctype)


def unary(op: str, value: Value, model: DataModel, undefined: Undefined) -> Value:
    """``+ - ~`` on an integer."""
    assert isinstance(value.ctype, IntType)
    value = convert(value, promote(value.ctype, model))
    ctype = value.ctype
    assert isinstance(ctype, IntType)
    if op == "-":
        if ctype.signed:
            undefined("signed overflow in negation", equals(value.bits, constant(ctype.least, ctype.bits)))
        return Value(folded(BVNeg(value.bits)), ctype)
    return Value(folded(BVNot(value.bits)), ctype) if op == "~" else value


def binary(op: str, left: Value, right: Value, model: DataModel, undefined: Undefined) -> Value:
    """Any binary operator on two integers except ``&& || ,``."""
    assert isinstance(left.ctype, IntType)
    assert isinstance(right.ctype, IntType)
    if op in ("<<", ">>"):
        return _shift(op, left, right, model, undefined)
    ctype = common_type(left.ctype, right.ctype, model)
    a, b = convert(left, ctype).bits, convert(right, ctype).bits
    if op in COMPARISONS:
        return from_condition(compare(op, a, b, ctype), model.int_type)
    if op in ("/", "%"):
        return _divide(op, a, b, ctype, undefined)
    if op in ("+", "-", "*"):
        return _sum_or_product(op, a, b, ctype, undefined)
    return Value(folded({"&": BVAnd, "|": BVOr, "^": BVXor}[op](a, b)), ctype)


def compare(op: str, a: FNode, b: FNode, ctype: IntType) -> FNode:
    """A comparison of two terms of one type."""
    if op == "==":
        return equals(a, b)
    if op == "!=":
        return negate(equals(a, b))
    if op in (">", "<="):
        less = _less(b, a, ctype)
        return less if op == ">" else negate(less)
    less = _less(a, b, ctype)
    return less if op == "<" else negate(less)


def _less(a: FNode, b: FNode, ctype: IntType) -> FNode:
    (low_a, high_a), (low_b, high_b) = interval(a, ctype), interval(b, ctype)
    if low_a >= high_b:
        return FALSE()
    if high_a < low_b:
        return negate(FALSE())
    if is_constant(b) and is_constant_choice(a):
        return choose(a.arg(0), _less(a.arg(1), b, ctype), _less(a.arg(2), b, ctype))
    return folded((BVSLT if ctype.signed else BVULT)(a, b))


def _sum_or_product(op: str, a: FNode, b: FNode, ctype: IntType, undefined: Undefined) -> Value:
    result = folded({"+": BVAdd, "-": BVSub, "*": BVMul}[op](a, b))
    if ctype.signed and not _fits(op, a, b, ctype):
        undefined(f"signed overflow in '{op}'", _overflow(op, a, b, result, ctype))
    return Value(result, ctype)


def _fits(op: str, a: FNode, b: FNode, ctype: IntType) -> bool:
    (low_a, high_a), (low_b, high_b) = interval(a, ctype), interval(b, ctype)
    if op == "+":
        low, high = low_a + low_b, high_a + high_b
    elif op == "-":
        low, high = low_a - high_b, high_a - low_b
    else:
        products = [x * y for x in (low_a, high_a) for y in (low_b, high_b)]
        low, high = min(products), max(products)
    return ctype.least <= low and high <= ctype.greatest


def _overflow(op: str, a: FNode, b: FNode, result: FNode, ctype: IntType) -> FNode:
    zero = constant(0, ctype.bits)
    if op == "*":
        wide = folded(BVMul(folded(BVSExt(a, ctype.bits)), folded(BVSExt(b, ctype.bits))))
        return negate(equals(wide, folded(BVSExt(result, ctype.bits))))
    sign_a, sign_b, sign = (_negative(t, zero) for t in (a, b, result))
    if op == "-":
        sign_b = negate(sign_b)
    return both(Iff(sign_a, sign_b).simplify(), negate(Iff(sign_a, sign).simplify()))


def _negative(term: FNode, zero: FNode) -> FNode:
    return folded(BVSLT(term, zero))


def _divide(op: str, a: FNode, b: FNode, ctype: IntType, undefined: Undefined) -> Value:
    low, high = interval(b, ctype)
    if low <= 0 <= high:
        undefined(f"division by zero in '{op}'", equals(b, constant(0, ctype.bits)))
    if ctype.signed and low <= -1 <= high and interval(a, ctype)[0] == ctype.least:
        least = equals(a, constant(ctype.least, ctype.bits))
        undefined(f"signed overflow in '{op}'", both(least, equals(b, constant(-1, ctype.bits))))
    operators = {("/", True): BVSDiv, ("%", True): BVSRem, ("/", False): BVUDiv, ("%", False): BVURem}
    return Value(folded(operators[op, ctype.signed](a, b)), ctype)


def _shift(op: str, left: Value, right: Value, model: DataModel, undefined: Undefined) -> Value:
    """A shift with gcc's meaning: of negative numbers too, and bits that leave a signed number are lost."""
    assert isinstance(left.ctype, IntType)
    assert isinstance(right.ctype, IntType)
    ctype, count = promote(left.ctype, model), promote(right.ctype, model)
    a, amount = convert(left, ctype).bits, convert(right, count).bits
    low, high = interval(amount, count)
    if low < 0 or high >= ctype.bits:
        inside = both(
            negate(compare("<", amount, constant(0, count.bits), count)) if count.signed else negate(FALSE()),
            compare("<", amount, constant(ctype.bits, count.bits), count),
        )
        undefined(f"shift by a negative or too large amount in '{op}'", negate(inside))
    b = _resize(amount, count, ctype.bits)
    if op == ">>":
        return Value(folded((BVAShr if ctype.signed else BVLShr)(a, b)), ctype)
    return Value(folded(BVLShl(a, b)), ctype)


def in_range(index: Value, least: int, end: int) -> FNode:
    """Whether least <= index < end (least is at most 0)."""
    ctype = index.ctype
    assert isinstance(ctype, IntType)
    low, high = interval(index.bits, ctype)
    inside = negate(FALSE())
    if low < least:
        inside = both(inside, compare(">=", index.bits, constant(least, ctype.bits), ctype))
    if high >= end:
        if end <= low:
            return FALSE()
        inside = both(inside, compare("<", index.bits, constant(end, ctype.bits), ctype))
    return inside


def constant_value(value: Value) -> int | None:
    """The number, where the value is a constant."""
    assert isinstance(value.ctype, IntType)
    return number(value.bits, value.ctype.signed) if is_constant(value.bits) else None


_DEPTH = 24
"""Terms below terms that are looked at for bounds; deeper ones have those of their type. Twice as many: fewer checks of
overflow in long expressions, and more time for each of them."""
_INTERVALS: dict[tuple[FNode, bool], tuple[int, int]] = {}


def forget_intervals() -> None:
    """Drop the remembered intervals, which keep the terms of earlier models alive."""
    _INTERVALS.clear()


def interval(term: FNode, ctype: IntType, depth: int = _DEPTH) -> tuple[int, int]:
    """Bounds (least, greatest) of a term of integer type ``ctype``; sound, not tight.

    They show that most arithmetic cannot overflow, so that no check is needed.
    """
    full = (ctype.least, (1 << ctype.bits) - 1 if ctype.is_bool else ctype.greatest)
    if is_constant(term):
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
