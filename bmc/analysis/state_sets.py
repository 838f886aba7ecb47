"""Sets of values that the state of a system never leaves, found without a solver, as facts in the words of C.

With floating-point state, where ``state_ranges`` has one range of patterns for each variable, each has a few here,
and floating-point operations work on intervals of numbers: a mode kept in a double is 0.0, 1.0 or 2.0, a limited sum
lies in its limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count

from bmc.analysis.bounding import NEVER, raw_ranges
from bmc.analysis.constants import raw_value
from bmc.analysis.state_ranges import patterns_in, state_ranges
from bmc.analysis.term_sets import narrowed, sets_of
from bmc.floats.format import FORMATS, Format, is_nan, number
from bmc.floats.operations import Program
from bmc.floats.ranges import Ranges, common, united
from bmc.floats.values import constants_in
from bmc.invariants.facts import among, patterns_of, spans_of
from bmc.system.transition import Condition, StateVariable, TransitionSystem

ROUNDS = 10
"""Times that a set may grow before it becomes that of all values."""
EXACT_ROUNDS = 5
"""After so many rounds a span that grows does so up to the next constant in the program."""

FEW = 8
"""A floating variable with up to so many spans of values is followed from each of them alone."""

Sets = Mapping[str, Ranges]
"""Raw patterns by name."""


def value_facts(system: TransitionSystem, stop: Callable[[], bool] = lambda: False) -> tuple[Condition, ...]:
    """For each state variable that never leaves some set of values, that it does not, as proved.

    Inductive together. Empty if ``stop``, asked now and then, says that it is time to end.
    """
    floating = [var.name for var in system.state if var.type.floating]
    ranges = state_ranges(system, stop, floating)
    if ranges is None:
        return ()
    found: Sets | None = {v.name: united(patterns_in(ranges[v.name], v.type.bits)) for v in system.state}
    if floating and found is not None:
        found = state_sets(system, found, stop)
    if found is None:
        return ()
    facts = [among(var, spans_of(var, found[var.name])) for var in system.state]
    return tuple(replace(fact, proved=True) for fact in facts if not fact.formula.is_true())


def state_sets(system: TransitionSystem, within: Sets, stop: Callable[[], bool] = lambda: False) -> Sets | None:
    """Patterns of the state variables that hold in every start state and again after every allowed step.

    ``within`` has sets of which that is known, and limits them. Those of floating variables have both zeros where there
    is one, and every NaN. None if ``stop``, asked after each round, says that it is time to end.
    """
    program = Program([*(var.next for var in system.state), system.defined])
    alone = {var.name: Program([var.next]) for var in system.state if var.type.floating}
    now = {var.name: _start(var, within[var.name]) for var in system.state}
    inputs = {var.name: united(raw_ranges(var)) for var in system.inputs}
    ends = {bits: _ends(system, form) for bits, form in FORMATS.items()}
    for number_of_round in count():
        box = {**now, **inputs}
        after = _from_each(system, alone, box, _after(system, program, box))
        grown = {v.name: _closed(v, [*now[v.name], *common(after[v.name], within[v.name])]) for v in system.state}
        if grown == now:
            return now
        if stop():
            return None
        for var in system.state:
            name = var.name
            if grown[name] != now[name] and number_of_round >= EXACT_ROUNDS:
                near = number_of_round < ROUNDS and var.type.floating
                grown[name] = _widened(var, grown[name], now[name], ends[var.type.bits]) if near else within[name]
        now = grown
    raise AssertionError("without an end")


def _start(var: StateVariable, within: Ranges) -> Ranges:
    return within if var.init is None else _closed(var, [(raw_value(var.init), raw_value(var.init))])


def _after(system: TransitionSystem, program: Program, box: Mapping[str, Ranges]) -> Mapping[str, Ranges]:
    """Patterns after an allowed step from ``box``; none where there is no such step."""
    here: dict[str, Ranges] | None = dict(box)
    for condition in (system.input_constraint, system.defined):
        here = None if here is None else narrowed(condition, here)
    if here is None:
        return {var.name: () for var in system.state}
    *found, defined = sets_of(program, here)
    return {var.name: () if defined == NEVER else s for var, s in zip(system.state, found, strict=True)}


def _from_each(system: TransitionSystem, alone: Mapping[str, Program], box: Sets, after: Sets) -> Mapping[str, Ranges]:
    """``after`` with fewer patterns of the variables in ``alone`` (their next values) that have few values in ``box``.

    From each of these alone it is often told which way the step goes: ``mode < 2.0 ? mode + 1.0 : mode``.
    """
    found = dict(after)
    for var in system.state:
        spans = spans_of(var, box[var.name]) if var.name in alone else ()
        if 1 < len(spans) <= FEW and after[var.name]:
            parts = [{**box, var.name: _closed(var, patterns_of(var, [span]))} for span in spans]
            ways = [r for part in parts for r in sets_of(alone[var.name], part)[0]]
            found[var.name] = common(after[var.name], united(ways))
    return found


def _closed(var: StateVariable, ranges: Iterable[tuple[int, int]]) -> Ranges:
    """``ranges`` with all patterns of the values in it."""
    closed = united(ranges)
    while True:
        again = united([*closed, *patterns_of(var, spans_of(var, closed))])
        if again == closed:
            return closed
        closed = again


def _widened(var: StateVariable, grown: Ranges, before: Ranges, ends: Sequence[int]) -> Ranges:
    """``grown``, each new span of numbers enlarged to the next of ``ends`` (patterns) on both sides."""
    form, known = FORMATS[var.type.bits], {*spans_of(var, before)}
    spans = []
    for low, high in spans_of(var, grown):
        if (low, high) not in known and not is_nan(low, form):
            low = max((e for e in ends if number(e, form) <= number(low, form)), key=lambda e: number(e, form))
            high = min((e for e in ends if number(e, form) >= number(high, form)), key=lambda e: number(e, form))
        spans.append((low, high))
    return _closed(var, [*grown, *patterns_of(var, spans)])


def _ends(system: TransitionSystem, form: Format) -> tuple[int, ...]:
    """Numbers at which a span may end, as patterns: the program's constants with either sign, infinities, zero."""
    found = constants_in([var.next for var in system.state], form)
    every = {0, form.infinity, *found}
    return tuple(sorted(every | {raw ^ form.sign for raw in every}))
