"""Which conditions on a step to be defined can fail at all, as far as they make state variables live."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE

from bmc.analysis.constants import constant_state, fixed_inputs, put_in
from bmc.analysis.idle import conjuncts
from bmc.analysis.live import live_state
from bmc.analysis.slice import slice_system
from bmc.analysis.state_values import every_step, state_values, values_of
from bmc.formulas.evaluate import post_order
from bmc.formulas.value_sets import ALWAYS
from bmc.system.transition import TransitionSystem, conjunction


def without_impossible(system: TransitionSystem, observed: Sequence[FNode]) -> TransitionSystem:
    """``system`` without those conditions on a step to be defined which hold in all reachable states.

    Looked at are only conditions on variables that ``observed`` (plain formulas) does not depend on, and values of the
    state that are found without a solver. Runs from init are the same; in other states more steps may be allowed.
    """
    parts = conjuncts(system.defined)
    free = replace(system, defined=TRUE(), asserts=(), suspects=(), invariants=())
    constants = constant_state(system)
    loose = {var.name for var in system.state} - live_state(free, observed) - constants.keys()
    asked = _naming(parts, loose)
    if not asked:
        return system
    formulas = put_in(asked, {**constants, **fixed_inputs(system)})
    cut = slice_system(free, formulas)
    sets = state_values(every_step(cut))
    assert sets is not None
    sure = {part for part, here in zip(asked, values_of(formulas, cut, sets), strict=True) if here == ALWAYS}
    return replace(system, defined=conjunction(part for part in parts if part not in sure))


def _naming(formulas: Sequence[FNode], names: Collection[str]) -> list[FNode]:
    """Those of ``formulas`` that name one of ``names``."""
    naming: set[FNode] = set()
    for node in post_order(formulas):
        if node.symbol_name() in names if node.is_symbol() else not naming.isdisjoint(node.args()):
            naming.add(node)
    return [formula for formula in formulas if formula in naming]
