"""Why no chain gets back to a state like init: fields that never have their value after init again.

They are found without a solver.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from pysmt.fnode import FNode

from bmc.analysis.constants import raw_value
from bmc.analysis.slice import conjuncts
from bmc.analysis.state_values import Sets, every_step, state_values, values_of
from bmc.formulas.evaluate import post_order
from bmc.formulas.value_sets import Ranges, common, without
from bmc.system.hold import released
from bmc.system.transition import StateVariable, TransitionSystem, equal
from chaincover.chain import NO_WAY_TO_FINAL, NOT_WITHIN_BOUND, UNDECIDED, Verdict
from chaincover.verdicts import listed

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


CONCERNED = (NO_WAY_TO_FINAL, NOT_WITHIN_BOUND, UNDECIDED)
"""Verdicts that a value which never comes back can explain; all but the first only if the first step loses it."""
ADVICE = "ask for another end (--final), or, where the end is a state like init, list them in interface.ignore"


def latched_values(part: TransitionSystem, final: FNode | None) -> Mapping[str, bool]:
    """The variables whose value after init ``final`` asks for, and that never have it again once they have another.

    True: they have another from the first step on. ``part`` is a slice for ``final`` (over plain symbols, None: a run
    may end anywhere).
    """
    asked = {*conjuncts(final)} if final is not None else set()
    names = {var.name for var in part.state if var.init is not None and equal(var.symbol, var.init) in asked}
    return latches(released(part), names) if names else {}


def explained(verdicts: Sequence[Verdict], latched: Callable[[], Mapping[str, bool]]) -> tuple[Verdict, ...]:
    """``verdicts`` with the fields named that keep runs from the final condition; ``latched`` tells which."""
    if not any(verdict.status in CONCERNED for verdict in verdicts):
        return tuple(verdicts)
    names = latched()
    ever, at_once = _why([*names]), _why([name for name in names if names[name]])
    return tuple(
        replace(v, detail=v.detail + (ever if v.status == NO_WAY_TO_FINAL else at_once)) if v.status in CONCERNED else v
        for v in verdicts
    )


def _why(names: Sequence[str]) -> str:
    if not names:
        return ""
    verb, values = ("have", "values") if len(names) > 1 else ("has", "value")
    return f"; once changed, {listed(names)} never {verb} the {values} after init again: {ADVICE}"
