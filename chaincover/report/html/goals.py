"""Traceability and findings: each requirement with its goal and what became of it, and each finding with its run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bmc.errors import counted, listed
from bmc.records import dataclass
from chaincover.chain import CAN_FAIL, COVERED, EXCLUDED, UNREACHABLE, Verdict
from chaincover.formats.chain_file import violation_file
from chaincover.formats.document import CHAINS_FILE
from chaincover.options import Options
from chaincover.report.console import told_steps
from chaincover.report.html.finding import Finding, Part, named, others_told, read_by
from chaincover.report.html.judged import findings_on_runs
from chaincover.report.html.runs import violating_run
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
from chaincover.report.html.trace import Variable, chain_trace, variables
from chaincover.verdicts import next_step
from properties.deadlines import not_held

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


def findings_of(saved: Saved) -> list[Finding]:
    """All findings, requirements that can fail first, then what failed, deviated, is undefined, or is not covered."""
    return [*_violations(saved), *_on_chains(saved), *findings_on_runs(saved), *_checked(saved), *_not_covered(saved)]


def _violations(saved: Saved) -> Iterator[Finding]:
    goals = {goal["name"]: goal for goal in goals_of(saved)}
    for ruling in rulings_of(saved):
        if ruling["ruling"] != CAN_FAIL:
            continue
        goal = goals.get(ruling["goal"], {})
        trace, shown = violating_run(saved, ruling) or (None, ())
        parts = tuple(_part(each, shown) for each in ruling["values"])
        title = f"{ruling['goal']}{named(goal)} can fail"
        yield Finding(
            "requirement",
            title,
            _violation_text(ruling, period_of(saved)),
            goal.get("property", ""),
            "" if trace is None else trace.name,
            ruling["step"],
            parts,
            others=others_told({"held": ruling["held"], "failed": (), "undecided": ()}) if ruling["held"] else "",
            table=None if trace is None else step_table(trace, shown, read_by(goal, parts), _marks(ruling)),
            commands=_commands(saved, ruling["goal"]) if trace is not None else (),
            about=ruling["goal"],
        )


def _marks(ruling: Mapping[str, Any]) -> dict[int, str]:
    """The steps of a violation that stand out: that of the antecedent, and the one at which the values are wrong."""
    owed, step = ruling.get("deadline"), ruling["step"]
    fails = max((each["step"] for each in ruling["values"]), default=step)
    return {owed["antecedent"] if owed else step: "antecedent"} | {fails: "fails"}


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


def _on_chains(saved: Saved) -> Iterator[Finding]:
    """Consequents and assertions that fail on a chain, and disagreements of its replay.

    A requirement of which a shortest violation is shown has no second table.
    """
    told = {ruling["goal"] for ruling in rulings_of(saved) if ruling["ruling"] == CAN_FAIL}
    for chain in saved.chains:
        own = chain.data.get("chain") or {}
        failed: dict[str, list[int]] = {}
        for failure in own.get("failures", ()):
            failed.setdefault(failure["goal"], []).append(failure["step"])
        for goal, steps in failed.items():
            title = f"the consequent of {goal} fails on {chain.file}"
            text, said = _failed_text(own, goal, steps), _goal(saved, goal)
            yield Finding(
                "requirement",
                title,
                text,
                said.get("property", ""),
                *(chain.file, steps[0]),
                others=_others_on(chain, goal),
                table=None if goal in told else _failing_steps(chain, said, steps[0]),
                about=goal,
            )
        for each in own.get("violations", ()):
            title = f"{each['assertion']} fails on {chain.file}"
            text, about = f"It fails in step {each['step']}.", each["assertion"]
            yield Finding("assertion", title, text, trace=chain.file, step=each["step"], about=about)
        replay = (chain.run or {}).get("replay") or {}
        for text in replay.get("disagreements", ()):
            yield Finding("disagreement", f"model and compiled original differ on {chain.file}", f"{text}.")


def _failing_steps(chain: SavedChain, goal: Mapping[str, Any], step: int) -> StepTable | None:
    """The steps of the chain from the antecedent of a goal to where its consequent first fails, which is at ``step``;
    None where the steps are missing."""
    shown = variables(chain.data)
    trace = chain_trace(chain.data, shown, chain.file)
    if trace is None:
        return None
    begin = next((bar.first for bar in trace.deadlines if bar.goal == goal["name"] and bar.check == step), step)
    marks = {begin: "antecedent"} | {step: "fails"}
    return step_table(trace, shown, read_by(goal, ()), marks, (begin - 1, step + goal.get("length", 0) + 1))


def _others_on(chain: SavedChain, goal: str) -> str:
    """What became of other requirements where that of a goal first failed on the chain, as its replay says; '' where
    none does."""
    rows = ((chain.run or {}).get("replay") or {}).get("goals", ())
    others = next((row.get("others") for row in rows if row["name"] == goal), None)
    return others_told(others) if others else ""


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
            title = f"{name}{named(goals[name])}: {each.verdict}"
            yield Finding("goal", title, text, goals[name].get("property", ""), about=name)
        if others := [name for name in each.goals if name not in written]:
            yield Finding("goal", f"{listed(others)}: {each.verdict}", text)
