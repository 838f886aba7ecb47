"""The goals that a ``chain.json`` was made for, brought back where project and options do not name them.

What cannot be brought back is said, never passed over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bmc.errors import InputRefused, Location
from chaincover.chain import UNREACHABLE
from chaincover.cli.options import load_controller
from chaincover.formats.chain_file import recorded_hold
from chaincover.progress import Progress
from chaincover.project.load import Controller
from chaincover.project.project_file import Project, read_project

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


@dataclass(frozen=True, slots=True)
class Restored:
    """``controller`` with the goals brought back; ``lost`` are those that were not, ``notes`` say what was done."""

    controller: Controller
    lost: tuple[str, ...]
    notes: tuple[str, ...]


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


def restore(recorded: Recorded, given: dict[str, Any], progress: Progress) -> Restored:
    """The controller that the options name, with the goals of ``recorded`` beside its own.

    Options select among all of them. Errors as in ``load_controller``.
    """
    project = read_project(given["path"])
    more = missing_criteria(project, given["cover"], recorded.criteria)
    given = {**given, "hold": recorded.hold}
    everything = {**given, "select": (), "exclude": ()}
    controller, more, notes = _with_criteria(everything, more, progress)
    if project.hold > 1 and not recorded.goals and recorded.hold == 1:
        notes.append(f"these inputs need not be held for {project.hold} steps, as those of generated chains")
    lost = _lost(recorded, controller)
    texts: list[str] = []
    for goal in (goal for goal in lost if goal.readable):
        try:
            one_more = [*texts, f"{goal.name}: {goal.text}"]
            controller = load_controller(_extended(everything, more, one_more), progress)
            texts = one_more
        except InputRefused as error:
            notes.append(f"the chain's property {goal.name} cannot be read: {error.message}")
    lost = _lost(recorded, controller)
    if given["select"] or given["exclude"]:
        controller, lost = load_controller(_extended(given, more, texts), progress), []
    if lost:
        generated = any(goal.generated for goal in lost)
        why = "; names of generated goals hold line and column of the source that the chain was made for"
        names = ", ".join(goal.name for goal in lost)
        notes.append(f"the program has no goal {names}: not looked at{why if generated else ''}")
    return Restored(controller, tuple(goal.name for goal in lost), tuple(notes))


def _with_criteria(
    given: dict[str, Any], more: list[str], progress: Progress
) -> tuple[Controller, list[str], list[str]]:
    """The controller with the recorded criteria that can be read, these, and a note on each other one."""
    notes: list[str] = []
    while True:
        try:
            return load_controller(_extended(given, more), progress), more, notes
        except InputRefused as error:
            guilty = unreadable(error, given["cover"], more)
            if not guilty:
                raise
            more = [text for text in more if text != guilty]
            notes.append(f"the chain's criterion {guilty} cannot be read: {error.message}")


def unreadable(error: InputRefused, given: Sequence[str], more: Sequence[str]) -> str:
    """Which of the criteria ``more``, loaded behind those ``given``, was refused; '' if the error is another one."""
    places = {Location(f"--cover {number}"): text for number, text in enumerate(more, len(given) + 1)}
    return places.get(error.where, "") if error.where is not None else ""


def _extended(given: dict[str, Any], criteria: Sequence[str], texts: Sequence[str] = ()) -> dict[str, Any]:
    return {**given, "cover": (*given["cover"], *criteria), "properties": (*given["properties"], *texts)}


def _lost(recorded: Recorded, controller: Controller) -> list[RecordedGoal]:
    return [goal for goal in recorded.goals if not known(goal, controller)]


def known(goal: RecordedGoal, controller: Controller) -> bool:
    """Whether the controller has this goal; a generated one of its name and another text is another decision."""
    texts = {own.name: own.text for own in controller.goals}
    return goal.name in texts and (not goal.generated or texts[goal.name] == goal.text)
