"""Progress on stderr: what is done now, and how good the best answer is; and the seconds that each part took."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import click

from chaincover.chain import COVERED, Verdict
from chaincover.result import ChainResult

WIDTH = 118
"""Characters of the line that replaces itself on a terminal."""


def described(result: ChainResult) -> str:
    """The best answer so far in a line: goals covered, length in hand, lower bound and gap."""
    bounds, goals = result.bounds, goals_covered(result.verdicts)
    if result.chain is None:
        return f"{goals}; no chain yet" + (f", none is shorter than {bounds.lower} steps" if bounds.lower else "")
    steps = f"{bounds.length} step{'' if bounds.length == 1 else 's'}"
    if bounds.minimal:
        return f"{goals} in {steps}, minimal"
    gap = "" if bounds.gap is None else f" (gap {bounds.gap:.0%})"
    return f"{goals} in {steps}, none below {bounds.lower}{gap}"


def goals_covered(verdicts: Sequence[Verdict]) -> str:
    """How many goals are covered, and of how many."""
    return f"{sum(1 for verdict in verdicts if verdict.status == COVERED)} of {len(verdicts)} goals"


@dataclass
class Progress:
    """Tells on stderr how a run goes on.

    On a terminal one line replaces itself: elapsed time, stage, best answer. Elsewhere each better answer is a line,
    and with ``verbosity`` 1 so is what each stage does; -1 tells nothing. ``seconds`` are those of a command's parts.
    """

    verbosity: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    begun: float = field(default_factory=time.monotonic)
    _best: str = ""
    _stage: str = ""

    def __call__(self, text: str) -> None:
        """A stage begins, or goes on."""
        self._stage = text
        if self.verbosity > 0:
            click.echo(text, err=True)
        elif self._replaces:
            self._replace_line()

    def better(self, best: str) -> None:
        """``best`` describes the best answer so far."""
        if best == self._best:
            return
        self._best = best
        if self._replaces:
            self._replace_line()
        elif self.verbosity >= 0:
            click.echo(f"{self._elapsed}  {self._stage.partition(':')[0]}: {best}", err=True)

    def note(self, text: str) -> None:
        """Something that the user has to know while the run goes on."""
        self.done()
        click.echo(text, err=True)

    def done(self) -> None:
        """Clear the line."""
        if self._replaces:
            click.echo("\r\x1b[K", err=True, nl=False)

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a part of a command."""
        self(name)
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

    @property
    def _replaces(self) -> bool:
        """Whether one line replaces itself."""
        return self.verbosity == 0 and sys.stderr.isatty()

    @property
    def _elapsed(self) -> str:
        return f"{time.monotonic() - self.begun:6.1f} s"

    def _replace_line(self) -> None:
        text = f"{self._elapsed}  {f'{self._best} | ' if self._best else ''}{self._stage}"
        click.echo(f"\r\x1b[K{text[:WIDTH]}", err=True, nl=False)
