"""``coverage.json``: what a run executed of the sources, as data; and what several runs executed together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

from bmc.errors import counted
from bmc.records import dataclass

COVERAGE_SCHEMA = "chaincover/coverage/1"

Data = Mapping[str, Any]
First = tuple[str, int | str] | None
"""The file of the chain that executes something first, and the step (``init`` for init); None where none does."""


@dataclass(frozen=True, slots=True)
class Executed:
    """How often something was executed on all runs (goals: in how many steps it was covered), and where first."""

    count: int = 0
    first: First = None

    def plus(self, chain: str, count: int, first: int | str | None) -> Executed:
        """The same with one run more: that of the file ``chain``."""
        here = None if first is None else (chain, first)
        return Executed(self.count + count, self.first or here)


@dataclass(frozen=True, slots=True)
class Line:
    """An executable line; ``outcomes`` are those of the branches that the compiler made of it, in gcov's order."""

    function: str = ""
    own: Executed = Executed()
    outcomes: tuple[Executed, ...] = ()


@dataclass(frozen=True, slots=True)
class CodeGoal:
    """A goal of a criterion of code (``branches()``, ``conditions()``, ``mcdc()``): where its decision begins, what is
    asked, and on the runs the steps that cover it."""

    criterion: str
    file: str
    line: int
    column: int
    text: str
    own: Executed = Executed()


@dataclass(frozen=True)
class Coverage:
    """What all runs executed together: lines by file and number, goals by name, and what is justified.

    ``hashes`` are the SHA-256 of the files.
    """

    hashes: Mapping[str, str] = field(default_factory=dict)
    lines: Mapping[str, Mapping[int, Line]] = field(default_factory=dict)
    goals: Mapping[str, CodeGoal] = field(default_factory=dict)
    justified: tuple[Data, ...] = ()

    def reason(self, file: str, line: int) -> str:
        """Why this line, and what is on it, need not be executed; '' where nothing is said of it."""
        return next((str(each["reason"]) for each in self.justified if _meant(each, file, line)), "")

    @cached_property
    def open_goals(self) -> frozenset[tuple[str, int]]:
        """The lines, by file, at which a goal begins that no run covers."""
        return frozenset((goal.file, goal.line) for goal in self.goals.values() if not goal.own.count)

    def missed(self, file: str, line: int) -> bool:
        """Whether the line was not executed, or an outcome on it not taken, or a goal of it not covered."""
        own = self.lines[file][line]
        taken = own.own.count and all(each.count for each in own.outcomes)
        return not taken or (file, line) in self.open_goals

    @property
    def needless(self) -> list[str]:
        """Of justifications of lines that are not there, or that lack nothing, a sentence each."""
        told = []
        for each in self.justified:
            file, lines = str(each["file"]), [*self.lines.get(str(each["file"]), {})]
            meant = [line for line in lines if _meant(each, file, line)]
            place = f"{file}:{_range(each)}"
            if not meant:
                told.append(f"the justification of {place} is of no use: no executable line is there")
            elif done := [line for line in meant if not self.missed(file, line)]:
                which = ", ".join(map(str, done))
                told.append(f"the justification of {place} is not needed for line {which}: executed, with all outcomes")
        return told


def _meant(justified: Data, file: str, line: int) -> bool:
    return bool(justified["file"] == file and justified["first"] <= line <= justified["last"])


def _range(justified: Data) -> str:
    first, last = justified["first"], justified["last"]
    return f"{first}" if first == last else f"{first}..{last}"


def fitting(
    documents: Sequence[tuple[str, Data]], chains: Sequence[tuple[str, Data]]
) -> tuple[list[tuple[str, Data]], list[str]]:
    """Of ``documents``, with the names of their files, those that speak of the ``chains``, in the order of these; and
    why each other one does not, a sentence each.

    What was measured of other sources, of another number of steps, or by another compiler is not added up.
    """
    lengths = {file: (data.get("chain") or {}).get("length") for file, data in chains}
    sources = {
        str(each["file"]): each["sha256"] for _, data in chains for each in data["controller"].get("sources", ())
    }
    order = {file: place for place, file in enumerate(lengths)}
    fit: dict[str, tuple[str, Data]] = {}
    notes = []
    for name, data in sorted(documents, key=lambda each: order.get(str(each[1]["chain"]), len(order))):
        chain = str(data["chain"])
        if why := _unfit(data, fit, lengths.get(chain), sources):
            notes.append(f"The coverage in {name} is not shown: {why}.")
        else:
            fit[chain] = name, data
    return [*fit.values()], notes


