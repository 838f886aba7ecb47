"""Random programs with small counters, jumped and walked; exit code 1 where a bound, a chain or a check is wrong."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from benchmarks.checks.accelerated.chains import rows
from benchmarks.checks.accelerated.compare import KEPT, compare
from benchmarks.checks.accelerated.programs import random_program
from benchmarks.checks.accelerated.written import outcomes


@click.command()
@click.option("--count", default=2000, show_default=True, help="Programs.")
@click.option("--first", default=0, show_default=True, help="Seed of the first one.")
@click.option("--written", is_flag=True, help="Instead C controllers through all of generate and verify.")
@click.option("--chains", is_flag=True, help="Instead long chains over counters of 16 and 32 bits, as a table.")
def main(count: int, first: int, written: bool, chains: bool) -> None:
    """Compare the search in jumps with the search over all states, and let verify check its bounds."""
    if written:
        _all_stages(range(first, first + count))
        return
    if chains:
        click.echo("| program | chain | bound | seconds | `verify` |\n|---|---|---|---|---|")
        for row in rows():
            length = "none" if row.length is None else f"{row.length:,}"
            click.echo(f"| {row.name} | {length} | {row.lower:,} | {row.seconds:.1f} | {row.verified} |")
        return
    told, kinds = Counter[str](), Counter[str]()
    wrong = []
    for seed in range(first, first + count):
        program = random_program(seed)
        found = compare(program.problem, KEPT if seed % 10 == 0 else KEPT[:2])
        if found is None:
            told["without a counter"] += 1
            continue
        told["compared"] += 1
        kinds.update(program.kinds)
        told["exact"] += found.exact
        told["verified"] += found.verified
        told["with a slow counter"] += any(it.claim.slow for it in found.jumped)
        told["with a chain"] += found.least is not None
        told["shortest chain found"] += found.least is not None and found.jumped[-1].chain == found.least
        if not found.sound:
            wrong.append(seed)
            click.echo(f"seed {seed}, {', '.join(program.kinds)}: {found}")
    click.echo(", ".join(f"{text}: {number}" for text, number in told.items()))
    click.echo("compared of each kind: " + ", ".join(f"{kind}: {number}" for kind, number in sorted(kinds.items())))
    click.echo(f"wrong: {len(wrong)}")
    sys.exit(bool(wrong))


def _all_stages(seeds: range) -> None:
    """How often each exit code came, and the seeds of those that should not; exit code 1 where there are any."""
    ended, wrong = Counter[str](), []
    with TemporaryDirectory() as scratch:
        for found in outcomes(seeds, Path(scratch)):
            ended.update([f"generate {found.generate}", f"verify {found.verify}"])
            ended["proved minimal"] += found.minimal is True
            if not found.sound:
                wrong.append(found.seed)
    click.echo(", ".join(f"{text}: {number}" for text, number in sorted(ended.items())))
    click.echo(f"wrong: {len(wrong)}{' (seeds ' + ', '.join(map(str, wrong)) + ')' if wrong else ''}")
    sys.exit(bool(wrong))
