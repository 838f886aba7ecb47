"""Engine ``z3``: incremental bounded model checking on z3 through pysmt, logic QF_BV.

The transition relation is translated once per cone of influence and instantiated per step by renaming inside z3.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import z3
from pysmt.fnode import FNode
from pysmt.logics import QF_BV

from bmc.engines.encoding import Encoding, Gates, Words
from bmc.engines.guessing import GuessingSession
from bmc.engines.protocol import Answer, Run, Session, Status
from bmc.engines.sampling import Sampling
from bmc.errors import MemoryLimitReached
from bmc.floats.operations import has_arithmetic
from bmc.simulate import Simulator
from bmc.system import StateVariable, TransitionSystem, Valuation, conjunction, equal, symbols_of
from bmc.unroll import at, at_each, framed, plain, unframed

SEED = 1
NO_LIMIT = 4294967295
"""z3's ``timeout`` value (milliseconds) for none."""

EFFORT_UNIT = 6_000_000
"""z3's resource count of about a second."""


@dataclass(frozen=True)
class Template:
    """One step of some state variables in z3's terms, from frame 0 to frame 1.

    ``equations`` are the next-state equations, ``condition`` what makes the step valid. ``now`` and ``then`` are the
    z3's constants of the symbols of frames 0 and 1 that occur, with their plain pysmt symbols.
    """

    equations: Any
    condition: Any
    now: tuple[tuple[FNode, tuple[Any, ...]], ...]
    then: tuple[tuple[FNode, tuple[Any, ...]], ...]


class Z3Engine:
    """Makes sessions on z3; translated steps are shared between the sessions of one system.

    Each engine has a context of its own, so that what one finds does not depend on what others were asked.
    """

    name = "z3"

    def __init__(self, memory: int | None = None, trials: bool = True) -> None:
        """``memory`` in megabytes; ``trials``: questions about floating-point arithmetic may be tried first."""
        self._trials = trials
        z3.set_param("memory_max_size", memory or 0)
        self.context = z3.Context()
        self._words, self._gates = Words(self.context), Gates(self.context)
        self._memory = memory
        self.version: str = z3.get_version_string()
        self._system: TransitionSystem | None = None
        self._simulator: Simulator
        self._sampling: Sampling | None = None
        self._templates: dict[tuple[bool, tuple[str, ...]], Template] = {}

    def tries(self, system: TransitionSystem) -> bool:
        """Whether runs of ``system`` are tried before the solver is asked."""
        self._remember(system)
        return self._sampling is not None

    def encoding(self, system: TransitionSystem) -> Encoding:
        """How formulas become terms of this engine's context; floating-point arithmetic becomes gates."""
        self._remember(system)
        return self._words if self._sampling is None else self._gates

    def session(self, system: TransitionSystem, source: FNode, goals: Sequence[FNode] = ()) -> Session:
        """A session from ``source`` (over framed symbols from step 0); see the protocol.

        Of a system with floating-point arithmetic, trial runs and bounds come before the solver.
        """

        def make() -> Session:
            return Z3Session(self, system, source, goals)

        self._remember(system)
        return make() if self._sampling is None else GuessingSession(system, source, goals, self._sampling, make)

    def simulator(self, system: TransitionSystem) -> Simulator:
        """The simulator of ``system``, compiled once."""
        self._remember(system)
        return self._simulator

    def template(self, system: TransitionSystem, variables: Sequence[StateVariable], conditions: bool) -> Template:
        """The step of ``variables``, with the step's validity condition if ``conditions``."""
        self._remember(system)
        key = (conditions, tuple(var.name for var in variables))
        if key not in self._templates:
            self._templates[key] = _template(system, variables, conditions, self.encoding(system))
        return self._templates[key]

    @contextmanager
    def within_memory(self) -> Iterator[None]:
        """Turns z3's exceptions for want of memory, which any of its calls may raise, into MemoryLimitReached."""
        try:
            yield
        except z3.Z3Exception as error:
            if "out of memory" not in str(error):
                raise
            text = f"the memory limit of {self._memory} MB was reached"
            raise MemoryLimitReached(text, hint="allow more memory, or fewer goals") from None

    def _remember(self, system: TransitionSystem) -> None:
        if self._system is not system:
            self._system = system
            self._simulator = Simulator(system)
            formulas = [system.input_constraint, system.defined, *(var.next for var in system.state)]
            self._sampling = Sampling(system, self._simulator) if self._trials and has_arithmetic(formulas) else None
            self._templates = {}


