"""Random floating values that programs are likely to tell apart.

Uniform patterns are mostly huge or tiny: here whole and simple numbers, numbers near constants of the program, numbers
spread evenly between bounds, the bounds themselves and any pattern take turns.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from pysmt.fnode import FNode

from bmc.floats.format import Format, number, pattern
from bmc.floats.ranges import Ranges, contains, values_in

FEW = 300
"""Up to so many values are drawn evenly."""
PLAIN_MAGNITUDES = (1e-6, 1e9)
"""A bit-vector constant that reads as a number in between is taken for one of the program's."""
SPREAD = 1000.0
"""Numbers are spread evenly up to this magnitude (half of the time; else up to the bound itself)."""
_ATTEMPTS = 20
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
            for _ in range(_ATTEMPTS):
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
