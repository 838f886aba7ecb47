"""Engine ``z3``: incremental bounded model checking on z3 through pysmt, logic QF_BV.

The transition relation is translated once per cone of influence and instantiated per step by renaming inside z3.

Formulas become terms over words as they are, or over single bits, as gates: z3's incremental solver simplifies every
step's circuits as arithmetic (sums of products are multiplied out), which makes those of floats many times larger. As
gates they are made small once, and only placed at steps.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import z3
from pysmt.fnode import FNode
from pysmt.logics import QF_BV
from pysmt.shortcuts import get_env
from pysmt.solvers.z3 import Z3Converter

from bmc.engines.protocol import NO_LIMIT, RESOURCE, SEED, WORK, Session, Status
from bmc.engines.unrolling import UnrollingEngine, UnrollingSession
from bmc.errors import MemoryLimitReached
from bmc.formulas.unroll import at, at_each, framed, unframed
from bmc.records import dataclass
from bmc.system.transition import (
    StateVariable,
    TransitionSystem,
    Valuation,
    conjunction,
    equal,
    proved_invariants,
    symbols_of,
)

_TACTICS = ("bit-blast", "simplify", "aig")
_FIRST = "simplify"
"""Divisions must have been rewritten before the first tactic; other terms are better left as they are."""


class Encoding(Protocol):
    """Makes terms in one z3 context; each formula is translated once."""

    def term(self, formula: FNode) -> Any:
        """A Boolean formula as z3's term over the ``parts`` of its symbols."""

    def parts(self, symbol: FNode) -> tuple[Any, ...]:
        """z3's constants that stand for a symbol."""

    def value(self, symbol: FNode, model: Any) -> int:
        """The raw value of a symbol in a z3 model; what that leaves open is 0."""


class Words:
    """A symbol is one constant of its own type."""

    def __init__(self, context: Any) -> None:
        self._converter = Z3Converter(get_env(), context)

    def term(self, formula: FNode) -> Any:
        return self._converter.convert(formula)

    def parts(self, symbol: FNode) -> tuple[Any, ...]:
        return (self.term(symbol),)

    def value(self, symbol: FNode, model: Any) -> int:
        value = model.eval(self.term(symbol), model_completion=True)
        return int(z3.is_true(value)) if z3.is_bool(value) else int(value.as_long())


class Gates:
    """A symbol is one Boolean for each of its bits, the lowest first."""

    def __init__(self, context: Any) -> None:
        self._context = context
        self._words = Words(context)
        self._bits: dict[FNode, tuple[Any, ...]] = {}
        self._made: dict[FNode, Any] = {}
        self._tactic = z3.Then(*_TACTICS, ctx=context)
        self._dividing = z3.Then(_FIRST, *_TACTICS, ctx=context)

    def term(self, formula: FNode) -> Any:
        if formula not in self._made:
            symbols = [s for s in symbols_of(formula) if not s.get_type().is_bool_type()]
            pairs = [(self._words.term(s), self._word(self.parts(s))) for s in symbols]
            goal = z3.Goal(ctx=self._context)
            goal.add(z3.substitute(self._words.term(formula), *pairs))
            try:
                subgoals = self._tactic(goal)
            except z3.Z3Exception as error:
                if "not supported" not in str(error):
                    raise
                subgoals = self._dividing(goal)
            found = [part for subgoal in subgoals for part in subgoal]
            self._made[formula] = z3.And(found) if found else z3.BoolVal(True, self._context)
        return self._made[formula]

    def parts(self, symbol: FNode) -> tuple[Any, ...]:
        if symbol not in self._bits:
            kind = symbol.get_type()
            if kind.is_bool_type():
                self._bits[symbol] = self._words.parts(symbol)
            else:
                names = (f"{symbol.symbol_name()}#{index}" for index in range(kind.width))
                self._bits[symbol] = tuple(z3.Bool(name, self._context) for name in names)
        return self._bits[symbol]

    def value(self, symbol: FNode, model: Any) -> int:
        bits = (model.eval(bit, model_completion=True) for bit in self.parts(symbol))
        return sum(int(z3.is_true(bit)) << index for index, bit in enumerate(bits))

    def _word(self, bits: Sequence[Any]) -> Any:
        one, zero = z3.BitVecVal(1, 1, self._context), z3.BitVecVal(0, 1, self._context)
        parts = [z3.If(bit, one, zero) for bit in reversed(bits)]
        return z3.Concat(*parts) if len(parts) > 1 else parts[0]


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


