"""The lemma of counters, proved again, and what goals look at in single states and steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from pysmt.fnode import FNode
from pysmt.shortcuts import BV, TRUE, And, Iff, Not, Or

from bmc.formulas.evaluate import names_in
from bmc.formulas.unroll import NEXT, read_at, with_terms
from bmc.records import dataclass
from bmc.system.transition import StateVariable, TransitionSystem, equal
from chaincover.verification.clauses import satisfiable
from chaincover.verification.limits import Clock
from chaincover.verification.setting import Setting

TWIN = "twin "
"""Before the name of a variable: its value in the other one of the two states."""


@dataclass(frozen=True)
class Looks:
    """Events in states and in steps (over plain symbols, ``NEXT`` ones too), and for each goal its own, as a bit;
    ``end``: where a run may end."""

    in_states: Sequence[FNode]
    in_steps: Sequence[FNode]
    of_goal: Mapping[str, int]
    end: FNode

    @staticmethod
    def of(setting: Setting) -> Looks:
        """Those of all goals."""
        events = {goal.name: (goal.takes_step, read_at(goal.antecedent, 0)) for goal in setting.goals}
        different = sorted(dict.fromkeys(events.values()), key=lambda event: event[0])
        bits = {event: 1 << place for place, event in enumerate(different)}
        return Looks(
            in_states=[formula for moved, formula in different if not moved],
            in_steps=[formula for moved, formula in different if moved],
            of_goal={name: bits[event] for name, event in events.items()},
            end=TRUE() if setting.final is None else setting.final,
        )

    def variables(self, system: TransitionSystem) -> tuple[StateVariable, ...]:
        """The variables of ``system`` that matter."""
        names = {name.removeprefix(NEXT) for name in names_in([*self.in_states, *self.in_steps, self.end])}
        return system.cone(var.symbol for var in system.state if var.name in names)


def lemma(
    system: TransitionSystem, looks: Looks, cells: Mapping[str, Sequence[int]], asked: tuple[Clock, Sequence[FNode]]
) -> bool | None:
    """Whether the lemma holds; None if the solver gave up. ``asked``: within which limits, and given what."""
    clock, given = asked
    cone = looks.variables(system)
    counters = [var for var in cone if var.name in cells]
    twins = {var.symbol: var.type.symbol(TWIN + var.name) for var in counters}
    nexts = {var.name: (var.next, with_terms([var.next], twins)[0]) for var in cone}
    allowed = And(system.input_constraint, system.defined)
    pair = allowed, with_terms([allowed], twins)[0]
    apart, moved, same_later = list[FNode](), list[FNode](), list[FNode]()
    for var in cone:
        one, two = nexts[var.name]
        differ = Not(equal(one, two))
        if var not in counters:
            apart.append(differ)
            continue
        here, there = var.symbol, twins[var.symbol]
        apart.append(And(differ, Not(equal(one.BVAdd(there), two.BVAdd(here)))))
        moved.append(And(differ, Not(equal(one, here))))
        same_later += _in_one_cell(one, two, cells[var.name])
    apart += [And(one, two) for one, two in combinations(moved, 2)]
    first = {var.type.symbol(NEXT + var.name): nexts[var.name][0] for var in cone}
    second = {**twins, **{var.type.symbol(NEXT + var.name): nexts[var.name][1] for var in cone}}
    seen = zip(with_terms(looks.in_steps, first), with_terms(looks.in_steps, second), strict=True)
    told = And(*same_later, Or([Not(equal(one, two)) for one, two in seen]))
    states = [*looks.in_states, looks.end]
    alone = [Not(equal(one, two)) for one, two in zip(states, with_terms(states, twins), strict=True)]
    against = Or(Not(Iff(*pair)), And(pair[0], Or(*apart, told)), *alone)
    cell = [part for var in counters for part in _in_one_cell(var.symbol, twins[var.symbol], cells[var.name])]
    found = satisfiable(And(against, *cell, *given), clock)
    return None if found is None else not found


def _in_one_cell(one: FNode, two: FNode, starts: Sequence[int]) -> list[FNode]:
    """That two values are in the same one of the cells that begin at ``starts``."""
    bounds = [BV(start, one.bv_width()) for start in starts if start]
    return [Iff(one.BVULT(bound), two.BVULT(bound)) for bound in bounds]
