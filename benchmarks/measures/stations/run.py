"""How many goals of the stations one chain covers, and what it takes: ``python -m benchmarks stations``.

Beside it what random runs cover that draw every input anew in every step, all of them together, with a reset before
each. Both are told by the processor's seconds; those of ``generate`` are of the whole command, its children included.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from benchmarks.measures.stations import controller
from benchmarks.measures.stations.simulate import Simulation

RUNS, STEPS = 400, 600
"""Random runs that are compared with, and their steps."""


def written(folder: Path) -> Path:
    """``folder`` with the project in it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "stations.c").write_text(controller.program(), encoding="utf-8")
    (folder / "chaincover.toml").write_text(controller.project(), encoding="utf-8")
    return folder


def seconds(command: Sequence[str], cwd: str) -> float:
    """The processor's seconds, of the command and its children, until it ends."""
    before = os.times()
    subprocess.run(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def generated(project: Path, folder: Path, effort: float) -> tuple[float, dict[str, Any]]:
    """The seconds of ``generate`` with ``effort``, and its chain.json."""
    command = [sys.executable, "-m", "chaincover", "generate", str(project), "-o", str(folder), "--effort", str(effort)]
    taken = seconds(command, str(Path.cwd()))
    return taken, json.loads((folder / "chain.json").read_text(encoding="utf-8"))


def row(effort: float, taken: float, chain: dict[str, Any]) -> str:
    """A row of the table."""
    covered = sum(1 for goal in chain["goals"] if goal["verdict"] == "covered")
    steps = len(chain["chain"]["steps"]) if chain["chain"] else 0
    return f"| one chain, `--effort {effort:g}` | {covered} | {steps} | {taken:.1f} |"


@click.command()
@click.option("--write", type=click.Path(path_type=Path), help="Only write the project into this folder.")
@click.option("--effort", "efforts", type=float, multiple=True, default=(0.03,), show_default=True)
def main(write: Path | None, efforts: Sequence[float]) -> None:
    """Compare one chain with random runs."""
    if write is not None:
        written(write)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        simulation = Simulation(folder)
        tour = controller.tour()
        click.echo("| what | goals | steps | seconds |\n|---|---|---|---|")
        click.echo(f"| all | {len(controller.goals())} | | |")
        click.echo(f"| the tour | {len(simulation.replay(tour))} | {len(tour)} | |")
        covered = sum(1 for count in simulation.random(RUNS, STEPS).values() if count)
        click.echo(f"| {RUNS} random runs | {covered} | {RUNS * STEPS} | |")
        project = written(folder / "stations")
        for effort in efforts:
            click.echo(row(effort, *generated(project, folder / f"effort-{effort:g}", effort)))
