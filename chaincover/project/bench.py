"""The table ``[target]`` of a project file: the bench on which a chain runs, and how its signals are recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from fractions import Fraction
from math import isfinite
from typing import Any

from bmc.errors import InputRefused, Location
from bmc.floats.format import FORMATS, exact, is_nan
from bmc.records import dataclass
from bmc.system.names import find_variable, suggestion
from bmc.system.transition import TransitionSystem, Valuation, ValueType
from chaincover.project.keys import Keys
from chaincover.project.values import raw_value

SIGNAL_KEYS: Mapping[str, str] = {
    "name": "what the signal is called in recordings; default: as the variable",
    "unit": "the unit in which it is recorded",
    "factor": "what is recorded is the value times this number; default 1",
    "offset": "what is added to that; default 0",
    "absolute": "tolerance: how much a recorded value may differ from the expected one, in the unit",
    "relative": "tolerance: the same as a part of the expected value, 0.01 for one per cent",
    "jitter": "by how many steps a recorded value may come earlier or later; default 0",
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
    may be late by ``lateness`` seconds in a step. A recording may be shifted by up to ``shift`` steps.
    """

    signals: Mapping[str, Signal] = field(default_factory=dict)
    safe: tuple[Mapping[str, Any], ...] = ()
    lateness: float | None = None
    shift: int = 0
    driver: str = ""
    where: Location | None = None

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
        keys.whole("target", "shift") or 0,
        keys.string("target", "driver"),
        keys.where("safe", "target") if safe else where,
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
    numbers = {}
    for key in ("factor", "offset", "absolute", "relative"):
        number = value.get(key, 1 if key == "factor" else 0)
        good = isinstance(number, int | float) and not isinstance(number, bool) and isfinite(number)
        if not good or (key == "factor" and not number) or (key in ("absolute", "relative") and not number >= 0):
            needed = "a number other than 0" if key == "factor" else "a number"
            needed += " that is not negative" if key in ("absolute", "relative") else ""
            keys.refuse(InputRefused(f"'{key}' of the signal of '{variable}' must be {needed}", where))
            number = 1 if key == "factor" else 0
        numbers[key] = Fraction(str(number))
    if numbers["relative"] >= 1:
        keys.refuse(InputRefused(f"'relative' of the signal of '{variable}' must be below 1", where))
        numbers["relative"] = Fraction(0)
    jitter, held = value.get("jitter", 0), value.get("held", False)
    if isinstance(jitter, bool) or not isinstance(jitter, int) or jitter < 0:
        keys.refuse(InputRefused(f"'jitter' of the signal of '{variable}' must be a number of steps", where))
        jitter = 0
    if not isinstance(held, bool):
        keys.refuse(InputRefused(f"'held' of the signal of '{variable}' must be true or false", where))
        held = False
    name, unit = (value.get(key, default) for key, default in (("name", variable), ("unit", "")))
    if not isinstance(name, str) or not isinstance(unit, str):
        keys.refuse(InputRefused(f"'name' and 'unit' of the signal of '{variable}' must be texts in quotes", where))
        name, unit = variable, ""
    if numbers["absolute"] and not unit:
        hint = 'write the unit in which it is recorded, such as unit = "mm"; "1" for a plain number'
        keys.refuse(InputRefused(f"the tolerance of the signal of '{variable}' has no unit", where, hint))
    return Signal(name, unit, jitter=jitter, held=held, where=where, **numbers)
