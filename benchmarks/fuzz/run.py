"""Random C programs, model against compiled original: ``python -m benchmarks.fuzz.run --source csmith --count 1000``.

Each program is read, built with gcc, and compared on random steps, half along runs from init, half from any state:
every state and output must be bit-equal (all NaNs are one value). Exit code 1 on a difference, or on a failure to read
that is no refusal. The seeds of what differs, fails or takes too long are listed; the programs follow from the seeds.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TextIO

import click

from benchmarks.fuzz.examine import AGREE, DIFFER, FAILED, LATE, REFUSED, SOURCES, Row, examine


def _rows(work: Callable[[int], Row], seeds: range, jobs: int) -> Iterator[Row]:
    with ThreadPoolExecutor(jobs) as pool:
        try:
            yield from pool.map(work, seeds)
        finally:
            pool.shutdown(cancel_futures=True)


def report(rows: list[Row], title: str) -> str:
    """The rows as a Markdown table, then what did not agree."""
    counts = Counter(row.outcome for row in rows)
    agreed = [row for row in rows if row.outcome == AGREE]
    head = "| programs | agree | differ | refused | failed | too long | steps compared | lines | variables |"
    figures = [len(rows), *(counts[o] for o in (AGREE, DIFFER, REFUSED, FAILED, LATE))]
    figures += [sum(r.steps for r in rows), sum(r.lines for r in agreed), sum(r.variables for r in agreed)]
    lines = [f"# {title}", "", head, "|" + "---|" * len(figures), "| " + " | ".join(map(str, figures)) + " |", ""]
    reasons = Counter(row.detail.split(":")[-1].strip() for row in rows if row.outcome == REFUSED)
    lines += [f"- refused {number} times: {reason}" for reason, number in reasons.most_common(12)]
    lines += [f"- seed {r.seed} {r.outcome}: {r.detail}" for r in rows if r.outcome in (DIFFER, FAILED, LATE)]
    return "\n".join(lines) + "\n"


@click.command()
@click.option("--source", type=click.Choice(list(SOURCES)), default="own", show_default=True)
@click.option("--count", type=click.IntRange(min=1), default=1000, show_default=True, help="Number of programs.")
@click.option("--first", type=click.IntRange(min=0), default=0, show_default=True, help="First seed.")
@click.option("--steps", type=click.IntRange(min=2), default=200, show_default=True, help="Steps of each program.")
@click.option("--floating", is_flag=True, help="Programs compute with float and double too.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes.")
@click.option("-o", "--output", type=click.File("w"), default="-", help="Where the table goes.")
def main(source: str, count: int, first: int, steps: int, floating: bool, jobs: int, output: TextIO) -> None:
    """Compare random programs with their compiled originals."""
    rows: list[Row] = []
    work = partial(examine, source=source, floating=floating, steps=steps)
    try:
        for row in _rows(work, range(first, first + count), jobs):
            rows.append(row)
            click.echo(f"\r{len(rows)}/{count}", nl=False, err=True)
            if row.outcome in (DIFFER, FAILED, LATE):
                click.echo(f"  seed {row.seed} {row.outcome}: {row.detail}", err=True)
    except KeyboardInterrupt:
        click.echo(f"\ninterrupted after {len(rows)} programs", err=True)
    kind = "integers and floating point" if floating else "integers"
    output.write(report(rows, f"{source}: {kind}, seeds {first} to {first + count - 1}, {steps} steps each"))
    if any(row.outcome in (DIFFER, FAILED) for row in rows):
        sys.exit(1)


if __name__ == "__main__":
    main()
