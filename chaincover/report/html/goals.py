"""Traceability and findings: each requirement with its goal and what became of it, and each finding with its run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import PurePath
from typing import Any

from bmc.errors import counted, listed
from bmc.records import dataclass
from chaincover.chain import CAN_FAIL, COVERED, EXCLUDED, UNREACHABLE, Verdict
from chaincover.formats.chain_file import violation_file
from chaincover.formats.document import CHAINS_FILE
from chaincover.options import Options
from chaincover.report.console import told_steps
from chaincover.report.html.runs import judged_run, violating_run
from chaincover.report.html.saved import Saved, SavedChain
from chaincover.report.html.summary import (
    command,
    failed_on_runs,
    goals_in,
    goals_of,
    hits_of,
    in_time,
    is_aside,
    no_way_is_proved,
    period_of,
    rulings_of,
    seconds,
    vacuous,
)
from chaincover.report.html.table import StepTable, step_table
from chaincover.report.html.trace import Trace, Variable, chain_trace, variables
from chaincover.verdicts import next_step
from properties.deadlines import not_held

HOLDS = "its antecedent holds, and its consequent does not"
"""What is said of a requirement at the step at which it fails, unless its consequent is a deadline."""

RECORDINGS = (".csv", ".vcd", ".jsonl")
"""Ends of the names of recordings that ``judge`` reads."""

_DEADLINE = re.compile(r"\b[FG]\s*\[")

VACUOUS = "vacuously: no run reaches its antecedent, so its consequent is never asked for"
"""What is said of a requirement that is never violated because its goal is unreachable."""


@dataclass(frozen=True)
class Exercised:
    """Where a goal is covered: the file of the ``chain``, '' without one, its ``step``, and the ``time`` of that.

    ``by`` names what covers the goal: a chain, or a run of its own.
    """

    chain: str
    step: int | None
    time: str
    by: str


@dataclass(frozen=True)
class Row:
    """A goal as the table of traceability shows it.

    ``failed`` are the judged runs on which its requirement failed.
    ``impacted``: how the text of its property differs from that of an earlier report, '' where it does not.
    """

    goal: str
    requirement: str
    description: str
    property: str
    criterion: str
    verdict: str
    detail: str
    exercised: Exercised
    ruling: str
    ruling_detail: str
    consequent: str
    failed: tuple[str, ...]
    impacted: str


def rows_of(saved: Saved) -> list[Row]:
    """A row for each goal, written ones first as they stand in the project."""
    hits, rulings = hits_of(saved), {ruling["goal"]: ruling for ruling in rulings_of(saved)}
    before = {goal["name"]: goal for goal in (goals_in(saved.earlier) if saved.earlier else ())}
    home = saved.chains[0].file if saved.chains else CHAINS_FILE
    period, failed, empty = period_of(saved), failed_on_runs(saved), vacuous(saved)
    found = []
    for goal in goals_of(saved):
        ruling = rulings.get(goal["name"], {})
        held = goal.get("consequent_held")
        found.append(
            Row(
                goal["name"],
                goal.get("requirement", ""),
                goal.get("description", ""),
                goal.get("property", ""),
                goal.get("generated") or "",
                goal["verdict"],
                goal.get("detail", ""),
                _exercised(goal, hits.get(goal["name"]), period, home),
                ruling.get("ruling", ""),
                VACUOUS if goal["name"] in empty else ruling.get("detail", ""),
                "" if held is None else "held" if held else "failed",
                tuple(failed.get(goal["name"], ())),
                _impacted(goal, before) if saved.earlier is not None else "",
            )
        )
    return found


def _exercised(goal: Mapping[str, Any], hit: tuple[SavedChain, int] | None, period: object, home: str) -> Exercised:
    """Where the goal is covered: at the ``hit`` on a chain, if there is one, else by the test of its own that the file
    ``home`` has."""
    if hit is None:
        test = goal.get("test") or goal.get("long_test")
        return Exercised(
            "", None, "", f"a test of its own of {in_time(test['length'], period)} in {home}" if test else ""
        )
    chain, step = hit
    return Exercised(chain.file, step, seconds(step, period), chain.file)


def _impacted(goal: Mapping[str, Any], before: Mapping[str, Mapping[str, Any]]) -> str:
    """How the goal differs from that of an earlier result, '' where it is the same."""
    earlier = before.get(goal["name"])
    if earlier is None:
        return "new"
    if earlier.get("property") != goal.get("property"):
        return "property changed"
    return "text changed" if earlier.get("description") != goal.get("description") else ""


@dataclass(frozen=True)
class Part:
    """A value that a consequent reads in a run that violates it."""

    variable: str
    step: int
    actual: str
    expected: str


@dataclass(frozen=True)
class Finding:
    """What an engineer has to look at: a title, a sentence, and where it applies a run with the consequent's parts.

    ``about`` is the goal or assertion; of undefined behaviour its place in the source, such as ``a.c:3:7``, or ''.
    ``trace`` is the name of its run among the traces of the waveform, ``step`` where to look; ``commands`` show it
    again; ``held`` are other requirements that hold at that step.
    """

    kind: str
    title: str
    text: str
    property: str = ""
    trace: str = ""
    step: int | None = None
    parts: tuple[Part, ...] = ()
    held: tuple[str, ...] = ()
    table: StepTable | None = None
    commands: tuple[str, ...] = ()
    about: str = ""


def findings_of(saved: Saved) -> list[Finding]:
    """All findings, requirements that can fail first, then what failed, deviated, is undefined, or is not covered."""
    return [*_violations(saved), *_on_chains(saved), *_deviations(saved), *_checked(saved), *_not_covered(saved)]


def _violations(saved: Saved) -> Iterator[Finding]:
    goals = {goal["name"]: goal for goal in goals_of(saved)}
    for ruling in rulings_of(saved):
        if ruling["ruling"] != CAN_FAIL:
            continue
        goal = goals.get(ruling["goal"], {})
        trace, shown = violating_run(saved, ruling) or (None, ())
        parts = tuple(_part(each, shown) for each in ruling["values"])
        title = f"{ruling['goal']}{_named(goal)} can fail"
        yield Finding(
            "requirement",
            title,
            _violation_text(ruling, period_of(saved)),
            goal.get("property", ""),
            "" if trace is None else trace.name,
            ruling["step"],
            parts,
            tuple(ruling["held"]),
            None if trace is None else step_table(trace, shown, _read(goal, parts), ruling["step"]),
            _commands(saved, ruling["goal"]) if trace is not None else (),
            about=ruling["goal"],
        )


def _commands(saved: Saved, goal: str) -> tuple[str, ...]:
    """What shows the run again: on the compiled original, and as a program to be looked at in a debugger."""
    file = violation_file(goal)
    harness = "--format", "c", "-o", "harness"
    return command(saved, "replay", file, "--steps", goal=goal), command(saved, "export", file, *harness, goal=goal)


def _part(value: Mapping[str, Any], shown: Sequence[Variable]) -> Part:
    """A value that a consequent reads, by its name where it has one."""
    known = next((var for var in shown if var.name == value["variable"]), None)
    texts = str(value["actual"]), str(value["expected"] or "")
    return Part(value["variable"], value["step"], *(texts if known is None else map(known.in_words, texts)))


def _named(goal: Mapping[str, Any]) -> str:
    return f" ({goal['requirement']})" if goal.get("requirement") else ""


def _violation_text(ruling: Mapping[str, Any], period: object) -> str:
    """Where the requirement fails, in a sentence, with times where a step lasts ``period`` seconds."""

    def at(step: int) -> str:
        time = seconds(step, period)
        return f"step {step}" + (f" ({time})" if time else "")

    length = ruling["test"]["length"] if ruling.get("test") and "length" in ruling["test"] else None
    run = (
        "a run" if length is None else f"a{' shortest' if ruling['shortest'] else ''} run of {in_time(length, period)}"
    )
    deadline = ruling.get("deadline")
    if deadline is not None:
        return (
            f"In {run} the antecedent held at {at(deadline['antecedent'])}, and {deadline['asked']} "
            f"{not_held(deadline['asked'])} {at(deadline['check'])}."
        )
    if ruling["step"] is None:
        return f"{ruling['detail']}."
    ends = max((each["step"] for each in ruling["values"]), default=ruling["step"])
    fails = "does not" if ends == ruling["step"] else f"fails by {at(ends)}"
    return f"In {run} the antecedent holds at {at(ruling['step'])}, and the consequent {fails}."


def _read(goal: Mapping[str, Any], parts: Sequence[Part]) -> list[str]:
    return [*dict.fromkeys([*goal.get("reads", ()), *(part.variable for part in parts)])]


def _on_chains(saved: Saved) -> Iterator[Finding]:
    """Consequents and assertions that fail on a chain, and disagreements of its replay.

    A requirement of which a shortest violation is shown has no second table.
    """
    told = {ruling["goal"] for ruling in rulings_of(saved) if ruling["ruling"] == CAN_FAIL}
    for chain in saved.chains:
        own, shown = chain.data.get("chain") or {}, variables(chain.data)
        failed: dict[str, list[int]] = {}
        for failure in own.get("failures", ()):
            failed.setdefault(failure["goal"], []).append(failure["step"])
        for goal, steps in failed.items():
            title = f"the consequent of {goal} fails on {chain.file}"
            text, said = _failed_text(own, goal, steps), _goal(saved, goal)
            trace = None if goal in told else chain_trace(chain.data, shown, chain.file)
            table = None if trace is None else step_table(trace, shown, _read(said, ()), steps[0])
            place = chain.file, steps[0]
            yield Finding("requirement", title, text, said.get("property", ""), *place, table=table, about=goal)
        for each in own.get("violations", ()):
            title = f"{each['assertion']} fails on {chain.file}"
            text, about = f"It fails in step {each['step']}.", each["assertion"]
            yield Finding("assertion", title, text, trace=chain.file, step=each["step"], about=about)
        replay = (chain.run or {}).get("replay") or {}
        for text in replay.get("disagreements", ()):
            yield Finding("disagreement", f"model and compiled original differ on {chain.file}", f"{text}.")


def _failed_text(own: Mapping[str, Any], goal: str, steps: Sequence[int]) -> str:
    """Where the consequent of a goal fails on a chain, in a sentence. Of a deadline these are the steps that decide it,
    not those at which the antecedent holds."""
    at = f"at {told_steps(steps)} of the chain"
    deadlines = [hit["deadline"] for hit in own.get("hits", ()) if hit["goal"] == goal and hit.get("deadline")]
    if not deadlines:
        return f"The antecedent holds {at}, and the consequent does not."
    first = next((each for each in deadlines if each["check"] == steps[0]), None)
    since = "" if first is None else f": the antecedent holds at step {first['antecedent']}, {first['asked']} does not"
    return f"What it asks within a time has failed {at}{since}."


def _deviations(saved: Saved) -> Iterator[Finding]:
    """What a judged run did otherwise than the model, with the run where its values are stored."""
    for name, judged in saved.judged:
        trace, shown = judged_run(saved, name, judged) or (None, ())
        run, commands = "" if trace is None else trace.name, _judging(saved, judged)
        told = [*_told_deviations(judged)]
        for place, (text, step) in enumerate(told):
            table = step_table(trace, shown, (), step) if trace is not None and not place else None
            title = f"{judged['on']} deviates from the model ({name})"
            yield Finding("deviation", title, f"{text}.", trace=run, step=step, table=table, commands=commands)
        for goal in judged["goals"]:
            if goal.get("failed_at") is not None:
                said, step = _goal(saved, goal["name"]), goal["failed_at"]
                values = "" if trace is None else _values_at(trace, shown, said, step)
                wrong = None if trace is None else _wrong_at(trace, said, step)
                yield Finding(
                    "requirement",
                    f"{goal['name']}{_named(said)} failed on {judged['on']} ({name})",
                    f"{goal['why'] or _failed_at(saved, said, step)}{values}.",
                    said.get("property", ""),
                    trace=run,
                    step=step,
                    table=step_table(trace, shown, _read(said, ()), wrong) if trace is not None else None,
                    commands=commands,
                    about=goal["name"],
                )


def _judging(saved: Saved, judged: Mapping[str, Any]) -> tuple[str, ...]:
    """The command that judges the run again; none for a run on a target."""
    if not judged.get("comparison"):
        other = ("--against", "FILE") if judged.get("changed_sources") else ()
        return (command(saved, "replay", judged["chain"], *other),)
    recorded = PurePath(judged["on"]).suffix in RECORDINGS
    return (command(saved, "judge", judged["chain"], judged["on"]),) if recorded else ()


def _failed_at(saved: Saved, goal: Mapping[str, Any], step: int) -> str:
    """Where a requirement failed on a judged run, with the antecedent's step where that is known."""
    if not _has_deadline(goal):
        return f"At step {step} {HOLDS}"
    hit = next((hit for hit in _hits(saved) if hit["goal"] == goal["name"] and hit.get("deadline")), None)
    if hit is not None:
        deadline = hit["deadline"]
        # What is asked for within a time is missed at its end alone, what is asked for throughout at any step before.
        within = deadline["last"] if deadline["asked"].startswith("F") else deadline["check"]
        antecedent = step - within + deadline["antecedent"]
        if deadline["asked"].startswith("F") or deadline["check"] == step:
            asked = deadline["asked"]
            return f"The antecedent held at step {antecedent}, and {asked} {not_held(asked)} step {step}"
    return f"At step {step} what it asks within a time has failed"


