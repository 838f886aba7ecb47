"""Recordings as tables, one row a sample; and the rows of any recording, put in order as steps from a reset on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from bmc.errors import InputRefused, Location, counted, listed
from bmc.limits import InputLimit, read_text
from bmc.records import dataclass
from bmc.system.names import suggestion, with_tail
from bmc.system.transition import TransitionSystem
from chaincover.chain import STORED
from chaincover.formats.exported import DRIVEN, EXPECTED
from chaincover.formats.result_file import most_bytes
from chaincover.formats.table_style import END_ROW, START_ROW, read_rows, with_point
from chaincover.project.bench import Signal
from chaincover.project.names import Labels, named_type
from chaincover.target.recording import Cell, Recording, StartRow, Variable, cell

_BESIDE = ("step", "time", "goals", "serves", "")
"""Titles of columns that are no signals."""

_COMPARED = 200
"""Titles for which the nearest variable is looked for. Twice as many: twice the time for large recordings."""


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

    def found(self, titles: Sequence[str], place: Location) -> tuple[dict[str, int], dict[int, str]]:
        """The column of each variable that has one, and by their columns what is said of titles that are those of none.

        A title is the name of a signal of the project, that of a variable, or a tail of the names of one variable only.
        ``step`` is a variable of that name, unless an exported table has that one as ``step [driven]``. InputRefused
        where a signal of the project has no column, where a variable has two, or no variable has one.
        """
        by_title = {signal.name: name for name, signal in self.signals.items()}
        by_title |= {name: name for name in self.variables if name not in self.signals}
        columns: dict[str, int] = {}
        others: dict[int, str] = {}
        numbering = {each for each in _BESIDE if each + DRIVEN in titles or each + EXPECTED in titles}
        for index, title in enumerate(titles):
            if title in numbering:
                continue
            plain = title.removesuffix(DRIVEN).removesuffix(EXPECTED)
            name = by_title.get(plain)
            if name is None:
                others |= {} if title in _BESIDE else {index: plain}
                continue
            if name in columns:
                raise InputRefused(f"a second column for '{name}'", place, "leave one of them out")
            columns[name] = index
        passed = self._take_tails(columns, others)
        self._refuse_missing(columns, titles, place, passed)
        return columns, passed

    def _take_tails(self, columns: dict[str, int], others: Mapping[int, str]) -> dict[int, str]:
        """Add to ``columns`` those of ``others`` whose titles are a tail of one variable that no signal and no other
        column names; what is said of each other one, first of those that may be meant for a variable."""
        tails = {index: with_tail(title, self.variables) for index, title in others.items()}
        single = [found[0] for found in tails.values() if len(found) == 1]
        taken = {*columns, *self.signals, *(name for name in single if single.count(name) > 1)}
        for index, found in tails.items():
            if len(found) == 1 and found[0] not in taken:
                columns[found[0]] = index
        left = [name for name in self.variables if name not in columns]
        passed_over = [index for index in others if index not in columns.values()]
        return _passed_over({index: others[index] for index in passed_over}, tails, left)

    def _refuse_missing(
        self, columns: Mapping[str, int], titles: Sequence[str], place: Location, passed: Mapping[int, str]
    ) -> None:
        """InputRefused where a signal of the project has none of the ``columns``, or there is none at all."""
        missing = [signal.name for name, signal in self.signals.items() if name not in columns]
        if missing:
            hint = suggestion(missing[0], [title for title in titles if title not in _BESIDE])
            raise InputRefused(f"the recording has no column for {listed(missing)}", place, hint)
        if not columns:
            text = "no column is that of a variable of the program"
            text += f"; {not_looked_at([*passed.values()], 'column')}" if passed else ""
            hint = suggestion(titles[0] if titles else "", [*self.variables]) + "; or set [target.signals]"
            raise InputRefused(text, place, hint)


def _unclear(title: str, found: Sequence[str]) -> str:
    """Why a column whose title is a tail of the variables ``found`` is not looked at; '' where it is one of none."""
    if len(found) > 1:
        return f" (ambiguous: {listed(found)}; write the full name)"
    return f" ({found[0]} has another column)" if found else ""


def _nearest(title: str, names: Sequence[str]) -> str:
    """Which of ``names`` was probably meant by a title, in brackets; '' where none is near."""
    hint = suggestion(title, names)
    return f" ({hint})" if hint.startswith("did you mean") else ""


def not_looked_at(told: Sequence[str], noun: str) -> str:
    """That columns or signals of a recording are passed over, which are ``told`` by their titles."""
    passed_over = f"{counted(len(told), noun)} of the recording {'is' if len(told) == 1 else 'are'} not looked at"
    return f"{passed_over}: {', '.join(told)}"


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
    columns, passed = layout.found(titles, Location(str(place), 1))
    samples = [*_Table(place, titles, columns, comma).samples(rows[1:], layout)]
    notes = [not_looked_at([*passed.values()], "column")] if passed else []
    found = in_steps(str(place), samples, frozenset(columns), layout, notes)
    first = text.splitlines()[0]
    return found if found.states[0] else replace(found, start_row=_start_row(titles, columns, layout, first))


def _start_row(titles: Sequence[str], columns: Mapping[str, int], layout: Layout, first: str) -> StartRow | None:
    """How the row of the start state looks in a table whose ``first`` line has these ``titles``; None where it can have
    none, for its rows before the reset are left out, or a variable is called as the numbers of the steps are."""
    if layout.start is not None or "step" in layout.variables:
        return None
    state = {index: name for name, index in columns.items() if name not in layout.inputs}
    cells = [START_ROW if title == "step" else state.get(index, "") for index, title in enumerate(titles)]
    added = START_ROW not in cells
    return StartRow((*([START_ROW] if added else []), *cells), max(",;\t", key=first.count), added)


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


def _passed_over(titles: Mapping[int, str], tails: Mapping[int, Sequence[str]], left: Sequence[str]) -> dict[int, str]:
    """What is said of the columns with these ``titles``, first of those that may be meant for a variable; ``left`` are
    the variables without a column."""
    meant, rest = dict[int, str](), dict[int, str]()
    for number, (index, title) in enumerate(titles.items()):
        why = _unclear(title, tails[index]) if tails[index] or number >= _COMPARED else _nearest(title, left)
        (meant if why else rest)[index] = title + why
    return meant | rest
