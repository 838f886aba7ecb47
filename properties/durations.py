"""Times in place of numbers of steps: ``500ms``, ``2s``, ``1.5min``, by the period of a step.

A time that is no whole number of steps is rounded to the stricter side, in exact arithmetic.
"""

from __future__ import annotations

import re
from enum import Enum
from fractions import Fraction
from math import ceil, floor

from bmc.errors import InputRefused, Location, counted
from bmc.limits import DIGITS
from bmc.records import dataclass

UNITS = {
    "us": Fraction(1, 10**6),
    "ms": Fraction(1, 10**3),
    "s": Fraction(1),
    "min": Fraction(60),
    "h": Fraction(3600),
}
"""Seconds of each unit in which a time is written."""

_TIME = re.compile(rf"(\d+(?:\.\d+)?)\s*({'|'.join(UNITS)})")
_TIME_IN_TEXT = re.compile(rf"(?<![\w.])\d+(?:\.\d+)?\s*(?:{'|'.join(UNITS)})(?!\w)")
_LIKE_A_TIME = re.compile(r"\d+(?:\.\d+)?\s*([A-Za-z]+)")

HOW = "a time is a number and a unit, such as 500ms, 2s, 1.5min"
NO_PERIOD = "set period = SECONDS in the project file, or write a number of steps"


class Rounding(Enum):
    """Which whole number of steps stands for a time that is none: the stricter one."""

    AT_MOST = "at most"
    AT_LEAST = "at least"
    EXACT = "exactly"


@dataclass(frozen=True, slots=True)
class Period:
    """How long a step takes, in ``seconds``; None where the project does not say."""

    seconds: Fraction | None = None

    def steps(self, time: str, rounding: Rounding, where: Location) -> int:
        """The number of steps for ``time``, a text that ``is_time``. InputRefused, with ``where``, if there is none."""
        DIGITS.check(len(time), where)
        found = _TIME.fullmatch(time.strip())
        assert found is not None
        if self.seconds is None:
            raise InputRefused(f"'{time}' is a time, and the period of a step is not known", where, NO_PERIOD)
        exact, step = Fraction(found[1]) * UNITS[found[2]] / self.seconds, f"a step of {seconds_text(self.seconds)}"
        if exact.denominator != 1 and rounding is Rounding.EXACT:
            text = (
                f"'{time}' is no whole number of steps: it lies between {floor(exact)} and {ceil(exact)} times {step}"
            )
            raise InputRefused(text, where, f"write a multiple of {seconds_text(self.seconds)}, or a number of steps")
        number = floor(exact) if rounding is Rounding.AT_MOST else ceil(exact)
        if number == 0:
            text = f"'{time}' is 0 steps: it is shorter than {step}" if exact else f"'{time}' is 0 steps"
            raise InputRefused(text, where, "write 0 where no step is meant, else a time of at least one step")
        return number


def is_time(text: str) -> bool:
    """Whether ``text`` is a number and a unit of time."""
    return _TIME.fullmatch(text.strip()) is not None


def no_time(text: str) -> str:
    """What is wrong with a ``text`` that is written like a time, but in no unit of time; '' if it is another one."""
    found = _LIKE_A_TIME.fullmatch(text.strip())
    if found is None or found[1] in UNITS or set(found[1].lower()) <= set("ul"):  # the suffixes of whole numbers in C
        return ""
    return f"'{found[0]}' is no time: the units are {', '.join(UNITS)}"


def time_in(text: str) -> str:
    """The first time that stands in ``text``; '' if none does."""
    found = _TIME_IN_TEXT.search(text)
    return found[0] if found else ""


def timed(steps: int, period: Fraction | None) -> str:
    """A number of steps, and the time that they take where the ``period`` is known: ``603 steps, 60.3 s``."""
    return counted(steps, "step") + ("" if period is None else f", {duration_text(steps * period)}")


def duration_text(seconds: Fraction) -> str:
    """``seconds`` as people read a time: ``60.3 s``; from two minutes on ``2 min 30 s``, then ``6 h 1 min``."""
    if seconds < 2 * UNITS["min"]:
        return seconds_text(seconds)
    hours, rest = divmod(seconds, UNITS["h"])
    minutes, rest = divmod(rest, UNITS["min"])
    parts = [f"{hours} h" if hours else "", f"{minutes} min" if minutes else "", seconds_text(rest) if rest else ""]
    return " ".join(part for part in parts if part)


def seconds_text(seconds: Fraction) -> str:
    """``seconds`` as people read it: ``60.3 s``."""
    return f"{as_decimal(seconds)} s"


def as_decimal(number: Fraction, least: int = 0) -> str:
    """A number in at least so many decimal places: exactly where as many as a floating number has suffice, else the
    nearest of these."""
    places = next((places for places in range(least, 18) if (number * 10**places).denominator == 1), None)
    if places is None:
        return repr(float(number))
    digits = f"{abs(number.numerator) * 10**places // number.denominator:0{places + 1}}"
    whole = digits[: len(digits) - places]
    return f"{'-' * (number < 0)}{whole}{'.' * bool(places)}{digits[len(whole) :]}"