def _template(
    system: TransitionSystem, variables: Sequence[StateVariable], conditions: bool, encoding: Encoding
) -> Template:
    after = at_each([var.next for var in variables], 0)
    equations = [equal(framed(var.symbol, 1), term) for var, term in zip(variables, after, strict=True)]
    condition = conjunction(
        [at(system.input_constraint, 0), at(system.defined, 0), at(_proved(system), 1)] if conditions else []
    )
    symbols = [(unframed(s), s) for s in symbols_of(conjunction([*equations, condition]))]
    plain = {s.symbol_name(): s for s in (*(v.symbol for v in system.state), *(v.symbol for v in system.inputs))}
    now = tuple((plain[name], encoding.parts(s)) for (name, step), s in symbols if step == 0)
    then = tuple((plain[name], encoding.parts(s)) for (name, step), s in symbols if step == 1)
    return Template(encoding.term(conjunction(equations)), encoding.term(condition), now, then)


def _proved(system: TransitionSystem) -> FNode:
    """The invariants that may strengthen a claim."""
    return conjunction(inv.formula for inv in system.invariants if inv.proved)


class Z3Session:
    """One incremental z3 solver over the runs from one source.

    Next-state equations are total and asserted outright. What makes step j valid (constraint, definedness, proved
    invariants after it) hangs on a literal that also implies that of step j - 1, so that steps beyond a query's
    horizon never restrict it.
    """

    def __init__(self, engine: Z3Engine, system: TransitionSystem, source: FNode, goals: Sequence[FNode]) -> None:
        self._engine = engine
        self._system = system
        self._encoding = engine.encoding(system)
        self._convert = self._encoding.term
        self._z3 = z3.SolverFor(str(QF_BV), ctx=engine.context)
        self._z3.set("random_seed", SEED)
        self._state = {var.name: var for var in system.state}
        self._inputs = frozenset(var.name for var in system.inputs)
        self._cone: dict[str, StateVariable] = {}
        self._templates: list[Template] = []
        self._valid: list[Any] = []
        self._literals: dict[FNode, Any] = {}
        self._spans: dict[FNode, int] = {}
        self._numbers = itertools.count()
        self._model: Any = None
        self._steps = 0
        with engine.within_memory():
            self._widen([source, *goals])
            self._span = self._span_of(source)
            self._z3.add(self._convert(source), self._convert(at(_proved(system), 0)))

    def check(
        self, formulas: Sequence[FNode], steps: int, time_limit: float | None = None, effort: int | None = None
    ) -> Answer:
        """Is there a run of exactly ``steps`` valid steps from the source that satisfies ``formulas``?

        ``steps`` below the source's own span count as that span. ``time_limit`` in seconds, ``effort`` in units of
        z3's resource count. ValueError if a formula reaches beyond ``steps``. KeyboardInterrupt if z3 was interrupted
        from the keyboard, MemoryLimitReached if z3 has no memory left.
        """
        with self._engine.within_memory():
            return self._check(formulas, max(steps, self._span), time_limit, effort)

    def _check(self, formulas: Sequence[FNode], steps: int, time_limit: float | None, effort: int | None) -> Answer:
        self._model = None
        for formula in formulas:
            if self._span_of(formula) > steps:
                raise ValueError(f"a formula of {self._span_of(formula)} steps in a query over {steps} steps")
        if time_limit is not None and time_limit <= 0:
            return Answer(Status.UNKNOWN)
        self._widen([f for f in formulas if f not in self._literals])
        self._lengthen(steps)
        literals = [self._literal(f) for f in formulas]
        self._limit(time_limit, effort)
        result = self._z3.check(*literals, *self._valid[steps - 1 : steps] if steps else ())
        if result == z3.sat:
            self._model, self._steps = self._z3.model(), steps
            return Answer(Status.SAT)
        if result == z3.unsat:
            core = {literal.decl().name() for literal in self._z3.unsat_core()}
            pairs = zip(formulas, literals, strict=True)
            return Answer(Status.UNSAT, tuple(f for f, literal in pairs if literal.decl().name() in core))
        reason = self._z3.reason_unknown()
        if "interrupted" in reason:
            raise KeyboardInterrupt
        if "out of memory" in reason:
            raise z3.Z3Exception(reason)
        return Answer(Status.UNKNOWN)

    def run(self) -> Run:
        """The run found by the last ``check``, over all variables of the system; RuntimeError if it was not SAT.

        The solver gives start state and inputs, simulation the rest. Start values that the query does not depend on
        are init's, or 0.
        """
        if self._model is None:
            raise RuntimeError("the last query of this session was not satisfiable: it has no run")
        simulator = self._engine.simulator(self._system)
        start = {**simulator.initial(), **self._values([var.symbol for var in self._cone.values()], 0)}
        symbols = [var.symbol for var in self._system.inputs]
        return simulator.run(start, [self._values(symbols, step) for step in range(self._steps)])

    def _limit(self, time_limit: float | None, effort: int | None) -> None:
        milliseconds = NO_LIMIT if time_limit is None else max(1, min(int(time_limit * 1000), NO_LIMIT - 1))
        self._z3.set("timeout", milliseconds)
        self._z3.set("rlimit", 0 if effort is None else effort * EFFORT_UNIT)

    def _values(self, symbols: Iterable[FNode], step: int) -> Valuation:
        return {s.symbol_name(): self._encoding.value(framed(s, step), self._model) for s in symbols}

    def _span_of(self, formula: FNode) -> int:
        """Steps that a framed formula needs: an input at step j needs j + 1, a state at step j needs j, others none."""
        if formula not in self._spans:
            span = 0
            for symbol in symbols_of(formula):
                name, step = unframed(symbol)
                if name in self._state or name in self._inputs:
                    span = max(span, step if name in self._state else step + 1)
            self._spans[formula] = span
        return self._spans[formula]

    def _widen(self, formulas: Iterable[FNode]) -> None:
        """Encode the variables on which framed ``formulas`` depend, where they are not yet, at all steps so far."""
        asked: dict[str, FNode] = {}
        for formula in formulas:
            for symbol in symbols_of(formula):
                name = unframed(symbol)[0]
                if name in self._state and name not in self._cone:
                    asked[name] = plain(symbol)
        if self._templates and not asked:
            return
        first = not self._templates
        fresh = [var for var in self._system.cone(asked.values()) if var.name not in self._cone]
        template = self._engine.template(self._system, fresh, first)
        self._cone.update((var.name, var) for var in fresh)
        self._templates.append(template)
        for step in range(len(self._valid)):
            self._z3.add(self._placed(template, template.equations, step))

    def _lengthen(self, steps: int) -> None:
        """Encode the steps before ``steps`` that are not yet."""
        for step in range(len(self._valid), steps):
            for template in self._templates:
                self._z3.add(self._placed(template, template.equations, step))
            literal = self._fresh_literal("valid")
            constrained = self._templates[0]
            self._z3.add(z3.Implies(literal, self._placed(constrained, constrained.condition, step)))
            if self._valid:
                self._z3.add(z3.Implies(literal, self._valid[-1]))
            self._valid.append(literal)

    def _placed(self, template: Template, term: Any, step: int) -> Any:
        """A term of ``template``, moved from step 0 to ``step``."""
        if step == 0:
            return term
        places = [*((s, step, old) for s, old in template.now), *((s, step + 1, old) for s, old in template.then)]
        pairs = [pair for s, k, old in places for pair in zip(old, self._encoding.parts(framed(s, k)), strict=True)]
        return z3.substitute(term, *pairs)

    def _literal(self, formula: FNode) -> Any:
        """The literal that implies ``formula``, tied once; the parts of a disjunction are tied once each."""
        if formula.is_or() and formula not in self._literals:
            parts = [self._tied(part, self._convert(part)) for part in formula.args()]
            return self._tied(formula, z3.Or(parts))
        return self._tied(formula, self._convert(formula))

    def _tied(self, formula: FNode, term: Any) -> Any:
        """The literal for ``formula``, whose encoding is ``term``."""
        if formula not in self._literals:
            self._literals[formula] = self._fresh_literal("asked")
            self._z3.add(z3.Implies(self._literals[formula], term))
        return self._literals[formula]

    def _fresh_literal(self, kind: str) -> Any:
        return z3.Bool(f"?{kind}{next(self._numbers)}", self._engine.context)
