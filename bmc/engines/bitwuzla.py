"""Engine ``bitwuzla``: incremental bounded model checking on bitwuzla, a second opinion (extra ``bitwuzla``).

Its own preprocessing is off: it would be done again for every query.
"""

from __future__ import annotations

import itertools
import signal
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import pysmt.operators as op
from pysmt.fnode import FNode

from bmc import ending
from bmc.engines.protocol import LOOK, SEED, WORK, Session, Status
from bmc.engines.unrolling import StepFormulas, TermEngine, UnrollingSession
from bmc.errors import MemoryLimitReached, UsageError
from bmc.formulas.evaluate import post_order
from bmc.formulas.unroll import framed, shift
from bmc.records import dataclass
from bmc.system.transition import StateVariable, TransitionSystem, Valuation

SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""Signals that wait until the solver has returned."""


@dataclass(frozen=True)
class Template:
    """One step of some state variables in bitwuzla's terms, from frame 0 to frame 1; ``symbols`` occur in it."""

    equations: Any
    condition: Any
    symbols: tuple[FNode, ...]


class BitwuzlaEngine(TermEngine[Template]):
    """Makes sessions on bitwuzla. ``memory`` in megabytes is for each session."""

    name = "bitwuzla"

    def __init__(self, memory: int | None = None, trials: bool = True) -> None:
        """UsageError if bitwuzla is not installed. ``trials``: see UnrollingEngine."""
        super().__init__(memory, trials)
        if find_spec("bitwuzla") is None:
            text = "the engine bitwuzla needs the package bitwuzla"
            raise UsageError(text, hint="pip install 'chaincover[bitwuzla]', or use the engine auto")
        import bitwuzla

        self.api: Any = bitwuzla
        self.version: str = bitwuzla.version()
        self.terms = _Terms(bitwuzla)

    def solver_session(self, system: TransitionSystem, source: FNode, goals: Sequence[FNode]) -> Session:
        """A session that asks bitwuzla; trials are not made before it."""
        return BitwuzlaSession(self, system, source, goals)

    def translated(self, system: TransitionSystem, step: StepFormulas) -> Template:
        """A step in bitwuzla's terms."""
        return Template(self.terms.of(step.equations), self.terms.of(step.condition), step.symbols)


