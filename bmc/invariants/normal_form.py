"""A normal form of states: one state instead of many that nothing can ever tell apart, proved by one question.

Two kinds of values tell states apart without end although they make no difference:

- times on a clock that nothing sets back: all that matters is how far each of them lies from the clock;
- what a variable holds in a mode in which nobody reads it before it is written again, such as a timer that goes on.

Which they are is guessed from the formulas and from random runs. A guess counts once a solver has proved, of any state
and any inputs, that the state and its normal form allow the same steps, look alike, and have next states of one normal
form: then a run and the run of the normal forms look alike for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from math import inf
from random import Random

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE, And, Iff, Ite, Not, Or

from bmc.analysis.state_values import every_step, state_values
from bmc.engines.protocol import Status
from bmc.explicit.batch import Batch
from bmc.explicit.rows import distinct
from bmc.explicit.vectors import node_count
from bmc.floats.operations import has_arithmetic
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import at, unframed, unplaced, with_terms
from bmc.formulas.value_sets import values as members
from bmc.invariants.induction import Prover
from bmc.records import dataclass
from bmc.system.transition import StateVariable, TransitionSystem, Valuation, conjunction, equal, symbols_of

RUNS, STEPS = 64, 96
"""Random runs, and their steps, that show which values variables take."""

FEW, MANY = 8, 32
"""Values of a variable that says which others are read, and values that make it worth while to leave some out."""

WIDE, ENDLESS = 16, 32
"""Bits of a variable from which on it may have too many values, and from which on these have no end."""

FEW_ROUNDS = 5
"""Rounds in which the sets of values have to end for random runs to be spared; where counters count they take more, and
longer than the runs."""

SAMPLES = 512
"""States of the runs on which guesses are tried before the solver is asked."""

MOST_GUESSES = 512
"""Pairs of a variable and a mode that are looked at."""

NODES = 2_000
"""Nodes of a step's formulas for each unit of work of a question: so many are about as soon encoded as answered."""

MOST_ROUNDS, MOST_WORK = 32, 2.0
"""Runs that the solver may bring against guesses, and its work, in that of one question, before all guesses are given
up."""

OTHER = "other "
"""Before the name of an input, for its value in the step after."""

Terms = Mapping[str, FNode]
"""For variables that are not themselves in the normal form, what they are there, over plain symbols of the state."""


def normal_form(system: TransitionSystem, seen: Sequence[FNode], prover: Prover) -> Terms:
    """The terms of a normal form for ``system`` through the framed formulas ``seen``; none where none is proved.

    The terms give the start state constants wherever they change it.
    """
    if system.hold > 1 or has_arithmetic([system.input_constraint, system.defined, *(v.next for v in system.state)]):
        return {}
    system = replace(system, invariants=(), asserts=(), undefined_behaviour=(), assumptions=(), constraints=())
    shifts = dict(_shifts(system))
    if shifts and not _proved(system, shifts, seen, prover):
        shifts = {}
    moved = in_normal_form(system, shifts) if shifts else system
    guesses = _Guesses.of(moved, seen, inf if prover.effort is None else NODES * prover.effort)
    if guesses is not None and guesses.prove(prover):
        unread = guesses.terms()
        if _told(in_normal_form(moved, unread), unread):
            by_symbol = {var.symbol: shifts[var.name] for var in system.state if var.name in shifts}
            return {**shifts, **dict(zip(unread, with_terms([*unread.values()], by_symbol), strict=True))}
    return shifts if _told(moved, shifts) else {}


def in_normal_form(system: TransitionSystem, terms: Terms) -> TransitionSystem:
    """``system`` with every state in the normal form that ``terms`` give.

    Its invariants go but for the proved ones that read none of ``terms``: a state and its normal form are equal in what
    these read, and the value of every constant that the formulas no longer read is such a fact.
    """
    nexts = {var.symbol: var.next for var in system.state}
    inits = {var.symbol: var.init for var in system.state if var.init is not None}
    forms = [terms.get(var.name, var.symbol) for var in system.state]
    state = []
    for var, form, following in zip(system.state, forms, with_terms(forms, nexts), strict=True):
        if var.name in terms:
            begin = form.substitute(inits).simplify()
            var = replace(var, init=begin if begin.is_constant() else None, next=following)
        state.append(var)
    kept = tuple(
        inv
        for inv in system.invariants
        if inv.proved and not {symbol.symbol_name() for symbol in symbols_of(inv.formula)} & terms.keys()
    )
    return replace(system, state=tuple(state), invariants=kept, asserts=(), undefined_behaviour=(), assumptions=())


