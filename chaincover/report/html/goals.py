"""Traceability and findings: each requirement with its goal and what became of it, and each finding with its run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from bmc.errors import counted, listed
from bmc.records import dataclass
from chaincover.chain import CAN_FAIL, COVERED, EXCLUDED, NO_WAY_TO_FINAL, UNREACHABLE
from chaincover.formats.chain_file import violation_file
from chaincover.report.console import told_steps
from chaincover.report.html.runs import judged_run, violating_run
from chaincover.report.html.saved import Saved, SavedChain
from chaincover.report.html.summary import command, goals_in, goals_of, hits_of, in_time, period_of, rulings_of, seconds
from chaincover.report.html.table import StepTable, step_table
from chaincover.report.html.trace import Variable, chain_trace, variables
from properties.deadlines import not_held


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
    impacted: str


def rows_of(saved: Saved) -> list[Row]:
    """A row for each goal, written ones first as they stand in the project."""
    hits, rulings = hits_of(saved), {ruling["goal"]: ruling for ruling in rulings_of(saved)}
    before = {goal["name"]: goal for goal in (goals_in(saved.earlier) if saved.earlier else ())}
    period = period_of(saved)
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
                _exercised(goal, hits.get(goal["name"]), period),
                ruling.get("ruling", ""),
                ruling.get("detail", ""),
                "" if held is None else "held" if held else "failed",
                _impacted(goal, before) if saved.earlier is not None else "",
            )
        )
    return found


def _exercised(goal: Mapping[str, Any], hit: tuple[SavedChain, int] | None, period: object) -> Exercised:
    """Where the goal is covered: at the ``hit`` on a chain, if there is one."""
    if hit is None:
        return Exercised("", None, "", "a test of its own" if goal.get("test") or goal.get("long_test") else "")
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
        run = "" if trace is None else trace.name
        told = [*_told_deviations(judged)]
        for place, (text, step) in enumerate(told):
            table = step_table(trace, shown, (), step) if trace is not None and not place else None
            title = f"{judged['on']} deviates from the model ({name})"
            yield Finding("deviation", title, f"{text}.", trace=run, step=step, table=table)
        for goal in judged["goals"]:
            if goal.get("failed_at") is not None:
                text = f"{goal['why'] or 'Its consequent does not hold'}."
                title = f"{goal['name']} failed on {judged['on']} ({name})"
                step, read = goal["failed_at"], _read(_goal(saved, goal["name"]), ())
                table = step_table(trace, shown, read, step) if trace is not None and not told else None
                yield Finding("requirement", title, text, trace=run, step=step, table=table, about=goal["name"])


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

    ``aside``: they were generated and are proved unreachable, which is no finding.
    """

    goals: tuple[str, ...]
    verdict: str
    detail: str
    proved: bool
    aside: bool


def not_covered(saved: Saved) -> list[NotCovered]:
    """All goals that are not covered, those together that are not for the same reason."""
    within_k = (saved.first.get("settings") or {}).get("bound") is not None
    alike: dict[tuple[str, str, bool, bool], list[str]] = {}
    for goal in goals_of(saved):
        verdict, detail = goal["verdict"], goal.get("detail", "")
        if verdict == COVERED:
            continue
        no_way = verdict == NO_WAY_TO_FINAL and not (within_k and "within K" in detail)
        aside = bool(goal.get("generated")) and verdict == UNREACHABLE
        alike.setdefault((verdict, detail, verdict == UNREACHABLE or no_way, aside), []).append(goal["name"])
    return [NotCovered(tuple(names), *reason) for reason, names in alike.items()]


def _not_covered(saved: Saved) -> Iterator[Finding]:
    """Goals that are not covered; those of a criterion that are proved unreachable are no finding."""
    for each in not_covered(saved):
        if each.aside:
            continue
        title = f"{listed(each.goals)}: {each.verdict}"
        if each.proved:
            proved = "This is proved."
        elif each.verdict == EXCLUDED:
            proved = "This chain leaves it out; other chains may cover it."
        else:
            proved = "This is not proved to be impossible."
        detail = each.detail or each.verdict
        yield Finding("goal", title, f"{detail[0].upper()}{detail[1:]}. {proved}")
