"""Random inputs of all kinds: ``python -m benchmarks fuzz --kind property --count 1000``.

C programs are built with gcc and compared with the model on random steps, bit for bit; the other kinds have references
of their own (docs/development/benchmarks.md). No input may end in an internal error, in a message without place or next
step, or take too long. The seeds of what does are listed, and the exit code is 1; ``--show`` prints a seed's input.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TextIO

import click

from benchmarks.checks.fuzz.examine import (
    ACCEPTED,
    AGREE,
    DIFFER,
    FAILED,
    FAULTS,
    LATE,
    PART,
    REFUSED,
    Kind,
    Row,
    reason,
    rows_of,
)
from benchmarks.checks.fuzz.kinds import KINDS

COLUMNS = (AGREE, ACCEPTED, REFUSED, DIFFER, FAILED, LATE)
DEFAULT = tuple(name for name in KINDS if name not in ("c-narrow", "c-csmith", "claims"))
"""All kinds but those that need what not every machine has."""


def _rows(kind: Kind, seeds: range, jobs: int) -> Iterator[Row]:
    """The rows of ``seeds``, from several processes at once; in any order."""
    if jobs == 1:
        yield from rows_of(kind, seeds)
        return
    parts = [seeds[at : at + PART] for at in range(0, len(seeds), PART)]
    with ThreadPoolExecutor(jobs) as pool:
        try:
            for rows in pool.map(lambda part: list(rows_of(kind, part)), parts):
                yield from rows
        finally:
            pool.shutdown(cancel_futures=True)


def report(kind: str, rows: Sequence[Row]) -> tuple[str, str]:
    """The row of the table for one kind, and what there is to tell of it."""
    counts = Counter(row.outcome for row in rows)
    figures = [len(rows), *(counts[outcome] for outcome in COLUMNS), sum(row.steps for row in rows)]
    figures.append(round(sum(row.seconds for row in rows)))
    lines = []
    for outcome in (REFUSED, ACCEPTED):
        reasons = Counter(reason(row.detail) for row in rows if row.outcome == outcome and row.detail)
        lines += [f"- {kind}: {outcome} {number} times: {text}" for text, number in reasons.most_common(8)]
    slowest = max(rows, key=lambda row: row.seconds, default=Row(""))
    lines.append(f"- {kind}: slowest: seed {slowest.seed}, {slowest.seconds:.1f} s")
    lines += [f"- {kind}: seed {row.seed} {row.outcome}: {row.detail}" for row in rows if row.outcome in FAULTS]
    return f"| {kind} | {' | '.join(f'{figure:,}' for figure in figures)} |", "\n".join(lines)


@click.command()
@click.option("--kind", "names", type=click.Choice(list(KINDS)), multiple=True, help="Kinds of input; default: all.")
@click.option("--count", type=click.IntRange(min=1), default=1000, show_default=True, help="Inputs of each kind.")
@click.option("--first", type=click.IntRange(min=0), default=0, show_default=True, help="First seed.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes.")
@click.option("--show", is_flag=True, help="Print the inputs as JSON instead of judging them.")
@click.option("-o", "--output", type=click.File("w"), default="-", help="Where the table goes.")
def main(names: tuple[str, ...], count: int, first: int, jobs: int, show: bool, output: TextIO) -> None:
    """Judge random inputs."""
    seeds = range(first, first + count)
    table, told, bad = [], [], False
    for kind in (KINDS[name] for name in names or DEFAULT):
        if show:
            output.writelines(json.dumps(kind.draw(random.Random(seed)), indent=1) + "\n" for seed in seeds)
            continue
        rows: list[Row] = []
        try:
            for row in _rows(kind, seeds, jobs):
                rows.append(row)
                if len(rows) % 100 == 0:
                    click.echo(f"{kind.name} {len(rows)}/{count}", err=True)
                if row.outcome in FAULTS:
                    click.echo(f"  seed {row.seed} {row.outcome}: {row.detail}", err=True)
        except KeyboardInterrupt:
            click.echo(f"\ninterrupted after {len(rows)} inputs", err=True)
        line, more = report(kind.name, rows)
        table.append(line)
        told.append(more)
        bad = bad or any(row.outcome in FAULTS for row in rows)
    if not show:
        head = f"| kind | inputs | {' | '.join(COLUMNS)} | steps compared | seconds |"
        output.write("\n".join([head, "|" + "---|" * (len(COLUMNS) + 4), *table, "", *told]) + "\n")
    if bad:
        sys.exit(1)
