"""How the cost grows with goals, K, and program size: ``python -m benchmarks growth``.

Every measurement is a process of its own. What was measured is kept beside the plots, so that these can be drawn again
without measuring. Solver calls are repeatable; seconds depend on the machine.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

import click

from benchmarks import FOLDER
from benchmarks.measures.growth import measure, plots, points
from benchmarks.measures.growth.methods import CURVES, proving
from benchmarks.measures.growth.points import AXES, Point
from benchmarks.measures.growth.table import tables
from benchmarks.process import run
from bmc.errors import ChainCoverError

PLOTS = FOLDER.parent / "docs" / "development" / "plots"
FILE = "growth.json"

GOALS = (4, 8, 16, 32, 64)
DEPTHS = (5, 10, 20, 40, 80, 100)
SIZES = (100, 200, 500, 1_000, 2_000, 5_000, 10_000)
MODELS = ("alarm", "crossing", "cruise", "seat", "turnsignal", "window")
"""Models with at least 62 different goals."""

FAMILIES = (
    "sat alarm", "sat alarm*4", "sat alarm*8", "sat cruise_fig1", "sat seat", "sat turnsignal",
    "z3 alarm", "z3 cruise_fig1", "z3 turnsignal",
)  # fmt: skip
"""Models with edges that are open at every K."""

GRAPH = 20
"""K of the axis goals."""

SMALL = 10
"""K of the axis size: beyond where no edge is open."""

PROVING = "proving"
"""The measurement of the axes with families of controllers. Where a method ends, its larger members are left out."""

PATIENCE = 3
"""A process is killed after so many times the limit, in seconds of the processor."""


def tasks(axis: str, limit: float) -> Iterator[tuple[str, list[Any]]]:
    """A function of the measurements with its arguments, for each process."""
    if axis == "goals":
        yield from (("goals", [model, count, GRAPH, limit]) for model in MODELS for count in GOALS)
    if axis == "depth":
        yield from (("depth", [family, DEPTHS, limit]) for family in FAMILIES)
    if axis == "size":
        yield from (("size", [lines, SMALL, limit]) for lines in SIZES)
    for curves in CURVES:
        if curves.axis == axis:
            yield from ((PROVING, [axis, family, size, limit]) for family in curves.families for size in curves.sizes)


MEASURES: dict[str, Callable[..., Iterator[Point]]] = {
    "goals": measure.goals,
    "depth": measure.depth,
    "size": measure.size,
    PROVING: proving,
}


def in_process(name: str, arguments: Sequence[Any]) -> list[Point]:
    """The points of one measurement, made in a process of its own; if it was killed, one of a method that ended."""
    command = [sys.executable, "-m", "benchmarks", "growth", "--one", json.dumps([name, arguments])]
    done = run(command, PATIENCE * arguments[-1])
    if done.code > 0:
        raise click.ClickException(done.output[-2000:])
    if done.code == 0:
        return [Point(**row) for row in json.loads(done.output.splitlines()[-1])]
    nothing = {"chain": done.seconds, "length": 0.0, "lower": 0.0, "stopped": 1.0}
    return [Point(arguments[0], arguments[1], arguments[2], nothing)] if name == PROVING else []


def measured(axis: str, limit: float) -> Iterator[list[Point]]:
    """All points of ``axis`` so far, after each measurement."""
    found: list[Point] = []
    ended: set[str] = set()
    for name, arguments in tasks(axis, limit):
        if name == PROVING and arguments[1] in ended:
            continue
        click.echo(f"{name} {' '.join(map(str, arguments[:-1]))}", err=True)
        made = in_process(name, arguments)
        found += made
        if name == PROVING and not made[-1].whole("chain"):
            ended.add(arguments[1])
        yield found


@click.command()
@click.option("--one", hidden=True)
@click.option("--axis", "axes", multiple=True, type=click.Choice(AXES), help="Only this axis (repeatable).")
@click.option("--limit", default=60.0, show_default=True, help="Seconds for each graph and each chain.")
@click.option("--plot-only", is_flag=True, help="Measure nothing; draw and tell what was measured before.")
@click.option("--no-plots", is_flag=True, help="Draw nothing (plots need the extra plots).")
@click.option("--folder", type=click.Path(path_type=Path), default=PLOTS, help="Where plots and measurements go.")
@click.option("-o", "--output", type=click.File("w"), default="-", help="Where the tables go.")
def main(
    one: str | None,
    axes: Sequence[str],
    limit: float,
    plot_only: bool,
    no_plots: bool,
    folder: Path,
    output: TextIO,
) -> None:
    """Measure how the cost grows, fit power laws, draw plots. Other axes keep what was measured before."""
    if one is not None:
        name, arguments = json.loads(one)
        click.echo(json.dumps([asdict(point) for point in MEASURES[name](*arguments)]))
        return
    folder.mkdir(parents=True, exist_ok=True)
    found = points.read(folder / FILE)
    for axis in () if plot_only else axes or AXES:
        for made in measured(axis, limit):
            points.write(folder / FILE, points.merged(found, made))
        found = points.read(folder / FILE)
    for line in tables([point for point in found if not axes or point.axis in axes]):
        print(line, file=output)
    if not no_plots:
        try:
            plots.draw(found, folder)
        except ChainCoverError as error:
            raise click.ClickException(str(error)) from None
