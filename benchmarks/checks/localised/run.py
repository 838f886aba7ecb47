"""Drawn programs and smaller systems of them; exit code 1 where a bound or a verdict is wrong, or not proved again."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from benchmarks.checks.localised.compare import TooManyStates, compare
from bmc.errors import InputRefused


@click.command()
@click.option("--count", default=500, show_default=True, help="Programs.")
@click.option("--first", default=0, show_default=True, help="Seed of the first one.")
def main(count: int, first: int) -> None:
    """Search smaller systems of each program and the whole one, and let verify prove the bounds of the stage."""
    told, wrong = Counter[str](), 0
    with TemporaryDirectory() as scratch:
        for seed in range(first, first + count):
            try:
                found = compare(seed, Path(scratch) / str(seed))
            except TooManyStates:
                told["too many states"] += 1
                continue
            except InputRefused:  # no first step is possible, or a range leaves no value
                told["refused"] += 1
                continue
            told.update({"compared": 1, "smaller systems": found.smaller})
            told["with a bound by one"] += found.bound is not None
            told["that is the shortest length"] += found.exact
            told["proved again"] += found.bound is not None and found.proved
            for fault in found.wrong:
                click.echo(f"seed {seed}: {fault}")
            wrong += bool(found.wrong)
    click.echo(", ".join(f"{text}: {number}" for text, number in told.items()))
    click.echo(f"wrong: {wrong}")
    sys.exit(bool(wrong))
