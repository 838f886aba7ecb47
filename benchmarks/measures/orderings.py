"""All orderings on the graphs of models and families and on generated ones: ``python -m benchmarks orderings``.

Each graph is asked twice, without path constraints and with some. Writes a markdown table to stdout or to a file.
Seconds are the processor's and depend on the machine; costs do not, where a proof was found.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TextIO

import click
import numpy as np

from benchmarks import FOLDER
from benchmarks.measures.families.members import grid_points, member
from bmc.engines import choose as choose_engine
from bmc.errors import UsageError
from chaincover.check import analysis
from chaincover.comparison import coverable
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
from chaincover.project.load import Request, load_request
from chaincover.reductions.reduction import distinct
from chaincover.reductions.slicing import reduced
from chaincover.weights import INIT, exists_path, transitive_closure

MODELS = FOLDER / "models"
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
    (200, 6),
    (200, 30),
    (500, 6),
    (500, 30),
)
"""Goals and largest weight of the generated graphs."""

GRIDS = ((20, 30), (40, 30), (60, 30), (80, 30), (120, 40), (200, 40), (500, 60))
"""Points on grids, and the largest coordinate."""

MEMBERS = ("modes_40_10", "modes_100_10", "modes_200_10", "modes_500_10")
"""Members of families whose states can be enumerated; grids are calculated."""

SUB_PATHS = 40
"""Path constraints, of problems with that many goals or more; of smaller ones one for each goal."""

LEARNED_AT_ONCE = 4
LEAST = 3
"""Goals from which on there are path constraints."""
FEW = 40
"""Goals up to which path constraints are learned so many at a time; above, all come from one path."""

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
    """A problem and what it is called in the table; it is made when it is measured (None: it has no covering path)."""

    name: str
    make: Callable[[], OrderingProblem | None]


def model_instances() -> Iterator[Instance]:
    """The graphs of the bundled models: with the goals of the project, and with those of MC/DC."""
    for place in sorted(MODELS.iterdir()):
        if not place.is_dir():
            continue
        for project in sorted(place.glob("*.toml")):
            if project.name == "expected.toml":
                continue
            name = place.name if project.stem == "chaincover" else f"{place.name} {project.stem}"
            yield Instance(name, partial(of_project, Request(str(project))))
            if project.stem == "chaincover":
                yield Instance(f"{name}, mcdc", partial(of_project, Request(str(project), cover=("mcdc()",))))


def of_project(request: Request) -> OrderingProblem | None:
    """The closed graph of all goals that a chain may cover, at the smallest K with a covering path."""
    subject = load_request(request)
    options = Options(time_limit=60)
    system = analysis.prepare(subject, choose_engine("auto"))
    goals, _ = distinct(subject.goals)
    small, left = reduced(Problem(system, goals, subject.final), options)
    graph = coverable(covering_graph(small, left, choose_engine("auto"), lambda text: None).graph)
    closed = transitive_closure(graph)
    if exists_path(graph, closed) is None:
        return None
    return OrderingProblem(graph.goals, closed, INIT, graph.end)


def of_member(name: str) -> OrderingProblem | None:
    """The closed graph of a member of a family."""
    with tempfile.TemporaryDirectory() as folder:
        return of_project(Request(str(member(name).write(Path(folder)))))


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


def with_learned(problem: OrderingProblem) -> OrderingProblem:
    """``problem`` with path constraints, learned as the pipeline would: from least paths, or from one of many goals."""
    rng, count = random.Random(len(problem.nodes)), min(SUB_PATHS, len(problem.nodes))
    few = len(problem.nodes) <= FEW
    while len(problem.least) + len(problem.forbidden) < count:
        path = (MipOrdering() if few else _quick()).solve(problem).path
        if not path:
            return problem
        least, forbidden = dict(problem.least), list(problem.forbidden)
        for _ in range(LEARNED_AT_ONCE if few else count):
            size = rng.choice((3, 3, 3, 4, 5))
            begin = rng.randint(0, max(0, len(path) - size))
            sub = path[begin : begin + size]
            if rng.random() < 0.2 and 0 < begin < len(path) - size:
                forbidden.append(sub)
            else:
                least[sub] = sum(problem.weights[edge] for edge in pairwise(sub)) + rng.randint(1, 4)
        problem = replace(problem, least=least, forbidden=tuple(dict.fromkeys(forbidden)))
        if not few:
            return problem
    return problem


def _quick() -> Ordering:
    return TspOrdering(runs=1) if not missing_library("tsp") else LocalOrdering()


def run(problem: OrderingProblem, columns: Sequence[str], limit: Limit) -> dict[str, OrderingResult | str]:
    """The result of each column with the processor's seconds, or why there is none."""
    results: dict[str, OrderingResult | str] = {}
    for column in columns:
        ordering = COLUMNS[column]()
        if library := missing_library(ordering.name):
            results[column] = f"no {library}"
        elif column == "Held-Karp" and (len(problem.nodes) > LARGEST or problem.constrained):
            results[column] = "-"
        else:
            begun = time.process_time()
            try:
                found = ordering.solve(problem, limit)
                results[column] = replace(found, seconds=time.process_time() - begun)
            except UsageError:
                results[column] = "-"
    return results


