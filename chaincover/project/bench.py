"""The table ``[target]`` of a project file: the bench on which a chain runs, and how its signals are recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from fractions import Fraction
from math import isfinite
from typing import Any, TypeVar

from bmc.errors import InputRefused, Location
from bmc.floats.format import FORMATS, exact, is_nan
from bmc.limits import exact_number
from bmc.records import dataclass
from bmc.system.names import find_variable, suggestion
from bmc.system.transition import TransitionSystem, Valuation, ValueType
from chaincover.project.keys import NUMBER_OF_STEPS, Keys
from chaincover.project.values import raw_value
from properties.durations import Rounding

T = TypeVar("T")

SIGNAL_KEYS: Mapping[str, str] = {
    "name": "what the signal is called in recordings; default: as the variable",
    "unit": "the unit in which it is recorded",
    "factor": "what is recorded is the value times this number; default 1",
    "offset": "what is added to that; default 0",
    "absolute": "tolerance: how much a recorded value may differ from the expected one, in the unit",
    "relative": "tolerance: the same as a part of the expected value, 0.01 for one per cent",
    "jitter": "by how many steps, or by what time, a recorded value may come earlier or later; default 0",
    "held": "true: where a sample is missing the one before holds; default: such steps are not known",
}
"""The keys of a signal in ``[target.signals]``, and what each says."""


@dataclass(frozen=True, slots=True)
class Signal:
    """How a variable is recorded: as the signal ``name``, in ``unit``, times ``factor`` and plus ``offset``.

    A recorded value may differ from the expected one by ``absolute`` (in the unit) and by ``relative`` times that, and
    come up to ``jitter`` steps earlier or later. ``held``: where a sample is missing the one before holds.
    """

    name: str
    unit: str = ""
    factor: Fraction = Fraction(1)
    offset: Fraction = Fraction(0)
    absolute: Fraction = Fraction(0)
    relative: Fraction = Fraction(0)
    jitter: int = 0
    held: bool = False
    where: Location | None = None

    @property
    def scaled(self) -> bool:
        """Whether a recorded number is another one than the value of the variable."""
        return self.factor != 1 or self.offset != 0

    def of_variable(self, variable: str) -> Signal:
        """The same tolerance where the value of the ``variable`` itself is observed, not a recorded number."""
        absolute = self.absolute / abs(self.factor)
        own = Signal(variable, self.unit, absolute=absolute, relative=self.relative)
        return replace(own, jitter=self.jitter, held=self.held)

    @property
    def tolerant(self) -> bool:
        """Whether a recorded number may differ from the expected one."""
        return bool(self.absolute or self.relative)

    def number(self, raw: int, vtype: ValueType) -> Fraction | None:
        """The number as which ``raw`` is recorded; None for NaN and infinities."""
        if not vtype.floating:
            return self.factor * vtype.value(raw) + self.offset
        form = FORMATS[vtype.bits]
        if is_nan(raw, form) or raw & form.infinity == form.infinity:
            return None
        return self.factor * exact(raw, form) + self.offset


@dataclass(frozen=True)
class Bench:
    """What a project says of the bench: ``signals`` by the names of variables as they are written there.

    ``safe`` are inputs for a target whose state is not known, one step after the other, as they are written. The bench
    may be late by ``lateness`` seconds in a step. A recording may be shifted by up to ``shift`` steps. A reset takes
    ``reset_seconds``.
    """

    signals: Mapping[str, Signal] = field(default_factory=dict)
    safe: tuple[Mapping[str, Any], ...] = ()
    lateness: float | None = None
    shift: int = 0
    driver: str = ""
    where: Location | None = None
    reset_seconds: float | None = None

    def of(self, system: TransitionSystem) -> dict[str, Signal]:
        """The signals by the full names of the variables of ``system``. InputRefused for an unknown name, or a second
        signal of one variable or of one name."""
        names = [*(var.name for var in system.inputs), *(var.name for var in system.visible_state)]
        found: dict[str, Signal] = {}
        for written, signal in self.signals.items():
            name = find_variable(written, names, signal.where)
            if name in found:
                raise InputRefused(f"a second signal of '{name}'", signal.where, "leave one of them out")
            same = next((other for other, each in found.items() if each.name == signal.name), "")
            if same:
                text = f"the signal '{signal.name}' is that of '{same}' already"
                raise InputRefused(text, signal.where, "give each variable a signal of its own")
            found[name] = signal
        return found

    def safe_inputs(self, system: TransitionSystem) -> tuple[Valuation, ...]:
        """The safe inputs as raw values, one mapping for each step. InputRefused unless each input has a value."""
        names = {var.name: var for var in system.inputs}
        steps, before = list[Valuation](), dict[str, int]()
        for written in self.safe:
            for text, value in written.items():
                name = find_variable(text, [*names], self.where, what="input")
                before = {**before, name: raw_value(value, names[name].type, self.where or Location(""), name)}
            missing = [name for name in names if name not in before]
            if missing:
                raise InputRefused(f"'safe' gives no value for the input '{missing[0]}'", self.where, "add it")
            steps.append(before)
        return tuple(steps)


def read_bench(keys: Keys) -> Bench:
    """What the table ``[target]`` says; all that is wrong is noted in ``keys``."""
    table = keys.table("target")
    signals = table.get("signals", {})
    if not isinstance(signals, dict):
        keys.refuse(keys.wrong("signals", 'a table such as [target.signals] "s->lamp" = "Lamp"', "target"))
        signals = {}
    safe = table.get("safe", [])
    safe = [safe] if isinstance(safe, dict) else safe
    if not isinstance(safe, list) or not all(isinstance(each, dict) for each in safe):
        keys.refuse(keys.wrong("safe", "a table of inputs and their values, or a list of such tables", "target"))
        safe = []
    where = keys.where("target") if "target" in keys.data else None
    return Bench(
        {name: _signal(keys, name, value) for name, value in signals.items()},
        tuple(safe),
        keys.number("target", "lateness"),
        keys.steps("target", "shift", Rounding.AT_MOST) or 0,
        keys.string("target", "driver"),
        keys.where("safe", "target") if safe else where,
        keys.number("target", "reset_seconds"),
    )


def _signal(keys: Keys, variable: str, value: Any) -> Signal:
    where = keys.where(variable, "target.signals")
    if isinstance(value, str):
        return Signal(value, where=where)
    if not isinstance(value, dict):
        keys.refuse(InputRefused(f"the signal of '{variable}' must be its name in quotes, or a table", where))
        return Signal(variable)
    for key in value:
        if key not in SIGNAL_KEYS:
            keys.refuse(InputRefused(f"unknown key '{key}' of a signal", where, suggestion(key, [*SIGNAL_KEYS])))
    read = _SignalReader(keys, variable, value, where)
    signal = Signal(
        read.value("name", str, variable, "a text in quotes"),
        read.value("unit", str, "", "a text in quotes"),
        read.number("factor", 1, "a number other than 0", lambda number: number != 0),
        read.number("offset", 0, "a number", lambda number: True),
        read.number("absolute", 0, "a number that is not negative", lambda number: number >= 0),
        read.number("relative", 0, "a number of at least 0 and below 1", lambda number: 0 <= number < 1),
        read.value("jitter", int, 0, NUMBER_OF_STEPS),
        read.value("held", bool, False, "true or false"),
        where,
    )
    if signal.absolute and not signal.unit:
        hint = 'write the unit in which it is recorded, such as unit = "mm"; "1" for a plain number'
        keys.refuse(InputRefused(f"the tolerance of the signal of '{variable}' has no unit", where, hint))
    return signal


@dataclass(frozen=True)
class _SignalReader:
    """Reads the table of the signal of a ``variable``; what is of another type is noted, and the default stands."""

    keys: Keys
    variable: str
    table: Mapping[str, Any]
    where: Location

    def value(self, key: str, kind: type[T], default: T, needed: str) -> T:
        """The value of ``key``; a number is not negative, and one of steps may be a time."""
        found = self.table.get(key, default)
        if kind is int:
            found = self.keys.in_steps(key, found, Rounding.AT_MOST, self.where)
        if type(found) is kind and not (isinstance(found, int) and found < 0):
            return found
        self._refuse(key, needed)
        return default

    def number(self, key: str, default: int, needed: str, good: Callable[[float], bool]) -> Fraction:
        """The number of ``key``, exactly as it is written."""
        found = self.table.get(key, default)
        if isinstance(found, int | float) and not isinstance(found, bool) and isfinite(found) and good(found):
            return exact_number(found)
        self._refuse(key, needed)
        return Fraction(default)

    def _refuse(self, key: str, needed: str) -> None:
        self.keys.refuse(InputRefused(f"'{key}' of the signal of '{self.variable}' must be {needed}", self.where))
