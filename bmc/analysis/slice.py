"""Slicing: the part of a transition system on which some formulas depend, and nothing else."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE

from bmc.analysis.constants import constant_state, fixed_inputs, put_in, raw_value
from bmc.analysis.idle import conjuncts, idle_inputs, names_in, without_inputs
from bmc.analysis.live import live_among, live_state
from bmc.analysis.state_values import every_step, state_values, values_of
from bmc.formulas.evaluate import post_order, unseen
from bmc.formulas.value_sets import ALWAYS
from bmc.system.hold import PHASE, hold, released
from bmc.system.transition import Condition, StateVariable, TransitionSystem, Valuation, conjunction, equal

CONSTANTS = "never change: "
"""The name of the invariant that lists the constant variables on which a sliced system rests begins so."""


def slice_system(system: TransitionSystem, observed: Sequence[FNode], judged: Sequence[FNode] = ()) -> TransitionSystem:
    """``system`` with those variables only on which ``observed``, ``judged`` and a step's validity depend.

    Seen through these plain formulas its runs are those of ``system``: the same values of the inputs that are left are
    allowed, and give the same values. The other inputs may have those of ``spare_inputs`` in every step. Variables that
    never change become values, unless a formula names them; a proved invariant lists those that ``observed`` and
    validity rest on. Proved invariants are kept where they say something of these. Asserts,
    assumptions and places of undefined behaviour are left out. Where inputs are held, those left are, and of what
    ``hold`` adds formulas name the phase only.
    """
    return _cut(system, observed, judged)[0]


def spare_inputs(system: TransitionSystem, observed: Sequence[FNode], judged: Sequence[FNode] = ()) -> Valuation:
    """The inputs that ``slice_system`` leaves out, each with a raw value that is allowed in every step."""
    return _cut(system, observed, judged)[1]


def _cut(
    system: TransitionSystem, observed: Sequence[FNode], judged: Sequence[FNode]
) -> tuple[TransitionSystem, Valuation]:
    """The slice, and values for the inputs left out: cut before inputs are held, so that no spare one is kept."""
    if system.hold > 1:
        observed, judged = (put_in(formulas, {PHASE: 0}) for formulas in (observed, judged))
    part = _Slicer(released(system)).sliced(observed, judged)
    idle = idle_inputs(part, [*observed, *judged, part.defined, *(var.next for var in part.state)])
    return hold(without_inputs(part, idle), system.hold), idle


class _Slicer:
    """Cuts one system, with the values put in of what never changes."""

    def __init__(self, system: TransitionSystem) -> None:
        self._system = system
        self._constants = constant_state(system)
        names = [var.name for var in system.state]
        known = {**self._constants, **fixed_inputs(system)}
        *terms, defined = put_in([*(var.next for var in system.state), system.defined], known)
        self._following = dict(zip(names, terms, strict=True))
        proved = [inv for inv in system.invariants if inv.proved]
        rest = put_in([system.input_constraint, *(inv.formula for inv in proved)], self._constants)
        self._constraint, self._defined = rest[0], defined
        self._invariants = [replace(inv, formula=f) for inv, f in zip(proved, rest[1:], strict=True)]

    def sliced(self, observed: Sequence[FNode], judged: Sequence[FNode]) -> TransitionSystem:
        """The slice; see ``slice_system``."""
        system, constants = self._system, self._constants
        needed, invariants = self._with_invariants(observed)
        live = needed | self._needed(judged) if judged else needed
        named = names_in([*observed, *judged])
        kept = [var for var in system.state if var.name in live or (var.name in named and var.name in constants)]
        unread = _any_values(var for var in system.state if var.name not in live)
        terms = [self._following[var.name] for var in kept if var.name in live]
        constraint, defined, *terms = put_in([self._constraint, self._defined, *terms], unread)
        following = dict(zip((var.name for var in kept if var.name in live), terms, strict=True))
        return replace(
            system,
            state=tuple(replace(var, next=following.get(var.name, var.init)) for var in kept),
            input_constraint=constraint,
            defined=defined,
            asserts=(),
            undefined_behaviour=(),
            assumptions=(),
            invariants=(*invariants, *self._claim(needed, invariants, observed)),
            chosen=tuple(name for name in system.chosen if name in live),
        )

    def _needed(self, formulas: Sequence[FNode]) -> frozenset[str]:
        """The variables, but for constants, that ``formulas`` name or on which these or a step's validity depend."""
        named = [node for node in post_order(formulas) if node.is_symbol()]
        return live_among(self._following, [self._constraint, self._defined, *named]) - self._constants.keys()

    def _with_invariants(self, observed: Sequence[FNode]) -> tuple[frozenset[str], list[Condition]]:
        """The variables that ``observed`` needs, and the invariants on these, with all that such invariants name."""
        formulas = list(observed)
        while True:
            needed = self._needed(formulas)
            telling = [inv for inv in self._invariants if names_in([inv.formula]) & needed]
            if names_in([inv.formula for inv in telling]) <= needed:
                return needed, telling
            formulas = [*observed, *(inv.formula for inv in telling)]

    def _claim(
        self, needed: frozenset[str], invariants: Sequence[Condition], formulas: Sequence[FNode]
    ) -> list[Condition]:
        """The invariant that lists the constants on which the ``needed`` variables rest; none where there are none."""
        system, constants = self._system, self._constants
        kept = {inv.name for inv in invariants}
        following = {var.name: var.next for var in system.state}
        named = names_in(formulas)
        terms = [system.input_constraint, system.defined, *(following[name] for name in sorted(needed))]
        roots = [*formulas, *terms, *(inv.formula for inv in system.invariants if inv.name in kept)]
        seen: set[FNode] = set()
        used: set[str] = set()
        while roots:
            fresh = {node.symbol_name() for node in unseen(roots, seen) if node.is_symbol()}
            used |= fresh
            roots = [following[name] for name in fresh if name in constants]
        listed = [var for var in system.state if var.name in used and var.name in constants]
        told = conjunction(equal(v.symbol, v.init) for v in listed if v.init is not None and v.name in named)
        return [Condition(CONSTANTS + ", ".join(v.name for v in listed), told, proved=True)] if listed else []


def _any_values(variables: Iterable[StateVariable]) -> Valuation:
    """A value for each of ``variables``, on which nothing depends: the start value, or 0."""
    return {var.name: 0 if var.init is None else raw_value(var.init) for var in variables}


def without_impossible(system: TransitionSystem, observed: Sequence[FNode]) -> TransitionSystem:
    """``system`` without those conditions on a step to be defined which hold in all reachable states.

    Looked at are only conditions on variables that ``observed`` (plain formulas) does not depend on, and values of the
    state that are found without a solver. Runs from init are the same; in other states more steps may be allowed.
    """
    parts = conjuncts(system.defined)
    free = replace(system, defined=TRUE(), asserts=(), undefined_behaviour=(), invariants=())
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
