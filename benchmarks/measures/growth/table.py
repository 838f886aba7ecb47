"""Tables of the measurements, with the fitted exponents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.measures.growth.fit import fitted
from benchmarks.measures.growth.points import Point, of_axis

COLUMNS = {
    "goals": ("seconds", "queries", "solving", "chain"),
    "depth": ("seconds", "per level", "queries", "solving", "open"),
    "size": ("read", "seconds", "queries", "solving", "state"),
    "family-goals": ("chain", "length", "lower"),
    "family-size": ("chain", "length", "lower"),
}
"""By axis: the values shown."""

FITTED = {
    "goals": COLUMNS["goals"],
    "depth": COLUMNS["depth"][:4],
    "size": COLUMNS["size"],
    "family-goals": ("chain",),
    "family-size": ("chain",),
}
"""By axis: the values that a power law is fitted to."""

COUNTS = ("queries", "open", "state", "length", "lower")
"""Values that are no seconds."""

NAMES = {"goals": "goals", "depth": "K", "size": "lines", "family-goals": "N", "family-size": "T"}


def tables(points: Sequence[Point]) -> Iterator[str]:
    """A table for each axis that was measured: the points by family, then exponent and greatest deviation of each."""
    for axis, columns in COLUMNS.items():
        families = of_axis(points, axis)
        if not families:
            continue
        yield from (f"### {axis}", "", f"| family | {NAMES[axis]} | {' | '.join(columns)} |")
        yield "|" + "---|" * (len(columns) + 2)
        for family, row in families.items():
            for point in row:
                yield f"| {family} | {point.x:,.0f} | {' | '.join(_cell(point, name) for name in columns)} |"
            if FITTED[axis] and len(row) > 2:
                laws = " | ".join(_law(row, name) if name in FITTED[axis] else "" for name in columns)
                yield f"| {family} | exponent (off by) | {laws} |"
        yield ""


def _cell(point: Point, name: str) -> str:
    value = point.values.get(name)
    if value is None:
        return ""
    mark = "> " if value and not point.whole(name) else ""
    return mark + (f"{value:,.0f}" if name in COUNTS else f"{value:.3g}")


def _law(row: Sequence[Point], name: str) -> str:
    known = [(point.x, point.values[name]) for point in row if point.whole(name)]
    fit = fitted([x for x, _ in known], [y for _, y in known])
    return "" if fit is None else f"{fit.exponent:.2f} ({fit.off:.2f})"
