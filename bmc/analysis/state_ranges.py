"""Ranges that the state variables of a system never leave, found without a solver."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import count

import pysmt.operators as op
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, Not

from bmc.analysis.constants import raw_value
from bmc.formulas.bounds import EITHER, FALSE, TRUE, Bounds, anything, bounds, hull, meet, point, signed, width_of
from bmc.formulas.evaluate import post_order
from bmc.system.transition import Condition, InputVariable, StateVariable, TransitionSystem, conjunction

ROUNDS = 12
"""Times that all next-state functions are evaluated before variables that still grow get their type's range."""
EXACT_ROUNDS = 3
"""After so many rounds, a range that grows does so up to the next constant in the program."""
REFINED = 4
"""Nodes below a choice, in depth, that are looked at again under its condition."""
MOST_ATOMS = 16
"""Parts of a condition that are looked at; the others are dropped, which is safe."""

Ranges = Mapping[str, Bounds]


def state_ranges(
    system: TransitionSystem, stop: Callable[[], bool] = lambda: False, free: Collection[str] = ()
) -> Ranges | None:
    """Bounds of the state variables, by name, that hold in every start state and again after every step.

    Every next-state function is taken for all states in the bounds and all values of inputs in their ranges, whether
    the step is defined or not. The variables ``free`` may have any value. None if ``stop``, asked after each round,
    says that it is time to end.
    """
    order = post_order([var.next for var in system.state])
    steps = sorted({e for node in order if node.node_type() == op.BV_CONSTANT for e in _near(raw_value(node))})
    now = {var.name: anything(var.type.bits) if var.name in free else _start(var) for var in system.state}
    fixed = {var.name: _allowed(var) for var in system.inputs}
    for number in count():
        found = _evaluated(order, {**now, **fixed})
        grown = {v.name: hull(now[v.name], found[v.next]) for v in system.state}
        if grown == now:
            return now
        if stop():
            return None
        for var in system.state:
            if grown[var.name] != now[var.name]:
                now[var.name] = _widened(grown[var.name], now[var.name], var.type.bits, steps, number)
    raise AssertionError("without an end")


def invariant(system: TransitionSystem, ranges: Ranges) -> Condition | None:
    """The proved invariant: every state variable lies in its range; None if that says nothing."""
    formula = conjunction(part for var in system.state for part in _inside(var, ranges[var.name]))
    return None if formula.is_true() else Condition("ranges of the state", formula, proved=True)


def patterns_in(here: Bounds, bits: int) -> list[tuple[int, int]]:
    """The raw patterns within ``here``, as rising ranges."""
    size = 1 << max(bits, 1)
    negative, positive = (here.least + size, min(here.greatest, -1) + size), (max(here.least, 0), here.greatest)
    parts = [positive] * (here.greatest >= 0) + [negative] * (here.least < 0)
    return [(max(a, here.low), min(b, here.high)) for a, b in parts if max(a, here.low) <= min(b, here.high)]


def term_bounds(formulas: Sequence[FNode], system: TransitionSystem, ranges: Ranges) -> list[Bounds]:
    """The bounds of ``formulas`` (plain) in all states within ``ranges``."""
    fixed = {var.name: _allowed(var) for var in system.inputs}
    found = _evaluated(post_order(formulas), {**ranges, **fixed})
    return [found[formula] for formula in formulas]


def _near(raw: int) -> tuple[int, int, int]:
    return max(raw - 1, 0), raw, raw + 1


def _start(var: StateVariable) -> Bounds:
    return anything(var.type.bits) if var.init is None else point(raw_value(var.init), var.type.bits)


def _allowed(var: InputVariable) -> Bounds:
    bits = var.type.bits
    parts = [] if var.type.floating else [signed(low, high, bits) for low, high in var.values if bits]
    if not parts:
        return anything(bits)
    found = parts[0]
    for part in parts[1:]:
        found = hull(found, part)
    return found


def _widened(grown: Bounds, before: Bounds, bits: int, steps: Sequence[int], number: int) -> Bounds:
    """``grown``, enlarged so that it grows a few times only."""
    if not bits or number < EXACT_ROUNDS:
        return grown
    if number >= ROUNDS - 1:
        return anything(bits)
    half, whole = 1 << bits >> 1, anything(bits)
    ends = [e for e in steps if e < 2 * half]
    numbers = [e - 2 * half if e >= half else e for e in ends]
    low = grown.low if grown.low == before.low else max((e for e in ends if e <= grown.low), default=whole.low)
    high = grown.high if grown.high == before.high else min((e for e in ends if e >= grown.high), default=whole.high)
    least, greatest = grown.least, grown.greatest
    if least != before.least:
        least = max((e for e in numbers if e <= least), default=whole.least)
    if greatest != before.greatest:
        greatest = min((e for e in numbers if e >= greatest), default=whole.greatest)
    return Bounds(low, high, least, greatest)


