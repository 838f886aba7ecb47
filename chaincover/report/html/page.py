"""The report as a page: its parts in order, each made by itself, so that one that cannot be made leaves the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from bmc.records import dataclass
from chaincover.formats.drawing import STYLE
from chaincover.report.html import bounds, goals, kit, modes, on_runs, runs, source, summary
from chaincover.report.html.saved import Saved, safely

ROOM = "chaincover.report.html"


SCRIPTS = ("report.js", "waveform_data.js", "waveform_view.js", "waveform_draw.js", "waveform.js")
"""The scripts of the page, as they are joined: each uses what those before it give."""


@dataclass(frozen=True)
class Part:
    """A part of the page: its anchor, its title, its template, and what makes the template's values of a result.

    What is made is empty where a result has nothing for the part, which then is left out.
    """

    anchor: str
    title: str
    template: str
    make: Callable[[Saved, runs.Runs], Mapping[str, Any]]


MOST_UNFOLDED = 25
"""Coverage goals that stand among the requirements; of more those of each criterion are a closed table of their own.
Twice as many: three screens more before the findings."""

FAILED = "failed on a run"
"""What the filter of requirements says of one that failed on a judged run, whatever is proved of the model."""


def _traceability(saved: Saved, own: runs.Runs) -> dict[str, Any]:
    rows = goals.rows_of(saved)
    if not rows:
        return {}
    generated = [row for row in rows if row.criterion]
    folded = generated if len(generated) > MOST_UNFOLDED else []
    return {
        "rows": [row for row in rows if not (folded and row.criterion)],
        "folded": [_group(name, folded) for name in dict.fromkeys(row.criterion for row in folded)],
        "timed": any(row.exercised.time for row in rows),
        **_choices(rows),
        "FAILED": FAILED,
        "compared": saved.earlier is not None,
    }


def _group(criterion: str, rows: Sequence[goals.Row]) -> dict[str, Any]:
    """The goals of a criterion, with how many there are of each verdict."""
    own = [row for row in rows if row.criterion == criterion]
    counts = Counter(row.verdict for row in own)
    told = ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
    return {"criterion": criterion, "rows": own, "told": told}


def _choices(rows: Sequence[goals.Row]) -> dict[str, list[str]]:
    """The verdicts, rulings and criteria by which the table of requirements can be filtered, each in order of rows."""
    return {
        "verdicts": [*dict.fromkeys(row.verdict for row in rows)],
        "rulings": [*dict.fromkeys(FAILED if row.failed else row.ruling for row in rows if row.failed or row.ruling)],
        "criteria": [*dict.fromkeys(row.criterion for row in rows if row.criterion)],
    }


def _findings(saved: Saved, own: runs.Runs) -> dict[str, Any]:
    return {"findings": goals.findings_of(saved)}


def _runs(saved: Saved, own: runs.Runs) -> dict[str, Any]:
    return {"runs": on_runs.runs_told(saved)} if saved.judged else {}


def _waveform(saved: Saved, own: runs.Runs) -> dict[str, Any]:
    return {"own": own} if own else {}


def _why(saved: Saved, own: runs.Runs) -> dict[str, Any]:
    return {"chains": [bounds.why(chain) for chain in saved.chains]} if saved.chains else {}


def _graph(saved: Saved, own: runs.Runs) -> dict[str, Any]:
    graphs = [graph for chain in saved.chains if (graph := bounds.graph_of(chain)) is not None]
    again = {graph.file: summary.command(saved, "graph", graph.file) for graph in graphs}
    return {"graphs": graphs, "drawing": kit.drawing, "again": again} if graphs else {}


def _modes(saved: Saved, own: runs.Runs) -> dict[str, Any]:
    found = modes.diagrams(own)
    return {"diagrams": found, "drawing": kit.drawing} if found else {}


def _course(saved: Saved, own: runs.Runs) -> dict[str, Any]:
    found = modes.courses(saved)
    return {"courses": found} if found else {}


def _interface(saved: Saved, own: runs.Runs) -> dict[str, Any]:
    uses = runs.interface(own)
    return {"uses": uses, "resets": runs.resets(saved)} if uses else {}


def _checks(saved: Saved, own: runs.Runs) -> dict[str, Any]:
    return {"verified": saved.verified} if saved.verified else {}


ROW_COLUMNS = (
    "model",
    "configuration",
    "ordering",
    "status",
    "goals",
    "covered",
    "chains",
    "length",
    "lower",
    "minimal",
)
"""The columns of rows of a benchmark that the report shows."""

MOST_BENCH_ROWS = 500
"""Rows of a benchmark in the report. Twice as many: twice as long a page; the page of `bench` has all of them."""


def _rows(saved: Saved, own: runs.Runs) -> dict[str, Any]:
    tables = []
    for name, rows in saved.rows:
        columns = [column for column in ROW_COLUMNS if any(row.get(column) not in (None, "") for row in rows)]
        cells = [["" if row.get(c) is None else row[c] for c in columns] for row in rows[:MOST_BENCH_ROWS]]
        tables.append((name, columns, cells, max(0, len(rows) - MOST_BENCH_ROWS)))
    return {"tables": tables} if tables else {}


PARTS = (
    Part("traceability", "Traceability", "part_traceability.html", _traceability),
    Part("findings", "Findings", "part_findings.html", _findings),
    Part("runs", "Judged runs", "part_runs.html", _runs),
    Part("waveform", "Waveform", "part_waveform.html", _waveform),
    Part("source", "Annotated source", "part_source.html", lambda saved, own: source.annotated(saved)),
    Part("graph", "Order of the goals", "part_graph.html", _graph),
    Part("modes", "Modes", "part_modes.html", _modes),
    Part("bound", "Why no shorter chain", "part_bound.html", _why),
    Part("interface", "Interface", "part_interface.html", _interface),
    Part("course", "How the answer became better", "part_course.html", _course),
    Part(
        "change", "Compared with the earlier result", "part_change.html", lambda saved, own: bounds.change(saved) or {}
    ),
    Part("checks", "What verify checked", "part_checks.html", _checks),
    Part("rows", "Rows of a benchmark", "part_rows.html", _rows),
)


def report(saved: Saved) -> tuple[str, list[str]]:
    """The page as text, and what is missing in it, a sentence each. Both depend on ``saved`` alone."""
    notes = [*saved.notes]
    shown = safely("the runs", lambda: runs.traces(saved), notes) or []
    made = {part.anchor: _made(part, saved, shown, notes) for part in PARTS}
    head = safely("the head", lambda: summary.head(saved), notes) or {}
    tiles = safely("the figures", lambda: summary.tiles(saved), notes) or []
    data = safely("the waveform's data", lambda: runs.waveform(saved, shown), notes) or {"variables": [], "traces": []}
    own = kit.environment(ROOM)
    parts = [
        (part, Markup(own.get_template(part.template).render(**made[part.anchor])))
        for part in PARTS
        if made[part.anchor]
    ]
    values = {
        "title": f"{summary.name_of(saved)}: report",
        "name": summary.name_of(saved),
        "head": head,
        "tiles": tiles,
        "parts": parts,
        "notes": notes,
        "data": data,
    }
    scripts = [kit.own(name) for name in SCRIPTS]
    return kit.page(ROOM, "page.html", [kit.own("report.css"), STYLE], scripts, values), notes


def _made(part: Part, saved: Saved, own: runs.Runs, notes: list[str]) -> Mapping[str, Any]:
    return safely(f"the part '{part.title}'", lambda: part.make(saved, own), notes) or {}
