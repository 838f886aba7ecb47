"""What a second process brings: ``python -m benchmarks jobs``.

``generate --several`` with ``--jobs 1`` and with ``--jobs 2``, in turns: seconds by the clock and of the processor, the
medians of some runs. Only independent chains are shared, so the rows are controllers that need several. Both must write
the same files, ``run.json`` excepted. Seconds by the clock mean something on a quiet machine only.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from benchmarks import FOLDER
from benchmarks.process import Cost, run
from bmc.errors import CheckDisagreed

ROWS = (
    ("models/charger", ()),
    ("models/charger", ("--engine", "sat", "--effort", "0.1")),
    ("real/alarm1", ("--engine", "sat", "--effort", "0.1")),
)
"""Projects with the options of their runs; of those in ``real`` the sources are not part of this project."""

JOBS = (1, 2)

WITH_ORPHANS = """
import ctypes, os, subprocess, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: processes that lose their parent become children
code = subprocess.call(sys.argv[1:])
try:
    while True:
        os.wait()
except ChildProcessError:
    sys.exit(code)
"""
"""A program that runs a command and waits for all its processes: those of a pool are not children of the program."""


def measured(project: str, options: Sequence[str], runs: int) -> str:
    """The row of the table. CheckDisagreed where the results differ."""
    costs: dict[int, list[Cost]] = {jobs: [] for jobs in JOBS}
    with tempfile.TemporaryDirectory() as scratch:
        outs = {jobs: Path(scratch) / str(jobs) for jobs in JOBS}
        for _ in range(runs):
            for jobs, out in outs.items():
                words = ["generate", str(FOLDER / project), "--several", *options, "--jobs", str(jobs), "-q"]
                command = [sys.executable, "-m", "chaincover", *words, "-o", str(out)]
                costs[jobs].append(run([sys.executable, "-c", WITH_ORPHANS, *command]))
        files = {jobs: contents(out) for jobs, out in outs.items()}
        if any(files[jobs] != files[JOBS[0]] for jobs in JOBS):
            raise CheckDisagreed(f"--jobs changes the results of {project}")
        chains = len(json.loads((outs[JOBS[0]] / "chains.json").read_text(encoding="utf-8"))["chains"])
    wall = {jobs: statistics.median(cost.wall for cost in each) for jobs, each in costs.items()}
    seconds = {jobs: statistics.median(cost.seconds for cost in each) for jobs, each in costs.items()}
    return line(" ".join((project, *options)), chains, wall, seconds)


def contents(folder: Path) -> dict[str, bytes]:
    """What is in the result files that two runs with the same effort share."""
    return {file.name: file.read_bytes() for file in folder.iterdir() if not file.name.startswith("run")}


def line(name: str, chains: int, wall: Mapping[int, float], seconds: Mapping[int, float]) -> str:
    """One row: seconds with one process and with two, and their ratios."""
    cells = [name, str(chains)]
    for each in (wall, seconds):
        one, two = (each[jobs] for jobs in JOBS)
        cells += [f"{one:.1f}", f"{two:.1f}", f"{two / one:.2f}"]
    return f"| {' | '.join(cells)} |"


@click.command()
@click.option("--runs", default=3, show_default=True, help="Runs of which the median is told.")
def main(runs: int) -> None:
    """Compare one process with two."""
    click.echo("| project, options | chains | clock, 1 | clock, 2 | ratio | processor, 1 | processor, 2 | ratio |")
    click.echo("|---|---|---|---|---|---|---|---|")
    for project, options in ROWS:
        if project.startswith("models") or (FOLDER / project / "source").is_dir():
            click.echo(measured(project, options, runs))
