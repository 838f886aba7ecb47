"""Goals at any steps in any order: the formulas of a run of given length that covers them, and where it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pysmt.fnode import FNode
from pysmt.shortcuts import And, Not, Or, Symbol
from pysmt.typing import BOOL

from bmc.formulas.unroll import shift
from bmc.system.transition import conjunction
from properties.goal import Goal


class AnyOrder:
    """With ``overlap`` ``allow`` goals may share steps. With ``forbid`` each goal is credited at steps of its own.

    Then a free Boolean per goal and step says where it is credited, and those that would meet exclude each other.
    """

    def __init__(self, goals: Mapping[str, Goal], overlap: str) -> None:
        self._goals = goals
        self._apart = overlap == "forbid"
        self._placed: dict[tuple[str, int], FNode] = {}
        self._disjoint: dict[tuple[tuple[str, ...], int], FNode] = {}

    def formulas(self, names: Sequence[str], length: int) -> list[FNode]:
        """What a run of ``length`` steps that covers the goals ``names`` satisfies; false where it is too short."""
        places = [Or([self._at(name, step) for step in self._steps(name, length)]) for name in names]
        if not self._apart:
            return places
        return places + [self._apart_at(tuple(names), step) for step in range(length + 1)]

    def _steps(self, name: str, length: int) -> range:
        return range(length - self._goals[name].length + 1)

    def _at(self, name: str, step: int) -> FNode:
        key = (name, step)
        if key not in self._placed:
            here = shift(self._goals[name].antecedent, step)
            self._placed[key] = And(_pick(name, step), here) if self._apart else here
        return self._placed[key]

    def _apart_at(self, names: tuple[str, ...], step: int) -> FNode:
        """No goal credited at ``step`` meets one credited at or before it."""
        key = (names, step)
        if key not in self._disjoint:
            pairs = [
                Not(And(_pick(later, step), _pick(earlier, before)))
                for later in names
                for earlier in names
                if earlier != later
                for before in range(max(0, step - self._goals[earlier].length + 1), step + 1)
                if before < step or self._both_long(earlier, later)
            ]
            self._disjoint[key] = conjunction(pairs)
        return self._disjoint[key]

    def _both_long(self, a: str, b: str) -> bool:
        return self._goals[a].length > 0 and self._goals[b].length > 0


def _pick(name: str, step: int) -> FNode:
    """Whether the goal is credited at ``step``."""
    return Symbol(f"pick:{name}:{step}@0", BOOL)
