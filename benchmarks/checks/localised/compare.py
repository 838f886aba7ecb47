"""One program: what is said of smaller systems, and of bounds by them, against a search over all states."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks.checks.localised.programs import write
from bmc.models.c.source.survey import apart
from chaincover.chain import UNREACHABLE
from chaincover.graph.enumerated import enumerated_within
from chaincover.limits import Limits
from chaincover.minimality.product import ShortestRun
from chaincover.options import Options
from chaincover.pipeline import STAGES, generate
from chaincover.problem import Problem
from chaincover.public import load, save, verify
from chaincover.reductions.localise import localised
from chaincover.reductions.monitors import monitored
from chaincover.verification.report import HOLDS, WRONG

EFFORT = 0.1
"""Units of work of a search over all states."""

RUN = 0.03
"""Units of work of a run of the stages."""

DRAWN = 3
"""Sets of visible variables for each program."""

BY = ("simulate", "localise")


@dataclass(frozen=True)
class Compared:
    """``smaller``: how many smaller systems were compared; ``bound`` of the stage, None where it has none, ``proved``
    again or not; ``exact``: it is the length of the shortest chain. What was ``wrong``."""

    smaller: int
    bound: int | None
    proved: bool
    exact: bool
    wrong: tuple[str, ...]


class TooManyStates(Exception):
    """The states of a program are too many to be searched."""


def compare(seed: int, folder: Path) -> Compared:
    """The comparison for the program of ``seed``, in ``folder``. TooManyStates may be raised."""
    with apart():
        project = write(seed, folder)
        problem = load(project).problem
        whole = monitored(problem).problem
        wrong, compared = list[str](), 0
        for visible in _drawn(whole, Random(seed)):
            small = localised(whole, visible)
            if small.goals:
                compared += 1
                wrong += _faults(whole.of(small.names), small, visible)
        return _of_stages(project, whole, compared, wrong)


def _drawn(problem: Problem, random: Random) -> Iterator[set[str]]:
    """Some sets of visible variables; the memory that goals need is mostly one of them."""
    names = [var.name for var in problem.system.state]
    made = {var.name for var in problem.system.state if var.role == "internal"}
    for _ in range(DRAWN):
        chosen = {*random.sample(names, random.randint(1, len(names)))}
        yield chosen | made if random.random() < 0.8 else chosen


def _faults(whole: Problem, small: Problem, visible: set[str]) -> Iterator[str]:
    """What shows that some run of ``whole`` is none of ``small``."""
    for names in (whole.names, *([name] for name in whole.names)):
        found, below = shortest(whole.of(names)), shortest(small.of(names))
        if found is not None and (below is None or below > found):
            yield f"{', '.join(names)} with {', '.join(sorted(visible))} visible: {below} steps, are {found}"


def shortest(problem: Problem) -> int | None:
    """The steps of the shortest chain, None: there is none. TooManyStates may be raised."""
    graph = enumerated_within(problem, Limits(effort=EFFORT))
    if graph is None:
        raise TooManyStates
    search = ShortestRun(problem, graph)
    while search.advance(1_000_000):
        pass
    return None if search.found is None else search.found.length


def _of_stages(project: Path, whole: Problem, compared: int, wrong: list[str]) -> Compared:
    """The comparison with what the stages alone say, and what ``verify`` says of that."""
    subject = load(project)
    stages = [stage for stage in STAGES if stage.name in BY]
    result = generate(subject.problem, Options(overlap=whole.overlap, effort=RUN), stages=stages)
    for verdict in result.verdicts:
        if verdict.status == UNREACHABLE and shortest(whole.of([verdict.goal])) is not None:
            wrong.append(f"{verdict.goal}: said to be unreachable, but covered by a run")
    least, lower = shortest(whole.of(whole.names)), result.bounds.lower
    if least is not None and lower > least:
        wrong.append(f"bound {lower}, is {least}")
    save(subject, result, project / "out")
    lines = verify(project, project / "out").lines
    wrong += [f"verify: {line.check}: {line.text}" for line in lines if line.verdict == WRONG]
    part = [line for line in lines if line.check == "smaller system"]
    proved = all(line.verdict == HOLDS for line in part)
    return Compared(compared, lower if part else None, proved, bool(part) and lower == least, tuple(wrong))
