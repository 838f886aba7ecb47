"""Goals generated from the code: each module here gives criteria, so that a new criterion is one new file.

``docs/reference/coverage-goals.md`` says what each criterion asks for and how its goals are called.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pysmt.fnode import FNode

from bmc.errors import InputRefused, Location
from bmc.formulas.unroll import at_each
from bmc.models.model import Model
from bmc.records import dataclass
from bmc.system.names import suggestion
from bmc.system.transition import MODES, Condition, StateVariable, TransitionSystem
from properties.goal import Goal, goal_length


@dataclass(frozen=True, slots=True)
class CoverageCriterion:
    """A criterion as it was written, such as ``transitions(mode)``, and where."""

    text: str
    where: Location


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a criterion: ``inside`` stands between its parentheses.

    ``spelled`` keeps how each variable was called first, by its full name. ``properties`` are the goals that were
    written; ``system`` is that of the program with all that is assumed (None: nothing is).
    """

    kind: str
    inside: str
    where: Location
    spelled: dict[str, str]
    properties: Sequence[Goal] = ()
    system: TransitionSystem | None = None


@dataclass(frozen=True, slots=True)
class Criterion:
    """What a module of this room lists in ``CRITERIA``, by the name of the criterion.

    ``goals`` makes the goals of one use; InputRefused where it cannot. ``of_variable``: the name of a variable stands
    between the parentheses, else nothing.
    """

    goals: Callable[[Model, Use], list[Goal]]
    of_variable: bool = False


def known_criteria() -> dict[str, Criterion]:
    """All criteria by name, those of a variable first."""
    found: dict[str, Criterion] = {}
    for module in pkgutil.iter_modules(__path__):
        found.update(importlib.import_module(f"{__name__}.{module.name}").CRITERIA)
    return dict(sorted(found.items(), key=lambda item: not item[1].of_variable))


def generate_goals(
    model: Model,
    criteria: Sequence[CoverageCriterion],
    properties: Sequence[Goal] = (),
    system: TransitionSystem | None = None,
) -> list[Goal]:
    """The goals of all criteria, each once, beside those of ``properties``; ``system`` as in ``Use``.

    InputRefused, with its place, for a criterion that cannot be read.
    """
    return distinct(goals_by_criterion(model, criteria, properties, system))


def goals_by_criterion(
    model: Model,
    criteria: Sequence[CoverageCriterion],
    properties: Sequence[Goal] = (),
    system: TransitionSystem | None = None,
) -> dict[str, list[Goal]]:
    """The goals of each criterion by its text, those too that another criterion makes; arguments and errors as in
    ``generate_goals``.
    """
    goals: dict[str, list[Goal]] = {}
    spelled: dict[str, str] = {}
    for criterion in criteria:
        goals[criterion.text] = _goals(model, criterion, Use("", "", criterion.where, spelled, properties, system))
    return goals


def distinct(by_criterion: Mapping[str, Sequence[Goal]]) -> list[Goal]:
    """The goals of all criteria, the first of each name."""
    goals: dict[str, Goal] = {}
    for made in by_criterion.values():
        for goal in made:
            goals.setdefault(goal.name, goal)
    return list(goals.values())


def _goals(model: Model, written: CoverageCriterion, use: Use) -> list[Goal]:
    match = re.fullmatch(r"\s*(\w+)\s*\((.*)\)\s*", written.text, re.S)
    kind, inside = (match[1], match[2].strip()) if match else (written.text.strip(), "")
    known = known_criteria()
    if kind not in known:
        forms = ", ".join(f"{name}({'x' if each.of_variable else ''})" for name, each in known.items())
        meant = suggestion(kind, known)
        hint = f"{meant} criteria are {forms}" if meant.endswith("?") else f"criteria are {forms}"
        raise InputRefused(f"unknown coverage criterion '{written.text.strip()}'", written.where, hint)
    if match is not None and not inside and (parts := model.parts(kind)):
        return _of_parts(model, written, parts)
    if match is None or known[kind].of_variable != bool(inside):
        right = (
            f"{kind}(x) with the name of a variable{_such_as(model, kind, use)}"
            if known[kind].of_variable
            else f"{kind}()"
        )
        raise InputRefused(f"'{written.text.strip()}' is no coverage criterion", written.where, f"write {right}")
    return known[kind].goals(model, replace(use, kind=kind, inside=inside))


def _of_parts(model: Model, written: CoverageCriterion, parts: Sequence[Condition]) -> list[Goal]:
    """One goal for each of the parts that the model is made of."""
    inputs = {var.name for var in model.system.inputs}
    formulas = at_each([part.formula for part in parts], 0)
    return [
        Goal(
            f"{written.text.strip()}={part.name}",
            formula,
            None,
            goal_length([formula], inputs),
            part.name,
            where=part.where or written.where,
            generated=written.text.strip(),
        )
        for part, formula in zip(parts, formulas, strict=True)
    ]


def _such_as(model: Model, kind: str, use: Use) -> str:
    """Variables whose values are known without being listed, those of the state first; no inputs for ``pairs``.

    Declared ones, and those of the state that the step sets to nothing but constants, as it does with modes.
    """
    modes = {var.name for var in use.system.state if _is_mode(var)} if use.system else set()
    known = [
        variable
        for variable in sorted(model.variables, key=lambda variable: variable.role == "input")
        if (model.declared(variable) is not None or variable.name in modes)
        and (kind != "pairs" or variable.role != "input")
    ]
    names = [variable.name for variable in known[:8]]
    if names:
        return f", such as {', '.join(names)}"
    return "" if kind == "pairs" else ", and its values, as in states(x, 0..5)"


def _is_mode(var: StateVariable) -> bool:
    """Whether the step sets a whole number to nothing but constants, or leaves it as it is."""
    todo, seen, constants = [var.next], set[FNode](), 0
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.is_ite():
            todo += node.args()[1:]
        elif node.is_bv_constant():
            constants += 1
        elif node is not var.symbol:
            return False
    return 1 < constants <= MODES and not var.type.floating
