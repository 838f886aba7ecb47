"""A chain as a table: what state and outputs are before each step, the inputs of the step, the goals covered from it.

Antecedents read the values before a step, so these are shown. What is too wide or too long is cut, and it is said
where the rest is: waiting is one row, only variables that goals read are shown where not all fit, and a long chain is
cut in its middle. The run of a finding is such a table too, with the values marked that are not the expected ones.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from bmc.errors import counted
from bmc.formulas.unroll import unframed
from bmc.records import dataclass
from bmc.system.names import same_front
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, Valuation, symbols_of
from chaincover.chain import Chain
from chaincover.formats.rows import reported
from chaincover.project.names import Labels, of_run, short_names, value_labels, without_front
from chaincover.project.values import show_value
from chaincover.report.columns import LEAST_ENDS, Column, broken, cut, fit, head_of, shown_rows, widths_of
from chaincover.report.console import LEAST_FOLDED, MANY_LINES, NARROW, Console
from chaincover.subject import Subject
from properties.durations import as_decimal

MOST_TITLE_LINES = 3
"""Lines that the title of a column is broken into at most."""

GOALS = ("goals covered", "from here")

BEFORE = "before the step"

LEAST_INPUTS, LEAST_GOALS = 3, 4
"""The parts of a line, a third and a quarter, for inputs and goals, where they need so much, before columns of
variables are left out."""

MOST_UNREAD = 12
"""Of more changing variables only those that goals read are shown."""

LEAST_ROWS = 6
"""Rows that are shown of a long chain, however little room there is."""


def read_by_goals(subject: Subject) -> Counter[str]:
    """For each variable how many goals read it, the final condition among them."""
    found: Counter[str] = Counter()
    for goal in subject.goals:
        formulas = [goal.antecedent, *([] if goal.consequent is None else [goal.consequent])]
        found.update({unframed(symbol)[0] for formula in formulas for symbol in symbols_of(formula)})
    if subject.final is not None:
        found.update(symbol.symbol_name() for symbol in symbols_of(subject.final))
    return found


@dataclass(frozen=True)
class _Row:
    """The steps that one row tells; ``block``: after so many steps what is told begins anew, 0 where it does not."""

    steps: range
    block: int = 0


ROOMY, NO_TIMES, TIGHT = range(3)
"""How columns of marked variables are made to fit, which are shown whatever the width: as all columns are; broken into
lines, and without the times of the steps; and with as few characters for inputs and goals as columns have."""

Marks = Mapping[tuple[str, int], str]
"""By variable and the step before which it has a value: what is said of that value."""

MARK = ">"
"""Before the number of a step with a value that is marked."""


class ChainTable:
    """The steps of one chain; ``read``: how many goals read a variable; ``labels``: what values are called.

    A step takes ``period`` seconds; None: that is not known, and no time is shown.
    ``marks``, of a finding, say something of values: only the variables that are marked or read are shown then. A run
    that has as many states as inputs is the beginning of one that goes on, and has no row for the end.
    """

    def __init__(
        self,
        system: TransitionSystem,
        chain: Chain,
        read: Mapping[str, int],
        labels: Labels | None = None,
        period: Fraction | None = None,
        marks: Marks | None = None,
    ) -> None:
        state = [*reported(system, "state"), *reported(system, "output")]
        self._chain, self._read, self._period, self._of_system = chain, read, period, (state, system.inputs)
        self._marks = marks or {}
        if marks is not None:
            chosen = {*read, *(name for name, _ in marks)}
            self._of_system = ([var for var in state if var.name in chosen], system.inputs)
        self._names = short_names([var.name for var in state]) | short_names([var.name for var in system.inputs])
        rows = of_run(state, chain.run.states) + of_run(system.inputs, chain.run.inputs)
        self._labels = {name: without_front(own) for name, own in value_labels(rows, labels or {}).items()}
        self._cells = {var.name: self._texts(var, chain.run.states) for var in state}
        self._cells |= {var.name: self._texts(var, chain.run.inputs) for var in system.inputs}
        self._front = same_front([self._names[var.name] for var in system.inputs])
        self._goals = self._covered()
        self._marked = {step for _, step in self._marks}
        self._mark_cells()

    @property
    def marks(self) -> Marks:
        """What is said of values."""
        return self._marks

    def _mark_cells(self) -> None:
        state = {var.name for var in self._of_system[0]}
        for (name, step), text in self._marks.items():
            if name in state:
                self._cells[name][step] += f" {self._short(name, text)}"

    def _short(self, name: str, text: str) -> str:
        """``text`` about values of a variable, which are called as in the table."""
        vtype = next(var.type for var in self._of_system[0] if var.name == name)
        known = {vtype.show(number): label for number, label in self._labels.get(name, {}).items()}
        return re.sub(r"-?[\w.]+", lambda word: known.get(word[0], word[0]), text)

    def _apart(self, step: int) -> bool:
        """Whether a step has a row of its own: a goal is covered from it on, or a value before it is marked."""
        return bool(self._goals[step]) or step in self._marked

    def show(self, out: Console, most: int = 0, file: str = "chain.csv") -> None:
        """The table on ``out``, in ``most`` lines (0: any number), whose steps and variables ``file`` has all."""
        rows, columns, notes = self._plan(out, file)
        widths = widths_of(columns, out.width)
        numbers = {at for at, column in enumerate(columns) if column.right}
        head = head_of(columns, widths, out, numbers)
        room = max(LEAST_ROWS, most - len(head) - len(notes) - 1) if most else len(rows)
        shown = shown_rows(len(rows), self._wanted(rows), room)
        for text in head:
            out.line(text, "bold")
        for before, number in pairwise([-1, *shown, len(rows)]):
            if number - before > 1:
                first, last = rows[before + 1].steps[0], rows[number - 1].steps[-1]
                count = counted(last - first + 1, "step")
                out.line(f"{'...':>{widths[0]}}  {count} left out here, {first} to {last}: {file} has them")
            if number == len(rows):
                continue
            cells = [column.cell(number, width, out.everything) for column, width in zip(columns, widths, strict=True)]
            style = "bold red" if rows[number].steps[0] in self._marked else ""
            for text in out.placed(cells, widths, numbers):
                out.line(text, style)
        for text in notes:
            out.line(text)

    def _texts(self, var: StateVariable | InputVariable, rows: Sequence[Valuation]) -> list[str]:
        """The values of a variable as they are shown, in each of ``rows``."""
        defined, known = f"{var.name}#defined", {}
        texts = []
        for row in rows:
            raw = row[var.name] if row.get(defined, 1) else None
            if raw not in known:
                label = "-" if raw is None else self._labels.get(var.name, {}).get(var.type.value(raw))
                known[raw] = label or show_value(replace(var.type, labels=()), raw or 0)
            texts.append(known[raw])
        return texts

    def _covered(self) -> list[list[str]]:
        """The goals covered from each step on, first those whose consequent fails there."""
        chain = self._chain
        found: list[list[str]] = [[] for _ in chain.run.states]
        failed = {(hit.goal, hit.step): f"{hit.goal} (FAILED)" for hit in chain.failures}
        for (_, step), text in failed.items():
            found[step].append(text)
        for hit in chain.hits:
            if (hit.goal, hit.step) not in failed:
                found[hit.step].append(hit.goal)
        return found

    def _wanted(self, rows: Sequence[_Row]) -> list[list[int]]:
        """The rows that are shown where a table is cut: those of goals, marks and failures; or the latter alone."""
        failed = {hit.step for hit in self._chain.failures} | self._marked
        own = [number for number, row in enumerate(rows) if row.steps[0] in failed]
        return [[number for number, row in enumerate(rows) if self._apart(row.steps[0])], own, own[:LEAST_ENDS]]

    def _plan(self, out: Console, file: str) -> tuple[list[_Row], list[Column], list[str]]:
        """Rows and columns, and what they leave out: all variables that change, else those that most goals read.

        Where everything is to be told and not all fit, what changed is told in one column.
        """
        marked = {name for name, _ in self._marks}
        state = self._of_system[0]
        varying = [var for var in state if len(set(self._cells[var.name])) > 1 or var.name in marked]
        order = self._by_readers(varying, marked, out.everything)
        most = min(len(order), out.width // 3)
        least = min(most, sum(1 for var in order if var.name in marked))
        fits, table = self._widest(out, varying, order[:most], ROOMY)
        for how in (NO_TIMES, TIGHT):
            if fits < least:
                fits, table = self._widest(out, varying, order[:most], how)
        if fits < most and out.everything:
            return *self._changes(out, order), []
        return *table, [*self._marked_besides(order[:fits]), *self._left_out(out, varying, fits, file)]

    def _by_readers(
        self, varying: Sequence[StateVariable], marked: Collection[str], everything: bool
    ) -> list[StateVariable]:
        """Of the ``varying`` variables the marked ones, then the others by how many goals read them, the most first.

        Of many variables, unless ``everything`` is to be told, those that no goal reads are left out.
        """
        order = sorted(varying, key=lambda var: (var.name not in marked, -self._read.get(var.name, 0)))
        read = [var for var in order if self._read.get(var.name) or var.name in marked]
        return read if len(order) > MOST_UNREAD and read and not everything else order

    def _marked_besides(self, shown: Sequence[StateVariable]) -> Iterator[str]:
        """The marked values of other variables than those that are ``shown``, a line each; of many the first ones."""
        names = {var.name for var in self._of_system[0]} - {var.name for var in shown}
        besides = [(name, step) for name, step in self._marks if name in names]
        for name, step in besides[:MANY_LINES]:
            when = f"before step {step}" if step < self._chain.length else "at the end"
            yield f"{when}: {self._names[name]} {self._cells[name][step]}"
        if len(besides) > MANY_LINES:
            yield f"and {counted(len(besides) - MANY_LINES, 'more marked value')}: -v tells all"

    def _widest(
        self, out: Console, varying: Sequence[StateVariable], order: Sequence[StateVariable], how: int
    ) -> tuple[int, tuple[list[_Row], list[Column]]]:
        """How many variables of ``order``, from the first on, fit as columns, and the table that has these.

        Where everything is to be told, that is all of them or none.
        """
        table, fits, tried, too_many = self._columns(out, [], how), 0, len(order), len(order) + 1
        while too_many - fits > 1:
            chosen = {var.name for var in order[:tried]}
            found = self._columns(out, [var for var in varying if var.name in chosen], how)
            if fit(found[1], out.width):
                table, fits = found, tried
            else:
                too_many = fits + 1 if out.everything else tried
            tried = (fits + too_many) // 2
        return fits, table

    def _left_out(self, out: Console, varying: Sequence[StateVariable], fits: int, file: str) -> list[str]:
        """What the columns of so many ``varying`` variables leave out, and which other ones the goals read."""
        notes = []
        if fits < len(varying):
            which = "variables that it reads" if self._marks else "changing variables that most goals read"
            notes.append(f"the {fits} of {len(varying)} {which}; {file} has all")
        constant = {*self._read} & {var.name for var in self._of_system[0]} - {var.name for var in varying}
        same = [f"{self._names[name]}={self._cells[name][0]}" for name in sorted(constant)]
        front = "the same before every step: "
        notes += [front + (" ".join(same) if out.everything else cut(same, out.width - len(front)))] if same else []
        return notes

    def _columns(self, out: Console, variables: Sequence[StateVariable], how: int) -> tuple[list[_Row], list[Column]]:
        """Rows, and columns with all of ``variables``, with titles in as few lines as fit."""
        parts = (NARROW, NARROW) if how == TIGHT else (out.width // LEAST_INPUTS, out.width // LEAST_GOALS)
        rows = self._rows(variables)
        goals = [self._goals[row.steps[0]] for row in rows]
        zero_one = [var for var in variables if set(self._cells[var.name]) <= {"0", "1", "-"}]
        columns: list[Column] = []
        for lines in range(1, MOST_TITLE_LINES + 1):
            inputs = self._inputs(rows, lines, parts[0])
            title = GOALS if lines > 1 else (" ".join(GOALS),)
            end = [*inputs, Column(title, goals, least=parts[1])]
            for flags in ([], zero_one) if len(zero_one) > 1 else ([],):
                own = self._state_columns(variables, flags, rows, lines, how)
                if own and inputs[0].group:
                    missing = len(BEFORE) - sum(column.wide + 2 for column in own) + 2
                    *above, lowest = own[-1].title
                    own[-1] = replace(own[-1], title=[*above, lowest.ljust(own[-1].wide + missing)])
                columns = [*self._step_columns(rows)[: None if how == ROOMY else 1], *own, *end]
                if fit(columns, out.width):
                    return rows, columns
        return rows, columns

    def _step_columns(self, rows: Sequence[_Row]) -> list[Column]:
        """The steps of each row, and when the first of them begins where the period is known."""
        columns, period = [Column(["step"], [[self._span(row.steps)] for row in rows], right=True)], self._period
        if period is not None:
            places = len(as_decimal(period).partition(".")[2])
            times = [[as_decimal(row.steps[0] * period, places)] for row in rows]
            columns.append(Column(["time/s"], times, right=True))
        return columns

    def _state_columns(
        self,
        variables: Sequence[StateVariable],
        flags: Sequence[StateVariable],
        rows: Sequence[_Row],
        lines: int,
        how: int,
    ) -> list[Column]:
        """A column for each of ``variables``, but one for all ``flags`` among them: the names of those that are set."""
        marked = {name for name, _ in self._marks} if how != ROOMY else set()
        own = [self._column(var, rows, lines, whole=var.name in marked) for var in variables if var not in flags]
        if flags:
            own.append(
                Column(
                    ["flags", "set"] if lines > 1 else ["flags set"], [self._set(flags, row.steps[0]) for row in rows]
                )
            )
        own[:1] = [replace(column, group=BEFORE) for column in own[:1]]
        return own

    def _column(
        self, var: StateVariable | InputVariable, rows: Sequence[_Row], lines: int, name: str = "", whole: bool = False
    ) -> Column:
        words = [[self._cell(var.name, row)] for row in rows]
        wide = max(len(part) for word in words for part in (word[0].split() if whole else word))
        title = broken(name or self._names[var.name], wide, lines)
        return Column(title, words, least=wide if whole else 0, whole=whole)

    def _inputs(self, rows: Sequence[_Row], lines: int, least: int) -> list[Column]:
        """The inputs: flags by their names where they are set, numbers beside them or, if narrower, in columns.

        ``least`` characters are enough for those that are told by their names.
        """
        flags = [var for var in self._of_system[1] if _is_flag(var) and var.name not in self._labels]
        numbers = [var for var in self._of_system[1] if var not in flags]
        gathered = replace(self._gathered(flags, numbers, rows, lines), least=least)
        columns = [self._column(var, rows, lines, self._input_name(var)) for var in numbers]
        if flags:
            words = self._words(rows, lambda step: self._set_inputs(flags, step), "(none)")
            columns.insert(0, Column(["set"], words, least=least))
        if not numbers or sum(column.wide + 2 for column in columns) - 2 >= gathered.wide:
            return [gathered]
        if rows[-1].steps[0] == self._chain.length:
            columns[1:] = [replace(column, words=[*column.words[:-1], [""]]) for column in columns[1:]]
        columns[0] = replace(columns[0], group=f"inputs ({self._front}*)" if self._front else "inputs")
        return columns

    def _gathered(
        self, flags: Sequence[InputVariable], numbers: Sequence[InputVariable], rows: Sequence[_Row], lines: int
    ) -> Column:
        """One column for all inputs: the names of flags that are set, and numbers that are not 0."""
        nothing = "(all 0)" if any(var.name not in self._labels for var in numbers) else "(none)"
        cells = self._words(rows, lambda step: self._set_inputs(flags, step) + self._equations(numbers, step), nothing)
        steps = [row.steps[0] for row in rows if row.steps[0] < self._chain.length]
        zero = any(len(self._equations(numbers, step)) < len(numbers) for step in steps)
        notes = [*([f"{self._front}*"] if self._front else []), *(["others 0"] if zero else [])]
        title = ["inputs", f"({', '.join(notes)})"] if notes else ["inputs"]
        return Column(title if lines > 1 else [" ".join(title)], cells)

    def _words(self, rows: Sequence[_Row], words: Callable[[int], list[str]], nothing: str) -> list[list[str]]:
        """The ``words`` of the first step of each row, or ``nothing``; the end has no inputs."""
        steps = (row.steps[0] for row in rows)
        return [["(end)"] if step == self._chain.length else words(step) or [nothing] for step in steps]

    def _set_inputs(self, flags: Sequence[InputVariable], step: int) -> list[str]:
        """The names of those flags among the inputs that are set in a step."""
        return [self._input_name(var) for var in flags if self._cells[var.name][step] == "1"]

    def _equations(self, numbers: Sequence[InputVariable], step: int) -> list[str]:
        """The values of those numbers that are not 0 in a step, and of those that have labels."""
        inputs = self._chain.run.inputs[step]
        shown = (var for var in numbers if inputs[var.name] or var.name in self._labels)
        return [f"{self._input_name(var)}={self._cells[var.name][step]}" for var in shown]

    def _span(self, steps: range) -> str:
        """The steps of a row, with a mark where the first has one."""
        mark = f"{MARK} " if steps[0] in self._marked else ""
        return f"{mark}{steps[0]}" if len(steps) == 1 else f"{mark}{steps[0]}..{steps[-1]}"

    def _input_name(self, var: InputVariable) -> str:
        return self._names[var.name].removeprefix(self._front)

    def _cell(self, name: str, row: _Row) -> str:
        """The value of a variable at the steps of a row: it stays, counts, or counts again and again."""
        cells = self._cells[name]
        if row.steps[0] >= len(cells):
            return "(end)"
        block = row.steps[: row.block] if row.block else row.steps
        first, last = cells[block[0]], cells[block[-1]]
        if first != last:
            return f"{first}..{last}" + (f" x{len(row.steps) // row.block}" if row.block else "")
        last = cells[row.steps[-1]]
        return first if first == last else f"{first}..{last}"

    def _set(self, flags: Sequence[StateVariable], step: int) -> list[str]:
        """The names of those flags that are set before a step."""
        return [self._names[var.name] for var in flags if self._cells[var.name][step] == "1"]

    def _rows(self, variables: Sequence[StateVariable]) -> list[_Row]:
        """The steps of each row: waiting in one, where inputs stay and values stay or count; last the end."""
        length, inputs = self._chain.length, self._chain.run.inputs
        rises = [*zip(*(self._rises(var) for var in variables), strict=True)] or [()] * length
        rows, step = [], 0
        while step < length:
            end = step + 1
            while not self._apart(step) and end < length and not self._apart(end) and inputs[end] == inputs[step]:
                if rises[end - 1] != rises[step] or None in rises[step]:
                    break
                end += 1
            end = end if end - step >= LEAST_FOLDED else step + 1
            rows.append(_Row(range(step, end)))
            step = end
        ends = [_Row(range(step, step + 1)) for step in range(length, len(self._chain.run.states))]
        return [*self._again(variables, rows), *ends]

    def _rises(self, var: StateVariable) -> list[int | None]:
        """By how much a variable grows in each step; None where its values are no numbers that count."""
        cells, marked = self._cells[var.name], {step for name, step in self._marks if name == var.name}
        counts = var.name not in self._labels and not var.type.floating and bool(var.type.bits) and "-" not in cells
        return [
            int(b) - int(a) if counts and not {step, step + 1} & marked else (0 if a == b else None)
            for step, (a, b) in enumerate(pairwise(cells))
        ]

    def _again(self, variables: Sequence[StateVariable], rows: Sequence[_Row]) -> list[_Row]:
        """``rows``, with those as one that wait alike again and again, while other variables stay or count."""
        found: list[_Row] = []
        at = 0
        while at < len(rows):
            steps, end = rows[at].steps, at + 1
            if len(steps) > 1:
                by = self._step_between(variables, rows[at : at + 2])
                while by is not None and self._step_between(variables, rows[end - 1 : end + 1]) == by:
                    end += 1
            end = end if end - at >= LEAST_FOLDED else at + 1
            block = len(steps) if end - at > 1 else 0
            found.append(_Row(range(steps[0], rows[end - 1].steps[-1] + 1), block))
            at = end
        return found

    def _step_between(self, variables: Sequence[StateVariable], rows: Sequence[_Row]) -> list[int] | None:
        """By how much each variable is larger in the second of two rows, None if they do not wait alike."""
        if len(rows) < 2 or len(rows[0].steps) != len(rows[1].steps):
            return None
        a, b = (row.steps for row in rows)
        if self._chain.run.inputs[a[0]] != self._chain.run.inputs[b[0]]:
            return None
        by = []
        for var in variables:
            cells = self._cells[var.name]
            stays = cells[a[0]] == cells[a[-1]] and cells[b[0]] == cells[b[-1]]
            if cells[a[0]] == cells[b[0]] and cells[a[-1]] == cells[b[-1]]:
                by.append(0)
            elif stays and (rise := self._rise(var, a[0], b[0])) is not None:
                by.append(rise)
            else:
                return None
        return by

    def _rise(self, var: StateVariable, before: int, after: int) -> int | None:
        """By how much a variable is larger at a later step, where its values are numbers."""
        a, b = self._cells[var.name][before], self._cells[var.name][after]
        if var.name in self._labels or var.type.floating or not var.type.bits or "-" in (a, b):
            return None
        return int(b) - int(a)

    def _changes(self, out: Console, order: Sequence[StateVariable]) -> tuple[list[_Row], list[Column]]:
        """Every step with what changed since the one before; at the start what is not 0. In the given order."""
        rows = [_Row(range(step, step + 1)) for step in range(len(self._chain.run.states))]
        words = []
        for row in rows:
            at, changed = row.steps[0], []
            for var in order:
                label = self._labels.get(var.name, {}).get(0)
                cells = self._cells[var.name]
                old = cells[at - 1] if at else (label or show_value(var.type, 0))
                if cells[at] != old and (at or cells[at] != "-"):
                    changed.append(f"{self._names[var.name]}={cells[at]}")
            words.append(changed)
        goals = [self._goals[row.steps[0]] for row in rows]
        return rows, [
            *self._step_columns(rows),
            Column(["what changed"], words, BEFORE, NARROW),
            *self._inputs(rows, 1, out.width // LEAST_INPUTS),
            Column([" ".join(GOALS)], goals, least=out.width // LEAST_GOALS),
        ]


def _is_flag(var: InputVariable) -> bool:
    return var.values == ((0, 1),) and not var.type.floating
