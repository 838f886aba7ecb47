"""A judged run variable by variable: the values that were observed, and the steps at which they are not as expected."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from bmc.records import dataclass
from bmc.system.transition import TransitionSystem, ValueType
from chaincover.project.bench import Signal
from chaincover.project.values import show_value
from chaincover.target.comparison import Observed
from chaincover.target.recording import Cell, Variable, deviating, other_inputs


@dataclass(frozen=True, slots=True)
class Stretch:
    """A value, or an expected one, that stays for the steps ``first`` to ``end`` - 1."""

    first: int
    end: int
    value: str | None


@dataclass(frozen=True, slots=True)
class Track:
    """The observed values of a ``variable`` before each step and at the end, in its own unit (None: not observed), and
    where they differ from the expected ones, which are told there."""

    variable: str
    values: tuple[Stretch, ...]
    differs: tuple[Stretch, ...]


def tracks(system: TransitionSystem, observed: Observed, read: Collection[str]) -> Iterator[Track]:
    """The observed inputs and outputs, and of the other variables those that are ``read`` or differ somewhere."""
    expected = observed.expected
    wrong = _wrong_inputs(system, observed) | _wrong_states(system, observed)
    parts: Sequence[tuple[Sequence[Variable], Sequence[Mapping[str, Cell]], Sequence[Mapping[str, int]]]] = (
        (system.inputs, observed.inputs, expected.inputs),
        (system.visible_state, observed.states, expected.states),
    )
    for variables, rows, wanted in parts:
        for var in variables:
            name = var.name
            aside = getattr(var, "role", "") == "state" and name not in read and name not in wrong
            if aside or not any(name in row for row in rows):
                continue
            texts = _Texts(var.type, observed.signals.get(name))
            values = _stretches(enumerate(texts.of(row.get(name)) for row in rows))
            differs = _stretches((step, texts.of(wanted[step][name])) for step in wrong.get(name, ()))
            yield Track(name, values, differs)


class _Texts:
    """The texts of a variable's values, in its own unit; each is made once."""

    def __init__(self, vtype: ValueType, signal: Signal | None) -> None:
        self._type, self._signal = vtype, signal
        self._made: dict[Cell, str] = {}

    def of(self, value: Cell | None) -> str | None:
        """The text of a value; None for none."""
        if value is None:
            return None
        if value not in self._made:
            self._made[value] = self._number(value) if isinstance(value, Fraction) else show_value(self._type, value)
        return self._made[value]

    def _number(self, number: Fraction) -> str:
        assert self._signal is not None
        return f"{float((number - self._signal.offset) / self._signal.factor):.9g}"


def _stretches(values: Iterable[tuple[int, str | None]]) -> tuple[Stretch, ...]:
    """Equal values at steps one after the other as one."""
    found: list[Stretch] = []
    for step, value in values:
        if found and found[-1].end == step and found[-1].value == value:
            found[-1] = Stretch(found[-1].first, step + 1, value)
        else:
            found.append(Stretch(step, step + 1, value))
    return tuple(found)


def _wrong_inputs(system: TransitionSystem, observed: Observed) -> dict[str, list[int]]:
    """By input the steps at which another value was applied than expected."""
    found: dict[str, list[int]] = {}
    for step, (row, wanted) in enumerate(zip(observed.inputs, observed.expected.inputs, strict=False)):
        for name in other_inputs(row, wanted, system, observed.signals):
            found.setdefault(name, []).append(step)
    return found


def _wrong_states(system: TransitionSystem, observed: Observed) -> dict[str, list[int]]:
    """By variable of the state the steps before which it had another value than expected."""
    found: dict[str, list[int]] = {}
    for step, row in enumerate(observed.states[: observed.expected.length + 1]):
        for name in deviating(row, step, observed.expected, system, observed.signals):
            found.setdefault(name, []).append(step)
    return found
