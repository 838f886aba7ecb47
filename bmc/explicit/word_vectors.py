"""Operators on columns that numpy does otherwise than SMT-LIB: division, shifts by the width or more."""

from __future__ import annotations

from typing import Any

import numpy as np

Column = np.ndarray[Any, np.dtype[Any]]


def _cut(values: Column, bits: int) -> Column:
    """``values`` modulo 2 ** ``bits``."""
    if bits in (8, 16, 32, 64):
        return values
    return values & _one((1 << bits) - 1, values)


def _one(value: int, like: Column) -> Column:
    """A column of one value, of the type of ``like``."""
    return np.array([value], like.dtype)


def _divisor(b: Column, zero: Column) -> Column:
    """``b`` with 1 in place of 0."""
    return b + zero.astype(b.dtype) if b.dtype != object else b + zero


def unsigned_quotient(a: Column, b: Column, bits: int) -> Column:
    """``bvudiv``: all ones for a divisor of 0."""
    zero = b == 0
    return np.where(zero, _one((1 << bits) - 1, a), a // _divisor(b, zero))


def unsigned_remainder(a: Column, b: Column, bits: int) -> Column:
    """``bvurem``: the dividend for a divisor of 0."""
    zero = b == 0
    return np.where(zero, a, a % _divisor(b, zero))


def _magnitude(a: Column, bits: int) -> tuple[Column, Column]:
    """Whether each value is negative, and its absolute value."""
    negative = (a >> _one(bits - 1, a)) != 0
    return negative, np.where(negative, _cut(_one(0, a) - a, bits), a)


def signed_quotient(a: Column, b: Column, bits: int) -> Column:
    """``bvsdiv``: rounds to zero; x / 0 is 1 for x < 0, else -1."""
    (below, size), (under, divisor) = _magnitude(a, bits), _magnitude(b, bits)
    zero = b == 0
    quotient = size // _divisor(divisor, zero)
    signed = np.where(below != under, _cut(_one(0, a) - quotient, bits), quotient)
    return np.where(zero, np.where(below, _one(1, a), _one((1 << bits) - 1, a)), signed)


def signed_remainder(a: Column, b: Column, bits: int) -> Column:
    """``bvsrem``: the sign of the dividend; x rem 0 is x."""
    (below, size), (_, divisor) = _magnitude(a, bits), _magnitude(b, bits)
    zero = b == 0
    rest = size % _divisor(divisor, zero)
    return np.where(zero, a, np.where(below, _cut(_one(0, a) - rest, bits), rest))


def shift_left(a: Column, b: Column, bits: int) -> Column:
    """``bvshl``, not cut to the width."""
    less = b < bits
    return np.where(less, a << np.where(less, b, _one(0, b)), _one(0, a))


def shift_right(a: Column, b: Column, bits: int) -> Column:
    """``bvlshr``."""
    less = b < bits
    return np.where(less, a >> np.where(less, b, _one(0, b)), _one(0, a))


def shift_right_signed(a: Column, b: Column, bits: int) -> Column:
    """``bvashr``."""
    by = np.minimum(b, _one(bits - 1, b))
    top = _one(1 << (bits - 1), a)
    if a.dtype == object:
        return _cut(((a ^ top) - top) >> by, bits)
    kind = np.dtype(f"i{a.dtype.itemsize}")
    return _cut((((a ^ top) - top).view(kind) >> by.view(kind)).view(a.dtype), bits)


FUNCTIONS: dict[str, Any] = {
    "where": np.where,
    "k_byte": np.uint8,
    "unsigned_quotient": unsigned_quotient,
    "unsigned_remainder": unsigned_remainder,
    "signed_quotient": signed_quotient,
    "signed_remainder": signed_remainder,
    "shift_left": shift_left,
    "shift_right": shift_right,
    "shift_right_signed": shift_right_signed,
}
"""What the source of compiled formulas may name."""
