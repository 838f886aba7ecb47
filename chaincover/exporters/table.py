"""The format ``csv``: a chain as a table, one row a step; ``judge`` reads it as the recording of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from bmc.records import dataclass
from chaincover.exporters.columns import Column, bench_columns, covered_goals
from chaincover.exporters.protocol import ExportedChain
from chaincover.formats.exported import DRIVEN, EXPECTED
from chaincover.formats.table_style import START_ROW, TableStyle
from chaincover.project.values import show_value
from properties.durations import as_decimal


@dataclass(frozen=True)
class Table:
    """A writer of tables in a ``style``."""

    style: TableStyle = TableStyle()

    def files(self, chain: ExportedChain) -> Mapping[str, bytes]:
        """One table: step, time where the project has a period, inputs, state and outputs after the step, and the goals
        that are over then."""
        found, timed = bench_columns(chain), bool(chain.subject.settings.period)
        lines = self.style.lines(self._rows(chain, found), range(1 + timed, 1 + timed + len(found)))
        return {"chain.csv": "".join(lines).encode("utf-8", "backslashreplace")}

    def _rows(self, chain: ExportedChain, found: Sequence[Column]) -> Iterator[list[object]]:
        period = chain.subject.settings.period
        told: dict[int, list[str]] = {}
        for each in covered_goals(chain):
            told.setdefault(each.end, []).append(each.goal.name)
        titles = [f"{each.title}{DRIVEN if each.driven else EXPECTED}" for each in found]
        yield ["step", *(["time"] if period else []), *map(as_text, titles), "goals"]
        start = [self._shown(each, None if each.driven else -1) for each in found]
        yield [START_ROW, *([""] if period else []), *start, as_text("; ".join(told.get(0, [])))]
        for step in range(chain.run.length):
            time = [self.style.number(as_decimal(step * period))] if period else []
            values = [self._shown(each, step) for each in found]
            yield [step, *time, *values, as_text("; ".join(told.get(step + 1, [])))]

    def _shown(self, column: Column, step: int | None) -> str:
        """The value of a column in a step; -1 stands for the start state, None for nothing."""
        value = None if step is None else column.start if step < 0 else column.values[step]
        if value is None:
            return ""
        if isinstance(value, Fraction):
            return self.style.number(as_decimal(value))
        vtype = column.variable.type
        text = show_value(vtype, value)
        labelled = any(text == label for label, _ in vtype.labels)
        return as_text(text) if labelled else self.style.number(text)


def as_text(text: str) -> str:
    """A text as a cell that no spreadsheet takes for a formula, on one line."""
    plain = "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
    return f"'{plain}" if plain.startswith(("=", "+", "-", "@", "'")) else plain
