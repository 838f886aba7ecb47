"""How well the units of work fit this machine: ``python -m benchmarks effort [ROW ...] [--effort N] [--rising]``.

The rows are the bundled models with their MC/DC goals, the programs of ``hard/programs`` with their own, and
controllers that are made here: one of many inputs, one of many lines. Each is searched in a process of its own. A row
has the seconds of the processor that reading and the search took (children included), the units of work that the search
counted, how many seconds a unit took, and the two stages that took most of them; then what was done before the first
stage, and for each stage the turn that was longest for its units. A unit is meant to take about a second: where one
effort would take less than ``LEAST`` seconds or more than ``MOST``, or a turn more than ``TIMES`` its units, the row is
marked, and the exit code is 1. Then the constants of the stage in question are to be measured anew.

With ``--rising`` a row has the goals covered, the length and its bound for growing efforts, and is marked where more
effort has given less.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import click
from greenlet import getcurrent, greenlet, settrace

from benchmarks import FOLDER
from benchmarks.measures.growth.units import program, units
from benchmarks.process import processor_seconds, run
from chaincover.known import Board
from chaincover.limits import UNITS
from chaincover.options import Options
from chaincover.pipeline import generate
from chaincover.project.load import Request, load_request
from chaincover.requirements.deciding import Deciding, for_chains
from chaincover.result import Silent
from chaincover.stages import Stage

MODELS, PROGRAMS = FOLDER / "models", FOLDER / "hard" / "programs"
CRITERIA = ("mcdc()",)

GENERATED = {"wide": (200, 74), "lines_10000": (10_000, 8)}
"""Lines and inputs of the controllers that are made here."""

FEW = 8
"""Goals of each of them."""

LEAST, MOST = 20.0, 120.0
"""Seconds that one unit of ``--effort`` may take."""

TIMES = 3.0
"""Seconds that a turn may take for each of its units."""

UNCOUNTED = 1.0
"""Seconds of a turn, and of what is done before the first, that need not be counted: libraries are loaded. With twice
as many a short turn could be as long as a short run unnoticed."""

EFFORTS = ("0.1", "0.3", "1", "3", "none")
TIME_LIMIT = 400.0
"""Seconds by the clock for the search without a limit of the effort."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of a stage: seconds of the processor, and the units that were counted for it."""

    stage: str
    seconds: float
    units: float

    @property
    def marked(self) -> bool:
        """Whether it took too long for its units."""
        return self.seconds > TIMES * self.units + UNCOUNTED


@dataclass(frozen=True, slots=True)
class Measured:
    """A search: seconds of reading; seconds and units of what is done before the first stage, of all, and of the stages
    that took most; the turns that were longest for their units, one for each stage; and what was found."""

    reading: float
    before: Turn
    whole: Turn
    used_up: bool
    costly: tuple[Turn, ...]
    turns: tuple[Turn, ...]
    covered: int
    length: int | None
    lower: int

    @property
    def marked(self) -> bool:
        """Whether one effort takes too many seconds, or too few where it was used up."""
        seconds, units = self.whole.seconds, self.whole.units
        return seconds > MOST / UNITS * units + UNCOUNTED or (self.used_up and seconds < LEAST / UNITS * units)

    @property
    def found(self) -> tuple[int, float, int]:
        """What more effort must not make less."""
        return self.covered, -float("inf") if self.length is None else -self.length, self.lower


