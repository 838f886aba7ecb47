"""Engines on hard arithmetic: ``python -m benchmarks hard``.

Every controller has an arithmetic that is hard for some solver: products of variables, divisions by variables,
remainders, hashes. Each goal gives single questions (from any state in one step, from the start in some steps), put to
every engine in a session of its own; then the K-reachability graph of all goals. Every measurement is a process of its
own; limits and seconds are the processor's, so that other work on the machine does not count. Answers must agree.
"""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TextIO

import click
from pysmt.shortcuts import TRUE

from benchmarks import FOLDER
from benchmarks.measures.hard.table import OPEN, Result, summary, table
from bmc.engines.auto import AutoEngine, hardness
from bmc.engines.portfolio import PortfolioEngine
from bmc.engines.protocol import Engine
from bmc.engines.sat import SatEngine
from bmc.engines.z3 import Z3Engine
from bmc.errors import InputRefused
from bmc.formulas.unroll import at, shift
from bmc.system.transition import TransitionSystem
from chaincover.graph.reachability import GraphBuilder
from chaincover.limits import Limits
from chaincover.problem import Problem, Questions
from chaincover.project.load import load
from chaincover.project.project_file import read_project
from chaincover.reductions.slicing import sliced
from chaincover.subject import Subject

CONTROLLERS = FOLDER / "hard" / "controllers"
ENGINES: dict[str, Callable[[], Engine]] = {
    "sat": lambda: SatEngine(trials=False),
    "z3": lambda: Z3Engine(trials=False),
    "portfolio": lambda: PortfolioEngine(trials=False),
}
GRAPH = "graph"


@dataclass(frozen=True, slots=True)
class Question:
    """Can ``goal`` be met ``steps`` steps after the start (``anywhere``: after any state)? Or the graph up to K."""

    subject: str
    goal: str
    steps: int
    anywhere: bool = False

    @property
    def name(self) -> str:
        """How the table calls it."""
        if self.goal == GRAPH:
            return f"{GRAPH} to K = {self.steps}"
        return f"{self.goal} {'anywhere' if self.anywhere else f'in {self.steps}'}"


def read(name: str) -> tuple[Subject, TransitionSystem]:
    """A controller and the part of it that its goals depend on."""
    subject = load(read_project(str(CONTROLLERS / name)))
    return subject, sliced(subject.system, subject.goals, subject.final)


def questions(name: str, steps: Sequence[int], graph: int) -> Iterator[Question]:
    """Everything that is asked about one controller; the graph up to ``graph``, if that is not 0."""
    for goal in read(name)[0].goals:
        yield Question(name, goal.name, 1, anywhere=True)
        yield from (Question(name, goal.name, number) for number in steps)
    if graph:
        yield Question(name, GRAPH, graph)


def answered(question: Question, engine: Engine) -> str:
    """The engine's answer: ``sat``, ``unsat`` or ``unknown``; of a graph all its weights."""
    subject, system = read(question.subject)
    if question.goal == GRAPH:
        problem = Problem(system, tuple(subject.goals), subject.final)
        builder = GraphBuilder(Questions(problem.in_one_step(problem.names)[0], engine, Limits()))
        while builder.depth < question.steps and not builder.complete:
            builder.extend()
        return json.dumps(sorted([*edge, weight] for edge, weight in builder.graph().weights.items()))
    goal = next(goal for goal in subject.goals if goal.name == question.goal)
    source = TRUE() if question.anywhere else at(system.init_formula, 0)
    session = engine.session(system, source, [goal.antecedent])
    return session.check([shift(goal.antecedent, question.steps)], goal.over(question.steps)).status.value


def measured(question: Question, engine: str, limit: float) -> Result:
    """The answer in a process of its own, which the operating system ends after ``limit`` seconds of the processor."""
    command = [sys.executable, "-m", "benchmarks", "hard", "--one", engine, str(limit)]
    done = subprocess.run(command, input=json.dumps(asdict(question)), capture_output=True, text=True, check=False)
    if done.returncode in (-signal.SIGKILL, -signal.SIGXCPU):
        return Result(engine, OPEN, limit)
    if done.returncode:
        raise click.ClickException(done.stderr[-2000:])
    return Result(**json.loads(done.stdout))


def measure_here(given: dict[str, Any], engine: str, limit: float) -> Result:
    """One measurement in this process; the seconds are those after the controller was read."""
    question = Question(**given)
    read(question.subject)
    made = ENGINES[engine]()
    begun = time.process_time()
    most = int(begun + limit) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (most, most))
    try:
        answer = answered(question, made)
    except InputRefused:
        answer = OPEN
    return Result(engine, answer, time.process_time() - begun)


def facts(name: str) -> str:
    """What is hard in a controller, and what ``auto`` chooses for it."""
    system = read(name)[1]
    engine = AutoEngine()
    engine.chosen(system)
    return f"{name}: {hardness(system)}; auto: {engine.name}"


@click.command()
@click.option("--one", nargs=2, hidden=True)
@click.option("--controller", "names", multiple=True, help="Only this controller (repeatable).")
@click.option("--engine", "engines", multiple=True, type=click.Choice(list(ENGINES)), help="Only these.")
@click.option("--steps", multiple=True, type=int, default=(2, 4), show_default=True, help="Questions from the start.")
@click.option("--graph", default=4, show_default=True, help="K of the graphs; 0: none.")
@click.option("--limit", default=20.0, show_default=True, help="Seconds of the processor for each measurement.")
@click.option("-o", "--output", type=click.File("w"), default="-", help="Where the table goes.")
def main(
    one: tuple[str, str] | None,
    names: Sequence[str],
    engines: Sequence[str],
    steps: Sequence[int],
    graph: int,
    limit: float,
    output: TextIO,
) -> None:
    """Measure engines on hard arithmetic."""
    if one:
        print(json.dumps(asdict(measure_here(json.loads(sys.stdin.read()), one[0], float(one[1])))))
        return
    chosen = list(engines) or list(ENGINES)
    every: list[list[Result]] = []
    for folder in sorted(path for path in CONTROLLERS.iterdir() if path.is_dir()):
        if names and folder.name not in names:
            continue
        print(f"\n{facts(folder.name)}\n", file=output)
        rows = []
        for question in questions(folder.name, steps, graph):
            rows.append((question.name, [measured(question, engine, limit) for engine in chosen]))
        every += [results for _, results in rows]
        print(table(rows), file=output, flush=True)
    print(f"\n{summary(every)}", file=output)
