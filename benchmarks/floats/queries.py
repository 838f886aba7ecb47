"""Small float controllers: how soon each goal is reached, with and without bounds and trial runs.

``python -m benchmarks.floats.queries``. Every run is a process of its own: it asks for each goal of a controller after
0, 1, ... steps until it is reached or not within ``--depth``, each query within ``--limit`` seconds.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import click

from bmc.engines.protocol import Status
from bmc.engines.z3 import Z3Engine
from bmc.formulas.unroll import at, shift
from chaincover.project.load import load
from chaincover.project.project_file import read_project

CONTROLLERS = Path(__file__).parent / "controllers"
MODES = {"solver alone": False, "bounds, trial runs, solver": True}


def measured(name: str, trials: bool, depth: int, limit: float) -> dict[str, Any]:
    """Seconds, answers by kind, and the steps after which each goal was reached (None: it was not)."""
    subject = load(read_project(str(CONTROLLERS / name)))
    system = subject.system
    begin = time.perf_counter()
    session = Z3Engine(trials=trials).session(system, at(system.init_formula, 0))
    answers: Counter[str] = Counter()
    reached: dict[str, int | None] = {}
    for goal in subject.goals:
        reached[goal.name] = None
        for start in range(depth + 1):
            steps = start + goal.length
            answer = session.check([shift(goal.antecedent, start)], steps, limit)
            answers[answer.status.value] += 1
            if answer.status is Status.SAT:
                reached[goal.name] = start
                break
    return {"seconds": time.perf_counter() - begin, "answers": dict(answers), "reached": reached}


def rows(depth: int, limit: float) -> Iterator[str]:
    for folder in sorted(path.name for path in CONTROLLERS.iterdir() if path.is_dir()):
        base = 0.0
        for mode in MODES:
            command = [sys.executable, "-m", "benchmarks.floats.queries", "--one", folder, mode]
            command += ["--depth", str(depth), "--limit", str(limit)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise click.ClickException(done.stderr[-2000:])
            found = json.loads(done.stdout)
            base = base or found["seconds"]
            counts = " | ".join(str(found["answers"].get(status.value, 0)) for status in Status)
            reached = ", ".join(f"{goal} {'-' if k is None else k}" for goal, k in found["reached"].items())
            seconds = f"{found['seconds']:.1f} ({found['seconds'] / base:.2f})"
            yield f"| {folder} | {mode} | {seconds} | {counts} | {reached} |"


@click.command()
@click.option("--one", nargs=2, hidden=True)
@click.option("--depth", default=4, show_default=True, help="Steps before a goal's start, at most.")
@click.option("--limit", default=20.0, show_default=True, help="Seconds for a query.")
@click.option("-o", "--output", type=click.File("w"), default="-", help="Where the table goes.")
def main(one: tuple[str, str] | None, depth: int, limit: float, output: TextIO) -> None:
    """Measure both ways on all controllers."""
    if one:
        print(json.dumps(measured(one[0], MODES[one[1]], depth, limit)))
        return
    print("| controller | way | seconds (ratio) | sat | unsat | unknown | reached after |", file=output)
    print("|---|---|---|---|---|---|---|", file=output)
    for row in rows(depth, limit):
        print(row, file=output, flush=True)


if __name__ == "__main__":
    main()
