"""The log of a run on line, ``online.jsonl``: written line by line while it goes on, and read again as a recording.

Its first line names the program and the chain, each further one is a step, the last one says how the run ended. A log
whose last line is not whole is that of a run that was killed: it is read up to there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from bmc.errors import InputRefused, Location
from bmc.limits import read_text
from bmc.system.transition import TransitionSystem, Valuation
from chaincover.formats.chain_file import Stimulus
from chaincover.formats.output import CannotWrite
from chaincover.project.values import raw_value
from chaincover.target.recording import Recording
from chaincover.target.table import Layout, Sample, in_steps, largest

SCHEMA = "chaincover/online/1"

Log = Callable[[Mapping[str, object]], None]
"""Writes one line of the log."""


@contextmanager
def log_file(place: str, head: Mapping[str, object]) -> Iterator[Log]:
    """Writes lines of a log into the file ``place``; each is on disk before the next step is made.

    CannotWrite where that fails.
    """

    def failed(error: OSError) -> CannotWrite:
        text = f"cannot write the log: {error.strerror}"
        return CannotWrite(text, Location(place), "make room, or choose another --log FILE")

    def write(line: Mapping[str, object]) -> None:
        try:
            file.write(json.dumps(line, separators=(",", ":"), ensure_ascii=False) + "\n")
            file.flush()
        except OSError as error:
            raise failed(error) from None

    try:
        opened = Path(place).open("w", encoding="utf-8")  # noqa: SIM115
    except OSError as error:
        raise failed(error) from None
    with opened as file:
        write({"schema": SCHEMA, **head})
        yield write


def lines_of(path: str) -> list[dict[str, Any]]:
    """The lines of a log. InputRefused, with its place, where it is none."""
    text = read_text(Path(path), "the log", "name a log that 'chaincover run' has written", most=largest())
    found: list[dict[str, Any]] = []
    rows = text.splitlines()
    for number, row in enumerate(rows, 1):
        try:
            line = json.loads(row)
        except ValueError:
            if number == len(rows) and not text.endswith("\n") and found:
                break
            raise InputRefused("this is no line of a log", Location(path, number), "run it again") from None
        if not isinstance(line, dict) or (number == 1 and line.get("schema") != SCHEMA):
            text = f"this is no log of the schema '{SCHEMA}'"
            raise InputRefused(text, Location(path, number), "name a log that 'chaincover run' has written")
        found.append(line)
    if not found:
        raise InputRefused("the log is empty", Location(path), "run it again")
    return found


def read_log(path: str, layout: Layout) -> Recording:
    """A log as a recording. Values are those of the variables themselves, whatever the signals of the project say."""
    lines = lines_of(path)
    signals = {name: signal.of_variable(name) for name, signal in layout.signals.items()}
    own = replace(layout, signals=signals)
    samples = [*_samples(path, lines, own)]
    recorded = frozenset(name for sample in samples for name in sample.cells)
    late = frozenset(line["step"] for line in lines if line.get("late") and isinstance(line.get("step"), int))
    whole = any("end" in line for line in lines)
    notes = () if whole else ("the log has no end: the run was killed",)
    return replace(in_steps(path, samples, recorded, own, notes), late=late)


def stimulus_of_log(path: str, system: TransitionSystem) -> Stimulus:
    """The inputs that a log says were applied, to be replayed. InputRefused, with its place, if they cannot be read."""
    inputs = list[Valuation]()
    for number, line in enumerate(lines_of(path), 1):
        if "step" in line and isinstance(line.get("inputs"), dict):
            here = Location(path, number)
            missing = [var.name for var in system.inputs if var.name not in line["inputs"]]
            if missing:
                raise InputRefused(f"the log gives no value for the input '{missing[0]}'", here, "run it again")
            values = {var.name: raw_value(line["inputs"][var.name], var.type, here, var.name) for var in system.inputs}
            inputs.append(values)
    return Stimulus(path, tuple(inputs), {}, {}, (), None, False)


def _samples(path: str, lines: list[dict[str, Any]], layout: Layout) -> Iterator[Sample]:
    for number, line in enumerate(lines, 1):
        here = Location(path, number)
        if "reset" in line:
            yield Sample(None, _texts(line["reset"], layout, here), here)
        elif "step" in line and "inputs" in line:
            values = _texts(line.get("inputs"), layout, here) | _texts(line.get("outputs"), layout, here)
            if not isinstance(line["step"], int):
                raise InputRefused("a line without the number of its step", here, "run it again")
            yield Sample(line["step"], values, here)


def _texts(values: Any, layout: Layout, where: Location) -> dict[str, str]:
    if not isinstance(values, dict):
        raise InputRefused("a line without values", where, "run it again")
    return {name: str(value) for name, value in values.items() if name in layout.variables}
