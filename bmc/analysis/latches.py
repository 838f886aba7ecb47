"""State variables that never have their start value again once they have left it, found without a solver."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from bmc.analysis.constants import raw_value
from bmc.analysis.state_values import Sets, every_step, state_values, values_of
from bmc.formulas.evaluate import post_order
from bmc.formulas.value_sets import Ranges, common, without
from bmc.system.transition import StateVariable, TransitionSystem

MOST_NODES = 200_000
"""Nodes of formulas that are looked at, two times, before further variables are left out."""


def latches(system: TransitionSystem, names: Collection[str]) -> Mapping[str, bool]:
    """Those of the state variables ``names`` that, once they have another value, never have their start value again.

    A step from all other values in the proved ranges of the state leads to such values again, whatever the inputs are
    and whether or not it is defined. True: the first step of every run leaves the start value. Some may be missed.
    """
    free = every_step(system)
    sets = state_values(free)
    assert sets is not None
    starts = {v.name: raw_value(v.init) for v in system.state if v.init is not None}
    found = {}
    left = MOST_NODES
    for var in system.state:
        if var.name not in names or var.name not in starts:
            continue
        left -= len(post_order([var.next]))
        if left < 0:
            break
        start = ((starts[var.name],) * 2,)
        others = common(sets[var.name], without(starts[var.name], var.type.bits))
        if others and not any(common(_after(free, var, {**sets, var.name: (part,)}), start) for part in others):
            first = {**sets, **{name: ((raw, raw),) for name, raw in starts.items()}}
            found[var.name] = not common(_after(free, var, first), start)
    return found


def _after(system: TransitionSystem, var: StateVariable, sets: Sets) -> Ranges:
    """The values of ``var`` after a step from the states within ``sets``."""
    return values_of([var.next], system, sets)[0]
