"""What the baselines have in common: how they are started, what their commands take, and how their tests are counted.

A baseline gives test cases, each from a reset. What these cover is what the replay of them on the compiled original
shows (on the model, where it cannot be compiled), whatever the baseline says of them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import click

from benchmarks.bench.tools import outcome
from benchmarks.bench.tools.protocol import COVERED, FINISHED, TIME_OUT, Outcome, Task
from benchmarks.bench.tools.values import refused
from bmc.engines import installed
from bmc.errors import ChainCoverError, CheckDisagreed, LimitReached
from bmc.models.c.controller.model import c_model
from bmc.native.original import CompiledOriginal, NoCompiler, compiled
from bmc.system.simulation import Simulator
from bmc.system.transition import Run, TransitionSystem, Valuation
from chaincover.chain import UNDECIDED, Chain, Hit
from chaincover.cli.options import SECONDS, gathers
from chaincover.formats.chain_file import Stimulus, chain_csv
from chaincover.graph.enumerated import enumerated_within
from chaincover.limits import Limits
from chaincover.problem import Problem
from chaincover.project.load import Request, load_request
from chaincover.subject import Subject
from chaincover.target.judge import JudgedRun
from chaincover.target.original import replay

RESERVE = 0.1, 5.0
"""Part of the time, and most seconds, that are kept for the replay and the files."""

ENUMERATING = 0.02
"""The effort that the states may take to be enumerated."""


class Baseline:
    """A tool that runs its own module as a command, which writes ``outcome.json``."""

    name: str
    settings: frozenset[str]

    def missing(self) -> str:
        """What is not installed and how to get it; '' where it can run."""
        return ""

    def refused(self, setting: str, value: str | int | float | bool) -> str:
        """See the protocol."""
        return refused(sys.modules[type(self).__module__].main, f"--{setting}", value)

    def command(self, task: Task, folder: Path) -> Sequence[str]:
        """The command of the process that runs ``task``."""
        words = [sys.executable, "-m", type(self).__module__, str(task.project), *task.selection]
        for name, value in task.settings.items():
            words += [f"--{name}", str(value).lower() if isinstance(value, bool) else str(value)]
        return [*words, "--seed", str(task.seed), "--seconds", str(task.seconds), "-o", str(folder)]

    def read(self, folder: Path, code: int, log: str) -> tuple[Outcome, ...]:
        """The outcome in ``folder``."""
        return outcome.read(folder, code)


@dataclass(frozen=True, slots=True)
class Given:
    """What every baseline is given: where its results go, the seed of what it draws, its seconds by the clock."""

    output: str
    seed: int = 1
    seconds: float | None = None


given_options = gathers(
    "given",
    Given,
    click.option("--seed", default=1, show_default=True, help="Decides all that is drawn."),
    click.option(
        "--seconds", type=SECONDS, metavar="SECONDS", help="By the clock; then the best so far is the result."
    ),
    click.option("-o", "--output", required=True, metavar="FOLDER", help="Where test cases and outcome.json go."),
)


class TimeOver(Exception):
    """The time of a baseline's search is over."""


class Case(NamedTuple):
    """A test case: the inputs of each step, and the start values that the tester chooses."""

    inputs: Sequence[Valuation]
    chosen: Valuation

    @staticmethod
    def of(run: Run, system: TransitionSystem) -> Case:
        """The test case that makes ``run``."""
        return Case(run.inputs, {name: run.states[0][name] for name in system.chosen})


@dataclass
class Search:
    """What a baseline works on: the ``controller``, the ``problem`` in which all start values but those chosen are the
    ones that the compiled original has, the seed, and the time.

    It leaves here what its outcome tells beside the test cases: ``cut`` (the time ended it), ``farthest`` (the largest
    distance searched), ``minimal`` (it proved that no single test case is shorter), notes, stages and versions.
    """

    subject: Subject
    seed: int
    seconds: float | None
    begun: float = field(default_factory=time.monotonic)
    cut: bool = False
    farthest: int | None = None
    minimal: bool = False
    notes: list[str] = field(default_factory=list)
    stages: dict[str, float] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def problem(self) -> Problem:
        """The problem with fixed start values."""
        problem = self.subject.problem
        chosen = problem.system.chosen
        state = tuple(
            replace(var, init=var.type.constant(var.plainest_start))
            if var.init is None and var.name not in chosen
            else var
            for var in problem.system.state
        )
        return replace(problem, system=replace(problem.system, state=state))

    def reachable_states(self) -> int | None:
        """How many states can be reached, where they are enumerated soon: no shortest way from one to another has as
        many steps, so that a search for more of them is in vain."""
        limits = Limits(self.left, effort=ENUMERATING)
        try:
            graph = enumerated_within(self.problem, limits)
        except LimitReached:
            return None
        return None if graph is None else len(graph.states)

    @property
    def left(self) -> float | None:
        """Seconds left for the search; None without a limit."""
        if self.seconds is None:
            return None
        reserve = min(RESERVE[0] * self.seconds, RESERVE[1])
        return max(0.0, self.begun + self.seconds - reserve - time.monotonic())

    def check(self) -> None:
        """TimeOver when the time is over."""
        if self.left == 0.0:
            self.cut = True
            raise TimeOver


