"""The states, the transitions and the pairs of transitions of variables, or of expressions, as goals."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE

from bmc.errors import InputRefused
from bmc.floats.format import FORMATS
from bmc.formulas.terms import both
from bmc.formulas.unroll import at
from bmc.models.model import Model, Quantity, Variable
from bmc.records import dataclass
from bmc.system.names import DEFINED, find_variable
from bmc.system.transition import BOOLEAN, ValueType
from properties.coverage import Criterion, Use
from properties.goal import Goal, goal_length
from properties.values import MOST_GOALS, MOST_STATES, is_value

if TYPE_CHECKING:
    from properties.modes import Modes


def states(model: Model, use: Use) -> list[Goal]:
    """One goal for each value."""
    found = _of_modes(model, use, lambda modes: modes.states())
    if found is not None:
        return found
    seen = _observed(model, use)
    return [
        _goal(model, f"states({seen.name})", label, seen.has(value, 0), f"{seen.name} == {label}")
        for value, label in seen.values.items()
    ]


def transitions(model: Model, use: Use) -> list[Goal]:
    """One goal for each ordered pair of values: the first before a step, the second after it."""
    found = _of_modes(model, use, lambda modes: modes.transitions())
    if found is not None:
        return found
    seen, goals = _observed(model, use), []
    for (before, first), (after, second) in itertools.permutations(seen.values.items(), 2):
        condition = both(seen.has(before, 0), seen.has(after, 1))
        text = f"{seen.name} == {first} && X({seen.name} == {second})"
        goals.append(_goal(model, f"transitions({seen.name})", f"{first}->{second}", condition, text))
    return goals


def pairs(model: Model, use: Use) -> list[Goal]:
    """One goal for each two transitions that follow each other."""
    texts = expressions(use.inside)
    if texts is None and len(_between_commas(use.inside)) > 1:
        raise _several(model, use) or InputRefused(
            f"pairs({use.inside}) lists values", use.where, "they are found out: write pairs(x)"
        )
    return _made(model, use, texts or [_bare(use.inside)]).pairs()


CRITERIA = {
    name: Criterion(goals, of_variable=True)
    for name, goals in (("states", states), ("transitions", transitions), ("pairs", pairs))
}


def _of_modes(model: Model, use: Use, goals: Callable[[Modes], list[Goal]]) -> list[Goal] | None:
    """The goals where the use is not about one variable whose values are declared, listed, or not found out."""
    texts = expressions(use.inside)
    if texts is not None:
        return goals(_made(model, use, texts))
    with suppress(InputRefused):
        name, comma, _ = (part.strip() for part in _bare(use.inside).partition(","))
        full = find_variable(name, [v.name for v in model.variables], use.where)
        variable = next(v for v in model.variables if v.name == full)
        if comma or model.declared(variable) is not None:
            return None
        return goals(_made(model, use, [use.spelled.setdefault(full, "".join(name.split()))]))
    return None


def _made(model: Model, use: Use, texts: Sequence[str]) -> Modes:
    from properties.modes import Modes  # numpy, which most projects do not need here

    return Modes.of(model, use.system or model.system, texts, use.where)


def expressions(inside: str) -> list[str] | None:
    """The expressions of ``(a, b)``, or the one expression that ``inside`` is.

    None for the name of a variable, in parentheses or not, or where values are listed behind it.
    """
    texts = _between_commas(_bare(inside))
    if len(texts) > 1:
        return texts if _bare(inside) != inside.strip() else None
    return None if _NAME.fullmatch(texts[0].strip()) else texts


_NAME = re.compile(r"(?!.*[\w\])]\s*\*)[\w.*:\s]+(\[\s*\w+\s*\]|->|[\w.\s])*", re.S)
"""The name of a variable, of which a star may only stand at the front: else it multiplies."""


def _bare(text: str) -> str:
    """``text`` without the parentheses around all of it."""
    text = text.strip()
    while text.startswith("(") and _closed_by_last(text):
        text = text[1:-1].strip()
    return text


def _between_commas(text: str) -> list[str]:
    """What stands between the commas of ``text`` outside of all brackets."""
    found, depth = [""], 0
    for character in text:
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            found.append("")
        else:
            found[-1] += character
    return found


def _closed_by_last(text: str) -> bool:
    """Whether the last character closes the bracket that the first one opens."""
    depth = 0
    for place, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0:
            return place == len(text) - 1
    return False


def _several(model: Model, use: Use) -> InputRefused | None:
    """That values are listed behind a variable, where another variable stands; None where none does."""
    _, comma, listed = use.inside.partition(",")
    for name in re.findall(r"(?:^|,)\s*([A-Za-z_][\w.>\[\]-]*)\s*(?=,|$)", listed) if comma else ():
        with suppress(InputRefused):
            find_variable(name, [v.name for v in model.variables], use.where)
            text = f"'{name}' in {use.kind}({use.inside}) is a variable, and values are listed there"
            return InputRefused(text, use.where, f"for several variables together write {use.kind}(({use.inside}))")
    return None


@dataclass(frozen=True, slots=True)
class _Observed:
    """What a use is about: its ``name``, its values with what each is called, and that it ``has`` one at a step."""

    name: str
    values: dict[int, str]
    has: Callable[[int, int], FNode]


def _observed(model: Model, use: Use) -> _Observed:
    """The variable of a use, or the expression behind which values are listed."""
    first, *rest = _between_commas(use.inside)
    listed, text = ",".join(rest).strip(), _bare(first)
    if rest and not _NAME.fullmatch(text):
        return _expression(model, use, first, listed)
    if (several := _several(model, use)) is not None:
        raise several
    full = find_variable(text, [v.name for v in model.variables], use.where)
    variable = next(v for v in model.variables if v.name == full)
    name = use.spelled.setdefault(full, "".join(text.split()))
    values = _Values(model, variable, use).read(listed)
    return _Observed(name, values, lambda value, step: _has(model, variable, value, step))


def _expression(model: Model, use: Use, text: str, listed: str) -> _Observed:
    """A C expression with its values ``listed``. InputRefused where several stand in parentheses."""
    if len(_between_commas(_bare(text))) > 1:
        message = f"{use.kind}({use.inside}) lists values of several expressions"
        raise InputRefused(message, use.where, f"they are found out: write {use.kind}({text.strip()})")
    modes = _made(model, use, [text])
    (part,) = modes.parts
    values = _Values(model, _Quantity(modes.name, part.type), use).read(listed)
    return _Observed(modes.name, values, lambda value, step: at(part.has(value), step))


def _goal(model: Model, criterion: str, which: str, antecedent: FNode, text: str) -> Goal:
    length = goal_length([antecedent], {v.name for v in model.variables if v.role == "input"})
    return Goal(f"{criterion}={which}", antecedent, None, length, text, generated=criterion)


def _has(model: Model, variable: Variable, value: int, step: int) -> FNode:
    """That a variable has been set and has ``value`` at ``step``."""
    flag = f"{variable.name}{DEFINED}"
    defined = BOOLEAN.symbol(flag) if any(var.name == flag for var in model.system.state) else TRUE()
    return at(both(defined, is_value(variable.type.symbol(variable.name), variable.type, value)), step)


@dataclass(frozen=True, slots=True)
class _Quantity:
    """The name and the type of an expression."""

    name: str
    type: ValueType


class _Values:
    """Which values of a variable count: as the criterion lists them, as the project does, or by the type."""

    def __init__(self, model: Model, variable: Quantity, use: Use) -> None:
        self.model = model
        self.variable = variable
        self.where = use.where
        self.kind = use.kind

    def read(self, listed: str) -> dict[int, str]:
        """The values with what each is called; ``listed`` is ``0..5``, ``{0, 1, 4}`` or nothing.

        InputRefused where no values are known, or too many.
        """
        declared = self.model.declared(self.variable)
        if listed:
            braces = re.fullmatch(r"\{(.*)\}", listed, re.S)
            values = self._given(tuple(braces[1].split(",")) if braces else listed)
        elif isinstance(declared, dict):
            values = declared
        elif declared is not None:
            values = self._given(declared)
        else:
            text = f"it is not known which values of '{self.variable.name}' ({self.variable.type.name}) are goals"
            raise InputRefused(text, self.where, f"list them: {self._example()}, or give its range under [ranges]")
        if self.kind == "transitions" and len(values) * (len(values) - 1) > MOST_GOALS:
            raise self._too_many(len(values) * (len(values) - 1), "transitions", MOST_GOALS)
        return values

    def _given(self, texts: str | tuple[str, ...]) -> dict[int, str]:
        """Values from the text of a range or a list; names in a list stay the values' names."""
        ranges = self.model.ranges(self.variable, texts, self.where)
        count = sum(high - low + 1 for low, high in ranges)
        if count > MOST_STATES:
            raise self._too_many(count, "values", MOST_STATES)
        show = self.variable.type.show
        if isinstance(texts, str):
            return {number: show(number) for low, high in ranges for number in range(low, high + 1)}
        values: dict[int, str] = {}
        for text in texts:
            number = self._number(text)
            named = re.fullmatch(r"[A-Za-z_]\w*", text.strip())
            values.setdefault(number, text.strip() if named else show(number))
        return values

    def _number(self, text: str) -> int:
        kind = self.variable.type
        value = self.model.constant(self.variable, text, self.where)
        return 0 if kind.floating and value == FORMATS[kind.bits].sign else value  # both zeros are one value

    def _too_many(self, count: int, what: str, most: int) -> InputRefused:
        text = f"'{self.variable.name}' has {count} {what}, and at most {most} can be goals"
        return InputRefused(text, self.where, f"list the values that matter: {self._example()}")

    def _example(self) -> str:
        if self.variable.type.floating:
            return f"{self.kind}({self.variable.name}, {{0.0, 1.0, 2.5}})"
        return f"{self.kind}({self.variable.name}, 0..5) or {self.kind}({self.variable.name}, {{0, 1, 4}})"
