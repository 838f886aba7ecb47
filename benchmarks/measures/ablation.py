"""Which stages of the search matter: ``python -m benchmarks ablation [MODEL ...] [--stage NAME ...] [--keep FILE]``.

A row is a bundled model with its own goals, with those of ``branches()`` or with those of ``mcdc()``. It is searched
with all stages, then without each one that worked then, each time in a process of its own with ``EFFORT``. What a stage
of no use there could have brought it did not bring, so that its rows are as they were.

The table has for each stage the rows on which it worked; those on which the result is worse without it (fewer goals
covered or ruled out, a longer chain, a lower bound); and the geometric mean of how many times as many seconds of the
processor the others took without it. Last comes how many rows end in the first round of turns.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from math import exp, log
from pathlib import Path
from typing import Any

import click

from benchmarks.measures.effort import MODELS
from benchmarks.process import processor_seconds, run
from chaincover.chain import UNDECIDED
from chaincover.known import Board
from chaincover.options import Options
from chaincover.pipeline import generate
from chaincover.project.load import Request, load_request
from chaincover.requirements.deciding import Deciding, for_chains
from chaincover.result import Silent
from chaincover.stages import Stage, pause

CRITERIA = {"": (), "branches()": ("branches()",), "mcdc()": ("mcdc()",)}
EFFORT = 0.25
"""Of each search, about 15 seconds. With twice as much, rows that are not proved take twice as long, and later stages
work on more of them."""

MOST = 120.0
"""Seconds of the processor after which a search is ended from outside."""


@dataclass(frozen=True, slots=True)
class Searched:
    """A row searched without the stage ``without`` ('': with all): seconds of the processor, the rounds of turns that
    were over, the stages that worked, goals covered and goals decided, length and bound of the chain in steps.

    ``failed`` says why there is nothing of all that.
    """

    row: str
    without: str
    seconds: float = 0.0
    rounds: int = 0
    worked: tuple[str, ...] = ()
    covered: int = 0
    decided: int = 0
    length: int | None = None
    lower: int = 0
    failed: str = ""

    def worse_than(self, other: Searched) -> bool:
        """Whether it has found out less than ``other``."""
        if self.failed or (self.covered, self.decided) != (other.covered, other.decided):
            return bool(self.failed) or (self.covered, self.decided) < (other.covered, other.decided)
        if self.length != other.length:
            return self.length is None or (other.length is not None and self.length > other.length)
        return self.lower < other.lower


def searched(path: str, cover: Sequence[str], row: str, without: str) -> Searched:
    """The search for a chain and for violations of requirements, in this process."""
    problem = load_request(Request(path, cover=tuple(cover))).problem
    options = Options(effort=EFFORT)
    deciding: Deciding[Any] = Deciding(problem, options, Silent())
    worked: dict[str, None] = {}
    rounds = 0

    def noted(stage: Stage, work: Callable[[Board], None]) -> Callable[[Board], None]:
        def begun(board: Board) -> None:
            worked[stage.name] = None
            work(board)

        return begun

    def count_rounds(board: Board) -> None:
        nonlocal rounds
        while True:
            rounds += 1
            pause()

    left = [stage for stage in deciding.stages if stage.name != without]
    works = {stage.work: noted(stage, stage.work) for stage in left}  # one for all places of a stage
    stages = [replace(stage, work=works[stage.work]) for stage in left]
    begun = processor_seconds()
    result = generate(
        problem, for_chains(problem, options), deciding, [*stages, Stage("rounds", count_rounds, for_targets=False)]
    )
    deciding.finish(result, result.answered.effort)
    chain = result.chain
    return Searched(
        row,
        without,
        processor_seconds() - begun,
        rounds,
        tuple(worked),
        0 if chain is None else len(chain.goals),
        sum(verdict.status != UNDECIDED for verdict in result.verdicts),
        None if chain is None else chain.length,
        result.bounds.lower,
    )


def apart(path: Path, cover: Sequence[str], row: str, without: str) -> Searched:
    """``searched``, in a process of its own."""
    text = json.dumps([str(path), list(cover), row, without])
    done = run([sys.executable, "-m", "benchmarks", "ablation", "--one", text], MOST)
    last = done.output.strip().rpartition("\n")[2]
    if done.code:
        return Searched(row, without, failed=last if done.code > 0 else f"not over after {MOST:.0f} s")
    return _read(last)


def _read(line: str) -> Searched:
    found = json.loads(line)
    return Searched(**{**found, "worked": tuple(found["worked"])})


def rows(models: Sequence[str]) -> Iterator[tuple[str, Path, tuple[str, ...]]]:
    """The rows of the ``models``, of all where none is named: name, folder and criteria."""
    for folder in sorted(place.parent for place in MODELS.glob("*/chaincover.toml")):
        for criterion, cover in CRITERIA.items():
            if not models or folder.name in models:
                yield f"{folder.name} {criterion}".strip(), folder, cover


def table(found: Iterable[Searched]) -> Iterator[str]:
    """The table, line by line."""
    by_row: dict[str, dict[str, Searched]] = {}
    for each in found:
        by_row.setdefault(each.row, {})[each.without] = each
    stages = dict.fromkeys(name for each in by_row.values() for name in each if name)
    yield f"{'stage':22}{'rows':>5}{'worse':>6}{'time without':>14}  worse without it, then slowest without it"
    for name in stages:
        pairs = [(each[""], each[name]) for each in by_row.values() if "" in each and name in each]
        worse = [without.row for whole, without in pairs if without.worse_than(whole)]
        times = {w.row: w.seconds / whole.seconds for whole, w in pairs if w.row not in worse and whole.seconds}
        mean = f"{exp(sum(map(log, times.values())) / len(times)):.2f}" if times else "-"
        slowest = [f"{row} {ratio:.2f}" for row, ratio in sorted(times.items(), key=lambda pair: -pair[1])[:2]]
        yield f"{name:22}{len(pairs):5}{len(worse):6}{mean:>14}  {', '.join(worse[:6])}; {', '.join(slowest)}"
    whole = [each[""] for each in by_row.values() if "" in each]
    early = sum(not each.rounds and not each.failed for each in whole)
    yield f"{early} of {len(whole)} rows end in the first round of turns"


@click.command()
@click.argument("models", metavar="[MODEL]...", nargs=-1)
@click.option("--stage", "only", multiple=True, metavar="NAME", help="Leave out this stage only, and others so named.")
@click.option("--keep", type=click.Path(path_type=Path), help="File of searches that are done, and are not done again.")
@click.option("--one", hidden=True)
def main(models: tuple[str, ...], only: tuple[str, ...], keep: Path | None, one: str | None) -> None:
    """Switch each stage off on the bundled models."""
    if one is not None:
        click.echo(json.dumps(asdict(searched(*json.loads(one)))))
        return
    lines = keep.read_text(encoding="utf-8").splitlines() if keep is not None and keep.is_file() else []
    found = {(each.row, each.without): each for each in map(_read, lines)}

    def search(path: Path, cover: Sequence[str], row: str, without: str) -> Searched:
        if (row, without) not in found:
            found[row, without] = apart(path, cover, row, without)
            if keep is not None:
                with keep.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(asdict(found[row, without])) + "\n")
        return found[row, without]

    for row, path, cover in rows(models):
        whole = search(path, cover, row, "")
        click.echo(f"{row}: {whole.failed or f'{whole.seconds:.1f} s, {whole.rounds} rounds'}", err=True)
        for name in whole.worked:
            if not only or name in only:
                search(path, cover, row, name)
    for line in table(each for each in found.values() if not models or each.row.partition(" ")[0] in models):
        click.echo(line)
    if failed := [each for each in found.values() if each.failed]:
        click.echo(
            "\n".join(f"{each.row} without {each.without or 'none'}: {each.failed}" for each in failed), err=True
        )
        sys.exit(1)
