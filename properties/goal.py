"""Goals: what a chain must exercise. Antecedents and consequents are formulas over framed symbols ``x@j``."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from pysmt.fnode import FNode

from bmc.errors import Location
from bmc.formulas.unroll import unframed
from bmc.system.transition import symbols_of


@dataclass(frozen=True, slots=True)
class Goal:
    """One test goal.

    ``antecedent`` is over ``x@0 .. x@J`` (state at steps 0..J, inputs at steps 0..J-1); ``consequent`` likewise, or
    None for a goal without an oracle. ``length`` is J in steps (docs: design words). ``text`` is the property as the
    user wrote it. ``generated`` is the criterion that a generated goal belongs to, such as ``states(mode)``, and empty
    for a goal that the user wrote.
    """

    name: str
    antecedent: FNode
    consequent: FNode | None
    length: int
    text: str = ""
    description: str = ""
    requirement: str = ""
    where: Location | None = None
    generated: str = ""


def goal_length(formulas: Collection[FNode], inputs: Collection[str]) -> int:
    """J in steps: the largest of (step of an input symbol) + 1 and (step of a state symbol).

    ``formulas`` are over framed symbols; ``inputs`` holds the plain names of the inputs.
    """
    length = 0
    for formula in formulas:
        for symbol in symbols_of(formula):
            name, step = unframed(symbol)
            length = max(length, step + 1 if name in inputs else step)
    return length
