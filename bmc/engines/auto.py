"""Engine ``auto``: looks at a system before its first question, and says which engine answers, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec

from pysmt.fnode import FNode

from bmc.engines.cost import Cost
from bmc.engines.hardness import hardness
from bmc.engines.portfolio import PortfolioEngine, first, others
from bmc.engines.protocol import Engine, Session
from bmc.system.transition import TransitionSystem

PATIENCE = 24
"""The work for one question about hard arithmetic where the caller sets no limit (see ``PortfolioEngine``)."""

KEPT = 8
"""So many systems' choices are remembered."""


class AutoEngine:
    """``name``, ``version`` and ``why`` tell of the engine chosen for the systems seen so far.

    That is ``portfolio`` once one of them was hard, else its first solver alone: ``sat``, or ``z3`` without python-sat.
    ``tell`` is told who works on hard questions, see ``PortfolioEngine``.
    """

    def __init__(self, memory: int | None = None, trials: bool = True) -> None:
        """``memory`` in megabytes; ``trials``: see UnrollingEngine."""
        self._settings = memory, trials
        self._first = first(memory, trials)
        self._portfolio: PortfolioEngine | None = None
        self.tell: Callable[[str], None] = lambda text: None
        self._choices: list[tuple[TransitionSystem, Engine]] = []
        self.name, self.version, self.why = self._first.name, self._first.version, self._usual("")

    @property
    def cost(self) -> Cost:
        """The work of all engines that were chosen."""
        return self._first.cost

    @cost.setter
    def cost(self, cost: Cost) -> None:
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
        engine = self._together() if found.hard else self._first
        self._choices = [*self._choices[1 - KEPT :], (system, engine)]
        if found.hard:
            names = ", ".join(part.name for part in self._together().parts)
            self._tell(engine, f"{found}: {names} take turns")
        elif self._portfolio is None:
            facts = "floating-point arithmetic: trial runs and bounds first" if found.floating else str(found)
            self._tell(engine, self._usual(f"{facts}; "))
        return engine

    def _together(self) -> PortfolioEngine:
        """The portfolio, made when it is first needed: most systems need no other solver's library."""
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
