"""Sessions for systems with floating-point arithmetic: bounds and trial runs first, the solver for what they leave.

The circuits of floats are large; for most questions a run that is tried, or bounds of the numbers, say as much at
once. A found run is checked on the circuits, and a refuted query rests on sound bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pysmt.fnode import FNode

from bmc.analysis.bounding import Bounding
from bmc.analysis.term_sets import Box
from bmc.engines.protocol import Alternative, Answer, Session, Status, check_in_turn
from bmc.engines.sampling import Sampling
from bmc.floats.operations import beyond_solvers
from bmc.formulas.unroll import unframed
from bmc.system.run import Run
from bmc.system.transition import TransitionSystem, symbols_of

EFFORT = 1
"""The solver's work for one query (see the protocol) where the caller sets no limit: floats can take for ever."""
PATIENCE = 2
"""After so many queries that it gave up on, the solver of a session is asked no longer ones, nor any as long."""


class GuessingSession:
    """A session from ``source``; ``make`` makes the solver's session when it is first needed."""

    def __init__(
        self,
        system: TransitionSystem,
        source: FNode,
        goals: Sequence[FNode],
        sampling: Sampling,
        make: Callable[[], Session],
    ) -> None:
        self._system = system
        self._source = source
        self._bounding = Bounding(system, source)
        self._sampling = sampling
        self._make = make
        self._solver: Session | None = None
        self._run: Run | None = None
        self._by_solver = False
        self._given_up: list[int] = []
        steps = [system.input_constraint, system.defined, *(var.next for var in system.state)]
        self._hopeless = beyond_solvers([source, *goals, *steps])
        self._names = {var.name: True for var in system.state} | {var.name: False for var in system.inputs}
        self._least = self._span(source)

    def check(
        self, formulas: Sequence[FNode], steps: int, time_limit: float | None = None, effort: float | None = None
    ) -> Answer:
        """See the protocol; ValueError if a formula reaches beyond ``steps``. ``effort`` 0: the solver is not asked."""
        steps = max(steps, self._least)
        self._run, self._by_solver = None, False
        for formula in formulas:
            if self._span(formula) > steps:
                raise ValueError(f"a formula of {self._span(formula)} steps in a query over {steps} steps")
        if time_limit is not None and time_limit <= 0:
            return Answer(Status.UNKNOWN)
        core, box = self._bounding.refuted(formulas, steps)
        self._sampling.count(self._bounding.size * (steps + 1))
        if core is not None:
            return Answer(Status.UNSAT, core)
        self._run = self._tried(formulas, steps, box)
        if self._run is not None:
            return Answer(Status.SAT)
        if effort == 0 or self._hopeless or sum(1 for given_up in self._given_up if given_up <= steps) >= PATIENCE:
            return Answer(Status.UNKNOWN)
        if self._solver is None:
            self._solver = self._make()
        answer = self._solver.check(formulas, steps, time_limit, EFFORT if effort is None else effort)
        self._by_solver = True
        if answer.status is Status.UNKNOWN:
            self._given_up.append(steps)
        return answer

    def check_any(
        self, alternatives: Sequence[Alternative], time_limit: float | None = None, effort: float | None = None
    ) -> Answer:
        """See the protocol: the fewest steps first, since bounds and trials tell most of short runs."""
        return check_in_turn(self, alternatives, time_limit, effort)

    def run(self) -> Run:
        """See the protocol."""
        if self._by_solver and self._solver is not None:
            return self._solver.run()
        if self._run is None:
            raise RuntimeError("the last query of this session was not satisfiable: it has no run")
        return self._run

    def _tried(self, formulas: Sequence[FNode], steps: int, box: Box) -> Run | None:
        asked = [self._source, *formulas]
        if any(unframed(s)[0] not in self._names for formula in asked for s in symbols_of(formula)):
            return None
        return self._sampling.run(asked, steps, box)

    def _span(self, formula: FNode) -> int:
        """Steps that a framed formula needs."""
        span = 0
        for symbol in symbols_of(formula):
            name, step = unframed(symbol)
            if name in self._names:
                span = max(span, step if self._names[name] else step + 1)
        return span