def _hits(saved: Saved) -> Iterator[Mapping[str, Any]]:
    """What the chains cover, and where."""
    for chain in saved.chains:
        yield from (chain.data.get("chain") or {}).get("hits", ())


def _has_deadline(goal: Mapping[str, Any]) -> bool:
    return _DEADLINE.search(goal.get("property", "")) is not None


def _wrong_at(trace: Trace, goal: Mapping[str, Any], step: int) -> int:
    """The step of the value for which a requirement failed: of a deadline where it ended, else where what the goal
    reads first is not as expected, or where it reads last."""
    if _has_deadline(goal):
        return step
    steps = range(step, min(step + goal.get("length", 0), trace.length) + 1)
    differing = (at for at in steps if any(_expected(trace, name, at) for name in goal.get("reads", ())))
    return next(differing, steps[-1])


def _expected(trace: Trace, name: str, step: int) -> str:
    """The value that was expected of a variable where it is another one, else ''."""
    return next((each.expected for each in trace.differs.get(name, ()) if each.first <= step < each.end), "")


def _values_at(trace: Trace, shown: Sequence[Variable], goal: Mapping[str, Any], step: int) -> str:
    """What the goal reads in a run at ``step``, and of the state at the last step of the goal, as the end of a
    sentence."""
    read, last = [var for var in shown if var.name in goal.get("reads", ())], step + goal.get("length", 0)
    told = []
    for at in dict.fromkeys((step, min(last, trace.length))):
        own = [var for var in read if at == step or var.role != "inputs"]
        values = [_value_at(trace, var, at) for var in own]
        when = f"before step {at}" if at < trace.length else "at its end"
        told += [f"{when} {', '.join(values)}"] if values else []
    return f": {'; '.join(told)}" if told else ""