@dataclass(frozen=True)
class Counted:
    """Case cases and what their replays show: ``covered`` maps each goal to the file of the first one that covers it.

    ``lost`` says of test cases that do not count why not. ``replayed`` is what they were replayed on, ``original`` or
    ``model``, or ``disagrees`` where the replay refuses a step or does something else; ``compiler`` built the original.
    """

    tests: tuple[JudgedRun, ...]
    covered: Mapping[str, str]
    lost: tuple[str, ...]
    replayed: str
    compiler: str

    @property
    def length(self) -> int:
        """The steps of all of them."""
        return sum(test.run.length for test in self.tests)


def counted(subject: Subject, tests: Sequence[Case]) -> Counted:
    """Replay ``tests``. One counts that keeps to the input constraint, does on the original what it does on the model,
    ends in the final condition, and covers a goal."""
    kept: list[JudgedRun] = []
    covered: dict[str, str] = {}
    lost: list[str] = []
    agrees = True
    with ExitStack() as stack:
        built: CompiledOriginal | None = None
        try:
            built = stack.enter_context(compiled(c_model(subject.model).native, True))
        except NoCompiler as error:
            lost.append(f"replayed on the model: {error.message}")
        for number, test in enumerate(tests, 1):
            stimulus = Stimulus(f"test {number}", tuple(test.inputs), test.chosen, {}, ())
            try:
                played = replay(subject, stimulus, built=built)
            except (CheckDisagreed, LimitReached) as error:
                lost.append(f"test {number} does not count: {error.message}")
                continue
            agrees = agrees and not (played.refused or played.disagreements)
            wrong = [*played.refused, *played.disagreements, *([] if played.final is not False else ["no final state"])]
            hits = [each.goal for each in played.goals if each.step is not None]
            if wrong or not hits:
                lost.append(f"test {number} does not count: {wrong[0] if wrong else 'it covers no goal'}")
                continue
            kept.append(played)
            for goal in hits:
                covered.setdefault(goal, file_of(len(kept)))
    replayed = ("original" if built else "model") if agrees else "disagrees"
    return Counted(tuple(kept), covered, tuple(lost), replayed if tests else "", built.name if built else "")


def file_of(number: int) -> str:
    """The file of the test case with this number, from 1."""
    return f"test-{number}.csv"


def table(subject: Subject, played: JudgedRun) -> str:
    """A replayed test case as a table that ``chaincover replay`` reads."""
    steps = {each.goal: each.step for each in played.goals if each.step is not None}
    order = tuple(sorted(steps, key=steps.__getitem__))
    judged = {each.goal: each.consequent_held for each in played.goals}
    return chain_csv(subject, Chain(played.run, order, tuple(Hit(goal, steps[goal], judged[goal]) for goal in order)))


def conduct(request: Request, given: Given, search: Callable[[Search], Sequence[Case]]) -> None:
    """Read the project, let ``search`` find test cases, count what they cover, and write it all.

    ChainCoverError, as a message and an exit code, where the project cannot be read.
    """
    begun = time.monotonic()
    folder = Path(given.output)
    try:
        subject = load_request(request)
        state = Search(subject, given.seed, given.seconds, begun)
        state.stages["read"] = time.monotonic() - begun
        searched = time.monotonic()
        tests = search(state)
        state.stages.setdefault("search", time.monotonic() - searched)
        replayed = time.monotonic()
        result = counted(subject, tests)
        state.stages["replay"] = time.monotonic() - replayed
    except ChainCoverError as error:
        click.echo(str(error).replace("\n", " "), err=True)
        sys.exit(error.exit_code)
    folder.mkdir(parents=True, exist_ok=True)
    for number, played in enumerate(result.tests, 1):
        (folder / file_of(number)).write_text(table(subject, played), encoding="utf-8")
    found = told(state, result)
    outcome.write(found, folder)
    covered = f"{len(result.covered)} of {len(subject.goals)} goals"
    click.echo(f"{len(found.files)} test cases, {found.length or 0} steps, {covered}")


def told(state: Search, result: Counted) -> Outcome:
    """The outcome of a search whose test cases were counted."""
    goals = state.subject.goals
    complete = len(result.covered) == len(goals)
    length = result.length if result.tests else None
    minimal = state.minimal and complete and len(result.tests) == 1
    return Outcome(
        status=TIME_OUT if state.cut else FINISHED,
        chains=len(result.tests) or None,
        length=length,
        lower=length if minimal else None,
        minimal=minimal,
        fewest=complete and len(result.tests) == 1,
        K=state.farthest,
        long_goals=sum(goal.length > 1 for goal in goals),
        verdicts={goal.name: COVERED if goal.name in result.covered else UNDECIDED for goal in goals},
        replay=result.replayed,
        stages={name: round(seconds, 3) for name, seconds in state.stages.items()},
        versions={"chaincover": installed().get("chaincover", ""), "compiler": result.compiler, **state.versions},
        note="; ".join([*state.notes, *result.lost]),
        files=tuple(file_of(number) for number in range(1, len(result.tests) + 1)),
    )


def starts(system: TransitionSystem) -> Valuation:
    """The start values that the tester chooses, where nothing speaks for others."""
    return Simulator(system).chosen()