@dataclass
class Turns:
    """Listens to the switches between stages, and measures what each takes from one to the next."""

    spent: Callable[[], float] = lambda: 0.0
    first: tuple[float, float] | None = None
    made: list[Turn] = field(default_factory=list)
    _names: dict[greenlet, str] = field(default_factory=dict)
    _begun: dict[greenlet, tuple[float, float]] = field(default_factory=dict)

    def of(self, stages: Sequence[Stage], deciding: Deciding[Any]) -> list[Stage]:
        """``stages``, which tell when they begin; a work that stands in several places stays one work."""

        def telling(stage: Stage) -> Callable[[Board], None]:
            def work(board: Board) -> None:
                self.spent = lambda: board.limits.spent + deciding.spent
                here = processor_seconds(), self.spent()
                self.first = self.first or here
                self._names[getcurrent()], self._begun[getcurrent()] = stage.name, here
                stage.work(board)

            return work

        works = {stage.work: telling(stage) for stage in stages}
        return [replace(stage, work=works[stage.work]) for stage in stages]

    def __call__(self, _: str, args: tuple[greenlet, greenlet]) -> None:
        """See ``greenlet.settrace``."""
        before, after = map(_outermost, args)
        if before is after:
            return
        here = processor_seconds(), self.spent()
        begun = self._begun.pop(before, None)
        if begun is not None:
            self.made.append(Turn(self._names[before], here[0] - begun[0], here[1] - begun[1]))
        if after in self._names:
            self._begun[after] = here

    @property
    def whole(self) -> list[Turn]:
        """What each stage took in all its turns, the most first."""
        names = dict.fromkeys(turn.stage for turn in self.made)
        own = {name: [turn for turn in self.made if turn.stage == name] for name in names}
        sums = [Turn(n, sum(t.seconds for t in each), sum(t.units for t in each)) for n, each in own.items()]
        return sorted(sums, key=lambda turn: -turn.seconds)

    @property
    def longest(self) -> tuple[Turn, ...]:
        """For each stage the turn that took most seconds beyond its units."""
        found: dict[str, Turn] = {}
        for turn in self.made:
            known = found.setdefault(turn.stage, turn)
            if turn.seconds - TIMES * turn.units > known.seconds - TIMES * known.units:
                found[turn.stage] = turn
        return tuple(found.values())


def _outermost(here: greenlet) -> greenlet:
    """The greenlet of the stage that has made this one, by way of others; the main one is its own."""
    while here.parent is not None and here.parent.parent is not None:
        here = here.parent
    return here


def measured(path: str, cover: Sequence[str], effort: float | None, engine: str) -> Measured:
    """The search for a chain and for violations of requirements, in this process."""
    begun = processor_seconds()
    problem = load_request(Request(path, cover=tuple(cover))).problem
    reading = processor_seconds() - begun
    options = Options(effort=effort, engine=engine, time_limit=TIME_LIMIT if effort is None else None)
    deciding: Deciding[Any] = Deciding(problem, options, Silent())
    turns = Turns()
    settrace(turns)
    begun = processor_seconds()
    result = generate(problem, for_chains(problem, options), deciding, turns.of(deciding.stages, deciding))
    settrace(None)
    deciding.finish(result, result.answered.effort)
    seconds, units = processor_seconds() - begun, result.answered.effort + deciding.spent
    first = turns.first or (begun + seconds, units)
    return Measured(
        reading,
        Turn("before", first[0] - begun, first[1]),
        Turn("whole", seconds, units),
        result.used_up,
        tuple(turns.whole[:2]),
        tuple(turn for turn in turns.longest if turn.seconds >= UNCOUNTED or turn.marked),
        0 if result.chain is None else len(result.chain.goals),
        None if result.chain is None else result.chain.length,
        result.bounds.lower,
    )


def rows(names: Sequence[str], scratch: Path) -> Iterator[tuple[str, Path, tuple[str, ...]]]:
    """The rows: name, folder and criteria of further goals. Only those of ``names``, if there are any."""
    for parent, cover in ((MODELS, CRITERIA), (PROGRAMS, ())):
        for folder in sorted(path.parent for path in parent.glob("*/chaincover.toml")):
            name = folder.name if parent == MODELS else f"hard/{folder.name}"
            if not names or name in names:
                yield name, folder, cover
    for name, (lines, inputs) in GENERATED.items():
        if not names or name in names:
            yield name, made(scratch / name, lines, inputs), ()


