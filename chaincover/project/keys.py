"""The keys of a TOML file that users write: typed values, the place of each key, and all that is wrong at once."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from pathlib import Path
from typing import Any

from bmc.errors import InputRefused, Location, Refusals, counted
from bmc.limits import exact_number
from bmc.records import dataclass
from properties.durations import Period, Rounding, is_time

NUMBER_OF_STEPS = 'a number of steps, or a time such as "500ms"'
"""What a key with a number of steps must be."""


@dataclass(frozen=True)
class Keys:
    """The content of a project file: its path, its text, and the tables that were read from it.

    A method that reads a key of another type notes that in ``refusals``, with the key's line, and returns what stands
    for a key that is not set. ``times``: the times that were read as numbers of steps, a sentence each.
    """

    place: Path
    text: str
    data: Mapping[str, Any]
    refusals: Refusals = field(default_factory=Refusals)
    times: list[str] = field(default_factory=list)

    def table(self, table: str) -> Mapping[str, Any]:
        """The table of that name, empty if it is not there; '' is the whole file."""
        if not table:
            return self.data
        found = self.data.get(table, {})
        if not isinstance(found, dict):
            self.refuse(self.wrong(table, f"a table headed [{table}]"))
            return {}
        return found

    def string(self, table: str, key: str) -> str:
        """A text; '' if the key is not set."""
        value = self.table(table).get(key, "")
        if not isinstance(value, str):
            self.refuse(self.wrong(key, "a text in quotes", table))
            return ""
        return value

    def strings(self, table: str, key: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Texts; a single text stands for a list of one."""
        value = self.table(table).get(key)
        if value is None:
            return default
        if isinstance(value, str):
            return (value,)
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            self.refuse(self.wrong(key, "a list of texts in quotes", table))
            return default
        return tuple(value)

    def groups(self, key: str) -> tuple[tuple[str, ...], ...]:
        """Lists of names under ``[constraints]``."""
        value = self.table("constraints").get(key, [])
        good = isinstance(value, list) and all(
            isinstance(g, list) and all(isinstance(n, str) for n in g) for g in value
        )
        if not good:
            self.refuse(self.wrong(key, 'a list of lists of names, such as [["up", "down"]]'))
            return ()
        return tuple(tuple(group) for group in value)

    def named_groups(self, table: str, key: str) -> dict[str, tuple[str, ...]]:
        """A table of lists of names."""
        value = self.table(table).get(key, {})
        good = isinstance(value, dict) and all(
            isinstance(group, list) and all(isinstance(name, str) for name in group) for group in value.values()
        )
        if not good:
            self.refuse(self.wrong(key, 'a table such as { level = ["get_level", "set_level"] }', table))
            return {}
        return {name: tuple(group) for name, group in value.items()}

    def named_numbers(self, table: str, key: str) -> dict[str, str]:
        """A table of numbers, or of C constants in quotes, as texts."""
        value = self.table(table).get(key, {})
        if not isinstance(value, dict) or not all(isinstance(v, str | int | float) for v in value.values()):
            self.refuse(self.wrong(key, 'a table such as { GAIN = 4, "LIMITS.high" = "MAX_LEVEL" }', table))
            return {}
        return {name: str(int(v)) if isinstance(v, bool) else str(v) for name, v in value.items()}

    def range(self, name: str, value: Any) -> str | tuple[str, ...]:
        """The text of a range, or the texts of a list of values."""
        if isinstance(value, str):
            return value
        if not isinstance(value, list) or not all(isinstance(v, str | int | float) for v in value):
            self.refuse(self.wrong(name, 'a list of values, or a range such as "0..9"'))
            return ()
        return tuple(str(int(v)) if isinstance(v, bool) else str(v) for v in value)

    def number(self, table: str, key: str) -> float | None:
        """A finite number above 0; None if the key is not set."""
        value = self.table(table).get(key)
        found = self._above_0(value)
        if found is None and value is not None:
            self.refuse(self.wrong(key, "a number above 0"))
        return None if found is None else float(found)

    def whole(self, table: str, key: str) -> int | None:
        """A number of 0, 1, 2 and so on; None if the key is not set."""
        value = self.table(table).get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
            self.refuse(self.wrong(key, "a whole number"))
            return None
        return value

    def steps(self, table: str, key: str, rounding: Rounding) -> int | None:
        """A number of steps, perhaps written as a time; None if the key is not set."""
        value = self.in_steps(key, self.table(table).get(key), rounding, self.where(key, table))
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
            self.refuse(self.wrong(key, NUMBER_OF_STEPS, table))
            return None
        return value

    def in_steps(self, key: str, value: Any, rounding: Rounding, where: Location) -> Any:
        """A ``value`` that is a time in quotes as a number of steps; one that is none of those is noted, and 1 stands
        for it. Any other value as it is."""
        if not isinstance(value, str) or not is_time(value):
            return value
        try:
            found = self.period.steps(value, rounding, where)
        except InputRefused as error:
            self.refuse(error)
            return 1
        self.times.append(f"{key} {value} is {counted(found, 'step')}")
        return found

    @property
    def period(self) -> Period:
        """How long a step takes; nothing where the key does not say, or is no number above 0."""
        return Period(self._above_0(self.data.get("period")))

    @staticmethod
    def _above_0(value: Any) -> Fraction | None:
        good = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= sys.float_info.max
        return exact_number(value) if good else None

    def flag(self, table: str, key: str) -> bool:
        """True or false; false if the key is not set."""
        value = self.table(table).get(key, False)
        if not isinstance(value, bool):
            self.refuse(self.wrong(key, "true or false", table))
            return False
        return value

    def choice(self, table: str, key: str, allowed: Sequence[str], default: str) -> str:
        """One of the allowed texts."""
        value = self.string(table, key) or default
        if value not in allowed:
            self.refuse(self.wrong(key, f"one of {', '.join(allowed)}"))
            return default
        return value

    def refuse(self, error: InputRefused) -> None:
        """Note that something is wrong; it is told with all else that is wrong with the file."""
        self.refusals.add(error)

    def wrong(self, key: str, needed: str, table: str = "") -> InputRefused:
        """The refusal of a key's value."""
        return InputRefused(f"'{key}' must be {needed}", self.where(key, table))

    def where_is(self, key: str, text: str) -> Location:
        """The line and column of one of the texts in the list of ``key``; the line of ``key`` if it is not found."""
        start = self.where(key)
        for number, row in enumerate(self.text.splitlines(), 1):
            found = next((row.index(q + text + q) for q in "\"'" if q + text + q in row), None)
            if start.line and number >= start.line and found is not None:
                return Location(str(self.place), number, found + 2)
        return start

    def where(self, key: str, table: str = "") -> Location:
        """The line on which ``key`` is set; of several that below the heading of ``table``."""
        quoted = re.escape(key)
        pattern = re.compile(rf'\s*(?:\[+\s*)?["\']?{quoted}["\']?\s*(?:=|\])')
        found: list[Location] = []
        below = ""
        for number, row in enumerate(self.text.splitlines(), 1):
            heading = re.match(r"\s*\[+\s*([\w.]+)\s*\]", row)
            below = heading[1] if heading else below
            if pattern.match(row):
                place = Location(str(self.place), number, len(row) - len(row.lstrip()) + 1)
                if below == table:
                    return place
                found.append(place)
        return found[0] if found else Location(str(self.place))
