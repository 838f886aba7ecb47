"""Intervals of bit-vector terms: they show that most arithmetic cannot overflow, so that no check is needed."""

from __future__ import annotations

from pysmt.fnode import FNode

from bmc.c.source.types import IntType
from bmc.formulas.terms import number

_DEPTH = 24
_INTERVALS: dict[tuple[FNode, bool], tuple[int, int]] = {}


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