class Z3Engine(UnrollingEngine):
    """Makes sessions on z3; translated steps are shared between the sessions of one system.

    Each engine has a context of its own, so that what one finds does not depend on what others were asked.
    """

    name = "z3"

    def __init__(self, memory: int | None = None, trials: bool = True) -> None:
        """``memory`` in megabytes; ``trials``: questions about floating-point arithmetic may be tried first."""
        super().__init__(memory, trials)
        z3.set_param("memory_max_size", memory or 0)
        self.context = z3.Context()
        self._words, self._gates = Words(self.context), Gates(self.context)
        self.version: str = z3.get_version_string()
        self._counted = 0

    def encoding(self, system: TransitionSystem) -> Encoding:
        """How formulas become terms of this engine's context; floating-point arithmetic becomes gates."""
        return self._gates if self.tries(system) else self._words

    def count(self, resources: int) -> None:
        """Add the work since the last call to the cost; z3 counts ``resources`` for all solvers of a context."""
        self.cost.work += (resources - self._counted) * RESOURCE
        self._counted = resources

    def solver_session(self, system: TransitionSystem, source: FNode, goals: Sequence[FNode]) -> Session:
        return Z3Session(self, system, source, goals)

    def template(self, system: TransitionSystem, variables: Sequence[StateVariable], conditions: bool) -> Template:
        """The step of ``variables``, translated once; with the step's validity condition if ``conditions``."""
        self.remember(system)
        key = (conditions, tuple(var.name for var in variables))
        if key not in self._templates:
            self._templates[key] = self._translated(system, variables, conditions)
        return self._templates[key]

    def forget(self) -> None:
        """Drop the steps of the last system."""
        self._templates: dict[tuple[bool, tuple[str, ...]], Template] = {}

    def _translated(self, system: TransitionSystem, variables: Sequence[StateVariable], conditions: bool) -> Template:
        after = at_each([var.next for var in variables], 0)
        pairs = zip(variables, after, strict=True)
        equations = conjunction(equal(framed(var.symbol, 1), term) for var, term in pairs)
        valid = [at(system.input_constraint, 0), at(system.defined, 0), at(proved_invariants(system), 1)]
        condition = conjunction(valid if conditions else [])
        encoding = self.encoding(system)
        symbols = [(unframed(s), s) for s in symbols_of(conjunction([equations, condition]))]
        plain = {s.symbol_name(): s for s in (*(v.symbol for v in system.state), *(v.symbol for v in system.inputs))}
        now = tuple((plain[name], encoding.parts(s)) for (name, frame), s in symbols if frame == 0)
        then = tuple((plain[name], encoding.parts(s)) for (name, frame), s in symbols if frame == 1)
        return Template(encoding.term(equations), encoding.term(condition), now, then)

    @contextmanager
    def within_memory(self) -> Iterator[None]:
        """Turns z3's exceptions for want of memory, which any of its calls may raise, into MemoryLimitReached."""
        try:
            yield
        except z3.Z3Exception as error:
            if "out of memory" not in str(error):
                raise
            text = f"the memory limit of {self.memory} MB was reached"
            raise MemoryLimitReached(text, hint="allow more memory, or fewer goals") from None


class Z3Session(UnrollingSession[Template, Any]):
    """One incremental z3 solver over the runs from one source."""

    def __init__(self, engine: Z3Engine, system: TransitionSystem, source: FNode, goals: Sequence[FNode]) -> None:
        super().__init__(engine, system)
        self._context, self._count = engine.context, engine.count
        self._make = engine.template
        self._encoding = engine.encoding(system)
        self._convert = self._encoding.term
        self._z3 = z3.SolverFor(str(QF_BV), ctx=engine.context)
        self._z3.set("random_seed", SEED)
        self._numbers = itertools.count()
        self._model: Any = None
        self.start(source, goals)

    def _template(self, variables: Sequence[StateVariable], conditions: bool) -> Template:
        return self._make(self._system, variables, conditions)

    def _begin(self, source: FNode, invariants: FNode) -> None:
        self._z3.add(self._convert(source), self._convert(invariants))

    def _place(self, template: Template, step: int) -> None:
        self._z3.add(self._placed(template, template.equations, step))

    def _validity(self, template: Template, step: int) -> Any:
        literal = self._fresh_literal("valid")
        self._z3.add(z3.Implies(literal, self._placed(template, template.condition, step)))
        if self._encoded.valid:
            self._z3.add(z3.Implies(literal, self._encoded.valid[-1]))
        return literal

    def _tied(self, formula: FNode) -> Any:
        return self._implying(self._convert(formula))

    def _tied_any(self, literals: Sequence[Any]) -> Any:
        return self._implying(z3.Or(list(literals)))

    def _tied_all(self, literals: Sequence[Any]) -> Any:
        return self._implying(z3.And(list(literals)))

    def _solve(
        self, assumptions: Sequence[Any], time_limit: float | None, effort: float | None
    ) -> tuple[Status, Collection[int]]:
        self._model = None
        self._limit(time_limit, effort)
        if effort is not None and effort <= 0:
            return Status.UNKNOWN, ()
        result = self._z3.check(*assumptions)
        self._count(self._z3.statistics().get_key_value("rlimit count"))
        if result == z3.sat:
            self._model = self._z3.model()
            return Status.SAT, ()
        if result == z3.unsat:
            core = {literal.decl().name() for literal in self._z3.unsat_core()}
            return Status.UNSAT, [place for place, a in enumerate(assumptions) if a.decl().name() in core]
        reason = self._z3.reason_unknown()
        if "interrupted" in reason:
            raise KeyboardInterrupt
        if "out of memory" in reason:
            raise z3.Z3Exception(reason)
        return Status.UNKNOWN, ()

    def _values(self, symbols: Sequence[FNode], step: int) -> Valuation:
        return {s.symbol_name(): self._encoding.value(framed(s, step), self._model) for s in symbols}

    def _limit(self, time_limit: float | None, effort: float | None) -> None:
        milliseconds = NO_LIMIT if time_limit is None else max(1, min(int(time_limit * 1000), NO_LIMIT - 1))
        self._z3.set("timeout", milliseconds)
        self._z3.set("rlimit", 0 if effort is None else min(max(1, int(effort * WORK) // RESOURCE), NO_LIMIT))

    def _placed(self, template: Template, term: Any, step: int) -> Any:
        """A term of ``template``, moved from step 0 to ``step``."""
        if step == 0:
            return term
        places = [*((s, step, old) for s, old in template.now), *((s, step + 1, old) for s, old in template.then)]
        pairs = [pair for s, k, old in places for pair in zip(old, self._encoding.parts(framed(s, k)), strict=True)]
        return z3.substitute(term, *pairs)

    def _implying(self, term: Any) -> Any:
        literal = self._fresh_literal("asked")
        self._z3.add(z3.Implies(literal, term))
        return literal

    def _fresh_literal(self, kind: str) -> Any:
        return z3.Bool(f"?{kind}{next(self._numbers)}", self._context)
