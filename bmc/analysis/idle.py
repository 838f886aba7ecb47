"""Inputs that nothing reads: constant values for them that are allowed in every step, whatever else happens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice, product

from pysmt.fnode import FNode

from bmc.floats.format import FORMATS
from bmc.floats.ranges import every
from bmc.floats.values import plainest_first
from bmc.formulas.evaluate import compile_formulas, post_order
from bmc.system.transition import InputVariable, TransitionSystem, Valuation, conjunction

MOST_VALUES = 16
"""Values of one input that are tried."""
MOST_TRIED = 256
"""Values that are tried of inputs which the constraint ties to each other."""


def idle_inputs(system: TransitionSystem, formulas: Sequence[FNode]) -> Valuation:
    """Constant raw values for inputs that ``formulas`` do not read; the plainest that are allowed.

    If only ``formulas`` and the input constraint read inputs, every step that is allowed with some values of these is
    allowed with the ones given. Inputs of which none of the values tried is allowed are left out.
    """
    read = inputs_read(system, formulas)
    parts = [(part, names_in([part])) for part in conjuncts(system.input_constraint)]
    found: dict[str, int] = {}
    for group in _tied([var for var in system.inputs if var.name not in read], [names for _, names in parts]):
        names = [var.name for var in group]
        allows = compile_formulas([conjunction(part for part, own in parts if own & {*names})])
        tried = product(*(list(islice(_plainest(var), MOST_VALUES)) for var in group))
        valuations = (dict(zip(names, raw, strict=True)) for raw in islice(tried, MOST_TRIED))
        found.update(next((values for values in valuations if allows(values)[0]), {}))
    return found


def without_inputs(system: TransitionSystem, idle: Valuation) -> TransitionSystem:
    """``system`` without the inputs ``idle``, and without what the input constraint says of these."""
    if not idle:
        return system
    kept = conjunction(part for part in conjuncts(system.input_constraint) if not names_in([part]) & idle.keys())
    return replace(system, inputs=tuple(v for v in system.inputs if v.name not in idle), input_constraint=kept)


def inputs_read(system: TransitionSystem, formulas: Sequence[FNode]) -> set[str]:
    """The inputs in ``formulas``, and those that a part of the input constraint ties to them or to a state variable."""
    inputs, state = {var.name for var in system.inputs}, {var.name for var in system.state}
    read = names_in(formulas) & inputs
    parts = [names_in([part]) for part in conjuncts(system.input_constraint)]
    while True:
        tied = {name for part in parts if part & (read | state) for name in part & inputs}
        if tied <= read:
            return read
        read |= tied


def conjuncts(formula: FNode) -> list[FNode]:
    """The formulas whose conjunction ``formula`` is."""
    found, todo = [], [formula]
    while todo:
        part = todo.pop()
        if part.is_and():
            todo.extend(reversed(part.args()))
        else:
            found.append(part)
    return found


def names_in(formulas: Sequence[FNode]) -> set[str]:
    """The names of all symbols in ``formulas``."""
    return {node.symbol_name() for node in post_order(formulas) if node.is_symbol()}


def _tied(variables: Sequence[InputVariable], parts: Sequence[set[str]]) -> list[list[InputVariable]]:
    """``variables`` in groups, each in order: those that one of ``parts`` names together are in one."""
    groups = {var.name: {var.name} for var in variables}
    for part in parts:
        joined = set().union(*(groups[name] for name in part if name in groups))
        groups.update(dict.fromkeys(joined, joined))
    listed = {id(names): names for names in groups.values()}
    return [[var for var in variables if var.name in names] for names in listed.values()]


def _plainest(var: InputVariable) -> Iterator[int]:
    """The allowed values of ``var``, raw, the plainest first: for integers those from 0 up before negative ones."""
    if var.type.floating:
        form = FORMATS[var.type.bits]
        return chain.from_iterable(plainest_first(var.values or every(form), form))
    ranges, wrap = var.values or ((var.type.least, var.type.greatest),), 1 << max(var.type.bits, 1)
    up = [range(max(low, 0), high + 1) for low, high in ranges if high >= 0]
    down = [range(low, min(high, -1) + 1) for low, high in ranges if low < 0]
    return (value % wrap for value in chain.from_iterable([*up, *down]))
