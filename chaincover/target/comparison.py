"""A run that was observed beside the one that was expected: where each variable first differs, with values around."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING

from bmc.errors import counted
from bmc.records import dataclass
from bmc.system.transition import Run, TransitionSystem
from chaincover.project.values import show_value

if TYPE_CHECKING:
    from chaincover.project.bench import Signal

AROUND = 2
"""Steps before and after a deviation of which the values are shown. Twice as many: longer messages."""


@dataclass(frozen=True)
class Observed:
    """What was observed of a run: values of each step (``inputs``) and after so many steps (``states``), as far as they
    were, as the ``signals`` of variables say; and the run that was ``expected``: that of the chain, or where other
    inputs were applied, that of the model under these, with the inputs of the chain."""

    inputs: Sequence[Mapping[str, int | Fraction]]
    states: Sequence[Mapping[str, int | Fraction]]
    expected: Run
    signals: Mapping[str, Signal] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Surrounding:
    """The values before ``step`` of the variable that deviates: as expected, and as observed ('': not)."""

    step: int
    expected: str
    actual: str


@dataclass(frozen=True, slots=True)
class Difference:
    """Before ``step`` (the number of all steps: at the end) ``variable`` is ``actual`` on ``on``, not ``expected`` as
    ``of`` has it; there for the first time, and at so many ``times``, steps and the end, in all."""

    variable: str
    step: int
    expected: str
    actual: str
    on: str
    of: str
    times: int = 1

    @property
    def told(self) -> str:
        """The difference as a sentence."""
        more = f" (and at {counted(self.times - 1, 'later step')})" if self.times > 1 else ""
        return f"before step {self.step} '{self.variable}' is {self.actual} {self.on}, {self.expected} {self.of}{more}"


Value = tuple[str, int, int, int]
"""A variable, the step before which it has a raw value, the value that is expected, and its own."""


def differences(system: TransitionSystem, found: Iterable[Value], on: str, of: str) -> list[Difference]:
    """What was ``found``, in the order of steps, as one difference for each variable: outputs first, else by steps.

    ``on`` is where the values were seen, and ``of`` where the expected ones are from, in words.
    """
    first: dict[str, Value] = {}
    times: dict[str, int] = {}
    for value in found:
        first.setdefault(value[0], value)
        times[value[0]] = times.get(value[0], 0) + 1
    types = {var.name: var.type for var in system.state}
    outputs = {var.name for var in system.state if var.role == "output"}
    made = [
        Difference(name, step, show_value(types[name], wanted), show_value(types[name], own), on, of, times[name])
        for name, step, wanted, own in first.values()
    ]
    return sorted(made, key=lambda each: (each.variable not in outputs, each.step))


@dataclass(frozen=True, slots=True)
class Deviation:
    """Before ``step`` (at the end: the number of steps) ``variable`` is ``actual`` where the model has ``expected``.

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