def made(folder: Path, lines: int, inputs: int) -> Path:
    """A project of so many lines and inputs in ``folder``; its goals are modes of units all over the program."""
    folder.mkdir()
    (folder / "units.c").write_text(program(lines, inputs=inputs), encoding="utf-8")
    chosen = [place * units(lines) // FEW for place in range(FEW)]
    goals = [f'[[property]]\ntext = "m{n}: cover(u{unit}.mode == {3 - n % 3})"' for n, unit in enumerate(chosen)]
    functions = '[functions]\ninit = ["units_init"]\nstep = "units_step"\nproperties = []'
    head = f'name = "{folder.name}"\n[sources]\nfiles = ["units.c"]\n{functions}\n[interface]\ninput = ["units_U.*"]'
    (folder / "chaincover.toml").write_text("\n".join([head, *goals, ""]), encoding="utf-8")
    return folder


def searched(folder: Path, cover: Sequence[str], effort: str, engine: str) -> Measured | str:
    """The measurement in a process of its own; why there is none."""
    text = json.dumps([str(folder), list(cover), None if effort == "none" else float(effort), engine])
    most = TIME_LIMIT if effort == "none" else TIMES * MOST * float(effort) + MOST
    done = run([sys.executable, "-m", "benchmarks", "effort", "--one", text], most)
    if done.code < 0:
        return f"not over after {most:.0f} s of the processor"
    if done.code:
        return done.output.strip().rpartition("\n")[2] or f"it ended with exit code {done.code}"
    found = json.loads(done.output.strip().rpartition("\n")[2])
    for several in ("turns", "costly"):
        found[several] = tuple(Turn(**turn) for turn in found[several])
    return Measured(**{**found, "before": Turn(**found["before"]), "whole": Turn(**found["whole"])})


def shown(name: str, found: Measured) -> Iterator[tuple[str, bool]]:
    """The lines of a row, each with whether it is marked."""
    whole, before = found.whole, found.before
    each = f"{whole.seconds / whole.units:9.2f}" if whole.units >= 1 else f"{'-':>9}"
    stages = ", ".join(f"{turn.stage} {turn.seconds:.1f}" for turn in found.costly)
    text = f"{name:18}{found.reading:9.1f}{whole.seconds:9.1f}{whole.units:9.1f}{each}"
    yield f"{text}{'  used up' if found.used_up else '':9}  {stages}", found.marked
    if before.marked or before.seconds >= UNCOUNTED:
        yield f"    before the first stage: {before.seconds:.1f} s of {before.units:.2f} units", before.marked
    for turn in sorted(found.turns, key=lambda turn: -turn.seconds):
        yield f"    a turn of {turn.stage}: {turn.seconds:.1f} s of {turn.units:.2f} units", turn.marked


def rising(name: str, folder: Path, cover: Sequence[str], engine: str) -> Iterator[tuple[str, bool]]:
    """One line: what is found with each of ``EFFORTS``; marked where more effort finds less."""
    texts: list[str] = []
    marked, best = False, None
    for effort in EFFORTS:
        found = searched(folder, cover, effort, engine)
        if isinstance(found, str):
            texts, marked = [*texts, found], True
            continue
        fewer = best is not None and (
            found.found[:2] < best[:2] or (found.covered == best[0] and found.lower < best[2])
        )
        texts.append(f"{effort}: {found.covered} in {found.length} (>= {found.lower}){' worse' if fewer else ''}")
        marked, best = marked or fewer, best if fewer else found.found
    yield f"{name:18}{'; '.join(texts)}", marked


@click.command()
@click.argument("names", metavar="[ROW]...", nargs=-1)
@click.option("--effort", default="1", show_default=True, help="Effort of each search, or none.")
@click.option("--engine", default="auto", show_default=True, help="Engine of each search.")
@click.option("--rising", "grows", is_flag=True, help="What each row has with growing effort.")
@click.option("--one", hidden=True)
def main(names: tuple[str, ...], effort: str, engine: str, grows: bool, one: str | None) -> None:
    """Compare units of work with seconds of the processor."""
    if one is not None:
        click.echo(json.dumps(asdict(measured(*json.loads(one)))))
        return
    if not grows:
        click.echo(f"{'row':18}{'reading':>9}{'seconds':>9}{'units':>9}{'s / unit':>9}{'':11}stages")
    wrong = []
    with tempfile.TemporaryDirectory() as scratch:
        for name, folder, cover in rows(names, Path(scratch)):
            if grows:
                lines = rising(name, folder, cover, engine)
            else:
                found = searched(folder, cover, effort, engine)
                lines = iter([(f"{name:18}{found}", True)]) if isinstance(found, str) else shown(name, found)
            for line, marked in lines:
                click.echo(f"{line}{'  <<<' if marked else ''}")
                wrong += [name] if marked else []
    if wrong:
        click.echo(f"marked: {', '.join(dict.fromkeys(wrong))}")
        sys.exit(1)
