"""The states and the transitions of a variable as goals."""

from __future__ import annotations

import itertools
import re

from pysmt.fnode import FNode

from bmc.c.controller.model import CModel
from bmc.c.controller.ranges import FloatReader, is_boolean, read_number, read_ranges
from bmc.c.execute.variables import CVariable, find_variable
from bmc.c.source.types import FloatType, IntType
from bmc.errors import InputRefused
from bmc.floats import compare
from bmc.floats.format import is_nan
from bmc.formulas.terms import both, constant, equals
from properties.coverage import Criterion, Use
from properties.goal import Goal, goal_length

MOST_VALUES = 64
"""Most values of a variable whose states are goals."""
MOST_TRANSITIONS = 1000
"""Most transitions of one variable."""


def states(model: CModel, use: Use) -> list[Goal]:
    """One goal for each value."""
    variable, name, values = _observed(model, use)
    return [
        _goal(model, f"states({name})", label, _has(model, variable, value, 0), f"{name} == {label}")
        for value, label in values.items()
    ]


def transitions(model: CModel, use: Use) -> list[Goal]:
    """One goal for each ordered pair of values: the first before a step, the second after it."""
    variable, name, values = _observed(model, use)
    goals = []
    for (before, first), (after, second) in itertools.permutations(values.items(), 2):
        condition = both(_has(model, variable, before, 0), _has(model, variable, after, 1))
        text = f"{name} == {first} && X({name} == {second})"
        goals.append(_goal(model, f"transitions({name})", f"{first}->{second}", condition, text))
    return goals


CRITERIA = {"states": Criterion(states, of_variable=True), "transitions": Criterion(transitions, of_variable=True)}


def _observed(model: CModel, use: Use) -> tuple[CVariable, str, dict[int, str]]:
    """The variable of a use, what it is called, and its values with what each is called."""
    name, _, listed = (part.strip() for part in use.inside.partition(","))
    full = find_variable(name, model.names, use.where)
    variable = next(v for v in model.variables if v.name == full)
    name = use.spelled.setdefault(full, "".join(name.split()))
    return variable, name, _Values(model, variable, use).read(listed)


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

    def __init__(self, model: CModel, variable: CVariable, use: Use) -> None:
        self.model = model
        self.variable = variable
        self.where = use.where
        self.kind = use.kind

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
