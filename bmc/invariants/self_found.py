"""Invariants that nobody stated: found and proved where the reachable states are too many to list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from pysmt.fnode import FNode

from bmc.analysis.state_sets import value_facts
from bmc.engines.protocol import Engine
from bmc.errors import LimitReached
from bmc.invariants.candidates import suggested
from bmc.system.transition import Condition, TransitionSystem

EFFORT = 1
"""The solver's work for one query about suggested invariants; see the engines' protocol."""


def self_found(
    system: TransitionSystem,
    formulas: Sequence[FNode],
    engine: Engine,
    seconds: Callable[[], float | None] = lambda: None,
    effort: int = EFFORT,
) -> tuple[Condition, ...]:
    """Values that the state variables of ``system`` never leave, then what random runs suggest and induction proves.

    All are proved, taking the proved invariants of ``system`` as given. ``formulas`` (framed) tell which values matter;
    ``seconds``, ``effort``: limits per query. Once ``seconds`` raises LimitReached, what was proved is the result.
    """
    known: tuple[Condition, ...] = ()
    found: tuple[Condition, ...] = ()

    def over() -> bool:
        seconds()
        return False

    with suppress(LimitReached):
        known = value_facts(system, over)
        given = replace(system, invariants=(*system.invariants, *known))
        found = suggested(given, formulas, engine, seconds, effort)
    told = {fact.name for fact in known}
    return (*known, *(fact for fact in found if fact.name not in told))
