"""One run of a saved result: that of a chain, or one that violates a requirement, with what is needed to draw it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from bmc.errors import InputRefused, Location
from bmc.records import dataclass
from bmc.system.names import matching
from chaincover.formats.chain_file import violation_file
from chaincover.formats.document import CHAIN_FILE, CHAINS_FILE, DAMAGED, chain_place
from chaincover.report.html.saved import Saved, SavedChain, read_saved
from chaincover.report.html.summary import goals_of, rulings_of
from chaincover.report.html.table import chosen_variables
from chaincover.report.html.trace import Trace, Variable, chain_trace, variables, violation_trace
from chaincover.report.picture import Picture
from chaincover.report.waveform import waveform


@dataclass(frozen=True)
class SavedRun:
    """A run with its variables; ``read`` are those that its goals read, ``period`` seconds of a step or None."""

    trace: Trace
    shown: Sequence[Variable]
    read: tuple[str, ...]
    period: float | None
    where: Location

    def picture(self, signals: Sequence[str] = (), steps: tuple[int, int | None] = (0, None)) -> Picture:
        """The waveform of ``signals``, which are names, ends of names or patterns, in their order.

        Without any: of the variables that goals read, then of those that change, as many as a table has.
        ``UnknownName`` for a signal that there is none of, InputRefused for steps outside of the run.
        """
        first, last = steps
        if first > self.trace.length or (last is not None and not first <= last <= self.trace.length):
            text = f"there is no stretch from step {first} to {'the end' if last is None else last}"
            raise InputRefused(text, self.where, f"the run has the steps 0 to {self.trace.length}, the last its end")
        if signals:
            by_name = {var.name: var for var in self.shown}
            chosen = [by_name[name] for name in matching(signals, [*by_name], self.where, "variable")]
        else:
            chosen = chosen_variables(self.trace, self.shown, self.read)
        return waveform(self.trace, chosen, self.period, steps)


def read_run(place: str) -> SavedRun:
    """The run in ``place``: a ``chain.json``, the folder with it, or the table of a violation beside it.

    InputRefused, with its place, where there is none.
    """
    file = Path(place) if place.endswith(".csv") else chain_place(place)
    if file.name == CHAINS_FILE:
        text, hint = "this is the summary of several chains", "name one of their files, such as chain-1.json"
        raise InputRefused(text, Location(str(file)), hint)
    try:
        return _violation(file) if file.suffix == ".csv" else run_of(read_saved([str(file)]).chains, file)
    except DAMAGED as error:
        text = f"the result is damaged ({type(error).__name__}: {error})"
        raise InputRefused(text, Location(str(file)), "generate it again") from None


def run_of(chains: Sequence[SavedChain], file: Path) -> SavedRun:
    """The run of the only chain of ``chains``, which stands in ``file``. InputRefused where there is none."""
    where = Location(str(file))
    if not chains:
        raise InputRefused("this is no chain", where, "name chain.json, its folder, or the table of a violation")
    data = chains[0].data
    shown = variables(data)
    trace = chain_trace(data, shown, str(data["controller"]["name"]))
    if trace is None:
        raise InputRefused("this result holds no chain", where, "generate one first; its goals have verdicts")
    covered = {goal for _, goal in trace.goals}
    read = [name for goal in data["goals"] if goal["name"] in covered for name in goal["reads"]]
    return SavedRun(trace, shown, tuple(dict.fromkeys(read)), data["controller"]["period"], where)


def _violation(file: Path) -> SavedRun:
    """The run of the table of a violation."""
    where, hint = Location(str(file)), "keep it in the folder of its chain.json, and name that of 'chaincover generate'"
    if not fnmatchcase(file.name, violation_file("*")):
        raise InputRefused("this is no table of a violation", where, "name chain.json, its folder, or violation-*.csv")
    saved = _beside(file)
    shown_here = (each for each in rulings_of(saved) if violation_file(_file_name(each)) == file.name)
    ruling = next((each for each in shown_here if each["test"]), None)
    if not saved.chains or ruling is None:
        raise InputRefused("no result beside this table says which requirement it violates", where, hint)
    if not file.is_file():
        raise InputRefused("there is no such table", where, hint)
    data = saved.chains[0].data
    rows = saved.chains[0].violations.get(ruling["goal"], ())
    shown = variables(data)
    goal: Mapping[str, Any] = next((each for each in goals_of(saved) if each["name"] == ruling["goal"]), {})
    read = [*goal.get("reads", ()), *(each["variable"] for each in ruling["values"])]
    trace = violation_trace(data, ruling, rows, shown)
    return SavedRun(trace, shown, tuple(dict.fromkeys(read)), data["controller"]["period"], where)


def _file_name(ruling: Mapping[str, Any]) -> str:
    return Path(str(ruling["goal"])).name


def _beside(file: Path) -> Saved:
    """The result in the folder of ``file``."""
    whole = file.with_name(CHAIN_FILE)
    if whole.exists():
        return read_saved([str(whole)])
    several = file.with_name(CHAINS_FILE)
    if not several.exists():
        return Saved()
    return read_saved([str(several), *map(str, sorted(file.parent.glob("chain-*.json")))])
