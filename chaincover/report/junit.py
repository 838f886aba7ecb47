"""JUnit files, as continuous integration servers read them: a test case for each goal, requirement or check."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from bmc.records import dataclass
from chaincover.chain import CAN_FAIL, COVERED, UNDECIDED, Ruling, Verdict
from chaincover.verdicts import FAILED, NOT_EXERCISED, OPEN_REQUIREMENTS, infeasible
from properties.goal import Goal

if TYPE_CHECKING:
    from chaincover.target.judge import JudgedRun
    from chaincover.verification.report import Line

PASS, FAILURE, ERROR, SKIPPED = "", "failure", "error", "skipped"
"""Outcomes of a case by the names of their elements; a case that passes has none."""

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML document may have."""


@dataclass(frozen=True, slots=True)
class Case:
    """A test case: of which ``kind`` it is (goal, requirement, check), its ``name``, outcome and what is said of it."""

    kind: str
    name: str
    outcome: str
    text: str = ""


def junit(suite: str, cases: Sequence[Case]) -> str:
    """The file: one suite, called ``suite``, with ``cases`` in their order. It holds no times: it repeats itself."""
    counts = {name: sum(case.outcome == name for case in cases) for name in (FAILURE, ERROR, SKIPPED)}
    numbers = {"tests": len(cases), "failures": counts[FAILURE], "errors": counts[ERROR], "skipped": counts[SKIPPED]}
    root = ElementTree.Element("testsuites", {name: str(number) for name, number in numbers.items()})
    attributes = {"name": _legal(suite), **{name: str(number) for name, number in numbers.items()}}
    own = ElementTree.SubElement(root, "testsuite", attributes)
    for case in cases:
        place = {"classname": _legal(f"{suite}.{case.kind}"), "name": _legal(case.name)}
        element = ElementTree.SubElement(own, "testcase", place)
        if case.outcome:
            ElementTree.SubElement(element, case.outcome, {"message": _legal(case.text)})
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _legal(text: str) -> str:
    """``text`` with characters that XML has no place for written as their numbers."""
    return _ILLEGAL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def of_judged(run: JudgedRun) -> list[Case]:
    """The cases of a run that was judged: goals that it was made for, all requirements, and what disagrees."""
    found = []
    first = None if run.comparison is None else run.comparison.first
    said = [*run.disagreements, *run.refused, *run.violations]
    if first is not None:
        said.append(f"after {first.step} steps {first.variable} is {first.actual}, not {first.expected}")
    found.append(Case("check", "agreement with the model", FAILURE if said else PASS, "; ".join(said[:3])))
    for goal in run.goals:
        if goal.asked:
            outcome = PASS if goal.verdict == COVERED else FAILURE if goal.step is None and not goal.detail else ERROR
            said_of = f"{goal.verdict}{': ' if goal.detail else ''}{goal.detail}"
            found.append(Case("goal", goal.goal, outcome, said_of))
        if goal.requirement:
            text = f"{goal.requirement}{': ' if goal.why else ''}{goal.why}"
            text += f" at step {goal.failed_at}" if goal.requirement == FAILED else ""
            found.append(Case("requirement", goal.goal, _of_requirement(goal.requirement), text))
    if run.final is not None:
        found.append(Case("check", "final condition", PASS if run.final else FAILURE, "not reached"))
    return found


def _of_requirement(word: str) -> str:
    if word in OPEN_REQUIREMENTS:
        return ERROR
    return {FAILED: FAILURE, NOT_EXERCISED: SKIPPED}.get(word, PASS)


def of_answer(goals: Sequence[Goal], verdicts: Sequence[Verdict], rulings: Iterable[Ruling]) -> list[Case]:
    """The cases of an answer of ``generate``: its goals, and whether requirements can fail."""
    aside = infeasible(goals, verdicts)
    found = []
    for verdict in verdicts:
        outcome = ERROR if verdict.status == UNDECIDED else FAILURE
        outcome = PASS if verdict.status == COVERED else SKIPPED if verdict.goal in aside else outcome
        said = f"{verdict.status}{': ' if verdict.detail else ''}{verdict.detail}"
        found.append(Case("goal", verdict.goal, outcome, said))
    for ruling in rulings:
        outcome = {CAN_FAIL: FAILURE, UNDECIDED: SKIPPED}.get(CAN_FAIL if ruling.beyond else ruling.status, PASS)
        found.append(Case("requirement", ruling.goal, outcome, f"{ruling.status}: {ruling.detail}"))
    return found


def of_verification(lines: Sequence[Line]) -> list[Case]:
    """The cases of a verification: its checks."""
    from chaincover.verification.report import FINDING, OPEN, WRONG

    outcomes = {WRONG: FAILURE, FINDING: FAILURE, OPEN: ERROR}
    return [Case("check", line.check, outcomes.get(line.verdict, PASS), line.text) for line in lines]
