"""The table of the comparison: ratios of seconds, and their geometric means."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

START = "latch"
"""The smallest model: what a tool takes for it is its start."""

LEAST = 0.05
"""Seconds: a time above the start that is less counts as so much."""

MUCH = 0.6
"""Seconds from which on no row is to be slower than CBMC."""


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured for one model: the minimal length, and the median seconds of each tool.

    ``ours`` begins with nothing compiled, ``again`` finds the compiled original kept. ``theirs`` is by version of CBMC;
    None where it ran out of time.
    """

    name: str
    length: int
    ours: float
    again: float
    theirs: Mapping[str, float | None]
    floats: bool = False

    @property
    def faster(self) -> str | None:
        """The version of CBMC that took least here."""
        known = {version: seconds for version, seconds in self.theirs.items() if seconds is not None}
        return min(known, key=known.__getitem__) if known else None

    @property
    def ratio(self) -> float | None:
        """Ours to the faster CBMC, in total time."""
        seconds = self.theirs[self.faster] if self.faster else None
        return None if seconds is None else self.ours / seconds


def above_start(row: Row, start: Row) -> float | None:
    """The ratio of what each tool takes above its time for ``start``; None for that row itself."""
    if row.name == start.name or row.faster is None:
        return None
    theirs, begun = row.theirs[row.faster], start.theirs.get(row.faster)
    if theirs is None or begun is None:
        return None
    return max(row.ours - start.ours, LEAST) / max(theirs - begun, LEAST)


def geometric_mean(values: Sequence[float]) -> float | None:
    """None of no values."""
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def head(versions: Sequence[str]) -> str:
    """The first two lines of the table."""
    columns = ["model", "minimal", "ours", "ours again", *versions, "ratio", f"ratio above {START}"]
    return f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}"


def line(row: Row, start: Row | None) -> str:
    """The row as markdown."""
    above = None if start is None else above_start(row, start)
    theirs = ["> limit" if seconds is None else f"{seconds:.2f}" for seconds in row.theirs.values()]
    cells = [
        row.name,
        str(row.length),
        f"{row.ours:.2f}",
        f"{row.again:.2f}",
        *theirs,
        _ratio(row.ratio),
        _ratio(above),
    ]
    return f"| {' | '.join(cells)} |"


def summary(rows: Sequence[Row]) -> Iterator[str]:
    """Geometric means over the models and over those with floating-point numbers, and the largest ratio that counts."""
    start = next((row for row in rows if row.name == START), None)
    for floats, what in ((False, "models"), (True, "models with floating-point numbers")):
        some = [row for row in rows if row.floats == floats]
        if not some:
            continue
        above = [] if start is None else [above_start(row, start) for row in some]
        means = {
            "total": [row.ratio for row in some],
            "total, again": [replace(row, ours=row.again).ratio for row in some],
            f"above {START}": above,
        }
        told = ", ".join(f"{name} {_ratio(geometric_mean(_known(values)))}" for name, values in means.items())
        yield f"Geometric means of the ratios over {len(some)} {what}: {told}."
    counted = [
        (row.ratio, row.name)
        for row in rows
        if row.ratio is not None and row.faster is not None and (row.theirs[row.faster] or 0) >= MUCH
    ]
    if counted:
        ratio, name = max(counted)
        yield f"The largest ratio where CBMC takes at least {MUCH} s: {ratio:.2f} ({name})."


def _known(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