class BitwuzlaSession(UnrollingSession[Template, Any]):
    """One incremental bitwuzla solver over the runs from one source."""

    def __init__(self, engine: BitwuzlaEngine, system: TransitionSystem, source: FNode, goals: Sequence[FNode]) -> None:
        super().__init__(engine, system)
        self._api, self._terms, self._make = engine.api, engine.terms, engine.template
        self._memory = engine.memory
        options = engine.api.Options()
        settings = {"PRODUCE_MODELS": True, "PRODUCE_UNSAT_ASSUMPTIONS": True, "PREPROCESS": False, "SEED": SEED}
        settings |= {} if engine.memory is None else {"MEMORY_LIMIT": engine.memory}
        for name, value in settings.items():
            options.set(getattr(engine.api.Option, name), value)
        self._solver = engine.api.Bitwuzla(engine.terms.manager, options)
        self._stop = _Stop()
        self._solver.configure_terminator(self._stop)
        self._numbers = itertools.count()
        self.start(source, goals)

    def _template(self, variables: Sequence[StateVariable], conditions: bool) -> Template:
        return self._make(self._system, variables, conditions)

    def _begin(self, source: FNode, invariants: FNode) -> None:
        self._solver.assert_formula(self._terms.of(source), self._terms.of(invariants))

    def _place(self, template: Template, step: int) -> None:
        self._solver.assert_formula(self._terms.placed(template.equations, template.symbols, step))

    def _validity(self, template: Template, step: int) -> Any:
        parts = [self._terms.placed(template.condition, template.symbols, step), *self._encoded.valid[-1:]]
        return self._tied_all(parts)

    def _tied(self, formula: FNode) -> Any:
        return self._tied_all([self._terms.of(formula)])

    def _tied_any(self, literals: Sequence[Any]) -> Any:
        return self._tied_all([self._terms.junction("OR", literals)])

    def _tied_all(self, literals: Sequence[Any]) -> Any:
        literal = self._terms.fresh(f"?{next(self._numbers)}")
        for each in literals:
            self._solver.assert_formula(self._terms.make("IMPLIES", [literal, each]))
        return literal

    def _solve(
        self, assumptions: Sequence[Any], time_limit: float | None, effort: float | None
    ) -> tuple[Status, Collection[int]]:
        if effort is not None and effort <= 0:
            return Status.UNKNOWN, ()
        with self._stop.within(time_limit, None if effort is None else int(effort * WORK) // LOOK):
            result = self._solver.check_sat(*assumptions)
        self._engine.cost.work += self._stop.looks * LOOK
        if result == self._api.Result.SAT:
            return Status.SAT, ()
        if result == self._api.Result.UNSAT:
            return Status.UNSAT, [n for n, a in enumerate(assumptions) if self._solver.is_unsat_assumption(a)]
        if not self._stop.asked and self._memory is not None:
            text = f"the memory limit of {self._memory} MB was reached"
            raise MemoryLimitReached(text, hint="allow more memory, or fewer goals")
        return Status.UNKNOWN, ()

    def _values(self, symbols: Sequence[FNode], step: int) -> Valuation:
        return {s.symbol_name(): self._value(framed(s, step)) for s in symbols}

    def _value(self, symbol: FNode) -> int:
        value = self._solver.get_value(self._terms.of(symbol))
        return int(value.is_true()) if symbol.get_type().is_bool_type() else int(value.value(10))


class _Stop:
    """Tells bitwuzla when to stop: time is over, the work is done, or the process was interrupted or terminated.

    It is asked from within the solver, which no exception may pass through; so a signal waits until it returned.
    ``looks`` tells how often it was asked during the last query.
    """

    def __init__(self) -> None:
        self.asked = False
        self.looks = 0
        self._signals: list[int] = []
        self._end: float | None = None
        self._most: int | None = None

    def __call__(self) -> bool:
        self.looks += 1
        over = bool(ending.called_off()) or (self._end is not None and time.monotonic() >= self._end)
        self.asked = bool(self._signals) or over or (self._most is not None and self.looks > self._most)
        return self.asked

    @contextmanager
    def within(self, seconds: float | None, looks: int | None) -> Iterator[None]:
        """Around one query; a signal that came meanwhile is handled after it."""
        self._end = None if seconds is None else time.monotonic() + seconds
        self._most, self.looks, self.asked, self._signals = looks, 0, False, []
        main = threading.current_thread() is threading.main_thread()
        handlers = {number: signal.getsignal(number) for number in SIGNALS} if main else {}
        delayed = {number: handler for number, handler in handlers.items() if callable(handler)}
        for number in delayed:
            signal.signal(number, lambda number, frame: self._signals.append(number))
        try:
            with ending.uninterrupted():
                yield
        finally:
            for number, handler in delayed.items():
                signal.signal(number, handler)
        for came in self._signals:
            delayed[signal.Signals(came)](came, None)


class _Terms:
    """Translates pysmt formulas, each node once, and places translated ones at other steps."""

    def __init__(self, api: Any) -> None:
        self.manager = api.TermManager()
        self._kinds = api.Kind
        self._done: dict[FNode, Any] = {}

    def of(self, formula: FNode) -> Any:
        """A formula over its own symbols."""
        if formula not in self._done:
            for node in post_order([formula]):
                if node not in self._done:
                    self._done[node] = self._translated(node)
        return self._done[formula]

    def placed(self, term: Any, symbols: Sequence[FNode], step: int) -> Any:
        """``term`` over ``symbols``, ``step`` later."""
        if not step:
            return term
        later: Mapping[Any, Any] = {self.of(s): self.of(shift(s, step)) for s in symbols}
        return self.manager.substitute_term(term, later)

    def fresh(self, name: str) -> Any:
        """A new Boolean constant."""
        return self.manager.mk_const(self.manager.mk_bool_sort(), name)

    def junction(self, kind: str, parts: Sequence[Any]) -> Any:
        return self.make(kind, parts) if len(parts) > 1 else parts[0]

    def make(self, kind: str, arguments: Sequence[Any], indices: Sequence[int] = ()) -> Any:
        """A term of bitwuzla's kind of that name."""
        return self.manager.mk_term(getattr(self._kinds, kind), list(arguments), list(indices))

    def _translated(self, node: FNode) -> Any:
        kind = node.node_type()
        if node.is_symbol():
            wide = node.get_type()
            sort = self.manager.mk_bool_sort() if wide.is_bool_type() else self.manager.mk_bv_sort(wide.width)
            return self.manager.mk_const(sort, node.symbol_name())
        if kind == op.BOOL_CONSTANT:
            return self.manager.mk_true() if node.constant_value() else self.manager.mk_false()
        if kind == op.BV_CONSTANT:
            return self.manager.mk_bv_value(self.manager.mk_bv_sort(node.bv_width()), node.constant_value())
        arguments = [self._done[argument] for argument in node.args()]
        if kind in _INDEXED:
            name, indices = _INDEXED[kind]
            return self.make(name, arguments, indices(node))
        if kind not in _PLAIN:
            raise ValueError(f"cannot translate operator {op.op_to_str(kind)}: not Boolean nor bit-vector")
        return self.junction(_PLAIN[kind], arguments) if kind in (op.AND, op.OR) else self.make(_PLAIN[kind], arguments)


_PLAIN = {
    op.AND: "AND", op.OR: "OR", op.NOT: "NOT", op.IMPLIES: "IMPLIES", op.IFF: "IFF", op.ITE: "ITE",
    op.EQUALS: "EQUAL", op.BV_NOT: "BV_NOT", op.BV_AND: "BV_AND", op.BV_OR: "BV_OR", op.BV_XOR: "BV_XOR",
    op.BV_CONCAT: "BV_CONCAT", op.BV_ULT: "BV_ULT", op.BV_ULE: "BV_ULE", op.BV_SLT: "BV_SLT", op.BV_SLE: "BV_SLE",
    op.BV_NEG: "BV_NEG", op.BV_ADD: "BV_ADD", op.BV_SUB: "BV_SUB", op.BV_MUL: "BV_MUL", op.BV_UDIV: "BV_UDIV",
    op.BV_UREM: "BV_UREM", op.BV_SDIV: "BV_SDIV", op.BV_SREM: "BV_SREM", op.BV_LSHL: "BV_SHL", op.BV_LSHR: "BV_SHR",
    op.BV_ASHR: "BV_ASHR", op.BV_COMP: "BV_COMP",
}  # fmt: skip
_INDEXED: dict[int, tuple[str, Callable[[FNode], Sequence[int]]]] = {
    op.BV_EXTRACT: ("BV_EXTRACT", lambda n: (n.bv_extract_end(), n.bv_extract_start())),
    op.BV_ZEXT: ("BV_ZERO_EXTEND", lambda n: (n.bv_extend_step(),)),
    op.BV_SEXT: ("BV_SIGN_EXTEND", lambda n: (n.bv_extend_step(),)),
    op.BV_ROL: ("BV_ROLI", lambda n: (n.bv_rotation_step(),)),
    op.BV_ROR: ("BV_RORI", lambda n: (n.bv_rotation_step(),)),
}
