"""Generated goals: the states and transitions of a variable, and branches, conditions and MC/DC of the step function.

``docs/coverage-goals.md`` says what each criterion asks for and how its goals are called.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from pysmt.fnode import FNode

from bmc.c.controller.model import CModel
from bmc.c.controller.ranges import FloatReader, is_boolean, read_number, read_ranges
from bmc.c.execute.variables import CVariable, find_variable, suggestion
from bmc.c.source.program import with_deep_stack
from bmc.c.source.types import FloatType, IntType
from bmc.errors import InputRefused, Location
from bmc.floats import compare
from bmc.floats.format import is_nan
from bmc.formulas.terms import both, constant, equals
from properties.coverage.code import branches, conditions, mcdc
from properties.goal import Goal, goal_length

MOST_VALUES = 64
"""Most values of a variable whose states are goals."""
MOST_TRANSITIONS = 1000
"""Most transitions of one variable."""

_OF_CODE = {"branches": branches, "conditions": conditions, "mcdc": mcdc}
_OF_A_VARIABLE = ("states", "transitions")
_FORMS = "states(x), transitions(x), branches(), conditions(), mcdc()"


@dataclass(frozen=True, slots=True)
class CoverageCriterion:
    """A criterion as it was written, such as ``transitions(mode)``, and where."""

    text: str
    where: Location


def generate_goals(model: CModel, criteria: Sequence[CoverageCriterion]) -> list[Goal]:
    """The goals of all criteria, each once. InputRefused, with its place, for a criterion that cannot be read."""
    goals: dict[str, Goal] = {}
    spelled: dict[str, str] = {}
    for criterion in criteria:
        for goal in _goals(model, criterion, spelled):
            goals.setdefault(goal.name, goal)
    return list(goals.values())


def _goals(model: CModel, criterion: CoverageCriterion, spelled: dict[str, str]) -> list[Goal]:
    """``spelled`` keeps how each variable was called first, by its full name."""
    match = re.fullmatch(r"\s*(\w+)\s*\((.*)\)\s*", criterion.text, re.S)
    kind, inside = (match[1], match[2].strip()) if match else (criterion.text.strip(), "")
    if kind not in (*_OF_CODE, *_OF_A_VARIABLE):
        hint = f"{suggestion(kind, [*_OF_A_VARIABLE, *_OF_CODE])} criteria are {_FORMS}"
        raise InputRefused(f"unknown coverage criterion '{criterion.text.strip()}'", criterion.where, hint)
    if match is None or (kind in _OF_CODE) != (not inside):
        right = f"{kind}()" if kind in _OF_CODE else f"{kind}(x) with the name of a variable"
        raise InputRefused(f"'{criterion.text.strip()}' is no coverage criterion", criterion.where, f"write {right}")
    if kind in _OF_CODE:
        return with_deep_stack(lambda: _OF_CODE[kind](model.decisions))
    name, _, listed = (part.strip() for part in inside.partition(","))
    full = find_variable(name, model.names, criterion.where)
    variable = next(v for v in model.variables if v.name == full)
    name = spelled.setdefault(full, "".join(name.split()))
    values = _Values(model, variable, criterion, kind).read(listed)
    return _states(model, variable, name, values) if kind == "states" else _transitions(model, variable, name, values)


def _states(model: CModel, variable: CVariable, name: str, values: dict[int, str]) -> list[Goal]:
    """One goal for each value."""
    return [
        _goal(model, f"states({name})", label, _has(model, variable, value, 0), f"{name} == {label}")
        for value, label in values.items()
    ]


def _transitions(model: CModel, variable: CVariable, name: str, values: dict[int, str]) -> list[Goal]:
    """One goal for each ordered pair of values: the first before a step, the second after it."""
    goals = []
    for (before, first), (after, second) in itertools.permutations(values.items(), 2):
        condition = both(_has(model, variable, before, 0), _has(model, variable, after, 1))
        text = f"{name} == {first} && X({name} == {second})"
        goals.append(_goal(model, f"transitions({name})", f"{first}->{second}", condition, text))
    return goals


def _goal(model: CModel, criterion: str, which: str, antecedent: FNode, text: str) -> Goal:
    length = goal_length([antecedent], {v.name for v in model.inputs})
    return Goal(f"{criterion}={which}", antecedent, None, length, text, generated=criterion)


def _has(model: CModel, variable: CVariable, value: int, step: int) -> FNode:
    """That a variable has been set and has ``value`` at ``step``."""
    content = model.content(variable, step)
    assert isinstance(content.term, FNode)
    meant = constant(value, variable.ctype.bits)
    if isinstance(variable.ctype, FloatType):
        form = variable.ctype.format
        same = compare.is_nan(content.term, form) if is_nan(value, form) else compare.equal(content.term, meant, form)
        return both(content.defined, same)
    return both(content.defined, equals(content.term, meant))


class _Values:
    """Which values of a variable count: as the criterion lists them, as the project does, or by the type."""

    def __init__(self, model: CModel, variable: CVariable, criterion: CoverageCriterion, kind: str) -> None:
        self.model = model
        self.variable = variable
        self.where = criterion.where
        self.kind = kind

    def read(self, listed: str) -> dict[int, str]:
        """The values with what each is called; ``listed`` is ``0..5``, ``{0, 1, 4}`` or nothing.

        InputRefused where no values are known, or too many.
        """
        ctype = self.variable.ctype
        if listed:
            braces = re.fullmatch(r"\{(.*)\}", listed, re.S)
            values = self._given(tuple(braces[1].split(",")) if braces else listed)
        elif self.variable.name in self.model.ranges:
            values = self._given(self.model.ranges[self.variable.name])
        elif isinstance(ctype, IntType) and ctype.labels:
            values = {}
            for label, number in ctype.labels:
                values.setdefault(number, label)
        elif is_boolean(ctype):
            values = {0: "0", 1: "1"}
        else:
            text = f"it is not known which values of '{self.variable.name}' ({ctype.name}) are goals"
            raise InputRefused(text, self.where, f"list them: {self._example()}, or give its range under [ranges]")
        if self.kind == "transitions" and len(values) * (len(values) - 1) > MOST_TRANSITIONS:
            raise self._too_many(len(values) * (len(values) - 1), "transitions", MOST_TRANSITIONS)
        return values

    def _given(self, texts: str | tuple[str, ...]) -> dict[int, str]:
        """Values from the text of a range or a list; names in a list stay the values' names."""
        ranges = read_ranges(self.model, self.variable, texts, self.where)
        count = sum(high - low + 1 for low, high in ranges)
        if count > MOST_VALUES:
            raise self._too_many(count, "values", MOST_VALUES)
        show = self.variable.ctype.value_type().show
        if isinstance(texts, str):
            return {number: show(number) for low, high in ranges for number in range(low, high + 1)}
        values: dict[int, str] = {}
        for text in texts:
            number = self._number(text)
            named = re.fullmatch(r"[A-Za-z_]\w*", text.strip())
            values.setdefault(number, text.strip() if named else show(number))
        return values

    def _number(self, text: str) -> int:
        ctype = self.variable.ctype
        if isinstance(ctype, FloatType):
            raw = FloatReader(self.model, self.variable.name, ctype, self.where).pattern(text)
            return 0 if raw == ctype.format.sign else raw  # both zeros are one value
        return read_number(self.model, text, self.where)

    def _too_many(self, count: int, what: str, most: int) -> InputRefused:
        text = f"'{self.variable.name}' has {count} {what}, and at most {most} can be goals"
        return InputRefused(text, self.where, f"list the values that matter: {self._example()}")

    def _example(self) -> str:
        if isinstance(self.variable.ctype, FloatType):
            return f"{self.kind}({self.variable.name}, {{0.0, 1.0, 2.5}})"
        return f"{self.kind}({self.variable.name}, 0..5) or {self.kind}({self.variable.name}, {{0, 1, 4}})"
