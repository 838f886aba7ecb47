"""Sets of floating values as inclusive ranges over raw patterns, and what the operations make of them.

Patterns rise with the magnitude on each side of zero. Rounding to nearest keeps the order of numbers, so that an
operation on the ends of two intervals gives the ends of the result: sound, not tight.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise, product

from bmc.floats.format import Format, is_nan, number, pattern, show
from bmc.floats.operations import BINARY, COMPARISONS, UNARY, Kind, Operation, computing
from bmc.formulas.value_sets import BOTH, Ranges, common, joined, pointwise, united, whole

KEPT = 4096
"""Results that are kept: runs of a program ask for the same ones again and again."""


@lru_cache
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


Interval = tuple[float, float]


def applied(operation: Operation, operands: Sequence[Ranges]) -> Ranges:
    """A set that holds every result of ``operation`` on members of ``operands``."""
    return _applied(operation.kind, tuple(operands))


@lru_cache(maxsize=KEPT)
def _applied(kind: Kind, operands: tuple[Ranges, ...]) -> Ranges:
    name, form = kind.name, kind.form
    if name != "to_int":
        exact = pointwise(operands, computing(kind))
        if exact is not None:
            return exact
    if name == "from_int":
        return _from_int(kind, operands[0])
    if name == "negate":
        return _mirrored(operands[0], form)
    sides = [_intervals(operand, form) for operand in operands]
    nans = [_has_nan(operand, form) for operand in operands]
    if name in COMPARISONS:
        return _compared(name, sides, any(nans))
    if name == "to_int":
        return _to_int(kind, sides[0], nans[0])
    to_form = kind.to_form or form
    if name in ("fmin", "fmax"):
        results, nan = _selected(name, sides, nans), all(nans)
    else:
        results, nan = _combined(name, sides) if name in BINARY else _mapped(name, sides[0])
        nan = nan or any(nans)
    found = _rounded(results, to_form)
    if nan:
        found.append((to_form.nan, to_form.nan))
    return united(found) if found else united(every(to_form))


def _rounded(intervals: Iterable[Interval], form: Format) -> list[tuple[int, int]]:
    """The ranges of the patterns in ``intervals``, rounded to ``form``."""
    ends = ((pattern(low, form), pattern(high, form)) for low, high in intervals)
    return [piece for low, high in ends for piece in between(low, high, form)]


def _intervals(ranges: Ranges, form: Format) -> list[Interval]:
    """The numbers in ``ranges``, as intervals of one sign each."""
    found = []
    for low, high in values_in(ranges, form):
        if low > form.infinity and low < form.sign:
            continue
        ends = sorted((number(low, form), number(high, form)))
        found.append((ends[0], ends[1]))
    return found


def cut(ranges: Ranges, count: int, form: Format) -> list[Ranges]:
    """``ranges`` as up to ``count`` parts of about equally many numbers' width, and one of what is no number.

    The parts may touch. Numbers without an end are not cut.
    """
    intervals = _intervals(ranges, form)
    low, high = min((low for low, _ in intervals), default=0.0), max((high for _, high in intervals), default=0.0)
    width = (high - low) / count
    if not 0 < width < math.inf:
        return [ranges]
    ends = [low, *(low + width * place for place in range(1, count)), high]
    borders = [pattern(end, form) for end in ends]
    parts = [common(ranges, between(one, other, form)) for one, other in pairwise(borders)]
    parts.append(common(ranges, _nans(form)))
    kept = [part for part in parts if part]
    return kept if joined(piece for part in kept for piece in part) == joined(ranges) else [ranges]


def _has_nan(ranges: Ranges, form: Format) -> bool:
    """Whether one of the patterns is a NaN, canonical or not."""
    return bool(common(ranges, _nans(form)))


def _nans(form: Format) -> Ranges:
    return ((form.infinity + 1, form.sign - 1), ((form.sign | form.infinity) + 1, (form.sign << 1) - 1))


def _mirrored(ranges: Ranges, form: Format) -> Ranges:
    found: list[tuple[int, int]] = [(low ^ form.sign, high ^ form.sign) for low, high in values_in(ranges, form)]
    kept = [piece for piece in found if piece[0] != form.nan ^ form.sign]
    return united([*kept, (form.nan, form.nan)] if _has_nan(ranges, form) else kept)


def _compared(name: str, sides: Sequence[Sequence[Interval]], nan: bool) -> Ranges:
    outcomes = {0} if nan else set()
    for (a, b), (c, d) in product(*sides):
        if name == "equal":
            outcomes.add(0 if not a == b == c == d else 1)
            outcomes |= {1} if a <= d and c <= b else {0}
        else:
            always, never = (b < c, a >= d) if name == "less" else (b <= c, a > d)
            outcomes |= {1} if always else {0} if never else {0, 1}
    return united((raw, raw) for raw in outcomes) or BOTH


def _combined(name: str, sides: Sequence[Sequence[Interval]]) -> tuple[list[Interval], bool]:
    """Intervals of results, before rounding to a narrower format, and whether one can be a NaN."""
    if name == "remainder":
        return _remainders(sides)
    results: list[Interval] = []
    nan = False
    for one, other in product(*sides):
        ends = [BINARY[name](x, y) for x in one for y in other]
        numbers = [end for end in ends if not math.isnan(end)]
        nan = nan or len(numbers) < len(ends) or _hidden_nan(name, one, other)
        if len(numbers) < len(ends):
            numbers += [-math.inf, 0.0, math.inf]  # where the ends make a NaN, the members between may make anything
        if numbers:
            results.append((min(numbers), max(numbers)))
    return results, nan


def _hidden_nan(name: str, one: Interval, other: Interval) -> bool:
    """Whether members, if not the ends, make a NaN."""
    if name == "multiply":
        return any(_has_zero(a) and _has_infinity(b) for a, b in ((one, other), (other, one)))
    if name == "divide":
        return (_has_zero(one) and _has_zero(other)) or (_has_infinity(one) and _has_infinity(other))
    return _has_infinity(one) and _has_infinity(other)


def _has_zero(ends: Interval) -> bool:
    return ends[0] <= 0 <= ends[1]


def _has_infinity(ends: Interval) -> bool:
    return math.isinf(ends[0]) or math.isinf(ends[1])


def _remainders(sides: Sequence[Sequence[Interval]]) -> tuple[list[Interval], bool]:
    """The sign of the dividend, no larger than the dividend, smaller than the divisor."""
    results: list[Interval] = []
    nan = False
    for one, other in product(*sides):
        nan = nan or _has_infinity(one) or _has_zero(other)
        most = max(abs(other[0]), abs(other[1]))
        if max(abs(one[0]), abs(one[1])) < min(abs(other[0]), abs(other[1])):
            results.append(one)
            continue
        results.append((max(min(one[0], 0.0), -most), min(max(one[1], 0.0), most)))
    return results, nan


def _mapped(name: str, ends: Sequence[Interval]) -> tuple[list[Interval], bool]:
    """An operation on one number that keeps the order; the absolute value."""
    if name == "absolute":
        return [(min(abs(a), abs(b)), max(abs(a), abs(b))) for a, b in ends], False
    if name == "resize":
        return list(ends), False
    if name == "root":
        kept = [(a, b) for a, b in ends if b >= 0]
        return [(math.sqrt(max(a, 0.0)), math.sqrt(b)) for a, b in kept], any(a < 0 for a, b in ends)
    work = UNARY[name]
    return [(work(a), work(b)) for a, b in ends], False


def _selected(name: str, sides: Sequence[Sequence[Interval]], nans: Sequence[bool]) -> list[Interval]:
    pick = min if name == "fmin" else max
    results = [(pick(a, c), pick(b, d)) for (a, b), (c, d) in product(*sides)]
    return results + list(sides[0] if nans[1] else ()) + list(sides[1] if nans[0] else ())


def _from_int(kind: Kind, operand: Ranges) -> Ranges:
    form, half = kind.form, 1 << (kind.bits - 1)
    compute = computing(kind)
    parts = common(operand, ((0, half - 1), (half, 2 * half - 1))) if kind.signed else operand
    found: list[tuple[int, int]] = []
    for low, high in parts:
        least, greatest = sorted((compute([low]), compute([high])), key=lambda raw: number(raw, form))
        found += between(least, greatest, form)
    return united(found)


def _to_int(kind: Kind, ends: Sequence[Interval], nan: bool) -> Ranges:
    half = 1 << (kind.bits - 1)
    least, greatest = (-half, half - 1) if kind.signed else (0, 2 * half - 1)
    found: list[tuple[int, int]] = []
    for low, high in ends:
        if nan or _has_infinity((low, high)) or math.trunc(low) < least or math.trunc(high) > greatest:
            return whole(kind.bits)
        first, last = math.trunc(low), math.trunc(high)
        negative = (max(first, least), min(last, -1))
        found += [(negative[0] + 2 * half, negative[1] + 2 * half)] if negative[0] <= negative[1] else []
        found += [(max(first, 0), last)] if last >= 0 else []
    return united(found) if found else whole(kind.bits)


@lru_cache(maxsize=KEPT)
def compared_so(name: str, holds: bool, left: Ranges, right: Ranges, form: Format) -> tuple[Ranges, Ranges]:
    """What remains of two sets where the comparison ``name`` between their members is ``holds``."""
    if name == "equal":
        if not holds:
            return left, right
        return _within(left, right, right, False, form), _within(right, left, left, False, form)
    if holds:
        return _within(left, None, right, False, form), _within(right, left, None, False, form)
    first = left if _has_nan(right, form) else _within(left, right, None, True, form)
    return first, right if _has_nan(left, form) else _within(right, None, left, True, form)


def _within(ranges: Ranges, above: Ranges | None, below: Ranges | None, nan: bool, form: Format) -> Ranges:
    """The numbers of ``ranges`` from the least of ``above`` to the greatest of ``below`` (None: no limit).

    ``nan``: and the NaNs.
    """
    lows = [-math.inf] if above is None else [low for low, _ in _intervals(above, form)]
    highs = [math.inf] if below is None else [high for _, high in _intervals(below, form)]
    found: list[tuple[int, int]] = []
    if lows and highs:
        found += common(ranges, between(pattern(min(lows), form), pattern(max(highs), form), form))
    if nan:
        found += common(ranges, _nans(form))
    return united(found)
