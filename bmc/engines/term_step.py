"""One step as formulas from frame 0 to frame 1, for engines whose solvers take terms."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pysmt.fnode import FNode

from bmc.engines.unrolling import UnrollingEngine, proved
from bmc.formulas.unroll import at, at_each, framed
from bmc.system.transition import StateVariable, TransitionSystem, conjunction, equal, symbols_of

Template = TypeVar("Template")
"""A step in a solver's terms."""


@dataclass(frozen=True)
class StepFormulas:
    """One step of some state variables: next-state ``equations``, and the ``condition`` that makes the step valid.

    Both are framed, at 0 and 1; ``symbols`` occur in them.
    """

    equations: FNode
    condition: FNode
    symbols: tuple[FNode, ...]

    @staticmethod
    def of(system: TransitionSystem, variables: Sequence[StateVariable], conditions: bool) -> StepFormulas:
        """The step of ``variables``, with the step's validity condition if ``conditions``."""
        after = at_each([var.next for var in variables], 0)
        pairs = zip(variables, after, strict=True)
        equations = conjunction(equal(framed(var.symbol, 1), term) for var, term in pairs)
        parts = [at(system.input_constraint, 0), at(system.defined, 0), at(proved(system), 1)]
        condition = conjunction(parts if conditions else [])
        return StepFormulas(equations, condition, tuple(symbols_of(conjunction([equations, condition]))))


class TermEngine(UnrollingEngine, Generic[Template]):
    """An engine that translates a step once, for all sessions of one system."""

    def __init__(self, memory: int | None = None, trials: bool = True) -> None:
        """See UnrollingEngine."""
        super().__init__(memory, trials)
        self._templates: dict[tuple[bool, tuple[str, ...]], Template] = {}

    @abstractmethod
    def translated(self, system: TransitionSystem, step: StepFormulas) -> Template:
        """A step in the solver's terms."""

    def template(self, system: TransitionSystem, variables: Sequence[StateVariable], conditions: bool) -> Template:
        """The step of ``variables``, with the step's validity condition if ``conditions``."""
        self.remember(system)
        key = (conditions, tuple(var.name for var in variables))
        if key not in self._templates:
            self._templates[key] = self.translated(system, StepFormulas.of(system, variables, conditions))
        return self._templates[key]

    def forget(self) -> None:
        """Drop the steps of the last system."""
        self._templates = {}
