"""What the project says about values: ranges of inputs and state, and constraints between inputs.

Ranges of floating variables are numbers and intervals, as ranges over IEEE-754 patterns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from pysmt.fnode import FNode
from pysmt.shortcuts import FALSE, TRUE, Or

from bmc.errors import InputRefused, Location
from bmc.floats import ranges as intervals
from bmc.floats.format import FORMATS, canonical, is_nan, nearest, number, read, value_of
from bmc.formulas.terms import both, negate
from bmc.formulas.value_sets import Ranges, joined
from bmc.limits import DIGITS
from bmc.models.c.controller.reading import SourceConfig
from bmc.models.c.execute.floating import exact, truth
from bmc.models.c.execute.memory import Key, State, Value
from bmc.models.c.execute.recorder import Recorder
from bmc.models.c.execute.variables import CVariable, is_variable, symbol_content, variable_name
from bmc.models.c.source.types import FloatType, IntType, PointerType, type_at
from bmc.models.model import Quantity
from bmc.records import dataclass
from bmc.system.names import matching
from bmc.system.transition import Condition, InputVariable, ValueType, between, conjunction, membership

if TYPE_CHECKING:
    from bmc.models.c.controller.model import CModel

_BOOLEAN_NAMES = re.compile(r"(?i)(.*_)?bool(ean)?(8|_t|8_t)?$")


class ProjectRanges:
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
            return intervals.every(ctype.format)
        if is_boolean(variable.type):
            return ((0, 1),)
        if ctype.labels:
            return joined((value, value) for _, value in ctype.labels)
        return ((ctype.least, ctype.greatest),)

    def starts(self, variable: CVariable) -> tuple[tuple[int, int], ...]:
        """The values that a state variable may start with where init leaves it open; () for all.

        Those given restrict the tester's choice alone: a chain must work for all others that are open.
        """
        if variable.name in self.chosen and variable.name in self.given:
            return self.given[variable.name]
        if variable.type.is_pointer:
            return ((0, len(variable.type.labels) - 1),)
        return ((0, 1),) if isinstance(variable.ctype, IntType) and variable.ctype.is_bool else ()

    def bounds(self, variable: CVariable) -> tuple[int | None, int | None]:
        """Least and greatest value given for a state variable, as patterns for a floating one."""
        ranges = self.given.get(variable.name)
        if isinstance(variable.ctype, FloatType):
            form = variable.ctype.format
            ends = [end for part in ranges or () for end in part if not is_nan(end, form)]
            ends.sort(key=lambda end: number(end, form))
            return (ends[0], ends[-1]) if ends else (None, None)
        if not ranges and isinstance(variable.ctype, IntType) and variable.ctype.is_bool:
            return 0, 1
        if not ranges and variable.type.is_pointer:
            return 0, len(variable.type.labels) - 1
        return (ranges[0][0], ranges[-1][1]) if ranges else (None, None)

    def constraint(self, inputs: Sequence[InputVariable]) -> FNode:
        """Allowed values and exclusions, over plain symbols."""
        parts = [membership(variable.symbol, variable.type, variable.values) for variable in inputs]
        return conjunction([*parts, *(each.formula for each in self.exclusions())])

    def exclusions(self) -> Iterator[Condition]:
        """The exclusions between inputs, each with the text of the project."""
        for key, groups in (("at_most_one", self.config.at_most_one), ("exactly_one", self.config.exactly_one)):
            for group in groups:
                yield Condition(f"{key} = [{', '.join(group)}]", self._exclusive(group, key == "exactly_one"))

    def _exclusive(self, group: Sequence[str], exactly: bool) -> FNode:
        inputs = [v.name for v in self.model.inputs]
        variables = [v for v in self.model.variables if v.name in matching(group, inputs, self.where, "input")]
        flags = []
        for variable in variables:
            term = self.model.memory.content(variable, None).term
            assert isinstance(term, FNode)
            flags.append(truth(Value(term, variable.ctype)))
        pairs = [negate(both(a, b)) for i, a in enumerate(flags) for b in flags[i + 1 :]]
        some = Or(flags) if flags else FALSE()
        return conjunction([*pairs, some] if exactly else pairs)


def read_ranges(
    model: CModel, variable: Quantity, values: str | tuple[str, ...], where: Location
) -> tuple[tuple[int, int], ...]:
    """Values as rising inclusive ranges: of the text ``low..high``, of one value, or of several C constants.

    For a floating variable they are ranges over patterns. InputRefused, with the place ``where``, if there is none, or
    one does not fit the variable.
    """
    kind = variable.type
    if kind.floating:
        return FloatReader(model, variable.name, kind, where).ranges(values)
    if isinstance(values, str):
        low, dots, high = values.partition("..")
        if _DASHED.fullmatch(values):
            first, last = re.findall(r"\w+", values)
            text = f"'{values.strip()}' is a difference, not a range"
            raise InputRefused(text, where, f'write "{first}..{last}" for the values from {first} to {last}')
        if not dots:
            low = high = values
        ends = read_constant(model, variable, low, where), read_constant(model, variable, high, where)
        ranges: tuple[tuple[int, int], ...] = (ends,)
    else:
        ranges = joined((number, number) for number in (read_constant(model, variable, text, where) for text in values))
    if not ranges or ranges[0][0] > ranges[-1][1]:
        raise InputRefused(f"the range of '{variable.name}' is empty", where)
    greatest = 1 if kind.truth else kind.greatest
    for value in (ranges[0][0], ranges[-1][1]):
        if not kind.least <= value <= greatest:
            text = f"{value} does not fit '{variable.name}' ({kind.name}: {kind.least}..{greatest})"
            raise InputRefused(text, where)
    return ranges


_DASHED = re.compile(r"\s*\d+\s*-\s*\d+\s*", re.A)
_DECIMAL = re.compile(r"\s*-?(?:0|[1-9][0-9]{0,8})\s*", re.A)
"""A number that is the same in C for all word sizes, and that no macro changes."""


def read_constant(model: CModel, variable: Quantity, text: str, where: Location) -> int:
    """A value of ``variable``: a C constant, of a pointer the name of what it points to."""
    if not variable.type.is_pointer:
        return read_number(model, text, where)
    labels = dict(variable.type.labels)
    if text.strip() not in labels:
        message = f"'{variable.name}' does not point to '{text.strip()}'"
        raise InputRefused(message, where, f"it points to one of these: {', '.join(labels)}")
    return labels[text.strip()]


def read_number(model: CModel, text: str, where: Location) -> int:
    """The value of a C constant expression; InputRefused, with the place ``where``, if it is none."""
    if _DECIMAL.fullmatch(text):
        return int(text)
    node = model.expand_and_parse(text, where)
    scope = model.scope()
    return int(model.with_names(Recorder(), where, lambda: model.executor.constant(node, scope)))


def only_named(model: CModel) -> list[str]:
    """The inputs that only take the values that their types name: enumerators, or 0 and 1 of one called boolean.

    They could hold others, and the environment may deliver them.
    """
    inputs = [(v.name, v.type) for v in model.inputs if v.name not in model.range_texts]
    return [name for name, kind in inputs if not kind.truth and (kind.labels or is_boolean(kind))]


def is_boolean(kind: ValueType) -> bool:
    """Whether a type is meant for 0 and 1 alone: ``_Bool``, or an integer type that is called like it."""
    return not kind.floating and (kind.truth or bool(_BOOLEAN_NAMES.match(kind.name)))


MOST_STEPS = 1000
"""Values that a range with a step may have."""
_MARKS = frozenset(".eEpPnN")
"""What tells a number with a fraction or an exponent, ``inf`` and ``nan`` from a C integer."""


@dataclass(frozen=True)
class FloatReader:
    """Reads what the project says about the values of one floating variable, as patterns.

    InputRefused, with the place ``where``, for what is no number and for one that does not fit the variable.
    """

    model: CModel
    name: str
    kind: ValueType
    where: Location

    def ranges(self, values: str | tuple[str, ...]) -> Ranges:
        """Allowed patterns as rising inclusive ranges: of ``low..high``, of one number, or of a list of both.

        An interval has both zeros if it has one, and no NaN; a number in a list is that number alone. ``low..high step
        s`` is the list of ``low``, ``low`` + ``s`` and so on. InputRefused if there is none.
        """
        pieces: set[tuple[int, int]] = set()
        for text in (values,) if isinstance(values, str) else values:
            interval, stepped, step = text.partition(" step ")
            if stepped:
                pieces.update(self._grid(interval, step))
                continue
            low, dots, high = text.partition("..")
            first = self.pattern(low)
            form = FORMATS[self.kind.bits]
            pieces.update(intervals.between(first, self.pattern(high), form) if dots else ((first, first),))
        if not pieces:
            raise InputRefused(f"the range of '{self.name}' is empty", self.where)
        return joined(pieces)

    def _grid(self, interval: str, step: str) -> set[tuple[int, int]]:
        """Every number from the lower end on, in steps that are exact before each number is rounded once."""
        low, _, high = interval.partition("..")
        try:
            least, greatest, width = value_of(low), value_of(high), value_of(step)
        except ValueError:
            text = f"'{interval} step {step}' needs three plain numbers"
            raise InputRefused(text, self.where, "0.0..100.0 step 0.5") from None
        if width <= 0:
            raise InputRefused(f"the step of the range of '{self.name}' must be above 0", self.where)
        count = (greatest - least) // width + 1
        if count > MOST_STEPS:
            text = f"the range of '{self.name}' has {count} values, more than {MOST_STEPS}"
            raise InputRefused(text, self.where, "choose a larger step, or leave it out")
        found = [nearest(least + index * width, FORMATS[self.kind.bits]) for index in range(count)]
        for end in (low, high):
            self.pattern(end)
        return {(raw, raw) for raw in found}

    def pattern(self, text: str) -> int:
        """The pattern of a number, rounded once: ``12.5``, ``-inf``, ``nan``, or a C constant expression."""
        word = text.strip()
        written = written_pattern(word, self.name, self.kind, self.where)
        return self._constant(word) if written is None else written

    def _constant(self, text: str) -> int:
        model, form = self.model, FORMATS[self.kind.bits]
        node = model.expand_and_parse(text, self.where)
        recorder = Recorder()
        value: Value = model.with_names(
            recorder, self.where, lambda: model.executor.value(node, model.scope(), State(pc=TRUE()))
        )
        if isinstance(value.ctype, PointerType) or recorder.undefined_behaviour or not value.bits.is_constant():
            raise InputRefused(f"'{text}' is no constant number", self.where)
        raw = int(exact(value, FloatType(self.kind.name, self.kind.bits)).bits.constant_value())
        if raw & ~form.sign == form.infinity and not _infinite(value):
            raise _too_large(text, self.name, self.kind, self.where)
        return canonical(raw, form)


def _infinite(value: Value) -> bool:
    form = value.ctype.format if isinstance(value.ctype, FloatType) else None
    return form is not None and value.bits.constant_value() & ~form.sign == form.infinity


def _too_large(text: str, name: str, kind: ValueType, where: Location) -> InputRefused:
    return InputRefused(f"{text} does not fit '{name}' ({kind.name})", where, "write inf for infinity")


def written_pattern(text: str, name: str, kind: ValueType, where: Location) -> int | None:
    """The pattern of a floating number as it is written, rounded once; None if ``text`` is anything else.

    InputRefused, with the place ``where``, for a finite number that is too large.
    """
    try:
        return read(text, FORMATS[kind.bits]) if _MARKS & set(text) else None
    except OverflowError:
        raise _too_large(text, name, kind, where) from None
    except ValueError:
        return None


_NUMBER = re.compile(r"\s*[+-]?\d+\s*")


def input_limits(config: SourceConfig, keys: Iterable[Key]) -> FNode:
    """Bounds of the integer cells among ``keys`` that the project names as inputs, over their plain symbols.

    Only where the range is given in plain numbers; wider than the range itself where that has gaps.
    """
    cells = {variable_name(*key): key for key in keys if is_variable(key)}
    inputs = set(selected(config.input, list(cells)))
    parts = []
    for pattern, values in config.ranges.items():
        bounds = _bounds(values)
        if bounds is None:
            continue
        for name in sorted(inputs.intersection(selected([pattern], list(cells)))):
            ctype, term = type_at(cells[name][0].ctype, cells[name][1]), symbol_content(cells[name], False).term
            if isinstance(ctype, IntType) and isinstance(term, FNode):
                low, high = max(bounds[0], ctype.least), min(bounds[1], ctype.greatest)
                parts.append(between(term, ctype.value_type(), low, high))
    return conjunction(parts)


def selected(patterns: Sequence[str], names: Sequence[str]) -> list[str]:
    """The names that patterns select; what selects nothing is told later, when all names are known."""
    found: list[str] = []
    for pattern in patterns:
        try:
            found += matching([pattern], names, None, "variable")
        except InputRefused:
            continue
    return found


def _bounds(values: str | tuple[str, ...]) -> tuple[int, int] | None:
    """Least and greatest value; None where something else than plain numbers is given."""
    texts = values.split("..") if isinstance(values, str) else values
    if not texts or not all(len(text) <= DIGITS.most and _NUMBER.fullmatch(text) for text in texts):
        return None
    numbers = [int(text) for text in texts]
    return min(numbers), max(numbers)
