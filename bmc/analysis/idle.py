"""Inputs that nothing reads: they get constant values that are allowed in every step, whatever else happens.

Constraints over several steps are looked at as well, with what is remembered for them (``bmc.system.constraints``):
most allow an input that never changes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice, product

from pysmt.fnode import FNode

from bmc.analysis.constants import put_in
from bmc.floats.format import FORMATS
from bmc.floats.ranges import every
from bmc.floats.values import plainest_first
from bmc.formulas.evaluate import names_in
from bmc.formulas.folding import raw_value
from bmc.formulas.terms import is_true
from bmc.system.constraints import remembers
from bmc.system.transition import InputVariable, TransitionSystem, Valuation, conjunction, conjuncts, with_stated_values

MOST_VALUES = 16
"""Values of one input that are tried."""
MOST_TRIED = 256
"""Values that are tried of inputs which the constraint ties to each other."""
SETTLED = 32
"""Steps after which what is remembered of an input that stays is most often settled."""


def idle_inputs(system: TransitionSystem, formulas: Sequence[FNode]) -> Valuation:
    """Constant raw values for inputs that ``formulas`` do not read; the plainest that are allowed.

    If only ``formulas``, the input constraint and what is remembered for that read inputs, every run that is allowed
    with some values of these is allowed with the ones given. Inputs of which none of the values tried is allowed in all
    states are left out.
    """
    read = inputs_read(system, formulas)
    unread = [var.name for var in system.inputs if var.name not in read]
    found: dict[str, int] = {}
    first = _first_values(system).inputs if unread else ()
    for names in _tied(unread, _ties(system)):
        group = [var for var in first if var.name in names]
        tried = product(*(list(islice(_plainest(var), MOST_VALUES)) for var in group))
        valuations = (dict(zip((var.name for var in group), raw, strict=True)) for raw in islice(tried, MOST_TRIED))
        found.update(next((values for values in valuations if _always_allowed(system, values)), {}))
    return found


def _always_allowed(system: TransitionSystem, values: Valuation) -> bool:
    """Whether the input constraint allows some inputs these ``values`` in every step, whatever else happens.

    What is remembered is followed as long as it follows from these values. What still changes after ``SETTLED`` steps
    may be anything from then on: most often the steps left of a dwell time, which do not matter to an input that stays.
    """
    own = _remembered_of(system, values)
    parts = [part for part in conjuncts(system.input_constraint) if names_in([part]) & {*values, *own}]
    memory = [var for var in system.state if remembers(var.name)]
    known: Valuation = _first_memory(system)
    seen: list[Valuation] = []
    while known not in seen:
        seen.append(known)
        here = {**known, **values}
        if not all(is_true(part) for part in put_in(parts, here)):
            return False
        after = zip(memory, put_in([var.next for var in memory], here), strict=True)
        told = {var.name: raw_value(term) for var, term in after if term.is_constant()}
        stays = len(seen) < SETTLED
        known = {name: value for name, value in told.items() if stays or known.get(name) == value}
    return True


def _first_memory(system: TransitionSystem) -> Valuation:
    """What is remembered before the first step, where its start value is stated."""
    return {var.name: raw_value(var.init) for var in system.state if remembers(var.name) and var.init is not None}


def _first_values(system: TransitionSystem) -> TransitionSystem:
    """``system``, each input with those values only that the constraint allows it in the first step."""
    (first,) = put_in([system.input_constraint], _first_memory(system))
    return with_stated_values(replace(system, input_constraint=first))


def without_inputs(system: TransitionSystem, idle: Valuation) -> TransitionSystem:
    """``system`` without the inputs ``idle``, and without what the input constraint says of these."""
    if not idle:
        return system
    gone = {*idle, *_remembered_of(system, idle)}
    kept = conjunction(part for part in conjuncts(system.input_constraint) if not names_in([part]) & gone)
    return replace(
        system,
        state=tuple(var for var in system.state if var.name not in gone),
        inputs=tuple(var for var in system.inputs if var.name not in idle),
        input_constraint=kept,
    )


def _remembered_of(system: TransitionSystem, inputs: Collection[str]) -> set[str]:
    """The variables that remember something of some inputs, or for how long they have to stay."""
    names = {*inputs}
    memory = {var.name: names_in([var.next]) for var in system.state if remembers(var.name)}
    while more := {name for name, read in memory.items() if name not in names and read & names}:
        names |= more
    return names - {*inputs}


def _ties(system: TransitionSystem) -> list[set[str]]:
    """Which inputs, with what is remembered, a part of the constraint ties to each other; counts of steps tie none."""
    memory = {var.name: names_in([var.next]) for var in system.state if remembers(var.name)}
    counts = {name for name, read in memory.items() if read <= {name}}
    parts = [names_in([part]) for part in conjuncts(system.input_constraint)]
    parts += [{name} | read for name, read in memory.items()]
    named = {*memory, *(var.name for var in system.inputs)} - counts
    return [part & named for part in parts]


def inputs_read(system: TransitionSystem, formulas: Sequence[FNode]) -> set[str]:
    """The inputs in ``formulas``, and those that the input constraint ties to them."""
    inputs = {var.name for var in system.inputs}
    read, parts = names_in(formulas) & inputs, _ties(system)
    while True:
        tied = {name for part in parts if part & read for name in part}
        if tied <= read:
            return read & inputs
        read |= tied


def _tied(names: Sequence[str], parts: Sequence[set[str]]) -> list[set[str]]:
    """``names`` in groups, with all that parts which name one of a group name as well."""
    groups = {name: {name} for name in [*names, *(name for part in parts for name in sorted(part))]}
    for part in parts:
        joined = set().union(*(groups[name] for name in part))
        groups.update(dict.fromkeys(joined, joined))
    listed = {id(groups[name]): groups[name] for name in names}
    return list(listed.values())


def _plainest(var: InputVariable) -> Iterator[int]:
    """The allowed values of ``var``, raw, the plainest first: for integers those from 0 up before negative ones."""
    if var.type.floating:
        form = FORMATS[var.type.bits]
        return chain.from_iterable(plainest_first(var.values or every(form), form))
    ranges, wrap = var.values or ((var.type.least, var.type.greatest),), 1 << max(var.type.bits, 1)
    up = [range(max(low, 0), high + 1) for low, high in ranges if high >= 0]
    down = [range(low, min(high, -1) + 1) for low, high in ranges if low < 0]
    return (value % wrap for value in chain.from_iterable([*up, *down]))
