"""All orderings on the bundled models' graphs and on generated ones: ``python -m benchmarks.orderings``.

Writes a markdown table to stdout or to a file. Seconds are the processor's and depend on the machine; costs do not,
where a proof was found.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TextIO

import click
import numpy as np

from benchmarks.families.members import grid_points
from bmc.engines import choose as choose_engine
from bmc.errors import UsageError
from chaincover.check import analysis
from chaincover.graph.reachability import covering_graph
from chaincover.options import Options
from chaincover.orderings import missing_library
from chaincover.orderings.asp import AspOrdering
from chaincover.orderings.cpsat import CpsatOrdering
from chaincover.orderings.exact import LARGEST, ExactOrdering
from chaincover.orderings.local import LocalOrdering
from chaincover.orderings.mip import MipOrdering
from chaincover.orderings.protocol import Limit, Ordering, OrderingProblem, OrderingResult
from chaincover.orderings.tsp import TspOrdering
from chaincover.problem import Problem
from chaincover.project.load import load
from chaincover.project.project_file import read_project
from chaincover.weights import INIT, exists_path, transitive_closure

MODELS = Path(__file__).parent / "models"
SIZES = (
    (4, 6),
    (8, 6),
    (11, 6),
    (12, 6),
    (16, 6),
    (20, 6),
    (20, 30),
    (30, 6),
    (40, 6),
    (40, 30),
    (60, 6),
    (80, 6),
    (80, 30),
)
"""Goals and largest weight of the generated graphs."""

GRIDS = ((20, 30), (40, 30), (60, 30), (80, 30), (120, 40))
"""Points on grids, and the largest coordinate."""

CONSTRAINED = ((6, 6), (12, 6), (20, 6), (30, 6))
SUB_PATHS = 40

COLUMNS: dict[str, Callable[[], Ordering]] = {
    "Held-Karp": ExactOrdering,
    "mip": MipOrdering,
    "cpsat": CpsatOrdering,
    "asp-usc": AspOrdering,
    "usc, weights not reduced": lambda: AspOrdering("usc", reduced=False),
    "asp-bb": lambda: AspOrdering("bb"),
    "bb, weights reduced": lambda: AspOrdering("bb", reduced=True),
    "tsp": TspOrdering,
    "local": LocalOrdering,
}


@dataclass(frozen=True)
class Instance:
    """A problem and what it is called in the table."""

    name: str
    problem: OrderingProblem


def model_instances() -> Iterator[Instance]:
    """The closed graph of each bundled model that has a covering path, at the smallest such K."""
    for place in sorted(MODELS.iterdir()):
        if not place.is_dir():
            continue
        for project in sorted(place.glob("*.toml")):
            if project.name != "expected.toml" and (found := _model_problem(project)) is not None:
                name = place.name if project.stem == "chaincover" else f"{place.name} {project.stem}"
                yield Instance(name, found)


def _model_problem(project: Path) -> OrderingProblem | None:
    controller = load(read_project(str(project)))
    system = analysis.prepare(controller, choose_engine("z3"))
    options = Options(time_limit=60)
    problem = Problem(system, controller.goals, controller.final)
    graph = covering_graph(problem, options, choose_engine("sat"), lambda text: None).graph
    closed = transitive_closure(graph)
    if exists_path(graph, closed) is None:
        return None
    return OrderingProblem(graph.goals, closed, INIT, graph.end)


def generated(goals: int, largest: int) -> OrderingProblem:
    """The transitive closure of random weights from 1 to ``largest`` between all nodes."""
    rng = np.random.default_rng(goals * 1000 + largest)
    names = ("init", *(f"g{n}" for n in range(goals)), "final")
    distance = rng.integers(1, largest + 1, (len(names), len(names)))
    np.fill_diagonal(distance, 0)
    for via in range(len(names)):
        distance = np.minimum(distance, distance[:, via, None] + distance[None, via, :])
    weights = {(a, b): int(distance[i, j]) for i, a in enumerate(names) for j, b in enumerate(names) if i != j}
    return OrderingProblem(names[1:-1], weights, "init", "final")


def on_grid(count: int, top: int) -> OrderingProblem:
    """From the origin of a grid over points and back, by moves to any of eight neighbours."""
    places = {"init": (0, 0), **{f"g{n}": place for n, place in enumerate(grid_points(count, top))}, "final": (0, 0)}
    weights = {
        (a, b): max(abs(p - q) for p, q in zip(places[a], places[b], strict=True))
        for a in places
        for b in places
        if a != b
    }
    return OrderingProblem((*places,)[1:-1], weights, "init", "final")


def with_learned(problem: OrderingProblem, sub_paths: int) -> OrderingProblem:
    """``problem`` with that many path constraints, learned as the pipeline would: from least paths, four at a time."""
    rng = random.Random(len(problem.nodes))
    while len(problem.least) + len(problem.forbidden) < sub_paths:
        path = CpsatOrdering().solve(problem).path
        if not path:
            return problem
        least, forbidden = dict(problem.least), list(problem.forbidden)
        for _ in range(4):
            size = rng.choice((3, 3, 3, 4, 5))
            begin = rng.randint(0, len(path) - size)
            sub = path[begin : begin + size]
            if rng.random() < 0.2 and 0 < begin < len(path) - size:
                forbidden.append(sub)
            else:
                least[sub] = sum(problem.weights[edge] for edge in pairwise(sub)) + rng.randint(1, 4)
        problem = replace(problem, least=least, forbidden=tuple(dict.fromkeys(forbidden)))
    return problem


def run(instance: Instance, columns: Sequence[str], limit: Limit) -> dict[str, OrderingResult | str]:
    """The result of each column with the processor's seconds, or why there is none."""
    results: dict[str, OrderingResult | str] = {}
    for column in columns:
        ordering = COLUMNS[column]()
        if library := missing_library(ordering.name):
            results[column] = f"no {library}"
        elif column == "Held-Karp" and (len(instance.problem.nodes) > LARGEST or instance.problem.constrained):
            results[column] = "-"
        else:
            begun = time.process_time()
            try:
                found = ordering.solve(instance.problem, limit)
                results[column] = replace(found, seconds=time.process_time() - begun)
            except UsageError:
                results[column] = "-"
    return results


