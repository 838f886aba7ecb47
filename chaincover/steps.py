"""The steps of a chain with values as users read them: as records, as a table of pandas, as a drawing in a notebook."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from bmc.errors import UsageError, counted, listed
from bmc.records import dataclass

if TYPE_CHECKING:
    import pandas

Value = int | float | str
"""A number, the name of an enumerator, or the words ``nan``, ``inf``, ``-inf``: as in chain.json."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step: its number from 0, inputs in it, state and outputs after it, the goals that are covered from it on.

    Values are by the full names of variables; those that are not defined after the step are missing.
    """

    number: int
    inputs: Mapping[str, Value]
    state: Mapping[str, Value]
    outputs: Mapping[str, Value]
    goals: tuple[str, ...]

    def __getitem__(self, name: str) -> Value:
        """The value of a variable, whatever its role. KeyError where there is none."""
        return next((part for part in (self.inputs, self.state) if name in part), self.outputs)[name]


class Steps(Sequence[Step]):
    """The steps of one chain, made when they are asked for.

    ``records`` are steps as chain.json has them; ``draw`` makes the waveform of the chain, as SVG.
    """

    def __init__(self, records: Sequence[Mapping[str, Any]], draw: Callable[[], str]) -> None:
        self._records, self._draw = records, draw

    def __len__(self) -> int:
        return len(self._records)

    @overload
    def __getitem__(self, place: int) -> Step: ...
    @overload
    def __getitem__(self, place: slice) -> list[Step]: ...
    def __getitem__(self, place: int | slice) -> Step | list[Step]:
        if isinstance(place, slice):
            return [self[each] for each in range(len(self))[place]]
        record = self._records[place]
        return Step(record["step"], record["inputs"], record["state"], record["outputs"], tuple(record["goals"]))

    def __repr__(self) -> str:
        inputs = listed([*self._records[0]["inputs"]]) if self._records else ""
        return f"<Steps: {counted(len(self), 'step')}{f' of {inputs}' if inputs else ''}>"

    def to_frame(self) -> pandas.DataFrame:
        """A table with a row for each step (index ``step``) and a column for each variable and the ``goals`` covered.

        UsageError where pandas is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise UsageError("tables are made by pandas, which is not installed", hint="pip install pandas") from None
        parts = ("inputs", "state", "outputs")
        names = [dict.fromkeys(name for record in self._records for name in record[part]) for part in parts]
        rows = [
            [*(record[part].get(name) for part, own in zip(parts, names, strict=True) for name in own), _goals(record)]
            for record in self._records
        ]
        columns = [*(name for own in names for name in own), "goals"]
        return pandas.DataFrame(rows, pandas.RangeIndex(len(rows), name="step"), columns)

    def _repr_svg_(self) -> str:
        """The waveform, for notebooks."""
        return self._draw()


def _goals(record: Mapping[str, Any]) -> str:
    return " ".join(record["goals"])
