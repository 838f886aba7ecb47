"""How a run goes on: its progress on stderr, and the best answer so far on disk.

Progress tells what is done now, how good the best answer is, and in the end the seconds of each part. A chain is
written as soon as there is one, and replaced by every better one.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import Generic, TypeVar

from bmc import ending
from bmc.errors import ChainCoverError, LimitReached, counted, printable
from bmc.native.build import find_compiler
from bmc.native.cache import open_cache
from bmc.records import dataclass
from chaincover.chain import COVERED, UNDECIDED, Verdict
from chaincover.cli.main import tell
from chaincover.report.console import columns_of, shortened
from chaincover.result import ChainResult, Requirements


def described(result: ChainResult) -> str:
    """The best answer so far in a line: goals covered, length in hand, lower bound and gap, and what can fail."""
    return _of_chain(result) + can_fail(result.requirements)


def can_fail(found: Requirements) -> str:
    """How many requirements can fail, after what else is told in a line; '' where none is known to."""
    return f"; {counted(found.findings, 'requirement')} can fail" if found.findings else ""


def _of_chain(result: ChainResult) -> str:
    bounds, goals = result.bounds, goals_covered(result.verdicts)
    if result.chain is None:
        return f"{goals}; no chain yet" + (
            f", none is shorter than {counted(bounds.lower, 'step')}" if bounds.lower else ""
        )
    steps = counted(bounds.length or 0, "step")
    if bounds.minimal:
        undecided = any(verdict.status == UNDECIDED for verdict in result.verdicts)
        return f"{goals} in {steps}" if undecided else f"{goals} in {steps}, minimal"
    gap = "" if bounds.gap is None else f" (gap {bounds.gap:.0%})"
    proved = f"none below {bounds.lower}{gap}" if bounds.lower else "no lower bound yet"
    if bounds.gap is not None and bounds.gap > 1:
        proved = f"at least {bounds.lower}"
    return f"{goals} in {steps}, {proved}"


def goals_covered(verdicts: Sequence[Verdict]) -> str:
    """How many goals are covered, and of how many."""
    return f"{sum(1 for verdict in verdicts if verdict.status == COVERED)} of {len(verdicts)} goals"


_CODE_RUNS = "said-that-code-runs"
"""What is kept once it was said that code is compiled and run."""


@dataclass(frozen=True, slots=True)
class Figures:
    """How good an answer is: goals covered, the length of its chains in steps (None: there is none), and the bound."""

    covered: int
    length: int | None
    lower: int


def figures(result: ChainResult) -> Figures:
    """The figures of an answer of one chain."""
    covered = sum(1 for verdict in result.verdicts if verdict.status == COVERED)
    return Figures(covered, result.bounds.length, result.bounds.lower)


@dataclass
class Progress:
    """Tells on stderr how a run goes on.

    On a terminal one line replaces itself: elapsed time, stage, best answer. Elsewhere each better answer is a line,
    and with ``verbosity`` 1 so is what each stage does; -1 tells nothing. ``seconds`` are those of a command's parts;
    ``history`` has the figures of each better answer, with the seconds after which it came and the stage that gave it.
    """

    verbosity: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    begun: float = field(default_factory=time.monotonic)
    history: list[tuple[float, str, Figures]] = field(default_factory=list)
    _best: str = ""
    _stage: str = ""

    def __call__(self, text: str) -> None:
        """A stage begins, or goes on."""
        before, self._stage = self._stage, text
        if self._replaces:
            self._replace_line()
        elif self.verbosity > 0 and text != before:
            tell(printable(text))

    @property
    def at(self) -> str:
        """The stage that began last."""
        return self._stage.partition(":")[0]

    def better(self, best: str, reached: Figures | None = None, by: str = "") -> None:
        """``best`` describes the best answer so far, which has ``reached`` these figures, found ``by`` a stage."""
        by = by or self.at
        if reached is not None and (not self.history or self.history[-1][2] != reached):
            self.history.append((round(time.monotonic() - self.begun, 3), by, reached))
        if best == self._best:
            return
        self._best = best
        if self._replaces:
            self._replace_line()
        elif self.verbosity >= 0:
            tell(printable(f"{self._elapsed}  {by}: {best}"))

    def code_runs(self, path: str) -> None:
        """The first line of a command that runs the code of the project ``path``, which may not be the user's own.

        It is told once where something can be kept from run to run (``bmc.native.cache``), and each time with ``-v``.
        """
        from chaincover.project.project_file import is_code

        if self.verbosity >= 0 and find_compiler() is not None and is_code(path):
            with open_cache() as cache:
                known = cache.get(_CODE_RUNS) is not None
                cache.put(_CODE_RUNS, None, b"")
            if known and not self.verbosity:
                return
            self.done()
            said = f"the code of {path} is compiled and run in a process of its own (--no-native: it is not)"
            tell(printable(f"{self._elapsed}  {said}"))

    def note(self, text: str) -> None:
        """Something that the user has to know while the run goes on."""
        self.done()
        tell(text)

    def done(self) -> None:
        """Clear the line."""
        if self._replaces:
            tell("\r\x1b[K", nl=False)

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
        tell(f"\r\x1b[K{shortened(printable(text), columns_of(sys.stderr) - 1)}", nl=False)


PART = 10
"""Between two writes at least so many times as long passes as the last one took."""

BOUND_SECONDS = 1.0
"""Seconds before a chain is written again that only has a higher bound."""


T = TypeVar("T")


@dataclass(frozen=True)
class Answers(Generic[T]):
    """How answers of one kind are written to disk, described in a line, and what of them is more than a bound.

    ``figures`` says how good an answer is.
    """

    write: Callable[[T], None]
    described: Callable[[T], str]
    chains: Callable[[T], object]
    figures: Callable[[T], Figures | None] = lambda _: None


class Saving(Generic[T]):
    """The listener of a run that writes every better answer, and describes it to ``progress``.

    An answer that comes soon after another one waits until something else happens: long chains take long to write.
    None waits for longer than until the next stage begins.
    Where a file cannot be written, the run goes on, and says so once.
    """

    def __init__(
        self, progress: Progress, answers: Answers[T], folder: Path, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._progress, self._answers, self._folder, self._clock = progress, answers, folder, clock
        self._waiting: Callable[[], T] | None = None
        self._written: T | None = None
        self._next = self._last = clock()
        self._failed, self._by = False, ""

    def __call__(self, text: str) -> None:
        """See the protocol."""
        before = self._progress.at
        self._progress(text)
        if self._progress.at != before:
            self._next = self._last  # what comes may take long
        self._save()

    def improved(self, result: Callable[[], T]) -> None:
        """See the protocol."""
        self._waiting, self._by = result, self._progress.at
        self._save()

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Where a fault ends what is done inside, the best answer so far is on disk, and that is said."""
        try:
            yield
        except (LimitReached, MemoryError):
            raise
        except Exception:
            self._next = self._last = float("-inf")
            self._save()
            if self._written is not None:
                self._progress.note(f"the best result so far is in {self._folder}/")
            raise

    def latest(self) -> T | None:
        """The best answer so far; None where there is none."""
        return self._written if self._waiting is None else self._waiting()

    def _save(self) -> None:
        with ending.uninterrupted():
            self._save_now()

    def _save_now(self) -> None:
        begun = self._clock()
        if self._waiting is None or begun < self._next:
            return
        result, self._waiting = self._waiting(), None
        before = self._written
        if before is not None and self._same_chains(before, result) and begun < self._last + BOUND_SECONDS:
            self._waiting, self._next = (lambda: result), self._last + BOUND_SECONDS
            return
        try:
            self._answers.write(result)
            self._written = result
            ending.keeps(f"{self._folder}/")
        except ChainCoverError as error:
            if not self._failed:
                self._progress.note(f"the result so far is not on disk: {error}")
            self._failed = True
        self._progress.better(self._answers.described(result), self._answers.figures(result), self._by)
        self._last = self._clock()
        self._next = self._last + PART * (self._last - begun)

    def _same_chains(self, before: T, result: T) -> bool:
        return self._answers.chains(before) == self._answers.chains(result)
