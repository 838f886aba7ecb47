"""What is collected while C code is executed symbolically.

Assumptions, assertions, suspected undefined behaviour, and the decisions that were taken.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE

from bmc.errors import Location
from bmc.formulas.terms import both, implies, is_false, is_true, negate
from bmc.system.transition import Condition, conjunction

if TYPE_CHECKING:
    from bmc.c.execute.memory import Key
    from bmc.c.source.program import Function

Evaluation = tuple[FNode, FNode, tuple[FNode, ...]]
"""One evaluation of a decision: path condition of the enclosing calls, path condition in the function, and the values
of the atomic conditions in source order (of a ``switch``: when each label is chosen)."""


@dataclass(eq=False, slots=True)
class Recorder:
    """``base`` is the path condition of the enclosing calls; the path condition given to each method comes on top.

    ``limits`` is what all runs' inputs satisfy; only what asks a solver needs it.
    ``decisions`` holds the different evaluations of each decision by the ``id`` of its syntax node (source.decisions
    says which node), ``entered`` the functions that were called, in this order,
    ``unwritten`` the volatile variables that were read while they may not have been written yet, and where first.
    """

    assumptions: list[Condition] = field(default_factory=list)
    asserts: list[Condition] = field(default_factory=list)
    suspects: list[Condition] = field(default_factory=list)
    decisions: dict[int, dict[Evaluation, None]] = field(default_factory=dict)
    entered: dict[Function, None] = field(default_factory=dict)
    unwritten: dict[Key, Location] = field(default_factory=dict)
    base: FNode = field(default_factory=TRUE)
    limits: FNode = field(default_factory=TRUE)

    def suspect(self, kind: str, where: Location, pc: FNode, when: FNode) -> None:
        """Undefined behaviour of this ``kind`` happens on the path ``pc`` when ``when`` holds."""
        formula = both(both(self.base, pc), when)
        if not is_false(formula):
            self.suspects.append(Condition(kind, formula, where))

    def assume(self, where: Location, pc: FNode, condition: FNode) -> None:
        """The code assumes ``condition`` on the path ``pc``."""
        formula = implies(both(self.base, pc), condition)
        if not is_true(formula):
            self.assumptions.append(Condition("assumption", formula, where))

    def check(self, where: Location, pc: FNode, condition: FNode) -> None:
        """The code asserts ``condition`` on the path ``pc``."""
        self.asserts.append(Condition("assertion", implies(both(self.base, pc), condition), where))

    def decide(self, node: object, pc: FNode, values: Iterable[FNode]) -> None:
        """The decision at the syntax node ``node`` is evaluated on the path ``pc``; its conditions have ``values``."""
        self.decisions.setdefault(id(node), {})[self.base, pc, tuple(values)] = None

    @property
    def defined(self) -> FNode:
        """No undefined behaviour happens and all assumptions hold."""
        return conjunction([*(negate(s.formula) for s in self.suspects), *(a.formula for a in self.assumptions)])
