"""What all sessions that unroll the step share: horizons, cones of influence, validity, tied formulas, runs.

An engine of its own solver derives from UnrollingEngine and UnrollingSession, and says how its solver takes one step,
one formula and one question: what ``Backend`` asks for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import Generic, TypeVar

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE

from bmc.engines.guessing import GuessingSession, Sampling
from bmc.engines.protocol import (
    ASKED,
    Alternative,
    Answer,
    Cost,
    Deadline,
    Group,
    OutOfTime,
    Placed,
    Session,
    Status,
)
from bmc.floats.operations import has_arithmetic
from bmc.formulas.unroll import at, shift, unframed
from bmc.records import dataclass
from bmc.system.simulation import Simulator
from bmc.system.transition import (
    Run,
    StateVariable,
    TransitionSystem,
    Valuation,
    proved_invariants,
    symbols_of,
)

Step = TypeVar("Step")
"""One step of some state variables, translated for the solver."""
Literal = TypeVar("Literal")
"""What the solver takes as an assumption."""


@dataclass
class Encoded(Generic[Step, Literal]):
    """What a solver holds of a system so far: the variables of ``cone``, with the ``templates`` of their steps.

    ``valid`` has for each step so far the literal that implies that it is valid, ``literals`` those of formulas,
    ``alternatives`` those of formulas together with their valid steps. ``widened``: formulas whose cone it has.
    """

    cone: dict[str, StateVariable] = field(default_factory=dict)
    templates: list[Step] = field(default_factory=list)
    valid: list[Literal] = field(default_factory=list)
    literals: dict[FNode, Literal] = field(default_factory=dict)
    alternatives: dict[Placed, Literal] = field(default_factory=dict)
    widened: set[FNode] = field(default_factory=set)


class Backend(ABC, Generic[Step, Literal]):
    """One incremental solver. ``_deadline`` is that of the question being asked."""

    _encoded: Encoded[Step, Literal]
    _deadline: Deadline

    def _literal(self, formula: FNode) -> Literal:
        """The literal that implies ``formula``, tied once; the parts of a disjunction are tied once each."""
        if formula.is_or() and formula not in self._encoded.literals:
            self._encoded.literals[formula] = self._tied_any([self._tied_once(part) for part in formula.args()])
        return self._tied_once(formula)

    def _tied_once(self, formula: FNode) -> Literal:
        if formula not in self._encoded.literals:
            self._deadline.left()
            self._encoded.literals[formula] = self._tied(formula)
        return self._encoded.literals[formula]

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
        """A literal that implies the validity condition of ``template`` at ``step`` and the last of ``valid``."""

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
            trials = self._trials and has_arithmetic(formulas)
            self._sampling = Sampling(system, self._simulator, lambda: self.cost) if trials else None
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


class _Start:
    """What a run's first state is read from: the variables that are encoded, and those that are only read at step 0."""

    def __init__(self) -> None:
        self._own: dict[FNode, None] = {}
        self._known: tuple[tuple[int, int], list[FNode]] = ((0, 0), [])

    def add(self, symbols: Iterable[FNode]) -> None:
        """The variables of ``symbols`` are read at step 0."""
        self._own.update(dict.fromkeys(symbols))

    def symbols(self, cone: Mapping[str, StateVariable]) -> Sequence[FNode]:
        """The symbols of these and of the variables in ``cone``; the same list until there is more."""
        if self._known[0] != (len(cone), len(self._own)):
            found = dict.fromkeys([*(var.symbol for var in cone.values()), *self._own])
            self._known = (len(cone), len(self._own)), list(found)
        return self._known[1]


