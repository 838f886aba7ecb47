"""What an engine says of its solver: how it takes one step, one formula and one question.

All else of a session that unrolls the step is in ``bmc.engines.unrolling``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import Generic, TypeVar

from pysmt.fnode import FNode

from bmc.engines.deadline import Deadline
from bmc.engines.protocol import Status
from bmc.formulas.unroll import shift
from bmc.system.transition import StateVariable, Valuation

Step = TypeVar("Step")
"""One step of some state variables, translated for the solver."""
Literal = TypeVar("Literal")
"""What the solver takes as an assumption."""


class Backend(ABC, Generic[Step, Literal]):
    """One incremental solver. ``_valid`` has for each step so far the literal that implies that it is valid,
    ``_literals`` those of formulas. ``_deadline`` is that of the question being asked."""

    _valid: list[Literal]
    _literals: dict[FNode, Literal]
    _deadline: Deadline

    def _literal(self, formula: FNode) -> Literal:
        """The literal that implies ``formula``, tied once; the parts of a disjunction are tied once each."""
        if formula.is_or() and formula not in self._literals:
            self._literals[formula] = self._tied_any([self._tied_once(part) for part in formula.args()])
        return self._tied_once(formula)

    def _tied_once(self, formula: FNode) -> Literal:
        if formula not in self._literals:
            self._deadline.left()
            self._literals[formula] = self._tied(formula)
        return self._literals[formula]

    @abstractmethod
    def _template(self, variables: Sequence[StateVariable], conditions: bool) -> Step:
        """The step of ``variables``, with the step's validity condition if ``conditions``."""

    @abstractmethod
    def _begin(self, source: FNode, invariants: FNode) -> None:
        """Every run satisfies ``source`` and ``invariants``, which are framed."""

    @abstractmethod
    def _place(self, template: Step, step: int) -> None:
        """Assert the next-state equations of ``template`` at ``step``."""

    @abstractmethod
    def _validity(self, template: Step, step: int) -> Literal:
        """A literal that implies the validity condition of ``template`` at ``step`` and the last of ``_valid``."""

    @abstractmethod
    def _tied(self, formula: FNode) -> Literal:
        """A literal that implies the framed ``formula``."""

    def _tied_later(self, formula: FNode, later: int) -> Literal:
        """A literal that implies the framed ``formula``, moved ``later`` steps."""
        return self._tied(shift(formula, later))

    @abstractmethod
    def _tied_any(self, literals: Sequence[Literal]) -> Literal:
        """A literal that implies one of ``literals``."""

    @abstractmethod
    def _tied_all(self, literals: Sequence[Literal]) -> Literal:
        """A literal that implies all of ``literals``."""

    def _tied_group(self, first: Literal, options: Sequence[Literal]) -> Literal:
        """A new literal that implies ``first`` and one of ``options``."""
        return self._tied_all([first, self._tied_any(options)])

    def _drop(self, literal: Literal) -> None:
        """A literal made by ``_tied_group`` is never asked about again."""

    @abstractmethod
    def _solve(
        self, assumptions: Sequence[Literal], time_limit: float | None, effort: float | None
    ) -> tuple[Status, Collection[int]]:
        """The answer under ``assumptions``; with UNSAT, the places of those that together are impossible."""

    @abstractmethod
    def _values(self, symbols: Sequence[FNode], step: int) -> Valuation:
        """The values of plain ``symbols`` at ``step`` in the run that the last query found; what is open is 0."""
