"""Results in notebooks: a table of few rows, of which every name is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from chaincover.chain import Bounds, Verdict

MOST_ROWS = 20
"""Rows of a table in a notebook. Twice as many: a result takes two screens."""


def table(caption: str, titles: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as HTML; None is an empty cell. Of many rows the first, and how many more there are."""
    every = [*rows]
    head = "".join(f"<th>{escape(title)}</th>" for title in titles)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in every[:MOST_ROWS])
    more = len(every) - MOST_ROWS
    if more > 0:
        body += f'<tr><td colspan="{len(titles)}">and {more} more</td></tr>'
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    return f'<td style="text-align: left">{"" if value is None else escape(str(value))}</td>'


def verdict_table(bounds: Bounds, verdicts: Sequence[Verdict]) -> str:
    """What became of each goal, below the length and its bound."""
    rows = [(each.goal, each.status, each.step, each.detail) for each in verdicts]
    return table(_caption(bounds), ("goal", "verdict", "step", "detail"), rows)


def _caption(bounds: Bounds) -> str:
    if bounds.length is None:
        return "no chain"
    proved = "proved minimal" if bounds.minimal else f"at least {bounds.lower} proved" if bounds.lower else "no bound"
    return f"length {bounds.length}, {proved}"
