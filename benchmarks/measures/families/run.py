"""What ``generate`` and ``verify`` take for members of families and for bundled models with MC/DC goals.

    python -m benchmarks families                        # the table of docs/development/benchmarks.md
    python -m benchmarks families grid_40_30 model:seat  # some rows of it
    python -m benchmarks families --write DIR grid_20_30 # only the controllers

Every row is two processes; seconds are the processor's, memory is the most that was resident, children included.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import click

from benchmarks import FOLDER
from benchmarks.measures.families.members import member
from benchmarks.process import Cost, run

MODELS = FOLDER / "models"
BUNDLED = "model:"
ROWS = (
    *("grid_20_30", "grid_80_30", "grid_120_40", "modes_40_10", "modes_80_10", "modes_20_1000"),
    *("grid_10_1000", "grid_10_10000", "acc_3_16", "acc_3_32"),
    *(BUNDLED + name for name in ("alarm", "wiper", "crossing", "fan", "window", "seat")),
)

EFFORTS = {"grid_10_10000": "2"}
"""Efforts of rows for which that of the others does not suffice."""

LIMIT = 300
"""Seconds of the processor after which ``verify`` is ended."""


@click.command()
@click.argument("names", nargs=-1)
@click.option("--write", type=click.Path(path_type=Path), help="Only write the controllers, to folders in this one.")
@click.option("--effort", help="Effort of each search; default: 1, or what the row needs.")
def main(names: tuple[str, ...], write: Path | None, effort: str | None) -> None:
    """Measure NAMES: members such as grid_20_30, or model:NAME for a bundled model with its MC/DC goals."""
    if write is not None:
        for name in names:
            click.echo(member(name).write(write))
        return
    click.echo("| system | goals | chain | bound | generate | memory | verify |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        for name in names or ROWS:
            click.echo(_row(name, Path(scratch), effort or EFFORTS.get(name, "1")))


def _row(name: str, scratch: Path, effort: str) -> str:
    """The row of the table for ``name``."""
    bundled = name.removeprefix(BUNDLED)
    project = MODELS / bundled if bundled != name else member(name).write(scratch)
    cover = ["--cover", "mcdc()"] if bundled != name else []
    out = scratch / f"out-{bundled}"
    made = _run("generate", str(project), *cover, "--effort", effort, "-q", "-o", str(out))
    checked = _run("verify", str(project), str(out), limit=LIMIT)
    data = json.loads((out / "chain.json").read_text(encoding="utf-8"))
    verdict = "holds" if checked.code in (0, 1) else f"exit code {checked.code}" if checked.code > 0 else "not ended"
    bounds, more = data["bounds"], f", `--effort {effort}`" if effort != "1" else ""
    return (
        f"| {bundled}{' mcdc()' if cover else ''}{more} | {len(data['goals'])} | {bounds['length']} "
        f"| {'proved' if bounds['minimal'] else bounds['lower']} | {made.seconds:.1f} s | {made.memory:.0f} MB "
        f"| {verdict}, {checked.seconds:.1f} s |"
    )


def _run(*arguments: str, limit: float | None = None) -> Cost:
    """What ``chaincover`` with ``arguments`` takes, up to ``limit`` seconds of the processor."""
    return run([sys.executable, "-m", "chaincover", *arguments], limit)
