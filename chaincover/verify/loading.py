"""The controller with the goals, macros and end that a chain was made for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bmc.errors import InputRefused, UsageError
from chaincover.load import Controller, load
from chaincover.project import Project, read_project
from chaincover.verify.document import Document

_PROPERTY = re.compile(r"(G|cover)\s*\(")


def load_for(document: Document, given: dict[str, Any]) -> Controller:
    """The controller at ``given['path']`` with what ``document`` names, but for what the options in ``given`` name.

    Goals of the document that the project does not have are read from the text of their property. InputRefused or
    UsageError with the place of what is wrong.
    """
    project = _project(document, given)
    final = given["final"] if given["final"] is not None else _final(document, project)
    own = bool(given["select"] or given["exclude"])
    names = list(given["select"]) if own else [goal.name for goal in document.goals]
    more, cover = list(given["properties"]), list(given.get("cover", ()))
    if own or more:
        return load(project, more, final, names if own else (), given["exclude"], cover)
    try:
        return _ordered(load(project, (), final, names, (), cover), names)
    except UsageError:
        known = {goal.name for goal in load(project, (), "none", (), (), cover).goals}
    lost = [goal for goal in document.goals if goal.name not in known]
    unreadable = [goal.name for goal in lost if not _PROPERTY.match(goal.property)]
    if unreadable:
        hint = "give the options (--property, --cover) with which the chain was generated"
        raise InputRefused(f"the program has no goal '{unreadable[0]}'", document.where, hint)
    texts = [f"{goal.name}: {goal.property}" for goal in lost]
    return _ordered(load(project, texts, final, names, (), cover), names)


def _project(document: Document, given: dict[str, Any]) -> Project:
    """The project with the macros of the document and of the options."""
    project = read_project(given["path"])
    config = project.config
    recorded = [pair for pair in document.defines if pair not in config.defines]
    texts = (text.partition("=") for text in given["defines"])
    own = [(name, value if equals else "1") for name, equals, value in texts]
    named = {name for name, _ in own}
    defines = (*config.defines, *(pair for pair in recorded if pair[0] not in named), *own)
    return replace(project, config=replace(config, include=(*given["include"], *config.include), defines=defines))


def _final(document: Document, project: Project) -> str | None:
    """The final condition of the document as an option; None where it is the project's own."""
    if document.final is None:
        return "none"
    own = project.final or (f"{project.final_function}()" if project.final_function else "")
    return None if document.final == own else document.final


def _ordered(controller: Controller, names: Sequence[str]) -> Controller:
    """Only the goals called ``names``: each of these is a pattern too, which may fit others."""
    goals = tuple(goal for goal in controller.goals if goal.name in names)
    return replace(controller, goals=goals)
