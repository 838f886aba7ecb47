"""k-induction: proofs that no run ever satisfies a formula, however long, from queries of a few steps."""

from __future__ import annotations

from collections.abc import Callable

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE, Not

from bmc.engines.protocol import Engine, Status
from bmc.formulas.unroll import shift
from bmc.system.transition import TransitionSystem

Seconds = Callable[[], float | None]


def never(
    system: TransitionSystem,
    formula: FNode,
    length: int,
    engine: Engine,
    refuted: int,
    most: int,
    seconds: Seconds = lambda: None,
    effort: float | None = None,
) -> int | None:
    """The least k up to ``most`` for which k-induction proves that no run satisfies ``formula`` at any step.

    ``formula`` is framed and spans ``length`` steps. That no run from init satisfies it at a step below ``refuted`` is
    known, and k goes no further. Proved invariants of ``system`` hold throughout. ``seconds`` gives the time limit of
    each query, ``effort`` limits its work (see the protocol); an unknown answer proves nothing. None without a proof.
    """
    session = engine.session(system, TRUE(), [formula])
    for k in range(min(most, refuted) + 1):
        before = [Not(shift(formula, step)) for step in range(k)]
        answer = session.check([*before, shift(formula, k)], k + length, seconds(), effort)
        if answer.status is Status.UNSAT:
            return k
        if answer.status is Status.UNKNOWN:
            return None
    return None
