"""A run as a table of few rows: the steps at which something changes, with the variables that a property reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from bmc.errors import counted
from bmc.records import dataclass
from chaincover.report.console import LEAST_FOLDED
from chaincover.report.html.trace import Differing, Trace, Variable

MOST_COLUMNS = 10
"""Columns of variables. Twice as many: a wider table, for properties that read little."""

MOST_ROWS = 40
"""Rows of a table in the page. Twice as many: twice as much is printed of a long run; the waveform has all of it."""


Cell = tuple[str, str, bool]
"""The text of a value, what was expected in its place ('': nothing else), and whether it is new."""

Row = tuple[str, tuple[Cell, ...], str]
"""The text of a row's steps, its values, and what is marked there; '' for nothing."""

Marks = Mapping[int, str]
"""What is said of single steps, each of which has a row of its own."""

NO_MARKS: Marks = {}


@dataclass(frozen=True)
class StepTable:
    """Titles, rows, and as ``note`` what is left out."""

    titles: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]
    note: str


def step_table(
    trace: Trace,
    shown: Sequence[Variable],
    read: Sequence[str],
    marks: Marks = NO_MARKS,
    part: tuple[int, int] | None = None,
) -> StepTable:
    """The table of a trace, or of the ``part`` of it from one step to another; ``read`` are the variables that come
    first; the steps of ``marks`` stand out."""
    first, last = (0, trace.length) if part is None else (max(0, part[0]), min(part[1], trace.length))
    own = trace if (first, last) == (0, trace.length) else _part(trace, first, last)
    chosen = chosen_variables(own, shown, read)
    columns = [(var, _expected(own, var)) for var in chosen]
    rows: list[Row] = []
    for begin, end in _spans(own, [step - first for step in marks]):
        ends = begin + first == trace.length
        cells = tuple(_cell(own, var, expected, (begin, end), ends) for var, expected in columns)
        steps = str(begin + first) if end - begin == 1 else f"{begin + first}..{end + first - 1}"
        rows.append((steps, cells, marks.get(begin + first, "")))
    left = sum(_acts(var, own) and var not in chosen for var in shown)
    notes = [] if own is trace else [f"Steps {first} to {last} of {trace.length}"]
    notes += [f"{counted(left, 'more variable')} with changes or inputs: the waveform has all"] if left else []
    if len(rows) > MOST_ROWS:
        notes.append(f"{counted(len(rows) - MOST_ROWS, 'row')} left out: the waveform has all")
        rows = _chosen_rows(rows)
    titles = tuple((var.short, "input" if var.role == "inputs" else "before") for var in chosen)
    return StepTable(titles, tuple(rows), "; ".join(notes))


def _part(trace: Trace, first: int, last: int) -> Trace:
    """The steps from ``first`` to ``last`` of a run as one that begins there."""
    columns = {name: column[first : last + 1] for name, column in trace.columns.items()}
    differs = {
        name: [
            Differing(max(each.first, first) - first, min(each.end, last + 1) - first, each.expected) for each in own
        ]
        for name, every in trace.differs.items()
        if (own := [each for each in every if each.first <= last and each.end > first])
    }
    goals, failed = (
        tuple((step - first, goal) for step, goal in flags if first <= step <= last)
        for flags in (trace.goals, trace.failed)
    )
    return replace(trace, length=last - first, columns=columns, differs=differs, goals=goals, failed=failed)


def _cell(trace: Trace, var: Variable, expected: Mapping[int, str], steps: tuple[int, int], ends: bool) -> Cell:
    """A variable in the row of the ``steps`` from one to before another, with what was ``expected`` there; ``ends``:
    the run has ended, and has no inputs any more."""
    first, end = steps
    if var.role == "inputs" and ends:
        return "(end)", "", False
    column = trace.columns[var.name]
    value, last = var.called(column[first]), var.called(column[end - 1])
    new = first > 0 and column[first] != column[first - 1]
    return value if value == last else f"{value}..{last}", expected.get(first, ""), new


def _chosen_rows(rows: Sequence[Row]) -> list[Row]:
    """The rows that are shown of too many: the first and the last ones, or where some are marked, those up to the
    last of these and a few behind it."""
    half = MOST_ROWS // 2
    at = max((place for place, (*_, marked) in enumerate(rows) if marked), default=None)
    if at is None:
        return [*rows[:half], *rows[-half:]]
    end = min(len(rows), max(at + half // 2, MOST_ROWS))
    return [*rows[end - MOST_ROWS : end]]


def chosen_variables(trace: Trace, shown: Sequence[Variable], read: Sequence[str]) -> list[Variable]:
    """The variables of a table or a drawing: those that are ``read``, then those that act, as many as fit."""
    by_name = {var.name: var for var in shown}
    acting = [var.name for var in shown if trace.differs.get(var.name)]
    acting += [var.name for var in shown if _acts(var, trace)]
    names = [*dict.fromkeys([*(name for name in read if name in by_name), *acting])][:MOST_COLUMNS]
    return [var for var in shown if var.name in names]


def _acts(var: Variable, trace: Trace) -> bool:
    """Whether a variable changes in the run, or is an input that is not 0 all the time: that brings the run about."""
    column = trace.columns[var.name]
    if var.role == "inputs":
        return any(value not in (0, None) for value in column)
    return len(set(map(str, column))) > 1


def _expected(trace: Trace, var: Variable) -> dict[int, str]:
    """What was expected of a variable, by step, where it is not so."""
    return {step: each.expected for each in trace.differs.get(var.name, ()) for step in range(each.first, each.end)}


def _spans(trace: Trace, marks: Sequence[int]) -> list[tuple[int, int]]:
    """First step and step behind the last of each row: waiting is one row, a marked step has its own."""
    ends: dict[int, int] = {}
    for begin, end in trace.folds(LEAST_FOLDED):
        apart = {at for mark in marks for at in (mark, mark + 1) if begin < at < end}
        ends |= pairwise(sorted({begin, end, *apart}))
    spans, step = [], 0
    while step <= trace.length:
        spans.append((step, ends.get(step, step + 1)))
        step = spans[-1][1]
    return spans
