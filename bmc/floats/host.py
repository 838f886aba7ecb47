"""The operations on raw patterns, by host arithmetic: what the circuits compute, without them.

For searches that try many values; results are checked on the circuits before they are told.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from bmc.floats.format import FLOAT64, Format, canonical, nearest, number, pattern
from bmc.floats.operations import Kind, Operation

Compute = Callable[[Sequence[int]], int]

BINARY: dict[str, Callable[[float, float], float]] = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y if y else _by_zero(x, y),
    "remainder": lambda x, y: math.fmod(x, y) if y and not math.isinf(x) else math.nan,
}
"""On Python floats, rounded once more for a narrower format: see ``bmc.floats.arithmetic``."""
COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "equal": lambda x, y: x == y,
    "less": lambda x, y: x < y,
    "less_equal": lambda x, y: x <= y,
}
UNARY: dict[str, Callable[[float], float]] = {
    "root": lambda x: math.sqrt(x) if x >= 0 else math.nan,
    "floor": lambda x: _whole(math.floor, x),
    "ceiling": lambda x: _whole(math.ceil, x),
    "truncate": lambda x: _whole(math.trunc, x),
    "round_half_even": lambda x: _whole(round, x),
    "round_half_away": lambda x: _whole(_half_away, x),
}


def computing(kind: Kind | Operation) -> Compute:
    """From the raw patterns of the operands to that of the result (Booleans 0/1)."""
    name, form = kind.name, kind.form
    if name in BINARY:
        binary = BINARY[name]
        return lambda raw: pattern(binary(number(raw[0], form), number(raw[1], form)), form)
    if name in COMPARISONS:
        test = COMPARISONS[name]
        return lambda raw: int(test(number(raw[0], form), number(raw[1], form)))
    if name in UNARY:
        unary = UNARY[name]
        return lambda raw: pattern(unary(number(raw[0], form)), form)
    if name in ("fmin", "fmax"):
        return _selecting(name == "fmin", form)
    if name == "negate":
        return lambda raw: canonical(raw[0] ^ form.sign, form)
    if name == "absolute":
        return lambda raw: canonical(raw[0] & ~form.sign, form)
    if name == "resize":
        to_form = kind.to_form
        assert to_form is not None
        return lambda raw: pattern(number(raw[0], form), to_form)
    return _from_int(kind) if name == "from_int" else _to_int(kind)


def _from_int(kind: Kind | Operation) -> Compute:
    form, top = kind.form, 1 << (kind.bits - 1) if kind.signed else 0
    if form == FLOAT64 and kind.bits <= 53:
        return lambda raw: pattern(float((raw[0] ^ top) - top), form)
    return lambda raw: nearest((raw[0] ^ top) - top, form)


def _to_int(kind: Kind | Operation) -> Compute:
    """Some value where the conversion is not defined."""
    form, mask = kind.form, (1 << kind.bits) - 1

    def compute(raw: Sequence[int]) -> int:
        value = number(raw[0], form)
        return math.trunc(value) & mask if math.isfinite(value) else 0

    return compute


def _selecting(lesser: bool, form: Format) -> Compute:
    def compute(raw: Sequence[int]) -> int:
        x, y = number(raw[0], form), number(raw[1], form)
        first = (math.isnan(y) and not math.isnan(x)) or (x < y if lesser else y < x)
        return canonical(raw[0] if first else raw[1], form)

    return compute


def _by_zero(x: float, y: float) -> float:
    if x == 0 or math.isnan(x) or math.isnan(y):
        return math.nan
    return math.copysign(math.inf, x) * math.copysign(1.0, y)


def _half_away(x: float) -> int:
    whole = math.trunc(x)
    return whole + int(math.copysign(1, x)) if abs(x - whole) >= 0.5 else whole


def _whole(rounded: Callable[[float], int], x: float) -> float:
    return math.copysign(float(rounded(x)), x) if math.isfinite(x) else x
