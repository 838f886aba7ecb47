"""What an engineer has to look at, as data: a title, a sentence, values that are wrong, and the run that shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bmc.records import dataclass
from chaincover.report.html.table import StepTable


@dataclass(frozen=True)
class Part:
    """A value that is not as expected: of ``variable`` before ``step``, and of how many steps that is so, where that is
    told: ``times``, else 0."""

    variable: str
    step: int
    actual: str
    expected: str
    times: int = 0


CONSEQUENT = "the consequent reads"
"""The title of the values that a consequent reads in a run that violates it; all of them are told."""

IN_MODEL = "in the model"
"""The title of the values that the model has beside those of a judged run, where these are not as the model's."""


@dataclass(frozen=True)
class Finding:
    """What is wrong, where, and the run that shows it.

    ``about`` is the goal or assertion; of undefined behaviour its place in the source, such as ``a.c:3:7``, or ''.
    ``trace`` is the name of its run among the traces of the waveform, ``step`` where to look; ``commands`` show it
    again; ``others`` says what became of other requirements at that step. ``reads`` is the title of ``parts``,
    ``expects`` that of their other values.
    """

    kind: str
    title: str
    text: str
    property: str = ""
    trace: str = ""
    step: int | None = None
    parts: tuple[Part, ...] = ()
    reads: str = CONSEQUENT
    expects: str = "expected"
    others: str = ""
    table: StepTable | None = None
    commands: tuple[str, ...] = ()
    about: str = ""


def named(goal: Mapping[str, Any]) -> str:
    """The requirement of a goal, behind its name; '' without one."""
    return f" ({goal['requirement']})" if goal.get("requirement") else ""


def read_by(goal: Mapping[str, Any], parts: Sequence[Part]) -> list[str]:
    """The variables that a goal reads, and those of ``parts``."""
    return [*dict.fromkeys([*goal.get("reads", ()), *(part.variable for part in parts)])]


def others_told(others: Mapping[str, Sequence[str]]) -> str:
    """What became of other requirements at a step, which ``others`` has as judgements have it, in a sentence."""
    words = {
        "held": ("holds", "hold"),
        "failed": ("fails, too", "fail, too"),
        "undecided": ("is not decided there", "are not decided there"),
    }
    told = [
        f"{', '.join(others[key])} {one if len(others[key]) == 1 else many}"
        for key, (one, many) in words.items()
        if others[key]
    ]
    return f"Other requirements at that step: {'; '.join(told) or 'none is judged there'}."