def line(instance: Instance, results: dict[str, OrderingResult | str]) -> str:
    """One row of the table: cost and whether proved, ratio to the best where above 1, seconds."""
    best = min((r.cost for r in results.values() if not isinstance(r, str) and r.path), default=0)
    cells = [instance.name, str(len(instance.problem.nodes))]
    for result in results.values():
        if isinstance(result, str) or not result.path:
            cells.append(result if isinstance(result, str) else "none")
            continue
        ratio = "" if result.cost == best else f" ({result.cost / best:.2f})"
        cells.append(f"{result.cost}{'*' if result.proved else ''}{ratio} {result.seconds:.2f} s")
    return f"| {' | '.join(cells)} |"


@click.command()
@click.option("--limit", default=10.0, show_default=True, help="Seconds of the clock for each run.")
@click.option("--column", "only", multiple=True, type=click.Choice([*COLUMNS]), help="Only this one (repeatable).")
@click.option("-o", "--output", type=click.File("w"), default="-", help="Where the table goes.")
def main(limit: float, only: Sequence[str], output: TextIO) -> None:
    """Measure all orderings; a row is written as soon as it is done."""
    columns = [column for column in COLUMNS if not only or column in only]
    click.echo(f"| graph | goals | {' | '.join(columns)} |", file=output)
    click.echo("|---|---|" + "---|" * len(columns), file=output)
    for instance in instances():
        click.echo(line(instance, run(instance, columns, Limit(seconds=limit))), file=output)
        output.flush()


def instances() -> Iterator[Instance]:
    """Everything that is measured."""
    yield from model_instances()
    for goals, largest in SIZES:
        yield Instance(f"generated, 1..{largest}", generated(goals, largest))
    for goals, largest in GRIDS:
        yield Instance(f"grid, 0..{largest}", on_grid(goals, largest))
    for goals, largest in CONSTRAINED:
        name = f"generated, 1..{largest}, {SUB_PATHS} path constraints"
        yield Instance(name, with_learned(generated(goals, largest), SUB_PATHS))


if __name__ == "__main__":
    main()
