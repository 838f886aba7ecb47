"""A judged run as it was observed: variable by variable, with the steps at which values are not as expected, and whole,
as the run of the model with the observed values in it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from bmc.formulas.value_sets import Ranges
from bmc.records import dataclass
from bmc.system.names import DEFINED
from bmc.system.transition import Run, TransitionSystem, Valuation, ValueType
from chaincover.project.bench import Signal
from chaincover.project.values import show_value
from chaincover.target.comparison import Difference, Observed
from chaincover.target.observation import Observation
from chaincover.target.original import remembered
from chaincover.target.recording import Cell, Recording, Variable, deviating, other_inputs
from chaincover.target.recording import observed as observation_of


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


def observed_run(system: TransitionSystem, model: Run, seen: Observed) -> Run:
    """The run ``model`` with the values that were observed, as far as it was, and what the tool remembers of these.

    A value that tolerance leaves open is that of the model where it may be.
    """
    certain = observation_of(Recording("", tuple(seen.inputs), tuple(seen.states), frozenset(), seen.signals), system)
    visible = {var.name for var in system.visible_state}
    states = [
        _with_observed(own, {**row, **dict(_likely(certain, step, own, visible))})
        for step, (own, row) in enumerate(zip(model.states, certain.states, strict=False))
    ]
    part = Run(model.states[: len(states)], model.inputs[: len(states) - 1])
    return Run(remembered(system, tuple(states), part), part.inputs)


def _likely(certain: Observation, step: int, model: Valuation, names: Collection[str]) -> Iterator[tuple[str, int]]:
    """A value of each variable among ``names`` that was observed before ``step``, but not for certain."""
    found: Mapping[str, Ranges] = certain.sets.get(step, {})
    for name, ranges in found.items():
        if name in names and ranges:
            may_be = any(low <= model[name] <= high for low, high in ranges)
            yield name, model[name] if may_be else ranges[0][0]


def _with_observed(model: Valuation, row: Valuation) -> Valuation:
    """The state of the model with the values of ``row``; the same object where these are no others."""
    known = {name: value for name, value in row.items() if name in model}
    known |= {f"{name}{DEFINED}": 1 for name in known if f"{name}{DEFINED}" in model}
    return model if all(model[name] == value for name, value in known.items()) else {**model, **known}


def as_observed(system: TransitionSystem, run: Run, seen: Observed) -> Run:
    """``run`` as it is shown: what was not observed before a step has no value there."""
    names = [var.name for var in system.visible_state]
    states = (
        {**state, **{f"{name}{DEFINED}": 0 for name in names if name not in row}}
        for state, row in zip(run.states, seen.states, strict=False)
    )
    return Run(tuple(states), run.inputs)


def deviations(system: TransitionSystem, seen: Observed) -> list[Difference]:
    """For each variable of the state that deviates its first deviation: outputs first, else by steps."""
    outputs = {var.name for var in system.state if var.role == "output"}
    state = {var.name for var in system.visible_state}
    found = []
    for track in tracks(system, seen, ()):
        if track.variable in state and track.differs:
            first = track.differs[0]
            is_so = next(each.value for each in track.values if each.first <= first.first < each.end)
            times = sum(each.end - each.first for each in track.differs)
            expected, actual = first.value or "", is_so or ""
            found.append(Difference(track.variable, first.first, expected, actual, "", "in the model", times))
    return sorted(found, key=lambda each: (each.variable not in outputs, each.step))


def expected_texts(system: TransitionSystem, seen: Observed, last: int) -> dict[tuple[str, int], str]:
    """What is said of each value that deviates up to the step ``last``, by its variable and the step before which it
    was observed: what was expected, and what was observed where that is told in another unit."""
    state = {var.name for var in system.visible_state}
    found = {}
    for track in (track for track in tracks(system, seen, ()) if track.variable in state):
        for stretch in track.differs:
            for step in range(stretch.first, min(stretch.end, last + 1)):
                actual = next(each.value for each in track.values if each.first <= step < each.end)
                unit = isinstance(seen.states[step][track.variable], int)
                found[track.variable, step] = f"({'' if unit else f'{actual}, '}expected {stretch.value})"
    return found
