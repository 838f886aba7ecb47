"""Engines on the whole K-reachability graph of every bundled model: ``python -m benchmarks engines``.

Every measurement is a process of its own: all edges between the goals are decided up to K, no run tried before. The
graphs must be the same for all engines. A run that meets the limit shows how far it came instead. Seconds are the
processor's.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TextIO

import click

from benchmarks import FOLDER
from benchmarks.measures.engines.table import Measurement, heading, row
from bmc.engines.protocol import Cost, Engine
from bmc.engines.sat import SatEngine
from bmc.engines.z3 import Z3Engine
from bmc.errors import InputRefused, LimitReached
from chaincover.graph.reachability import GraphBuilder
from chaincover.limits import Limits
from chaincover.problem import Problem, Questions
from chaincover.project.load import Request, load_request
from chaincover.reductions.slicing import sliced

ENGINES: dict[str, Callable[[], Engine]] = {
    "z3": lambda: Z3Engine(trials=False),
    "sat": lambda: SatEngine(trials=False),
}
"""Solvers alone: trial runs for floating-point systems are off."""


@dataclass(frozen=True, slots=True)
class Task:
    """A project's goals, with those of a coverage criterion if it is not '', and the K to decide all edges up to."""

    name: str
    folder: Path
    depth: int
    criterion: str = ""


class ProcessorCost(Cost):
    """Counts seconds of the processor: other work on the machine does not count."""

    def now(self) -> float:
        return time.process_time()


def tasks(depth: int, float_depth: int, criterion: str) -> Iterator[Task]:
    """Every bundled model with the goals of ``criterion`` besides its own; the float controllers with their own."""
    for folder in sorted((FOLDER / "models").iterdir()):
        if (folder / "chaincover.toml").exists():
            yield Task(folder.name, folder, depth, criterion)
    for folder in sorted((FOLDER / "floats" / "controllers").iterdir()):
        if folder.is_dir():
            yield Task(f"float {folder.name}", folder, float_depth)


def measured(task: Task, engine: Engine, limit: float) -> Measurement:
    """The graph of ``task``, as far as ``limit`` seconds of the clock, or the engine, allow."""
    subject = load_request(Request(str(task.folder), cover=(task.criterion,) if task.criterion else ()))
    system = sliced(subject.system, subject.goals, subject.final)
    engine.cost = ProcessorCost()
    begun = time.process_time()
    problem = Problem(system, tuple(subject.goals), subject.final)
    builder = GraphBuilder(Questions(problem.in_one_step(problem.names)[0], engine, Limits(limit)))
    try:
        while builder.depth < task.depth and not builder.complete:
            builder.extend()
    except (LimitReached, InputRefused):
        pass
    seconds = time.process_time() - begun
    graph = builder.graph()
    return Measurement(
        engine=engine.name,
        goals=len(subject.goals),
        depth=builder.depth,
        finished=builder.complete or builder.depth >= task.depth,
        queries=engine.cost.queries,
        seconds=seconds,
        solving=engine.cost.solving,
        preparing=engine.cost.preparing,
        weights=sorted((*edge, weight) for edge, weight in graph.weights.items()),
    )


def in_process(task: Task, engine: str, limit: float) -> Measurement:
    """``measured`` in a process of its own."""
    command = [sys.executable, "-m", "benchmarks", "engines", "--one", engine, str(limit)]
    text = json.dumps({**asdict(task), "folder": str(task.folder)})
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise click.ClickException(done.stderr[-2000:])
    return Measurement(**json.loads(done.stdout))


def best(task: Task, engine: str, limit: float, runs: int) -> Measurement:
    """The fastest of several measurements; one is enough where the limit was met."""
    found = [in_process(task, engine, limit)]
    while found[-1].finished and len(found) < runs:
        found.append(in_process(task, engine, limit))
    return min(found, key=lambda m: m.seconds)


@click.command()
@click.option("--one", nargs=2, hidden=True)
@click.option("--model", "models", multiple=True, help="Only this model (repeatable); float controllers: 'float NAME'.")
@click.option("--engine", "engines", multiple=True, type=click.Choice(list(ENGINES)), help="Only these.")
@click.option("--depth", default=20, show_default=True, help="K for integer models.")
@click.option("--float-depth", default=6, show_default=True, help="K for float controllers.")
@click.option("--cover", default="mcdc()", show_default=True, help="Criterion of integer models' further goals, or ''.")
@click.option("--limit", default=120.0, show_default=True, help="Seconds for each graph.")
@click.option("--runs", default=1, show_default=True, help="Runs of which the fastest counts.")
@click.option("-o", "--output", type=click.File("w"), default="-", help="Where the table goes.")
def main(
    one: tuple[str, str] | None,
    models: Sequence[str],
    engines: Sequence[str],
    depth: int,
    float_depth: int,
    cover: str,
    limit: float,
    runs: int,
    output: TextIO,
) -> None:
    """Measure engines on all models."""
    if one:
        given = json.loads(sys.stdin.read())
        task = Task(**{**given, "folder": Path(given["folder"])})
        print(json.dumps(asdict(measured(task, ENGINES[one[0]](), float(one[1])))))
        return
    names = list(engines) or list(ENGINES)
    print(heading(names), file=output)
    for task in tasks(depth, float_depth, cover):
        if not models or task.name in models:
            print(row(task.name, [best(task, name, limit, runs) for name in names]), file=output, flush=True)
