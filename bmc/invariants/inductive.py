"""Which invariants are inductive from init, and so may strengthen claims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pysmt.shortcuts import Not, Or

from bmc.engines.protocol import Engine, Session, Status
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import at
from bmc.system.transition import Condition, TransitionSystem, conjunction

HALVED = 2
"""Times that guesses are given up until the solver finishes with the others."""


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
    effort: float | None = None,
    k: int = 1,
) -> tuple[Condition, ...]:
    """The largest part of ``guesses`` that is inductive together over ``k`` steps, as proved.

    All hold in the first ``k`` states of every run, and after any ``k`` states in which they do. The proved invariants
    of ``system`` are taken as given. One query asks for all guesses; each answer drops what its run contradicts. Where
    the solver gives up, the latter half of the guesses is dropped, up to ``HALVED`` times, then all. ``seconds`` and
    ``effort`` are limits per query.
    """
    formulas = [at(c.formula, 0) for c in guesses]
    left = list(guesses)
    start = engine.session(system, at(system.init_formula, 0), formulas)
    for steps in range(k):
        left = _survivors(start, left, steps, False, seconds, effort)
    step = engine.session(system, at(conjunction(()), 0), formulas)
    left = _survivors(step, left, k, True, seconds, effort)
    return tuple(replace(c, proved=True) for c in left)


def _survivors(
    session: Session,
    left: list[Condition],
    steps: int,
    given: bool,
    seconds: Callable[[], float | None],
    effort: float | None,
) -> list[Condition]:
    """Those that hold after ``steps`` steps from the source; ``given``: that all hold before is known."""
    halved = 0
    negated = {c.formula: at(Not(c.formula), steps) for c in left}
    placed = {c.formula: [at(c.formula, step) for step in range(steps)] for c in left} if given else {}
    while left:
        broken = Or([negated[c.formula] for c in left])
        before = [formula for c in left for formula in placed.get(c.formula, ())]
        status = session.check([*before, broken], steps, seconds(), effort).status
        if status is Status.UNSAT:
            return left
        if status is Status.UNKNOWN:
            halved += 1
            left = left[: len(left) // 2] if halved <= HALVED else []
            continue
        holds = compile_formulas([c.formula for c in left])(session.run().states[steps])
        left = [c for c, held in zip(left, holds, strict=True) if held]
    return left
