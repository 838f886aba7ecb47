"""State diagrams of mode variables, with what the chains took of them, and how the answer became better in the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from bmc.records import dataclass
from chaincover.formats.drawing import Drawn, svg_of
from chaincover.report.html.runs import Runs
from chaincover.report.html.saved import Saved, SavedChain
from chaincover.report.html.trace import Trace, Variable

MOST_MODES = 16
"""Modes in a drawing; of more there is the table alone. Twice as many: arrows lie upon each other."""


@dataclass(frozen=True)
class Diagram:
    """The modes of a variable that the chains took, as a drawing: each arrow says how often.

    ``svg`` is '' where there are too many. ``steps``: each transition with how often it was taken, and at which step of
    which chain first. ``never``: modes with a name that no step
    has; transitions are not among them, for what the program allows is said by goals of ``transitions(...)``.
    """

    variable: str
    svg: str
    steps: tuple[tuple[str, str, int, int, str], ...]
    never: tuple[str, ...]


def diagrams(every: Runs) -> list[Diagram]:
    """A diagram for each variable with named values that changes on a chain, those that change most first."""
    own = [(trace, shown) for trace, shown in every if trace.kind == "chain"]
    if not own:
        return []
    named = [var for var in own[0][1] if var.labels and var.role != "inputs"]
    found = [(var, _taken(var, [trace for trace, _ in own])) for var in named]
    chosen = sorted((each for each in found if each[1]), key=lambda each: -len(each[1]))
    return [_diagram(var, taken) for var, taken in chosen]


Taken = Mapping[tuple[str, str], tuple[int, int, str]]
"""For each change from one value to another how often it happened, and at which step of which chain first."""


def _taken(var: Variable, runs: Sequence[Trace]) -> Taken:
    found: dict[tuple[str, str], tuple[int, int, str]] = {}
    for trace in runs:
        for step, (a, b) in enumerate(pairwise(trace.columns[var.name])):
            if a != b and a is not None and b is not None:
                times, first, chain = found.get((var.called(a), var.called(b)), (0, step, trace.name))
                found[var.called(a), var.called(b)] = (times + 1, first, chain)
    return found


def _modes(taken: Mapping[tuple[str, str], Any]) -> list[str]:
    return [*dict.fromkeys(mode for ends in taken for mode in ends)]


def _diagram(var: Variable, taken: Taken) -> Diagram:
    modes = _modes(taken)
    arrows = {ends: str(times) for ends, (times, *_) in taken.items()}
    drawn = svg_of(f"Modes taken of {var.short}", Drawn(modes, arrows)) if len(modes) <= MOST_MODES else ""
    steps = tuple((a, b, *places) for (a, b), places in taken.items())
    return Diagram(var.name, drawn, steps, tuple(label for label in var.labels.values() if label not in modes))


@dataclass(frozen=True)
class Answer:
    """A better answer of the run: after so many seconds, by which stage, and its figures."""

    seconds: float
    stage: str
    covered: int
    length: int | None
    lower: int


@dataclass(frozen=True)
class Course:
    """How the answers of a run became better: rows, and the lines of length and bound as points of a drawing."""

    file: str
    answers: tuple[Answer, ...]
    length: str
    lower: str
    last: float
    most: int
    size: tuple[int, int]


WIDTH, HEIGHT = 640, 160
"""Pixels of the drawing of a course. Twice as many: a larger drawing."""


def courses(saved: Saved) -> list[Course]:
    """The course of each run that tells its answers."""
    return [course for chain in saved.chains if (course := _course(chain)) is not None]


def _course(chain: SavedChain) -> Course | None:
    rows = (chain.run or {}).get("progress") or []
    answers = tuple(Answer(**{name: row[name] for name in Answer.__dataclass_fields__}) for row in rows)
    if not any(answer.length for answer in answers):
        return None
    last = max(answer.seconds for answer in answers) or 1.0
    most = max(max(answer.length or 0, answer.lower) for answer in answers) or 1
    length = _line([(answer.seconds, answer.length) for answer in answers], last, most)
    lower = _line([(answer.seconds, answer.lower) for answer in answers], last, most)
    return Course(chain.file, answers, length, lower, last, most, (WIDTH, HEIGHT))


def _line(values: Sequence[tuple[float, int | None]], last: float, most: int) -> str:
    """A line of steps: a value stays what it is until the next one comes."""
    points: list[tuple[float, float]] = []
    for seconds, value in values:
        if value is None:
            continue
        x, y = WIDTH * seconds / last, HEIGHT * (1 - value / most)
        points += [(x, points[-1][1]), (x, y)] if points else [(x, y)]
    points += [(float(WIDTH), points[-1][1])] if points else []
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
