"""The goals that a ``chain.json`` was made for, brought back where project and options do not name them.

What cannot be brought back is said, never passed over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bmc.errors import InputRefused
from chaincover.cli.options import load_controller
from chaincover.formats.recorded import Recorded, RecordedGoal, known, missing_criteria, unreadable
from chaincover.progress import Progress
from chaincover.project.load import Controller
from chaincover.project.project_file import read_project


@dataclass(frozen=True, slots=True)
class Restored:
    """``controller`` with the goals brought back; ``lost`` are those that were not, ``notes`` say what was done."""

    controller: Controller
    lost: tuple[str, ...]
    notes: tuple[str, ...]


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


def _extended(given: dict[str, Any], criteria: Sequence[str], texts: Sequence[str] = ()) -> dict[str, Any]:
    return {**given, "cover": (*given["cover"], *criteria), "properties": (*given["properties"], *texts)}


def _lost(recorded: Recorded, controller: Controller) -> list[RecordedGoal]:
    return [goal for goal in recorded.goals if not known(goal, controller)]
