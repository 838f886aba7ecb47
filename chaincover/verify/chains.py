"""``chains.json``: each chain that it names, what it says of them together, and that fewer would not do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bmc.errors import InputRefused, Location
from chaincover.chain import COVERED
from chaincover.cli.several import SCHEMA
from chaincover.project.load import Controller
from chaincover.verify import sharing
from chaincover.verify.document import Document, GoalClaim, read_document, read_json, whole
from chaincover.verify.limits import Clock, Limits
from chaincover.verify.loading import load_for
from chaincover.verify.report import HOLDS, OPEN, UNCLAIMED, WRONG, Line, Verification
from chaincover.verify.search import covers, search
from chaincover.verify.setting import Setting
from chaincover.verify.states import Table, confirm, tabulate
from chaincover.verify.verification import uncovered, verify

TOGETHER, FEWEST, TOTAL = "all chains", "number of chains", "total length"
TOO_LARGE = "not looked at again: too many states or inputs"


@dataclass(frozen=True, slots=True)
class Entry:
    """What the summary says of one chain."""

    file: str
    length: int
    lower: int
    minimal: bool
    goals: tuple[str, ...]


@dataclass(frozen=True)
class Summary:
    """``chains.json``: ``lower`` is the bound on all steps (0: none), ``conflicts`` goals said not to fit together."""

    place: Path
    entries: tuple[Entry, ...]
    length: int
    lower: int
    minimal: bool
    fewest: bool
    conflicts: tuple[tuple[str, ...], ...]
    verdicts: tuple[GoalClaim, ...]


def verify_chains(
    place: Path, given: dict[str, Any], limits: Limits, progress: Callable[[str], None] | None = None
) -> Verification:
    """Check a summary and every chain that it names, with the options of the command line. Errors as in ``verify``."""
    summary = _read(place)
    documents = [read_document(place.parent / entry.file) for entry in summary.entries]
    known = {goal.name: goal for document in documents for goal in document.goals}
    named = [known.get(claim.name, claim) for claim in summary.verdicts]
    controller = load_for(replace(documents[0], goals=tuple(named)), given)
    clock = Clock(limits)
    lines: list[Line] = []
    for entry, document in zip(summary.entries, documents, strict=True):
        names = {goal.name for goal in document.goals}
        part = replace(controller, goals=tuple(goal for goal in controller.goals if goal.name in names))
        found = verify(part, document, replace(limits, seconds=clock.left), progress)
        lines += [replace(line, check=f"{entry.file}: {line.check}") for line in found.lines]
    lines.append(_together(summary, documents))
    lines += _number(summary, documents, controller, clock)
    left = [claim for claim in summary.verdicts if claim.verdict != COVERED]
    if left:
        lines.append(uncovered(controller, replace(documents[0], goals=tuple(left)), clock))
    return Verification(str(place), tuple(lines))


def _read(place: Path) -> Summary:
    data, where = read_json(place), Location(str(place))
    if data.get("schema") != SCHEMA:
        raise InputRefused(f"this is no summary of the schema '{SCHEMA}'", where, "generate it again with --several")
    try:
        summary = Summary(
            place=place,
            entries=tuple(
                Entry(str(c["file"]), whole(c["length"]), whole(c["lower"]), bool(c["minimal"]), tuple(c["goals"]))
                for c in data["chains"]
            ),
            length=whole(data["length"]),
            lower=whole(data.get("lower", 0)),
            minimal=bool(data.get("minimal", False)),
            fewest=bool(data.get("fewest_at_all", data["fewest_within_k"])),
            conflicts=tuple(tuple(str(name) for name in c["goals"]) for c in data["conflicts"]),
            verdicts=tuple(
                GoalClaim(
                    str(v["goal"]),
                    str(v.get("property", "")),
                    str(v["verdict"]),
                    None,
                    str(v["detail"]),
                    str(v.get("generated") or ""),
                )
                for v in data["verdicts"]
            ),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputRefused(f"the summary is damaged: {error!r}", where, "generate it again") from None
    if not summary.entries:
        raise InputRefused("this result holds no chain", where, "generate one first")
    return summary


def _together(summary: Summary, documents: Sequence[Document]) -> Line:
    """What the summary says, against the chains' own files."""
    faults = []
    for entry, own in zip(summary.entries, documents, strict=True):
        goals = tuple(hit.goal for hit in own.hits)
        if (entry.length, entry.lower, entry.minimal, entry.goals) != (own.steps, own.lower, own.minimal, goals):
            faults.append(f"{entry.file} is another chain than the summary says")
    total = sum(document.steps for document in documents)
    if total != summary.length:
        faults.append(f"the chains have {total} steps, not {summary.length}")
    if summary.minimal and summary.lower != summary.length:
        faults.append(f"the chains are said to be minimal: {summary.length} steps, bound {summary.lower}")
    reached = {hit.goal for document in documents for hit in document.hits}
    claimed = set(_covered(summary))
    if claimed - reached:
        faults.append(f"no chain covers {', '.join(sorted(claimed - reached))}")
    text = f"{len(documents)} chains, {total} steps, {len(reached)} goals"
    return Line(TOGETHER, WRONG if faults else HOLDS, text, tuple(faults))


