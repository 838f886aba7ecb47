"""The report in Markdown, for a pull request: what matters in under 60 lines, whatever the result."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from bmc.errors import listed, printable
from bmc.records import dataclass
from chaincover.report.console import shortened
from chaincover.report.html import bounds, goals, summary
from chaincover.report.html.finding import Finding
from chaincover.report.html.saved import Saved, safely

MOST_LINES = 59
"""Lines of the report at most. Twice as many: a comment of two screens."""

LONGEST = 240
"""Characters of a cell or a sentence at most. Twice as many: twice as much to read before the next row."""

SIGNS = {summary.GOOD: "✓", summary.BAD: "✗", summary.OPEN: "?"}

NO_NAME = "&#8203;"
"""A space of no width: what follows is not taken for the name of a user, who else would be told of the comment."""

_SIGN = re.compile(r"^\W|\b_\B|\B_\b|(?<=_)_|&(?=[#\w])|[^\w .,:;=/()'\"%?!{}^+>&-]")
"""Signs that may mean something: at the beginning anything but letters, within words no underscore."""


@dataclass(frozen=True)
class Section:
    """A part with its heading: ``head`` are the lines above its ``rows``, of which the last may be left out."""

    heading: str
    head: tuple[str, ...]
    rows: tuple[str, ...]

    def lines(self, most: int) -> list[str]:
        """The section with so many rows at most, between empty lines; a last line says how many are left out."""
        left = len(self.rows) - most
        more = ["", f"and {left} more"] if left > 0 else []
        return [f"### {self.heading}", "", *self.head, *self.rows[:most], *more, ""]


def report(saved: Saved) -> tuple[str, Sequence[str]]:
    """The report as Markdown, and what is missing in it, a sentence each. Both depend on ``saved`` alone."""
    notes = saved.notes_on_data
    top = safely("the verdict", lambda: _top(saved), notes) or [f"## {_code(summary.name_of(saved))}", ""]
    makers = (("findings", _findings), ("goals", _not_covered), ("bound", _bound), ("comparison", _change))
    made = [safely(f"the part '{what}'", partial(make, saved), notes) for what, make in makers]
    sections = [section for section in made if section is not None]
    if notes:
        sections.append(Section("What is missing", (), tuple(f"- {_text(note)}" for note in notes)))
    most = max((len(section.rows) for section in sections), default=0)
    lines = _joined(top, sections, most)
    while len(lines) > MOST_LINES and most > 1:
        most -= 1
        lines = _joined(top, sections, most)
    return "\n".join(lines).rstrip("\n") + "\n", notes


def _joined(top: Sequence[str], sections: Sequence[Section], most: int) -> list[str]:
    return [*top, *(line for section in sections for line in section.lines(most))]


def _top(saved: Saved) -> list[str]:
    """The name, the verdict in a sentence, and the figures at a glance."""
    sentence, state = summary.sentence(saved)
    lines = [f"## {SIGNS[state]} {_code(summary.name_of(saved))}", "", f"**{_text(sentence)}**", ""]
    tiles = summary.tiles(saved)
    if not tiles:
        return lines
    rows = (
        [_text(tile.title) for tile in tiles],
        ["---"] * len(tiles),
        [f"{SIGNS[tile.state] + ' ' if tile.state else ''}{_text(tile.figure)}" for tile in tiles],
        [_text(tile.more) for tile in tiles],
    )
    return [*lines, *map(_row, rows), ""]


def _findings(saved: Saved) -> Section | None:
    """What failed: where, and what the consequent reads there."""
    found = [each for each in goals.findings_of(saved) if each.kind != "goal"]
    if not found:
        return None
    rows = [_row((_text(each.title), "" if each.step is None else str(each.step), _what(each))) for each in found]
    return Section("Failed", (_row(("finding", "step", "what happened")), _row(("---", "--:", "---"))), tuple(rows))


def _what(finding: Finding) -> str:
    values = "; ".join(
        f"{_code(part.variable)} is {_code(part.actual)} at step {part.step}"
        + (f", expected {_code(part.expected)}" if part.expected else "")
        for part in finding.parts
    )
    shown = f"{_code(finding.property)}<br>" if finding.property else ""
    return f"{shown}{_text(finding.text)}{f' {values}.' if values else ''}"


def _not_covered(saved: Saved) -> Section | None:
    """Goals that are not covered, and whether it is proved that none can be."""
    found = goals.not_covered(saved)
    if not found:
        return None
    rows = [
        _row(
            (
                _text(listed(each.goals)),
                each.verdict,
                _text(each.detail),
                "yes" if each.proved else "no",
                _text(each.advice),
            )
        )
        for each in found
    ]
    head = _row(("goals", "verdict", "why", "proved that no chain covers them", "next")), _row(["---"] * 5)
    return Section("Not covered", head, tuple(rows))


def _bound(saved: Saved) -> Section | None:
    """Length and bound of each chain."""
    told = [bounds.why(chain) for chain in saved.chains]
    rows = [f"- {_code(each['file'])}: {_text(' '.join(each['sentences']))}" for each in told]
    return Section("Length and bound", (), tuple(rows)) if rows else None


def _change(saved: Saved) -> Section | None:
    """What differs from the earlier result."""
    found = bounds.change(saved)
    if found is None:
        return None
    rows = [f"- {_text(sentence)}" for sentence in found["sentences"]]
    rows += [f"- {_code(name)}: {_text(before)} before, {_text(now)} now" for name, before, now in found["rows"]]
    return Section("Compared with the earlier result", (), tuple(rows))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _text(text: object) -> str:
    """A text in which nothing is taken for Markdown, HTML, or the name of a user."""
    return _escaped(shortened(printable(str(text)), LONGEST))


def _code(name: object) -> str:
    """A name or a property in letters of one width."""
    return f"<code>{_escaped(shortened(printable(str(name)), LONGEST))}</code>"


def _escaped(text: str) -> str:
    """Signs that mean something in Markdown, where they stand, as numbers: these are taken for nothing but the sign."""
    return _SIGN.sub(lambda found: f"&#{ord(found[0])};{NO_NAME if found[0] == '@' else ''}", text)
