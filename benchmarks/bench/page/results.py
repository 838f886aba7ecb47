"""The rows of a suite as a matrix: models by configurations, each cell the runs of one configuration on one model."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from statistics import fmean, quantiles
from typing import Any

from benchmarks.bench.row import Row
from benchmarks.bench.tools.protocol import FINISHED, MISSING
from bmc.records import dataclass
from chaincover.report.html.kit import average


@dataclass(frozen=True, slots=True)
class Model:
    """A model with the goals asked for. ``uncoverable``: the largest number of its goals that a run proved to be so."""

    family: str
    name: str
    goals: int
    uncoverable: int
    bits: tuple[str, ...]
    states: int | None
    long_goals: int | None
    printed: Mapping[str, Any]


class Cell:
    """The runs of one configuration on one model: several where it has several seeds; values are then averages.

    They are *complete* where each covers all goals that no run of any configuration proved uncoverable, and *solved*
    where each finished besides.
    """

    def __init__(self, model: Model, rows: Sequence[Row]) -> None:
        self.model = model
        self.rows = tuple(rows)

    @cached_property
    def complete(self) -> bool:
        needed = self.model.goals - self.model.uncoverable
        return all(row.length is not None and row.covered >= needed for row in self.rows)

    @property
    def finished(self) -> bool:
        return all(row.status == FINISHED for row in self.rows)

    @property
    def solved(self) -> bool:
        return self.complete and self.finished

    @property
    def ran(self) -> bool:
        return any(row.status != MISSING for row in self.rows)

    @property
    def minimal(self) -> bool:
        return self.complete and all(row.minimal for row in self.rows)

    @property
    def lower(self) -> int | None:
        """The best bound of the runs, where they need equally many chains."""
        bounds = [row.lower for row in self.rows if row.lower is not None]
        return max(bounds) if bounds and len({row.chains for row in self.rows}) == 1 else None

    @property
    def status(self) -> str:
        return next((row.status for row in self.rows if row.status != FINISHED), FINISHED)

    @property
    def coverage(self) -> float:
        """The share of goals covered, of all goals asked for."""
        return fmean(row.covered for row in self.rows) / self.model.goals if self.model.goals else 1.0

    @property
    def chains(self) -> float | None:
        return _average(row.chains for row in self.rows)

    @property
    def length(self) -> float | None:
        return _average(row.length for row in self.rows)

    @property
    def spread(self) -> str:
        """Least, quartiles and greatest of the lengths, where several runs have one; '' else."""
        known = sorted(row.length for row in self.rows if row.length is not None)
        if len(known) < 2:
            return ""
        quarters = (known[0], *quantiles(known, n=4, method="inclusive"), known[-1])
        return f"lengths of {len(known)} runs, with quartiles: {', '.join(map(average, quarters))}"

    @cached_property
    def seconds(self) -> float:
        return fmean(map(seconds_of, self.rows))


def _average(values: Iterable[int | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def seconds_of(row: Row) -> float:
    """Seconds of the processor, children included; by the clock where they were not measured, 0 where neither was.

    A run that compares backends has a row for each: its seconds are those of the stage ``final``, which made chains.
    """
    own = row.stages.get("final", sum(row.stages.values())) if row.ordering and row.stages else 0.0
    found = (own, row.processor_seconds, row.seconds)
    return next((value for value in found if value and math.isfinite(value)), 0.0)


class Results:
    """All rows of a suite; ``models`` and ``configurations`` (their labels) in the order of their first rows."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = tuple(rows)
        names = _labels(self.rows)
        keys = _keys(self.rows)
        self.models: dict[Key, Model] = {}
        by_model: dict[Key, list[Row]] = {}
        cells: dict[tuple[Key, str], list[Row]] = {}
        for row, key, name in zip(self.rows, keys, names, strict=True):
            by_model.setdefault(key, []).append(row)
            cells.setdefault((key, name), []).append(row)
        self.models = {key: _model(group, key[3]) for key, group in by_model.items()}
        self.configurations = tuple(dict.fromkeys(names))
        self._cells = {place: Cell(self.models[place[0]], group) for place, group in cells.items()}
        by: dict[Key, list[Cell]] = {}
        for (model, _), cell in self._cells.items():
            by.setdefault(model, []).append(cell)
        self.best = {model: _best(group) for model, group in by.items()}

    def cell(self, model: Key, configuration: str) -> Cell | None:
        return self._cells.get((model, configuration))

    def of(self, configuration: str, models: Iterable[Key] | None = None) -> list[Cell]:
        """The cells of a configuration, in the order of models."""
        found = (self.cell(model, configuration) for model in (self.models if models is None else models))
        return [cell for cell in found if cell is not None]

    def of_publication(self) -> list[Key]:
        """The models for which a publication prints numbers; all where there are none."""
        return [key for key, model in self.models.items() if model.printed] or list(self.models)

    def families(self) -> dict[str, list[Key]]:
        """The models by family."""
        groups: dict[str, list[Key]] = {}
        for key, model in self.models.items():
            groups.setdefault(model.family, []).append(key)
        return groups


