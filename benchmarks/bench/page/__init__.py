"""The page of a suite's results: one HTML file that needs nothing else, and its plots as SVG files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from markupsafe import Markup

from benchmarks.bench.page.data import table_data
from benchmarks.bench.page.plots import all_plots, scatter_data
from benchmarks.bench.page.results import Results
from benchmarks.bench.page.svg import STYLE, as_file
from benchmarks.bench.page.table import summary, tables
from benchmarks.bench.row import Row
from chaincover.formats.output import write_texts
from chaincover.report.html import kit
from chaincover.report.html.kit import escaped

NAME = "index.html"


def write(folder: Path, title: str, rows: Sequence[Row], changes: Mapping[str, str]) -> tuple[Path, ...]:
    """Write the page of ``rows`` and its plots into ``folder``; the files. They depend on the arguments alone.

    ``changes`` says of rows, named by their id (and ``/ordering`` where they have one), what changed since an earlier
    run: ``worse: length 9 -> 10``. CannotWrite, with the earlier files as they were, where the folder has no room.
    """
    results = Results(rows)
    pictures = all_plots(results)
    texts = {folder / f"{name}.svg": as_file(picture) for name, picture in pictures.items()}
    texts[folder / NAME] = page(title, results, pictures, changes)
    write_texts(texts)
    return tuple(texts)


def page(title: str, results: Results, pictures: Mapping[str, str], changes: Mapping[str, str]) -> str:
    """The page as text."""
    data = {"table": table_data(results.rows, changes), "scatter": scatter_data(results)}
    still = [name for name in pictures if not name.startswith("scatter-")]
    moving = [name for name in pictures if name.startswith("scatter-")]
    parts = {
        "facts": _facts(results, changes),
        "changes": _changed(results, changes),
        "summary": summary(results, changes),
        "tables": tables(results, changes),
        "figures": "\n".join(_figure(name, pictures[name]) for name in still),
        "scatters": "\n".join(_figure(name, pictures[name]) for name in moving),
    }
    values = {"title": title or "Results of a suite", "moving": bool(moving)}
    values |= {name: Markup(text) for name, text in parts.items()}
    return kit.page(
        __name__,
        "page.html",
        [STYLE, kit.own("page.css", __name__)],
        [kit.own("page.js", __name__)],
        values | {"data": data},
    )


def _figure(name: str, picture: str) -> str:
    return f'<figure id="{name}">{picture}<figcaption><a href="{name}.svg">{name}.svg</a></figcaption></figure>'


def _facts(results: Results, changes: Mapping[str, str]) -> str:
    rows = results.rows
    versions = sorted({f"{name} {version}" for row in rows for name, version in row.versions.items()})
    facts = {
        "suite": ", ".join(dict.fromkeys(row.suite for row in rows)),
        "rows": f"{len(rows):,}",
        "models": f"{len(results.models):,}",
        "configurations": f"{len(results.configurations):,}",
        "hosts": ", ".join(sorted({row.host for row in rows if row.host})),
        "versions": ", ".join(versions),
        "deviating rows": str(sum(bool(row.deviates) for row in rows) or ""),
    }
    return "".join(f"<dt>{name}</dt><dd>{escaped(told)}</dd>" for name, told in facts.items() if told)


def _changed(results: Results, changes: Mapping[str, str]) -> str:
    """The rows that changed, by name; '' where none are told."""
    told = [(row, changes[row.key]) for row in results.rows if row.key in changes]
    if not told:
        return ""
    entries = "".join(
        f"<li>{escaped(row.model)}, {escaped(row.configuration)}"
        f"{escaped(f', {row.ordering}' if row.ordering else '')}: <strong>{escaped(sentence)}</strong></li>"
        for row, sentence in told
    )
    rows = f"{len(told)} row{'s' * (len(told) != 1)} changed"
    return f'<details class="changes" open><summary>{rows} since the earlier run</summary><ul>{entries}</ul></details>'
