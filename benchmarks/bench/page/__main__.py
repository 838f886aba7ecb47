"""``python -m benchmarks.bench.page FOLDER``: make page and table of a suite's results again from its rows."""

from __future__ import annotations

import csv
import sys
import tomllib
from pathlib import Path

import click

from benchmarks.bench import row as suite_row
from benchmarks.bench.page import write
from bmc.errors import ChainCoverError, Location, UsageError
from chaincover.formats.output import write_text

ROWS, TABLE, SUITE = "rows.jsonl", "rows.csv", "suite.toml"


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
def main(folder: Path) -> None:
    """Make the page of the results in FOLDER, its plots and rows.csv again from rows.jsonl."""
    try:
        rows = _in_order(_rows(folder / ROWS), folder / TABLE)
        write_text(folder / TABLE, suite_row.to_csv(rows))
        written = write(folder, _title(folder), rows, {})
    except ChainCoverError as error:
        click.echo(f"error: {error}", err=True)
        raise SystemExit(error.exit_code) from None
    click.echo(f"{len(rows)} rows: {', '.join(place.name for place in (folder / TABLE, *written))}")


def _rows(place: Path) -> list[suite_row.Row]:
    """The rows of a file. A last line without an end was being written when a run was interrupted: it is left out."""
    try:
        text = place.read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise UsageError("no results of a suite", Location(str(place)), "name the folder given to -o") from None
    rows = []
    for number, line in enumerate(text.split("\n")[:-1], 1):
        try:
            rows.append(suite_row.from_line(line))
        except ValueError as error:
            hint = "run the suite again with --resume"
            raise UsageError(str(error), Location(str(place), number), hint) from None
    return rows


def _in_order(rows: list[suite_row.Row], table: Path) -> list[suite_row.Row]:
    """``rows`` as the table has them, which is in the order of the suite: their file has them as the runs ended."""
    try:
        csv.field_size_limit(sys.maxsize)
        with table.open(encoding="utf-8", newline="") as file:
            order = {entry["id"]: place for place, entry in enumerate(csv.DictReader(file))}
    except (OSError, ValueError, KeyError, csv.Error):
        return rows
    return sorted(rows, key=lambda row: order.get(row.id, len(order)))


def _title(folder: Path) -> str:
    try:
        title = tomllib.loads((folder / SUITE).read_text(encoding="utf-8")).get("title", "")
    except (OSError, ValueError):
        title = ""
    return title if isinstance(title, str) and title else folder.resolve().name


if __name__ == "__main__":
    main()
