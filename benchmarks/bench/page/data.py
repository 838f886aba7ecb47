"""The rows as the data that the page's script shows: by column, texts told once, links to each run's files."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from benchmarks.bench.row import COLUMNS, Row
from chaincover.report.html.kit import link

FIRST = (
    "model",
    "family",
    "configuration",
    "ordering",
    "seed",
    "status",
    "goals",
    "covered",
    "impossible",
    "undecided",
)
SHOWN = (*FIRST, "chains", "length", "lower", "minimal", "K", "processor_seconds", "megabytes", "deviates", "note")
FILTERS = ("family", "tool", "configuration", "status")
SEARCHED = (
    "model",
    "project",
    "ordering",
    "settings",
    "verdicts",
    "replay",
    "deviates",
    "note",
    "id",
    "change",
    *FILTERS,
)
_LINKS = ("log", "files")


def table_data(rows: Sequence[Row], changes: Mapping[str, str]) -> dict[str, Any]:
    """All rows by column. ``links``: of each row, its log ('' without one) and its other files."""
    names = [*FIRST, *(name for name in COLUMNS if name not in (*FIRST, *_LINKS))]
    columns = [_column(name, [_value(name, getattr(row, name)) for row in rows]) for name in names]
    if changes:
        columns.insert(1, _column("change", [changes.get(row.key, "") for row in rows]))
    return {
        "rows": len(rows),
        "columns": columns,
        "filters": FILTERS,
        "searched": SEARCHED,
        "links": [[_below(row, row.log or "log.txt") if row.log or row.files else "", *_files(row)] for row in rows],
    }


def _files(row: Row) -> list[str]:
    return [place for place in (_below(row, file) for file in row.files) if place]


def _below(row: Row, file: str) -> str:
    """The address of a file of a run, which is told from the suite's folder or from the run's."""
    run = f"runs/{row.id}/"
    return link(file if file.startswith(run) else run + file)


def _column(name: str, values: Sequence[Any]) -> dict[str, Any]:
    """A column: texts once each, by number in ``cells``. At first one that tells nothing apart is not shown."""
    differs = len(set(values)) > 1 or name in ("model", "status", "goals", "length", "configuration")
    column = {"name": name, "label": name.replace("_", " "), "shown": differs and (name in SHOWN or name == "change")}
    if not any(isinstance(value, str) for value in values):
        return {**column, "cells": values}
    words = list(dict.fromkeys(values))
    order = {word: number for number, word in enumerate(words)}
    return {**column, "words": words, "cells": [order[value] for value in values]}


def _value(name: str, value: Any) -> Any:
    """A number, None, or a text."""
    teller = _TOLD.get(name)
    if teller is not None:
        return teller(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return float(f"{value:.4g}") if math.isfinite(value) else None
    if value is None or isinstance(value, int | str):
        return value
    return json.dumps(value, sort_keys=True) if value else ""


def _pairs(values: Mapping[str, Any]) -> str:
    told = ((name, _value("", value)) for name, value in sorted(values.items()))
    return ", ".join(f"{name}={value}" for name, value in told)


def _verdicts(values: Mapping[str, str]) -> str:
    """The goals of each verdict; of those covered, which are most, only how many."""
    groups: dict[str, list[str]] = {}
    for goal, verdict in values.items():
        groups.setdefault(verdict, []).append(goal)
    return "; ".join(
        f"{verdict}: {len(goals)}" + ("" if verdict == "covered" else f" ({', '.join(sorted(goals))})")
        for verdict, goals in sorted(groups.items())
    )


def _project(place: str) -> str:
    """The project file; of one outside the suite's folder only its name: a page is shown to others."""
    absolute = PurePosixPath(place).is_absolute() or PureWindowsPath(place).is_absolute()
    return PureWindowsPath(place).name if absolute else place


_TOLD: Mapping[str, Callable[[Any], Any]] = {
    "settings": _pairs,
    "stages": _pairs,
    "versions": _pairs,
    "verdicts": _verdicts,
    "bits": ", ".join,
    "project": _project,
}
