"""Recordings as tables, one row a sample; and the rows of any recording, put in order as steps from a reset on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from bmc.errors import InputRefused, Location, counted, listed
from bmc.limits import InputLimit, read_text
from bmc.records import dataclass
from bmc.system.names import suggestion
from bmc.system.transition import TransitionSystem
from chaincover.chain import STORED
from chaincover.formats.exported import DRIVEN, EXPECTED
from chaincover.formats.result_file import most_bytes
from chaincover.formats.table_style import END_ROW, START_ROW, read_rows, with_point
from chaincover.project.bench import Signal
from chaincover.project.names import Labels, named_type
from chaincover.target.recording import Cell, Recording, Variable, cell

_BESIDE = ("step", "time", "goals", "serves", "")
"""Titles of columns that are no signals."""


@dataclass(frozen=True)
class Sample:
    """What was recorded at one time: ``step`` (None: the start state, before the first step) and texts by variable."""

    step: int | None
    cells: Mapping[str, str]
    where: Location


@dataclass(frozen=True)
class Layout:
    """What a recording of a system holds: its ``variables``, and how each is recorded; ``period`` of a step in seconds.

    ``start``: the row or sample (from 1) of the first step after the reset, None where that is its first one.
    """

    variables: Mapping[str, Variable]
    signals: Mapping[str, Signal]
    inputs: frozenset[str]
    period: Fraction | None = None
    start: int | None = None

    @staticmethod
    def of(
        system: TransitionSystem,
        signals: Mapping[str, Signal],
        period: Fraction | None,
        start: int | None,
        names: Labels | None = None,
    ) -> Layout:
        """That of a ``system``, values of whose variables may be recorded as ``names`` calls them."""
        both: list[Variable] = [*system.inputs, *system.visible_state]
        known = {var.name: replace(var, type=named_type(var, names or {})) for var in both}
        return Layout(known, signals, frozenset(var.name for var in system.inputs), period, start)

    def found(self, titles: Sequence[str], place: Location) -> tuple[dict[str, int], int]:
        """The column of each variable that has one, and how many titles are those of none.

        ``step`` is a variable of that name, unless an exported table has that one as ``step [driven]``. InputRefused
        where a signal of the project has no column, where a variable has two, or no variable has one.
        """
        by_title = {signal.name: name for name, signal in self.signals.items()}
        by_title |= {name: name for name in self.variables if name not in self.signals}
        columns: dict[str, int] = {}
        other = 0
        numbering = {each for each in _BESIDE if each + DRIVEN in titles or each + EXPECTED in titles}
        for index, title in enumerate(titles):
            if title in numbering:
                continue
            name = by_title.get(title.removesuffix(DRIVEN).removesuffix(EXPECTED))
            if name is None:
                other += title not in _BESIDE
                continue
            if name in columns:
                raise InputRefused(f"a second column for '{name}'", place, "leave one of them out")
            columns[name] = index
        self._refuse_missing(columns, titles, place)
        return columns, other

    def _refuse_missing(self, columns: Mapping[str, int], titles: Sequence[str], place: Location) -> None:
        """InputRefused where a signal of the project has none of the ``columns``, or there is none at all."""
        missing = [signal.name for name, signal in self.signals.items() if name not in columns]
        if missing:
            hint = suggestion(missing[0], [title for title in titles if title not in _BESIDE])
            raise InputRefused(f"the recording has no column for {listed(missing)}", place, hint)
        if not columns:
            hint = suggestion(titles[0] if titles else "", [*self.variables]) + "; or set [target.signals]"
            raise InputRefused("no column is that of a variable of the program", place, hint)


CELL = 16
"""Bytes that a byte of a recording takes at most when it is read. Twice as many: recordings of half the size."""


def largest() -> InputLimit:
    """Recordings have as many bytes as the memory of one search can hold when they are read."""
    part = most_bytes().most // CELL
    return InputLimit("bytes in this recording", part, "record fewer signals, or a part of the run")


def read_table(path: str, layout: Layout) -> Recording:
    """A recording as a table: columns separated by commas, semicolons or tabs, one row a sample."""
    place = Path(path)
    text = read_text(place, "the recording", "name a recording as .csv or .vcd", most=largest())
    rows, comma = read_rows(place, text, "the signals' names")
    titles = [title.strip().removeprefix("'") for title in rows[0]]
    columns, other = layout.found(titles, Location(str(place), 1))
    samples = [*_Table(place, titles, columns, comma).samples(rows[1:], layout)]
    notes = (
        [f"{counted(other, 'column')} of the recording {'is' if other == 1 else 'are'} not looked at"] if other else []
    )
    return in_steps(str(place), samples, frozenset(columns), layout, notes)


@dataclass(frozen=True)
class _Table:
    """A table that was read: its ``titles``, the ``columns`` of variables, whether numbers have a decimal ``comma``."""

    place: Path
    titles: Sequence[str]
    columns: Mapping[str, int]
    comma: bool

    def samples(self, rows: Sequence[Sequence[str]], layout: Layout) -> Iterator[Sample]:
        """A sample for each of ``rows``, from the first one after the reset on."""
        filled = [
            (line, row)
            for line, row in enumerate(rows, 2)
            if any(each.strip() for each in row) and row[:1] != [END_ROW]
        ]
        for number, (line, row) in enumerate(filled, 1):
            here = Location(str(self.place), line)
            if len(row) != len(self.titles):
                hint = "write one value under each title; leave a cell empty where nothing was recorded"
                raise InputRefused(f"{len(row)} values for {counted(len(self.titles), 'column')}", here, hint)
            if number >= (layout.start or 1):
                yield Sample(self._step(row, number, layout, here), self._texts(row), here)

    def _texts(self, row: Sequence[str]) -> dict[str, str]:
        texts = {name: row[index].strip() for name, index in self.columns.items() if row[index].strip()}
        return {name: (with_point(text) if self.comma else text).removeprefix("'") for name, text in texts.items()}

    def _step(self, row: Sequence[str], number: int, layout: Layout, here: Location) -> int | None:
        """The step of a row; None for the start state."""
        beside = {title: index for index, title in enumerate(self.titles) if index not in self.columns.values()}
        if "step" in beside:
            text = row[beside["step"]].strip()
            return None if text == START_ROW else _whole(text, here)
        if "time" in beside:
            text = row[beside["time"]]
            return step_at(with_point(text) if self.comma else text, layout, here)
        return number - (layout.start or 1)


def _whole(text: str, where: Location) -> int:
    if not text.strip().isdecimal() or len(text) > 18:
        raise InputRefused(f"'{text.strip()}' is no number of a step", where, "steps are numbered 0, 1, 2, ...")
    return int(text)


def step_at(text: str, layout: Layout, where: Location) -> int:
    """The step in which something was recorded at a time, in seconds. InputRefused where the period is not known."""
    if layout.period is None:
        hint = "set period = SECONDS in the project file, or write a column 'step'"
        raise InputRefused("the recording has times, and the period of a step is not known", where, hint)
    try:
        time = Fraction(text.strip())
    except (ValueError, ZeroDivisionError):
        raise InputRefused(f"'{text.strip()}' is no time in seconds", where) from None
    return round(time / layout.period)


def in_steps(
    source: str, samples: Iterable[Sample], recorded: frozenset[str], layout: Layout, notes: Sequence[str] = ()
) -> Recording:
    """The samples as steps from a reset on. InputRefused where they do not begin at one, or go back in time.

    Where several samples lie in one step the last one counts; where none does, what is recorded there is not known, but
    for signals that are held.
    """
    steps = _Steps(layout)
    for sample in samples:
        row = {
            n: cell(text, layout.variables[n], layout.signals.get(n), sample.where) for n, text in sample.cells.items()
        }
        if sample.step is None:
            steps.states[0] |= {name: value for name, value in row.items() if name not in layout.inputs}
        else:
            steps.take(steps.number(sample.step, sample.where), row)
    if not steps.inputs:
        raise InputRefused("the recording has no sample", Location(source), "record at least one step")
    found = tuple(steps.inputs), tuple(steps.states)
    return Recording(source, *found, recorded, layout.signals, tuple(notes))


class _Steps:
    """The steps of a recording, one after the other: ``inputs`` of each, and ``states``, one more."""

    def __init__(self, layout: Layout) -> None:
        self._layout, self._first = layout, 0 if layout.start is None else None
        self._held = {name for name, signal in layout.signals.items() if signal.held}
        self.inputs: list[dict[str, Cell]] = []
        self.states: list[dict[str, Cell]] = [{}]

    def number(self, step: int, where: Location) -> int:
        """The number of a step, counted from the reset on. InputRefused where it cannot follow those before."""
        if self._first is None:
            self._first = step
        if not self.inputs and step != self._first:
            hint = "name the row of the first step after the reset: --start ROW"
            raise InputRefused(f"the recording begins with step {step}, not at a reset", where, hint)
        number = step - self._first
        if number < len(self.inputs) - 1:
            raise InputRefused("the recording goes back in time", where, "put its rows in order")
        if number - len(self.inputs) > STORED:
            text = f"there is no sample of {number - len(self.inputs):,} steps before this one"
            raise InputRefused(text, where, "look at the period of the project, or at the times")
        return number

    def take(self, step: int, row: Mapping[str, Cell]) -> None:
        """What was recorded of a step; signals that are held go on where steps before it have no sample."""
        while len(self.inputs) <= step:
            before = (self.inputs[-1], self.states[-1]) if self.inputs else ({}, {})
            inputs, state = ({n: v for n, v in each.items() if n in self._held} for each in before)
            self.inputs.append(inputs)
            self.states.append(state)
        for name, value in row.items():
            (self.inputs[step] if name in self._layout.inputs else self.states[step + 1])[name] = value
