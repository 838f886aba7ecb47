"""ChainCover's claims before ABC: ``python -m benchmarks foreign [ROW ...] [--each 3] [--limit 60]``.

For each row a result is made by ``generate`` and written by ``export``. ABC is asked whether a chain is shorter than
the proved bound, and, where the bound is the length, for a chain of that length: that one is found shows that the
question is not empty. Of every other kind of claim it decides the first ones of each row. ABC's *yes* to a claim, or a
shortest chain of another length, is a contradiction, and the command ends with 1. What ABC leaves open is listed.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import click

from benchmarks.checks.foreign.abc import HOW, Answer, decide, place
from benchmarks.checks.foreign.rows import ROWS, Row
from benchmarks.process import run
from bmc.errors import CheckDisagreed, UsageError
from chaincover.claims import LENGTH

CHAIN = "a chain of the length"


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim of a row and ABC's answer; ``expected`` is the frame in which a state has to be bad, None for none."""

    row: str
    kind: str
    text: str
    frames: int | None
    answer: Answer
    expected: int | None = None

    @property
    def verdict(self) -> str:
        """``agrees``, ``open`` or ``CONTRADICTS``."""
        if self.answer.reached is None:
            return "open"
        agrees = self.answer.frame == self.expected if self.answer.reached else self.expected is None
        return "agrees" if agrees else "CONTRADICTS"


def judged(row: Row, each: int, limit: float) -> Iterator[Judged]:
    """ABC's answers to the claims of ``row``; CheckDisagreed where no result can be made or written."""
    with tempfile.TemporaryDirectory() as folder:
        out, files = Path(folder, "out"), Path(folder, "files")
        _chaincover("generate", str(row.folder), *row.options, "-q", "--no-replay", "-o", str(out))
        if not (out / "chain.json").exists():
            raise CheckDisagreed(f"{row.name}: generate wrote no chain.json")
        _chaincover("export", str(row.folder), str(out), "-q", "-o", str(files))
        if not (files / "index.json").exists():
            raise CheckDisagreed(f"{row.name}: export wrote no index")
        bounds = json.loads((out / "chain.json").read_text(encoding="utf-8"))["bounds"]
        claims = json.loads((files / "index.json").read_text(encoding="utf-8"))["questions"]
        for claim in chosen(claims, each):
            frames = None if claim["frames"] == "ever" else int(claim["frames"])
            answer = decide(files / claim["file"], frames, limit)
            yield Judged(row.name, claim["kind"], claim["text"], frames, answer)
            if claim["kind"] == LENGTH and bounds["minimal"] and frames is not None and frames == bounds["length"]:
                answer = decide(files / claim["file"], frames + 1, limit)
                yield Judged(row.name, CHAIN, f"a chain of {frames} steps", frames + 1, answer, frames)


def _chaincover(*words: str) -> None:
    run([sys.executable, "-m", "chaincover", *words])


def chosen(claims: Sequence[dict[str, Any]], each: int) -> list[dict[str, Any]]:
    """The first ``each`` of each kind, of bounded and unbounded claims apart."""
    found: list[dict[str, Any]] = []
    taken: dict[tuple[str, bool], int] = {}
    for claim in claims:
        kind = claim["kind"], claim["frames"] == "ever"
        taken[kind] = taken.get(kind, 0) + 1
        if taken[kind] <= each:
            found.append(claim)
    return found


def chain_line(row: str, claims: Sequence[Judged]) -> str:
    """The row of the table of lengths; '' for a result without a claim on its length."""
    length = next((each for each in claims if each.kind == LENGTH), None)
    if length is None:
        return ""
    chain = next((each for each in claims if each.kind == CHAIN), None)
    cells = [row, str(length.frames), length.verdict, f"{length.answer.seconds:.1f}"]
    cells += ["", ""] if chain is None else [chain.verdict, f"{chain.answer.seconds:.1f}"]
    return f"| {' | '.join(cells)} |"


def kind_lines(claims: Sequence[Judged]) -> Iterator[str]:
    """The table of kinds of claims."""
    yield "| claim | bound | asked | agrees | open | CONTRADICTS | seconds |"
    yield "|---|---|---|---|---|---|---|"
    for kind, ever in dict.fromkeys((each.kind, each.frames is None) for each in claims):
        own = [each for each in claims if (each.kind, each.frames is None) == (kind, ever)]
        counts = [sum(each.verdict == verdict for each in own) for verdict in ("agrees", "open", "CONTRADICTS")]
        seconds = f"{sum(each.answer.seconds for each in own):.1f}"
        yield f"| {kind} | {'ever' if ever else 'frames'} | {len(own)} | {' | '.join(map(str, counts))} | {seconds} |"


@click.command()
@click.argument("names", nargs=-1)
@click.option("--each", default=3, show_default=True, help="Claims of each kind and row.")
@click.option("--limit", default=60.0, show_default=True, help="Seconds of the processor for each question.")
@click.option("-o", "--output", type=click.File("w"), default="-", help="Where the tables go.")
def main(names: tuple[str, ...], each: int, limit: float, output: TextIO) -> None:
    """Let ABC decide the claims of NAMES (such as cruise, or 'cruise --engine sat'), or of all rows."""
    if place() is None:
        raise click.ClickException(f"there is no ABC: {HOW}")
    rows = [row for row in ROWS if not names or row.name in names]
    if unknown := {*names} - {row.name for row in rows}:
        raise click.ClickException(f"no row is called {sorted(unknown)[0]!r}: {', '.join(row.name for row in ROWS)}")
    found: list[Judged] = []
    click.echo("| row | no chain below | ABC | seconds | a chain of that length | seconds |", file=output)
    click.echo("|---|---|---|---|---|---|", file=output)
    for row in rows:
        try:
            own = list(judged(row, each, limit))
        except (UsageError, CheckDisagreed) as error:
            raise click.ClickException(str(error)) from None
        found += own
        if text := chain_line(row.name, own):
            click.echo(text, file=output)
        output.flush()
    click.echo("\n" + "\n".join(kind_lines(found)) + "\n", file=output)
    for judgement in found:
        if judgement.verdict != "agrees":
            click.echo(f"{judgement.verdict}: {judgement.row}: {judgement.kind}: {judgement.text}", file=output)
    if any(judgement.verdict == "CONTRADICTS" for judgement in found):
        sys.exit(1)
