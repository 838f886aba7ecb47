"""State variables that never have their start value again once they have left it, found without a solver."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from bmc.analysis.constants import raw_value
from bmc.analysis.state_ranges import Ranges, agreed, state_ranges, term_bounds
from bmc.formulas.bounds import Bounds, anything, meet, point
from bmc.formulas.evaluate import post_order
from bmc.system.transition import StateVariable, TransitionSystem

MOST_NODES = 200_000
"""Nodes of formulas that are looked at, two times, before further variables are left out."""


def latches(system: TransitionSystem, names: Collection[str]) -> Mapping[str, bool]:
    """Those of the state variables ``names`` that, once they have another value, never have their start value again.

    A step from all other values in the proved ranges of the state leads to such values again, whatever the inputs are
    and whether or not it is defined. True: the first step of every run leaves the start value. Some may be missed.
    """
    ranges = state_ranges(system)
    assert ranges is not None
    starts = {v.name: point(raw_value(v.init), v.type.bits) for v in system.state if v.init is not None}
    found = {}
    left = MOST_NODES
    for var in system.state:
        if var.name not in names or var.name not in starts:
            continue
        left -= len(post_order([var.next]))
        if left < 0:
            break
        start = starts[var.name]
        others = list(_others(start, ranges[var.name], var.type.bits))
        if others and not any(_holds(_after(system, var, {**ranges, var.name: here}), start) for here in others):
            found[var.name] = not _holds(_after(system, var, {**ranges, **starts}), start)
    return found


def _others(start: Bounds, here: Bounds, bits: int) -> Iterator[Bounds]:
    """The values in ``here`` below and above ``start``, as unsigned numbers."""
    whole = anything(bits)
    for part in (whole._replace(high=start.low - 1), whole._replace(low=start.high + 1)):
        low, high = max(part.low, here.low), min(part.high, here.high)
        if low <= high:
            yield point(low, bits) if low == high else agreed(meet(here, part), bits)


def _after(system: TransitionSystem, var: StateVariable, ranges: Ranges) -> Bounds:
    """The bounds of ``var`` after a step from the states within ``ranges``."""
    return term_bounds([var.next], system, ranges)[0]


def _holds(here: Bounds, value: Bounds) -> bool:
    return here.low <= value.low <= here.high and here.least <= value.least <= here.greatest
