"""Chains over a noisy line: ``python -m benchmarks line``.

Between the driver ``serial`` and a target on this machine, a C program with the firmware that ``chaincover export``
writes, a relay changes, drops and doubles one byte in a hundred in both directions. Each run of the chain has to end
with the verdicts of a run without noise, and the target counts its steps: as many as were ordered.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from benchmarks.boards.build import HERE, Built, built, chaincover, compiled
from benchmarks.boards.noise import NoisyLine

SHARE = 0.01
"""The share of bytes that are damaged. With twice as much, a third instead of a half of all exchanges succeed."""


@dataclass(frozen=True)
class Ran:
    """A run over the line: the exit code of ``chaincover run``, what it wrote, the lines of its log, and how many steps
    the target made, and how many requests it answered again (None where it did not end by itself)."""

    code: int
    stderr: str
    judged: dict[str, Any]
    log: list[dict[str, Any]]
    made: int | None
    repeated: int | None

    @property
    def ordered(self) -> int:
        """The steps of the log, those that stopped the target included."""
        return sum("inputs" in line for line in self.log)


def host_target(model: Built) -> Path:
    """The program that is the target on this machine."""
    compiler = [shutil.which("gcc") or "cc"]
    options = ["-Wl,--wrap=chaincover_step"]
    return compiled(compiler, model, model.exported / "target", [HERE / "host" / "main.c"], options)


def ran(model: Built, target: Path | str, seed: int, share: float = SHARE, fault: tuple[str, int] | None = None) -> Ran:
    """One run of the chain."""
    with tempfile.TemporaryDirectory() as folder:
        counts, log = Path(folder) / "counts", Path(folder) / "online.jsonl"
        line = NoisyLine([str(target), str(counts), *(map(str, fault or ()))], seed, share)
        try:
            driver = f"serial:{line.port}"
            done = chaincover("run", model.project, model.chain, "--driver", driver, "--fast", "--json", "--log", log)
        finally:
            line.close()
        numbers = counts.read_text(encoding="ascii").split() if counts.exists() else []
        lines = [json.loads(each) for each in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []
        made, repeated = map(int, numbers) if numbers else (None, None)
        return Ran(done.returncode, done.stderr, json.loads(done.stdout or "{}"), lines, made, repeated)


def wrong(run: Ran, quiet: Ran) -> Iterator[str]:
    """What is not as in a run without noise."""
    if run.code != quiet.code:
        yield f"ended with {run.code}: {run.stderr}{run.judged.get('remarks')}"
    elif run.judged.get("goals") != quiet.judged.get("goals"):
        yield "other verdicts than without noise"
    if run.made != run.ordered:
        yield f"{run.ordered} steps were ordered, and the target made {run.made}"


@click.command()
@click.option("--model", default="belt", show_default=True, help="Which model.")
@click.option("--runs", type=int, default=100, show_default=True, help="How many runs.")
@click.option("--first", type=int, default=0, show_default=True, help="The first seed.")
def main(model: str, runs: int, first: int) -> None:
    """Run a chain over a noisy line, and compare with a run without noise."""
    with tempfile.TemporaryDirectory() as folder:
        made = built(model, Path(folder), ["lp64"])
        target = host_target(made)
        quiet = ran(made, target, 0, share=0.0)
        if quiet.code or quiet.made != quiet.ordered or quiet.repeated is None:
            sys.exit(f"without noise: ended with {quiet.code}, {quiet.made} steps\n{quiet.stderr}")
        faults, repeated = 0, 0
        for seed in range(first, first + runs):
            run = ran(made, target, seed)
            found = [*wrong(run, quiet)]
            faults += bool(found)
            repeated += run.repeated or 0
            for text in found:
                click.echo(f"seed {seed}: {text}")
        steps = quiet.ordered
        click.echo(f"{runs} runs of {steps} steps, {repeated} requests came again: {faults} runs are wrong")
    sys.exit(1 if faults else 0)
