"""The steps of a run as columns of values, one for each variable, as waveform, tables and statistics read them.

What stands at step k are the values *before* the step, with the inputs *of* the step; behind the last step stand the
values at the end, without inputs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from itertools import groupby
from typing import Any

from bmc.errors import counted
from bmc.records import dataclass
from chaincover.project.names import short_names, without_front

ROLES = ("inputs", "state", "outputs")
"""The groups of variables, in the order in which they are shown."""

LEAST_FOLDED = 8
"""Steps of waiting that are drawn as one mark, at least. Twice as many: more of a run is drawn step by step."""


@dataclass(frozen=True)
class Variable:
    """A variable as it is shown: its full ``name``, a ``short`` one, its role, C type, and what its values are called.

    ``values``: of an input, the values that the project allows, as text. ``named``: values by their full names, as they
    stand in tables.
    """

    name: str
    short: str
    role: str
    type: str
    labels: Mapping[str, str] = field(default_factory=dict)
    values: str = ""
    named: Mapping[str, str] = field(default_factory=dict)

    def read(self, text: str) -> Any:
        """A value of a table: a whole number, a number, a text, or None for an empty cell."""
        return read_value(self.named.get(text, text))

    def in_words(self, text: str) -> str:
        """A ``text`` about values, such as ``1, 3..5``, with their names in place of those numbers that have one, and
        the truth of a condition as the number that tables have of it."""
        if self.type == "_Bool":
            return {"false": "0", "true": "1"}.get(text, text)
        return re.sub(r"(?<![\w.])-?\w+(?![\w.])", lambda word: self.labels.get(word[0], word[0]), text)

    def called(self, value: Any) -> str:
        """A value as it is shown; ``-`` where there is none."""
        if value is None:
            return "-"
        return self.labels.get(str(value), str(value))


@dataclass(frozen=True, slots=True)
class Bar:
    """A deadline of ``goal``: from the step ``first`` of its antecedent to the check ``check`` that decided it as
    ``held``; None: to the last check that was made, where it is not decided.

    ``last`` is the last check that it allowed; ``asked`` how it is written.
    """

    goal: str
    asked: str
    first: int
    check: int
    last: int
    held: bool | None = True

    @property
    def told(self) -> str:
        """What was used of it, and what was left, or that it failed or was not decided."""
        used, allowed = self.check - self.first, self.last - self.first
        if self.held is False:
            return f"✗ failed after {counted(used, 'step')}"
        told = f"{used} of {counted(allowed, 'step')}"
        return f"{told}, {allowed - used} left" if self.held else f"? {told}, not decided"


@dataclass(frozen=True, slots=True)
class Differing:
    """The steps ``first`` to ``end`` - 1, in which a value was to be the one that is ``expected``, and is another."""

    first: int
    end: int
    expected: str


@dataclass(frozen=True)
class Trace:
    """One run: ``columns`` has for each variable its value at each step and at the end (None: not known).

    ``goals``: at which step each goal is covered, as pairs in order. ``failed``: where requirements fail, likewise.
    ``length``: steps. ``kind``: chain, violation, recording, judged. ``deadlines``: those of which something is known;
    ``unknown`` are the requirements with a deadline that nobody judged on this run.
    ``differs`` are the stretches in which a variable is not as expected, of a judged run, or by the consequent that a
    violation fails; ``beside`` names the run that a judged one was to be.
    """

    name: str
    kind: str
    length: int
    columns: Mapping[str, Sequence[Any]]
    goals: tuple[tuple[int, str], ...] = ()
    failed: tuple[tuple[int, str], ...] = ()
    deadlines: tuple[Bar, ...] = ()
    differs: Mapping[str, Sequence[Differing]] = field(default_factory=dict)
    beside: str = ""
    unknown: tuple[str, ...] = ()

    def folds(self, least: int = LEAST_FOLDED) -> list[tuple[int, int]]:
        """First step and step behind the last of each stretch of waiting: inputs stay, all else stays or counts.

        A stretch has ``least`` steps or more. Where goals are covered none begins or goes on, nor where a difference
        begins or ends.
        """
        marked = {step for step, _ in (*self.goals, *self.failed)}
        for each in (each for own in self.differs.values() for each in own):
            marked |= {each.first, each.end}
        alike = self._alike()
        found: list[tuple[int, int]] = []
        first = 0
        for step in range(1, self.length + 1):
            if step < self.length and alike[step] and step not in marked and step - 1 not in marked:
                continue
            if step - first >= least:
                found.append((first, step))
            first = step
        return found

    def _alike(self) -> list[bool]:
        """For each step whether all values do in it what they did in the step before: stay, or grow by as much."""
        alike = [True] * self.length
        for column in self.columns.values():
            rises = [_rise(column[step], column[step + 1]) for step in range(self.length)]
            for step in range(1, self.length):
                if rises[step] is None or rises[step] != rises[step - 1]:
                    alike[step] = False
        return alike


def _rise(before: Any, after: Any) -> float | None:
    """By how much a number grows in a step; 0 for what stays, None for other changes."""
    if before == after:
        return 0
    numbers = type(before) in (int, float) and type(after) in (int, float)
    return after - before if numbers else None


def variables(document: Mapping[str, Any]) -> list[Variable]:
    """The variables of the controller, inputs first."""
    controller = document["controller"]
    rows = [(role, each) for role in ROLES for each in controller[role]]
    short = short_names([each["name"] for role, each in rows if role != "inputs"])
    short |= short_names([each["name"] for role, each in rows if role == "inputs"])
    found = []
    for role, each in rows:
        own: Mapping[str, str] = each.get("labels") or {}
        named = {label: value for value, label in own.items()}
        name, labels = each["name"], without_front(own)
        found.append(Variable(name, short[name], role, each["type"], labels, each.get("values", ""), named))
    return found


def chain_trace(document: Mapping[str, Any], shown: Sequence[Variable], name: str) -> Trace | None:
    """The run of a chain; None without one."""
    chain = document["chain"]
    if chain is None:
        return None
    start = {**chain["initial"]["state"], **chain["initial"]["outputs"], **chain["initial"]["chosen"]}
    columns: dict[str, list[Any]] = {var.name: [start.get(var.name)] for var in shown if var.role != "inputs"}
    columns |= {var.name: [] for var in shown if var.role == "inputs"}
    for step in chain["steps"]:
        values = {**step["state"], **step["outputs"], **step["inputs"]}
        for own, column in columns.items():
            column.append(values.get(own))
    for var in shown:
        if var.role == "inputs":
            columns[var.name].append(None)
    goals = _by_step(document, ((hit["step"], hit["goal"]) for hit in chain["hits"]))
    failed = _by_step(document, ((each["step"], each["goal"]) for each in chain["failures"]))
    owed = (hit for hit in chain["hits"] if hit.get("deadline"))
    bars = tuple(bar(hit["goal"], hit["deadline"], hit["consequent_held"]) for hit in owed)
    return Trace(name, "chain", len(chain["steps"]), columns, goals, failed, bars)


def _by_step(document: Mapping[str, Any], places: Iterable[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
    """Steps and goals in the order of the steps, those at one step as the document lists them: written ones first."""
    rank = {goal["name"]: at for at, goal in enumerate(document.get("goals", ()))}
    return tuple(sorted(places, key=lambda place: (place[0], rank.get(place[1], len(rank)))))


def bar(goal: str, deadline: Mapping[str, Any], held: bool | None) -> Bar:
    """The ``deadline`` of a goal as a document has it."""
    return Bar(goal, deadline["asked"], deadline["antecedent"], deadline["check"], deadline["last"], held)


def violation_trace(
    document: Mapping[str, Any], ruling: Mapping[str, Any], rows: Sequence[Mapping[str, str]], shown: Sequence[Variable]
) -> Trace:
    """The run that violates a requirement: from its table, else from the inputs that the result holds alone."""
    goal = str(ruling["goal"])
    inputs: Sequence[Mapping[str, Any]] = ruling["test"]["inputs"]
    length = len(inputs)
    chosen = ruling["test"].get("chosen") or {}
    chain = document.get("chain")
    start = {**chain["initial"]["state"], **chain["initial"]["outputs"]} if chain else {}
    after = [row for row in rows if row.get("step", "").isdecimal()]
    columns: dict[str, list[Any]] = {}
    for var in shown:
        if var.role == "inputs":
            columns[var.name] = [*(each.get(var.name) for each in inputs), None]
            continue
        own = [var.read(row.get(var.name, "")) for row in after] if len(after) == length else [None] * length
        columns[var.name] = [chosen.get(var.name, start.get(var.name)), *own]
    step, missed = ruling["step"], ruling.get("deadline")
    bars = () if missed is None else (bar(goal, {**missed, "last": missed["check"]}, False),)
    differs: dict[str, list[Differing]] = {}
    by_name = {var.name: var for var in shown}
    for each in ruling["values"]:
        if each["expected"] and each["variable"] in by_name:
            expected = by_name[each["variable"]].in_words(str(each["expected"]))
            differs.setdefault(each["variable"], []).append(Differing(each["step"], each["step"] + 1, expected))
    return Trace(f"violation of {goal}", "violation", length, columns, (), ((step, goal),), bars, differs)


def log_trace(name: str, lines: Sequence[Mapping[str, Any]], shown: Sequence[Variable]) -> Trace:
    """The run that a log of a run on line holds; what was not observed is not known."""
    start: Mapping[str, Any] = next((line["reset"] for line in lines if isinstance(line.get("reset"), dict)), {})
    steps = [line for line in lines if isinstance(line.get("step"), int) and isinstance(line.get("inputs"), dict)]
    columns: dict[str, list[Any]] = {}
    for var in shown:
        if var.role == "inputs":
            columns[var.name] = [*(step["inputs"].get(var.name) for step in steps), None]
        else:
            columns[var.name] = [start.get(var.name), *((step.get("outputs") or {}).get(var.name) for step in steps)]
    return Trace(name, "recording", len(steps), columns)


def judged_trace(name: str, judged: Mapping[str, Any], shown: Sequence[Variable], beside: str) -> Trace:
    """The run that was judged, of which the document has the values where they change; ``beside`` names the run that it
    was to be."""
    length = int(judged["steps"])
    tracks = {track["variable"]: track for track in judged["tracks"]}
    columns: dict[str, list[Any]] = {}
    differs: dict[str, list[Differing]] = {}
    for var in shown:
        track = tracks.get(var.name, {"values": (), "runs": (), "differs": ()})
        runs = zip(track["values"], track["runs"], strict=True)
        read = [var.read(text or "") for text, count in runs for _ in range(count)]
        columns[var.name] = [*read, *[None] * (length + 1 - len(read))]
        differs[var.name] = [Differing(first, end, var.called(var.read(text))) for first, end, text in track["differs"]]
    goals, failed = _flags(judged, "covered_at"), _flags(judged, "failed_at")
    owed = [(goal["name"], goal["deadline"]) for goal in judged["goals"] if goal.get("deadline")]
    bars = tuple(bar(goal, deadline, deadline["held"]) for goal, deadline in owed)
    return Trace(name, "judged", length, columns, goals, failed, bars, differs, beside)


def _flags(judged: Mapping[str, Any], entry: str) -> tuple[tuple[int, str], ...]:
    """The steps that an ``entry`` of judged goals names, with these goals."""
    return _by_step(judged, ((goal[entry], goal["name"]) for goal in judged["goals"] if goal[entry] is not None))


def read_value(text: str) -> Any:
    """A value of a table: a whole number, a number, a text, or None for an empty cell."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text or None


