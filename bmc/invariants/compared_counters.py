"""Groups of counters that are compared with each other, or take values of each other, each with a counter as reference.

A counter only ever gets the value of such a variable and something added. The reference of a group is one that only
goes on from itself, such as a clock from which times are taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pysmt.operators as op
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, BVSLE, BVUGT, BVULE, And, Ite, Or

from bmc.formulas.evaluate import post_order
from bmc.formulas.sums import Sum, leaves, sums_of
from bmc.formulas.terms import COMPARISONS
from bmc.invariants.alike import seen_at
from bmc.records import dataclass
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, conjunction

NARROW = 8
"""Bits of a counter from which on it may be one of a group: with fewer its values are enumerated soon."""

MOST_TERMS = 16
"""Ways in which a counter may go on, as conditions choose: with more it is none, and the states stay as they are."""


@dataclass(frozen=True, slots=True)
class Rise:
    """As long as a counter is at most ``most``, it rises by at most ``by`` in a step, without a wrap."""

    most: int
    by: int

    def steps(self, begin: int) -> int:
        """After so many steps from ``begin`` it is still at most ``most``."""
        return (self.most - begin) // self.by


def at_most(var: StateVariable, value: int) -> FNode:
    """That ``var`` is at most ``value``, a number of its type."""
    return below(var, var.symbol, var.type.constant(value))


@dataclass(frozen=True, slots=True)
class _Sum:
    """What a counter is after a step: ``base`` (None: none), and something from ``low`` to ``high``."""

    base: FNode | None
    low: int
    high: int


def groups(system: TransitionSystem, seen: Sequence[FNode]) -> list[set[str]]:
    """Variables that only ever get the value of one of them and something added, and are compared or take values of
    each other."""
    counters = _counters(system)
    if len(counters) < 2:
        return []
    joined: dict[str, set[str]] = {var.name: {var.name} for var in counters.values()}
    formulas = [*(var.next for var in system.state), system.input_constraint, system.defined, *both_steps(seen)]
    for names in (*_taken_over(counters), *_read_together(formulas, counters)):
        together = set().union(*(joined[name] for name in names))
        for name in together:
            joined[name] = together
    found: list[set[str]] = []
    for group in joined.values():
        if group not in found:
            found.append(group)
    kinds = {var.name: (var.type.bits, var.type.signed) for var in counters.values()}
    return [group for group in found if len(group) > 1 and len({kinds[name] for name in group}) == 1]


def _taken_over(counters: Mapping[FNode, StateVariable]) -> Iterator[list[str]]:
    """Each counter with those whose values it takes."""
    for var in counters.values():
        yield [var.name, *(end.base.symbol_name() for end in _ends(var) or () if end.base is not None)]


def _read_together(formulas: Sequence[FNode], counters: Mapping[FNode, StateVariable]) -> Iterator[frozenset[str]]:
    """The counters of each comparison or operation that reads several; what a condition chooses is no operation."""
    read: dict[FNode, frozenset[str]] = {}
    for term in post_order(formulas):
        if term in counters:
            read[term] = frozenset([term.symbol_name()])
            continue
        args = term.args()[1:] if term.is_ite() else term.args()
        names = frozenset().union(*(read.get(arg, frozenset()) for arg in args))
        if len(names) > 1 and not term.is_ite() and (term.is_bv_op() or term.node_type() in COMPARISONS):
            yield names
        if names and not term.get_type().is_bool_type():
            read[term] = names


def both_steps(seen: Sequence[FNode]) -> list[FNode]:
    """The parts of ``seen`` that read the first step, and those of later ones, as plain formulas."""
    first, later = seen_at(seen)
    return [*first, *later]


def _counters(system: TransitionSystem) -> dict[FNode, StateVariable]:
    """The variables that only ever get the value of such a variable and something added, by their symbols."""
    found: dict[FNode, StateVariable] = {}
    ends: dict[FNode, Sequence[_Sum]] = {}
    for var in system.state:
        fine = not var.type.floating and var.type.bits >= NARROW and var.init is not None
        told = _ends(var) if fine else None
        if told is not None:
            found[var.symbol], ends[var.symbol] = var, told
    while True:
        fitting = {symbol: var for symbol, var in found.items() if all(end.base in found for end in ends[symbol])}
        if len(fitting) == len(found):
            break
        found = fitting
    return {
        symbol: var
        for symbol, var in found.items()
        if {end.base for end in ends[symbol]} != {symbol} or any(end.high or end.low for end in ends[symbol])
    }


def _ends(var: StateVariable) -> list[_Sum] | None:
    """What ``var`` may be after a step, as conditions choose; None where that may be no sum with a symbol."""
    tree = sums_of(var.next, var.type.bits)
    found = [] if tree is None else [_sum(each, var) for each in leaves(tree)]
    return None if not found or len(found) > MOST_TERMS or None in found else [each for each in found if each]


def _sum(found: Sum, var: StateVariable) -> _Sum | None:
    """A symbol of the type of ``var``, and what is added to it; None if it is no such sum."""
    size = 1 << var.type.bits
    bases = [term for term, times in found.summands.items() if term.is_symbol() and times == 1]
    added = [term for term in found.summands if term not in bases[:1]]
    if not bases or any(found.summands[term] != 1 for term in added):
        return None
    constant = found.constant - (size if found.constant >= size // 2 else 0)
    return _Sum(bases[0], constant, constant + sum(_greatest(term) for term in added))


def _greatest(term: FNode) -> int:
    """The greatest value of a term by the bits that it has."""
    while term.is_bv_zext():
        term = term.arg(0)
    return (1 << int(term.get_type().width)) - 1


@dataclass(frozen=True)
class Group:
    """The ``reference``, which rises by at most ``by`` in a step, and the ``others``. ``slack`` is twice as much as a
    step adds to a counter before it compares: one that is half of it above the reference does not wrap at once."""

    reference: StateVariable
    others: tuple[StateVariable, ...]
    by: int
    slack: int

    @property
    def base(self) -> int:
        """The value of the reference in images, a number of its type: so near to the greatest that nothing wraps."""
        return self.reference.type.greatest - self.slack

    @property
    def low(self) -> int:
        """The least start value."""
        return min(start_of(var) for var in (self.reference, *self.others))

    def terms(self, base: int, caps: Mapping[str, int]) -> dict[str, FNode]:
        """The terms of images: the reference is ``base``, the others as far from it as they were, or ``caps``."""
        kind, now = self.reference.type, self.reference.symbol
        found = {self.reference.name: kind.constant(base)}
        for var in self.others:
            moved = var.symbol.BVSub(now)
            moved = moved.BVAdd(kind.constant(base)) if base else moved
            if var.name in caps:
                long_ago = And(below(var, var.symbol, now), BVUGT(now.BVSub(var.symbol), BV(caps[var.name], kind.bits)))
                moved = Ite(long_ago, kind.constant(base - caps[var.name]), moved)
            found[var.name] = moved
        return found

    @property
    def ordered(self) -> FNode:
        """No counter has wrapped: none lies below all start values, and none far above the reference."""
        kind, now = self.reference.type, self.reference.symbol
        ahead, low = BV(self.slack // 2, kind.bits), kind.constant(self.low)
        parts = [below(self.reference, low, now)] if self.low > kind.least else []
        for var in self.others:
            parts += [below(var, low, var.symbol)] if self.low > kind.least else []
            parts.append(Or(below(var, var.symbol, now), BVULE(var.symbol.BVSub(now), ahead)))
        return conjunction(parts)

    @property
    def growth(self) -> Rise:
        """How the reference rises until it is near the greatest value."""
        return Rise(self.base, self.by)


def start_of(var: StateVariable) -> int:
    assert var.init is not None
    return var.type.value(var.init.constant_value())


def below(var: StateVariable, one: FNode, two: FNode) -> FNode:
    """One is at most two, in the order of the type of ``var``."""
    return BVSLE(one, two) if var.type.signed else BVULE(one, two)


def with_references(system: TransitionSystem, members: Sequence[StateVariable], seen: Sequence[FNode]) -> list[Group]:
    """The groups of ``members``, each with another reference that only goes on from itself, clocks first."""
    inputs = {var.symbol: var for var in system.inputs}
    found = []
    for var in members:
        ends = _ends(var) or []
        if any(end.base is not var.symbol or end.low < 0 for end in ends):
            continue
        by = max((end.high for end in ends), default=0)
        others = tuple(other for other in members if other is not var)
        slack = 2 * (_constants(system, seen, members, inputs) + by)
        if by:
            found.append((any(end.low == 0 for end in ends), Group(var, others, by, slack)))
    return [group for _, group in sorted(found, key=lambda pair: pair[0])][:2]


def _constants(
    system: TransitionSystem,
    seen: Sequence[FNode],
    members: Sequence[StateVariable],
    inputs: Mapping[FNode, InputVariable],
) -> int:
    """The sum of all that is added to ``members`` and compared with them, without signs."""
    symbols, reads = {var.symbol for var in members}, set[FNode]()
    values = set[int]()
    formulas = [*(var.next for var in system.state), system.input_constraint, system.defined, *both_steps(seen)]
    for term in post_order(formulas):
        if term in symbols:
            reads.add(term)
            continue
        args = term.args()[1:] if term.is_ite() else term.args()
        if not any(arg in reads for arg in args):
            continue
        if not term.get_type().is_bool_type():
            reads.add(term)
        for arg in args:
            if arg.is_bv_constant():
                value = arg.constant_value()
                values.add(min(value, (1 << arg.get_type().width) - value))
            elif arg not in reads and arg.get_type().is_bv_type() and term.node_type() in (op.BV_ADD, op.BV_SUB):
                values.add(_greatest(arg))
    return sum(values)
