"""The covering search beside a search that is written by hand: ``python -m benchmarks yardstick``.

``yardstick.c`` searches ``programs/liftdoor`` as a person would who writes a program for that controller alone. Seconds
are the processor's. Of both searches they begin where the program is compiled; ours lists the states, and searches
without a chain that is known.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import click

from benchmarks.measures.hard.beside import PROGRAMS
from bmc.engines.protocol import PORTION, WORK
from bmc.native.build import compiler_words
from chaincover.graph.layered import LayeredGoals
from chaincover.limits import Limits
from chaincover.problem import Problem
from chaincover.project.load import load
from chaincover.project.project_file import read_project
from chaincover.reductions.monitors import monitored
from chaincover.reductions.reduction import distinct_goals, in_turn
from chaincover.reductions.slicing import sliced_problem

SOURCE = Path(__file__).with_name("yardstick.c")
PROGRAM = "liftdoor"


@dataclass(frozen=True, slots=True)
class Searched:
    """The length of a shortest chain, the states and pairs of a state and goals covered, and the seconds it took."""

    length: int
    states: int
    pairs: int
    seconds: float


def by_hand() -> Callable[[], Searched]:
    """The search that is written by hand, compiled."""
    folder = tempfile.TemporaryDirectory()
    program = Path(folder.name) / "yardstick"
    words = [*compiler_words(), "-O2", f"-I{PROGRAMS / PROGRAM}", str(SOURCE), "-o", str(program)]
    subprocess.run(words, check=True)

    def search() -> Searched:
        with folder:
            begun = _seconds()
            said = subprocess.run([program], check=True, capture_output=True, text=True).stdout
            length, pairs, states = map(int, said.split())
            return Searched(length, states, pairs, _seconds() - begun)

    return search


def ours() -> Callable[[], Searched]:
    """The covering search of the same program, read and compiled."""
    subject = load(read_project(str(PROGRAMS / PROGRAM)))
    whole = Problem(subject.system, tuple(subject.goals), subject.final)
    problem = in_turn(whole, (distinct_goals, monitored, sliced_problem)).problem
    layered = LayeredGoals(problem, Limits(), lambda text: None)

    def search() -> Searched:
        begun = _seconds()
        layered.reach()
        covering = layered.covering()
        assert covering is not None
        while not covering.finished:
            covering.advance(PORTION * WORK)
        layered.close()
        assert covering.found is not None
        return Searched(len(covering.found), layered.states, covering.pairs, _seconds() - begun)

    return search


def _seconds() -> float:
    """Seconds of the processor that this process and those that it has waited for have taken."""
    children = getrusage(RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


@click.command()
@click.option("--runs", default=3, show_default=True, help="Runs of each search; the fastest ones count.")
def main(runs: int) -> None:
    """Set the covering search beside one that is written by hand; exit code 1 where their lengths differ."""
    rows = {"by hand": list[Searched](), "ours": list[Searched]()}
    for _ in range(runs):
        rows["by hand"].append(by_hand()())
        rows["ours"].append(ours()())
    best = {name: min(found, key=lambda each: each.seconds) for name, found in rows.items()}
    click.echo("| search | shortest chain | states | pairs | s |\n|---|---|---|---|---|")
    for name, each in best.items():
        click.echo(f"| {name} | {each.length} | {each.states:,} | {each.pairs:,} | {each.seconds:.2f} |")
    click.echo(
        f"\nours takes {best['ours'].seconds / best['by hand'].seconds:.2f} times as long as the search by hand."
    )
    if best["ours"].length != best["by hand"].length:
        raise SystemExit(1)
