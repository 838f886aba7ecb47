"""Whether some state and inputs satisfy a formula: a query about one moment, without any step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE

from bmc.engines.protocol import Engine, Status
from bmc.formulas.unroll import at_each
from bmc.system.transition import StateVariable, TransitionSystem, conjunction


class Anywhere:
    """Asks about the states that ``known`` (plain formulas) allow, and the inputs that the constraint allows in them.

    Each query has a session of its own, with nothing in it but what is asked: what one query needs does not burden
    the next, and no next-state function is encoded.
    """

    def __init__(self, system: TransitionSystem, engine: Engine, known: Sequence[FNode]) -> None:
        moment = [*system.state, *(StateVariable(v.name, v.type, None, v.symbol) for v in system.inputs)]
        self._moment = replace(
            system,
            state=tuple(replace(var, next=var.symbol) for var in moment),
            inputs=(),
            input_constraint=TRUE(),
            defined=TRUE(),
            invariants=(),
        )
        self._engine = engine
        self._known = (system.input_constraint, *known)

    def status(self, formulas: Sequence[FNode], time_limit: float | None = None, effort: float | None = None) -> Status:
        """Whether one state and inputs satisfy all ``formulas`` (plain). Limits as in the engines' protocol."""
        source = conjunction(at_each([*self._known, *formulas], 0))
        if source.is_false():
            return Status.UNSAT
        return self._engine.session(self._moment, source).check([], 0, time_limit, effort).status
