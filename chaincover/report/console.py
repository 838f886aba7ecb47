"""Results for the terminal: what was found and what failed, each criterion, the chain, what is left to do."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import textwrap
from collections.abc import Collection, Iterable, Sequence
from itertools import zip_longest
from typing import IO, TYPE_CHECKING

import click

from bmc.ending import INTERRUPT
from bmc.errors import FEW, NAMED, counted, listed, printable
from bmc.formulas.value_sets import joined
from chaincover.chain import (
    COVERED,
    NO_WAY_TO_FINAL,
    NOT_WITHIN_BOUND,
    STATUSES,
    UNDECIDED,
    UNREACHABLE,
    Bounds,
    Verdict,
)
from chaincover.options import Options
from chaincover.result import BY
from chaincover.verdicts import infeasible, next_step
from properties.goal import Goal

if TYPE_CHECKING:
    from bmc.engines.dead_ends import DeadEnd

WIDTH = 120
"""Characters in a line at most, where the output is no terminal of another width."""

MOST_LINES = 40
"""Lines that a command tells at most, unless asked for all."""

LEAST_FOLDED = 3
"""So many steps of waiting at least are shown as one row, and so many variables of one object as one."""

NARROW = 12
"""No column of a table is broken into lines of fewer characters."""

Styled = tuple[str, str]
"""A line and its style."""


class Console:
    """Lines and tables on ``file`` (standard output), in colours only where that is a terminal and NO_COLOR is not set.

    ``width``: characters in a line; the terminal's, else that of COLUMNS, else ``WIDTH``. ``everything``: whatever was
    found is to be told, however long.
    """

    def __init__(self, file: IO[str] | None = None, width: int = 0, everything: bool = False) -> None:
        self.file = file or sys.stdout
        self.everything = everything
        self._plain = not self.file.isatty() or bool(os.environ.get("NO_COLOR"))
        self.width = width or columns_of(self.file)
        self._kept: list[Styled] | None = None

    def part(self) -> Console:
        """A console of the same width that keeps its lines until they are shown."""
        made = Console(self.file, self.width, self.everything)
        made._kept = []
        return made

    @property
    def kept(self) -> Sequence[Styled]:
        """The lines of a part."""
        return self._kept or ()

    def show(self, *parts: Console) -> None:
        """The lines that ``parts`` have kept."""
        for text, style in (line for part in parts for line in part.kept):
            self._put(text, style)

    def cut(self, most: int, rest: str) -> Console:
        """This part in at most so many lines, the last of which says of the others ``rest``; whole if all is wanted."""
        if self._kept is not None and len(self._kept) > most and not self.everything:
            left_out = counted(len(self._kept) - most + 1, "more line")
            self._kept[most - 1 :] = [(f"and {left_out}: {rest}", "")]
        return self

    def line(self, text: str, style: str = "") -> None:
        """A line, broken between words where it is too long; ``style`` may be ``bold`` or ``bold red``."""
        for row in _wrapped(printable(text), self.width):
            self._put(row, style)

    def _put(self, text: str, style: str) -> None:
        if self._kept is not None:
            self._kept.append((text, style))
            return
        if style and not self._plain:
            text = click.style(text, bold=True, fg="red" if style == "bold red" else None)
        click.echo(text, self.file)

    def table(self, titles: Sequence[str], rows: Iterable[Sequence[str]], right: Collection[str] = ()) -> None:
        """Columns below their ``titles``, those of ``right`` set to the right; wide ones are broken where they must."""
        texts = [[printable(cell) for cell in row] for row in (titles, *rows)]
        widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
        while sum(widths) + 2 * (len(widths) - 1) > self.width and max(widths) > NARROW:
            widths[widths.index(max(widths))] -= 1
        numbers = {number for number, title in enumerate(titles) if title in right}
        for number, row in enumerate(texts):
            for text in self.placed(row, widths, numbers):
                self._put(text, "" if number else "bold")

    @staticmethod
    def placed(cells: Sequence[str], widths: Sequence[int], right: Collection[int] = ()) -> list[str]:
        """A row of a table, in as many lines as it needs; cells of columns in ``right`` are set to the right."""
        both = zip(cells, widths, strict=True)
        broken = [textwrap.wrap(cell, width) if len(cell) > width else [cell] for cell, width in both]
        lines = []
        for parts in zip_longest(*broken, fillvalue=""):
            each = enumerate(zip(parts, widths, strict=True))
            texts = [part.rjust(width) if number in right else part.ljust(width) for number, (part, width) in each]
            lines.append("  ".join(texts).rstrip())
        return lines


def columns_of(file: IO[str]) -> int:
    """Characters in a line of ``file``: of the terminal that it is, else as COLUMNS says, else ``WIDTH``."""
    with contextlib.suppress(OSError, ValueError):
        if file.isatty() and (columns := os.get_terminal_size(file.fileno()).columns):
            return columns
    return shutil.get_terminal_size((WIDTH, MOST_LINES)).columns


def _wrapped(text: str, width: int) -> list[str]:
    """``text`` in lines of at most ``width`` characters, as far as it has spaces to be broken at."""
    if len(text) <= width:
        return [text]
    indent = " " * (len(text) - len(text.lstrip()) + 2)
    return textwrap.wrap(text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def told_steps(steps: Sequence[int]) -> str:
    """The steps, rising, as text: ``steps 4, 16..23``; of very many the first ones and the number of the others."""
    spans = joined((step, step) for step in steps)
    told = ", ".join(
        f"{low}..{high}" if high - low > 1 else ", ".join(map(str, range(low, high + 1))) for low, high in spans[:NAMED]
    )
    rest = sum(high - low + 1 for low, high in spans[NAMED:])
    return f"step{'s' * (len(steps) > 1)} {told}" + (f" and {rest} more" if rest else "")


def shortened(text: str, width: int) -> str:
    """``text`` in at most ``width`` characters: of one word the end is kept, by which names differ, else the start."""
    if len(text) <= width:
        return text
    kept = max(width - 3, 0)
    return f"{text[:kept]}..." if " " in text else f"...{text[len(text) - kept :]}"


def console(everything: bool = False) -> Console:
    """Standard output."""
    return Console(everything=everything)


def say(out: Console, text: str, style: str = "") -> None:
    """A line, broken between words where it is too long."""
    out.line(text, style)


LEFT_OPEN = (UNDECIDED, NOT_WITHIN_BOUND)
"""Verdicts of goals that another chain may cover as well."""

MANY_LINES, FEW_LINES = 12, 6
"""Lines of one kind that a command tells, of what its user asked for and of what is beside it; ``-v`` tells all."""


def show_dead_end(out: Console, found: DeadEnd | None) -> None:
    """Why no run goes on after some step, if that was found."""
    if found is not None:
        say(out, f"{f'{found.where}: ' if found.where else ''}{found.message}", "bold red")
        say(out, f"  next: {found.hint}")


def goes_on_first(found: DeadEnd) -> str:
    """The advice about a goal that no run covers while none has more steps than ``found`` says."""
    return f"let runs go on after {counted(found.steps, 'step')} first, as told above"


def show_open_ends(out: Console, open_ends: Sequence[str], stopped_by: str, used_up: float | None) -> None:
    """What ended a run, and the ``open_ends`` that it leaves; ``used_up`` is its effort where that is used up."""
    if stopped_by:
        left = f"; left open: {', '.join(open_ends)}" if open_ends else ""
        say(out, f"{ended_by(stopped_by)}; what is told is valid{left}.")
    elif used_up is not None and open_ends:
        say(out, f"The effort {used_up:g} was used up; more of it (--effort) might settle: {', '.join(open_ends)}.")


def ended_by(stopped_by: str) -> str:
    """What ended a run early, as the beginning of a sentence."""
    return "Interrupted" if stopped_by == INTERRUPT else f"Stopped by {BY.get(stopped_by, stopped_by)}"


def proof_told(bounds: Bounds) -> str:
    """What is proved of the length of a chain, in brackets behind it."""
    shorter = f"none shorter than {bounds.lower}" if bounds.lower else "no lower bound yet"
    return "minimal" if bounds.minimal else shorter


def show_next_steps(
    out: Console, judged: Iterable[tuple[Goal, Verdict]], options: Options, no_step: DeadEnd | None = None
) -> None:
    """For each verdict but covered among ``judged``: the goals, why, and what can be done; generated ones apart."""
    part = out.part()
    advised = _advised(judged, options, no_step)
    for status, generated, advice in sorted(advised, key=lambda key: (STATUSES.index(key[0]), key[1])):
        named = advised[status, generated, advice]
        if len(named) > FEW and not out.everything:
            first, others = next(iter(named.items()))
            say(part, f"{status}: {listed([name for names in named.values() for name in names])}")
            say(part, f"  why {others[0]}: {first}")
            named = {}
        for why, names in named.items():
            say(part, f"{status}: {listed(names, len(names) if out.everything else NAMED)}")
            if why:
                say(part, f"  why: {why}")
        say(part, f"  next: {advice}")
    out.show(part.cut(MANY_LINES, "-v and the files of the run tell all verdicts"))


def _advised(
    judged: Iterable[tuple[Goal, Verdict]], options: Options, no_step: DeadEnd | None
) -> dict[tuple[str, bool, str], dict[str, list[str]]]:
    """For each verdict but covered, whether the goal was generated, and what can be done: the goals by reasons."""
    advised: dict[tuple[str, bool, str], dict[str, list[str]]] = {}
    for goal, verdict in judged:
        if verdict.status == COVERED:
            continue
        generated = bool(goal.generated)
        advice = next_step(verdict, generated, options)
        if no_step is not None and verdict.status in (UNREACHABLE, NO_WAY_TO_FINAL):
            advice = goes_on_first(no_step)
        names_by_reason = advised.setdefault((verdict.status, generated, advice), {})
        placed = goal.where is not None and not generated and verdict.status == UNREACHABLE
        names_by_reason.setdefault(verdict.detail, []).append(f"{goal.name} ({goal.where})" if placed else goal.name)
    return advised


def infeasible_ones(goals: Sequence[Goal], verdicts: Sequence[Verdict]) -> str:
    """How many generated goals are proved infeasible, in brackets, or ''."""
    count = len(infeasible(goals, verdicts))
    return f" ({count} generated {'one is' if count == 1 else 'ones are'} proved infeasible)" if count else ""


def minimal_for(verdicts: Sequence[Verdict]) -> str:
    """What is said of chains that are proved to be as short as possible: of which goals, where others are left open."""
    return f"minimal{' for these goals' if any(v.status in LEFT_OPEN for v in verdicts) else ''}"


def held_runs(hold: int) -> str:
    """What minimality and bounds speak of, where inputs are held for more than one tick; '' where they are not."""
    return f" among runs that hold inputs for {hold} ticks" if hold > 1 else ""


def held(found: bool | None) -> str:
    return "-" if found is None else "held" if found else "FAILED"