class UnrollingSession(Backend[Step, Literal]):
    """One incremental solver over the runs from one source.

    Next-state equations are total and asserted outright. What makes step j valid (constraint, definedness, proved
    invariants after it) hangs on a literal that also implies that of step j - 1, so that steps beyond a query's
    horizon never restrict it.
    """

    def __init__(
        self, engine: UnrollingEngine, system: TransitionSystem, encoded: Encoded[Step, Literal] | None = None
    ) -> None:
        """``start`` completes the making. ``encoded``: where the solver is shared with other sessions."""
        self._engine = engine
        self._system = system
        self._encoded = Encoded() if encoded is None else encoded
        self._groups: dict[Group, Literal] = {}
        self._asked: list[Group] = []
        self._first = _Start()
        self._sources: set[FNode] = set()
        self._reaches = engine.reaches(system)
        self._simulator = engine.simulator(system)
        self._span = 0
        self._steps: int | None = None
        self._deadline = Deadline()

    def start(self, source: FNode, goals: Sequence[FNode]) -> None:
        """Assert ``source``; ``goals`` tell which variables will be needed."""
        with self._engine.within_memory(), self._engine.cost.in_session():
            self._widen(goals or [source], [source])
            self._span = self._reaches.span(source)
            self._begin(source, at(proved_invariants(self._system), 0))

    def check(
        self, formulas: Sequence[FNode], steps: int, time_limit: float | None = None, effort: float | None = None
    ) -> Answer:
        """Is there a run of exactly ``steps`` valid steps from the source that satisfies ``formulas``?

        ``steps`` below the source's own span count as that span. ``time_limit`` in seconds, ``effort`` in units of
        the solver's work. ValueError if a formula reaches beyond ``steps``. KeyboardInterrupt if the solver was
        interrupted from the keyboard, MemoryLimitReached if it has no memory left. What was encoded until the
        time limit was over serves the next question.
        """
        with self._engine.within_memory(), self._engine.cost.in_session(), self._until(time_limit):
            steps, self._steps = max(steps, self._span), None
            for formula in formulas:
                self._check_span(formula, 0, steps)
            try:
                self._deadline.left()
                self._widen(formulas)
                self._lengthen(steps)
                self._engine.cost.work += len(formulas) * ASKED
                literals = [self._literal(f) for f in formulas]
                validity = self._encoded.valid[steps - 1 : steps] if steps else []
                status, core = self._answer([*literals, *validity], steps, effort)
            except OutOfTime:
                return Answer(Status.UNKNOWN)
            found = tuple(f for place, f in enumerate(formulas) if place in core) if status is Status.UNSAT else ()
            return Answer(status, found)

    def check_any(
        self, alternatives: Sequence[Alternative], time_limit: float | None = None, effort: float | None = None
    ) -> Answer:
        """Is there a run for at least one of ``alternatives``? Otherwise as ``check``; there is no core.

        ``run`` goes on after the steps of the one that is satisfied, its steps then valid or not.
        """
        parts = tuple(Placed(formula, 0, steps) for formula, steps in alternatives)
        return self.check_groups([Group(TRUE(), parts)] if parts else [], time_limit, effort)

    def check_groups(
        self, groups: Sequence[Group], time_limit: float | None = None, effort: float | None = None
    ) -> Answer:
        """Is there a run for one of ``groups``: its formula, and at least one of its alternatives?

        Otherwise as ``check_any``. A group that the next question does not ask about is forgotten.
        """
        with self._engine.within_memory(), self._engine.cost.in_session(), self._until(time_limit):
            self._steps = None
            try:
                self._deadline.left()
                if not groups:
                    return Answer(Status.UNSAT)
                self._know(groups)
                one = self._tied_any([self._groups[group] for group in groups])
                self._asked += groups
                try:
                    status, _ = self._answer([one], len(self._encoded.valid), effort)
                finally:
                    for group in groups:
                        self._asked.remove(group)
            except OutOfTime:
                return Answer(Status.UNKNOWN)
            if len(groups) > 1:
                self._drop(one)
            return Answer(status)

    @contextmanager
    def _until(self, seconds: float | None) -> Iterator[None]:
        """Around one question: its encoding looks at the clock."""
        self._deadline = Deadline(seconds)
        try:
            yield
        finally:
            self._deadline = Deadline()

    def _know(self, groups: Sequence[Group]) -> None:
        """There are literals for ``groups`` and no others."""
        asked = {*groups, *self._asked}
        for group in [known for known in self._groups if known not in asked]:
            self._drop(self._groups.pop(group))
        fresh = {group: self._known(group) for group in groups if group not in self._groups}
        if unknown := [group for group, options in fresh.items() if options is None]:
            self._encode(unknown)
        for group, options in fresh.items():
            ways = [self._within(each) for each in group.alternatives] if options is None else options
            self._groups[group] = self._tied_group(self._literal(group.formula), ways)

    def _encode(self, groups: Sequence[Group]) -> None:
        """Encode the variables and the steps on which ``groups`` depend."""
        new = [each for group in groups for each in group.alternatives if each not in self._encoded.alternatives]
        self._widen([placed.formula for placed in new], [group.formula for group in groups])
        self._lengthen(max([self._span, *(placed.steps for placed in new)]))
        self._sources.update(group.formula for group in groups)

    def _known(self, group: Group) -> list[Literal] | None:
        """The literals of the alternatives of ``group``, None if there is something new in it."""
        if self._span or group.formula not in self._sources:
            return None
        try:
            return [self._encoded.alternatives[placed] for placed in group.alternatives]
        except KeyError:
            return None

    def _answer(
        self, assumptions: Sequence[Literal], steps: int, effort: float | None
    ) -> tuple[Status, Collection[int]]:
        """The solver's answer within the time that is left; a run that it finds is of ``steps`` steps."""
        with self._engine.cost.in_solver():
            status, core = self._solve(assumptions, self._deadline.left(), effort)
        if status is Status.SAT:
            self._steps = steps
        return status, core

    def _within(self, placed: Placed) -> Literal:
        """The literal that implies a formula and the validity of its steps, made once."""
        self._deadline.left()
        if placed.steps < self._span:
            placed = placed._replace(steps=self._span)
        if placed not in self._encoded.alternatives:
            formula, later, steps = placed
            self._check_span(formula, later, steps)
            literal = self._tied_later(formula, later) if later else self._literal(formula)
            self._encoded.alternatives[placed] = self._tied_all(
                [literal, *(self._encoded.valid[steps - 1 : steps] if steps else [])]
            )
        return self._encoded.alternatives[placed]

    def _check_span(self, formula: FNode, later: int, steps: int) -> None:
        span = self._reaches.span(formula) + later
        if span > steps:
            raise ValueError(f"a formula of {span} steps in a query over {steps} steps")

    def run(self) -> Run:
        """The run found by the last ``check``, over all variables of the system; RuntimeError if it was not SAT.

        The solver gives start state and inputs, simulation the rest. Start values that the query does not depend on
        are init's, or 0.
        """
        if self._steps is None:
            raise RuntimeError("the last query of this session was not satisfiable: it has no run")
        start = {**self._simulator.initial(), **self._values(self._first.symbols(self._encoded.cone), 0)}
        inputs = [var.symbol for var in self._system.inputs]
        return self._simulator.run(start, [self._values(inputs, step) for step in range(self._steps)])

    def _widen(self, formulas: Iterable[FNode], starts: Sequence[FNode] = ()) -> None:
        """Encode the variables on which framed ``formulas`` depend, where they are not yet, at all steps so far.

        Of the variables in ``starts`` those that are only read at step 0 need no steps.
        """
        new = [formula for formula in dict.fromkeys(formulas) if formula not in self._encoded.widened]
        self._encoded.widened.update(formula for formula in new if not formula.is_or())
        self._first.add(self._reaches.states(starts))
        symbols = dict.fromkeys([*self._reaches.states(new), *self._reaches.moved(starts)])
        asked = [symbol for symbol in symbols if symbol.symbol_name() not in self._encoded.cone]
        if self._encoded.templates and not asked:
            return
        fresh = [var for var in self._system.cone(asked) if var.name not in self._encoded.cone]
        template = self._template(fresh, conditions=not self._encoded.templates)
        self._encoded.cone.update((var.name, var) for var in fresh)
        self._encoded.templates.append(template)
        for step in range(len(self._encoded.valid)):
            self._place(template, step)

    def _lengthen(self, steps: int) -> None:
        """Encode the steps before ``steps`` that are not yet."""
        for step in range(len(self._encoded.valid), steps):
            self._deadline.left()
            for template in self._encoded.templates:
                self._place(template, step)
            self._encoded.valid.append(self._validity(self._encoded.templates[0], step))


