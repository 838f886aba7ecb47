"""Sets of floating values as inclusive ranges over raw patterns, which rise with the magnitude on each side of zero."""

from __future__ import annotations

from collections.abc import Iterable

from bmc.floats.format import Format, is_nan, number, show

Ranges = tuple[tuple[int, int], ...]


def joined(pieces: Iterable[tuple[int, int]]) -> Ranges:
    """The union of inclusive ranges, rising; adjacent ones are one."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(pieces):
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(high, found[-1][1]))
        else:
            found.append((low, high))
    return tuple(found)


def every(form: Format) -> Ranges:
    """All values: 0 to infinity, the canonical NaN, -0 to minus infinity."""
    return ((0, form.infinity), (form.nan, form.nan), (form.sign, form.sign | form.infinity))


def between(low: int, high: int, form: Format) -> Ranges:
    """The numbers from ``low`` to ``high`` (patterns), with both zeros if zero lies between; () if there are none."""
    least, greatest = number(low, form), number(high, form)
    if not least <= greatest:
        return ()
    found = []
    if greatest >= 0:
        found.append((low if least > 0 else 0, 0 if greatest == 0 else high))
    if least <= 0:
        found.append((high if greatest < 0 else form.sign, form.sign if least == 0 else low))
    return tuple(found)


def values_in(ranges: Iterable[tuple[int, int]], form: Format) -> Ranges:
    """``ranges`` cut into pieces that lie on one side of zero, without NaNs but the canonical one."""
    return tuple(
        (max(low, first), min(high, last))
        for low, high in ranges
        for first, last in every(form)
        if max(low, first) <= min(high, last)
    )


def contains(ranges: Iterable[tuple[int, int]], raw: int) -> bool:
    """Whether ``raw`` lies in one of ``ranges``."""
    return any(low <= raw <= high for low, high in ranges)


def show_ranges(ranges: Iterable[tuple[int, int]], form: Format) -> str:
    """``ranges`` as numbers, rising, NaN last: ``-inf..inf, nan``, ``-5.0..5.0, 7.5``; both zeros as ``0.0``."""
    parts = values_in(ranges, form)
    negative = [(high, low) for low, high in parts if low >= form.sign]
    positive = [part for part in parts if part[0] <= form.infinity]
    rising = sorted(negative, reverse=True) + sorted(positive)
    joined: list[tuple[int, int]] = []
    for least, greatest in rising:
        if joined and joined[-1][1] == form.sign and least == 0:
            joined[-1] = (joined[-1][0], greatest)
        else:
            joined.append((least, greatest))
    texts = [_show_range(least, greatest, form) for least, greatest in joined]
    return ", ".join(texts + ["nan"] * any(is_nan(low, form) for low, _ in parts))


def _show_range(least: int, greatest: int, form: Format) -> str:
    both_zeros = least == form.sign != greatest
    first, last = show(0 if both_zeros else least, form), show(greatest, form)
    return first if first == last else f"{first}..{last}"
