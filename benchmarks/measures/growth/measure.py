"""The measurements of three axes: goals, K, program size. Each function is one process's work."""

from __future__ import annotations

import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pysmt.fnode import FNode

from benchmarks import FOLDER
from benchmarks.measures.engines.run import ProcessorCost
from benchmarks.measures.growth.points import Point
from benchmarks.measures.growth.units import program
from bmc.engines import choose
from bmc.engines.protocol import Engine
from bmc.errors import LimitReached
from bmc.formulas.unroll import at
from bmc.models.c.controller.build import read_c
from bmc.models.c.controller.reading import SourceConfig
from bmc.system.transition import TransitionSystem, equal
from chaincover.graph.reachability import GraphBuilder
from chaincover.limits import Limits
from chaincover.options import Options
from chaincover.pipeline import generate
from chaincover.problem import Problem, Questions
from chaincover.project.load import Request, load_request
from chaincover.reductions.reduction import distinct
from chaincover.reductions.slicing import sliced
from chaincover.subject import Subject
from properties.goal import Goal

MODELS = FOLDER / "models"
CRITERIA = ("mcdc()", "conditions()", "branches()")
FEW = 8
"""Goals of each program of the axis ``size``."""


def loaded(model: str) -> Subject:
    """A bundled model with its own goals and those of ``CRITERIA``."""
    return load_request(Request(str(MODELS / model), cover=tuple(CRITERIA)))


def goals(model: str, count: int, depth: int, limit: float) -> Iterator[Point]:
    """``count`` different goals, evenly spread: the whole graph to K = ``depth``, and one chain.

    ``limit`` in seconds of the clock is for each of the two; ``stopped`` is 1 where the chain's search met it. A graph
    that meets it gives no point, a model with fewer goals neither.
    """
    subject = loaded(model)
    all_goals, _ = distinct(subject.goals)
    if len(all_goals) < count:
        return
    some = [all_goals[place * len(all_goals) // count] for place in range(count)]
    values: dict[str, float] = {}
    for _, known in levels(sliced(subject.system, some, subject.final), some, subject.final, [depth], limit):
        values = known
    begun = time.process_time()
    result = generate(Problem(subject.system, tuple(some), subject.final), Options(engine="sat", time_limit=limit))
    if values:
        values["chain"] = time.process_time() - begun
        values["stopped"] = float(bool(result.stopped_by))
        yield Point("goals", model, count, values)


def levels(
    system: TransitionSystem,
    searched: Sequence[Goal],
    final: FNode | None,
    depths: Sequence[int],
    limit: float,
    engine: str = "sat",
) -> Iterator[tuple[int, dict[str, float]]]:
    """What the whole graph has cost at each of ``depths``, rising, a level after the other, as far as ``limit`` allows.

    ``open`` is the number of edges that were still open, ``per level`` the seconds since the depth before, for each
    level. It ends where no edge is open.
    """
    solver: Engine = choose(engine)
    solver.cost = ProcessorCost()
    begun = time.process_time()
    problem = Problem(system, tuple(searched), final)
    builder = GraphBuilder(Questions(problem.in_one_step(problem.names)[0], solver, Limits(limit)))
    before = (0.0, -1)
    for depth in depths:
        try:
            while builder.depth < depth and not builder.complete:
                builder.extend()
        except LimitReached:
            return
        seconds = time.process_time() - begun
        left = builder.open_edges
        yield (
            depth,
            {
                "seconds": seconds,
                "queries": float(solver.cost.queries),
                "solving": solver.cost.solving,
                "open": float(left),
                "per level": (seconds - before[0]) / (builder.depth - before[1]),
            },
        )
        before = (seconds, builder.depth)
        if builder.complete:
            return


def depth(family: str, depths: Sequence[int], limit: float) -> Iterator[Point]:
    """The whole graph of a family to each of ``depths``: ``MODEL``, or ``MODEL*N`` with timers N times as long.

    A prefix ``z3 `` or ``sat `` names the engine.
    """
    engine, _, name = family.partition(" ")
    model, _, times = name.partition("*")
    with scaled(model, int(times or 1)) as folder:
        subject = load_request(Request(str(folder), cover=("mcdc()",)))
        few, _ = distinct(subject.goals)
        system = sliced(subject.system, few, subject.final)
        for k, values in levels(system, few, subject.final, depths, limit, engine):
            yield Point("depth", family, k, values)


@contextmanager
def scaled(model: str, times: int) -> Iterator[Path]:
    """A bundled model's folder; with ``times`` above 1 a copy of it, all its timers that many times as long."""
    if times == 1:
        yield MODELS / model
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(shutil.copytree(MODELS / model, Path(scratch) / model))
        for file in folder.glob("*.[ch]"):
            text = file.read_text(encoding="utf-8")
            longer = re.sub(r"(#define \w+_(?:DELAY|TIME) )(\d+)", lambda m: f"{m[1]}{int(m[2]) * times}", text)
            file.write_text(longer, encoding="utf-8")
        project = folder / "chaincover.toml"
        text = project.read_text(encoding="utf-8")
        wider = re.sub(r'(counter" = "0\.\.)(\d+)', lambda m: f"{m[1]}{int(m[2]) * times}", text)
        project.write_text(wider, encoding="utf-8")
        yield folder


def size(lines: int, depth: int, limit: float) -> Iterator[Point]:
    """A program of about ``lines`` lines: reading it, and the whole graph of ``FEW`` goals to K = ``depth``."""
    text = program(lines)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "units.c"
        file.write_text(text, encoding="utf-8")
        begun = time.process_time()
        names = {"step": "units_step", "init": ("units_init",), "input": ("units_U",)}
        system = read_c(SourceConfig("units", (str(file),), **names)).system  # type: ignore[arg-type]
        read = time.process_time() - begun
    few = _few(system)
    cut = sliced(system, few, None)
    for _, values in levels(cut, few, None, [depth], limit):
        yield Point("size", "units", text.count("\n"), {"read": read, "state": float(len(cut.state)), **values})


def _few(system: TransitionSystem) -> list[Goal]:
    """``FEW`` states of units all over the program."""
    modes = [var for var in system.state if var.name.endswith(".mode")]
    places = [place * len(modes) // FEW for place in range(FEW)]
    states = [(modes[place], 3 - places[:number].count(place)) for number, place in enumerate(places)]
    return [
        Goal(f"g{number}", at(equal(var.symbol, var.type.constant(value)), 0), None, 0)
        for number, (var, value) in enumerate(states)
    ]