def _unfit(data: Data, fit: Mapping[str, tuple[str, Data]], length: int | None, sources: Mapping[str, Any]) -> str:
    """Why a document does not fit to those that ``fit``, to its chain's ``length`` or to the hashes of ``sources``."""
    changed = [file["file"] for file in data["files"] if sources.get(file["file"], file["sha256"]) != file["sha256"]]
    if changed:
        return f"it was measured when {', '.join(changed)} was another text than the chain was made for"
    if length not in (None, data["steps"]):
        return f"it was measured on {counted(data['steps'], 'step')}, and {data['chain']} has {length}"
    if data["chain"] in fit:
        return f"{fit[data['chain']][0]} has the coverage of {data['chain']}, too"
    compiler = next((other["compiler"] for _, other in fit.values()), data["compiler"])
    return "" if compiler == data["compiler"] else f"it was measured with {data['compiler']}, others with {compiler}"


def together(documents: Iterable[Data]) -> Coverage:
    """What the runs of ``documents`` executed together; these are in the order of their chains."""
    hashes: dict[str, str] = {}
    lines: dict[str, dict[int, Line]] = {}
    goals: dict[str, CodeGoal] = {}
    justified: dict[tuple[Any, ...], Data] = {}
    for document in documents:
        chain = str(document["chain"])
        for file in document["files"]:
            hashes[str(file["file"])] = str(file["sha256"])
            of_file = lines.setdefault(str(file["file"]), {})
            for row in file["lines"]:
                of_file[row["line"]] = _added(of_file.get(row["line"], Line()), chain, row)
        for each in document["goals"]:
            place = (each["criterion"], each["file"], each["line"], each["column"], each["text"])
            before = goals.get(each["name"], CodeGoal(*place))
            goals[each["name"]] = CodeGoal(*place, before.own.plus(chain, each["steps"], each["first"]))
        justified.update({tuple(each.values()): each for each in document["justified"]})
    return Coverage(
        hashes, {file: dict(sorted(lines[file].items())) for file in sorted(lines)}, goals, (*justified.values(),)
    )


def _added(line: Line, chain: str, row: Data) -> Line:
    outcomes = row["outcomes"]
    before = line.outcomes or (Executed(),) * len(outcomes)
    taken = (a.plus(chain, b["count"], b["first"]) for a, b in zip(before, outcomes, strict=True))
    return Line(str(row["function"]), line.own.plus(chain, row["count"], row["first"]), tuple(taken))


@dataclass(frozen=True, slots=True)
class Share:
    """How many of something were executed, of how many."""

    what: str
    executed: int
    all: int

    @property
    def percent(self) -> str:
        """The share, rounded down, so that 100 % are all."""
        return f"{100 * self.executed // self.all} %" if self.all else "none"


def shares(coverage: Coverage, file: str | None = None) -> list[Share]:
    """Lines, gcov's outcomes, and goals by criterion: how many were executed, of a ``file`` or of all."""
    chosen = [line for name, of_file in coverage.lines.items() if file in (None, name) for line in of_file.values()]
    counts = {"lines": [line.own for line in chosen], "outcomes": [each for line in chosen for each in line.outcomes]}
    for goal in coverage.goals.values():
        if file in (None, goal.file):
            counts.setdefault(goal.criterion, []).append(goal.own)
    return [Share(what, sum(bool(e.count) for e in own), len(own)) for what, own in counts.items() if own]


def summary(coverage: Coverage) -> str:
    """The shares in a line: ``30 of 31 lines (96 %), 54 of 62 outcomes (87 %), branches() 19 of 20 (95 %)``."""
    told = []
    for each in shares(coverage):
        share, percent = f"{each.executed} of {each.all}", f"({each.percent})"
        told.append(f"{each.what} {share} {percent}" if "(" in each.what else f"{share} {each.what} {percent}")
    lacking = sum(
        bool(coverage.reason(file, line)) and coverage.missed(file, line)
        for file, own in coverage.lines.items()
        for line in own
    )
    return ", ".join([*told, *([f"{counted(lacking, 'line')} justified"] if lacking else [])])


def lines_of(counts: Iterable[Any]) -> list[dict[str, Any]]:
    """Counted lines (``bmc.native.coverage.CountedLine``) of one file as the document has them."""
    return [
        {
            "line": each.line,
            "function": each.function,
            "count": each.count,
            "first": each.first,
            "outcomes": [{"count": count, "first": first} for count, first in each.outcomes],
        }
        for each in counts
    ]