def _value_at(trace: Trace, var: Variable, step: int) -> str:
    expected = _expected(trace, var.name, step)
    return f"{var.name} is {var.called(trace.columns[var.name][step])}" + (expected and f", expected {expected}")


def _told_deviations(judged: Mapping[str, Any]) -> Iterator[tuple[str, int | None]]:
    """What is said of each difference, and its step: of a recording of the first one, with the number of all."""
    first = (judged.get("comparison") or {}).get("first")
    if first is not None:
        more = f"{counted(judged['comparison']['number'], 'value')} in all"
        text = f"Before step {first['step']} {first['variable']} is {first['actual']}, expected {first['expected']}"
        yield f"{text}; {more}", first["step"]
    steps = [each["step"] for each in judged.get("differences", ())]
    yield from zip_longest(judged.get("disagreements", ()), steps)


def _goal(saved: Saved, name: str) -> Mapping[str, Any]:
    return next((goal for goal in goals_of(saved) if goal["name"] == name), {})


def _checked(saved: Saved) -> Iterator[Finding]:
    """What ``check`` found: undefined behaviour that is not proved impossible, differences from the original."""
    for name, checked in saved.checked:
        for each in checked["undefined_behaviour"] or ():
            place = "" if each["where"] == "None" else str(each["where"])
            title = f"possible undefined behaviour: {each['kind']}{f' at {place}' if place else ''} ({name})"
            kind = "undecided" if each["undecided"] else "undefined"
            yield Finding(kind, title, f"It {reach_of(each)}. Chains avoid it.", about=place)
        compared = checked["compared"]
        if compared is not None and compared["differences"]:
            times = counted(compared["differences"], "time")
            steps = counted(compared["steps"], "random step")
            text = f"In {steps} they differed {times}: trust no chain of this program."
            yield Finding("disagreement", f"model and compiled original differ ({name})", text)


