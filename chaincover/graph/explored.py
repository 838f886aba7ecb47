"""What the list of all reachable states gives, where it is short: a proved invariant and a bound on every weight."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

from pysmt.fnode import FNode

from bmc.engines.protocol import Engine
from bmc.errors import LimitReached
from bmc.explicit.enumeration import affordable, enumerated
from bmc.explicit.state_graph import StateGraph, invariant_of
from bmc.formulas.unroll import at
from bmc.invariants.candidates import EFFORT, self_found
from bmc.invariants.induction import Prover
from bmc.system.transition import Condition, TransitionSystem
from properties.goal import Goal


class Reachable:
    """The reachable states of ``system``, on what ``goals`` and ``final`` depend on, as far as ``limit`` allows.

    ``limit`` stands for the time that so many steps take one by one. 0: nothing is explored. Found out when it is
    first asked for.
    """

    def __init__(
        self,
        system: TransitionSystem,
        goals: Sequence[Goal],
        final: FNode | None,
        limit: int,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """``check`` is called now and then: where it raises LimitReached, the states count as too many."""
        self._check = check
        self.plain = system
        self._goals = tuple(goals)
        self._final = final
        self._limit = limit
        self._suggested: tuple[Condition, ...] = ()

    @cached_property
    def graph(self) -> StateGraph | None:
        """All reachable states and the steps between them; None if they are too many."""
        formulas = [goal.antecedent for goal in self._goals] + ([] if self._final is None else [at(self._final, 0)])
        if not self._limit:
            return None
        try:
            found = enumerated(self.plain, formulas, affordable(self._limit), self._check)
        except LimitReached:
            return None
        return found if found and found.states else None

    def find(self) -> None:
        """List the states now, if they are not."""
        _ = self.graph

    def suggest(self, engine: Engine, seconds: Callable[[], float | None]) -> None:
        """Where the states are too many: invariants of ``system`` that are found without their list.

        Values that its variables never leave, and what random runs suggest and induction proves. ``seconds`` limits
        each query; what it does not suffice for is left out.
        """
        if self.graph is None:
            formulas = [goal.antecedent for goal in self._goals]
            self._suggested = self_found(self.plain, formulas, Prover(engine, seconds, EFFORT))
            self.__dict__.pop("system", None)

    @cached_property
    def system(self) -> TransitionSystem:
        """The system with its reachable states as a proved invariant, if they were found, else with those suggested."""
        found = invariant_of(self.plain, self.graph.states) if self.graph else None
        more = self._suggested if found is None else (found,)
        return replace(self.plain, invariants=(*self.plain.invariants, *more)) if more else self.plain

    @property
    def farthest(self) -> int | None:
        """A bound in steps on every finite weight, None if the states are too many.

        Between the end of one goal and the start of the next a shortest run meets no state twice. The phase within a
        held step is part of the state.
        """
        if self.graph is None:
            return None
        return len(self.graph.states) + max((goal.length for goal in self._goals), default=0)


def strengthened(
    system: TransitionSystem,
    goals: Sequence[Goal],
    final: FNode | None,
    limit: int,
    check: Callable[[], None] = lambda: None,
) -> TransitionSystem:
    """``system`` with its reachable states as a proved invariant, if ``limit`` simulated steps suffice to find them.

    ``check`` is that of ``Reachable``.
    """
    return Reachable(system, goals, final, limit, check).system
