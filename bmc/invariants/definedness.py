"""Conditions on a step to be defined that hold in every reachable state, as induction proves: they restrict no run.

A sum that is limited by its own conditions never overflows, though the words of the condition alone do not tell it:
``if (sum < 100000) sum += by; else sum -= by;``. The proof needs bounds that no step leaves. They are guessed where
such bounds mostly are: at powers of two, and at the constants that a variable's next value names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE, Not, Or

from bmc.analysis.slice import loose_conditions, slice_system
from bmc.analysis.state_values import every_step
from bmc.engines.protocol import Status
from bmc.floats.operations import has_arithmetic
from bmc.formulas.evaluate import unseen
from bmc.invariants.candidates import among, value_facts
from bmc.invariants.induction import Anywhere, Prover, inductive
from bmc.system.transition import Condition, StateVariable, TransitionSystem, conjunction, conjuncts


def without_proved(system: TransitionSystem, observed: Sequence[FNode], prover: Prover) -> TransitionSystem:
    """``system`` without those conditions on a step to be defined which are proved to hold in all reachable states.

    Looked at are only conditions on variables that ``observed`` (plain formulas) does not depend on. Runs from init are
    the same; in other states more steps may be allowed. The same system where nothing is proved. LimitReached once the
    limit of ``prover`` is met.
    """
    free = replace(system, defined=TRUE(), asserts=(), undefined_behaviour=(), invariants=())
    asked = _of_words(free, loose_conditions(system, observed))
    if not asked:
        return system
    part = slice_system(free, asked)
    known = value_facts(every_step(part))
    guesses = [guess for var in part.state for guess in _bounds(var)]
    bounds = inductive(replace(part, invariants=known), guesses, prover)
    anywhere = Anywhere(part, prover.engine, [fact.formula for fact in (*known, *bounds)])
    sure = set(asked) if _never(anywhere, [Or(map(Not, asked))], prover) else set()
    if not sure and len(asked) > 1:
        sure = {condition for condition in asked if _never(anywhere, [Not(condition)], prover)}
    left = [condition for condition in conjuncts(system.defined) if condition not in sure]
    return replace(system, defined=conjunction(left)) if sure else system


def _of_words(system: TransitionSystem, conditions: Sequence[FNode]) -> Sequence[FNode]:
    """Those of ``conditions`` that depend on no floating-point arithmetic, over any number of steps: the solver takes
    long with that, and sets of values have been asked before."""
    nexts = {condition: [var.next for var in system.cone([condition])] for condition in conditions}
    return [condition for condition in conditions if not has_arithmetic([condition, *nexts[condition]])]


def _never(anywhere: Anywhere, formulas: Sequence[FNode], prover: Prover) -> bool:
    """Whether it is proved that ``formulas`` do not hold together in what ``anywhere`` asks about."""
    return anywhere.status(formulas, prover.seconds(), prover.effort) is Status.UNSAT


def _bounds(var: StateVariable) -> Iterator[Condition]:
    """Guesses of a least and of a greatest value of a variable; none of a floating or a Boolean one."""
    kind = var.type
    if kind.floating or kind.bits < 2 or var.init is None:
        return
    named = {kind.value(raw % (1 << kind.bits)) for raw in _constants(var.next)}
    near = {number + by for number in named for by in (-1, 0, 1)}
    powers = [1 << power for power in range(kind.bits)]
    for greatest in sorted({power - 1 for power in powers} | near):
        if kind.least < greatest < kind.greatest:
            yield among(var, [(kind.least, greatest)])
    for least in sorted({0, 1, *(-power for power in powers)} | near):
        if kind.least < least < kind.greatest:
            yield among(var, [(least, kind.greatest)])


def _constants(formula: FNode) -> set[int]:
    """The constants in ``formula``, each as an unsigned and as a signed number."""
    found = set()
    for node in unseen([formula], set()):
        if node.is_bv_constant():
            raw, bits = int(node.constant_value()), int(node.bv_width())
            found |= {raw, raw - (1 << bits) if raw >> (bits - 1) else raw}
    return found
