"""What all sessions that unroll the step share: horizons, cones of influence, validity, tied formulas, runs.

An engine of its own solver derives from UnrollingEngine and UnrollingSession and says only how its solver takes one
step, one formula and one question.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Generic, TypeVar

from pysmt.fnode import FNode

from bmc.engines.cost import Cost
from bmc.engines.guessing import GuessingSession
from bmc.engines.protocol import Alternative, Answer, Group, Run, Session, Status
from bmc.engines.reach import Reaches
from bmc.engines.sampling import Sampling
from bmc.floats.operations import has_arithmetic
from bmc.simulate import Simulator
from bmc.system import StateVariable, TransitionSystem, Valuation, conjunction
from bmc.unroll import at

Step = TypeVar("Step")
"""One step of some state variables, translated for the solver."""
Literal = TypeVar("Literal")
"""What the solver takes as an assumption."""


def proved(system: TransitionSystem) -> FNode:
    """The invariants that may strengthen a claim."""
    return conjunction(inv.formula for inv in system.invariants if inv.proved)


class UnrollingEngine(ABC):
    """Makes sessions; what is known of a system is shared between its sessions."""

    name: str
    version: str

    def __init__(self, memory: int | None = None, trials: bool = True) -> None:
        """``memory`` in megabytes; ``trials``: questions about floating-point arithmetic may be tried first."""
        self.memory = memory
        self._trials = trials
        self._system: TransitionSystem | None = None
        self._simulator: Simulator
        self._reaches: Reaches
        self._sampling: Sampling | None = None
        self.cost = Cost()

    def tries(self, system: TransitionSystem) -> bool:
        """Whether runs of ``system`` are tried before the solver is asked."""
        self.remember(system)
        return self._sampling is not None

    def session(self, system: TransitionSystem, source: FNode, goals: Sequence[FNode] = ()) -> Session:
        """A session from ``source`` (over framed symbols from step 0); see the protocol.

        Of a system with floating-point arithmetic, trial runs and bounds come before the solver.
        """

        def make() -> Session:
            return self.solver_session(system, source, goals)

        self.remember(system)
        return make() if self._sampling is None else GuessingSession(system, source, goals, self._sampling, make)

    def simulator(self, system: TransitionSystem) -> Simulator:
        """The simulator of ``system``, compiled once."""
        self.remember(system)
        return self._simulator

    def reaches(self, system: TransitionSystem) -> Reaches:
        """What is known of the reach of formulas over ``system``."""
        self.remember(system)
        return self._reaches

    def remember(self, system: TransitionSystem) -> None:
        """Make ready for ``system``; what was known of another one is forgotten."""
        if self._system is not system:
            self._system = system
            self._simulator, self._reaches = Simulator(system), Reaches(system)
            formulas = [system.input_constraint, system.defined, *(var.next for var in system.state)]
            self._sampling = Sampling(system, self._simulator) if self._trials and has_arithmetic(formulas) else None
            self.forget()

    @abstractmethod
    def solver_session(self, system: TransitionSystem, source: FNode, goals: Sequence[FNode]) -> Session:
        """A session that asks the solver."""

    @abstractmethod
    def forget(self) -> None:
        """Drop what is known of the last system."""

    @contextmanager
    def within_memory(self) -> Iterator[None]:
        """Around all work of the solver: turns its want of memory into MemoryLimitReached."""
        yield


class UnrollingSession(ABC, Generic[Step, Literal]):
    """One incremental solver over the runs from one source.

    Next-state equations are total and asserted outright. What makes step j valid (constraint, definedness, proved
    invariants after it) hangs on a literal that also implies that of step j - 1, so that steps beyond a query's
    horizon never restrict it.
    """

    def __init__(self, engine: UnrollingEngine, system: TransitionSystem) -> None:
        """``start`` completes the making."""
        self._engine = engine
        self._system = system
        self._cone: dict[str, StateVariable] = {}
        self._templates: list[Step] = []
        self._valid: list[Literal] = []
        self._literals: dict[FNode, Literal] = {}
        self._alternatives: dict[tuple[FNode, int], Literal] = {}
        self._groups: dict[Group, Literal] = {}
        self._reaches = engine.reaches(system)
        self._satisfied = False
        self._span = self._steps = 0

    def start(self, source: FNode, goals: Sequence[FNode]) -> None:
        """Assert ``source``; ``goals`` tell which variables will be needed."""
        with self._engine.within_memory(), self._engine.cost.in_session():
            self._widen([source, *goals])
            self._span = self._reaches.span(source)
            self._begin(source, at(proved(self._system), 0))

    def check(
        self, formulas: Sequence[FNode], steps: int, time_limit: float | None = None, effort: int | None = None
    ) -> Answer:
        """Is there a run of exactly ``steps`` valid steps from the source that satisfies ``formulas``?

        ``steps`` below the source's own span count as that span. ``time_limit`` in seconds, ``effort`` in units of
        the solver's work. ValueError if a formula reaches beyond ``steps``. KeyboardInterrupt if the solver was
        interrupted from the keyboard, MemoryLimitReached if it has no memory left.
        """
        with self._engine.within_memory(), self._engine.cost.in_session():
            return self._check(formulas, max(steps, self._span), time_limit, effort)

    def _check(self, formulas: Sequence[FNode], steps: int, time_limit: float | None, effort: int | None) -> Answer:
        self._satisfied = False
        for formula in formulas:
            if self._reaches.span(formula) > steps:
                raise ValueError(f"a formula of {self._reaches.span(formula)} steps in a query over {steps} steps")
        if time_limit is not None and time_limit <= 0:
            return Answer(Status.UNKNOWN)
        self._widen(self._new_in(formulas))
        self._lengthen(steps)
        literals = [self._literal(f) for f in formulas]
        validity = self._valid[steps - 1 : steps] if steps else []
        with self._engine.cost.in_solver():
            status, core = self._solve([*literals, *validity], time_limit, effort)
        if status is Status.SAT:
            self._satisfied, self._steps = True, steps
        if status is not Status.UNSAT:
            return Answer(status)
        return Answer(status, tuple(f for place, f in enumerate(formulas) if place in core))

    def check_any(
        self, alternatives: Sequence[Alternative], time_limit: float | None = None, effort: int | None = None
    ) -> Answer:
        """Is there a run for at least one of ``alternatives``? Otherwise as ``check``; there is no core.

        ``run`` is then as long as the longest of them, its steps beyond one that is satisfied valid or not.
        """
        with self._engine.within_memory(), self._engine.cost.in_session():
            self._satisfied = False
            if time_limit is not None and time_limit <= 0:
                return Answer(Status.UNKNOWN)
            if not alternatives:
                return Answer(Status.UNSAT)
            asked = [(formula, max(steps, self._span)) for formula, steps in alternatives]
            last = max(steps for _, steps in asked)
            self._widen(self._new_in(key[0] for key in asked if key not in self._alternatives))
            self._lengthen(last)
            options = [self._within(formula, steps) for formula, steps in asked]
            one = self._tied_any(options)
            with self._engine.cost.in_solver():
                status, _ = self._solve([one], time_limit, effort)
            if status is Status.SAT:
                self._satisfied, self._steps = True, last
            return Answer(status)

    def check_groups(
        self, groups: Sequence[Group], time_limit: float | None = None, effort: int | None = None
    ) -> Answer:
        """Is there a run for one of ``groups``: its formula, and at least one of its alternatives?

        Otherwise as ``check_any``.
        """
        with self._engine.within_memory(), self._engine.cost.in_session():
            self._satisfied = False
            if time_limit is not None and time_limit <= 0:
                return Answer(Status.UNKNOWN)
            fresh = [group for group in groups if group not in self._groups]
            self._widen(self._new_in(f for g in fresh for f in (g.formula, *(part for part, _ in g.alternatives))))
            self._lengthen(max((steps for g in fresh for _, steps in g.alternatives), default=0))
            for group in fresh:
                options = [self._within(formula, max(steps, self._span)) for formula, steps in group.alternatives]
                self._groups[group] = self._tied_all([self._literal(group.formula), self._tied_any(options)])
            one = self._tied_any([self._groups[group] for group in groups])
            with self._engine.cost.in_solver():
                status, _ = self._solve([one], time_limit, effort)
            if status is Status.SAT:
                self._satisfied, self._steps = True, len(self._valid)
            return Answer(status)

    def _within(self, formula: FNode, steps: int) -> Literal:
        """The literal that implies ``formula`` and the validity of ``steps`` steps, made once."""
        key = (formula, steps)
        if key not in self._alternatives:
            if self._reaches.span(formula) > steps:
                raise ValueError(f"a formula of {self._reaches.span(formula)} steps in a query over {steps} steps")
            self._alternatives[key] = self._tied_all(
                [self._literal(formula), *(self._valid[steps - 1 : steps] if steps else [])]
            )
        return self._alternatives[key]

    def run(self) -> Run:
        """The run found by the last ``check``, over all variables of the system; RuntimeError if it was not SAT.

        The solver gives start state and inputs, simulation the rest. Start values that the query does not depend on
        are init's, or 0.
        """
        if not self._satisfied:
            raise RuntimeError("the last query of this session was not satisfiable: it has no run")
        simulator = self._engine.simulator(self._system)
        start = {**simulator.initial(), **self._values([var.symbol for var in self._cone.values()], 0)}
        symbols = [var.symbol for var in self._system.inputs]
        return simulator.run(start, [self._values(symbols, step) for step in range(self._steps)])

    def _widen(self, formulas: Iterable[FNode]) -> None:
        """Encode the variables on which framed ``formulas`` depend, where they are not yet, at all steps so far."""
        asked = [symbol for symbol in self._reaches.states(formulas) if symbol.symbol_name() not in self._cone]
        if self._templates and not asked:
            return
        fresh = [var for var in self._system.cone(asked) if var.name not in self._cone]
        template = self._template(fresh, conditions=not self._templates)
        self._cone.update((var.name, var) for var in fresh)
        self._templates.append(template)
        for step in range(len(self._valid)):
            self._place(template, step)

    def _new_in(self, formulas: Iterable[FNode]) -> list[FNode]:
        """Those of ``formulas`` that are not tied yet, of disjunctions the parts."""
        new = [formula for formula in formulas if formula not in self._literals]
        parts = (part for formula in new for part in (formula.args() if formula.is_or() else [formula]))
        return [part for part in parts if part not in self._literals]

    def _lengthen(self, steps: int) -> None:
        """Encode the steps before ``steps`` that are not yet."""
        for step in range(len(self._valid), steps):
            for template in self._templates:
                self._place(template, step)
            self._valid.append(self._validity(self._templates[0], step))

    def _literal(self, formula: FNode) -> Literal:
        """The literal that implies ``formula``, tied once; the parts of a disjunction are tied once each."""
        if formula.is_or() and formula not in self._literals:
            self._literals[formula] = self._tied_any([self._tied_once(part) for part in formula.args()])
        return self._tied_once(formula)

    def _tied_once(self, formula: FNode) -> Literal:
        if formula not in self._literals:
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

    @abstractmethod
    def _tied_any(self, literals: Sequence[Literal]) -> Literal:
        """A literal that implies one of ``literals``."""

    @abstractmethod
    def _tied_all(self, literals: Sequence[Literal]) -> Literal:
        """A literal that implies all of ``literals``."""

    @abstractmethod
    def _solve(
        self, assumptions: Sequence[Literal], time_limit: float | None, effort: int | None
    ) -> tuple[Status, Collection[int]]:
        """The answer under ``assumptions``; with UNSAT, the places of those that together are impossible."""

    @abstractmethod
    def _values(self, symbols: Sequence[FNode], step: int) -> Valuation:
        """The values of plain ``symbols`` at ``step`` in the run that the last query found; what is open is 0."""
