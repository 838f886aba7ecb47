"""Questions of bounded model checking about one problem: sessions from init and from elsewhere, within limits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pysmt.fnode import FNode

from bmc.engines.protocol import Engine, Session
from bmc.formulas.unroll import at
from chaincover.limits import Limits
from chaincover.problem import Problem


@dataclass(frozen=True)
class Questions:
    """Who answers questions about ``problem``, and what may be spent on them."""

    problem: Problem
    engine: Engine
    limits: Limits

    @cached_property
    def from_init(self) -> Session:
        """The session whose runs start in init; there is one, so that nothing is encoded twice."""
        return self.session(at(self.problem.system.init_formula, 0))

    def session(self, source: FNode) -> Session:
        """A new session whose runs start in a state that satisfies ``source`` (framed at 0)."""
        formulas = [goal.antecedent for goal in self.problem.goals]
        return self.engine.session(self.problem.system, source, [*formulas, *self.problem.end_formulas(0)])
