"""Allowed values of inputs, ranges of state, and the constraints between inputs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pysmt.fnode import FNode
from pysmt.shortcuts import BVSGE, BVSLE, BVUGE, BVULE, FALSE, TRUE, And, Or

from bmc.c.controller.float_ranges import read_float_ranges
from bmc.c.controller.model import CModel
from bmc.c.execute.floating import truth
from bmc.c.execute.memory import Value
from bmc.c.execute.recorder import Recorder
from bmc.c.source.config import SourceConfig
from bmc.c.source.types import Arithmetic, FloatType, IntType
from bmc.c.source.variables import CVariable, matching
from bmc.errors import InputRefused, Location
from bmc.floats.format import is_nan, number
from bmc.floats.ranges import every
from bmc.formulas.terms import both, constant, either, equals, negate
from bmc.system.transition import InputVariable, ValueType, conjunction

_BOOLEAN_NAMES = re.compile(r"(?i)(.*_)?bool(ean)?(8|_t|8_t)?$")


class Ranges:
    """The project's ranges and input constraints, read as C constants and expressions."""

    def __init__(self, model: CModel, config: SourceConfig) -> None:
        self.model = model
        self.config = config
        self.where = config.where or Location(config.files[0])
        self.chosen = set(matching(config.chosen, model.names, config.where, "state variable"))
        self.given: dict[str, tuple[tuple[int, int], ...]] = {}
        self.texts: dict[str, str | tuple[str, ...]] = {}
        for text, values in config.ranges.items():
            selected = matching([text], model.names, config.where, "variable")
            for variable in model.variables:
                if variable.name in selected:
                    self.given[variable.name] = read_ranges(model, variable, values, self.where)
                    self.texts[variable.name] = values

    def allowed(self, variable: CVariable) -> tuple[tuple[int, int], ...]:
        """Allowed values of an input as rising inclusive ranges: as given, else by its type."""
        if variable.name in self.given:
            return self.given[variable.name]
        ctype = variable.ctype
        if isinstance(ctype, FloatType):
            return every(ctype.format)
        if is_boolean(ctype):
            return ((0, 1),)
        if ctype.labels:
            return joined(value for _, value in ctype.labels)
        return ((ctype.least, ctype.greatest),)

    def bounds(self, variable: CVariable) -> tuple[int | None, int | None]:
        """Least and greatest value given for a state variable, as patterns for a floating one."""
        ranges = self.given.get(variable.name)
        if isinstance(variable.ctype, FloatType):
            form = variable.ctype.format
            ends = [end for part in ranges or () for end in part if not is_nan(end, form)]
            ends.sort(key=lambda end: number(end, form))
            return (ends[0], ends[-1]) if ends else (None, None)
        return (ranges[0][0], ranges[-1][1]) if ranges else (None, None)

    def constraint(self, inputs: Sequence[InputVariable]) -> FNode:
        """Allowed values and exclusions, over plain symbols."""
        parts = [membership(variable) for variable in inputs]
        for group in self.config.at_most_one:
            parts.append(self._exclusive(group, exactly=False))
        for group in self.config.exactly_one:
            parts.append(self._exclusive(group, exactly=True))
        return conjunction(parts)

    def _exclusive(self, group: Sequence[str], exactly: bool) -> FNode:
        inputs = [v.name for v in self.model.inputs]
        variables = [v for v in self.model.variables if v.name in matching(group, inputs, self.where, "input")]
        flags = []
        for variable in variables:
            term = self.model.content(variable, None).term
            assert isinstance(term, FNode)
            flags.append(truth(Value(term, variable.ctype)))
        pairs = [negate(both(a, b)) for i, a in enumerate(flags) for b in flags[i + 1 :]]
        some = Or(flags) if flags else FALSE()
        return conjunction([*pairs, some] if exactly else pairs)


def read_ranges(
    model: CModel, variable: CVariable, values: str | tuple[str, ...], where: Location
) -> tuple[tuple[int, int], ...]:
    """Values as rising inclusive ranges: of the text ``low..high``, of one value, or of several C constants.

    For a floating variable they are ranges over patterns. InputRefused, with the place ``where``, if there is none, or
    one does not fit the variable.
    """
    ctype = variable.ctype
    if isinstance(ctype, FloatType):
        return read_float_ranges(model, variable.name, ctype, values, where)
    if isinstance(values, str):
        low, dots, high = values.partition("..")
        if not dots:
            low = high = values
        ranges: tuple[tuple[int, int], ...] = ((read_number(model, low, where), read_number(model, high, where)),)
    else:
        ranges = joined(read_number(model, text, where) for text in values)
    if not ranges or ranges[0][0] > ranges[-1][1]:
        raise InputRefused(f"the range of '{variable.name}' is empty", where)
    for value in (ranges[0][0], ranges[-1][1]):
        if not ctype.least <= value <= ctype.greatest:
            text = f"{value} does not fit '{variable.name}' ({ctype.name}: {ctype.least}..{ctype.greatest})"
            raise InputRefused(text, where)
    return ranges


def read_number(model: CModel, text: str, where: Location) -> int:
    """The value of a C constant expression; InputRefused, with the place ``where``, if it is none."""
    node = model.expand_and_parse(text, where)
    scope = model.scope()
    return int(model.with_names(Recorder(), where, lambda: model.executor.constant(node, scope)))


def is_boolean(ctype: Arithmetic) -> bool:
    """Whether a type is meant for 0 and 1 alone: ``_Bool``, or an integer type that is called like it."""
    return isinstance(ctype, IntType) and (ctype.is_bool or bool(_BOOLEAN_NAMES.match(ctype.name)))


def joined(numbers: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Numbers as rising inclusive ranges."""
    ranges: list[tuple[int, int]] = []
    for value in sorted(set(numbers)):
        if ranges and value == ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], value)
        else:
            ranges.append((value, value))
    return tuple(ranges)


def membership(variable: InputVariable) -> FNode:
    """That an input has one of its allowed values."""
    result = FALSE()
    for low, high in variable.values:
        result = either(result, _between(variable.symbol, low, high, variable.type))
    return result


def _between(symbol: FNode, low: int, high: int, vtype: ValueType) -> FNode:
    if low == high:
        return equals(symbol, constant(low, vtype.bits))
    below, above = (BVSLE, BVSGE) if vtype.signed else (BVULE, BVUGE)
    parts = []
    if low > vtype.least:
        parts.append(above(symbol, constant(low, vtype.bits)))
    if high < vtype.greatest:
        parts.append(below(symbol, constant(high, vtype.bits)))
    return And(parts) if len(parts) > 1 else parts[0] if parts else TRUE()
