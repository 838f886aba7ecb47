"""The table of a suite on disk: rows of runs that have ended, each durable before the next run is counted as done."""

from __future__ import annotations

import fcntl
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.bench.plan import Run
from benchmarks.bench.row import Row, from_line, to_csv, to_line
from benchmarks.bench.suite import Model, Pin, Value
from benchmarks.bench.tools.protocol import COVERED, MISSING, Outcome
from bmc.errors import InputRefused, Location, UsageError
from bmc.limits import read_json, read_text
from chaincover.chain import NO_WAY_TO_FINAL, UNREACHABLE
from chaincover.formats.output import write_text

ROWS, CSV, RUNS, LOG, COMMAND = "rows.jsonl", "rows.csv", "runs", "log.txt", "command.json"

IMPOSSIBLE = (UNREACHABLE, NO_WAY_TO_FINAL)
"""Verdicts that prove that no test covers a goal."""

PINNED_SETTINGS: Mapping[str, Value] = {
    "ordering": "auto",
    "engine": "auto",
    "overlap": "allow",
    "repair": "auto",
    "several": True,
    "most": False,
}
"""What is pinned holds for these settings, and any effort."""


OF_THE_MODEL = ("states", "long_goals")
"""Pinned figures that a run need not tell: then its row has the pinned one."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended: its outcomes, exit code (None: ended from outside), what it took, and where."""

    outcomes: tuple[Outcome, ...]
    code: int | None = None
    seconds: float = 0.0
    processor_seconds: float = 0.0
    megabytes: float = 0.0
    host: str = ""


def rows_of(suite: str, run: Run, ended: Ended) -> tuple[Row, ...]:
    """The rows of a run of ``suite``."""
    return tuple(_row(suite, run, ended, outcome) for outcome in ended.outcomes)


def _row(suite: str, run: Run, ended: Ended, outcome: Outcome) -> Row:
    verdicts = Counter(outcome.verdicts.values())
    goals = len(outcome.verdicts)
    covered, impossible = verdicts[COVERED], sum(verdicts[word] for word in IMPOSSIBLE)
    found = {name: getattr(outcome, name) for name in _SAME}
    row = Row(
        id=run.id,
        suite=suite,
        model=run.model.name,
        family=run.model.family,
        project=run.model.shown,
        source_sha256=run.code.sha256,
        goals=goals,
        tool=run.configuration.tool,
        configuration=run.configuration.name,
        settings=run.configuration.settings,
        seed=run.configuration.seed,
        exit_code=ended.code,
        covered=covered,
        impossible=impossible,
        undecided=goals - covered - impossible,
        seconds=ended.seconds,
        processor_seconds=ended.processor_seconds,
        megabytes=ended.megabytes,
        host=ended.host,
        log="" if outcome.status == MISSING else f"{RUNS}/{run.id}/{LOG}",
        **found,
    )
    return of_model(row, run.model)


def of_model(row: Row, model: Model, goals: int = 0) -> Row:
    """``row`` with what the suite says of its model; of a run that named no goals there were ``goals``."""
    pin = model.pin if model.pin is not None and not model.selection else Pin("")
    number = len(row.verdicts) or pin.figures.get("properties", goals)
    told: dict[str, Any] = {name: pin.figures.get(name) for name in OF_THE_MODEL if getattr(row, name) is None}
    row = replace(
        row,
        family=model.family,
        goals=number,
        undecided=number - row.covered - row.impossible,
        bits=pin.bits,
        printed=pin.printed,
        **told,
    )
    return replace(row, deviates=deviates(row, pin))


_SAME = (
    *("ordering", "status", "chains", "length", "lower", "minimal", "fewest", "K", "states", "long_goals"),
    *("path_cost", "verdicts", "replay", "stages", "versions", "note", "files"),
)
"""What a row has of its outcome as it is."""


