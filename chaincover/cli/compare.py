"""The command ``compare``: what ``chaincover.comparison`` finds of several orderings, as a table, CSV and JSON."""

from __future__ import annotations

import csv
import io
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import click

from bmc import ending
from bmc.errors import NAMED, counted
from bmc.records import dataclass
from chaincover.chain import UNDECIDED
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
    Along,
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
from chaincover.orderings.protocol import Path
from chaincover.project.load import Request
from chaincover.report import console
from chaincover.report.console_compare import advice
from chaincover.subject import Subject

NAMES = ("exact", "cpsat", "asp-usc", "asp-bb", "tsp", "local")
"""The orderings compared when none is named."""

NUMBERS = ("cost", "order", "orders", "refined", "constrained", "steps", "bound", "total")

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
        "note": "; ".join(_notes(row)),
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


@dataclass(frozen=True, slots=True)
class Spread:
    """Least and greatest of several values, and their quartiles, interpolated between the values next to them."""

    least: float
    first: float
    median: float
    third: float
    greatest: float


def spread(values: Sequence[float]) -> Spread | None:
    """The spread of ``values``; None where there are none."""
    if not values:
        return None
    at_least_two = values if len(values) > 1 else [*values, *values]
    first, median, third = statistics.quantiles(at_least_two, n=4, method="inclusive")
    return Spread(min(values), first, median, third, max(values))


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
        "note": "; ".join(_notes(row)),
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


def _notes(row: Row) -> Iterator[str]:
    """What the numbers of a row do not tell, above all what its paths cannot do."""
    if row.note:
        yield row.note
    if row.first is not None and row.first.by != row.ordering:
        yield f"answered by {row.first.by}"
    yield from _chain_notes([trial.chain for trial in row.trials])
    for name, search in (("refinement", row.refined), ("path constraints", row.constrained)):
        if search is not None and search.note:
            yield f"{name}: {search.note}"
        elif search is not None and search.infeasible:
            yield f"{name}: {counted(search.tried, 'order')} tried, ruled out: {_often(search.infeasible)}"
    if row.final is not None:
        yield from _final_notes(row.final)


def _chain_notes(chains: Sequence[Along]) -> Iterator[str]:
    """How many of the chains along the orders of a row could not be found, or not at the cost of the order, and why."""
    runs = len(chains)
    dear = [chain.infeasible for chain in chains if chain.infeasible]
    if dear:
        yield f"{_of_orders(len(dear), runs)} infeasible at {_their(len(dear))} cost: {_often(dear)}"
    failed = [chain.failed for chain in chains if chain.failed]
    if failed:
        note = next(chain.note for chain in chains if chain.failed)
        yield f"{_of_orders(len(failed), runs)} without a chain: {note} joins {_often(failed)}"
    for note, count in Counter(chain.note for chain in chains if chain.note and not chain.failed).items():
        yield f"{_of_orders(count, runs)} without a chain: {note}"


def _final_notes(final: Final) -> Iterator[str]:
    """What users must know of the final run."""
    if final.note:
        yield f"generate: {final.note}"
    if final.stopped_by:
        yield f"generate: stopped by {final.stopped_by}"
    elif final.used_up:
        yield "generate: the effort was used up"


def _of_orders(count: int, runs: int) -> str:
    return f"{count} of {counted(runs, 'order')}"


def _their(count: int) -> str:
    return "its" if count == 1 else "their"


def _often(paths: Sequence[Path]) -> str:
    """The sub-path that is told of several: the most frequent one, its last nodes."""
    path, count = Counter(paths).most_common(1)[0]
    nodes = [*(["..."] if len(path) > NAMED else []), *path[-NAMED:]]
    others = len(paths) - count
    return " -> ".join(nodes) + (f" and {counted(others, 'other')}" if others else "")


