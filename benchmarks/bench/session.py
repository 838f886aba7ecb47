"""One run of a suite: what is left of its runs is done, and the table, the page and the changes are written."""

from __future__ import annotations

import shlex
import sys
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.bench import diff
from benchmarks.bench.cluster import Cluster
from benchmarks.bench.plan import Run
from benchmarks.bench.row import Row
from benchmarks.bench.run import Runner
from benchmarks.bench.suite import Suite
from benchmarks.bench.table import Ended, Table, rows_of
from benchmarks.bench.tools.protocol import MISSING
from bmc.ending import CALLED_OFF, INTERRUPT
from bmc.errors import counted, listed, printable
from chaincover.cli.entry import closing
from chaincover.cli.main import tell
from chaincover.formats.output import prepare_folder, to_json, write_text
from chaincover.report.console import ended_by

SUITE = "suite.toml"
RESUME = "--resume"


@dataclass
class Progress:
    """Tells on stderr what begins, what came of it, what else is under way and how much is left."""

    left: int
    quiet: bool = False
    begun: float = field(default_factory=time.monotonic)
    _under_way: dict[str, str] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begins(self, run: Run) -> None:
        """``run`` begins, in a thread of its own."""
        with self._lock:
            self._under_way[run.id] = run.shown
            self._say(f"begins: {run.shown}")

    def ended(self, run: Run, rows: Sequence[Row]) -> None:
        """``run`` has ended."""
        with self._lock:
            self._under_way.pop(run.id, None)
            self.left -= 1
            for row in rows:
                self._say(f"{diff.told(row)}: {described(row)}")
            if self.left:
                others = ", ".join(self._under_way.values()) or "nothing"
                self._say(f"{counted(self.left, 'run')} left; under way: {others}")

    def _say(self, text: str) -> None:
        """A line with the seconds that have gone."""
        if not self.quiet:
            tell(printable(f"{time.monotonic() - self.begun:6.1f} s  {text}"))


def described(row: Row) -> str:
    """What came of a run, in a line."""
    if row.status == MISSING:
        return f"missing: {row.note}"
    parts = [row.status]
    if row.length is not None:
        proved = "minimal" if row.minimal else f"none below {row.lower}" if row.lower else "no lower bound"
        chains = counted(row.chains or 0, "chain")
        parts += [f"{row.covered} of {row.goals} goals by {chains} of {counted(row.length, 'step')}, {proved}"]
    parts += [f"{row.seconds:.1f} s", f"{row.megabytes:.0f} MB"]
    return "; ".join([*parts, *filter(None, [row.note, row.deviates and f"DEVIATES: {row.deviates}"])])


def read_old(place: str | None) -> list[Row] | None:
    """The rows of an earlier run, read before anything runs; None where none is named."""
    return None if place is None else diff.read_old(Path(place))


@dataclass(frozen=True)
class Session:
    """A suite with its runs, and the folder that its results go to."""

    suite: Suite
    runs: tuple[Run, ...]
    folder: Path
    table: Table
    left: tuple[Run, ...]

    def run(self, jobs: int, cluster: Cluster | None, before: Sequence[Row] | None, quiet: bool = False) -> int:
        """Do what is left, write all and tell it unless ``quiet``: 1 where a row deviates from what is pinned, or is
        worse than ``before``, and the code of what interrupted it where something did."""
        progress = Progress(len(self.left), quiet)

        def ended(run: Run, found: Ended) -> None:
            rows = rows_of(self.suite.name, run, found)
            self.table.add(rows)
            progress.ended(run, rows)

        stopped_by = ""
        try:
            Runner(self.folder.resolve(), jobs, cluster, progress.begins).do(self.left, ended)
        except KeyboardInterrupt as error:
            stopped_by = str(error) or INTERRUPT
        finally:
            closing(stopped_by)
            rows, changes = self._write(before)
        code = self._code(rows, changes)
        if not quiet:
            self._tell(rows, changes)
        if not stopped_by:
            return code
        self._tell_left({row.id for row in rows}, stopped_by)
        return CALLED_OFF[stopped_by]

    def _write(self, before: Sequence[Row] | None) -> tuple[tuple[Row, ...], list[diff.Change]]:
        """Write the table, the changes and the page of all rows so far."""
        from benchmarks.bench import page

        rows = self.table.whole(self.runs)
        changes = [] if before is None else diff.compare(before, rows)
        place = self.folder / diff.CHANGES
        if before is None:
            place.unlink(missing_ok=True)
        else:
            write_text(place, to_json(diff.as_data(changes)))
        page.write(self.folder, self.suite.title, rows, diff.marks(changes))
        return rows, changes

    @staticmethod
    def _code(rows: Sequence[Row], changes: Sequence[diff.Change]) -> int:
        return int(any(row.deviates for row in rows) or any(change.word == diff.WORSE for change in changes))

    def _tell(self, rows: Sequence[Row], changes: Sequence[diff.Change]) -> None:
        deviating = [row for row in rows if row.deviates]
        for change in changes:
            print(printable(f"{change.word}: {diff.told(change.row)}: {change.text}"))
        for row in deviating:
            print(printable(f"deviates: {diff.told(row)}: {row.deviates}"))
        statuses = {word: sum(row.status == word for row in rows) for word in diff.STATUSES}
        counts = ", ".join(f"{number} {word}" for word, number in statuses.items() if number)
        print(f"{counted(len(rows), 'row')}: {counts or 'none'}; written to {self.folder}/: index.html, rows.csv")

    def _tell_left(self, ended: Collection[str], stopped_by: str) -> None:
        """Which runs have not ended, and the command that does these."""
        left = [run.shown for run in self.runs if run.id not in ended]
        again = [word for word in sys.argv[1:] if word != RESUME]
        print(
            printable(f"{ended_by(stopped_by)}: {len(self.runs) - len(left)} of {counted(len(self.runs), 'run')} ended")
        )
        if left:
            print(printable(f"not done: {listed(left)}"))
            print(printable(f"go on: {shlex.join(['chaincover', *again, RESUME])}"))


@contextmanager
def opened(suite: Suite, runs: tuple[Run, ...], output: str, resume: bool) -> Iterator[Session]:
    """The session in the folder ``output``, which nobody else may write to meanwhile."""
    folder = prepare_folder(output)
    table = Table(folder)
    try:
        ended, others = table.begin(runs, resume)
        write_text(folder / SUITE, suite.text)
        left = tuple(run for run in runs if run.id not in ended)
        if resume:
            text = f"{counted(len(ended), 'run')} of {len(runs)} had ended and {_be(len(ended))} kept"
            more = f"; {counted(others, 'row')} of an earlier suite {_be(others)} left out" if others else ""
            tell(printable(text + more))
        yield Session(suite, runs, folder, table, left)
    finally:
        table.close()


def _be(number: int) -> str:
    return "is" if number == 1 else "are"
