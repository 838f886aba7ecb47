"""Every transition of the machines once: ``python -m benchmarks machines [NAME ...] [--drawn N] [--first S]``.

Each machine of ``expected.json`` is given to ChainCover with ``transitions()`` as its goals: one chain that ends
anywhere, one that ends in the start state, and where no chain takes all of them the least number of chains. Lengths,
bounds and numbers of chains are compared with those of ``postman``, which knows nothing of ChainCover, and each
certificate is checked. Drawn machines are compared in the same way. Ends with 1 if anything differs, or is not proved.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

import chaincover
from benchmarks import FOLDER
from benchmarks.checks.machines.postman import expected as expected_of

HERE = FOLDER / "machines"


@dataclass(frozen=True, slots=True)
class Row:
    """What was asked of a machine, what is expected and what came out; ``seconds`` of the processor."""

    machine: str
    question: str
    expected: str
    found: str
    seconds: float

    @property
    def right(self) -> bool:
        """Whether it is what is expected, proved."""
        return self.found in (self.expected, f"{self.expected} proved")


def project_of(folder: Path, file: Path, partial: bool) -> str:
    """A project in ``folder`` for the machine in ``file``."""
    place = folder / "chaincover.toml"
    text = f'[sources]\nfiles = ["{file.resolve()}"]\n[interface]\npartial = {str(partial).lower()}\n'
    place.write_text(text + '[coverage]\ncriteria = ["transitions()"]\n')
    return str(place)


def rows(name: str, file: Path, expected: Mapping[str, Any]) -> Iterator[Row]:
    """The questions about one machine."""
    with tempfile.TemporaryDirectory() as folder:
        project = project_of(Path(folder), file, expected["partial"])
        begun = time.process_time()
        if expected["runs"] > 1:
            asked = f"{expected['runs']} chains of {expected['steps']} steps"
            yield Row(name, "several", asked, _several(project, Path(folder)), time.process_time() - begun)
            return
        for question, final, number in (("open", "none", expected["steps"]), ("closed", "init", expected["closed"])):
            begun = time.process_time()
            found = _one(project, final, Path(folder), expected["reachable"])
            asked = "none" if number is None else f"{number} steps"
            yield Row(name, question, asked, found, time.process_time() - begun)


def _one(project: str, final: str, folder: Path, reachable: int) -> str:
    """The length of one chain through all transitions that a run can take."""
    subject = chaincover.load(chaincover.Request(project, final=final))
    result = chaincover.generate(subject.problem)
    covered = sum(verdict.status == "covered" for verdict in result.verdicts)
    if result.chain is None or covered < reachable:
        return "none"
    chaincover.save(subject, result, folder / "out")
    checked = chaincover.verify(chaincover.Request(project, final=final), folder / "out")
    proved = "proved" if result.bounds.lower == result.chain.length else f"(>= {result.bounds.lower})"
    steps = f"{result.chain.length} steps"
    return f"{steps} {proved}" if checked.exit_code == 0 else f"{steps}, not verified"


def _several(project: str, folder: Path) -> str:
    """The least number of chains through all transitions that a run can take, and their length together."""
    subject = chaincover.load(project)
    found = chaincover.generate_several(subject.problem)
    chaincover.save(subject, found, folder / "out")
    checked = chaincover.verify(project, folder / "out")
    proved = "proved" if found.number_minimal and found.bounds.lower == found.length else "(not proved)"
    chains = f"{len(found.results)} chains of {found.length} steps"
    return f"{chains} {proved}" if checked.exit_code == 0 else f"{chains}, not verified"


def drawn(number: int, seed: int) -> Iterator[tuple[str, str]]:
    """``number`` machines as DOT, each with the name of its seed: some are not strongly connected, some lack inputs."""
    for own in range(seed, seed + number):
        source = random.Random(own)
        states, inputs = source.randint(1, 7), source.randint(1, 4)
        keep = source.choice((1.0, 1.0, 0.7))
        lines = ["digraph drawn {", "__start0 -> s0;"]
        for state in range(states):
            for tried in range(inputs):
                if source.random() < keep:
                    target = source.randrange(states)
                    lines.append(f's{state} -> s{target} [label="i{tried}/o{source.randrange(3)}"];')
        if any(line.startswith("s0 ") for line in lines):  # else no run takes a transition
            yield f"drawn {own}", "\n".join([*lines, "}"])


@click.command()
@click.argument("names", nargs=-1)
@click.option("--drawn", "number", default=0, metavar="N", help="Try so many drawn machines in place of the files.")
@click.option("--first", default=0, metavar="S", help="Seed of the first of them.")
def main(names: tuple[str, ...], number: int, first: int) -> None:
    """Tours of machines, beside those of the Chinese postman."""
    wrong, count, slowest = 0, 0, 0.0
    for row in _drawn_rows(number, first) if number else _file_rows(names):
        count, slowest = count + 1, max(slowest, row.seconds)
        wrong += not row.right
        mark = "" if row.right else f"  WRONG: expected {row.expected}"
        if not number or mark:
            click.echo(f"{row.machine:48} {row.question:7} {row.found:28} {row.seconds:6.2f} s{mark}")
    click.echo(f"{count} questions, {wrong} wrong or not proved; the slowest took {slowest:.2f} s of the processor")
    sys.exit(1 if wrong else 0)


def _file_rows(names: tuple[str, ...]) -> Iterator[Row]:
    for name, expected in json.loads((HERE / "expected.json").read_text(encoding="utf-8")).items():
        if not names or any(each in name for each in names):
            yield from rows(name, HERE / name, expected)


def _drawn_rows(number: int, first: int) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in drawn(number, first):
            place = Path(folder) / "drawn.dot"
            place.write_text(text, encoding="utf-8")
            yield from rows(name, place, expected_of(place))
