"""The page of a suite's table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from benchmarks.bench.row import COLUMNS, Row
from chaincover.formats.output import write_text


def write(folder: Path, title: str, rows: Sequence[Row], changes: Mapping[str, str]) -> tuple[Path, ...]:
    """Write ``index.html`` into ``folder``."""
    cells = ("".join(f"<td>{escape(str(getattr(row, name)))}" for name in COLUMNS) for row in rows)
    head = "".join(f"<th>{name}" for name in COLUMNS)
    text = f"<!doctype html><title>{escape(title)}</title><table><tr>{head}{''.join(f'<tr>{each}' for each in cells)}"
    place = folder / "index.html"
    write_text(place, text + "</table>\n")
    return (place,)