def show(out: console.Console, subject: Subject, found: Comparison) -> None:
    """What users get with each ordering, and which one to use; where everything is to be told, all else with notes."""
    graph, name = found.graph, subject.system.name
    depth = f"K = {graph.depth}, graph in {graph.seconds:.2f} s" if graph.depth >= 0 else "no graph yet"
    head = f"{name}: {counted(len(graph.goals), 'goal')}, {depth}"
    held = console.held_runs(subject.hold)
    proved = "" if found.several else f"; no chain is shorter than {found.bounds.lower}{held} ({found.bounds.basis})"
    console.say(out, head + proved, "bold")
    if found.goals_left_out:
        console.say(out, f"not ordered: {counted(len(found.goals_left_out), 'goal')} proved to be in no chain")
    if found.path_unknown:
        why = "the graph was not finished, and what is known of it has no order of all goals"
        console.say(out, f"whether there is a covering path is not known: {why}; what users get is generate --several")
    elif not found.path:
        console.say(out, "no covering path: there is no order of all goals; what users get is generate --several")
    if found.rows:
        out.table(*_table(found, out.everything), right=NUMBERS)
    if out.everything:
        _show_notes(out, found)
    console.say(out, advice(found.rows, found.several), "bold")
    if found.stopped_by:
        console.say(out, f"{console.ended_by(found.stopped_by)}; what is told is valid but not complete.")


def _show_notes(out: console.Console, found: Comparison) -> None:
    """What the columns of the table mean, and the notes of its rows."""
    notes = out.part()
    if any(row.trials for row in found.rows):
        told = f"each ordering was told the goals in {counted(found.asked.seeds, 'order')}"
        console.say(notes, f"{told}; order, chain: median [quartiles]; chain: repaired, not shortened")
    finals = [row.final for row in found.rows if row.final is not None]
    if finals:
        several = "--several " if found.several else ""
        same = "" if any(final.ordered for final in finals) else "; it asked no ordering: one run for all rows"
        console.say(notes, f"steps, bound (minimal where equal), total: generate {several}--ordering NAME{same}")
    for texts, names in _grouped({row.ordering: tuple(_notes(row)) for row in found.rows}):
        console.say(notes, f"{', '.join(names)}: {'; '.join(texts)}")
    out.show(notes)


def _grouped(notes: dict[str, tuple[str, ...]]) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """The notes that there are, each with the names of the rows that have them."""
    for texts in dict.fromkeys(notes.values()):
        if texts:
            yield texts, [name for name, own in notes.items() if own == texts]


DETAILS = ("proved", "order", "orders", "refined", "constrained")
"""The columns that are shown where everything is to be told."""


def _table(found: Comparison, everything: bool) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Titles and rows."""
    titles, rows = _all_columns(found)
    kept = [at for at, title in enumerate(titles) if everything or title not in DETAILS]
    return [titles[at] for at in kept], [[row[at] for at in kept] for row in rows]


def _all_columns(found: Comparison) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Titles and rows of all columns."""
    titles = ["ordering", "cost", "proved", "order", "orders", "chain", "refined", "constrained"]
    if not found.path:
        titles = titles[:1]
    rows = []
    for row in found.rows:
        order, seconds = row.first, spread([trial.found.seconds for trial in row.trials])
        cells = [
            row.ordering,
            str(order.cost) if order and order.path else "-",
            _yes(all(trial.found.proved for trial in row.trials)) if order else "-",
            f"{seconds.median:.3f} s" if seconds else "-",
            str(row.orders) if order else "-",
            _chain(row),
            *(_searched(search) for search in (row.refined, row.constrained)),
        ]
        rows.append([*cells[: len(titles)], *_final_cells(row.final, found.several)])
    return [*titles, *(["chains"] if found.several else []), "steps", "bound", "covered", "total"], rows


def _final_cells(final: Final | None, several: bool) -> list[str]:
    if final is None or not final.verdicts:
        return ["-"] * (5 if several else 4)
    length, lower = final.bounds.length if final.chains else None, final.bounds.lower
    open_still = any(verdict.status == UNDECIDED for verdict in final.verdicts)
    count = [f"{final.chains}{'' if final.fewest else ' so far' if open_still else ' or fewer'}"] if several else []
    steps = ["-" if length is None else str(length), str(lower)]
    return [*count, *steps, f"{final.covered} of {len(final.verdicts)}", f"{final.seconds:.1f} s"]


def _chain(row: Row) -> str:
    """Median and quartiles of the chains' lengths, and how many orders have none."""
    found, missing = spread(row.lengths), len(row.trials) - len(row.lengths)
    if found is None:
        return "none" if row.trials else "-"
    text = _short(found.median)
    if found.first < found.third:
        text += f" [{_short(found.first)}, {_short(found.third)}]"
    return text + (f", {missing} none" if missing else "")


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _searched(search: OtherOrders | None) -> str:
    if search is None:
        return "-"
    return "none" if search.length is None else str(search.length)


def _yes(value: bool) -> str:
    return "yes" if value else "no"
