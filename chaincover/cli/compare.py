"""The command ``compare``: its options, and the comparison as a table, CSV and JSON."""

from __future__ import annotations

import csv
import io
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from chaincover.cli.options import (
    Search,
    Shown,
    comparison_options,
    held_request_options,
    prepare,
    shown_options,
)
from chaincover.formats.output import prepare_folder, to_json, write_text
from chaincover.options import ORDERINGS
from chaincover.project.load import Controller, Request
from chaincover.report import console
from chaincover.report.comparison import NAMES, Comparison, Row, compare
from chaincover.report.documents import tool_version, versions

SCHEMA = "chaincover/compare/2"
COLUMNS = (
    "ordering",
    "path_cost",
    "order_bound",
    "proved",
    "order_seconds",
    "chain_length",
    "lower_bound",
    "total_seconds",
    "by",
    "note",
    "path",
)


@click.command(name="compare")
@held_request_options
@click.option(
    "--ordering",
    "orderings",
    type=click.Choice(ORDERINGS),
    multiple=True,
    help=f"An ordering to compare; repeat it for more. Without it: {', '.join(NAMES)}.",
)
@comparison_options
@click.option("-o", "--output", metavar="DIR", help="Folder for compare.csv and compare.json.")
@shown_options
def command(request: Request, search: Search, shown: Shown, orderings: tuple[str, ...], output: str | None) -> int:
    """Run several orderings on the same graph, side by side."""
    progress = shown.progress()
    controller, options = prepare(request, search, progress)
    folder = prepare_folder(output) if output else None
    names = tuple(dict.fromkeys(orderings or NAMES))
    with progress.stage("compare"):
        found = compare(controller.problem, options, names, progress)
    progress.done()
    data = as_data(controller, found)
    if folder is not None:
        write_text(folder / "compare.json", to_json(data))
        write_text(folder / "compare.csv", as_csv(found))
    if shown.as_json:
        click.echo(to_json(data), nl=False)
    elif shown.text:
        show(console.console(), controller, found)
        if folder is not None:
            console.say(console.console(), f"written to {folder}/: compare.csv, compare.json")
    return found.exit_code


def as_data(controller: Controller, found: Comparison) -> dict[str, Any]:
    """The document behind ``compare.json``; seconds differ from run to run."""
    return {
        "schema": SCHEMA,
        "tool": {"name": "chaincover", "version": tool_version()},
        "versions": versions(),
        "controller": controller.system.name,
        "goals": list(found.graph.goals),
        "k": found.graph.depth,
        "graph_seconds": round(found.graph.seconds, 3),
        "lower_bound": found.bounds.lower,
        "basis": found.bounds.basis,
        "stopped_by": found.stopped_by,
        "orderings": [{**_cells(found, row), "path": list(row.found.path) if row.found else []} for row in found.rows],
        "exit_code": found.exit_code,
    }


def as_csv(found: Comparison) -> str:
    """The table as CSV, one line per ordering; an empty cell where there is no value."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_cells(found, row) for row in found.rows)
    return out.getvalue()


def _cells(found: Comparison, row: Row) -> dict[str, Any]:
    """One line by column; costs and lengths in steps."""
    order = row.found
    path = order.path if order else ()
    return {
        "ordering": row.ordering,
        "path_cost": order.cost if order and path else None,
        "order_bound": order.lower_bound if order else None,
        "proved": order.proved if order else None,
        "order_seconds": round(order.seconds, 4) if order else None,
        "chain_length": row.chain_length,
        "lower_bound": found.bounds.lower,
        "total_seconds": round(found.total_seconds(row), 3) if order else None,
        "by": order.by if order else None,
        "note": row.note,
        "path": " -> ".join(path),
    }


def show(out: Console, controller: Controller, found: Comparison) -> None:
    """The table on the terminal."""
    graph, name = found.graph, controller.system.name
    head = f"{name}: {len(graph.goals)} goals, K = {graph.depth}, graph in {graph.seconds:.2f} s"
    held = console.held_runs(controller.system.hold)
    console.say(out, f"{head}; no chain is shorter than {found.bounds.lower}{held} ({found.bounds.basis})", "bold")
    if not found.rows:
        console.say(out, "no covering path: no ordering has anything to order\n  next: chaincover generate tells why")
    else:
        out.print(_table(found))
    if found.stopped_by:
        console.say(out, f"{console.ended_by(found.stopped_by)}; what is told is valid but not complete.")


def _table(found: Comparison) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    titles = ("ordering", "path cost", "order bound", "proved", "order s", "chain", "lower bound", "total s", "note")
    for title in titles:
        table.add_column(title, justify="left" if title in ("ordering", "proved", "note") else "right")
    for row in found.rows:
        cells = _cells(found, row)
        by = f"by {cells['by']}" if cells["by"] not in (None, row.ordering) else ""
        shown = [cells[column] for column in COLUMNS[1:8]]
        texts = ["-" if v is None else {True: "yes", False: "no"}[v] if isinstance(v, bool) else str(v) for v in shown]
        table.add_row(row.ordering, *texts, "; ".join(text for text in (by, row.note) if text))
    return table