@dataclass(frozen=True, slots=True)
class Best:
    """The best of each measure on a model, among the runs that cover all goals; of time, that are solved.

    Equally many chains everywhere, which is the common case, are nobody's merit.
    """

    chains: float | None
    length: float | None
    seconds: float | None


def _distinct(values: Sequence[float]) -> float | None:
    return None if not values or (len(values) > 1 and len(set(values)) == 1) else min(values)


def _best(cells: Sequence[Cell]) -> Best:
    complete = [cell for cell in cells if cell.complete]
    return Best(
        _distinct([cell.chains for cell in complete if cell.chains is not None]),
        min((cell.length for cell in complete if cell.length is not None), default=None),
        min((cell.seconds for cell in complete if cell.solved), default=None),
    )


Key = tuple[str, str, str, int]


def _keys(rows: Sequence[Row]) -> list[Key]:
    """What tells models apart: family, name, project and number of goals, which a run that failed may not tell."""
    told: dict[tuple[str, str, str], int] = {}
    for row in rows:
        if row.goals:
            told.setdefault((row.family, row.model, row.project), row.goals)
    names = [(row.family, row.model, row.project) for row in rows]
    return [(*name, row.goals or told.get(name, 0)) for row, name in zip(rows, names, strict=True)]


def _model(rows: Sequence[Row], goals: int) -> Model:
    return Model(
        family=rows[0].family,
        name=rows[0].model,
        goals=goals,
        uncoverable=max(row.impossible for row in rows),
        bits=next((row.bits for row in rows if row.bits), ()),
        states=next((row.states for row in rows if row.states is not None), None),
        long_goals=next((row.long_goals for row in rows if row.long_goals is not None), None),
        printed=next((row.printed for row in rows if row.printed), {}),
    )


def _labels(rows: Sequence[Row]) -> list[str]:
    """Each row's configuration, its backend, and those of its settings that differ within the two; not the seed."""
    plain = [f"{row.configuration}/{row.ordering}" if row.ordering else row.configuration for row in rows]
    settings = [{name: _text(value) for name, value in row.settings.items() if name != "seed"} for row in rows]
    names: dict[str, set[str]] = {}
    values: dict[tuple[str, str], set[str | None]] = {}
    for label, given in zip(plain, settings, strict=True):
        names.setdefault(label, set()).update(given)
    for label, given in zip(plain, settings, strict=True):
        for name in names[label]:
            values.setdefault((label, name), set()).add(given.get(name))
    differing = {label: [name for name in sorted(names[label]) if len(values[label, name]) > 1] for label in names}
    return [
        " ".join([label, *(f"{name}={given[name]}" for name in differing[label] if name in given)])
        for label, given in zip(plain, settings, strict=True)
    ]


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