def _evaluated(order: Sequence[FNode], ranges: Ranges) -> dict[FNode, Bounds]:
    """The bounds of every node; in the branches of a choice its condition counts."""
    found: dict[FNode, Bounds] = {}
    for node in order:
        if node.is_symbol():
            found[node] = ranges[node.symbol_name()]
            continue
        arguments = [found[argument] for argument in node.args()]
        if node.node_type() == op.ITE and arguments[0] == EITHER:
            for index, truth in ((1, True), (2, False)):
                given: dict[FNode, Bounds] = {}
                _assume(node.arg(0), truth, found, given)
                if given:
                    arguments[index] = _again(node.arg(index), found, given, REFINED)
        found[node] = bounds(node, arguments)
    return found


def _again(node: FNode, found: Mapping[FNode, Bounds], given: Mapping[FNode, Bounds], depth: int) -> Bounds:
    """The bounds of ``node`` where the terms in ``given`` have the bounds there."""
    if node in given:
        return given[node]
    if not depth or not node.args() or len(node.args()) > REFINED:
        return found[node]
    arguments = [_again(argument, found, given, depth - 1) for argument in node.args()]
    return meet(found[node], bounds(node, arguments))


def _assume(cond: FNode, truth: bool, found: Mapping[FNode, Bounds], given: dict[FNode, Bounds]) -> None:
    """Put into ``given`` what ``cond`` having the value ``truth`` says of terms."""
    todo = [(cond, truth)]
    for _ in range(MOST_ATOMS):
        if not todo:
            return
        atom, value = todo.pop()
        kind = atom.node_type()
        if kind == op.NOT:
            todo.append((atom.arg(0), not value))
        elif kind == (op.AND if value else op.OR):
            todo.extend((part, value) for part in atom.args())
        else:
            _assume_atom(atom, value, found, given)


def _assume_atom(atom: FNode, value: bool, found: Mapping[FNode, Bounds], given: dict[FNode, Bounds]) -> None:
    kind = atom.node_type()
    if atom.get_type().is_bool_type() and kind not in _COMPARISONS:
        _restrict(atom, TRUE if value else FALSE, found, given)
        return
    left, right = atom.args()
    if width_of(left) == 0 or (kind == op.EQUALS and not value):
        return
    a, b, whole = given.get(left, found[left]), given.get(right, found[right]), anything(width_of(left))
    if kind == op.EQUALS:
        _restrict(left, b, found, given)
        _restrict(right, a, found, given)
        return
    strict = kind in (op.BV_ULT, op.BV_SLT)
    if not value:
        left, right, a, b, strict = right, left, b, a, not strict
    if kind in (op.BV_ULT, op.BV_ULE):
        below, above = whole._replace(high=b.high - strict), whole._replace(low=a.low + strict)
    else:
        below, above = whole._replace(greatest=b.greatest - strict), whole._replace(least=a.least + strict)
    _restrict(left, below, found, given)
    _restrict(right, above, found, given)


_COMPARISONS = (op.EQUALS, op.BV_ULT, op.BV_ULE, op.BV_SLT, op.BV_SLE)


def _restrict(term: FNode, to: Bounds, found: Mapping[FNode, Bounds], given: dict[FNode, Bounds]) -> None:
    """``term``, and what it extends, lie in ``to`` as well."""
    kept = agreed(meet(given.get(term, found[term]), to), width_of(term))
    given[term] = kept
    kind = term.node_type()
    if kind in (op.BV_ZEXT, op.BV_SEXT):
        inner = term.arg(0)
        bits = width_of(inner)
        if kind == op.BV_ZEXT:
            told = anything(bits)._replace(low=kept.low, high=kept.high)
        else:
            told = anything(bits)._replace(least=kept.least, greatest=kept.greatest)
        _restrict(inner, told, found, given)


def agreed(here: Bounds, bits: int) -> Bounds:
    """``here`` with what its unsigned bounds say of the signed ones, and these of those."""
    if not bits:
        return here
    half = 1 << bits >> 1
    if here.high < half or here.low >= half:
        turn = 0 if here.high < half else 2 * half
        return meet(here, Bounds(here.low, here.high, here.low - turn, here.high - turn))
    if here.least >= 0 or here.greatest < 0:
        turn = 0 if here.least >= 0 else 2 * half
        return meet(here, Bounds(here.least + turn, here.greatest + turn, here.least, here.greatest))
    return here


def _inside(var: StateVariable, here: Bounds) -> list[FNode]:
    """Formulas that together say that ``var`` lies in ``here``; none where all values do."""
    bits, whole, term = var.type.bits, anything(var.type.bits), var.symbol
    if not bits:
        return [] if here == EITHER else [term if here == TRUE else Not(term)]
    made = []
    if (here.low, here.high) != whole[:2]:
        made += [BV(here.low, bits).BVULE(term), term.BVULE(BV(here.high, bits))]
    if (here.least, here.greatest) != whole[2:]:
        made += [BV(here.least % (1 << bits), bits).BVSLE(term), term.BVSLE(BV(here.greatest % (1 << bits), bits))]
    return made
