"""How ChainCover ends on programs that are large, deep or odd: ``python -m benchmarks endings``.

Each case of ``programs`` beside this file is read and searched; a row has the command, the exit code, seconds of the
processor and by the clock, the memory that was resident at most, and the last that was said. A row ends in LATE where
it took more than it may: 30 s of the processor and 2 GB without an option, 2 s by the clock beyond ``--time-limit``; in
FAULT where it ended by a signal, in an internal error, or with a traceback.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import click

from benchmarks.checks.endings.programs import GOAL, LEGAL, REFUSED, Files
from benchmarks.process import Cost, run

SECONDS, MEMORY, GRACE = 30.0, 2_000.0, 2.0
"""What a command may take without an option, in seconds of the processor and MB; seconds after a time limit."""
LONGEST = 3 * SECONDS
"""Seconds of the processor after which a command is killed."""
INTERNAL_ERROR = 70


def ended(files: Files, command: str, limit: float | None) -> Cost:
    """Run ``command`` on a program, with a time limit if there is one."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            (Path(folder) / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        project = files.get("chaincover.toml", b"")
        goal = () if "[[property]]" in str(project) else GOAL
        words = [command, str(Path(folder) / ("chaincover.toml" if project else "c.c")), *goal, "-q"]
        words += [] if limit is None else ["--time-limit", f"{limit:g}"]
        words += ["-o", str(Path(folder) / "out")] if command == "generate" else []
        return run([sys.executable, "-m", "chaincover", *words], LONGEST)


def verdict(cost: Cost, limit: float | None) -> str:
    """LATE, FAULT or ''."""
    if cost.code in (INTERNAL_ERROR, -6, -11) or "Traceback" in cost.output:
        return "FAULT"
    if limit is not None:
        return "LATE" if cost.wall > limit + GRACE else ""
    return "LATE" if cost.seconds > SECONDS or cost.memory > MEMORY else ""


def said(output: str) -> str:
    """The first line of the message, without its place."""
    lines = [line for line in output.splitlines() if line.strip()]
    return next((line for line in lines if line.startswith("error: ")), "")[:120]


@click.command()
@click.argument("names", nargs=-1)
@click.option("--command", type=click.Choice(["check", "generate"]), default="check", show_default=True)
@click.option("--time-limit", "limit", type=float, help="Give each command this time limit.")
def main(names: Sequence[str], command: str, limit: float | None) -> None:
    """Run all cases, or those whose names have one of NAMES in them."""
    bad = 0
    for name, files in {**LEGAL, **REFUSED}.items():
        if names and not any(part in name for part in names):
            continue
        cost = ended(files, command, limit)
        found = verdict(cost, limit)
        bad += bool(found)
        figures = f"{cost.code:4d} {cost.seconds:6.1f} s {cost.wall:6.1f} s {cost.memory:6.0f} MB"
        click.echo(f"{name:56} {figures} {found:5} {said(cost.output)}")
    sys.exit(bool(bad))