def _told(system: TransitionSystem, terms: Terms) -> bool:
    """Whether the variables that ``terms`` change have a start value, which is then that of all start states."""
    return bool(terms) and all(var.init is not None for var in system.state if var.name in terms)


# times on a clock


def _shifts(system: TransitionSystem) -> Iterator[tuple[str, FNode]]:
    """For each clock that times are taken from: that it stands at 0, and how far the times lie from it."""
    taken: set[str] = set()
    for clock in system.state:
        if not _is_clock(clock) or clock.name in taken:
            continue
        times = _times(system, clock)
        if times and not taken & {var.name for var in times}:
            taken |= {clock.name, *(var.name for var in times)}
            yield clock.name, clock.type.constant(0)
            for var in times:
                yield var.name, var.symbol.BVSub(clock.symbol)


def _is_clock(var: StateVariable) -> bool:
    """Whether every step adds the same to ``var``."""
    return not var.type.floating and _ahead(var.next, var)


def _ahead(term: FNode, clock: StateVariable) -> bool:
    """Whether ``term`` is the clock's value and a constant."""
    return bool(term.is_bv_add() and clock.symbol in term.args() and any(arg.is_constant() for arg in term.args()))


def _times(system: TransitionSystem, clock: StateVariable) -> list[StateVariable]:
    """The variables that only ever get a time of ``clock`` or the value of another such variable, and do get one."""
    kept = {
        v.symbol: v for v in system.state if v.type.bits == clock.type.bits and not v.type.floating and v is not clock
    }
    ends = {symbol: set(_choices(var.next)) for symbol, var in kept.items()}
    while True:
        fitting = {
            symbol: var
            for symbol, var in kept.items()
            if all(end in kept or end is clock.symbol or _ahead(end, clock) for end in ends[symbol])
        }
        if len(fitting) == len(kept):
            return [var for symbol, var in kept.items() if ends[symbol] != {symbol}]
        kept = fitting


def _choices(term: FNode) -> Iterator[FNode]:
    """The terms of which ``term`` is one, as conditions choose."""
    todo, met = [term], set[FNode]()
    while todo:
        part = todo.pop()
        if part in met:
            continue
        met.add(part)
        if part.is_ite():
            todo += part.args()[1:]
        else:
            yield part


# values that nobody reads


