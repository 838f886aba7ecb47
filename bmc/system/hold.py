"""Held inputs: a system whose inputs change only every n steps, so that a run is a sequence of held steps.

Steps stay those of the original system (base ticks). Internal state variables count the ticks of a held step and keep
its inputs, and the input constraint compares these with the inputs. All are back at their start values where a held
step ends, so that the states there are those of the original system. What is made is a system like any other.
"""

from __future__ import annotations

from dataclasses import replace

from pysmt.fnode import FNode
from pysmt.shortcuts import Ite

from bmc.formulas.terms import either
from bmc.system.constraints import HELD, TICKS
from bmc.system.memory import with_memory
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, conjunction, equal

PREFIX, PHASE = f"{HELD}:", f"{HELD}#phase"
"""Names of the internal variables: before an input's name; the number of ticks since the inputs could change."""

MOST_TICKS = TICKS.greatest


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
