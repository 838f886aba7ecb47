"""What is collected while C code is executed symbolically: assumptions, assertions, suspected undefined behaviour."""

from __future__ import annotations

from dataclasses import dataclass, field

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE

from bmc.c.terms import both, implies, negate
from bmc.errors import Location
from bmc.system import Condition, conjunction


@dataclass(eq=False, slots=True)
class Recorder:
    """``base`` is the path condition of the enclosing calls; the path condition given to each method comes on top."""

    assumptions: list[Condition] = field(default_factory=list)
    asserts: list[Condition] = field(default_factory=list)
    suspects: list[Condition] = field(default_factory=list)
    base: FNode = field(default_factory=TRUE)

    def suspect(self, kind: str, where: Location, pc: FNode, when: FNode) -> None:
        """Undefined behaviour of this ``kind`` happens on the path ``pc`` when ``when`` holds."""
        formula = both(both(self.base, pc), when)
        if not formula.is_false():
            self.suspects.append(Condition(kind, formula, where))

    def assume(self, where: Location, pc: FNode, condition: FNode) -> None:
        """The code assumes ``condition`` on the path ``pc``."""
        formula = implies(both(self.base, pc), condition)
        if not formula.is_true():
            self.assumptions.append(Condition("assumption", formula, where))

    def check(self, where: Location, pc: FNode, condition: FNode) -> None:
        """The code asserts ``condition`` on the path ``pc``."""
        self.asserts.append(Condition("assertion", implies(both(self.base, pc), condition), where))

    @property
    def defined(self) -> FNode:
        """No undefined behaviour happens and all assumptions hold."""
        return conjunction([*(negate(s.formula) for s in self.suspects), *(a.formula for a in self.assumptions)])