def as_columns(trace: Trace, shown: Sequence[Variable]) -> dict[str, Any]:
    """A trace as the page's script reads it: each variable's values where they change, or all where most change.

    ``words`` are the texts among the values of all variables, each once; such a value is its place in a list of one.
    A goal that is covered where it fails is told as failed alone.
    """
    words: dict[str, int] = {}
    failed = {*trace.failed}
    columns = [_coded_column(trace.columns[var.name], words) for var in shown]
    for var, column in zip(shown, columns, strict=True):
        if trace.differs.get(var.name):
            column["differs"] = [[each.first, each.end, each.expected] for each in trace.differs[var.name]]
    return {
        "name": trace.name,
        "kind": trace.kind,
        "beside": trace.beside,
        "length": trace.length,
        "columns": columns,
        "goals": [list(pair) for pair in trace.goals if pair not in failed],
        "failed": [list(pair) for pair in trace.failed],
        "deadlines": [
            [each.goal, each.asked, each.first, each.check, each.last, each.held, each.told] for each in trace.deadlines
        ],
        "unknown": list(trace.unknown),
        "folds": [list(pair) for pair in trace.folds()],
        "words": list(words),
    }


def _coded_column(column: Sequence[Any], words: dict[str, int]) -> dict[str, list[Any]]:
    """The values of a column where they change, or all where most change; texts are given places in ``words``."""
    runs = [(value, sum(1 for _ in same)) for value, same in groupby(column)]
    if 2 * len(runs) > len(column):
        return {"all": [_coded(value, words) for value in column]}
    return {"values": [_coded(value, words) for value, _ in runs], "runs": [count for _, count in runs]}


def _coded(value: Any, words: dict[str, int]) -> Any:
    if isinstance(value, bool) or value is None:
        return None if value is None else int(value)
    return value if isinstance(value, int | float) else [words.setdefault(str(value), len(words))]
