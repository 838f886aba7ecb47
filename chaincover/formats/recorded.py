"""The goals that a ``chain.json`` was made for, and what it takes to bring them back."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bmc.errors import InputRefused, Location
from chaincover.chain import UNREACHABLE
from chaincover.formats.chain_file import recorded_hold
from chaincover.project.load import Controller
from chaincover.project.project_file import Project

_PROPERTY = re.compile(r"(G|cover)\s*\(")


@dataclass(frozen=True, slots=True)
class RecordedGoal:
    """A goal as a chain names it, with the text of its property; ``generated`` is its criterion, '' if written."""

    name: str
    text: str
    generated: str = ""

    @property
    def readable(self) -> bool:
        """Whether the text of its property can be read again; that of a C function or a generated goal cannot."""
        return not self.generated and _PROPERTY.match(self.text) is not None


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a chain says of its goals: ``criteria`` generated some, ``infeasible`` are those proved unreachable.

    ``hold``: it changes its inputs only every so many steps.
    """

    goals: tuple[RecordedGoal, ...] = ()
    criteria: tuple[str, ...] = ()
    infeasible: tuple[str, ...] = ()
    hold: int = 1


def read_recorded(path: str) -> Recorded:
    """What the ``chain.json`` at ``path`` (or in that folder) records; nothing for any other file, or a damaged one."""
    place = Path(path)
    if place.is_dir():
        place = place / "chain.json"
    if place.suffix == ".csv":
        return Recorded()
    try:
        data = json.loads(place.read_text(encoding="utf-8-sig"))
        rows = [
            (str(g["name"]), str(g["property"]), str(g.get("generated") or ""), g["verdict"]) for g in data["goals"]
        ]
        criteria = tuple(str(text) for text in data["settings"].get("coverage", ()))
        hold = recorded_hold(data["settings"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Recorded()
    return Recorded(
        tuple(RecordedGoal(*row[:3]) for row in rows),
        criteria,
        tuple(name for name, _, criterion, verdict in rows if criterion and verdict == UNREACHABLE),
        hold,
    )


def missing_criteria(project: Project, given: Sequence[str], recorded: Sequence[str]) -> list[str]:
    """The recorded criteria that neither the project nor the options ask for."""
    known = {*(criterion.text for criterion in project.criteria), *given}
    return [text for text in recorded if text not in known]


def unreadable(error: InputRefused, given: Sequence[str], more: Sequence[str]) -> str:
    """Which of the criteria ``more``, loaded behind those ``given``, was refused; '' if the error is another one."""
    places = {Location(f"--cover {number}"): text for number, text in enumerate(more, len(given) + 1)}
    return places.get(error.where, "") if error.where is not None else ""


def known(goal: RecordedGoal, controller: Controller) -> bool:
    """Whether the controller has this goal; a generated one of its name and another text is another decision."""
    texts = {own.name: own.text for own in controller.goals}
    return goal.name in texts and (not goal.generated or texts[goal.name] == goal.text)