def deviates(row: Row, pin: Pin) -> str:
    """How a row of ChainCover by default differs from what is pinned; '' where it does not, or nothing is."""
    settings = {**PINNED_SETTINGS, "several": False, **row.settings, "effort": None}
    pinned = {**PINNED_SETTINGS, "effort": None, "several": pin.figures.get("chains") != 1 or settings["several"]}
    if row.tool != "chaincover" or settings != pinned or row.status == MISSING:
        return ""
    found = {name: getattr(row, {"properties": "goals"}.get(name, name)) for name in pin.figures}
    told = [
        f"{name} {'none' if found[name] is None else found[name]} where {figure} is pinned"
        for name, figure in pin.figures.items()
        if found[name] != figure
    ]
    return "; ".join(told)


class Table:
    """The rows in a folder. One process at a time writes there; rows of a run are there all or not at all."""

    def __init__(self, folder: Path) -> None:
        """Lock ``folder``. UsageError where another process writes there."""
        self._folder = folder
        self._place = folder / ROWS
        self._lock = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            raise UsageError(f"another run of a suite writes into {folder}", hint="wait for it, or end it") from None

    def close(self) -> None:
        """Let others write."""
        os.close(self._lock)

    def begin(self, runs: Sequence[Run], resume: bool) -> tuple[set[str], int]:
        """The ids of ``runs`` that have ended, and the number of other rows, which go. Nothing may be there else."""
        if not self._place.exists():
            return set(), 0
        if not resume:
            text = "there are rows of an earlier run here"
            raise UsageError(f"{self._folder}: {text}", hint="go on with --resume, or choose another -o DIR")
        rows = read_rows(self._place)
        times = Counter(row.id for row in rows)
        asked = {run.id for run in runs}
        ended = {name for name in times if name in asked and self._whole(name, times[name])}
        ended -= {row.id for row in rows if row.status == MISSING}  # it may have been installed since
        _replace(self._place, [row for row in rows if row.id in ended])
        return ended, sum(row.id not in asked for row in rows)

    def _whole(self, name: str, rows: int) -> bool:
        """Whether a run has as many ``rows`` as it ended with."""
        place = self._folder / RUNS / name / COMMAND
        if not place.exists():
            return True
        try:
            return bool(read_json(read_text(place, "a run"), Location(str(place)))["rows"] == rows)
        except (InputRefused, KeyError, TypeError):
            return False

    def add(self, rows: Iterable[Row]) -> None:
        """Append the rows of a run; they are on the disk before this returns."""
        with open(self._place, "ab") as file:
            file.write("".join(f"{to_line(row)}\n" for row in rows).encode())
            file.flush()
            os.fsync(file.fileno())
        os.fsync(self._lock)

    def whole(self, runs: Sequence[Run]) -> tuple[Row, ...]:
        """All rows so far in the order of ``runs``, with what the suite says of them now; they are written anew.

        The number of goals of a run that named none is that of another run of its model.
        """
        order = {run.id: place for place, run in enumerate(runs)}
        rows = sorted(read_rows(self._place) if self._place.exists() else (), key=lambda row: order[row.id])
        goals: dict[str, int] = {}
        for row in rows:
            goals[row.model] = max(row.goals, goals.get(row.model, 0))
        rows = [of_model(row, runs[order[row.id]].model, goals[row.model]) for row in rows]
        _replace(self._place, rows)
        write_text(self._folder / CSV, to_csv(rows))
        return tuple(rows)


def read_rows(place: Path) -> list[Row]:
    """The rows of a file of JSON lines. A last line that was cut off is left out, any other broken one refused."""
    rows = []
    with open(place, "rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                break
            try:
                rows.append(from_line(line.decode()))
            except ValueError as error:
                where = Location(str(place), number)
                raise InputRefused(str(error), where, "name a folder that bench has written") from None
    return rows


def _replace(place: Path, rows: Iterable[Row]) -> None:
    """Put ``rows`` in the place of those in the file, at once and durably."""
    new = place.with_suffix(".new")
    with open(new, "w", encoding="utf-8") as file:
        file.writelines(f"{to_line(row)}\n" for row in rows)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, place)
