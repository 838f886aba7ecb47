"""Random controllers with clocks; exit code 1 where a form, a bound, a chain or a verdict is wrong."""

from __future__ import annotations

import sys
from collections import Counter

import click

from benchmarks.checks.clocks.compare import compare
from benchmarks.checks.clocks.programs import drawn


@click.command()
@click.option("--count", default=2000, show_default=True, help="Controllers.")
@click.option("--first", default=0, show_default=True, help="Seed of the first one.")
def main(count: int, first: int) -> None:
    """Follow each form in step with the states as they are, and search all states for what is claimed."""
    told, wrong = Counter[str](), 0
    for seed in range(first, first + count):
        found = compare(drawn(seed))
        told.update(found.kinds or ("none",))
        told["minimal chain"] += found.minimal
        for fault in found.wrong:
            click.echo(f"seed {seed}: {fault}")
        wrong += bool(found.wrong)
    click.echo(", ".join(f"{kind}: {number}" for kind, number in sorted(told.items())))
    click.echo(f"wrong: {wrong} of {count}")
    sys.exit(bool(wrong))
