"""What the list of all reachable states gives, where it is short: a proved invariant and a bound on every weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pysmt.fnode import FNode

from bmc.explore import invariant_of, reachable_states
from bmc.system import TransitionSystem
from bmc.unroll import at
from properties.goal import Goal


def strengthened(system: TransitionSystem, goals: Sequence[Goal], final: FNode | None, limit: int) -> TransitionSystem:
    """``system`` with its reachable states as a proved invariant, if ``limit`` simulated steps suffice to find them."""
    return explored(system, goals, final, limit)[0]


def explored(
    system: TransitionSystem, goals: Sequence[Goal], final: FNode | None, limit: int
) -> tuple[TransitionSystem, int | None]:
    """As ``strengthened``, and a bound in steps on every finite weight (None without exploration).

    Between the end of one goal and the start of the next a shortest run meets no state twice.
    """
    formulas = [goal.antecedent for goal in goals] + ([] if final is None else [at(final, 0)])
    states = reachable_states(system, formulas, limit) if limit else None
    if not states:
        return system, None
    found = invariant_of(system, states)
    farthest = len(states) + max((goal.length for goal in goals), default=0)
    return (system if found is None else replace(system, invariants=(*system.invariants, found))), farthest
