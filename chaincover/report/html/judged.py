"""Findings on runs that were judged: recordings, runs on a target, and replays of other builds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from bmc.errors import listed
from bmc.records import dataclass
from chaincover.report.html.finding import IN_MODEL, Finding, Part, named, others_told, read_by
from chaincover.report.html.runs import Run, judged_run
from chaincover.report.html.saved import Saved
from chaincover.report.html.summary import command, goals_of, has_deadline, lost_in, period_of, place_of, seconds
from chaincover.report.html.table import StepTable, step_table
from chaincover.report.html.trace import Trace, Variable, bar
from chaincover.target.comparison import AROUND
from properties.deadlines import not_held

RECORDINGS = (".csv", ".vcd", ".jsonl")
"""Ends of the names of recordings that ``judge`` reads."""

RENUMBERED = "other numbers for the same names there, and its numbers are told by the names of the project"
"""What is said of enumerations of another build."""


@dataclass(frozen=True)
class Judgement:
    """A judgement of the file ``name``, with the goals of the project, the run where its values are stored, and the
    seconds of a step, where they are known."""

    name: str
    data: Mapping[str, Any]
    goals: Mapping[str, Mapping[str, Any]]
    run: Run | None
    commands: tuple[str, ...]
    period: object

    def at(self, step: int) -> str:
        """A step with its time."""
        time = seconds(step, self.period)
        return f"step {step}" + (f" ({time})" if time else "")

    def table(self, read: Sequence[str], marks: Mapping[int, str], part: tuple[int, int]) -> StepTable | None:
        """The steps of ``part`` of the run, which are those that a finding is about."""
        return None if self.run is None else step_table(*self.run, read, marks, part)

    def finding(self, kind: str, title: str, text: str, step: int | None, **more: Any) -> Finding:
        """A finding on this run."""
        trace = "" if self.run is None else self.run[0].name
        return Finding(kind, title, text, trace=trace, step=step, commands=self.commands, **more)

    def of_goal(self, kind: str, name: str, what: str, text: str, step: int, **more: Any) -> Finding:
        """A finding on the goal ``name``: ``what`` became of it, beside the values of the model."""
        goal = self.goals.get(name, {})
        title, asked = f"{name}{named(goal)} {what} ({self.name})", goal.get("property", "")
        beside = {"reads": "what it reads", "expects": IN_MODEL, "about": name}
        return self.finding(kind, title, f"{text}.", step, property=asked, **beside, **more)


def judgements(saved: Saved) -> Iterator[Judgement]:
    """The judgements of a result, each with what the report knows of its run."""
    goals = {goal["name"]: goal for goal in goals_of(saved)}
    for name, data in saved.judged:
        run, commands = judged_run(saved, name, data), _commands(saved, data)
        yield Judgement(name, data, goals, run, commands, period_of(saved))


def _commands(saved: Saved, judged: Mapping[str, Any]) -> tuple[str, ...]:
    """The command that judges the run again; none for a run on a target."""
    if not judged.get("comparison"):
        against = judged.get("against") or ("FILE" if judged.get("changed_sources") else "")
        return (command(saved, "replay", judged["chain"], *(("--against", against) if against else ())),)
    recorded = PurePath(judged["on"]).suffix in RECORDINGS
    return (command(saved, "judge", judged["chain"], judged["on"]),) if recorded else ()


def findings_on_runs(saved: Saved) -> Iterator[Finding]:
    """What judged runs did otherwise than expected, goals that they lost, and requirements that failed on them."""
    for judged in judgements(saved):
        yield from _deviations(judged)
        yield from _failed(judged)
        yield from _lost(judged)


def _deviations(judged: Judgement) -> Iterator[Finding]:
    """The values that were not as expected as one finding, and each further disagreement."""
    data, parts = judged.data, _first_differences(judged)
    title = f"{place_of(data)} deviates from the model ({judged.name})"
    notes = [f"{listed(data['renumbered'])} has {RENUMBERED}"] if data.get("renumbered") else []
    if data.get("other_inputs"):
        notes.append(f"the inputs were not those of the chain: {'; '.join(data['other_inputs'])}")
    if parts:
        step, number = min(part.step for part in parts), sum(part.times for part in parts)
        values = "1 value is" if number == 1 else f"{number} values are"
        text = f"{values} not as expected, first before {judged.at(step)}"
        table = judged.table([part.variable for part in parts], {step: "differs"}, (step - AROUND, step + AROUND))
        text = "; ".join([text, *notes])
        reads = "what is not as expected"
        yield judged.finding("deviation", title, f"{text}.", step, parts=parts, reads=reads, table=table)
    elif data.get("other_inputs"):
        text = "; ".join(notes)
        yield judged.finding("deviation", f"{place_of(data)} had other inputs ({judged.name})", f"{text}.", None)
    for text in data.get("disagreements", ())[len(data.get("differences", ())) :]:
        yield judged.finding("deviation", title, f"{text}.", None)


def _first_differences(judged: Judgement) -> tuple[Part, ...]:
    """Where each variable of the state is first not as expected, in the order of the steps."""
    if judged.run is not None:
        trace, shown = judged.run
        own = [(var, trace.differs[var.name]) for var in shown if var.role != "inputs" and trace.differs.get(var.name)]
        found = [
            Part(var.name, at[0].first, var.called(trace.columns[var.name][at[0].first]), at[0].expected, _number(at))
            for var, at in own
        ]
    else:
        rows = judged.data.get("differences") or ()
        found = [Part(*(each[key] for key in ("variable", "step", "actual", "expected", "times"))) for each in rows]
        first = (judged.data.get("comparison") or {}).get("first")
        if first is not None and not found:
            found = [Part(first["variable"], first["step"], first["actual"], first["expected"], 1)]
    return tuple(sorted(found, key=lambda part: part.step))


def _number(stretches: Sequence[Any]) -> int:
    return sum(each.end - each.first for each in stretches)


def _failed(judged: Judgement) -> Iterator[Finding]:
    """The requirements that failed on the run, each with the values that are not as expected where it is decided."""
    for own in judged.data["goals"]:
        step = own.get("failed_at")
        if step is None:
            continue
        goal = judged.goals.get(own["name"], {})
        text, begin, end = _failure(judged, own, goal, step)
        parts, values = ((), "") if judged.run is None else _values(*judged.run, goal, end)
        marks = {end: "fails"} if begin == end else {begin: "antecedent", end: "fails"}
        others = own.get("others")
        yield judged.of_goal(
            *("requirement", own["name"], f"failed on {place_of(judged.data)}", f"{text}{values}", step),
            parts=parts,
            others=others_told(others) if others else "",
            table=judged.table(read_by(goal, parts), marks, (begin - 1, end + 1)),
        )


def _failure(judged: Judgement, own: Mapping[str, Any], goal: Mapping[str, Any], step: int) -> tuple[str, int, int]:
    """Why a requirement failed at ``step``, as a sentence without its end, and the steps of the antecedent and of the
    value for which it failed."""
    if own.get("deadline"):
        owed = bar(own["name"], own["deadline"], False)
        since, by = judged.at(owed.first), judged.at(owed.check)
        return f"The antecedent held at {since}, and {owed.asked} {not_held(owed.asked)} {by}", owed.first, owed.check
    if has_deadline(goal):
        return f"At {judged.at(step)} what it asks within a time has failed", step, step
    text = f"At {judged.at(step)} its antecedent holds, and its consequent does not"
    return text, step, step if judged.run is None else _wrong_at(judged.run[0], goal, step)


def _wrong_at(trace: Trace, goal: Mapping[str, Any], step: int) -> int:
    """The step of the value for which a requirement without a deadline failed: where what the goal reads first is not
    as expected, else where it reads last."""
    steps = range(step, min(step + goal.get("length", 0), trace.length) + 1)
    differing = (at for at in steps if any(_expected(trace, name, at) for name in goal.get("reads", ())))
    return next(differing, steps[-1])


def _expected(trace: Trace, name: str, step: int) -> str:
    """The value that was expected of a variable where it is another one, else ''."""
    return next((each.expected for each in trace.differs.get(name, ()) if each.first <= step < each.end), "")


def _values(
    trace: Trace, shown: Sequence[Variable], goal: Mapping[str, Any], step: int
) -> tuple[tuple[Part, ...], str]:
    """The values at ``step`` of what the goal reads that are not as expected; where there are none, what it reads
    there, as the end of a sentence, and that the model does the same, where all of that is known."""
    read = [var for var in shown if var.name in goal.get("reads", ()) and var.role != "inputs"]
    own = [(var, trace.columns[var.name][step]) for var in read]
    parts = [Part(var.name, step, var.called(value), _expected(trace, var.name, step)) for var, value in own]
    wrong = tuple(part for part in parts if part.expected)
    if wrong or not own:
        return wrong, ""
    when = f"before step {step}" if step < trace.length else "at its end"
    told = ", ".join(f"{part.variable} is {part.actual}" for part in parts)
    seen = all(value is not None for _, value in own) and not any(trace.differs.values())
    same = "; no value deviates from the model, which fails it, too" if seen else ""
    return (), f": {when} {told}{same}"


def _lost(judged: Judgement) -> Iterator[Finding]:
    """The goals that the chain covers, and the run does not."""
    for own in lost_in(judged.data):
        goal, step = judged.goals.get(own["name"], {}), own["claimed_at"]
        place, end = place_of(judged.data), step + goal.get("length", 0)
        text = f"The chain covers it at {judged.at(step)}, and {place} does not"
        parts = () if judged.run is None else _lost_values(*judged.run, goal, step, end)
        yield judged.of_goal(
            *("lost", own["name"], f"is lost on {place}", text, step),
            parts=parts,
            table=judged.table(read_by(goal, parts), {step: "covered by the chain"}, (step - 1, end)),
        )


def _lost_values(
    trace: Trace, shown: Sequence[Variable], goal: Mapping[str, Any], step: int, end: int
) -> tuple[Part, ...]:
    """What a goal reads from ``step`` to ``end`` that is not as expected."""
    read = [var for var in shown if var.name in goal.get("reads", ())]
    steps = range(step, min(end, trace.length) + 1)
    found = [(var, at, _expected(trace, var.name, at)) for at in steps for var in read]
    return tuple(Part(var.name, at, var.called(trace.columns[var.name][at]), text) for var, at, text in found if text)
