"""The command ``compare``: orderings side by side, as a table, CSV and JSON.

There is one K-reachability graph. Each ordering finds its path on the closure, and each path is made a chain.
"""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import click

from bmc.engines import choose as choose_engine
from bmc.engines.protocol import Status
from bmc.errors import LimitReached, UsageError, counted
from bmc.records import dataclass
from chaincover.chain import Bounds, Plan
from chaincover.cli.options import (
    Search,
    Shown,
    comparison_options,
    held_request_options,
    prepare,
    reduced,
    shown_options,
)
from chaincover.concretise.repair import concretise
from chaincover.formats.output import prepare_folder, to_json, write_text
from chaincover.graph.reachability import CoveringGraph, covering_graph
from chaincover.limits import Limits
from chaincover.options import ORDERINGS, Options
from chaincover.orderings import choose as choose_ordering
from chaincover.orderings import missing_library
from chaincover.orderings.bound import order_bound
from chaincover.orderings.protocol import Limit, OrderingProblem, OrderingResult
from chaincover.problem import Problem, Questions
from chaincover.project.load import Controller, Request
from chaincover.replay.judge import Judge
from chaincover.report import console
from chaincover.report.documents import GOALS_NOT_COVERED, LIMIT, tool_version, versions
from chaincover.result import CALLED_OFF, INTERRUPT, TIME_LIMIT
from chaincover.weights import INIT, Edge, ReachGraph, exists_path, transitive_closure

NAMES = ("exact", "cpsat", "asp-usc", "asp-bb", "tsp", "local")
"""The orderings compared when none is named."""

LAST_SECONDS = 1.0
"""Seconds for the bound where the graph took all the time there was."""

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Row:
    """What one ordering gave: its path (None: it did not run), the length in steps of the chain along it, or None.

    ``order_bound`` of ``found`` bounds paths over this graph, not chains. ``chain_seconds`` is the time for inputs and
    repair. ``note`` says why something is missing; ``undecided``: because a limit was met.
    """

    ordering: str
    found: OrderingResult | None = None
    chain_length: int | None = None
    chain_seconds: float = 0.0
    note: str = ""
    undecided: bool = False


@dataclass(frozen=True)
class Comparison:
    """All rows, in the order of the names asked for; empty where ``found`` has no covering path.

    ``bounds`` holds the proved lower bound of every chain beside the shortest chain found. ``stopped_by`` is
    ``time limit`` (for the graph), ``interrupt``, ``terminated`` or ''.
    """

    found: CoveringGraph
    rows: tuple[Row, ...]
    bounds: Bounds
    stopped_by: str = ""

    @property
    def graph(self) -> ReachGraph:
        """The graph of the goals that something satisfies."""
        return self.found.graph.possible

    @property
    def exit_code(self) -> int:
        """130 or 143 called off, 5 a limit left graph, order or inputs open, 4 an ordering that ran gave no chain.

        Without a covering path 4 too, unless a limit was met or the solver gave up on edges of the graph: then 5.
        """
        if self.stopped_by:
            return CALLED_OFF.get(self.stopped_by, LIMIT)
        no_path = not self.rows and (self.graph.unknown or self.found.used_up)
        if no_path or any(row.undecided for row in self.rows):
            return LIMIT
        ran = [row for row in self.rows if row.found is not None]
        return 0 if ran and all(row.chain_length is not None for row in ran) else GOALS_NOT_COVERED

    def total_seconds(self, row: Row) -> float:
        """Graph, order and chain: what a run with this ordering alone takes."""
        return self.graph.seconds + (row.found.seconds if row.found else 0.0) + row.chain_seconds


def compare(problem: Problem, options: Options, names: Sequence[str], progress: Progress) -> Comparison:
    """Run the orderings ``names`` on one graph with a covering path, one after the other.

    Chains are concretised and repaired (Algorithm 4) but not shortened, so that they show the orders. The time limit of
    ``options`` holds for the graph, and again for each ordering with its chain. UsageError for an unknown name.
    """
    for name in names:
        choose_ordering(name)
    problem, left = reduced(replace(problem, overlap=options.overlap), options)
    found = covering_graph(problem, left, choose_engine(options.engine, options.memory_limit), progress)
    graph, stopped_by = found.graph.possible, found.stopped_by
    rows: list[Row] = []
    closed = transitive_closure(graph)
    if not stopped_by and graph.goals and exists_path(graph, closed) is not None:
        try:
            for row in _Rows(problem, options, graph, closed, progress).of(names):
                rows.append(row)
        except KeyboardInterrupt as error:
            stopped_by = str(error) or INTERRUPT
    shortest = min((row.chain_length for row in rows if row.chain_length is not None), default=None)
    bound = order_bound(graph, Limit(seconds=LAST_SECONDS if stopped_by else options.time_limit))
    return Comparison(found, tuple(rows), Bounds(bound.lower, shortest, bound.basis), stopped_by)


