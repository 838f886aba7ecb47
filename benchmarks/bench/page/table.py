"""Table 1 of the paper from a suite's rows, and the summary of its configurations, as HTML."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.bench.page.results import Best, Cell, Key, Model, Results, seconds_of
from benchmarks.bench.row import Row
from benchmarks.bench.tools.protocol import CRASHED, MISSING, OUT_OF_MEMORY, TIME_OUT
from chaincover.report.html.kit import average, escaped, number

PUBLISHED = {
    "lkh": "ChainCover 2014, LKH",
    "clingo": "ChainCover 2014, clingo",
    "fshell": "FShell",
    "random": "random",
}
PRINTED = "Printed, of other people’s models: sizes compare, lengths and times do not"
SHORT = {TIME_OUT: "t.o.", OUT_OF_MEMORY: "memory"}
Changes = Mapping[str, str]


def tables(results: Results, changes: Changes) -> str:
    """A table for the models with printed numbers, and one for each family of the others; the first one is open."""
    printed = [name for name, model in results.models.items() if model.printed]
    groups = [("Models of the paper's Table 1", printed)] if printed else []
    for family, names in results.families().items():
        rest = [name for name in names if not results.models[name].printed]
        if rest:
            groups.append((family, rest))
    out = []
    for order, (heading, names) in enumerate(groups):
        count = f"{len(names)} model{'s' * (len(names) != 1)}"
        out.append(f"<details{' open' * (order == 0)}><summary>{escaped(heading)} ({count})</summary>")
        out.append(f'<div class="wide" tabindex="0" role="region" aria-label="{escaped(heading)}">')
        out += _table(results, names, heading, changes)
        out.append("</div></details>")
    return "\n".join(out) or "<p>There are no rows.</p>"


def _table(results: Results, names: Sequence[Key], heading: str, changes: Changes) -> list[str]:
    models = [results.models[name] for name in names]
    runs = {c: max((len(cell.rows) for cell in results.of(c, names)), default=0) for c in results.configurations}
    columns = [name for name, number_of_runs in runs.items() if number_of_runs]
    printed = dict.fromkeys(tool for model in models for tool in model.printed)
    published = [*(tool for tool in PUBLISHED if tool in printed), *(tool for tool in printed if tool not in PUBLISHED)]
    sizes = [each for each in SIZES if any(each[2](model) for model in models)]
    labels = [
        escaped(name) + (f"<br><small>mean of {runs[name]} runs</small>" if runs[name] > 1 else "") for name in columns
    ]
    out = [f'<table class="paper"><caption class="hidden">{escaped(heading)}</caption><thead>']
    out += _head(sizes, labels, [escaped(PUBLISHED.get(tool, tool)) for tool in published])
    out.append("</thead><tbody>")
    for name, model in zip(names, models, strict=True):
        out.append(f'<tr><th scope="row" class="name" title="{escaped(model.name)}">{escaped(model.name)}</th>')
        out += [f"<td>{escaped(size(model))}</td>" for _, _, size in sizes]
        out += _cells([results.cell(name, column) for column in columns], results.best[name], changes)
        out += [_printed(model.printed.get(tool)) for tool in published]
        out.append("</tr>")
    return [*out, "</tbody></table>"]


def _head(sizes: Sequence[Size], columns: Sequence[str], published: Sequence[str]) -> list[str]:
    """Three lines: whose numbers, of which configuration, of what."""

    def of_all(labels: Sequence[str], kind: str) -> list[str]:
        return [f'<th colspan="3" scope="colgroup" class="start{kind}">{label}</th>' for label in labels]

    def of_each(labels: Sequence[str], kind: str) -> list[str]:
        first, other = f'<th scope="col" class="start{kind}">', f'<th scope="col" class="{kind.strip()}">'
        return [f"{first}tcs</th>{other}len</th>{other}time</th>"] * len(labels)

    whose = [f'<th colspan="{3 * len(columns)}" scope="colgroup" class="start">This suite</th>']
    if published:
        whose.append(f'<th colspan="{3 * len(published)}" scope="colgroup" class="start printed">{PRINTED}</th>')
    return [
        '<tr><th rowspan="3" scope="col" class="name">Model</th>',
        f'<th rowspan="2" colspan="{len(sizes)}" scope="colgroup">Size</th>',
        *whose,
        "</tr><tr>",
        *of_all(columns, ""),
        *of_all(published, " printed"),
        "</tr><tr>",
        *(f'<th scope="col"><abbr title="{escaped(title)}">{name}</abbr></th>' for name, title, _ in sizes),
        *of_each(columns, ""),
        *of_each(published, " printed"),
        "</tr>",
    ]


def _bit(model: Model, place: int) -> str:
    return model.bits[place] if len(model.bits) > place else ""


Size = tuple[str, str, Callable[[Model], str]]
SIZES: tuple[Size, ...] = (
    ("s", "state: Booleans (b), integers (i), floats (f)", lambda m: _bit(m, 0)),
    ("i", "inputs: Booleans (b), integers (i), floats (f)", lambda m: _bit(m, 1)),
    ("P", "properties or other goals", lambda m: str(m.goals)),
    ("J&gt;1", "goals longer than one step", lambda m: "" if m.long_goals is None else str(m.long_goals)),
    ("states", "reachable states", lambda m: "" if m.states is None else str(m.states)),
)


def _cells(cells: Sequence[Cell | None], best: Best, changes: Changes) -> list[str]:
    """The cells of a row, the best of each measure in bold."""
    out = []
    for cell in cells:
        if cell is None:
            out.append('<td class="start" colspan="3"></td>')
            continue
        mark = _mark(cell.rows, changes)
        if not cell.complete:
            out.append(_incomplete(cell, mark))
            continue
        time = _bold(number(cell.seconds), cell.seconds == best.seconds) if cell.solved else _stopped(cell)
        length = _bold(_number(cell.length), cell.length == best.length)
        if cell.spread:
            length = f'<abbr title="{cell.spread}">{length}</abbr>'
        out.append(
            f'<td class="start">{_bold(_number(cell.chains), cell.chains == best.chains)}</td>'
            f'<td>{length}<span class="said">{_proof(cell)}{mark}</span></td><td>{time}</td>'
        )
    return out


def _number(value: float | None) -> str:
    return "" if value is None else average(value)


def _bold(text: str, best: bool) -> str:
    return f"<b>{text}</b>" if best else text


def _proof(cell: Cell) -> str:
    if cell.minimal:
        return '<abbr class="proof" title="proved minimal for this number of test cases">✓</abbr>'
    if cell.lower:
        return f'<small title="proved lower bound">≥{cell.lower}</small>'
    return ""


def _stopped(cell: Cell) -> str:
    told = f"{cell.status} after {number(max(row.seconds for row in cell.rows))} s"
    return f'<abbr title="{escaped(told)}">{escaped(SHORT.get(cell.status, cell.status))}</abbr>'


def _incomplete(cell: Cell, mark: str) -> str:
    if not cell.ran:
        return f'<td class="start bad" colspan="3">{MISSING}{mark}</td>'
    share = number(float(int(100 * cell.coverage)))  # rounded down: 100 % is said of all goals only
    covered = f'{share}&#8239;% <abbr title="goals covered, of all asked for">cov.</abbr>{mark}'
    time = number(cell.seconds) if cell.finished else _stopped(cell)
    return f'<td class="start bad" colspan="2">{covered}</td><td class="bad">{time}</td>'


def _mark(rows: Sequence[Row], changes: Changes) -> str:
    told = [changes[row.key] for row in rows if row.key in changes]
    told += [f"deviates: {row.deviates}" for row in rows if row.deviates]
    return f' <abbr class="changed" title="{escaped("; ".join(told))}">◆</abbr>' if told else ""


def _printed(values: Any) -> str:
    """Three cells of numbers as they are printed: three, or how much was covered and the time, or a word."""
    listed = list(values) if isinstance(values, list | tuple) else ([] if values is None else [values])
    if len(listed) == 3:
        first, *others = listed
        return f'<td class="start printed">{escaped(first)}</td>' + "".join(
            f'<td class="printed">{escaped(each)}</td>' for each in others
        )
    if len(listed) == 2:
        share, time = map(escaped, listed)
        return f'<td class="start printed" colspan="2">{share}</td><td class="printed">{time}</td>'
    return f'<td class="start printed" colspan="3">{escaped(", ".join(map(str, listed)))}</td>'


SUMMARY = (
    *("models", "all goals covered", "proved minimal", "shortest", "fastest", "time-outs", "out of memory", "crashed"),
    *("missing", "seconds in all", "changed"),
)


def summary(results: Results, changes: Changes) -> str:
    """A row for each configuration: how its runs ended, and how many models they solved."""
    out = ['<table class="paper"><caption class="hidden">Summary of the configurations</caption>']
    out.append('<thead><tr><th scope="col" class="name">Configuration</th>')
    out += [f'<th scope="col">{head}</th>' for head in SUMMARY]
    out.append("</tr></thead><tbody>")
    for name in results.configurations:
        places = [(results.best[key], cell) for key in results.models if (cell := results.cell(key, name)) is not None]
        cells = [cell for _, cell in places]
        rows = [row for cell in cells for row in cell.rows]
        numbers = [len(cells), sum(c.complete for c in cells), sum(c.minimal for c in cells)]
        numbers.append(sum(cell.complete and cell.length == best.length for best, cell in places))
        numbers.append(sum(cell.solved and cell.seconds == best.seconds for best, cell in places))
        numbers += [sum(row.status == status for row in rows) for status in (TIME_OUT, OUT_OF_MEMORY, CRASHED, MISSING)]
        told = [
            *map(str, numbers),
            number(sum(map(seconds_of, rows))),
            str(sum(row.key in changes for row in rows)),
        ]
        out.append(f'<tr><th scope="row" class="name">{escaped(name)}</th>')
        out += [f"<td>{each}</td>" for each in told]
        out.append("</tr>")
    return "\n".join([*out, "</tbody></table>"])
