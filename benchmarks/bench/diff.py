"""The rows of two runs of a suite: which ones are better, worse, or other than they were."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.bench.row import Row
from benchmarks.bench.table import IMPOSSIBLE, ROWS, read_rows
from benchmarks.bench.tools.protocol import CRASHED, FINISHED, MISSING, OUT_OF_MEMORY, TIME_OUT
from bmc.errors import InputRefused, Location

CHANGES = "changes.json"
SCHEMA = "chaincover/bench-changes/1"
BETTER, WORSE, CHANGED, NEW, GONE = "better", "worse", "changed", "new", "gone"

STATUSES = (FINISHED, TIME_OUT, OUT_OF_MEMORY, CRASHED, MISSING)
"""From the best to the worst, and where nothing was run."""

Key = tuple[str, str, str, int, str]


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a row; ``word`` is one of those above, ``text`` says what differs."""

    row: Row
    word: str
    text: str


def read_old(place: Path) -> list[Row]:
    """The rows of an earlier run: its folder, or its file of rows."""
    place = place / ROWS if place.is_dir() else place
    if not place.is_file():
        raise InputRefused("there are no rows here", Location(str(place)), "name the folder of an earlier run")
    return read_rows(place)


def compare(old: Sequence[Row], new: Sequence[Row]) -> list[Change]:
    """The rows of ``new`` that differ from the same rows of ``old``, then those of ``old`` that are gone.

    Seconds, memory and hosts are not compared.
    """
    before = {_key(row): row for row in old}
    found = [change for row in new if (change := _change(before.pop(_key(row), None), row)) is not None]
    return [*found, *(Change(row, GONE, "there is no such row any more") for row in before.values())]


def marks(changes: Sequence[Change]) -> dict[str, str]:
    """The text of each change by the name of its run, and ``ID/ORDERING`` where a run has several rows."""
    return {change.row.key: f"{change.word}: {change.text}" for change in changes if change.word != GONE}


def as_data(changes: Sequence[Change]) -> dict[str, Any]:
    """The document ``changes.json``."""
    return {
        "schema": SCHEMA,
        "worse": sum(change.word == WORSE for change in changes),
        "better": sum(change.word == BETTER for change in changes),
        "changes": [
            {
                "id": change.row.id,
                "model": change.row.model,
                "configuration": change.row.configuration,
                "seed": change.row.seed,
                "ordering": change.row.ordering,
                "change": change.word,
                "text": change.text,
            }
            for change in changes
        ],
    }


def told(row: Row) -> str:
    """A row's name for people."""
    seed = f" seed={row.seed}" if row.seed else ""
    return f"{row.model} · {row.configuration}{seed}{f' · {row.ordering}' if row.ordering else ''}"


def _key(row: Row) -> Key:
    return row.model, row.tool, row.configuration, row.seed, row.ordering


Measure = Callable[[Row], Any]

MEASURES: Mapping[str, tuple[Measure, bool]] = {
    "covered": (lambda row: row.covered, True),
    "proved uncoverable": (lambda row: row.impossible, True),
    "chains": (lambda row: row.chains, False),
    "length": (lambda row: row.length, False),
    "bound": (lambda row: row.lower, True),
    "minimal": (lambda row: row.minimal, True),
    "fewest chains": (lambda row: row.fewest, True),
    "status": (lambda row: row.status, False),
}
"""What is compared, the weightiest first, and whether more of it is better. The first that differs decides."""

OTHER: Mapping[str, Measure] = {
    "K": lambda row: row.K,
    "reachable states": lambda row: row.states,
    "path cost": lambda row: row.path_cost,
    "replay": lambda row: row.replay,
    "goals": lambda row: row.goals,
}
"""What is neither better nor worse."""


def _change(old: Row | None, new: Row) -> Change | None:
    if old is None:
        return Change(new, NEW, "there was no such row")
    if MISSING in (old.status, new.status):
        text = f"missing: {new.note}" if new.status == MISSING else "it was missing"
        return None if old.status == new.status else Change(new, CHANGED, text)
    words: list[str] = []
    texts: list[str] = []
    for name, (measure, more) in MEASURES.items():
        before, after = measure(old), measure(new)
        if before != after:
            words.append(_word(name, before, after, more))
            texts.append(f"{name} {_shown(before)} -> {_shown(after)}")
    texts += _verdicts(old, new)
    texts += [
        f"{name} {_shown(measure(old))} -> {_shown(measure(new))}"
        for name, measure in OTHER.items()
        if measure(old) != measure(new)
    ]
    word = words[0] if words else CHANGED
    if old.source_sha256 != new.source_sha256:
        word = CHANGED
        texts.append("the sources are others")
    elif old.goals != new.goals:
        word = CHANGED
    elif _contradict(old, new):
        word = WORSE
        texts.insert(0, "a proof of one contradicts the other")
    return Change(new, word, "; ".join(texts)) if texts else None


def _word(name: str, before: Any, after: Any, more: bool) -> str:
    if name == "status" and {before, after} <= {*STATUSES}:
        before, after = STATUSES.index(before), STATUSES.index(after)
    if before is None or after is None:
        return WORSE if after is None else BETTER
    return BETTER if (after > before) is more else WORSE


def _verdicts(old: Row, new: Row) -> list[str]:
    """The goals whose verdicts differ."""
    names = [name for name in new.verdicts if old.verdicts.get(name, new.verdicts[name]) != new.verdicts[name]]
    return [f"{name} {old.verdicts[name]} -> {new.verdicts[name]}" for name in names]


def _contradict(old: Row, new: Row) -> bool:
    """Whether a goal proved uncoverable by one row is covered in the other, or a chain is below the other's bound."""
    for one, other in ((old, new), (new, old)):
        if any(word in IMPOSSIBLE and other.verdicts.get(name) == "covered" for name, word in one.verdicts.items()):
            return True
        same = one.chains == other.chains and one.covered == other.covered
        if same and one.length is not None and other.lower is not None and one.length < other.lower:
            return True
    return False


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value in (None, "") else str(value)
