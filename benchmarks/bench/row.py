"""A row of the table that a suite's runs give, and its two forms: JSON lines and CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

SCHEMA = "chaincover/bench-row/1"


@dataclass(frozen=True, slots=True)
class Row:
    """One run of one tool, or one backend of a comparison (``ordering``), on one model.

    ``id`` names the run (and its folder ``runs/ID``); it depends on model, sources, goals and configuration alone.
    ``goals`` counts the goals asked for; ``covered``, ``impossible`` (proved) and ``undecided`` sum to it. ``printed``
    is what a publication prints for this model, ``deviates`` how the row differs from what the suite pins ('' if not).
    Seconds: ``seconds`` by the clock, ``processor_seconds`` with children. All else as in ``tools.protocol.Outcome``.
    """

    id: str
    suite: str
    model: str
    family: str
    project: str
    source_sha256: str
    goals: int
    tool: str
    configuration: str
    ordering: str
    settings: Mapping[str, Any]
    seed: int
    status: str
    exit_code: int | None = None
    chains: int | None = None
    length: int | None = None
    lower: int | None = None
    minimal: bool = False
    fewest: bool = False
    K: int | None = None
    states: int | None = None
    long_goals: int | None = None
    path_cost: int | None = None
    covered: int = 0
    impossible: int = 0
    undecided: int = 0
    verdicts: Mapping[str, str] = field(default_factory=dict)
    replay: str = ""
    seconds: float = 0.0
    processor_seconds: float = 0.0
    megabytes: float = 0.0
    stages: Mapping[str, float] = field(default_factory=dict)
    host: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    bits: tuple[str, ...] = ()
    printed: Mapping[str, Any] = field(default_factory=dict)
    deviates: str = ""
    note: str = ""
    log: str = ""
    files: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The name of its run, and ``ID/ORDERING`` where a run has several rows."""
        return f"{self.id}/{self.ordering}" if self.ordering else self.id


COLUMNS = tuple(each.name for each in fields(Row))


def to_line(row: Row) -> str:
    """``row`` as one line of JSON."""
    return json.dumps(asdict(row), sort_keys=True)


def from_line(line: str) -> Row:
    """The row of one line of JSON. ValueError for a line that is none."""
    try:
        document = json.loads(line)
        document = {**document, **{name: tuple(document.get(name, ())) for name in ("bits", "files")}}
        return Row(**document)
    except (TypeError, AttributeError) as error:
        raise ValueError(f"no row of a suite: {error}") from None


def to_csv(rows: Iterable[Row]) -> str:
    """All rows as one tidy table; what is no number or text is told as JSON, what is not known is empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow(_cell(getattr(row, name)) for name in COLUMNS)
    return out.getvalue()


def _cell(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (str, int, float)):
        return value
    return json.dumps(value, sort_keys=True)
