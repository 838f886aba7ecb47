"""What explains a finding of ``check``: why a goal cannot be met, and which variables make a search long.

Both rest on the values that interval analysis gives every variable, or on an answer of the solver, so they are proved;
what these do not show is not told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE

from bmc.analysis.state_values import state_values, values_of
from bmc.engines.protocol import Engine
from bmc.errors import LimitReached
from bmc.formulas.evaluate import unseen
from bmc.formulas.unroll import unframed, unplaced
from bmc.formulas.value_sets import Ranges
from bmc.records import dataclass
from bmc.system.transition import StateVariable, TransitionSystem, conjuncts, symbols_of
from chaincover.check.goal_facts import VacuitySearch
from chaincover.limits import Limits
from chaincover.project.values import show_ranges
from properties.goal import Goal

MANY_VALUES = 1000
"""A counter with more values than these is told where states cannot be enumerated."""

MOST_TOLD = 3
"""Counters that are told, those with most values first."""

MOST_RANGES = 6
"""Ranges of values that are told of one variable."""


@dataclass(frozen=True, slots=True)
class Slow:
    """Why a search may take long, and what a user can do about it."""

    text: str
    remedy: str


def why_unsatisfiable(
    system: TransitionSystem, goals: Sequence[Goal], engine: Engine, limits: Limits
) -> dict[str, str]:
    """For goals whose antecedent nothing satisfies what excludes it, where that is found.

    The values of one variable, undefined behaviour in every step that meets it, or the constraints on inputs.
    """
    found = why_unreachable(system, goals, limits)
    for goal in goals:
        if goal.name in found or limits.over:
            continue
        for wider, why in (
            (replace(system, defined=TRUE()), "every step that meets it is undefined, see undefined behaviour"),
            (replace(system, input_constraint=TRUE()), "the ranges or constraints of the inputs exclude it"),
        ):
            search = VacuitySearch(wider, [goal], engine)
            with suppress(LimitReached):
                search.run(limits)
            if not search.unsatisfiable and not search.undecided:
                found[goal.name] = why
                break
    return found


def why_unreachable(system: TransitionSystem, goals: Sequence[Goal], limits: Limits) -> dict[str, str]:
    """For goals that ask of one variable what its values exclude, these values."""
    sets = state_values(system, lambda: limits.over) if goals else None
    if sets is None:
        return {}
    inputs = {var.name: var for var in system.inputs}
    state = {var.name: var for var in system.state}
    found = {}
    for goal in goals:
        for part in conjuncts(goal.antecedent):
            symbols = symbols_of(part)
            names = {unframed(symbol)[0] for symbol in symbols}
            if len(names) != 1 or len(symbols) != 1:
                continue
            (name,) = names
            if values_of(unplaced([part]), system, sets) != [((0, 0),)]:
                continue
            if name in inputs:
                has = show_ranges(inputs[name].values, inputs[name].type)
                found[goal.name] = f"it asks of {name} what the allowed values exclude: {has or 'none'}"
            else:
                found[goal.name] = (
                    f"it asks of {name} a value that this never has: it has {_told(state[name], sets[name])}"
                )
            break
    return found


def _told(var: StateVariable, ranges: Ranges) -> str:
    """The values of a variable, of signed ones too, as text."""
    if var.type.floating:
        return show_ranges(ranges, var.type)
    pairs = sorted((var.type.value(low), var.type.value(high)) for low, high in _halves(var, ranges))
    joined: list[tuple[int, int]] = []
    for low, high in pairs:
        if joined and joined[-1][1] + 1 >= low:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    if len(joined) > MOST_RANGES:
        joined = [(joined[0][0], joined[-1][1])]
    labels = {number: label for label, number in var.type.labels}
    if labels and all(low == high for low, high in joined):
        return ", ".join(labels.get(low, str(low)) for low, _ in joined)
    return show_ranges(joined, var.type)


def _halves(var: StateVariable, ranges: Ranges) -> Iterator[tuple[int, int]]:
    """``ranges``, cut where the sign of a signed type changes."""
    half = 1 << (var.type.bits - 1) if var.type.signed and var.type.bits else None
    for low, high in ranges:
        if half is not None and low < half <= high:
            yield low, half - 1
            yield half, high
        else:
            yield low, high


def find_slow(system: TransitionSystem, goals: Sequence[Goal], limits: Limits) -> tuple[Slow, ...]:
    """The counters with most values among the state of ``system``, whatever ``goals`` compare them with."""
    sets = state_values(system, lambda: limits.over)
    if sets is None:
        return ()
    asked = [f for goal in goals for f in (goal.antecedent, goal.consequent) if f is not None]
    everything = [*(var.next for var in system.state), system.input_constraint, system.defined, *asked]
    compared = _compared(everything)
    found = []
    for var in system.state:
        if var.type.floating or var.type.bits < 2 or var.role == "internal" or not _counts(var):
            continue
        spans = [(var.type.value(low), var.type.value(high)) for low, high in _halves(var, sets[var.name])]
        least, most = min(low for low, _ in spans), max(high for _, high in spans)
        if most - least >= MANY_VALUES:
            found.append((most - least, _slow(var, most, compared.get(var.name))))
    return tuple(slow for _, slow in sorted(found, key=lambda each: -each[0])[:MOST_TOLD])


def _slow(var: StateVariable, most: int, limit: int | None) -> Slow:
    text = f"{var.name} counts to {most:,}"
    if limit is not None and 0 < limit < most:
        remedy = f"let the code stop it where nothing looks any more: count only while {var.name} <= {limit}"
        return Slow(f"{text} and is compared with {limit:,} at most", remedy)
    return Slow(text, "smaller limits in the code (-D, if they are macros), or inputs that are held (--hold 10)")


def _counts(var: StateVariable) -> bool:
    """Whether a constant is added to a variable, or taken from it, in its next value."""
    sums = (node for node in unseen([var.next], set()) if node.is_bv_add() or node.is_bv_sub())
    return any(_bare(node) is var.symbol for node in sums)


def _bare(node: FNode) -> FNode:
    """What is left of a term without conversions and constants that are added."""
    while True:
        parts = [argument for argument in node.args() if not argument.is_bv_constant()]
        sums = node.is_bv_add() or node.is_bv_sub()
        converts = node.is_bv_zext() or node.is_bv_sext() or node.is_bv_extract()
        if len(parts) != 1 or not (sums or converts):
            return node
        (node,) = parts


def _compared(formulas: Sequence[FNode]) -> Mapping[str, int]:
    """The greatest constant that a variable is compared with, where it is compared with constants only."""
    greatest: dict[str, int] = {}
    others: list[FNode] = []
    for node in unseen(formulas, set()):
        signed = node.is_bv_slt() or node.is_bv_sle()
        if not (signed or node.is_equals() or node.is_bv_ult() or node.is_bv_ule()):
            continue
        constant = next((argument for argument in node.args() if argument.is_bv_constant()), None)
        terms = [_bare(argument) for argument in node.args() if argument is not constant]
        if constant is None or not terms[0].is_symbol():
            others += terms
            continue
        name = terms[0].symbol_name().partition("@")[0]
        value = constant.bv_signed_value() if signed else constant.bv_unsigned_value()
        greatest[name] = max(value, greatest.get(name, 0))
    mixed = {node.symbol_name().partition("@")[0] for node in unseen(others, set()) if node.is_symbol()}
    return {name: value for name, value in greatest.items() if name not in mixed}
