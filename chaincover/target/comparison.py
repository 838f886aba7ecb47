"""A run that was observed beside the one that was expected: where they first deviate, with the values around it."""

from __future__ import annotations

from collections.abc import Sequence

from bmc.records import dataclass

AROUND = 2
"""Steps before and after a deviation of which the values are shown. Twice as many: longer messages."""


@dataclass(frozen=True, slots=True)
class Surrounding:
    """The values of the variable that deviates, after so many steps: as expected, and as observed ('': not)."""

    step: int
    expected: str
    actual: str


@dataclass(frozen=True, slots=True)
class Deviation:
    """After ``step`` steps ``variable`` is ``actual`` where the model has ``expected``.

    ``serves`` are the goals that the chain leads to or has under way in the step before it.
    """

    variable: str
    step: int
    expected: str
    actual: str
    around: tuple[Surrounding, ...] = ()
    serves: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was compared: ``signals`` (variables), at so many ``steps``; ``first`` is the first deviation, ``number``
    how many values deviate. ``agrees`` is the number of steps up to which all outputs were observed and none deviates.
    """

    signals: tuple[str, ...] = ()
    steps: int = 0
    first: Deviation | None = None
    number: int = 0
    agrees: int = 0


def around(step: int, expected: Sequence[str], actual: Sequence[str]) -> tuple[Surrounding, ...]:
    """The values around ``step``, of those that a variable should have had and those that it had."""
    last = min(step + AROUND + 1, len(expected), len(actual))
    return tuple(Surrounding(each, expected[each], actual[each]) for each in range(max(0, step - AROUND), last))
