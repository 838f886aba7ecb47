"""Which floating values a tool tries: plain ones, because people read them, and random ones that programs tell apart.

Uniform patterns are mostly huge or tiny: random values are whole and simple numbers, numbers near constants of the
program, numbers spread evenly between bounds, the bounds themselves and any pattern, in turns.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

import pysmt.operators as op
from pysmt.fnode import FNode

from bmc.floats.format import FORMATS, Format, number, pattern
from bmc.floats.operations import operation_of
from bmc.floats.ranges import values_in
from bmc.formulas.value_sets import Ranges, contains

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


FEW = 300
"""Up to so many values are drawn evenly."""
PLAIN_MAGNITUDES = (1e-6, 1e9)
"""A bit-vector constant that reads as a number in between is taken for one of the program's."""
SPREAD = 1000.0
"""Numbers are spread evenly up to this magnitude (half of the time; else up to the bound itself)."""
ATTEMPTS = 16
"""Draws of a value, or of the inputs of a step, until they are allowed. With twice as many, fewer runs end early where
few inputs are allowed, and drawing takes up to twice as long there."""
_STEPS = (1.0, 1.0, 0.5, 0.1, 0.25, 10.0)


class FloatSamples:
    """Draws patterns of ``form``; ``near`` are patterns of constants. Repeatable for the same state of ``source``."""

    def __init__(self, form: Format, near: Sequence[int], source: random.Random) -> None:
        self._form = form
        self._near = near
        self._random = source

    def draw(self, ranges: Iterable[tuple[int, int]]) -> int:
        """A pattern in ``ranges`` (over raw patterns), of which at least one must be a number or the canonical NaN."""
        parts = values_in(ranges, self._form)
        if sum(high - low + 1 for low, high in parts) > FEW:
            for _ in range(ATTEMPTS):
                raw = self._candidate(parts)
                if contains(parts, raw):
                    return raw
        low, high = self._random.choice(parts)
        return self._random.randint(low, high)

    def _candidate(self, parts: Ranges) -> int:
        """A pattern, in ``parts`` or not."""
        kind = self._random.random()
        if kind < 0.1:
            return self._random.choice(self._random.choice(parts))
        if kind < 0.15:
            return self._random.randint(*self._random.choice(parts))
        if kind < 0.45:
            return pattern(self._random.choice(_STEPS) * self._random.randint(-4, 16), self._form)
        if kind < 0.7 and self._near:
            constant = self._random.choice(self._near)
            if self._random.random() < 0.5:
                return constant + self._random.randint(-1, 1)
            return pattern(number(constant, self._form) + self._random.choice((-1.0, -0.5, 0.5, 1.0)), self._form)
        return self._between(self._random.choice(parts))

    def _between(self, part: tuple[int, int]) -> int:
        """A number spread evenly over a part of the number line."""
        one, other = number(part[0], self._form), number(part[1], self._form)
        if self._random.random() < 0.5 or abs(other) == float("inf"):
            most = max(SPREAD, 2 * abs(one))
            other = min(max(other, -most), most)
        return pattern(one + (other - one) * self._random.random(), self._form)


def constants_in(formulas: Iterable[FNode], form: Format) -> tuple[int, ...]:
    """The bit-vector constants in ``formulas`` that can be floating constants of the program: patterns, rising."""
    found: set[int] = set()
    seen: set[FNode] = set()
    todo = list(formulas)
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        todo.extend(node.args())
        if node.is_bv_constant() and node.bv_width() == form.bits:
            raw = int(node.bv_unsigned_value())
            least, greatest = PLAIN_MAGNITUDES
            if least <= abs(number(raw, form)) <= greatest:
                found.add(raw)
    return tuple(sorted(found))


def borders(terms: Mapping[FNode, FNode]) -> set[int] | None:
    """The patterns from which on a comparison with a constant in ``terms`` may turn out otherwise.

    Each term comes with the symbol of which it speaks. None if one reads its symbol in any other way.
    """
    found: set[int] = set()
    for term, symbol in terms.items():
        found |= {0, 1 << max(int(symbol.bv_width()) - 1, 0)}
        todo, seen = [term], {term}
        while todo:
            node = todo.pop()
            if node is symbol:
                return None
            floating = operation_of(node)
            arguments = node.args() if floating is None else floating.operands
            compared = _compared(node, arguments, symbol)
            found |= compared or set()
            fresh = [a for a in arguments if compared is None and a not in seen]
            seen.update(fresh)
            todo += fresh
    return found


_COMPARISONS = (op.EQUALS, op.BV_ULT, op.BV_ULE, op.BV_SLT, op.BV_SLE, op.BV_COMP)
_FLOAT_COMPARISONS = ("equal", "less", "less_equal")


def _compared(node: FNode, arguments: Sequence[FNode], symbol: FNode) -> set[int] | None:
    """The borders of a comparison of ``symbol``, perhaps extended, with a constant; None for anything else."""
    floating = operation_of(node)
    if floating is not None and floating.name in _FLOAT_COMPARISONS and floating.form in FORMATS.values():
        form, special = floating.form, floating.form.infinity + 1
        found = {0, 1, form.sign, form.sign + 1, special, form.sign | special}
    elif node.node_type() in _COMPARISONS:
        found = set()
    else:
        return None
    for one, other in product(arguments, repeat=2):
        if one.is_constant() and (other.arg(0) if other.is_bv_zext() or other.is_bv_sext() else other) is symbol:
            wrap = 1 << int(symbol.bv_width())
            value = int(one.constant_value())
            return found | {value % wrap, (value + 1) % wrap}
    return None
