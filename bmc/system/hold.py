"""Held inputs: a system whose inputs change only every n steps, so that a run is a sequence of held steps.

Steps stay those of the original system (base ticks). Internal state variables count the ticks of a held step and keep
its inputs; both are back at 0 where a held step ends, so that the states there are those of the original system.
"""

from __future__ import annotations

from dataclasses import replace

from pysmt.fnode import FNode
from pysmt.shortcuts import Ite, Not

from bmc.formulas.terms import implies
from bmc.system.transition import (
    InputVariable,
    StateVariable,
    TransitionSystem,
    Valuation,
    ValueType,
    conjunction,
    equal,
    symbols_of,
)

PREFIX, PHASE = "hold:", "hold#phase"
"""Names of the internal variables: before an input's name; the number of ticks since the inputs could change."""

TICKS = ValueType("ticks", 16)
MOST_TICKS = TICKS.greatest


def hold(system: TransitionSystem, ticks: int) -> TransitionSystem:
    """``system`` with its inputs held for ``ticks`` steps; the same system for 1. Variables keep their names.

    ValueError if ``ticks`` is not from 1 to ``MOST_TICKS``, or the inputs are held already.
    """
    if not 1 <= ticks <= MOST_TICKS or system.hold != 1:
        raise ValueError(f"inputs cannot be held for {ticks} ticks, nor held twice")
    if ticks == 1:
        return system
    phase, nothing = TICKS.symbol(PHASE), TICKS.constant(0)
    first, inside = phase.Equals(nothing), phase.BVULT(TICKS.constant(ticks - 1))
    count = Ite(inside, phase + TICKS.constant(1), nothing)
    counter = StateVariable(PHASE, TICKS, nothing, count, "internal", 0, ticks - 1)
    inputs = [var for var in system.inputs if var.held]
    kept = tuple(_kept(var, first, inside) for var in inputs)
    same = conjunction(equal(var.symbol, own.symbol) for var, own in zip(inputs, kept, strict=True))
    constraint = conjunction([system.input_constraint, implies(Not(first), same)])
    return replace(system, state=(*system.state, counter, *kept), input_constraint=constraint, hold=ticks)


def _kept(var: InputVariable, first: FNode, inside: FNode) -> StateVariable:
    """The variable that keeps the value of an input within a held step."""
    name, nothing = f"{PREFIX}{var.name}", var.type.constant(0)
    own = var.type.symbol(name)
    return StateVariable(name, var.type, nothing, Ite(first, var.symbol, Ite(inside, own, nothing)), "internal")


def released(system: TransitionSystem) -> TransitionSystem:
    """The system that ``hold`` was applied to; invariants on held steps are left out."""
    if system.hold == 1:
        return system
    own = {PHASE, *(f"{PREFIX}{var.name}" for var in system.inputs)}
    return replace(
        system,
        state=tuple(var for var in system.state if var.name not in own),
        input_constraint=_at_boundary(system.input_constraint),
        invariants=tuple(c for c in system.invariants if not own & {s.symbol_name() for s in symbols_of(c.formula)}),
        hold=1,
    )


def boundary(system: TransitionSystem, final: FNode | None) -> FNode | None:
    """``final`` (None: anywhere) where a run may end: at the end of a held step only."""
    if system.hold == 1:
        return final
    here = TICKS.symbol(PHASE).Equals(TICKS.constant(0))
    return here if final is None else conjunction([final, here])


def own_part(system: TransitionSystem, final: FNode | None) -> FNode | None:
    """The condition of which ``boundary`` made ``final``; None if there was none."""
    if system.hold == 1 or final is None:
        return final
    own = _at_boundary(final)
    return None if own.is_true() else own


def _at_boundary(formula: FNode) -> FNode:
    """``formula`` as it reads where a held step ends."""
    return formula.substitute({TICKS.symbol(PHASE): TICKS.constant(0)}).simplify()


def held_values(system: TransitionSystem, state: Valuation) -> Valuation | None:
    """The inputs that the next step has to have, in the system's order; None where they are free to change.

    Internal variables that ``state`` does not have never change: they are 0.
    """
    if system.hold == 1 or not state.get(PHASE, 0):
        return None
    return {var.name: state.get(f"{PREFIX}{var.name}", 0) for var in system.inputs if var.held}