Reach = tuple[int, tuple[FNode, ...], tuple[FNode, ...]]
"""How many steps a framed formula needs; the plain symbols of its state variables, and of those at steps after 0."""


class Reaches:
    """Looks at each formula once. An input at step j needs j + 1 steps, a state at step j needs j, others none."""

    def __init__(self, system: TransitionSystem) -> None:
        self._states = {var.name: var.symbol for var in system.state}
        self._inputs = frozenset(var.name for var in system.inputs)
        self._known: dict[FNode, Reach] = {}
        self._same: dict[tuple[FNode, ...], tuple[FNode, ...]] = {}

    def span(self, formula: FNode) -> int:
        """The steps that a framed formula needs."""
        return self._of(formula)[0]

    def states(self, formulas: Iterable[FNode]) -> Iterable[FNode]:
        """The plain symbols of the state variables in framed formulas."""
        return dict.fromkeys(symbol for formula in formulas for symbol in self._of(formula)[1])

    def moved(self, formulas: Iterable[FNode]) -> Iterable[FNode]:
        """The plain symbols of the state variables that framed formulas read after step 0."""
        return dict.fromkeys(symbol for formula in formulas for symbol in self._of(formula)[2])

    def _of(self, formula: FNode) -> Reach:
        """The parts of conjunctions and disjunctions are looked at once each: they are asked together in ever new ways.

        Validity until one step is part of that until the next, thousands deep: so no recursion, and nothing twice.
        """
        stack = [formula]
        while stack:
            node = stack[-1]
            if node not in self._known:
                parts = node.args() if node.is_or() or node.is_and() else ()
                unknown = [part for part in parts if part not in self._known]
                if unknown:
                    stack.extend(unknown)
                    continue
                self._known[node] = self._joined([self._known[part] for part in parts]) if parts else self._single(node)
            stack.pop()
        return self._known[formula]

    def _joined(self, parts: Sequence[Reach]) -> Reach:
        """The reach of formulas together; their symbols in one object where these are the same, to save memory."""
        states = dict.fromkeys(symbol for _, symbols, _ in parts for symbol in symbols)
        moved = dict.fromkeys(symbol for _, _, symbols in parts for symbol in symbols)
        span = max(span for span, _, _ in parts)
        return (
            span,
            self._same.setdefault(tuple(states), tuple(states)),
            self._same.setdefault(tuple(moved), tuple(moved)),
        )

    def _single(self, formula: FNode) -> Reach:
        span, states, moved = 0, dict[FNode, None](), dict[FNode, None]()
        for symbol in symbols_of(formula):
            name, step = unframed(symbol)
            if name in self._states:
                span, states[self._states[name]] = max(span, step), None
                if step:
                    moved[self._states[name]] = None
            elif name in self._inputs:
                span = max(span, step + 1)
        return span, tuple(states), tuple(moved)