def reach_of(place: Mapping[str, Any]) -> str:
    """How a place of possible undefined behaviour can be reached, as the end of a sentence that begins with *it*."""
    steps = place["steps_from_init"]
    if place["undecided"]:
        return "is undecided: it was not decided within the time whether it can happen"
    if steps is not None:
        when = f"after {counted(steps, 'step')}" if steps else "in the first step"
        return f"can happen {when} from init"
    found = "was not found within the first steps from init" if place["searched"] else "is undecided from init"
    return f"is possible in some state, and {found}"


@dataclass(frozen=True, slots=True)
class NotCovered:
    """Goals that are not covered for one reason. ``proved``: it is proved that no chain covers them.

    ``aside``: they were generated and are proved unreachable, which is no finding. ``advice``: what can be done.
    """

    goals: tuple[str, ...]
    verdict: str
    detail: str
    proved: bool
    aside: bool
    advice: str


def not_covered(saved: Saved) -> list[NotCovered]:
    """All goals that are not covered, those together that are not for the same reason."""
    settings = saved.first.get("settings") or {}
    limits: dict[str, Any] = {name: settings.get(name) for name in ("bound", "max_length", "time_limit", "query_limit")}
    alike: dict[tuple[str, str, bool, bool, str], list[str]] = {}
    for goal in goals_of(saved):
        verdict, detail = goal["verdict"], goal.get("detail", "")
        if verdict == COVERED:
            continue
        proved = verdict == UNREACHABLE or no_way_is_proved(saved, goal)
        known = Verdict(goal["name"], verdict, None, detail, proved)
        advice = next_step(known, bool(goal.get("generated")), Options(**limits))
        alike.setdefault((verdict, detail, proved, is_aside(goal), advice), []).append(goal["name"])
    return [NotCovered(tuple(names), *reason) for reason, names in alike.items()]


def _not_covered(saved: Saved) -> Iterator[Finding]:
    """Goals that are not covered, each written one by itself; generated ones that are proved unreachable are no
    finding."""
    goals = {goal["name"]: goal for goal in goals_of(saved)}
    for each in not_covered(saved):
        if each.aside:
            continue
        if each.proved:
            proved = "This is proved."
        elif each.verdict == EXCLUDED:
            proved = "This chain leaves it out; other chains may cover it."
        else:
            proved = "This is not proved to be impossible."
        detail = each.detail or each.verdict
        text = f"{detail[0].upper()}{detail[1:]}. {proved}" + (f" Next: {each.advice}." if each.advice else "")
        written = [name for name in each.goals if not goals[name].get("generated")]
        for name in written:
            title = f"{name}{_named(goals[name])}: {each.verdict}"
            yield Finding("goal", title, text, goals[name].get("property", ""), about=name)
        if others := [name for name in each.goals if name not in written]:
            yield Finding("goal", f"{listed(others)}: {each.verdict}", text)
