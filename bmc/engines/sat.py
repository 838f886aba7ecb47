"""Engine ``sat``: the step as clauses, made once, placed at every step, and asked of an incremental SAT solver.

The step becomes gates with structural hashing, its clauses are preprocessed once with everything frozen that is read
from outside, and copied by renaming. Sessions that will be asked about the same goals share one solver: their sources
are assumptions.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import contextmanager
from weakref import WeakValueDictionary

from pysmt.fnode import FNode

from bmc.engines import sat_version
from bmc.engines.protocol import PORTION, Cost, Session, Status
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
            self._made[key] = Step(system, variables, conditions, wanted, self.cost)
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


_Asking = Generator[int, None, Sequence[int] | None]


class LeastInputs:
    """Finds inputs for a step from a state: the least ones for each combination of values that ``terms`` can have.

    Least are those with the least raw value of the first input, of these the least value of the second, and so on.
    ``terms`` are over plain symbols. One solver answers for all states; it has the clauses of a step once. ``making``:
    the work that making it took. Work is in nominal nanoseconds.
    """

    def __init__(self, system: TransitionSystem, terms: Sequence[FNode]) -> None:
        self._cost = Cost(left=lambda: 0.0)  # the least that translating a step may take
        self._solver = SatSolver(cost=lambda: self._cost)
        step = Step(system, (), True, terms, self._cost)
        frames = Frames(self._solver, FramedParts(), ())
        frames.place(frames.add(step), 0)
        self._valid = frames.validity(0, 0)
        self._terms = list(dict.fromkeys(literal for term in terms for literal in frames.word(term, 0)))
        self._states = {var.name: frames.word(var.symbol, 0) for var in system.state}
        self._inputs = {var.name: frames.word(var.symbol, 0) for var in system.inputs}
        self.making = self._cost.work

    def of(self, state: Valuation) -> Iterator[int | Valuation]:
        """Yields the inputs, one after the other, and the work done.

        It ends when the solver has proved that there are no others.
        """
        here = self._solver.fresh(1)[0]
        given = [here, self._valid]
        for name, word in self._states.items():
            given += [one if state[name] >> place & 1 else -one for place, one in enumerate(word)]
        while (model := (yield from self._model(given))) is not None:
            outcome = _in(model, self._terms)
            model = yield from self._least([*given, *outcome], model)
            yield {name: _value(model, word) for name, word in self._inputs.items()}
            self._solver.add([[-here, *(-one for one in outcome)]])
        self._solver.add([[-here]])

    def _least(self, given: Sequence[int], model: Sequence[int]) -> Generator[int, None, Sequence[int]]:
        """A solution of ``given`` with the least inputs; ``model`` is one."""
        fixed = list(given)
        for word in self._inputs.values():
            whole = [-one for one in word]
            for zero in (whole, *([one] for one in reversed(whole))):
                if _in(model, zero) != zero:
                    lower = yield from self._model([*fixed, *zero])
                    model = model if lower is None else lower
                if zero is not whole:
                    fixed += _in(model, zero)
        return model

    def _model(self, given: Sequence[int]) -> _Asking:
        """A solution of all clauses and ``given``; None: the solver has proved that there is none."""
        answer: bool | None = None
        while answer is None:
            before = self._cost.work
            answer = self._solver.solve(given, None, PORTION)
            yield self._cost.work - before
        return self._solver.model() if answer else None


def _in(model: Sequence[int], literals: Sequence[int]) -> list[int]:
    """``literals``, inverted where they are false in ``model``."""
    return [one if model[abs(one) - 1] == one else -one for one in literals]


def _value(model: Sequence[int], word: Sequence[int]) -> int:
    return sum(1 << place for place, one in enumerate(word) if model[abs(one) - 1] == one)
