"""The report as a table for other tools: a row for each goal of a chain, and for each of a judged run, as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from bmc.errors import InputRefused
from chaincover.exporters.table import as_text
from chaincover.formats.document import DAMAGED
from chaincover.report.html.goals import rows_of
from chaincover.report.html.saved import Saved, contradictions, damage
from chaincover.report.html.summary import rulings_of, seconds

AGAIN = "generate it again, or make the page, which shows what is left of it"
"""What to do about a damaged result."""

TITLES = (
    "requirement",
    "goal",
    "property",
    "criterion",
    "verdict",
    "detail",
    "ruling",
    "ruling detail",
    "consequent",
    "run",
    "step",
    "seconds",
    "violated at step",
)
"""The columns. ``run`` is the file of the chain, or of the judgement; ``step`` where the goal is covered in it."""


def report(saved: Saved) -> tuple[str, Sequence[str]]:
    """The table as CSV, and what is missing, a sentence each. Both depend on ``saved`` alone.

    Commas are between the cells, and none is taken for a formula.

    InputRefused where the result is damaged: part of a table would be taken for the whole.
    """
    wrong = [text for chain in saved.chains for text in contradictions(chain.file, chain.data)]
    if wrong:
        raise InputRefused(wrong[0].removesuffix("."), hint=AGAIN)
    try:
        rows = [*_of_chains(saved), *_of_judgements(saved)]
    except DAMAGED as error:
        text = f"the result is damaged ({damage(error)})"
        raise InputRefused(text, hint=AGAIN) from None
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(TITLES)
    writer.writerows([as_text(cell) for cell in row] for row in rows)
    return file.getvalue(), saved.notes_on_data


def _of_chains(saved: Saved) -> Iterator[list[str]]:
    """A row for each goal of the chains."""
    violated = {ruling["goal"]: ruling["step"] for ruling in rulings_of(saved)}
    for row in rows_of(saved):
        what = [row.requirement, row.goal, row.property, row.criterion, row.verdict, row.detail]
        ruled = [row.ruling, row.ruling_detail, row.consequent]
        at = row.exercised
        where = [at.chain, _number(at.step), at.time.removesuffix(" s"), _number(violated.get(row.goal))]
        yield [*what, *ruled, *where]


def _of_judgements(saved: Saved) -> Iterator[list[str]]:
    """A row for each goal of each judged run: ``ruling`` is what became of the requirement there."""
    own = {row.goal: row for row in rows_of(saved)}
    period = (saved.chains[0].data["controller"]["period"] if saved.chains else None) or None
    for name, judged in saved.judged:
        for goal in judged["goals"]:
            row = own.get(goal["name"])
            of_chain = [row.requirement, row.goal, row.property, row.criterion] if row else ["", goal["name"], "", ""]
            held = goal["consequent_held"]
            ruled = [goal["requirement"] or "", goal["why"] or "", "" if held is None else "held" if held else "failed"]
            step = goal["covered_at"]
            time = "" if step is None else seconds(step, period).removesuffix(" s")
            where = [name, _number(step), time, _number(goal["failed_at"])]
            yield [*of_chain, goal["verdict"], goal["detail"] or "", *ruled, *where]


def _number(step: int | None) -> str:
    return "" if step is None else str(step)
