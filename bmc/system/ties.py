"""Inputs that the input constraint ties to the state: where some condition on the state fails, they equal what it says.

A part of the constraint ties an input if it is *the state is such, or the input has this value of the state*. So it is
with held inputs, and with a dwell time: whoever looks for inputs need not try others there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from functools import reduce

from pysmt.fnode import FNode
from pysmt.shortcuts import FALSE

from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.terms import either
from bmc.records import dataclass
from bmc.system.transition import TransitionSystem, Valuation, conjuncts, disjuncts, symbols_of


@dataclass(frozen=True)
class Tie:
    """The input ``name`` has the ``value`` wherever ``free`` does not hold; both are over the state."""

    free: FNode
    name: str
    value: FNode


def ties(system: TransitionSystem) -> list[Tie]:
    """All ties of ``system`` that its input constraint states."""
    inputs = {var.symbol for var in system.inputs}
    found = (tie_of(part, inputs) for part in conjuncts(system.input_constraint))
    return [tie for tie in found if tie is not None]


def tie_of(part: FNode, inputs: Set[FNode]) -> Tie | None:
    """What a ``part`` of the input constraint says if it is a tie of one of ``inputs``; None if it is none."""
    ways = disjuncts(part)
    reading = [way for way in ways if inputs & {*symbols_of(way)}]
    if len(reading) != 1 or not (reading[0].is_equals() or reading[0].is_iff()):
        return None
    for side, other in (reading[0].args(), reading[0].args()[::-1]):
        read = symbols_of(other)
        if side in inputs and read and not inputs & {*read}:
            free = reduce(either, (way for way in ways if way is not reading[0]), FALSE())
            return Tie(free, side.symbol_name(), other)
    return None


def tied_values(found: Sequence[Tie]) -> Callable[[Valuation], Valuation]:
    """From a state to the inputs that it ties, with their raw values."""
    told = compile_formulas([term for tie in found for term in (tie.free, tie.value)])

    def values(state: Valuation) -> Valuation:
        terms = told(state)
        return {tie.name: own for tie, free, own in zip(found, terms[::2], terms[1::2], strict=True) if not free}

    return values


def at_known_steps(system: TransitionSystem, tie: Tie) -> bool:
    """Whether the steps at which ``tie`` ties its input are the same in every run, whatever inputs and start values."""
    nexts = {var.name: var.next for var in system.state if var.init is not None}
    seen, fresh = set[str](), _names(tie.free)
    while fresh <= nexts.keys():
        seen |= fresh
        fresh = {name for known in fresh for name in _names(nexts[known])} - seen
        if not fresh:
            return True
    return False


def _names(formula: FNode) -> set[str]:
    return {symbol.symbol_name() for symbol in symbols_of(formula)}
