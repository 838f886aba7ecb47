"""Inputs that the input constraint ties to the state: where some condition on the state fails, they equal what it says.

A part of the constraint ties an input if it is *the state is such, or the input has this value of the state*. So it is
with a dwell time: whoever looks for inputs need not try others there. And so it is with held inputs, which change only
every n steps, so that a run is a sequence of held steps. Steps stay those of the original system (base ticks). Internal
state variables count the ticks of a held step and keep its inputs. All are back at their start values where a held step
ends, so that the states there are those of the original system. What is made is a system like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from functools import reduce

from pysmt.fnode import FNode
from pysmt.shortcuts import FALSE, Ite

from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.terms import either
from bmc.records import dataclass
from bmc.system.constraints import HELD, TICKS
from bmc.system.memory import with_memory
from bmc.system.transition import (
    InputVariable,
    StateVariable,
    TransitionSystem,
    Valuation,
    conjunction,
    conjuncts,
    disjuncts,
    equal,
    symbols_of,
)

PREFIX, PHASE = f"{HELD}:", f"{HELD}#phase"
"""Names of the internal variables: before an input's name; the number of ticks since the inputs could change."""

MOST_TICKS = TICKS.greatest


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


def hold(system: TransitionSystem, ticks: int) -> TransitionSystem:
    """``system`` with its inputs held for ``ticks`` steps; the same system for 1. Variables keep their names.

    ValueError if ``ticks`` is not from 1 to ``MOST_TICKS``, or the inputs are held already.
    """
    if not 1 <= ticks <= MOST_TICKS or any(var.name == PHASE for var in system.state):
        raise ValueError(f"inputs cannot be held for {ticks} ticks, nor held twice")
    if ticks == 1:
        return system
    phase, nothing = TICKS.symbol(PHASE), TICKS.constant(0)
    first, inside = phase.Equals(nothing), phase.BVULT(TICKS.constant(ticks - 1))
    count = Ite(inside, phase + TICKS.constant(1), nothing)
    counter = StateVariable(PHASE, TICKS, nothing, count, "internal", 0, ticks - 1)
    inputs = [var for var in system.inputs if var.count > 1]
    kept = [_kept(var, first, inside) for var in inputs]
    same = (either(first, equal(var.symbol, own.symbol)) for var, own in zip(inputs, kept, strict=True))
    constraint = conjunction([system.input_constraint, *same])
    return replace(with_memory(system, [counter, *kept]), input_constraint=constraint)


def _kept(var: InputVariable, first: FNode, inside: FNode) -> StateVariable:
    """The variable that keeps the value of an input within a held step."""
    name = f"{PREFIX}{var.name}"
    own, rest = var.type.symbol(name), var.type.constant(var.plainest)
    return StateVariable(name, var.type, rest, Ite(first, var.symbol, Ite(inside, own, rest)), "internal")


def boundary(system: TransitionSystem, final: FNode | None) -> FNode | None:
    """``final`` (None: anywhere) where a run of ``system`` may end: if its inputs are held, where a held step ends."""
    if not any(var.name == PHASE for var in system.state):
        return final
    here = TICKS.symbol(PHASE).Equals(TICKS.constant(0))
    return here if final is None else conjunction([final, here])
