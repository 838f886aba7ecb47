"""What a bench recorded, step by step, and what that says of the run: certain values, and sets of possible ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import field
from fractions import Fraction
from math import ceil, floor

from bmc.errors import InputRefused, Location
from bmc.floats.format import FORMATS, is_nan, nearest
from bmc.floats.ranges import between
from bmc.formulas.value_sets import Ranges, only, united
from bmc.records import dataclass
from bmc.system.transition import InputVariable, Run, StateVariable, TransitionSystem, Valuation, ValueType
from chaincover.formats.rows import defined
from chaincover.project.bench import Signal
from chaincover.project.values import parse_value, show_value
from chaincover.target.comparison import Comparison, Deviation, around
from chaincover.target.observation import Observation

Variable = InputVariable | StateVariable
Cell = int | Fraction
"""A recorded value: the raw pattern of its variable, or a number in the unit of the signal where that is another one,
or may differ from the expected one."""


@dataclass(frozen=True)
class StartRow:
    """How the row of a table looks that has the values before the first step: what each of its ``cells`` has, the name
    of a variable, the word that says which row it is, or nothing; ``between`` is the mark between columns.

    ``added``: the table has no column with the numbers of its steps, and the first cell is that of one.
    """

    cells: tuple[str, ...]
    between: str
    added: bool


@dataclass(frozen=True)
class Recording:
    """A run as it was recorded, from a reset on.

    ``inputs`` has for each step, and ``states`` for each number of steps from 0 on, the cells that were recorded, by
    the names of variables. ``recorded`` are the variables that the recording has at all. ``signals`` says how each is
    recorded. ``notes`` say what a reader should know. ``late`` are the steps that the bench began too late.
    ``start_row``: how a table is to tell the values before the first step, where it may and does not.
    """

    source: str
    inputs: tuple[Mapping[str, Cell], ...]
    states: tuple[Mapping[str, Cell], ...]
    recorded: frozenset[str]
    signals: Mapping[str, Signal] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    late: frozenset[int] = frozenset()
    start_row: StartRow | None = None

    @property
    def length(self) -> int:
        """Number of steps."""
        return len(self.inputs)


def like_start_row(row: StartRow, state: Valuation, system: TransitionSystem, signals: Mapping[str, Signal]) -> str:
    """The row with the values of ``state``, the first one of the model, as they would be recorded; those that are not
    defined there are left empty."""
    known = {var.name: var for var in system.visible_state if defined([var], state)}
    texts = {name: _recorded(state[name], var, signals.get(name)) for name, var in known.items()}
    variables = {var.name for var in system.visible_state}
    return row.between.join(texts.get(each, "") if each in variables else each for each in row.cells)


def _recorded(raw: int, variable: Variable, signal: Signal | None) -> str:
    """A value as a table has it."""
    number = signal.number(raw, variable.type) if signal is not None and signal.scaled else None
    return show_value(variable.type, raw) if number is None else f"{float(number):.9g}"


def cell(text: str, variable: Variable, signal: Signal | None, where: Location) -> Cell:
    """The value that ``text`` records. InputRefused, with its place, if it is none."""
    vtype = variable.type
    if signal is None or not (signal.scaled or signal.tolerant):
        return parse_value(text, vtype, where, variable.name)
    word = text.strip()
    labels = dict(vtype.labels)
    if word in labels:
        return signal.factor * labels[word] + signal.offset
    try:
        number = Fraction(word)
        if "_" in word or "/" in word:
            raise ValueError
    except (ValueError, ZeroDivisionError):
        hint = "write a number; a signal with a tolerance, a factor or an offset has no 'nan' and no 'inf'"
        raise InputRefused(f"'{word}' is no number of the signal '{signal.name}'", where, hint) from None
    if not possible(number, vtype, signal):
        text = f"no value of '{variable.name}' ({vtype.name}) is recorded as {word}"
        raise InputRefused(text, where, "look at 'factor' and 'offset' of the signal, or allow a tolerance")
    return number


def possible(number: Fraction, vtype: ValueType, signal: Signal) -> Ranges:
    """The raw values that are recorded as ``number``, within the tolerance of ``signal``.

    Of floating ones without a tolerance the nearest. A value may differ by the relative tolerance of itself, which the
    bounds take into account.
    """
    low, high = ((end - signal.offset) / signal.factor for end in _ends(number, signal))
    low, high = min(low, high), max(low, high)
    if vtype.floating:
        form = FORMATS[vtype.bits]
        first, last = nearest(low, form), nearest(high, form)
        if is_nan(first, form) or is_nan(last, form):
            return ()
        return united(between(first, last, form))
    least, greatest = max(ceil(low), vtype.least), min(floor(high), 1 if vtype.truth else vtype.greatest)
    if least > greatest:
        return ()
    size = 1 << max(vtype.bits, 1)
    first, last = least % size, greatest % size
    return ((first, last),) if first <= last else ((0, last), (first, size - 1))


def _ends(number: Fraction, signal: Signal) -> tuple[Fraction, Fraction]:
    """Between which numbers those lie from which ``number`` differs by no more than the tolerance."""
    ends = []
    for by in (signal.absolute, -signal.absolute):
        ends += [(number + by) / (1 + part) for part in (signal.relative, -signal.relative)]
    return min(ends), max(ends)


def observed(recording: Recording, system: TransitionSystem) -> Observation:
    """What the recording says of a run of ``system``: a value that tolerance and jitter leave open is a set.

    What was not recorded before the first step is not known there, even after a reset: a target that answers constants
    has them there too. A signal with jitter may come earlier or later, but loses no value: so one that is less than the
    jitter away from an end of the recording, or from a missing sample, is not known.
    """
    types = {var.name: var.type for var in system.inputs} | {var.name: var.type for var in system.state}
    sets: dict[int, dict[str, Ranges]] = {}
    certain = [
        [_certain(rows, step, types, recording.signals, sets) for step in range(len(rows))]
        for rows in (recording.states, recording.inputs)
    ]
    return Observation(tuple(certain[0]), tuple(certain[1]), sets, recording.recorded, recording.late)


def _certain(
    rows: Sequence[Mapping[str, Cell]],
    step: int,
    types: Mapping[str, ValueType],
    signals: Mapping[str, Signal],
    sets: dict[int, dict[str, Ranges]],
) -> dict[str, int]:
    """The certain values of a row; into ``sets`` come those of the other recorded ones."""
    found: dict[str, int] = {}
    for name, value in rows[step].items():
        signal = signals.get(name)
        if signal is None or not (signal.jitter or isinstance(value, Fraction)):
            assert isinstance(value, int)
            found[name] = value
            continue
        near = rows[max(0, step - signal.jitter) : step + signal.jitter + 1]
        if len(near) <= 2 * signal.jitter or not all(name in row for row in near):
            continue
        pieces = [piece for row in near for piece in _pieces(row[name], types[name], signal)]
        ranges = united(pieces)
        single = only(ranges)
        if single is None:
            sets.setdefault(step, {})[name] = ranges
        else:
            found[name] = single
    return found


def _pieces(value: Cell, vtype: ValueType, signal: Signal) -> Ranges:
    return possible(value, vtype, signal) if isinstance(value, Fraction) else ((value, value),)


def compared(
    recording: Recording,
    expected: Run,
    system: TransitionSystem,
    serves: Callable[[int], Sequence[str]] = lambda step: (),
) -> Comparison:
    """The comparison of what was recorded of the state and the outputs with ``expected``.

    All outputs, and all that the project names as signals, at least one variable, have to be there after each step for
    it to agree. ``serves`` gives the goals that the chain serves in a step.
    """
    state = {var.name: var for var in system.visible_state}
    signals = [name for name in state if any(name in row for row in recording.states[1:])]
    required = {name for name, var in state.items() if var.role == "output" or name in recording.signals}
    first, number, agrees, whole = None, 0, 0, bool(signals)
    last = min(recording.length, expected.length)
    seen = sum(map(bool, recording.states[1 : last + 1]))
    for step in range(last + 1):
        row = recording.states[step]
        wrong = deviating(row, step, expected, system, recording.signals)
        if wrong and first is None:
            first = _deviation(recording, expected, state[wrong[0]], step, serves)
        number += len(wrong)
        whole = whole and not wrong and _complete(row, step, required)
        agrees = step if whole else agrees
    return Comparison(tuple(signals), seen, first, number, agrees)


def _complete(row: Mapping[str, Cell], step: int, required: Set[str]) -> bool:
    """Whether a row was recorded after so many steps, and has all that is ``required``; before the first nothing is."""
    return not step or (bool(row) and row.keys() >= required)


def _deviation(
    recording: Recording, expected: Run, variable: StateVariable, step: int, serves: Callable[[int], Sequence[str]]
) -> Deviation:
    """What is said of the value of ``variable`` after ``step`` steps, which deviates."""
    name = variable.name
    actual = [_shown(recording, each, name, variable) for each in range(recording.length + 1)]
    wanted = [_expected(each[name], variable, recording.signals.get(name)) for each in expected.states]
    served = tuple(serves(max(step - 1, 0)))
    return Deviation(name, step, wanted[step], actual[step], around(step, wanted, actual), served)


def _shown(recording: Recording, step: int, name: str, variable: Variable) -> str:
    value = recording.states[step].get(name)
    if value is None:
        return ""
    return _number(value, recording.signals[name]) if isinstance(value, Fraction) else show_value(variable.type, value)


def _expected(raw: int, variable: Variable, signal: Signal | None) -> str:
    """An expected value as it would be recorded."""
    number = signal.number(raw, variable.type) if signal is not None and signal.scaled else None
    return show_value(variable.type, raw) if signal is None or number is None else _number(number, signal)


def _number(number: Fraction, signal: Signal) -> str:
    text = f"{float(number):.9g}"
    return f"{text} {signal.unit}".strip() if signal.unit != "1" else text


def deviating(
    row: Mapping[str, Cell], step: int, expected: Run, system: TransitionSystem, signals: Mapping[str, Signal]
) -> list[str]:
    """The variables whose values in ``row``, after so many steps, are not the expected ones.

    A value that the program does not define there may be any; before the first step that is one that init leaves open.
    """
    known = [var for var in system.visible_state if step or var.init is not None or var.name in system.chosen]
    return [
        var.name
        for var in known
        if var.name in row and not _fits(row[var.name], var, step, expected, signals.get(var.name))
    ]


def _fits(value: Cell, variable: StateVariable, step: int, expected: Run, signal: Signal | None) -> bool:
    """Whether a recorded value is the expected one, within tolerance and jitter."""
    name, vtype, jitter = variable.name, variable.type, 0 if signal is None else signal.jitter
    for state in expected.states[max(0, step - jitter) : step + jitter + 1]:
        if not defined([variable], state):
            return True
        if isinstance(value, int):
            if value == state[name]:
                return True
            continue
        assert signal is not None
        wanted = signal.number(state[name], vtype)
        if wanted is None:
            continue
        if abs(value - wanted) <= signal.absolute + signal.relative * abs(wanted):
            return True
        if not signal.tolerant and any(low <= state[name] <= high for low, high in possible(value, vtype, signal)):
            return True
    return False


def other_inputs(
    row: Mapping[str, Cell], wanted: Mapping[str, int], system: TransitionSystem, signals: Mapping[str, Signal]
) -> Iterator[str]:
    """The inputs that were recorded in a step with other values than those ``wanted``."""
    types = {var.name: var.type for var in system.inputs}
    for name, value in row.items():
        if isinstance(value, int):
            same = value == wanted[name]
        else:
            pieces = possible(value, types[name], signals.get(name) or Signal(name))
            same = any(low <= wanted[name] <= high for low, high in pieces)
        if not same:
            yield name


def differing_inputs(
    recording: Recording, inputs: Sequence[Mapping[str, int]], system: TransitionSystem
) -> Iterator[str]:
    """Where the recorded inputs differ from those of the chain, in words, step by step."""
    types = {var.name: var.type for var in system.inputs}
    for step, (row, wanted) in enumerate(zip(recording.inputs, inputs, strict=False)):
        for name in other_inputs(row, wanted, system, recording.signals):
            value = row[name]
            was = show_value(types[name], value) if isinstance(value, int) else f"{float(value):.9g}"
            yield f"step {step}: {name} is {was}, the chain has {show_value(types[name], wanted[name])}"