def line(name: str, problem: OrderingProblem, results: dict[str, OrderingResult | str]) -> str:
    """One row of the table: cost and whether proved, ratio to the best where above 1, seconds."""
    best = min((r.cost for r in results.values() if not isinstance(r, str) and r.path), default=0)
    cells = [name, str(len(problem.nodes)), str(len(problem.least) + len(problem.forbidden))]
    for result in results.values():
        if isinstance(result, str) or not result.path:
            cells.append(result if isinstance(result, str) else "none")
            continue
        ratio = "" if result.cost == best else f" ({result.cost / best:.2f})" if best else " (more)"
        cells.append(f"{result.cost}{'*' if result.proved else ''}{ratio} {result.seconds:.2f} s")
    return f"| {' | '.join(cells)} |"


@click.command()
@click.option("--limit", default=10.0, show_default=True, help="Seconds of the clock for each run.")
@click.option("--column", "only", multiple=True, type=click.Choice([*COLUMNS]), help="Only this one (repeatable).")
@click.option("--graph", "graphs", multiple=True, metavar="PATTERN", help="Only graphs of such a name (repeatable).")
@click.option("--constraints", type=click.Choice(["on", "off", "both"]), default="both", show_default=True)
@click.option("-o", "--output", type=click.File("w"), default="-", help="Where the table goes.")
def main(limit: float, only: Sequence[str], graphs: Sequence[str], constraints: str, output: TextIO) -> None:
    """Measure all orderings; a row is written as soon as it is done."""
    columns = [column for column in COLUMNS if not only or column in only]
    click.echo(f"| graph | goals | path constraints | {' | '.join(columns)} |", file=output)
    click.echo("|---|---|---|" + "---|" * len(columns), file=output)
    for instance in instances():
        if graphs and not any(fnmatch(instance.name, pattern) for pattern in graphs):
            continue
        problem = instance.make()
        if problem is None:
            continue
        kinds = [problem] if constraints != "on" else []
        kinds += [with_learned(problem)] if constraints != "off" and len(problem.nodes) >= LEAST else []
        for kind in kinds:
            click.echo(line(instance.name, kind, run(kind, columns, Limit(seconds=limit))), file=output)
            output.flush()


def instances() -> Iterator[Instance]:
    """Everything that is measured."""
    yield from model_instances()
    for goals, largest in SIZES:
        yield Instance(f"generated {goals}, 1..{largest}", partial(generated, goals, largest))
    for goals, largest in GRIDS:
        yield Instance(f"grid {goals}, 0..{largest}", partial(on_grid, goals, largest))
    for name in MEMBERS:
        yield Instance(name, partial(of_member, name))