def _number(summary: Summary, documents: Sequence[Document], controller: Controller, clock: Clock) -> list[Line]:
    """Whether fewer chains would do, or as many of fewer steps in all."""
    number = len(summary.entries)
    fewest = Line(FEWEST, UNCLAIMED, f"{number}; nothing is said about fewer")
    if number == 1:
        fewest = Line(FEWEST, HOLDS, "one, and none would cover nothing")
    total = Line(TOTAL, UNCLAIMED, f"{summary.length} steps; nothing is said about shorter ones")
    if number == 1 and 0 < summary.lower <= documents[0].lower:
        return [fewest, Line(TOTAL, HOLDS, "that of the one chain: see its lower bound")]
    if fewest.verdict == UNCLAIMED and not summary.fewest and not summary.lower:
        return [fewest, total]
    setting = Setting(controller.system, {g.name: g for g in controller.goals}, controller.final, documents[0].overlap)
    table = tabulate(controller.system, setting.formulas, clock)
    small = table is not None and table.every_input and not confirm(table, controller.native, clock).differences
    small_table = table if small else None
    if fewest.verdict == UNCLAIMED and summary.fewest:
        fewest = _fewest(summary, setting, small_table, clock)
    if summary.lower:
        total = _total(summary, setting, small_table, clock)
    return [fewest, total]


def _fewest(summary: Summary, setting: Setting, table: Table | None, clock: Clock) -> Line:
    """Whether the conflicts are ones, by a search over all runs, and do not allow fewer chains."""
    number = len(summary.entries)
    if sharing.fits(_covered(summary), summary.conflicts, number - 1):
        return Line(FEWEST, WRONG, f"the conflicts would allow {number - 1} chains")
    unknown = {name for conflict in summary.conflicts for name in conflict} - set(setting.goals)
    if unknown:
        return Line(FEWEST, WRONG, f"a conflict names unknown goals: {', '.join(sorted(unknown))}")
    if table is None:
        return Line(FEWEST, OPEN, TOO_LARGE)
    for conflict in summary.conflicts:
        found = search(table, setting, conflict, True, None, clock)
        if found.length is not None:
            return Line(FEWEST, WRONG, f"one chain of {found.length} steps covers {', '.join(conflict)} together")
        if not found.complete:
            return Line(FEWEST, OPEN, f"the conflict {', '.join(conflict)} was not proved again: too large")
    return Line(FEWEST, HOLDS, f"no {number - 1} will do: {len(summary.conflicts)} conflicts hold for all runs")


def _total(summary: Summary, setting: Setting, table: Table | None, clock: Clock) -> Line:
    """Whether so many chains take at least so many steps in all, by all sets of goals that one run covers."""
    number, goals = len(summary.entries), _covered(summary)
    if summary.lower > summary.length:
        return Line(TOTAL, WRONG, f"the bound {summary.lower} is above the {summary.length} steps of the chains")
    found = None if table is None else covers(table, setting, goals, clock)
    if found is None or len(goals) > sharing.MOST_GOALS:
        return Line(TOTAL, OPEN, TOO_LARGE)
    least = sharing.least_total(goals, found, number)
    if least is not None and least < summary.lower:
        return Line(TOTAL, WRONG, f"{number} chains of {least} steps in all cover the goals, below {summary.lower}")
    return Line(TOTAL, HOLDS, f"no {number} chains take less than {summary.lower} steps in all")


def _covered(summary: Summary) -> list[str]:
    return [claim.name for claim in summary.verdicts if claim.verdict == COVERED]
