"""Values on their way to a target and back: numbers by the names of variables, and raw patterns."""

from __future__ import annotations

from collections.abc import Mapping

from bmc.errors import Location
from bmc.floats.format import FORMATS, show
from bmc.system.transition import Valuation, ValueType
from chaincover.project.values import raw_value
from chaincover.target.drivers import Bus, Value, Values


def number_of(vtype: ValueType, raw: int) -> Value:
    """The value of a raw pattern as a number; ``nan``, ``inf`` and ``-inf`` are words: JSON has no numbers for them."""
    if not vtype.floating:
        return vtype.value(raw)
    form = FORMATS[vtype.bits]
    text = show(raw, form)
    return text if raw & form.infinity == form.infinity else float(text)


def numbers_of(types: Mapping[str, ValueType], values: Valuation) -> dict[str, Value]:
    """The numbers of those of ``values`` that have one of ``types``, in the order of these."""
    return {name: number_of(vtype, values[name]) for name, vtype in types.items() if name in values}


def raw_inputs(bus: Bus, inputs: Values) -> Valuation:
    """The raw patterns of ``inputs``."""
    where = Location("the bench")
    return {var.name: raw_value(inputs[var.name], var.type, where, var.name) for var in bus.inputs}


def shown_outputs(bus: Bus, state: Valuation) -> dict[str, Value]:
    """The numbers of the outputs in ``state``, of those that it has."""
    return numbers_of({var.name: var.type for var in bus.outputs}, state)