@dataclass
class _Guesses:
    """``unread`` has for a variable by name the (mode, value) in which its value is guessed to make no difference.

    There it is ``plain``. The variables ``endless`` are so wide that as long as one of them is told in every mode,
    nothing is gained by leaving out others.
    """

    system: TransitionSystem
    seen: Sequence[FNode]
    unread: dict[str, set[tuple[str, int]]]
    plain: Valuation
    endless: Sequence[str]
    samples: Sequence[tuple[Valuation, Valuation, Valuation]]

    @classmethod
    def of(cls, system: TransitionSystem, seen: Sequence[FNode], most: float) -> _Guesses | None:
        """All guesses that random runs suggest; None where no variable takes many values, or none tells modes.

        Runs are made only where some variable may take many, as far as is told without them.

        None too where a step's formulas have more than ``most`` nodes: the proof would take longer than it may.
        """
        wide = [v for v in system.state if v.init is not None and v.type.bits >= WIDE]
        allowed = conjunction([system.input_constraint, system.defined])
        if node_count([*(v.next for v in system.state), allowed]) > most or not _may_take_many(wide, system):
            return None
        batch = Batch(system, seen)
        runs = batch.draw(batch.initial(), RUNS, STEPS)
        values = {name: distinct(rows) for name, rows in runs.states.items()}
        many = [var for var in wide if len(values[var.name]) > MANY]
        modes = [v for v in system.state if v.init is not None and 2 <= len(values[v.name]) <= FEW]
        pairs = {(mode.name, int(value)) for mode in modes for value in values[mode.name]}
        if not many or not pairs or len(many) * len(pairs) > MOST_GUESSES:
            return None
        random = Random(1)
        samples = []
        for _ in range(SAMPLES):
            step, number = random.randrange(STEPS - 1), random.randrange(RUNS)
            state = {name: int(rows[step, number]) for name, rows in runs.states.items()}
            state |= {v.name: random.getrandbits(max(1, v.type.bits)) for v in many if random.random() < 0.5}
            drawn = [{name: int(rows[k, number]) for name, rows in runs.inputs.items()} for k in (step, step + 1)]
            samples.append((state, drawn[0], drawn[1]))
        start = batch.initial()
        values_there = {var.name: start[var.name] for var in many}
        endless = [var.name for var in many if var.type.bits >= ENDLESS]
        return cls(system, seen, {var.name: set(pairs) for var in many}, values_there, endless, samples)

    def terms(self) -> Terms:
        """The terms of the normal form."""
        types = {var.name: var.type for var in self.system.state}
        found = {}
        for name, pairs in self.unread.items():
            if pairs:
                within = Or([equal(types[m].symbol(m), types[m].constant(value)) for m, value in sorted(pairs)])
                kind = types[name]
                found[name] = Ite(within, kind.constant(self.plain[name]), kind.symbol(name))
        return found

    def prove(self, prover: Prover) -> bool:
        """Give up guesses until the solver proves the others; whether any are left."""
        look = _Look(self.system, self.seen)
        for state, inputs, later in self.samples:
            while self._drop(look, state, inputs, later):
                pass
        begun, most = prover.engine.cost.effort, inf if prover.effort is None else MOST_WORK * prover.effort
        for _ in range(MOST_ROUNDS):
            terms = self.terms()
            told = any(not self.unread[name] for name in self.endless)
            if not terms or told or prover.engine.cost.effort > begun + most:
                return False
            answer = _against(self.system, terms, self.seen, prover)
            if not isinstance(answer, tuple):
                return answer is Status.UNSAT
            if not self._drop(look, *answer):
                return False
        return False

    def _normal(self, state: Valuation) -> dict[str, int]:
        changed = {
            name: self.plain[name]
            for name, pairs in self.unread.items()
            if any(state[mode] == value for mode, value in pairs)
        }
        return {**state, **changed}

    def _drop(self, look: _Look, state: Valuation, inputs: Valuation, later: Valuation) -> bool:
        """Give up the guesses that one step contradicts; whether there are any."""
        if look.differ(state, self._normal(state), inputs, self._normal):
            return self._blame(state, lambda other: look.differ(state, other, inputs, self._normal))
        after = look.after(state, inputs)
        if after is not None and look.unlike(after, self._normal(after), later):
            return self._blame(after, lambda other: look.unlike(after, other, later))
        return False

    def _blame(self, state: Valuation, differs: Callable[[Valuation], bool]) -> bool:
        normal = self._normal(state)
        changed = [name for name in self.unread if normal[name] != state[name]]
        guilty = [name for name in changed if differs({**state, name: normal[name]})] or changed
        for name in guilty:
            self.unread[name] = {(mode, value) for mode, value in self.unread[name] if state[mode] != value}
        return bool(guilty)


def _may_take_many(variables: Sequence[StateVariable], system: TransitionSystem) -> bool:
    """Whether one of ``variables`` takes more than ``MANY`` values, as far as a few rounds tell."""
    rounds = count(1)
    sets = state_values(every_step(system), lambda: next(rounds) >= FEW_ROUNDS) if variables else {}
    return sets is None or any(members(sets[var.name], MANY) is None for var in variables)


class _Look:
    """What is seen of single steps, computed."""

    def __init__(self, system: TransitionSystem, seen: Sequence[FNode]) -> None:
        first, later = _seen_at(seen)
        self._names = [var.name for var in system.state]
        allowed = conjunction([system.input_constraint, system.defined])
        self._seen = compile_formulas([allowed, *first])
        self._nexts = compile_formulas([var.next for var in system.state])
        self._later = compile_formulas(later)

    def differ(
        self, one: Valuation, other: Valuation, inputs: Valuation, normal: Callable[[Valuation], Valuation]
    ) -> bool:
        """Whether a step under ``inputs`` tells two states apart, or leads to states of different normal forms."""
        seen = self._seen({**one, **inputs})
        if seen != self._seen({**other, **inputs}):
            return True
        pair = self.after(one, inputs), self.after(other, inputs)
        return pair[0] is not None and pair[1] is not None and normal(pair[0]) != normal(pair[1])

    def unlike(self, one: Valuation, other: Valuation, inputs: Valuation) -> bool:
        """Whether two states differ in what is seen of them after some step."""
        return self._later({**one, **inputs}) != self._later({**other, **inputs})

    def after(self, state: Valuation, inputs: Valuation) -> dict[str, int] | None:
        """The next state; None if the step is not allowed."""
        values = {**state, **inputs}
        return dict(zip(self._names, self._nexts(values), strict=True)) if self._seen(values)[0] else None


