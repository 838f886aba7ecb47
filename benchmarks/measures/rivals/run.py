"""ChainCover beside CBMC: ``python -m benchmarks rivals --cbmc PATH [--cbmc PATH2] [--runs 5]``.

CBMC is given what its user would write (``benchmarks.bench.tools.harness`` writes it): a loop around the step, a flag
for each goal, and the assertion that not all flags are set in a final state. With ``--incremental-loop`` the first
unwinding that fails is the minimal length. ChainCover's ``generate`` finds the same length and proves it, or the
command ends with an error.

Every run is a process; seconds are the processor's, children included. Runs alternate between the tools, and the median
is told. ``ours`` has the C compiler's work for the replay in it, which ``ours again`` finds kept.
"""

from __future__ import annotations

import json
import re
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import click

from benchmarks import FOLDER
from benchmarks.bench.tools.cbmc import Installed
from benchmarks.bench.tools.harness import LOOP, harness
from benchmarks.checks.fuzz.agreement import fresh_environment
from benchmarks.measures.rivals.table import START, Row, head, line, summary
from benchmarks.process import Cost, run
from bmc.errors import CheckDisagreed, UsageError
from chaincover.project.load import Request, load_request
from chaincover.subject import Subject

DEEPEST = 60
"""No chain here is longer."""


@dataclass(frozen=True, slots=True)
class Model:
    """A controller in ``folder``; ``final`` replaces its final condition."""

    name: str
    folder: Path
    final: str | None = None
    floats: bool = False

    @property
    def options(self) -> tuple[str, ...]:
        """The options for ``generate``."""
        return () if self.final is None else ("--final", self.final)

    def written(self, folder: Path) -> tuple[Subject, list[str]]:
        """The controller as it was read, and the files of its harness, which are written into ``folder``."""
        fresh_environment()
        subject = load_request(Request(str(self.folder), final=self.final))
        return subject, harness(subject).write(folder)


def _bundled(name: str, final: str | None = None) -> Model:
    return Model(name, FOLDER / "models" / name, final)


def _floats(name: str) -> Model:
    return Model(f"floats/{name}", FOLDER / "floats" / "controllers" / name, floats=True)


MODELS = (
    _bundled(START),
    _bundled("cruise"),
    _bundled("cruise_fig1", "none"),
    *map(_bundled, ("pump", "heater", "wiper", "mixer", "crossing", "window", "door", "fan", "seat")),
    *map(_bundled, ("turnsignal", "alarm", "elevator")),
    *map(_floats, ("cruise", "mode")),
)


def named(rival: Installed) -> str:
    """An installed CBMC as the table calls it."""
    return f"CBMC {rival.version}"


def unwindings(output: str) -> int | None:
    """The steps of the chain that CBMC's output tells of; None where it found none."""
    told = re.findall(rf"^Unwinding loop {re.escape(LOOP)} iteration (\d+)", output, re.MULTILINE)
    return int(told[-1]) if told and "VERIFICATION FAILED" in output else None


def proved(file: Path) -> int | None:
    """The length of the chain in ``file``, if it is proved to be minimal."""
    bounds = json.loads(file.read_text(encoding="utf-8"))["bounds"] if file.exists() else {}
    return bounds["length"] if bounds.get("minimal") else None


def measured(model: Model, rivals: Sequence[Installed], runs: int, limit: float) -> Row:
    """The row of ``model``. CheckDisagreed where two tools do not give one length."""
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        subject, files = model.written(scratch / "harness")
        lengths: dict[str, set[int]] = {}
        seconds: dict[str, list[float]] = {}
        ended: dict[str, Cost] = {}

        def ours(cache: Path) -> tuple[Cost, int | None]:
            out = scratch / "out"
            shutil.rmtree(out, ignore_errors=True)
            words = ["generate", str(model.folder), *model.options, "-q", "-o", str(out)]
            command = [sys.executable, "-m", "chaincover", *words]
            return run(command, limit, {"CHAINCOVER_CACHE": str(cache)}), proved(out / "chain.json")

        def first() -> tuple[Cost, int | None]:
            shutil.rmtree(scratch / "cache", ignore_errors=True)
            return ours(scratch / "cache")

        def theirs(rival: Installed) -> tuple[Cost, int | None]:
            cost = run([*rival.command(subject, files), "--unwind-max", str(DEEPEST), "--verbosity", "8"], limit)
            return cost, unwindings(cost.output)

        tools: Mapping[str, Callable[[], tuple[Cost, int | None]]] = {
            "ours": first,
            "ours again": lambda: ours(scratch / "cache"),
            **{named(rival): lambda rival=rival: theirs(rival) for rival in rivals},  # type: ignore[misc]
        }
        for tool, measure in [*tools.items()] * runs:
            cost, length = measure() if tool not in ended else (ended[tool], None)
            if length is not None:
                lengths.setdefault(tool, set()).add(length)
                seconds.setdefault(tool, []).append(cost.seconds)
            elif cost.code < 0:
                ended[tool] = cost
            else:
                raise CheckDisagreed(f"{tool} proved no minimal chain of {model.name}: {cost.output[-500:]}")
    return row_of(model, lengths, seconds, [*map(named, rivals)])


def row_of(
    model: Model, lengths: Mapping[str, set[int]], seconds: Mapping[str, Sequence[float]], versions: Sequence[str]
) -> Row:
    """The medians of what was measured. CheckDisagreed where two runs do not give one length, or none of ours one."""
    length, *others = {length for each in lengths.values() for length in each} or {0}
    if others or "ours" not in lengths:
        each = ", ".join(f"{tool} {sorted(found)}" for tool, found in lengths.items())
        raise CheckDisagreed(f"the minimal chain of {model.name} has no one length: {each or 'none was proved'}")
    medians = {tool: statistics.median(values) for tool, values in seconds.items()}
    theirs = {version: medians.get(version) for version in versions}
    return Row(model.name, length, medians["ours"], medians["ours again"], theirs, model.floats)


@click.command()
@click.argument("names", nargs=-1)
@click.option("--cbmc", "paths", multiple=True, default=("cbmc",), help="A CBMC to compare with (repeatable).")
@click.option("--runs", default=5, show_default=True, help="Runs of which the median is told.")
@click.option("--limit", default=120.0, show_default=True, help="Seconds of the processor for each run.")
@click.option("-o", "--output", type=click.File("w"), default="-", help="Where the table goes.")
def main(names: tuple[str, ...], paths: tuple[str, ...], runs: int, limit: float, output: TextIO) -> None:
    """Compare with CBMC on NAMES: models, such as alarm or floats/cruise; without any on all of them."""
    try:
        rivals = [Installed.at(path) for path in paths]
        click.echo(head([*map(named, rivals)]), file=output)
        rows: list[Row] = []
        for model in chosen(names):
            rows.append(measured(model, rivals, runs, limit))
            click.echo(line(rows[-1], next((row for row in rows if row.name == START), None)), file=output)
            output.flush()
    except (UsageError, CheckDisagreed) as error:
        raise click.ClickException(str(error)) from None
    click.echo("\n" + "\n".join(summary(rows)), file=output)


def chosen(names: Sequence[str]) -> list[Model]:
    """The models of these names, and ``START``; all, without names. UsageError for a name that there is not."""
    known = {model.name: model for model in MODELS}
    if unknown := [name for name in names if name not in known]:
        raise UsageError(f"no model of the comparison is called {unknown[0]!r}", hint=", ".join(known))
    return [model for model in MODELS if not names or model.name in (*names, START)]