@dataclass(frozen=True)
class _Rows:
    """What the rows of one comparison share."""

    problem: Problem
    options: Options
    graph: ReachGraph
    closed: Mapping[Edge, int]
    progress: Progress

    def of(self, names: Sequence[str]) -> Iterator[Row]:
        """A row for each ordering."""
        problem = OrderingProblem(self.graph.goals, self.closed, INIT, self.graph.end)
        for name in names:
            library = missing_library(name)
            if library:
                yield Row(name, note=f"skipped: {library} is not installed")
                continue
            self.progress(f"compare: {name}")
            limits = Limits(self.options.time_limit, self.options.query_limit, self.options.effort)
            try:
                found = choose_ordering(name).solve(problem, Limit(self.options.time_limit))
            except UsageError as error:
                yield Row(name, note=f"skipped: {error.message}")
                continue
            yield self._with_chain(Row(name, found), limits)

    def _with_chain(self, row: Row, limits: Limits) -> Row:
        """``row`` with the chain along its path, or a note that says why there is none."""
        assert row.found is not None
        path = row.found.path
        if not path:
            return replace(row, note="no path found", undecided=not row.found.proved)
        engine = choose_engine(self.options.engine, self.options.memory_limit)
        questions = Questions(self.problem.of(self.graph.goals), engine, limits)
        begun = time.monotonic()
        length, note, undecided = None, "", False
        plan = Plan(path, tuple(self.closed[edge] for edge in pairwise(path)))
        most = max(self.graph.depth, *plan.gaps)
        try:
            plan, attempt = concretise(questions, plan, most, self.progress)
            chain = None if attempt.run is None else Judge(questions.problem).chain(attempt.run)
            if chain is not None:
                length = chain.length
            elif attempt.status is Status.UNKNOWN:
                note, undecided = "undecided: the solver gave up on the inputs", True
            else:
                failed = " -> ".join(attempt.failed)
                note = f"no inputs along this order with edges up to {counted(most, 'step')}: {failed}"
        except LimitReached:
            note, undecided = TIME_LIMIT, True
        return Row(row.ordering, row.found, length, time.monotonic() - begun, note, undecided)


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


def show(out: console.Console, controller: Controller, found: Comparison) -> None:
    """The table on the terminal."""
    graph, name = found.graph, controller.system.name
    head = f"{name}: {counted(len(graph.goals), 'goal')}, K = {graph.depth}, graph in {graph.seconds:.2f} s"
    held = console.held_runs(controller.system.hold)
    console.say(out, f"{head}; no chain is shorter than {found.bounds.lower}{held} ({found.bounds.basis})", "bold")
    if not found.rows:
        console.say(out, "no covering path: no ordering has anything to order")
        console.say(out, "  next: chaincover generate tells why")
    else:
        _show_rows(out, found)
    if found.stopped_by:
        console.say(out, f"{console.ended_by(found.stopped_by)}; what is told is valid but not complete.")


def _show_rows(out: console.Console, found: Comparison) -> None:
    titles = ("ordering", "path cost", "order bound", "proved", "order s", "chain", "lower bound", "total s", "note")
    rows = []
    for row in found.rows:
        cells = _cells(found, row)
        by = f"by {cells['by']}" if cells["by"] not in (None, row.ordering) else ""
        shown = [cells[column] for column in COLUMNS[1:8]]
        texts = ["-" if v is None else {True: "yes", False: "no"}[v] if isinstance(v, bool) else str(v) for v in shown]
        rows.append((row.ordering, *texts, "; ".join(text for text in (by, row.note) if text)))
    out.table(titles, rows, right={*titles} - {"ordering", "proved", "note"})
