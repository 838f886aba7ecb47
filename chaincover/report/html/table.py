"""A run as a table of few rows: the steps at which something changes, with the variables that a property reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bmc.errors import counted
from bmc.records import dataclass
from chaincover.report.console import LEAST_FOLDED
from chaincover.report.html.trace import Trace, Variable

MOST_COLUMNS = 10
"""Columns of variables. Twice as many: a wider table, for properties that read little."""

MOST_ROWS = 40
"""Rows of a table in the page. Twice as many: twice as much is printed of a long run; the waveform has all of it."""


Row = tuple[str, tuple[tuple[str, bool], ...], bool]
"""The text of a row's steps, its values and whether each is new, and whether the row is marked."""


@dataclass(frozen=True)
class StepTable:
    """Titles, and rows each with the text of its steps, the values, whether they are new, and whether it is marked.

    ``note``: what is left out.
    """

    titles: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]
    note: str


def step_table(trace: Trace, shown: Sequence[Variable], read: Sequence[str], marked: int | None) -> StepTable:
    """The table of a trace; ``read`` are the variables that come first; the step ``marked`` stands out."""
    chosen = chosen_variables(trace, shown, read)
    columns = [(var, _expected(trace, var)) for var in chosen]
    rows: list[Row] = []
    for first, end in _spans(trace, marked):
        cells = tuple(_value_and_new(trace, var, expected, first, end) for var, expected in columns)
        steps = str(first) if end - first == 1 else f"{first}..{end - 1}"
        rows.append((steps, cells, marked is not None and first <= marked < end))
    left = len([var for var in shown if _acts(var, trace) and var not in chosen])
    notes = [f"{counted(left, 'more variable')} with changes or inputs: the waveform has all"] if left else []
    if len(rows) > MOST_ROWS:
        notes.append(f"{counted(len(rows) - MOST_ROWS, 'row')} left out: the waveform has all")
        rows = _chosen_rows(rows)
    titles = tuple((var.short, "input" if var.role == "inputs" else "before") for var in chosen)
    return StepTable(titles, tuple(rows), "; ".join(notes))


def _value_and_new(trace: Trace, var: Variable, expected: Mapping[int, str], first: int, end: int) -> tuple[str, bool]:
    """The text of a variable in the row of the steps ``first`` to ``end`` - 1, with what was ``expected`` there, and
    whether its value is new."""
    column = trace.columns[var.name]
    value, last = var.called(column[first]), var.called(column[end - 1])
    new = first > 0 and column[first] != column[first - 1] and not _end(var, trace, first)
    text = _cell(var, value, last, trace, first)
    return (f"{text} ≠ {expected[first]} expected" if first in expected else text, new)


def _chosen_rows(rows: Sequence[Row]) -> list[Row]:
    """The rows that are shown of too many: the first and the last ones, or where one is marked, those up to it and
    a few behind it."""
    half = MOST_ROWS // 2
    at = next((place for place, (*_, marked) in enumerate(rows) if marked), None)
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


def _spans(trace: Trace, marked: int | None) -> list[tuple[int, int]]:
    """First step and step behind the last of each row: waiting is one row, the marked step has its own."""
    folded = dict(trace.folds(LEAST_FOLDED))
    spans, step = [], 0
    while step <= trace.length:
        end = folded.get(step, step + 1)
        if marked is not None and step < marked < end:
            end = marked
        spans.append((step, end))
        step = end
    return spans


def _end(var: Variable, trace: Trace, step: int) -> bool:
    return var.role == "inputs" and step == trace.length


def _cell(var: Variable, value: str, last: str, trace: Trace, step: int) -> str:
    if _end(var, trace, step):
        return "(end)"
    return value if value == last else f"{value}..{last}"
