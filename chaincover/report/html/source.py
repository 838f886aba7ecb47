"""The annotated source: how often and when first each line and each outcome of a decision was executed on the chains.

What was not executed is told apart: *proved unreachable* where a goal of ``branches()``, ``conditions()`` or ``mcdc()``
there has this verdict, or the only decision that leads there, *justified* where the project file says why, else *not
seen*.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bmc.records import dataclass
from chaincover.chain import UNREACHABLE
from chaincover.formats.coverage_file import CodeGoal, Coverage, Executed, Line, Share, shares, together
from chaincover.report.html.saved import Saved, SourceText
from chaincover.report.html.summary import command, goals_of

EXECUTED, PROVED, JUSTIFIED, NOT_SEEN = "executed", "proved unreachable", "justified", "not seen"
"""What is said of a line or of an outcome. A line that is executed may have outcomes that are not."""

_NO_CODE = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
"""Comments and literals of C: a bracket in them is none."""

UNIQUE = re.compile(r"\.(\d+)$")
"""How the name of a goal of an atomic condition ends in front of its value: the number of the condition."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """An outcome of a decision or of a condition: ``state`` as above, and in how many steps, on which chain first."""

    label: str
    state: str
    own: Executed


@dataclass(frozen=True, slots=True)
class Condition:
    """An atomic condition of a decision: its values, and those that decided the outcome (masking MC/DC)."""

    text: str
    values: tuple[Outcome, ...]
    decides: tuple[Outcome, ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision that begins on a line; ``conditions`` are there where it has several."""

    text: str
    outcomes: tuple[Outcome, ...]
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a source; ``line`` is None where nothing is executable. ``reason``: why it, or what is on it, need not
    be executed."""

    number: int
    text: str
    state: str
    line: Line | None
    decisions: tuple[Decision, ...]
    reason: str

    @property
    def taken(self) -> int:
        """How many of the outcomes of gcov's branches were taken."""
        return sum(bool(each.count) for each in self.line.outcomes) if self.line is not None else 0


@dataclass(frozen=True, slots=True)
class File:
    """A source: its rows (none where it cannot be shown: ``missing`` says why), shares, and the lines not executed.

    ``not_seen`` are ranges of lines, first and last, each with what is said of them.
    """

    name: str
    rows: tuple[Row, ...]
    missing: str
    shares: Mapping[str, str]
    not_seen: tuple[tuple[int, int, str], ...]


def annotated(saved: Saved) -> dict[str, Any]:
    """The values of the part; empty for a result of something else than C code."""
    if not saved.coverage:
        named = (saved.first.get("controller") or {}) if saved.chains else {}
        code = any(str(each["file"]).endswith(".c") for each in named.get("sources", ()))
        if not code or saved.chains[0].data.get("chain", {}) is None:
            return {}
        measure = command(saved, "replay", saved.chains[0].file, "--coverage")
        return {"files": [], "whole": {}, "measured": (), "needless": (), "measure": measure}
    coverage = together(data for _, data in saved.coverage)
    proved = frozenset(goal["name"] for goal in goals_of(saved) if goal["verdict"] == UNREACHABLE)
    texts = {text.file: text for text in saved.sources}
    files = [_file(name, coverage, proved, texts.get(name)) for name in coverage.lines]
    return {
        "files": files,
        "whole": _shares(coverage, None, proved),
        "titles": [*dict.fromkeys(title for file in files for title in file.shares)],
        "measured": [(name, data) for name, data in saved.coverage],
        "needless": coverage.needless,
    }


def _file(name: str, coverage: Coverage, proved: frozenset[str], source: SourceText | None) -> File:
    at: dict[int, dict[str, CodeGoal]] = {}
    for goal, each in coverage.goals.items():
        if each.file == name:
            at.setdefault(each.line, {})[goal] = each
    lines = coverage.lines[name]
    texts, missing = _texts(source)
    never = {line for own in at.values() for line in _never_entered("\n".join(texts), own, proved)}
    said = {
        number: PROVED
        if number in never and not line.own.count
        else _state(line, at.get(number, {}), proved, coverage.reason(name, number))
        for number, line in lines.items()
    }
    rows = []
    for number in range(1, max([len(texts), *lines]) + 1 if texts else 1):
        reason = coverage.reason(name, number)
        rows.append(
            Row(
                number,
                texts[number - 1] if number <= len(texts) else "",
                said.get(number, ""),
                lines.get(number),
                tuple(_decisions(at.get(number, {}), proved, reason)),
                reason if number in lines and coverage.missed(name, number) else "",
            )
        )
    open_lines = {number: state for number, state in said.items() if state != EXECUTED}
    return File(name, tuple(rows), missing, _shares(coverage, name, proved), tuple(_ranges(open_lines)))


def _texts(source: SourceText | None) -> tuple[list[str], str]:
    """The lines of a source as a compiler counts them, and why there are none to show."""
    if source is None or source.text is None:
        return [], "it was not looked for" if source is None else source.missing
    return [row.removesuffix("\r") for row in source.text.removesuffix("\n").split("\n")], ""


def _state(line: Line, goals: Mapping[str, CodeGoal], proved: frozenset[str], reason: str) -> str:
    """What is said of a line. It is proved where all outcomes of the decisions on it are: no step evaluates them."""
    if line.own.count:
        return EXECUTED
    outcomes = [name for name, goal in goals.items() if goal.criterion == "branches()"]
    if outcomes and proved.issuperset(outcomes):
        return PROVED
    return JUSTIFIED if reason else NOT_SEEN


