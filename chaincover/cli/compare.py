"""The command ``compare``: what ``chaincover.comparison`` finds of several orderings, as a table, CSV and JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click

from bmc import ending
from chaincover.cli.entry import closing
from chaincover.cli.help import PLACE, Command
from chaincover.cli.options import (
    Search,
    Shown,
    comparison_options,
    held_request_options,
    prepare,
    shown_options,
)
from chaincover.comparison import (
    SEEDS,
    Asked,
    Comparison,
    Final,
    OtherOrders,
    Row,
    Trial,
    compare,
    exit_code,
)
from chaincover.formats.output import prepare_folder, to_json, write_text
from chaincover.formats.writer import tool_version, versions
from chaincover.options import ORDERINGS
from chaincover.project.load import Request
from chaincover.report import console
from chaincover.report.console_compare import notes_of, show, spread
from chaincover.subject import Subject

NAMES = ("exact", "cpsat", "asp-usc", "asp-bb", "tsp", "local")
"""The orderings compared when none is named."""

SCHEMA = "chaincover/compare/3"
COLUMNS = (
    "ordering",
    "path_cost",
    "order_bound",
    "proved",
    "order_seconds",
    "trials",
    "orders",
    "feasible_at_cost",
    "chains",
    "chain_least",
    "chain_first_quartile",
    "chain_median",
    "chain_third_quartile",
    "chain_greatest",
    "refined_length",
    "refined_tried",
    "constrained_length",
    "constrained_tried",
    "final_chains",
    "final_length",
    "final_lower",
    "final_minimal",
    "final_covered",
    "final_goals",
    "final_seconds",
    "by",
    "note",
    "path",
)


@click.command(name="compare", cls=Command)
@held_request_options
@click.option(
    "--ordering",
    "orderings",
    type=click.Choice(ORDERINGS),
    multiple=True,
    help=f"An ordering to compare; repeat it for more. Without it: {', '.join(NAMES)}.",
)
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    default=SEEDS,
    show_default=True,
    metavar="N",
    help="Orders in which each ordering is told the goals: the project's, and N - 1 drawn at random.",
)
@click.option("--several", is_flag=True, help="What users get is as few chains as it takes, as generate --several.")
@comparison_options
@click.option("-o", "--output", metavar="DIR", type=PLACE, help="Folder for compare.csv and compare.json.")
@shown_options
@ending.uninterrupted()
def command(
    request: Request, search: Search, shown: Shown, orderings: tuple[str, ...], output: str | None, **asked: Any
) -> int:
    """Run several orderings on the same graph, side by side."""
    progress = shown.progress()
    subject, options = prepare(request, search, progress)
    folder = prepare_folder(output) if output else None
    names = tuple(dict.fromkeys(orderings or NAMES))
    with progress.stage("compare"):
        found = compare(subject.problem, options, Asked(names, **asked), progress)
    closing(found.stopped_by)
    progress.done()
    code = exit_code(subject.problem, found)
    data = as_data(subject, found, code)
    if folder is not None:
        write_text(folder / "compare.json", to_json(data))
        write_text(folder / "compare.csv", as_csv(found))
    if shown.as_json:
        click.echo(to_json(data), nl=False)
    elif shown.text:
        show(console.console(shown.verbose > 0), subject, found)
        if folder is not None:
            console.say(console.console(), f"written to {folder}/: compare.csv, compare.json")
    return code


def as_data(subject: Subject, found: Comparison, code: int) -> dict[str, Any]:
    """The document behind ``compare.json``; seconds differ from run to run."""
    return {
        "schema": SCHEMA,
        "tool": {"name": "chaincover", "version": tool_version()},
        "versions": versions(),
        "controller": subject.system.name,
        "goals": list(found.graph.goals),
        "left_out": list(found.goals_left_out),
        "k": found.graph.depth,
        "covering_path": found.path,
        "several": found.several,
        "seeds": found.asked.seeds,
        "graph_seconds": round(found.graph.seconds, 3),
        "lower_bound": found.bounds.lower,
        "basis": found.bounds.basis,
        "stopped_by": found.stopped_by,
        "orderings": [_row_data(row) for row in found.rows],
        "exit_code": code,
    }


def _row_data(row: Row) -> dict[str, Any]:
    """One row with all that its cells follow from."""
    return {
        "ordering": row.ordering,
        "runs": [_trial_data(trial) for trial in row.trials],
        "orders": row.orders,
        "order_seconds": _spread_data([trial.found.seconds for trial in row.trials]),
        "chain_length": _spread_data(row.lengths),
        "refinement": _search_data(row.refined),
        "path_constraints": _search_data(row.constrained),
        "final": _final_data(row.final),
        "note": "; ".join(notes_of(row)),
    }


def _trial_data(trial: Trial) -> dict[str, Any]:
    found, chain = trial.found, trial.chain
    return {
        "seed": trial.seed,
        "by": found.by,
        "path": list(found.path),
        "path_cost": found.cost if found.path else None,
        "order_bound": found.lower_bound,
        "proved": found.proved,
        "order_seconds": round(found.seconds, 4),
        "infeasible": list(chain.infeasible),
        "failed": list(chain.failed),
        "chain_length": chain.length,
        "chain_seconds": round(chain.seconds, 3),
        "note": chain.note,
    }


def _search_data(search: OtherOrders | None) -> dict[str, Any] | None:
    if search is None:
        return None
    data = asdict(search)
    data |= {"infeasible": [list(path) for path in search.infeasible]}
    return data | {name: round(data[name], 4) for name in ("order_seconds", "seconds")}


def _final_data(final: Final | None) -> dict[str, Any] | None:
    if final is None:
        return None
    return {
        "chains": final.chains,
        "length": final.bounds.length,
        "lower": final.bounds.lower,
        "minimal": final.bounds.minimal,
        "fewest": final.fewest,
        "verdicts": {verdict.goal: verdict.status for verdict in final.verdicts},
        "proved": [verdict.goal for verdict in final.verdicts if verdict.proved],
        "ordered": final.ordered,
        "stopped_by": final.stopped_by,
        "effort_used_up": final.used_up,
        "seconds": round(final.seconds, 3),
        "note": final.note,
    }


def _spread_data(values: Sequence[float]) -> dict[str, float] | None:
    """Quartiles and ends of ``values``; whole numbers as such."""
    found = spread(values)
    if found is None:
        return None
    return {name: int(value) if value == int(value) else round(value, 4) for name, value in asdict(found).items()}


def as_csv(found: Comparison) -> str:
    """The table as CSV, one line per ordering; an empty cell where there is no value."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_cells(row) for row in found.rows)
    return out.getvalue()


