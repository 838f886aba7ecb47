"""Counters: variables whose values fall into cells within which no step can tell one value from another.

A step adds the same to a counter whichever value of its cell it has, or forgets the value, and does all else alike. One
question to a solver proves that, of any state and any inputs; it is the lemma on which jumps over many steps rest: a
step that only moves a counter, made d times within a cell, moves it by d times as much, and d such steps are allowed
and show the same of all goals. Where the solver finds two values of one cell that a step tells apart, the cell is cut
between them, so cuts come from every read of the counter: comparisons, saturation, wrapping, goals and final condition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import combinations, pairwise

import pysmt.operators as op
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, TRUE, And, Iff, Not, Or

from bmc.engines.protocol import Session, Status
from bmc.floats.operations import has_arithmetic
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import NEXT, at, with_terms
from bmc.invariants.induction import Prover
from bmc.records import dataclass
from bmc.system.transition import StateVariable, TransitionSystem, Valuation, conjunction, equal, symbols_of

NARROW, WIDE = 5, 62
"""Bits of a variable below which it is no counter, for so few values are enumerated; and above which it is none, for
the differences of its values do not fit into a word."""

MOST_CELLS = 256
"""A variable with more cells than this is no counter."""

IN_A_ROW = 6
"""A variable of which a step tells so many values in a row apart is no counter."""

OTHER = "other "
"""Before the name of a counter: the value that its own is compared with."""


@dataclass(frozen=True)
class Cells:
    """``starts`` has for each counter the first values of its cells, rising from 0."""

    starts: Mapping[str, tuple[int, ...]]

    def bounds(self, var: StateVariable, value: int) -> tuple[int, int]:
        """The first and the last value of the cell of ``value``."""
        starts = self.starts[var.name]
        place = sum(start <= value for start in starts)
        return starts[place - 1], (starts[place] if place < len(starts) else 1 << var.type.bits) - 1


@dataclass(frozen=True)
class Seen:
    """What is looked at: ``states`` are plain formulas over the state, ``steps`` over state, inputs and the state after
    the step, whose symbols are those of ``after``. ``known`` is proved of every state; what reads no counter counts."""

    states: Sequence[FNode]
    steps: Sequence[FNode]
    known: Sequence[FNode] = ()


def after(var: StateVariable) -> FNode:
    """The symbol for the value of ``var`` after the step."""
    return var.type.symbol(NEXT + var.name)


Starts = Mapping[str, Sequence[int]]
"""For each counter the first values of its cells, rising from 0."""


def find_counters(
    system: TransitionSystem, seen: Seen, prover: Prover, worthwhile: Callable[[Starts], bool]
) -> Cells | None:
    """The counters of ``system`` with their cells, for which the solver has proved the lemma; None if there are none.

    Before each question it is asked whether cells that are at least as fine as these are ``worthwhile``.
    """
    counters = candidates(system)
    while counters:
        search = _Search(system, seen, counters, prover)
        dropped = search.run(worthwhile)
        if dropped is None:
            starts = {var.name: tuple(sorted(search.starts[var.name])) for var in counters}
            return Cells(starts) if search.proved else None
        counters = [var for var in counters if var is not dropped]
    return None


def candidates(system: TransitionSystem) -> list[StateVariable]:
    """The variables that may be counters, the widest first."""
    if any(var.init is None for var in system.state):
        return []
    if has_arithmetic([system.input_constraint, system.defined, *(var.next for var in system.state)]):
        return []
    return sorted((var for var in system.state if _counts(var)), key=lambda var: -var.type.bits)


def _counts(var: StateVariable) -> bool:
    """Whether ``var`` may get its own value and something more."""
    if var.type.floating or not NARROW <= var.type.bits <= WIDE:
        return False
    todo, met = [(var.next, False)], set[tuple[FNode, bool]]()
    while todo:
        term, added = todo.pop()
        if (term, added) in met:
            continue
        met.add((term, added))
        if term is var.symbol and added:
            return True
        added = added or term.node_type() in (op.BV_ADD, op.BV_SUB)
        todo += [(arg, added) for arg in (term.args()[1:] if term.is_ite() else term.args())]
    return False


def lemma(system: TransitionSystem, seen: Seen, counters: Sequence[StateVariable]) -> Lemma:
    """The lemma for ``counters`` of ``system``, whatever their cells."""
    return Lemma(system, seen, tuple(counters))


@dataclass(frozen=True)
class Lemma:
    """What speaks against the cells of ``counters``: two states that differ in these only, and one step from each."""

    system: TransitionSystem
    seen: Seen
    counters: tuple[StateVariable, ...]

    @cached_property
    def _others(self) -> dict[FNode, FNode]:
        return {var.symbol: var.type.symbol(OTHER + var.name) for var in self.counters}

    @cached_property
    def _following(self) -> dict[FNode, tuple[FNode, FNode]]:
        """For each variable its next value from either state."""
        nexts = [var.next for var in self.system.state]
        there = with_terms(nexts, self._others)
        variables = [var.symbol for var in self.system.state]
        return dict(zip(variables, zip(nexts, there, strict=True), strict=True))

    @cached_property
    def apart(self) -> FNode:
        """Some step tells the two states apart, whatever the cells are."""
        system, names = self.system, {var.name for var in self.counters}
        allowed = conjunction([system.input_constraint, system.defined])
        (allowed_there,) = with_terms([allowed], self._others)
        differ = [
            Not(equal(one, other))
            for symbol, (one, other) in self._following.items()
            if symbol.symbol_name() not in names and one is not other
        ]
        for var in self.counters:
            one, other = self._following[var.symbol]
            here = var.symbol, self._others[var.symbol]
            differ.append(And(Not(equal(one, other)), Not(equal(one.BVSub(other), here[0].BVSub(here[1])))))
        states = zip(self.seen.states, with_terms(self.seen.states, self._others), strict=True)
        looks = [Not(equal(one, other)) for one, other in states if one is not other]
        return Or(Not(Iff(allowed, allowed_there)), And(allowed, Or(differ)), *looks)

    @cached_property
    def two_move(self) -> FNode:
        """The step moves two counters."""
        moved = []
        for var in self.counters:
            one, other = self._following[var.symbol]
            moved.append(And(Not(equal(one, other)), Not(equal(one, var.symbol))))
        allowed = conjunction([self.system.input_constraint, self.system.defined])
        return And(allowed, Or([And(pair) for pair in combinations(moved, 2)]))

    @cached_property
    def steps_apart(self) -> FNode:
        """The two steps are allowed, and one of the formulas over steps tells them apart."""
        system = self.system
        later = {after(var): self._following[var.symbol][0] for var in system.state}
        later_there = {after(var): self._following[var.symbol][1] for var in system.state}
        here = with_terms(self.seen.steps, later)
        there = with_terms(self.seen.steps, {**self._others, **later_there})
        differ = [Not(equal(one, other)) for one, other in zip(here, there, strict=True) if one is not other]
        return And(system.input_constraint, system.defined, Or(differ))

    @cached_property
    def known(self) -> list[FNode]:
        """What is known of both states: what reads no counter, in which alone they differ."""
        symbols = {var.symbol for var in self.counters}
        return [formula for formula in self.seen.known if not symbols & {*symbols_of(formula)}]

    def one_cell(self, starts: Starts) -> list[FNode]:
        """The two states are in the same cells."""
        return self._alike([(var.symbol, self._others[var.symbol]) for var in self.counters], starts)

    def one_cell_later(self, starts: Starts) -> FNode:
        """The steps lead to the same cells."""
        return And(self._alike([self._following[var.symbol] for var in self.counters], starts))

    def _alike(self, pairs: Sequence[tuple[FNode, FNode]], starts: Starts) -> list[FNode]:
        """The pairs of values of the counters are in the same cells."""
        found = []
        for place, var in enumerate(self.counters):
            one, two = pairs[place]
            bounds = [BV(start, var.type.bits) for start in starts[var.name] if start]
            found += [Iff(one.BVULT(bound), two.BVULT(bound)) for bound in bounds]
        return found


class _Search:
    """Cuts the values of ``counters`` into cells until the solver proves the lemma."""

    def __init__(self, system: TransitionSystem, seen: Seen, counters: Sequence[StateVariable], prover: Prover) -> None:
        self._system, self._counters, self._prover = system, counters, prover
        self._lemma = lemma(system, seen, counters)
        # no cell is wider than half of the values: so a step up is never taken for one down that wraps around
        self.starts = {var.name: {0, 1 << (var.type.bits - 1)} for var in counters}
        self.proved = False
        self._look = _Look(system, seen)

    def run(self, worthwhile: Callable[[Starts], bool]) -> StateVariable | None:
        """Cut until the lemma is ``proved``, or it is given up; or a variable that is to be no counter."""
        system, wanted, session = self._system, self._lemma, self._two_states()
        cut = False
        while True:
            starts = {name: sorted(values) for name, values in self.starts.items()}
            if not worthwhile(starts):
                return None
            told = Or(wanted.apart, And(wanted.steps_apart, wanted.one_cell_later(starts)))
            asked = wanted.two_move if cut else told
            question = [at(part, 0) for part in (asked, *wanted.known, *wanted.one_cell(starts))]
            status = self._prover.asked(session, question, 0)
            if status is Status.UNSAT and not cut:
                cut = True  # all cells are known: now it can be said which counter has the most values to jump over
                continue
            if status is not Status.SAT:
                self.proved = status is Status.UNSAT
                return None
            found = session.run().states[0]
            state, inputs = ({var.name: found[var.name] for var in part} for part in (system.state, system.inputs))
            other = {var.name: found[OTHER + var.name] for var in self._counters}
            dropped = self._slightest(state, inputs, other) if cut else self._cut(state, inputs, other)
            if dropped is not None:
                return dropped

    def _two_states(self) -> Session:
        """A session about one step's inputs, a state, and another state that differs in the counters."""
        system, wanted = self._system, self._lemma
        variables = [(var.name, var.type) for var in system.state]
        variables += [(var.name, var.type) for var in system.inputs]
        variables += [(OTHER + var.name, var.type) for var in self._counters]
        alone = TransitionSystem(system.name, tuple(StateVariable(n, t, None, t.symbol(n)) for n, t in variables), ())
        everything = [wanted.apart, wanted.steps_apart, wanted.two_move]
        return self._prover.engine.session(alone, TRUE(), [at(formula, 0) for formula in everything])

    def _slightest(self, state: Valuation, inputs: Valuation, other: Valuation) -> StateVariable:
        """Of the counters that one step moves, the one with the fewest values below its last cut."""
        one, two = self._look.after(state, inputs), self._look.after({**state, **other}, inputs)
        moved = [v for v in self._counters if one[v.name] != two[v.name] and one[v.name] != state[v.name]]
        return min(reversed(moved), key=self._span)

    def _span(self, var: StateVariable) -> int:
        """How far from 0, up or down, a step tells values apart."""
        size = 1 << var.type.bits
        return max((min(start, size - start) for start in self.starts[var.name] if start != size // 2), default=0)

    def _cut(self, state: Valuation, inputs: Valuation, other: Valuation) -> StateVariable | None:
        """Cut a cell between the values of a counter that a step tells apart; or the counter to give up."""
        here = dict(state)
        for var in self._counters:
            there = {**here, var.name: other[var.name]}
            if other[var.name] != here[var.name] and self._look.differ(here, there, inputs, var.name, self.starts):
                self.starts[var.name].add(self._boundary(var, here, inputs, other[var.name]))
                each = self._each_differs(var, here, inputs, other[var.name])
                return var if each or len(self.starts[var.name]) > MOST_CELLS else None
            here = there
        return self._counters[-1]  # two counters move in one step

    def _each_differs(self, var: StateVariable, here: Valuation, inputs: Valuation, other: int) -> bool:
        """Whether each of some values in a row is told apart from the one before it: the value itself is kept."""
        one = here[var.name]
        way = 1 if other > one else -1
        if abs(other - one) < IN_A_ROW:
            return False
        row = [{**here, var.name: one + way * n} for n in range(IN_A_ROW)]
        return all(
            self._look.told(first, inputs, var, shifts) != self._look.told(second, inputs, var, shifts)
            for shifts in (True, False)
            for first, second in pairwise(row)
        )

    def _boundary(self, var: StateVariable, here: Valuation, inputs: Valuation, other: int) -> int:
        """The first value, on the way from that of ``here`` to ``other``, that is told apart from it, or the one before
        it."""
        one = here[var.name]
        found = []
        for shifts in (True, False):
            first = self._look.told({**here}, inputs, var, shifts)
            near, far = one, other
            while abs(far - near) > 1:
                middle = (near + far) // 2
                if self._look.told({**here, var.name: middle}, inputs, var, shifts) == first:
                    near = middle
                else:
                    far = middle
            found.append((near, far))
        near, far = max(found, key=lambda pair: abs(pair[0] - one))
        return max(near, far)


class _Look:
    """What is seen of single steps, computed."""

    def __init__(self, system: TransitionSystem, seen: Seen) -> None:
        self._system = system
        self._names = [var.name for var in system.state]
        self._bits = {var.name: var.type.bits for var in system.state}
        allowed = conjunction([system.input_constraint, system.defined])
        self._states = compile_formulas([*seen.states])
        self._step = compile_formulas([allowed, *(var.next for var in system.state)])
        self._steps = compile_formulas([*seen.steps])

    def differ(
        self, one: Valuation, two: Valuation, inputs: Valuation, name: str, starts: Mapping[str, set[int]]
    ) -> bool:
        """Whether the lemma does not hold of two states that differ in the counter ``name`` only."""
        if self._states(one) != self._states(two):
            return True
        (fine, *first), (other, *second) = self._step({**one, **inputs}), self._step({**two, **inputs})
        if not fine or not other:
            return bool(fine) != bool(other)
        place = self._names.index(name)
        if any(a != b for n, (a, b) in enumerate(zip(first, second, strict=True)) if n != place):
            return True
        moved = (first[place] - second[place] - one[name] + two[name]) % (1 << self._bits[name])
        if first[place] != second[place] and moved:
            return True
        cells = [[sum(start <= values[place] for start in starts[name])] for values in (first, second)]
        return cells[0] == cells[1] and self._looks(one, inputs, first) != self._looks(two, inputs, second)

    def after(self, state: Valuation, inputs: Valuation) -> Valuation:
        """The state after a step."""
        return dict(zip(self._names, self._step({**state, **inputs})[1:], strict=True))

    def told(self, state: Valuation, inputs: Valuation, var: StateVariable, shifts: bool) -> tuple[object, ...]:
        """What is seen of the step; ``shifts``: of the counter how far it moves, else where it gets."""
        fine, *after_it = self._step({**state, **inputs})
        if not fine:
            return (self._states(state),)
        looks = self._looks(state, inputs, after_it)
        place = self._names.index(var.name)
        if shifts:
            after_it[place] = (after_it[place] - state[var.name]) % (1 << var.type.bits)
        return (self._states(state), looks, tuple(after_it))

    def _looks(self, state: Valuation, inputs: Valuation, after_it: Sequence[int]) -> tuple[int, ...]:
        later = {NEXT + name: value for name, value in zip(self._names, after_it, strict=True)}
        return self._steps({**state, **inputs, **later})