def _never_entered(text: str, goals: Mapping[str, CodeGoal], proved: frozenset[str]) -> Iterator[int]:
    """The lines of a source that begin in what the decisions ``goals`` enter if they are true, where it is proved that
    they never are."""
    plain = _NO_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    starts = [0, *(found.end() for found in re.finditer("\n", plain))]
    for name, goal in goals.items():
        if goal.criterion != "branches()" or name not in proved or not name.endswith("=true"):
            continue
        if goal.line > len(starts):
            continue
        first, end = _entered(plain, starts[goal.line - 1] + goal.column - 1)
        for number, start in enumerate(starts, 1):
            indented = len(plain) - len(plain[start:].lstrip())
            if first <= indented < end and start >= first:
                yield number


def _entered(plain: str, place: int) -> tuple[int, int]:
    """Where the statement behind the condition of the decision at a ``place`` of a source without comments begins and
    ends; twice the same where it may be entered by another way too, or is not understood."""
    head = re.compile(r"(?:if|while)\s*(?=\()").match(plain, place)
    first = _matching(plain, head.end()) if head is not None else -1
    if first < 0:
        return 0, 0
    block = re.compile(r"\s*(?=\{)").match(plain, first)
    end = _matching(plain, block.end()) - 1 if block is not None else plain.find(";", first)
    body = plain[first:end]
    compound = block is None and re.search(r"[{}]|\b(?:if|for|while|do|switch)\b", body)
    other_way = re.search(r"\b(?:case|default)\b|(?:^|[;{}])\s*\w+\s*:|^\s*#", body, re.MULTILINE)
    return (0, 0) if end < first or compound or other_way else (first, end)


def _matching(plain: str, place: int) -> int:
    """The place behind the bracket that closes the one at ``place``, -1 without one."""
    depth = 0
    for found in re.compile(r"[(){}]").finditer(plain, place):
        depth += 1 if found[0] in "({" else -1
        if not depth:
            return found.end()
    return -1


def _shares(coverage: Coverage, file: str | None, proved: frozenset[str]) -> dict[str, str]:
    """By what is counted, how much of it was executed of what is not proved unreachable: ``17 of 20 (85 %), 1 proved
    unreachable``."""
    found = {}
    for each in shares(coverage, file):
        aside = sum(
            name in proved for name, g in coverage.goals.items() if g.criterion == each.what and file in (None, g.file)
        )
        own = Share(each.what, each.executed, each.all - aside)
        text = f"{own.executed} of {own.all} ({own.percent})"
        found[each.what] = f"{text}, {aside} {PROVED}" if aside else text
    return found


def _ranges(states: Mapping[int, str]) -> Iterator[tuple[int, int, str]]:
    """Lines not executed, joined where they follow each other but for lines that are not executable."""
    first = last = 0
    said = ""
    for number, state in states.items():
        if said == state and number == last + 1:
            last = number
            continue
        if said:
            yield first, last, said
        first, last, said = number, number, state
    if said:
        yield first, last, said


def _decisions(goals: Mapping[str, CodeGoal], proved: frozenset[str], reason: str) -> Iterator[Decision]:
    """The decisions that begin on a line, of the goals there, in the order of their columns."""
    places: dict[str, dict[str, CodeGoal]] = {}
    for name, goal in goals.items():
        place = UNIQUE.sub("", name.partition(":")[2].rpartition("=")[0])
        places.setdefault(place, {})[name] = goal
    for own in sorted(places.values(), key=lambda own: next(iter(own.values())).column):
        by = {
            criterion: {name: goal for name, goal in own.items() if goal.criterion == criterion}
            for criterion in ("branches()", "conditions()", "mcdc()")
        }
        outcomes = tuple(_outcome(name, goal, proved, reason) for name, goal in by["branches()"].items())
        conditions = tuple(_conditions(by["conditions()"], by["mcdc()"], proved, reason))
        whole = _said_of(next(iter(by["branches()"].items()), None)) or _decision_text(by["conditions()"])
        if outcomes or conditions:
            yield Decision(whole, outcomes, conditions if len(conditions) > 1 else ())


def _outcome(name: str, goal: CodeGoal, proved: frozenset[str], reason: str) -> Outcome:
    state = EXECUTED if goal.own.count else PROVED if name in proved else JUSTIFIED if reason else NOT_SEEN
    return Outcome(name.rpartition("=")[2], state, goal.own)


def _said_of(found: tuple[str, CodeGoal] | None) -> str:
    """The text of a decision, from that of its first outcome: ``if (a) is true``, ``case ON in switch (mode)``."""
    if found is None:
        return ""
    name, goal = found
    text = goal.text.removesuffix(f" is {name.rpartition('=')[2]}")
    return text if text != goal.text else goal.text.partition(" in ")[2]


def _decision_text(goals: Mapping[str, CodeGoal]) -> str:
    """The text of a decision that is no branch, from that of a condition: ``a is true in a && b``."""
    return next((goal.text.partition(" in ")[2] for goal in goals.values()), "")


def _conditions(
    values: Mapping[str, CodeGoal], decides: Mapping[str, CodeGoal], proved: frozenset[str], reason: str
) -> Iterator[Condition]:
    numbers: dict[str, list[str]] = {}
    for name in values:
        numbers.setdefault(name.rpartition("=")[0], []).append(name)
    deciding: dict[str, list[Outcome]] = {}
    for name, goal in decides.items():
        place = f"condition{name.rpartition('=')[0].removeprefix('mcdc')}"
        deciding.setdefault(place, []).append(_outcome(name, goal, proved, reason))
    for place, names in numbers.items():
        text = values[names[0]].text.partition(f" is {names[0].rpartition('=')[2]} in ")[0]
        own: Sequence[Outcome] = [_outcome(name, values[name], proved, reason) for name in names]
        yield Condition(text, tuple(own), tuple(deciding.get(place, ())))
