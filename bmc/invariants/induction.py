"""Proofs by induction: invariants that hold together in every state, and formulas that no run ever satisfies.

Last: whether some state and inputs satisfy a formula, which is a question about one moment without any step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE, Not, Or

from bmc.analysis.state_values import start_values, values_of
from bmc.analysis.values import narrowed
from bmc.engines.protocol import Engine, Session, Status
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import at, at_each, shift, with_terms
from bmc.formulas.value_sets import ALWAYS
from bmc.records import dataclass
from bmc.system.transition import Condition, StateVariable, TransitionSystem, conjunction


@dataclass(frozen=True, slots=True)
class Prover:
    """Who is asked, and the limits of each question.

    ``seconds`` gives the limit of time (and may raise LimitReached), ``effort`` is that of work, see the engines'
    protocol.
    """

    engine: Engine
    seconds: Callable[[], float | None] = lambda: None
    effort: float | None = None

    def asked(self, session: Session, formulas: Sequence[FNode], steps: int) -> Status:
        """The status of a question within the limits."""
        return session.check(formulas, steps, self.seconds(), self.effort).status


HALVED = 2
"""Times that guesses are given up until the solver finishes with the others."""


def prove(system: TransitionSystem, invariants: Sequence[Condition], prover: Prover) -> tuple[Condition, ...]:
    """``invariants`` in the same order, ``proved`` where the proof succeeded or had been made before.

    The largest set is kept whose members hold in every start state and, taken together with those already proved,
    again after every allowed step. An unknown answer proves nothing.
    """
    bare = replace(system, invariants=())
    given = conjunction(c.formula for c in (*system.invariants, *invariants) if c.proved)
    start = prover.engine.session(bare, at(system.init_formula, 0), [at(c.formula, 0) for c in invariants])
    open_ones = _surely_after(0, [c for c in invariants if not c.proved], prover, start)
    while open_ones:
        together = conjunction([given, *(c.formula for c in open_ones)])
        session = prover.engine.session(bare, at(together, 0))
        kept = _surely_after(1, open_ones, prover, session)
        if kept == open_ones:
            break
        open_ones = kept
    return tuple(replace(c, proved=True) if c in open_ones else c for c in invariants)


def _surely_after(steps: int, conditions: Sequence[Condition], prover: Prover, session: Session) -> list[Condition]:
    """Those of ``conditions`` that hold after ``steps`` steps of every run of ``session``."""
    return [c for c in conditions if prover.asked(session, [at(Not(c.formula), steps)], steps) is Status.UNSAT]


def told_by_sets(system: TransitionSystem, invariants: Sequence[Condition]) -> bool:
    """Whether sets of values tell that all ``invariants`` hold in start states, and after every step where they do.

    Mostly these need not be refined for that.
    """
    formulas = [c.formula for c in invariants]
    start = values_of(formulas, system, start_values(system))
    known = narrowed(conjunction(formulas), {})
    if known is None or any(told != ALWAYS for told in start):
        return False
    after = with_terms(formulas, {var.symbol: var.next for var in system.state})
    return any(all(told == ALWAYS for told in values_of(after, system, known, refined)) for refined in (False, True))


def inductive(
    system: TransitionSystem, guesses: Sequence[Condition], prover: Prover, k: int = 1
) -> tuple[Condition, ...]:
    """The largest part of ``guesses`` that is inductive together over ``k`` steps, as proved.

    All hold in the first ``k`` states of every run, and after any ``k`` states in which they do. The proved invariants
    of ``system`` are taken as given. One query asks for all guesses; each answer drops what its run contradicts. Where
    the solver gives up, the latter half of the guesses is dropped, up to ``HALVED`` times, then all.
    """
    formulas = [at(c.formula, 0) for c in guesses]
    left = list(guesses)
    start = prover.engine.session(system, at(system.init_formula, 0), formulas)
    for steps in range(k):
        left = _survivors(prover, start, left, steps, False)
    step = prover.engine.session(system, at(conjunction(()), 0), formulas)
    left = _survivors(prover, step, left, k, True)
    return tuple(replace(c, proved=True) for c in left)


def _survivors(prover: Prover, session: Session, left: list[Condition], steps: int, given: bool) -> list[Condition]:
    """Those that hold after ``steps`` steps from the source; ``given``: that all hold before is known."""
    halved, formulas = 0, [c.formula for c in left]
    holds = compile_formulas(formulas)
    negated = {c.formula: at(Not(c.formula), steps) for c in left}
    placed = {c.formula: [at(c.formula, step) for step in range(steps)] for c in left} if given else {}
    while left:
        broken = Or([negated[c.formula] for c in left])
        before = [formula for c in left for formula in placed.get(c.formula, ())]
        status = prover.asked(session, [*before, broken], steps)
        if status is Status.UNSAT:
            return left
        if status is Status.UNKNOWN:
            halved += 1
            left = left[: len(left) // 2] if halved <= HALVED else []
            continue
        held = dict(zip(formulas, holds(session.run().states[steps]), strict=True))
        left = [c for c in left if held[c.formula]]
    return left


def never(system: TransitionSystem, formula: FNode, length: int, most: int, prover: Prover) -> int | None:
    """The least k up to ``most`` for which k-induction proves that no run satisfies ``formula`` at any step.

    ``formula`` is framed and spans ``length`` steps. That no run from init satisfies it below step ``most`` must be
    known. Proved invariants of ``system`` hold throughout; an unknown answer proves nothing. None without a proof.
    """
    session = prover.engine.session(system, TRUE(), [formula])
    for k in range(most + 1):
        before = [Not(shift(formula, step)) for step in range(k)]
        status = prover.asked(session, [*before, shift(formula, k)], k + length)
        if status is Status.UNSAT:
            return k
        if status is Status.UNKNOWN:
            return None
    return None


class Anywhere:
    """Asks about the states that ``known`` (plain formulas) allow, and the inputs that the constraint allows in them.

    Each query has a session of its own, with nothing in it but what is asked: what one query needs does not burden
    the next, and no next-state function is encoded.
    """

    def __init__(self, system: TransitionSystem, engine: Engine, known: Sequence[FNode]) -> None:
        moment = [*system.state, *(StateVariable(v.name, v.type, None, v.symbol) for v in system.inputs)]
        self._moment = replace(
            system,
            state=tuple(replace(var, next=var.symbol) for var in moment),
            inputs=(),
            input_constraint=TRUE(),
            defined=TRUE(),
            invariants=(),
        )
        self._engine = engine
        self._known = (system.input_constraint, *known)

    def status(self, formulas: Sequence[FNode], time_limit: float | None = None, effort: float | None = None) -> Status:
        """Whether one state and inputs satisfy all ``formulas`` (plain). Limits as in the engines' protocol."""
        source = conjunction(at_each([*self._known, *formulas], 0))
        if source.is_false():
            return Status.UNSAT
        return self._engine.session(self._moment, source).check([], 0, time_limit, effort).status
