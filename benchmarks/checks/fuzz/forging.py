"""Forged result files, field by field: ``python -m benchmarks forging [KIND ...] [--combinations N] [-o FILE]``.

In each kind of file (``documents``) each field is given other values: for each path, and each type of value there, a
place of it. Then several fields are changed at once, as many times as asked for. What ``verify`` accepts needs a rule
that allows it: the field is informative; or another value of it may be right, and then all that the file says of runs
is true, as ABC decides (``claims``). The command ends with 1 where something is accepted without a rule, or untrue.

``--against PYTHON`` names the interpreter of an earlier revision. What is accepted now is put into the file that this
revision makes of the same program, where that has the same fields, and its ``verify`` is asked: refused by it alone are
changes that are found out no more.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO
from unittest import mock

import click

from benchmarks.checks.fuzz import claims
from benchmarks.checks.fuzz.documents import DOCUMENTS, SUMMARIES, made, program_of
from benchmarks.checks.fuzz.examine import DIFFER
from benchmarks.checks.fuzz.mutations import GONE, Place, Tree, changed, field_at, path_of, places, value_at
from benchmarks.checks.fuzz.programs import write_files
from benchmarks.checks.fuzz.results import NOT_NEEDED, TRUE_TOO, below, differing, found_out, may_be_right, other_values
from bmc.native.build import NO_NATIVE
from chaincover.verification.fields import INFORMATIVE, INFORMATIVE_OF_ALL

REFUSED, INFORMS, NO_CHANGE = "refused", "informative", "the same"
WITHOUT_RULE, UNTRUE = "ACCEPTED WITHOUT A RULE", "ACCEPTED AND UNTRUE"
FAULTS = (WITHOUT_RULE, UNTRUE)
REFUSES = (2, 3, 7)
"""Exit codes of ``verify`` for a file that it does not accept."""

Change = tuple[Place, Tree]


@dataclass(frozen=True)
class Forged:
    """A file of one ``kind`` with ``changes``, what became of it and why."""

    kind: str
    changes: tuple[Change, ...]
    end: str
    why: str = ""

    @property
    def paths(self) -> str:
        """The fields that were changed."""
        return ", ".join(dict.fromkeys(path_of(place) for place, _ in self.changes))


def alone(kind: str) -> Iterator[tuple[Change, ...]]:
    """Each field of a file by itself, with each other value."""
    document, seen = made(kind)[1], set()
    for place in places(document):
        value = value_at(document, place)
        if (field := field_at(document, place)) not in seen:
            seen.add(field)
            yield from (((place, other),) for other in other_values(value))


def together(kind: str, count: int) -> Iterator[tuple[Change, ...]]:
    """Several fields at once, ``count`` times, most of them among the claims."""
    draw, document = random.Random(kind), made(kind)[1]
    known = list(places(document))
    facts = [place for place in known if below(path_of(place), claims.FACTS)] or known
    for _ in range(count):
        chosen = [draw.choice(facts if draw.random() < 0.7 else known) for _ in range(draw.choice((2, 2, 3, 4)))]
        yield tuple((place, claims.near(draw, document, known, place)) for place in dict.fromkeys(chosen))


def forged(kind: str, changes: tuple[Change, ...]) -> Forged:
    """What becomes of a file with ``changes``."""
    kept, document = made(kind)
    other = changed(document, *changes)
    text, whole = json.dumps(other), kind in SUMMARIES
    if found_out(kept, text, whole):
        return Forged(kind, changes, REFUSED)
    informative = INFORMATIVE_OF_ALL if whole else INFORMATIVE
    every = list(differing(document, other))
    left = [(path, old, new) for path, old, new in every if not below(path, informative)]
    if not left:
        return Forged(kind, changes, INFORMS if every else NO_CHANGE)
    lawless = [path for path, old, new in left if not may_be_right(path, old, new, informative)]
    if whole or lawless:
        rules = {_rule(path) for path, _, _ in left} if not lawless else {", ".join(sorted(set(lawless)))}
        return Forged(
            kind, changes, WITHOUT_RULE if lawless else "another value may be right", "; ".join(sorted(rules))
        )
    judged = claims.judge(kind, text)
    if judged.outcome == DIFFER:
        return Forged(kind, changes, UNTRUE, judged.detail)
    return Forged(kind, changes, "true", "; ".join(sorted({_rule(path) for path, _, _ in left})))


def _rule(path: str) -> str:
    """The rule that allows another value at ``path``."""
    return next(
        why for name, why in {**TRUE_TOO, **dict.fromkeys(NOT_NEEDED, "less is claimed")}.items() if below(path, [name])
    )


class Earlier:
    """``verify`` of an earlier revision, whose interpreter is ``python``, and the files that it makes."""

    def __init__(self, python: str) -> None:
        self._command = [python, "-m", "chaincover"]
        self._made: dict[str, tuple[Path, Tree]] = {}

    def refuses(self, one: Forged) -> bool:
        """Whether it refuses the changes in a file of its own. Where that lacks a field it does not."""
        folder, document = self._file(one.kind)
        try:
            for place, _ in one.changes:
                value_at(document, place)
        except (KeyError, IndexError, TypeError):
            return False
        name = "chains.json" if one.kind in SUMMARIES else "chain.json"
        write_files(folder, {"files": {name: json.dumps(changed(document, *one.changes))}})
        return self._run(folder, "verify", program_of(one.kind, folder), name, "--json", "-q") in REFUSES

    def _file(self, kind: str) -> tuple[Path, Tree]:
        if kind not in self._made:
            folder = Path(tempfile.mkdtemp())
            options = (DOCUMENTS.get(kind) or SUMMARIES[kind])[1]
            more = ("--several",) if kind in SUMMARIES else ()
            self._run(folder, "generate", program_of(kind, folder), "-o", ".", "--no-replay", "-q", *options, *more)
            file = folder / ("chains.json" if kind in SUMMARIES else "chain.json")
            self._made[kind] = folder, json.loads(file.read_text(encoding="utf-8"))
        return self._made[kind]

    def _run(self, folder: Path, *words: object) -> int:
        """The exit code of a command. It runs away from the checkout, so that the installed revision answers."""
        asked = [*self._command, *map(str, words)]
        return subprocess.run(asked, cwd=folder, capture_output=True, check=False).returncode


def lines(rows: Sequence[Forged], earlier: Earlier | None) -> Iterator[str]:
    """The table of what was accepted, by fields and rules, what is wrong with it, and what ``earlier`` refuses."""
    kinds = len({row.kind for row in rows})
    yield f"{len(rows):,} changes of {kinds} files: {sum(row.end == REFUSED for row in rows):,} refused"
    yield ""
    yield "| accepted | times | fields | rule |"
    yield "|---|--:|---|---|"
    accepted = Counter((row.end, row.paths, row.why) for row in rows if row.end != REFUSED)
    for (end, paths, why), count in sorted(accepted.items()):
        yield f"| {end} | {count} | {paths} | {why} |"
    yield ""
    for row in rows:
        if row.end in FAULTS:
            yield f"- {row.end}: {row.kind}: {_told(row)}: {row.why}"
    if earlier is not None:
        different = {(row.kind, row.paths, row.why): row for row in rows if row.end not in (REFUSED, NO_CHANGE)}
        asked = list(different.values())
        found = [row for row in asked if earlier.refuses(row)]
        yield f"of {len(asked):,} kinds of accepted changes the earlier revision refuses {len(found)}"
        yield from (f"- {row.kind}: {_told(row)} ({row.end}: {row.why})" for row in found)


def _told(row: Forged) -> str:
    values = ("gone" if value is GONE else json.dumps(value)[:80] for _, value in row.changes)
    return "; ".join(f"{'.'.join(map(str, place))} = {v}" for (place, _), v in zip(row.changes, values, strict=True))


@click.command()
@click.argument("kinds", metavar="[KIND]...", nargs=-1, type=click.Choice([*DOCUMENTS, *SUMMARIES]))
@click.option("--combinations", default=100, show_default=True, help="Changes of several fields for each file.")
@click.option("--against", metavar="PYTHON", help="The interpreter of an earlier revision.")
@click.option("-o", "--output", type=click.File("w"), default="-", help="Where the table goes (markdown).")
def main(kinds: tuple[str, ...], combinations: int, against: str | None, output: TextIO) -> None:
    """Change every field of result files, and see what ``verify`` accepts."""
    rows: list[Forged] = []
    with mock.patch.dict(os.environ, {NO_NATIVE: "1"}):
        for kind in kinds or (*DOCUMENTS, *SUMMARIES):
            for changes in (*alone(kind), *together(kind, combinations)):
                rows.append(forged(kind, changes))
            click.echo(f"{kind}: {len(rows):,} changes so far", err=True)
    for line in lines(rows, Earlier(against) if against else None):
        click.echo(line, output)
    sys.exit(any(row.end in FAULTS for row in rows))
