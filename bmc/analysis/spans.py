"""The values of a variable as spans: from one number to another, in the order of the variable's type.

A set of raw patterns (``bmc.formulas.value_sets``) has other neighbours: -1 lies beside 0, and so does 1.5 beside 1.0.
"""

from __future__ import annotations

from collections.abc import Iterable

from bmc.floats.format import FORMATS, Format, is_nan, number
from bmc.floats.ranges import between, values_in
from bmc.formulas.value_sets import Ranges, united
from bmc.system.transition import StateVariable, ValueType

Span = tuple[int, int]
"""The least and the greatest of neighbouring values: numbers, or of a floating type their patterns."""


def spans_of(var: StateVariable, ranges: Iterable[tuple[int, int]]) -> tuple[Span, ...]:
    """The values of ``var`` with raw patterns in the inclusive ``ranges``, as few rising spans.

    Of a floating type with both zeros where there is one, and NaN (one stands for all) as the last.
    """
    parts = _numbers(ranges, FORMATS[var.type.bits]) if var.type.floating else _integers(var, ranges)
    joined: list[Span] = []
    nan = False
    for low, high in parts:
        if var.type.floating and is_nan(low, FORMATS[var.type.bits]):
            nan = True
        elif joined and _touches(var.type, joined[-1][1], low):
            joined[-1] = (joined[-1][0], max(joined[-1][1], high, key=lambda value: in_order(var.type, value)))
        else:
            joined.append((low, high))
    return (*joined, *([(FORMATS[var.type.bits].nan,) * 2] if nan else []))


def patterns_of(var: StateVariable, spans: Iterable[Span]) -> tuple[tuple[int, int], ...]:
    """The raw patterns of the values in ``spans``, as inclusive ranges; of NaN every one."""
    size = 1 << max(var.type.bits, 1)
    found: list[tuple[int, int]] = []
    for low, high in spans:
        if var.type.floating:
            form = FORMATS[var.type.bits]
            found += _all_nans(form) if is_nan(low, form) else between(low, high, form)
        else:
            found += [(low % size, high % size)] if low % size <= high % size else [(low % size, size - 1), (0, high)]
    return tuple(found)


def in_order(kind: ValueType, value: int) -> float:
    """The number that a value of a span stands for."""
    return number(value, FORMATS[kind.bits]) if kind.floating else value


def closed(var: StateVariable, ranges: Iterable[tuple[int, int]]) -> Ranges:
    """``ranges`` with all patterns of the values in it."""
    found = united(ranges)
    while var.type.floating:
        again = united([*found, *patterns_of(var, spans_of(var, found))])
        if again == found:
            break
        found = again
    return found


def _integers(var: StateVariable, ranges: Iterable[tuple[int, int]]) -> list[Span]:
    half, size = var.type.greatest + 1, 1 << max(var.type.bits, 1)
    if not var.type.signed or not var.type.bits:
        return sorted(ranges)
    found = []
    for low, high in ranges:
        found += [(low, min(high, half - 1))] if low < half else []
        found += [(max(low, half) - size, high - size)] if high >= half else []
    return sorted(found)


def _numbers(ranges: Iterable[tuple[int, int]], form: Format) -> list[Span]:
    """Spans of numbers, rising, and NaN last."""
    found, nan = [], False
    for low, high in ranges:
        nan = nan or any(max(low, first) <= min(high, last) for first, last in _all_nans(form))
        for least, greatest in values_in([(low, high)], form):
            if not is_nan(least, form):
                ends = (greatest, least) if least >= form.sign else (least, greatest)
                found.append((ends[0] % form.sign and ends[0], ends[1] % form.sign and ends[1]))
    return [*sorted(found, key=lambda span: number(span[0], form)), *([(form.nan, form.nan)] if nan else [])]


def _all_nans(form: Format) -> tuple[tuple[int, int], tuple[int, int]]:
    return (form.infinity + 1, form.sign - 1), ((form.sign | form.infinity) + 1, 2 * form.sign - 1)


def _touches(kind: ValueType, before: int, after: int) -> bool:
    """Whether a span that begins with ``after`` goes on where one up to ``before`` ends."""
    if kind.floating:
        return in_order(kind, after) <= in_order(kind, before)
    return after <= before + 1