# the proof


def _proved(system: TransitionSystem, terms: Terms, seen: Sequence[FNode], prover: Prover) -> bool:
    return _against(system, terms, seen, prover) is Status.UNSAT


def _against(
    system: TransitionSystem, terms: Terms, seen: Sequence[FNode], prover: Prover
) -> Status | tuple[Valuation, Valuation, Valuation]:
    """A state, inputs and later inputs that speak against the normal form of ``terms``, or that there are none.

    Unknown where the solver gave up.
    """
    first, later = _seen_at(seen)
    names = [var.symbol for var in system.state]
    nexts = [var.next for var in system.state]
    following = dict(zip(names, nexts, strict=True))
    normal = {symbol: terms[symbol.symbol_name()] for symbol in names if symbol.symbol_name() in terms}
    allowed = conjunction([system.input_constraint, system.defined])
    allowed_there, *there = with_terms([allowed, *first, *nexts], normal)
    first_there, nexts_there = there[: len(first)], there[len(first) :]
    forms = with_terms(names, normal)
    after = with_terms(forms, following)
    after_there = with_terms(forms, dict(zip(names, nexts_there, strict=True)))
    later = with_terms(later, {var.symbol: var.type.symbol(OTHER + var.name) for var in system.inputs})
    seen_after = with_terms(later, following)
    seen_there = with_terms(with_terms(later, normal), following)
    pairs = zip([*first, *after, *seen_after], [*first_there, *after_there, *seen_there], strict=True)
    apart = Or([Not(equal(one, other)) for one, other in pairs if one is not other])
    question = at(Or(Not(Iff(allowed, allowed_there)), And(allowed, apart)), 0)
    variables = [(var.name, var.type) for var in system.state]
    variables += [(prefix + var.name, var.type) for prefix in ("", OTHER) for var in system.inputs]
    alone = TransitionSystem(system.name, tuple(StateVariable(n, t, None, t.symbol(n)) for n, t in variables), ())
    session = prover.engine.session(alone, TRUE(), [question])
    status = prover.asked(session, [question], 0)
    if status is not Status.SAT:
        return status
    found = session.run().states[0]
    state = {var.name: found[var.name] for var in system.state}
    given = {var.name: found[var.name] for var in system.inputs}
    return state, given, {var.name: found[OTHER + var.name] for var in system.inputs}


def _seen_at(formulas: Iterable[FNode]) -> tuple[list[FNode], list[FNode]]:
    """The parts of framed ``formulas`` that read one step only, as large as they can be, plain: of the first step, and
    of later ones.

    Alternatives, and parts that all have to hold, are taken together where they read the same step.
    """
    first: dict[FNode, None] = {}
    later: dict[FNode, None] = {}
    todo, met = list(formulas), set[FNode]()
    while todo:
        part = todo.pop()
        if part in met:
            continue
        met.add(part)
        if part.is_and() or part.is_or():
            by_step: dict[int, list[FNode]] = {}
            for arg in _joined(part):
                steps = _steps(arg)
                if len(steps) == 1:
                    by_step.setdefault(next(iter(steps)), []).append(arg)
                elif steps:
                    todo.append(arg)
            for step, group in by_step.items():
                joined = And(group) if part.is_and() else Or(group)
                (later if step else first)[unplaced([joined])[0]] = None
            continue
        steps = _steps(part)
        if len(steps) == 1:
            (later if next(iter(steps)) else first)[unplaced([part])[0]] = None
        else:
            todo += part.args()
    return list(first), list(later)


def _joined(formula: FNode) -> Iterator[FNode]:
    """The parts that ``formula`` joins by and, or by or."""
    todo = [formula]
    while todo:
        part = todo.pop()
        if part.node_type() == formula.node_type():
            todo += part.args()
        else:
            yield part


def _steps(formula: FNode) -> set[int]:
    return {unframed(symbol)[1] for symbol in symbols_of(formula)}
