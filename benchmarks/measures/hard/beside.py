"""``generate`` beside a driver that knows nothing of its search: ``python -m benchmarks hard-programs [NAME ...]``.

    python -m benchmarks hard-programs --keep beside.jsonl -o beside.md     # all programs; goes on where it was stopped
    python -m benchmarks hard-programs --keep beside.jsonl clock garage     # some of them

For each of ``programs/`` the driver makes random runs of the compiled controller; then ``generate`` searches for a
chain. A program fails where ``generate`` covers fewer goals than the driver and it is not proved that no chain can have
them all, or where its first chain comes later than ``FIRST`` seconds after reading. All seconds are the processor's,
and so are the limits, so that the table does not depend on what else runs on the machine.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TextIO

import click

from benchmarks import FOLDER
from benchmarks.checks.fuzz.agreement import fresh_environment
from benchmarks.measures.hard.driver import SECONDS, STEPS, driver
from benchmarks.measures.revisions.outcome import facts
from benchmarks.measures.revisions.run import revision, run
from benchmarks.measures.revisions.table import Process
from chaincover.project.load import load
from chaincover.project.project_file import read_project

PROGRAMS = FOLDER / "hard" / "programs"

FIRST = 2.0
"""The most seconds from the end of reading to the first chain. Twice as many would let one stage without a chain run
before simulation unnoticed."""

CHAIN = re.compile(r"^\s*([\d.]+) s  .*: (\d+) of \d+ goals in \d+ steps?")
"""A line of progress that tells of a chain."""

SETTLED = ("unreachable", "no-way-to-final", "excluded")
"""Verdicts that are proved."""


@dataclass(frozen=True, slots=True)
class Beside:
    """A program: what the driver met, each with its steps over all runs, and what ``generate`` found.

    ``first`` is the time of the first chain after reading; None without a chain. ``steps`` and ``driver`` (seconds) are
    the driver's, ``seconds`` and ``code`` those of ``generate``.
    """

    name: str
    met: dict[str, int]
    steps: int
    driver: float
    verdicts: dict[str, str]
    first: float | None
    length: int | None
    lower: int
    minimal: bool
    seconds: float
    megabytes: float
    code: int

    @property
    def covered(self) -> int:
        """How many goals the chain covers."""
        return sum(verdict == "covered" for verdict in self.verdicts.values())

    @property
    def faults(self) -> list[str]:
        """What makes the program fail."""
        verdict = {goal: self.verdicts.get(goal, "not told") for goal in self.met}
        impossible = sorted(goal for goal in verdict if verdict[goal] in ("unreachable", "no-way-to-final"))
        missed = sorted(goal for goal in verdict if verdict[goal] not in ("covered", *SETTLED))
        faults = [f"WRONG: {goal} is {verdict[goal]}, and the driver met it" for goal in impossible]
        if missed and self.covered < len(self.met):
            faults.append(f"the driver met {', '.join(missed[:4])}{' and more' if missed[4:] else ''}")
        if self.code < 0:
            faults.append(f"ended by signal {-self.code}")
        if self.met and self.first is None:
            faults.append("no chain")
        elif self.first is not None and self.first > FIRST:
            faults.append(f"first chain after {self.first:.1f} s")
        return faults


def programs(names: Sequence[str]) -> list[str]:
    """The programs of these names, all if there are none. UsageError of click for one that is not there."""
    there = sorted(path.name for path in PROGRAMS.iterdir() if (path / "chaincover.toml").exists())
    unknown = [name for name in names if name not in there]
    if unknown:
        raise click.UsageError(f"no program is called {unknown[0]!r}; there are {', '.join(there)}")
    return [name for name in there if not names or name in names]


def measured(name: str, command: str, limit: float) -> Beside:
    """A program, driven and searched, each for so many seconds of the processor at most."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        fresh_environment()
        driven = driver(load(read_project(str(PROGRAMS / name))), folder).drive()
        revised = revision(command, "defaults", limit, clock=True, patience=60 * limit)
        words = ["generate", str(PROGRAMS / name), "--time-limit", f"{limit:g}", "-o", str(folder / "chain")]
        process = run(revised, words, folder / "generate.txt")
        found = facts(folder / "chain")
        log = folder / "chain" / "run.json"
        spent = json.loads(log.read_text(encoding="utf-8"))["seconds"] if log.exists() else {}
        return Beside(
            name=name,
            met={goal: met.total for goal, met in driven.met.items()},
            steps=driven.steps,
            driver=driven.seconds,
            verdicts=found.verdicts if found else {},
            first=first_chain(process, spent) if found and found.length is not None else None,
            length=found.length if found else None,
            lower=found.lower if found else 0,
            minimal=bool(found and found.minimal),
            seconds=process.seconds,
            megabytes=process.megabytes,
            code=process.code,
        )


def first_chain(process: Process, spent: dict[str, float]) -> float:
    """Seconds from the end of reading to the first chain: that of the first line that tells of one, or all that the
    search took where it ended before a line was due."""
    reading = spent.get("read", 0.0)
    told = (re.match(CHAIN, line) for _, line in process.progress)
    lines = [float(line[1]) - reading for line in told if line and int(line[2])]
    return round(max(0.0, min([*lines, spent.get("search", process.seconds)])), 2)


def table(rows: Sequence[Beside]) -> Iterator[str]:
    """A line for each program."""
    yield "| program | goals | driver | after steps | ours | first chain | length | bound | s | MB | fails |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    for row in rows:
        bound = "proved" if row.minimal else f">= {row.lower}"
        last = f"{max(row.met.values()):,}" if row.met else ""
        first = "" if row.first is None else f"{row.first:.1f} s"
        length, bound = ("", "") if row.length is None else (f"{row.length:,}", bound)
        cost = f"{row.seconds:.1f} | {row.megabytes:.0f}"
        goals = f"{len(row.verdicts)} | {len(row.met)} | {last} | {row.covered}"
        yield f"| {row.name} | {goals} | {first} | {length} | {bound} | {cost} | {'; '.join(row.faults)} |"


def kept(file: Path | None) -> dict[str, Beside]:
    """The programs in ``file``, of each the last; none where it does not exist."""
    lines = file.read_text(encoding="utf-8").splitlines() if file is not None and file.exists() else []
    return {row.name: row for row in (Beside(**json.loads(line)) for line in lines)}


@click.command()
@click.argument("names", nargs=-1)
@click.option(
    "--keep", type=click.Path(path_type=Path), help="Finished programs, a line of JSON each; they are not run again."
)
@click.option("--command", default=shlex.join([sys.executable, "-m", "chaincover"]), help="How ChainCover is called.")
@click.option("--limit", default=20.0, show_default=True, help="Seconds of the processor for each search.")
@click.option("-o", "--output", type=click.File("w"), default="-", help="Where the table goes.")
def main(names: Sequence[str], keep: Path | None, command: str, limit: float, output: TextIO) -> None:
    """Set generate beside the driver for the programs called NAMES (default: all); exit code 1 where one fails."""
    rows = kept(keep)
    chosen = programs(names)
    for name in chosen:
        if name in rows:
            continue
        rows[name] = measured(name, command, limit)
        click.echo("\n".join([*table([rows[name]])][2:]), err=True)
        if keep is not None:
            with keep.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(rows[name])) + "\n")
    shown = [rows[name] for name in chosen]
    failed = sum(bool(row.faults) for row in shown)
    print("\n".join(table(shown)), file=output)
    print(
        f"\n{failed} of {len(shown)} programs fail; the driver made {STEPS:,} steps or {SECONDS:g} s each.", file=output
    )
    sys.exit(1 if failed else 0)
