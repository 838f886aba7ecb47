"""How tables of steps are written as CSV, and read back: what separates columns, decimal commas, changes only."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
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


def with_point(text: str) -> str:
    """A number with a decimal comma as one with a point; any other text, such as the name of a value, as it is."""
    return text.replace(",", ".") if _DECIMAL_COMMA.fullmatch(text.strip()) else text
