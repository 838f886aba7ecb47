"""Solver calls of the lazy search against those for the whole graph: ``python -m benchmarks.laziness``.

For every bundled model the search runs twice, each time in a process of its own, on engine ``sat`` and without any
list of states: as it is (simulation first, bounds, one question about the edges of all sources, K no larger than
needed), and with the graph decided whole up to the K that the first run used, without simulation, source by source and
level by level. Solver calls do not depend on the machine, unless the limit is met.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TextIO

import click

from benchmarks.laziness.table import Outcome, Pair, lines
from benchmarks.laziness.variants import outcome

MODELS = Path(__file__).parents[1] / "models"


def names() -> list[str]:
    """The bundled models, in order."""
    return sorted(folder.name for folder in MODELS.iterdir() if (folder / "chaincover.toml").exists())


def in_process(model: str, criterion: str, limit: float, depth: int | None = None) -> Outcome:
    """``outcome`` in a process of its own."""
    task = json.dumps([model, criterion, limit, depth])
    command = [sys.executable, "-m", "benchmarks.laziness", "--one", task]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise click.ClickException(done.stderr[-2000:])
    return Outcome(**json.loads(done.stdout))


def pair(model: str, criterion: str, limit: float) -> Pair:
    """Both runs for one model."""
    lazy = in_process(model, criterion, limit)
    return Pair(model, lazy, in_process(model, criterion, limit, max(0, lazy.depth)))


@click.command()
@click.option("--one", hidden=True)
@click.option("--model", "models", multiple=True, type=click.Choice(names()), help="Only this model (repeatable).")
@click.option(
    "--cover", default="mcdc()", show_default=True, help="Criterion of further goals; '': the project's only."
)
@click.option("--limit", default=30.0, show_default=True, help="Seconds for each run.")
@click.option("-o", "--output", type=click.File("w"), default="-", help="Where the table goes.")
def main(one: str | None, models: Sequence[str], cover: str, limit: float, output: TextIO) -> None:
    """Count the solver calls that simulation and laziness save. Exit code 1 where graphs or answers differ."""
    if one is not None:
        model, criterion, seconds, depth = json.loads(one)
        click.echo(json.dumps(asdict(outcome(MODELS / model, criterion, seconds, depth))))
        return
    pairs = []
    for model in models or names():
        pairs.append(pair(model, cover, limit))
        click.echo(f"{model}: ratio {pairs[-1].ratio:.1f}", err=True)
    for line in lines(pairs):
        print(line, file=output)
    if any(not found.same_graph or found.answer == "different" for found in pairs):
        sys.exit(1)
