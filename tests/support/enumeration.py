"""All reachable states at once, for tests that do not care about portions of work."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pysmt.fnode import FNode

from bmc.explicit.enumeration import MEMORY, Enumeration
from bmc.explicit.rows import Rows
from bmc.explicit.state_graph import StateGraph, invariant_of
from bmc.explicit.steps import Solving
from bmc.system.transition import Condition, TransitionSystem

AT_ONCE = 1 << 26
"""Operations between two calls of ``check``."""


def enumerated(
    system: TransitionSystem,
    formulas: Iterable[FNode],
    work: int,
    check: Callable[[], None] = lambda: None,
    memory: int = MEMORY,
    solving: Solving | None = None,
) -> StateGraph | None:
    """All states and steps at once (see ``Enumeration``); None where ``work`` does not suffice.

    ``check`` is called now and then; what it raises ends the enumeration.
    """
    found = Enumeration(system, list(formulas), memory, solving)
    while not found.done and found.work < work:
        check()
        found.advance(min(AT_ONCE, work - found.work))
    return found.graph


def reachable_states(system: TransitionSystem, formulas: Iterable[FNode], work: int) -> Rows | None:
    """The reachable states, on what ``formulas`` (framed) depend on; None where ``work`` does not suffice."""
    found = enumerated(system, formulas, work)
    return None if found is None else found.states


def reachability_invariant(system: TransitionSystem, formulas: Iterable[FNode], work: int) -> Condition | None:
    """The proved invariant "one of the reachable states"; None if they are too many to explore, or say nothing."""
    states = reachable_states(system, formulas, work)
    return invariant_of(system, states) if states else None
