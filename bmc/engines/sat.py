"""Engine ``sat``: the step as clauses, made once, placed at every step, and asked of an incremental SAT solver.

The step becomes gates with structural hashing, its clauses are preprocessed once with everything frozen that is read
from outside, and copied by renaming. Sessions that will be asked about the same goals share one solver: their sources
are assumptions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from weakref import WeakValueDictionary

from pysmt.fnode import FNode

from bmc.engines import sat_version
from bmc.engines.protocol import GATE, Session, Status
from bmc.engines.sat_encoding.solver import SatSolver
from bmc.engines.sat_encoding.step import FramedParts, Frames, Step
from bmc.engines.unrolling import Encoded, UnrollingEngine, UnrollingSession
from bmc.errors import MemoryLimitReached
from bmc.system.transition import StateVariable, TransitionSystem, Valuation, symbols_of


class Unrolled:
    """What sessions share: a solver with frames, and what it knows of the system."""

    def __init__(self, engine: SatEngine, system: TransitionSystem, goals: Sequence[FNode]) -> None:
        self.goals = goals
        solver = SatSolver(engine.memory, lambda: engine.cost)
        self.frames = Frames(solver, engine.framed, [var.symbol for var in system.state])
        self.encoded: Encoded[int, int] = Encoded(valid=self.frames.valid)


class SatEngine(UnrollingEngine):
    """Makes sessions on a SAT solver. ``memory`` in megabytes is what this process may grow to."""

    name = "sat"
    version = sat_version()

    def __init__(self, memory: int | None = None, trials: bool = True) -> None:
        """``memory`` in megabytes; ``trials``: questions about floating-point arithmetic may be tried first."""
        super().__init__(memory, trials)
        self.framed = FramedParts()
        self._made: dict[tuple[bool, tuple[str, ...]], Step] = {}
        self._unrolled: WeakValueDictionary[tuple[FNode, ...], Unrolled] = WeakValueDictionary()

    def solver_session(self, system: TransitionSystem, source: FNode, goals: Sequence[FNode]) -> Session:
        shared = self._unrolled.get(tuple(goals))
        if shared is None:
            shared = self._unrolled[tuple(goals)] = Unrolled(self, system, tuple(goals))
        return SatSession(self, system, shared, source)

    def forget(self) -> None:
        self._made = {}
        self._unrolled = WeakValueDictionary()

    def step(
        self, system: TransitionSystem, variables: Sequence[StateVariable], conditions: bool, goals: Sequence[FNode]
    ) -> Step:
        """The step of ``variables``; what ``goals`` say of single steps is mostly part of it."""
        self.remember(system)
        key = (conditions, tuple(var.name for var in variables))
        names = {*key[1], *(var.name for var in system.inputs)}
        asked = dict.fromkeys(part for goal in goals for _, part in self.framed.parts(goal) if not part.is_symbol())
        parts = [part for part in asked if names.issuperset(s.symbol_name() for s in symbols_of(part))]
        known = self._made[key].parts if key in self._made else {}
        if key not in self._made or sum(part not in known for part in parts) > len(known):
            wanted = dict.fromkeys([*known, *parts])
            self._made[key] = Step(system, variables, conditions, wanted, self.cost.in_library)
            self.cost.work += self._made[key].gates * GATE
        return self._made[key]

    @contextmanager
    def within_memory(self) -> Iterator[None]:
        """Turns MemoryError into MemoryLimitReached."""
        try:
            yield
        except MemoryError:
            limit = "" if self.memory is None else f" of {self.memory} MB"
            text = f"the memory limit{limit} was reached"
            raise MemoryLimitReached(text, hint="allow more memory, or fewer goals") from None


class SatSession(UnrollingSession[int, int]):
    """The runs from one source, in a solver that may be shared."""

    def __init__(self, engine: SatEngine, system: TransitionSystem, shared: Unrolled, source: FNode) -> None:
        super().__init__(engine, system, shared.encoded)
        self._make = engine.step
        self._shared = shared
        self._frames = shared.frames
        self._source: int
        self._model: Sequence[int] = ()
        self.start(source, shared.goals)

    def _template(self, variables: Sequence[StateVariable], conditions: bool) -> int:
        number = self._frames.add(self._make(self._system, variables, conditions, self._shared.goals))
        if conditions:
            self._frames.proved(number)
        return number

    def _begin(self, source: FNode, invariants: FNode) -> None:
        self._lengthen(self._span)
        self._source = self._tied_once(source)

    def _place(self, template: int, step: int) -> None:
        self._frames.solver.check_memory()
        self._frames.place(template, step)

    def _validity(self, template: int, step: int) -> int:
        return self._frames.validity(template, step)

    def _tied(self, formula: FNode) -> int:
        return self._frames.literal(formula)

    def _tied_later(self, formula: FNode, later: int) -> int:
        return self._frames.literal(formula, later)

    def _tied_any(self, literals: Sequence[int]) -> int:
        if len(literals) == 1:
            return literals[0]
        either = self._frames.solver.fresh(1)[0]
        self._frames.solver.add([[-either, *literals]])
        return either

    def _tied_all(self, literals: Sequence[int]) -> int:
        both = self._frames.solver.fresh(1)[0]
        self._frames.solver.add([-both, literal] for literal in literals)
        return both

    def _tied_group(self, first: int, options: Sequence[int]) -> int:
        literal = self._frames.solver.fresh(1)[0]
        self._frames.solver.add([[-literal, first], [-literal, *options]])
        return literal

    def _drop(self, literal: int) -> None:
        """Clauses with a literal that is false need not be looked at."""
        self._frames.solver.add([[-literal]])

    def _solve(
        self, assumptions: Sequence[int], time_limit: float | None, effort: float | None
    ) -> tuple[Status, Collection[int]]:
        solver = self._frames.solver
        answer = solver.solve([self._source, *assumptions], time_limit, effort)
        if answer is None:
            return Status.UNKNOWN, ()
        if answer:
            self._model = solver.model()
            return Status.SAT, ()
        core = set(solver.core())
        return Status.UNSAT, [place for place, literal in enumerate(assumptions) if literal in core]

    def _values(self, symbols: Sequence[FNode], step: int) -> Valuation:
        return self._frames.values(symbols, step, self._model)
