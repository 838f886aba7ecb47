"""The columns of a table of steps: how many characters each has, its title in several lines, and what is cut."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import pairwise, product

from bmc.records import dataclass
from chaincover.report.console import MANY_LINES, NARROW, Console, shortened

LEAST_ENDS = 3
"""The first and the last rows of a long table that are shown in any case."""


@dataclass(frozen=True)
class Column:
    """The lines of a title, the words of each row, and what stands above the title.

    ``least``: characters that are enough where the words take more: these are cut, or broken into lines (``whole``).
    ``right``: whether they are set to the right.
    """

    title: Sequence[str]
    words: Sequence[Sequence[str]]
    group: str = ""
    least: int = 0
    whole: bool = False
    right: bool = False

    @property
    def wide(self) -> int:
        """Characters for all of it."""
        return max(*map(len, self.title), max(len(" ".join(words)) for words in self.words))

    @property
    def enough(self) -> int:
        """Characters without which it is not shown."""
        return max(*map(len, self.title), min(self.wide, self.least)) if self.least else self.wide

    def cell(self, row: int, width: int, everything: bool) -> str:
        """The words of a row, cut to ``width`` characters where they may be and not ``everything`` is to be told."""
        words = self.words[row]
        return " ".join(words) if everything or self.whole or not self.least else cut(words, width)


def fit(columns: Sequence[Column], width: int) -> bool:
    return sum(column.enough + 2 for column in columns) - 2 <= width


def widths_of(columns: Sequence[Column], width: int) -> list[int]:
    """Characters for each column: what is left beyond what is enough goes to inputs, to goals, then to changes."""
    widths = [column.enough for column in columns]
    left = width - sum(widths) - 2 * (len(widths) - 1)
    for number in reversed(range(len(columns))):
        more = max(0, min(left, columns[number].wide - widths[number]))
        widths[number] += more
        left -= more
    while left < 0 and max(widths) > NARROW:
        number = widths.index(max(widths))
        widths[number] -= 1
        left += 1
    return widths


def head_of(columns: Sequence[Column], widths: Sequence[int], out: Console, right: Collection[int]) -> list[str]:
    """The lines above the rows: groups, then titles, which end on one line."""
    lines, groups, at = max(len(column.title) for column in columns), "", 0
    for column, width in zip(columns, widths, strict=True):
        if column.group:
            groups = f"{groups:{at}}{column.group}  " if len(groups) <= at else f"{groups}{column.group}  "
        at += width + 2
    titles = [[*[""] * (lines - len(column.title)), *column.title] for column in columns]
    rows = [text for row in zip(*titles, strict=True) for text in out.placed(row, widths, right)]
    return [*([groups.rstrip()] if groups else []), *rows]


def cut(words: Sequence[str], width: int) -> str:
    """As many of ``words`` as fit, and the number of the others."""
    text = " ".join(words)
    kept = len(words)
    while len(text) > width and kept > 1:
        kept -= 1
        text = f"{' '.join(words[:kept])} +{len(words) - kept}"
    return shortened(text, width)


def broken(name: str, width: int, most: int) -> list[str]:
    """A title in at most ``most`` lines, as narrow as its parts allow where it is wider than ``width``."""
    parts = re.findall(r"[^_.\[>A-Z]+[_.>]*|[A-Z]+[^_.\[>A-Z]*[_.>]*|\[[^]]*\]|.", name)
    for wide in range(width, len(name)):
        lines = [""]
        for part in parts:
            if len(lines[-1]) + len(part) <= wide or not lines[-1]:
                lines[-1] += part
            else:
                lines.append(part)
        if len(lines) <= most and max(map(len, lines)) <= wide:
            return lines
    return [name]


def shown_rows(number: int, wanted: Sequence[Sequence[int]], room: int) -> list[int]:
    """Which of so many rows are shown where there is ``room`` for so many, and a line more: the first of the lists
    ``wanted`` for which there is room beside the first and the last rows, and as many of these as there is room for.
    A list that needs more room has that of ``MANY_LINES``."""
    if number <= room + 1:
        return [*range(number)]
    for rows, most in product(wanted, (room, max(room, MANY_LINES))):
        for ends in range(room, LEAST_ENDS - 1, -1) if len(rows) <= most else ():
            shown = {*rows, *range((ends + 1) // 2), *range(number - ends // 2, number)}
            gaps = [range(a + 1, b) for a, b in pairwise([-1, *sorted(shown), number]) if b - a > 1]
            if len(shown) + len(gaps) <= most + 1:
                return sorted(shown.union(*(gap for gap in gaps if len(gap) == 1)))
    return [*range((room + 1) // 2), *range(number - room // 2, number)]
