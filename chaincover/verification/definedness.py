"""Conditions on a step to be defined that hold wherever a run gets: they restrict none, and nothing has to follow them.

A condition on variables that no goal and no end depends on is looked at on all steps between the values that these
variables can have, where these are few; else it is proved from bounds that no step leaves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import compress

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE, And, Not

from bmc.engines.protocol import Status
from bmc.floats.operations import has_arithmetic
from bmc.formulas.evaluate import compile_formulas, unseen
from bmc.formulas.unroll import at, plain_symbols
from bmc.system.transition import StateVariable, TransitionSystem, between, conjunction, conjuncts
from chaincover.verification.limits import Clock
from chaincover.verification.states import OpenValueRead, Table, tabulate
from chaincover.verification.unrolling import Unrolling

CHECKED = 100_000
"""Steps that are tried to find out whether a condition holds on all of them, before bounds are sought."""


def without_sure(system: TransitionSystem, formulas: Sequence[FNode], clock: Clock) -> TransitionSystem:
    """``system`` without the conditions on a step to be defined that every step satisfies which a run can take.

    Looked at are only those that depend on more variables than ``formulas`` (framed) and all other steps do. Runs from
    start states stay the same.
    """
    free = replace(system, defined=TRUE(), asserts=(), undefined_behaviour=(), invariants=())
    wanted = {var.name for var in free.cone(plain_symbols(formulas))}
    groups: dict[frozenset[str], list[FNode]] = {}
    for condition in conjuncts(system.defined):
        groups.setdefault(frozenset(var.name for var in free.cone([condition])), []).append(condition)
    if all(names <= wanted for names in groups):
        return system
    left = [c for names, some in groups.items() for c in (some if names <= wanted else _unsure(free, some, clock))]
    return system if len(left) == sum(map(len, groups.values())) else replace(system, defined=conjunction(left))


def _unsure(free: TransitionSystem, conditions: Sequence[FNode], clock: Clock) -> Sequence[FNode]:
    """Those of ``conditions`` that are not shown to hold on every step of ``free`` from a state that can be reached."""
    limits = replace(clock.limits, explored=min(clock.limits.explored, CHECKED))
    table = tabulate(free, [at(condition, 0) for condition in conditions], replace(clock, limits=limits))
    left = conditions if table is None else [c for c in conditions if not _always(c, table)]
    return _not_by_bounds(free, left, clock) if left and table is None else left


def _always(formula: FNode, table: Table) -> bool:
    """Whether ``formula`` holds on every step of ``table``."""
    try:
        return bool(table.on_moves(formula).all())
    except OpenValueRead:
        return False


def _not_by_bounds(free: TransitionSystem, conditions: Sequence[FNode], clock: Clock) -> Sequence[FNode]:
    """Those of ``conditions`` that do not follow from bounds of the state which no step leaves."""
    cone = free.cone(conditions)
    if has_arithmetic([*conditions, free.input_constraint, *(var.next for var in cone)]):
        return conditions
    bounds = [bound for var in cone for bound in _bounds(var)]
    start = compile_formulas(bounds)({v.name: v.init.constant_value() for v in cone if v.init is not None})
    bounds = [*compress(bounds, start)]
    runs = Unrolling(free, [at(conjunction([*conditions, *bounds]), 0)], TRUE(), TRUE(), clock)
    while bounds:
        together = conjunction(bounds)
        found = runs.ask(And(at(together, 0), runs.valid(1), at(Not(together), 1)), 1)
        if found.status is Status.UNSAT:
            break
        if found.run is None:
            return conditions
        bounds = [*compress(bounds, compile_formulas(bounds)(found.run.states[1]))]
    given = at(conjunction([*bounds, free.input_constraint]), 0)
    return [c for c in conditions if runs.ask(And(given, at(Not(c), 0)), 0).status is not Status.UNSAT]


def _bounds(var: StateVariable) -> Iterator[FNode]:
    """That a variable is not above, or not below, some number: a power of two, or one beside a constant of its step."""
    kind = var.type
    if kind.bits < 2 or kind.floating or var.init is None:
        return
    near, powers = _near(var.next), [1 << power for power in range(kind.bits)]
    ranges = [(kind.least, most) for most in sorted(near.union(power - 1 for power in powers))]
    ranges += [(least, kind.greatest) for least in sorted(near.union({0, 1}, (-power for power in powers)))]
    fitting = (each for each in ranges if kind.least <= each[0] < each[1] <= kind.greatest)
    yield from (between(var.symbol, kind, *each) for each in fitting if each != (kind.least, kind.greatest))


def _near(formula: FNode) -> set[int]:
    """The constants in ``formula``, with and without a sign, and the numbers beside them."""
    words = [node for node in unseen([formula], set()) if node.is_bv_constant()]
    numbers = {value for word in words for value in (word.constant_value(), word.bv_signed_value())}
    return {number + by for number in numbers for by in (-1, 0, 1)}
