"""Floating values ordered by how plain they are: whole and round numbers first, then those with few significant bits.

Values that a tool chooses are read by people: 13.0 says more than 12.500000000000002 where both will do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bmc.floats.format import Format, pattern
from bmc.floats.ranges import Ranges, contains, values_in

ROUND = (
    *(0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0),
    *(20.0, 50.0, 100.0, 200.0, 500.0, 1e3, 2e3, 5e3, 1e4, 1e5, 1e6),
    *(0.5, 0.25, 0.75, 0.1, 0.01, 0.001),
)
"""The plainest numbers; the negative ones come after them."""
SIGNIFICANT = (4, 6, 8, 10, 12, 16, 20, 24, 32, 40)
"""Numbers with so many bits after the leading one come before those with more."""
USUAL = (2.0**-10, 2.0**20)
"""Magnitudes that come before smaller and larger ones."""


def plainest_first(ranges: Iterable[tuple[int, int]], form: Format) -> tuple[range, ...]:
    """All numbers in ``ranges`` (over patterns) and the canonical NaN, as pieces of which the first is the plainest.

    Steps within pieces are powers of two; within a piece the smallest magnitude is first. Pieces may overlap: what
    counts is the first that holds a pattern.
    """
    parts = values_in(ranges, form)
    single = (range(raw, raw + 1) for raw in _round_numbers(form) if contains(parts, raw))
    return (*single, *_pieces(parts, form))


def _round_numbers(form: Format) -> Iterator[int]:
    yield from (pattern(number, form) for number in ROUND)
    yield from (pattern(-number, form) for number in ROUND if number)


def _pieces(parts: Ranges, form: Format) -> Iterator[range]:
    """Usual magnitudes, then all, by the number of significant bits; at the end -0, the infinities, NaN."""
    finite = (0, form.infinity - 1)
    for least, greatest in ((pattern(USUAL[0], form), pattern(USUAL[1], form)), finite):
        for kept in (*(bits for bits in SIGNIFICANT if bits < form.fraction), form.fraction):
            for sign in (0, form.sign):
                yield from _cut(parts, max(sign | least, sign + 1), sign | greatest, 1 << (form.fraction - kept))
    for raw in (form.sign, form.infinity, form.sign | form.infinity, form.nan):
        yield from _cut(parts, raw, raw, 1)


def _cut(parts: Ranges, least: int, greatest: int, step: int) -> Iterator[range]:
    """What of ``parts`` lies between two patterns, without those that are no multiple of ``step``."""
    for low, high in parts:
        first = -(-max(low, least) // step) * step
        piece = range(first, min(high, greatest) + 1, step)
        if piece:
            yield piece