def _cells(row: Row) -> dict[str, Any]:
    """One line by column; costs and lengths in steps. The path is that of the first run."""
    order, final = row.first, row.final
    seconds, lengths = (_spread_data(values) or {} for values in ([t.found.seconds for t in row.trials], row.lengths))
    cells: dict[str, Any] = {
        "ordering": row.ordering,
        "order_seconds": seconds.get("median"),
        "trials": len(row.trials),
        "orders": row.orders,
        "feasible_at_cost": sum(1 for t in row.trials if t.chain.length is not None and not t.chain.infeasible),
        "chains": len(row.lengths),
        **{f"chain_{name}": lengths.get(key) for name, key in QUARTILES.items()},
        "note": "; ".join(notes_of(row)),
    }
    if order is not None:
        proved = all(trial.found.proved for trial in row.trials)
        cells |= {"order_bound": order.lower_bound, "proved": proved, "by": order.by}
        if order.path:
            cells |= {"path_cost": order.cost, "path": " -> ".join(order.path)}
    for name, search in (("refined", row.refined), ("constrained", row.constrained)):
        if search is not None:
            cells |= {f"{name}_length": search.length, f"{name}_tried": search.tried}
    if final is not None:
        cells |= {
            "final_chains": final.chains,
            "final_length": final.bounds.length,
            "final_lower": final.bounds.lower,
            "final_minimal": final.bounds.minimal,
            "final_covered": final.covered,
            "final_goals": len(final.verdicts),
            "final_seconds": round(final.seconds, 3),
        }
    return cells


QUARTILES = {
    "least": "least",
    "first_quartile": "first",
    "median": "median",
    "third_quartile": "third",
    "greatest": "greatest",
}
"""Columns of the CSV file, and the quartiles that they hold."""
