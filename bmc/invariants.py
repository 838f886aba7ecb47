"""Which invariants are inductive from init, and so may strengthen claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pysmt.shortcuts import Not

from bmc.engines.protocol import Engine, Status
from bmc.system import Condition, TransitionSystem, conjunction
from bmc.unroll import at


def prove(
    system: TransitionSystem, invariants: Sequence[Condition], engine: Engine, time_limit: float | None = None
) -> tuple[Condition, ...]:
    """``invariants`` in the same order, ``proved`` where the proof succeeded or had been made before.

    The largest set is kept whose members hold in every start state and, taken together with those already proved,
    again after every allowed step. ``time_limit`` in seconds per query; an unknown answer proves nothing.
    """
    bare = replace(system, invariants=())
    given = conjunction(c.formula for c in (*system.invariants, *invariants) if c.proved)
    start = engine.session(bare, at(system.init_formula, 0), [at(c.formula, 0) for c in invariants])
    open_ones = [
        c
        for c in invariants
        if not c.proved and start.check([at(Not(c.formula), 0)], 0, time_limit).status is Status.UNSAT
    ]
    while open_ones:
        together = conjunction([given, *(c.formula for c in open_ones)])
        session = engine.session(bare, at(together, 0))
        kept = [c for c in open_ones if session.check([at(Not(c.formula), 1)], 1, time_limit).status is Status.UNSAT]
        if kept == open_ones:
            break
        open_ones = kept
    return tuple(replace(c, proved=True) if c in open_ones else c for c in invariants)
