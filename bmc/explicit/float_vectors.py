"""Floating operations on columns of raw patterns by the processor's own arithmetic, bit by bit as the circuits do.

IEEE-754 leaves one choice: which NaN results. Here, as everywhere, it is the canonical one. The conversion to integers
is left to its circuit, whose value is told also where C leaves it undefined.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bmc.floats.format import FLOAT32, FLOAT64, Format
from bmc.floats.operations import Kind, Operation

Column = np.ndarray[Any, np.dtype[Any]]
Vector = Callable[..., Column]

_FLOATS = {32: np.float32, 64: np.float64}

BINARY: dict[str, Vector] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "remainder": np.fmod,
}
COMPARISONS: dict[str, Vector] = {"equal": np.equal, "less": np.less, "less_equal": np.less_equal}


def _half_away(x: Column) -> Column:
    whole = np.trunc(x)
    up = np.abs(x - whole) >= 0.5
    return np.where(up, whole + np.copysign(x.dtype.type(1), x), whole)


UNARY: dict[str, Vector] = {
    "root": np.sqrt,
    "floor": np.floor,
    "ceiling": np.ceil,
    "truncate": np.trunc,
    "round_half_even": np.rint,
    "round_half_away": _half_away,
}


def vector_operation(operation: Operation | Kind) -> Vector | None:
    """From columns of the operands' raw patterns to that of the result; None where only the circuit will do."""
    forms = [operation.form] if operation.to_form is None else [operation.form, operation.to_form]
    if not all(form in (FLOAT32, FLOAT64) for form in forms):
        return None
    name, form = operation.name, operation.form
    if name in BINARY:
        return _arithmetic(BINARY[name], form)
    if name in UNARY:
        return _arithmetic(UNARY[name], form)
    if name in COMPARISONS:
        return _comparison(COMPARISONS[name], form)
    if name in ("fmin", "fmax"):
        return _selecting(name == "fmin", form)
    if name in ("negate", "absolute"):
        return _sign(name == "negate", form)
    if name == "resize":
        return _resized(operation)
    if name == "from_int" and operation.bits <= 64:
        return _from_int(operation)
    return None


def _numbers(raw: Column, form: Format) -> Column:
    return np.ascontiguousarray(raw).view(_FLOATS[form.bits])


def _patterns(values: Column, form: Format) -> Column:
    kind = _word(form)
    return np.where(np.isnan(values), kind(form.nan), np.ascontiguousarray(values).view(kind))


def _word(form: Format) -> type[np.uint32] | type[np.uint64]:
    return np.uint32 if form.bits == 32 else np.uint64


def _arithmetic(function: Vector, form: Format) -> Vector:
    def compute(*raw: Column) -> Column:
        with np.errstate(all="ignore"):
            return _patterns(function(*(_numbers(column, form) for column in raw)), form)

    return compute


def _comparison(function: Vector, form: Format) -> Vector:
    def compute(a: Column, b: Column) -> Column:
        with np.errstate(all="ignore"):
            found: Column = function(_numbers(a, form), _numbers(b, form))
            return found

    return compute


def _selecting(lesser: bool, form: Format) -> Vector:
    def compute(a: Column, b: Column) -> Column:
        with np.errstate(all="ignore"):
            x, y = _numbers(a, form), _numbers(b, form)
            first = (np.isnan(y) & ~np.isnan(x)) | ((x < y) if lesser else (y < x))
            return _patterns(_numbers(np.where(first, a, b), form), form)

    return compute


def _sign(negate: bool, form: Format) -> Vector:
    sign = _word(form)(form.sign)

    def compute(a: Column) -> Column:
        raw = a ^ sign if negate else a & ~sign
        return _patterns(_numbers(raw, form), form)

    return compute


def _resized(operation: Operation | Kind) -> Vector:
    form, to_form = operation.form, operation.to_form
    assert to_form is not None

    def compute(a: Column) -> Column:
        with np.errstate(all="ignore"):
            return _patterns(_numbers(a, form).astype(_FLOATS[to_form.bits]), to_form)

    return compute


def _from_int(operation: Operation | Kind) -> Vector:
    form, bits, signed = operation.form, operation.bits, operation.signed

    def compute(a: Column) -> Column:
        wide = a.astype(np.uint64)
        if signed:
            top = np.uint64(1 << (bits - 1))
            return _patterns(((wide ^ top) - top).view(np.int64).astype(_FLOATS[form.bits]), form)
        return _patterns(wide.astype(_FLOATS[form.bits]), form)

    return compute
