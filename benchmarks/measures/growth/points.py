"""What was measured, as plain data that plots and tables are made from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

AXES = ("goals", "depth", "size", "family-goals", "family-size")


@dataclass(frozen=True, slots=True)
class Point:
    """One measurement: ``values`` by name at ``x`` of ``axis``, for the ``family`` of systems.

    Values are counts or seconds: of the processor.
    """

    axis: str
    family: str
    x: float
    values: dict[str, float]

    def whole(self, name: str) -> bool:
        """Whether the value ``name`` was measured to its end: no limit came first, and it is not 0."""
        return self.values.get(name, 0) > 0 and not (name == "chain" and self.values.get("stopped"))


def read(file: Path) -> list[Point]:
    """The points in ``file``; none if it does not exist."""
    return [Point(**row) for row in json.loads(file.read_text(encoding="utf-8"))] if file.exists() else []


def write(file: Path, points: Iterable[Point]) -> None:
    """Write ``points``, a line each."""
    rows = [json.dumps(_rounded(asdict(point)), sort_keys=True) for point in points]
    file.write_text("[\n" + ",\n".join(rows) + "\n]\n", encoding="utf-8")


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "values": {name: round(value, 5) for name, value in row["values"].items()}}


def of_axis(points: Sequence[Point], axis: str) -> dict[str, list[Point]]:
    """The points of ``axis`` by family, by rising x."""
    found: dict[str, list[Point]] = {}
    for point in sorted((p for p in points if p.axis == axis), key=lambda p: p.x):
        found.setdefault(point.family, []).append(point)
    return dict(sorted(found.items()))


def merged(old: Sequence[Point], new: Sequence[Point]) -> list[Point]:
    """``new`` in place of the ``old`` points of the same axes."""
    again = {point.axis for point in new}
    both = [*(p for p in old if p.axis not in again), *new]
    return sorted(both, key=lambda p: (AXES.index(p.axis), p.family, p.x))
