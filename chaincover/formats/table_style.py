"""How tables of steps are written as CSV, and read back: what separates columns, decimal commas, changes only."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from bmc.errors import InputRefused, Location, UsageError
from bmc.limits import FILE_SIZE
from bmc.records import dataclass

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t"}
"""What may stand between the columns of a table."""
START_ROW, END_ROW = "init", "end"
"""In the column ``step``: the row holds the start state, or the goals that are covered in the last state."""
UNDEFINED = "-"
"""Where only changes are told: a value that was defined before, and is no longer."""

_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d*(e[+-]?\d+)?", re.I)


class _Line:
    """Where a table is written to that is taken line by line."""

    @staticmethod
    def write(text: str) -> str:
        """What a writer returns for the row that it was given."""
        return text


@dataclass(frozen=True, slots=True)
class TableStyle:
    """How a table is written: the ``delimiter`` between columns, numbers with a decimal ``comma``, ``changes_only``."""

    delimiter: str = ","
    comma: bool = False
    changes_only: bool = False

    @staticmethod
    def of(delimiter: str | None, comma: bool, changes_only: bool = False) -> TableStyle:
        """The style by what options say; a decimal comma alone asks for semicolons. UsageError for commas in both."""
        mark = DELIMITERS[delimiter or ("semicolon" if comma else "comma")]
        if comma and mark == ",":
            hint = "separate the columns by something else: --delimiter semicolon"
            raise UsageError("numbers with a decimal comma cannot stand between commas", hint=hint)
        return TableStyle(mark, comma, changes_only)

    def number(self, text: str) -> str:
        """A number as it is written."""
        return text.replace(".", ",") if self.comma else text

    def lines(self, rows: Iterable[Sequence[object]], same: range) -> Iterator[str]:
        """``rows``, the titles first, line by line; goals stand behind the columns ``same``.

        Where only changes are told, cells of these columns are empty that are as in the step before, and steps that
        tell nothing are left out, but for the first and the last one.
        """
        line = csv.writer(_Line, delimiter=self.delimiter, lineterminator="\n").writerow
        for row in self._changes(iter(rows), same) if self.changes_only else rows:
            yield line(row)

    @staticmethod
    def _changes(rows: Iterator[Sequence[object]], same: range) -> Iterator[Sequence[object]]:
        yield next(rows)
        before: Sequence[object] | None = None
        waiting: Sequence[object] | None = None
        for row in rows:
            if row[0] == END_ROW and waiting is not None:
                yield waiting
                waiting = None
            if before is None or row[0] == END_ROW:
                yield row
                before = None if row[0] == START_ROW else row
                continue
            cells = [*row]
            for at in same:
                cells[at] = "" if row[at] == before[at] else UNDEFINED if row[at] == "" else row[at]
            tells = bool(row[same.stop]) or any(cells[at] != "" for at in same)
            waiting = None if tells else cells
            if tells:
                yield cells
            before = row
        if waiting is not None:
            yield waiting


def read_rows(place: Path, text: str, what: str) -> tuple[list[list[str]], bool]:
    """The rows of a table, and whether numbers in it may have a decimal comma, for it has other marks between columns.

    InputRefused, with its place, if it is no table, or if it is empty; ``what`` says what its titles are.
    """
    csv.field_size_limit(FILE_SIZE.most)
    content = text.removeprefix("\ufeff")
    readers = [csv.reader(io.StringIO(content, newline=""), delimiter=mark, strict=True) for mark in ",;\t"]
    reader = readers[0]
    try:
        heads = [next(each, []) for each in readers]
        reader, head = max(zip(readers, heads, strict=True), key=lambda pair: len(pair[1]))
        rows = [head, *reader]
    except csv.Error as error:
        here = Location(str(place), reader.line_num)
        raise InputRefused(f"this is no table: {error}", here, "write values separated by commas") from None
    if not rows or not any(rows[0]):
        raise InputRefused("the file is empty", Location(str(place)), f"write a header with {what} first")
    return rows, reader.dialect.delimiter != ","


def whole_steps(place: Path, text: str, inputs: Collection[str], length: int) -> list[dict[str, str]]:
    """Each of the ``length`` steps of a table that ``TableStyle.lines`` has written, whole, its cells by their titles.

    InputRefused, with its place, where it is no such table. Only changes are told where a step is left out, one of the
    ``inputs`` is empty (which has a value in each step), or something is told to be undefined: elsewhere an empty cell
    is what is not known.
    """
    (titles, *rows), comma = read_rows(place, text, "the steps' values")
    places = {str(step): step for step in range(length)}
    steps = [row for row in rows if row and row[0] in places]
    numbers = [places[row[0]] for row in steps]
    if not {0, length - 1} <= {*numbers} or numbers != sorted({*numbers}):
        raise InputRefused("this table has other steps than its run", Location(str(place)), "generate it again")
    found = [dict(zip(titles, map(with_point, row) if comma else row, strict=False)) for row in steps]
    told = all(row.get(name) for row in found for name in inputs)
    if told and len(found) == length and not any(UNDEFINED in row.values() for row in found):
        return found
    return _filled_in(titles, numbers, found)


def _filled_in(
    titles: Sequence[str], numbers: Sequence[int], found: Sequence[Mapping[str, str]]
) -> list[dict[str, str]]:
    """Each step of a table of changes, whole: the rows ``found`` of the steps ``numbers`` say what changes there."""
    whole: list[dict[str, str]] = []
    for number, row in zip(numbers, found, strict=True):
        before = whole[-1] if whole else dict.fromkeys(titles, "")
        whole += [before] * (number - len(whole))
        new = {name: "" if cell == UNDEFINED else cell for name, cell in row.items() if cell}
        whole.append({**before, **new})
    return whole


def with_point(text: str) -> str:
    """A number with a decimal comma as one with a point; any other text, such as the name of a value, as it is."""
    return text.replace(",", ".") if _DECIMAL_COMMA.fullmatch(text.strip()) else text
