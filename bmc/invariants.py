"""Which invariants are inductive from init, and so may strengthen claims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pysmt.shortcuts import Not, Or

from bmc.engines.protocol import Engine, Session, Status
from bmc.evaluate import compile_formulas
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


def inductive(
    system: TransitionSystem,
    guesses: Sequence[Condition],
    engine: Engine,
    seconds: Callable[[], float | None] = lambda: None,
    effort: int | None = None,
) -> tuple[Condition, ...]:
    """The largest part of ``guesses`` that holds in every start state and again after every step, as proved.

    The proved invariants of ``system`` are taken as given. One query asks for all guesses; each answer drops what its
    run contradicts. None is kept where the solver gives up. ``seconds`` and ``effort`` are limits per query.
    """
    start = engine.session(system, at(system.init_formula, 0), [at(c.formula, 0) for c in guesses])
    left = _survivors(start, list(guesses), 0, seconds, effort)
    step = engine.session(system, at(conjunction(()), 0), [at(c.formula, 0) for c in guesses])
    left = _survivors(step, left, 1, seconds, effort)
    return tuple(replace(c, proved=True) for c in left)


def _survivors(
    session: Session, left: list[Condition], steps: int, seconds: Callable[[], float | None], effort: int | None
) -> list[Condition]:
    """Those that hold after ``steps`` steps from every state of the source in which all of them hold."""
    while left:
        broken = Or([at(Not(c.formula), steps) for c in left])
        given = [at(c.formula, 0) for c in left] if steps else []
        status = session.check([*given, broken], steps, seconds(), effort).status
        if status is not Status.SAT:
            return left if status is Status.UNSAT else []
        holds = compile_formulas([c.formula for c in left])(session.run().states[steps])
        left = [c for c, held in zip(left, holds, strict=True) if held]
    return left
