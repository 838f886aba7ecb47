"""Engine ``auto``: looks at a system before its first question, and says which engine answers, and why.

A system is hard for a solver where it has products, quotients or remainders of wide operands that both vary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pysmt.operators as op
from pysmt.fnode import FNode

from bmc.analysis.constants import KEPT
from bmc.engines import sat_version
from bmc.engines.protocol import Cost, Engine, Session
from bmc.floats.operations import has_arithmetic
from bmc.formulas.evaluate import unseen
from bmc.records import dataclass
from bmc.system.transition import TransitionSystem

if TYPE_CHECKING:
    from bmc.engines.portfolio import PortfolioEngine
    from bmc.engines.unrolling import UnrollingEngine

CELLS = 100
"""A product or quotient of operands of m and n bits with at least so many cells, m * n, counts as hard."""

DEPTH = 8
"""How many operators of an operand are looked at."""

_DIVISIONS = frozenset([op.BV_UDIV, op.BV_UREM, op.BV_SDIV, op.BV_SREM])


@dataclass(frozen=True, slots=True)
class Hardness:
    """``products`` and ``divisions`` that are hard, each with the bits of its operands; ``floating``: it has floats.

    Operations inside floating-point ones are not counted: these are known as a whole.
    """

    products: tuple[tuple[int, int], ...]
    divisions: tuple[tuple[int, int], ...]
    floating: bool

    @property
    def hard(self) -> bool:
        """Whether a solver may be asked for minutes about one question."""
        return bool(self.products or self.divisions)

    def __str__(self) -> str:
        """The facts, such as ``2 products of variables (up to 16 x 16 bits)``."""
        parts = [_told(self.products, "product"), _told(self.divisions, "division")]
        return " and ".join(part for part in parts if part) or "no wide product or division of variables"


def hardness(system: TransitionSystem) -> Hardness:
    """What is hard in the step of ``system``."""
    formulas = [system.input_constraint, system.defined, *(var.next for var in system.state)]
    if has_arithmetic(formulas):
        return Hardness((), (), True)
    products: list[tuple[int, int]] = []
    divisions: list[tuple[int, int]] = []
    for node in unseen(formulas, set()):
        kind = node.node_type()
        if kind == op.BV_MUL or kind in _DIVISIONS:
            left, right = (varying_bits(arg) for arg in node.args())
            if left * right >= CELLS:
                (products if kind == op.BV_MUL else divisions).append((left, right))
    return Hardness(tuple(sorted(products)), tuple(sorted(divisions)), False)


def varying_bits(term: FNode, depth: int = DEPTH) -> int:
    """How many low bits of ``term`` vary, those above following from them, as far as its upper operators show."""
    kind = term.node_type()
    if term.is_constant():
        return 0
    if depth == 0:
        return int(term.bv_width())
    args = term.args()
    if kind == op.ITE:
        return max(varying_bits(arg, depth - 1) for arg in args[1:])
    if kind in (op.BV_ZEXT, op.BV_SEXT):
        return varying_bits(args[0], depth - 1)
    if kind == op.BV_CONCAT and args[0].is_constant():
        return varying_bits(args[1], depth - 1)
    if kind in (op.BV_ADD, op.BV_SUB):
        return min(int(term.bv_width()), 1 + max(varying_bits(arg, depth - 1) for arg in args))
    return int(term.bv_width())


def _told(operations: tuple[tuple[int, int], ...], name: str) -> str:
    if not operations:
        return ""
    left, right = max(operations, key=lambda pair: pair[0] * pair[1])
    many = f"{len(operations)} {name}{'s' if len(operations) > 1 else ''}"
    return f"{many} of variables (up to {left} x {right} bits)"


PATIENCE = 24
"""The work for one question about hard arithmetic where the caller sets no limit (see ``PortfolioEngine``)."""


class AutoEngine:
    """``name``, ``version`` and ``why`` tell of the engine chosen for the systems seen so far.

    That is ``portfolio`` once one of them was hard, else its first solver alone: ``sat``, or ``z3`` without python-sat.
    ``tell`` is told who works on hard questions, see ``PortfolioEngine``. Solvers are loaded for the first question.
    """

    def __init__(self, memory: int | None = None, trials: bool = True, several: bool = True) -> None:
        """``memory`` in megabytes; ``trials``: see UnrollingEngine; ``several`` may be asked about hard systems."""
        self._settings, self._several = (memory, trials), several
        self._before = Cost()
        self._portfolio: PortfolioEngine | None = None
        self.tell: Callable[[str], None] = lambda text: None
        self._choices: list[tuple[TransitionSystem, Engine]] = []
        usual = ("sat", sat_version()) if find_spec("pysat") is not None else (self._first.name, self._first.version)
        self.name, self.version, self.why = *usual, self._usual("")

    @cached_property
    def _first(self) -> UnrollingEngine:
        from bmc.engines.portfolio import first

        engine = first(*self._settings)
        engine.cost = self._before
        return engine

    @property
    def cost(self) -> Cost:
        """The work of all engines that were chosen."""
        return self._first.cost if "_first" in vars(self) else self._before

    @cost.setter
    def cost(self, cost: Cost) -> None:
        self._before = cost
        if "_first" in vars(self):
            self._first.cost = cost
        if self._portfolio is not None:
            self._portfolio.cost = cost

    def tries(self, system: TransitionSystem) -> bool:
        """See the protocol."""
        return self.chosen(system).tries(system)

    def session(self, system: TransitionSystem, source: FNode, goals: Sequence[FNode] = ()) -> Session:
        """A session of the engine chosen for ``system``."""
        return self.chosen(system).session(system, source, goals)

    def chosen(self, system: TransitionSystem) -> Engine:
        """The engine for ``system``; the same system always gets the same one."""
        for known, engine in self._choices:
            if known is system:
                return engine
        found = hardness(system)
        hard = found.hard and self._several
        engine = self._together() if hard else self._first
        self._choices = [*self._choices[1 - KEPT :], (system, engine)]
        if hard:
            names = ", ".join(part.name for part in self._together().parts)
            self._tell(engine, f"{found}: {names} take turns")
        elif self._portfolio is None:
            facts = "floating-point arithmetic: with bounds and trial runs" if found.floating else str(found)
            self._tell(engine, self._usual(f"{facts}; "))
        return engine

    def _together(self) -> PortfolioEngine:
        """The portfolio, made when it is first needed: most systems need no other solver's library."""
        from bmc.engines.portfolio import PortfolioEngine, others

        if self._portfolio is None:
            cost = self.cost
            parts = [self._first, *others(self._first, *self._settings)]
            self._portfolio = PortfolioEngine(*self._settings, parts, PATIENCE)
            self._portfolio.cost = cost
            self._portfolio.tell = lambda text: self.tell(text)
        return self._portfolio

    def _tell(self, engine: Engine, why: str) -> None:
        self.name, self.version, self.why = engine.name, engine.version, why

    def _usual(self, facts: str) -> str:
        """Why the first solver is asked alone."""
        if find_spec("pysat") is None:
            return f"{facts}python-sat, which sat needs, is not installed"
        return f"{facts}sat is the fastest on all but the smallest systems"
