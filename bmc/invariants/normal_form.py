"""A normal form of states: one state instead of many that nothing can ever tell apart, proved by one question.

Two kinds of values tell states apart without end although they make no difference:

- times on a clock that nothing sets back: all that matters is how far each of them lies from the clock;
- what a variable holds in a mode in which nobody reads it before it is written again, such as a timer that goes on.

Which they are is guessed from the formulas and from random runs. A guess counts once a solver has proved, of any state
and any inputs, that the state and its normal form allow the same steps, look alike, and have next states of one normal
form: then a run and the run of the normal forms look alike for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf
from random import Random

from pysmt.fnode import FNode
from pysmt.shortcuts import Ite, Or

from bmc.analysis.state_values import every_step, state_values
from bmc.engines.protocol import Status
from bmc.evaluation.vectors import node_count
from bmc.explicit.batch import RUNS, STEPS, Batch, Runs
from bmc.explicit.rows import distinct
from bmc.floats.operations import has_arithmetic
from bmc.formulas.unroll import with_terms
from bmc.formulas.value_sets import values as members
from bmc.invariants.alike import Among, Look, Terms, against
from bmc.invariants.differences import Form, differences
from bmc.invariants.induction import Prover
from bmc.records import dataclass
from bmc.system.transition import StateVariable, TransitionSystem, Valuation, conjunction, equal, symbols_of

FEW, MANY = 8, 32
"""Values of a variable that says which others are read, and values that make it worth while to leave some out."""

WIDE, ENDLESS = 16, 32
"""Bits of a variable from which on it may have too many values, and from which on these have no end."""

SAMPLES = 512
"""States of the runs on which guesses are tried before the solver is asked."""

MOST_GUESSES = 512
"""Pairs of a variable and a mode that are looked at."""

NODES = 2_000
"""Nodes of a step's formulas for each unit of work of a question: so many are about as soon encoded as answered."""

MOST_ROUNDS, MOST_WORK = 32, 2.0
"""Runs that the solver may bring against guesses, and its work, in that of one question, before all guesses are given
up."""


def normal_form(system: TransitionSystem, seen: Sequence[FNode], prover: Prover, least: int | None = None) -> Form:
    """A normal form for ``system`` through the framed formulas ``seen``; one without terms where none is proved.

    It holds of runs of any length, or, where ``least`` is given, of runs of some number of steps, at least so many:
    that only where differences of counters need it, else there is none. The terms give the start state constants
    wherever they change it.
    """
    if has_arithmetic([system.input_constraint, system.defined, *(v.next for v in system.state)]):
        return Form()
    system = replace(system, invariants=(), asserts=(), undefined_behaviour=(), assumptions=(), constraints=())
    form = Form()
    for each in differences(system, seen, prover, least):
        form = form.then(each)
    if least is not None and not form.terms:
        return form
    moved = in_normal_form(system, form.terms) if form.terms else system
    guesses = _Guesses.of(moved, seen, inf if prover.effort is None else NODES * prover.effort)
    if guesses is not None and guesses.prove(prover):
        unread = guesses.terms()
        if _told(in_normal_form(moved, unread), unread):
            by_symbol = {var.symbol: form.terms[var.name] for var in system.state if var.name in form.terms}
            terms = dict(zip(unread, with_terms([*unread.values()], by_symbol), strict=True))
            return replace(form, terms={**form.terms, **terms})
    return form if _told(moved, form.terms) else Form()


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
        begun = [v for v in system.state if v.init is not None]
        wide = [v for v in begun if v.type.bits >= WIDE]
        allowed = conjunction([system.input_constraint, system.defined])
        if node_count([*(v.next for v in system.state), allowed]) > most or not _may_take_many(wide, system):
            return None
        batch = Batch(system, seen)
        start = batch.initial()
        runs = batch.draw(start, RUNS, STEPS)
        values = {name: distinct(rows) for name, rows in runs.states.items()}
        many = [var for var in wide if len(values[var.name]) > MANY]
        modes = [v for v in begun if 2 <= len(values[v.name]) <= FEW]
        pairs = {(mode.name, int(value)) for mode in modes for value in values[mode.name]}
        if not many or not pairs or len(many) * len(pairs) > MOST_GUESSES:
            return None
        plain = {var.name: start[var.name] for var in many}
        endless = [var.name for var in many if var.type.bits >= ENDLESS]
        return cls(system, seen, {var.name: set(pairs) for var in many}, plain, endless, _samples(runs, many))

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
        look = Look(self.system, self.seen)
        for state, inputs, later in self.samples:
            while self._drop(look, state, inputs, later):
                pass
        begun, most = prover.engine.cost.effort, inf if prover.effort is None else MOST_WORK * prover.effort
        for _ in range(MOST_ROUNDS):
            terms = self.terms()
            told = any(not self.unread[name] for name in self.endless)
            if not terms or told or prover.engine.cost.effort > begun + most:
                return False
            answer = against(self.system, terms, self.seen, prover, Among())
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

    def _drop(self, look: Look, state: Valuation, inputs: Valuation, later: Valuation) -> bool:
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


def _samples(runs: Runs, many: Sequence[StateVariable]) -> Sequence[tuple[Valuation, Valuation, Valuation]]:
    """States of ``runs``, the values of ``many`` drawn anew in half of the cases, with the inputs of two steps."""
    random = Random(1)
    samples = []
    for _ in range(SAMPLES):
        step, number = random.randrange(STEPS - 1), random.randrange(RUNS)
        state = {name: int(rows[step, number]) for name, rows in runs.states.items()}
        state |= {v.name: random.getrandbits(max(1, v.type.bits)) for v in many if random.random() < 0.5}
        inputs, later = ({name: int(rows[k, number]) for name, rows in runs.inputs.items()} for k in (step, step + 1))
        samples.append((state, inputs, later))
    return samples


def _may_take_many(variables: Sequence[StateVariable], system: TransitionSystem) -> bool:
    """Whether one of ``variables`` may take more than ``MANY`` values, as far as is known without runs."""
    sets = state_values(every_step(system)) if variables else {}
    return sets is None or any(members(sets[var.name], MANY) is None for var in variables)
