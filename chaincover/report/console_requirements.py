"""What ``generate`` found out of requirements, for the terminal: which can fail, and which are left open, and why."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from bmc.errors import counted, listed
from bmc.system.transition import TransitionSystem
from chaincover.chain import CAN_FAIL, NEVER_VIOLATED, UNDECIDED, UNREACHABLE, Failure, Ruling, Verdict
from chaincover.options import Options
from chaincover.project.names import Labels
from chaincover.report.console import Console, say, show_next_steps
from chaincover.report.findings import FINDING, Finding, told, violation
from chaincover.result import Requirements
from chaincover.subject import Subject
from properties.deadlines import not_held
from properties.goal import Goal

if TYPE_CHECKING:
    from chaincover.target.judge import JudgedRun

AT_ONCE = "that is the state after init, before any step; within X(...) the same is asked after each step"
"""What is told of a requirement that fails there."""

STORE_IT = "make the constant that keeps it so far away smaller for tests; longer runs are stored with --max-length"
"""What a user can do about a requirement that only runs violate which are too long to be stored."""

NEITHER = "neither a run that violates it was found nor a proof that there is none"
"""Why it is not known whether a requirement can fail, where nothing ended the search."""


def requirements_found(
    subject: Subject, violated: Mapping[str, JudgedRun], found: Requirements, file: Callable[[str], str]
) -> list[Finding]:
    """The requirements that can fail, each with what fails and its run; ``file`` names the one that has it.

    ``violated`` are the replays of the runs that violate one, by their goals.
    """
    goals, labels = {goal.name: goal for goal in subject.goals}, subject.value_names
    findings = []
    for failure in found.failures:
        lines = [f"{FINDING} {failing(subject.system, goals[failure.goal], failure, labels)}"]
        note = subject.note_of(goals[failure.goal]) or (AT_ONCE if _at_once(subject.system, failure) else "")
        lines += [f"  note: {note}"] if note else []
        played = violated.get(failure.goal)
        for text in () if played is None else (*played.disagreements, *played.refused):
            findings.append(Finding([f"DISAGREES: {failure.goal}: {text}"]))
        findings.append(violation(subject, failure, lines, file(failure.goal)))
    for ruling in found.beyond:
        lines = [f"{FINDING} {named(goals[ruling.goal])} can fail: {ruling.detail}", f"  next: {STORE_IT}"]
        findings.append(Finding(lines))
    return findings


def named(goal: Goal) -> str:
    """A goal with its requirement."""
    return f"{goal.name} ({goal.requirement})" if goal.requirement else goal.name


def _at_once(system: TransitionSystem, failure: Failure) -> bool:
    """Whether nothing but the state after init makes a requirement fail."""
    state = {var.name for var in system.state}
    return bool(failure.values) and all(each.step == 0 and each.variable in state for each in failure.values)


def failing(system: TransitionSystem, goal: Goal, failure: Failure, labels: Labels) -> str:
    """That a requirement can fail, where, and with which values, by their ``labels`` where they have some."""
    least = "a shortest run" if failure.shortest else "a run"
    where = f"at step {failure.step} of {least} of {counted(failure.run.length, 'step')}"
    return f"{named(goal)} can fail: {where}{failing_so(system, failure, labels)}"


def failing_so(system: TransitionSystem, failure: Failure, labels: Labels) -> str:
    """What fails, behind where it does: the deadline that was missed, the values, and what held there."""
    parts = [told(system, each, failure.run.length, labels) for each in failure.values]
    text = ""
    if (missed := failure.deadline) is not None:
        asked = f"{missed.asked} ({', '.join(missed.numbers)})" if missed.numbers else missed.asked
        when = f"{not_held(missed.asked)} step {missed.check}"
        text += f"; the antecedent held at step {missed.antecedent}, {asked} {when}"
    text += f"; {'; '.join(parts)}" if parts else ""
    return text + (f"; {', '.join(failure.held)} held there" if failure.held else "")


def show_rulings(out: Console, rulings: Sequence[Ruling], verdicts: Sequence[Verdict]) -> None:
    """How many requirements can fail, how many are never violated, which of these only because no run reaches the
    antecedent (by the ``verdicts`` of their goals), and which are left open."""
    unreachable = {verdict.goal for verdict in verdicts if verdict.status == UNREACHABLE}
    kinds = {CAN_FAIL: CAN_FAIL, NEVER_VIOLATED: f"{NEVER_VIOLATED}, proved", UNDECIDED: UNDECIDED}
    said, statuses = [], {ruling.goal: CAN_FAIL if ruling.beyond else ruling.status for ruling in rulings}
    for status, words in kinds.items():
        names = [goal for goal, own in statuses.items() if own == status]
        if names:
            which = "all " if len(names) == len(rulings) > 1 else ""
            said.append(f"{which}{len(names)} {words}{_named_of(status, names, unreachable)}")
    if said:
        say(out, f"requirements: {', '.join(said)}")


def _named_of(status: str, names: Sequence[str], unreachable: Collection[str]) -> str:
    """Of the requirements ``names`` with the same ``status`` the first ones that are open or vacuously true."""
    if status == UNDECIDED:
        return f" ({listed(names)})"
    empty = [goal for goal in names if goal in unreachable and status == NEVER_VIOLATED]
    return f" ({len(empty)} vacuously, no run reaches the antecedent: {listed(empty)})" if empty else ""


def show_open_rulings(out: Console, subject: Subject, rulings: Sequence[Ruling], options: Options) -> None:
    """The requirements of which it is not known whether they can fail: why, and what can be done."""
    goals = {goal.name: goal for goal in subject.goals}
    left = [ruling for ruling in rulings if ruling.status == UNDECIDED and not ruling.beyond]
    judged = [Verdict(f"whether {own.goal} can fail", UNDECIDED, detail=own.detail or NEITHER) for own in left]
    show_next_steps(out, [(replace(goals[a.goal], name=b.goal), b) for a, b in zip(left, judged, strict=True)], options)
