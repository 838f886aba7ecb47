"""Which faults the tests find out: ``python -m benchmarks mutants [ROOM ...] [--count N] [--seed S] [--keep FILE]``.

A room is an entry of ``ROOMS``: modules, and the tests that answer for them. Each fault of a module is put into a copy
of the checkout, on which these tests run. Faults that no test finds out are listed, and the command ends with 1; those
of ``equivalent.json`` make no difference to what the program does, and are counted by themselves.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from benchmarks import FOLDER
from benchmarks.measures.mutants.faults import Fault, faults
from benchmarks.process import Cost, run

CHECKOUT = FOLDER.parent
EQUIVALENT = Path(__file__).with_name("equivalent.json")
COPIED = ("bmc", "properties", "chaincover", "benchmarks", "tests", "docs", "pyproject.toml", "README.md")


@dataclass(frozen=True, slots=True)
class Room:
    """``modules``, and the ``tests`` that are to find out their faults."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]


ROOMS = {
    "monitors": Room(
        ("properties/one_step.py", "bmc/system/memory.py", "chaincover/reductions/monitors.py"),
        (
            "tests/properties/test_one_step.py",
            "tests/bmc/system/test_memory.py",
            "tests/properties/test_operators.py",
            "tests/chaincover/reductions/test_monitors.py",
        ),
    ),
    "verify": Room(
        ("chaincover/verification",), ("tests/chaincover/verification", "tests/chaincover/graph/test_long_tests.py")
    ),
    "writer": Room(
        ("chaincover/formats/writer.py",),
        (
            "tests/chaincover/report/test_documents.py",
            "tests/chaincover/formats",
            "tests/chaincover/verification/test_values.py",
        ),
    ),
}

FOUND, SURVIVES, EQUAL = "found out", "survives", "equivalent"


@dataclass(frozen=True, slots=True)
class Mutant:
    """A fault of a module, what became of it, and the test that found it out."""

    module: str
    fault: str
    end: str
    by: str = ""


class Copy:
    """A copy of the checkout, into which one fault at a time is put."""

    def __init__(self, folder: Path, tests: Sequence[str]) -> None:
        self._folder, self._tests = folder, tests
        ignored = shutil.ignore_patterns(".*_cache", "*.egg-info")
        for name in COPIED:
            place = CHECKOUT / name
            if place.is_dir():
                shutil.copytree(place, folder / name, ignore=ignored)
            else:
                shutil.copy(place, folder / name)
        self._whole = self._run(None)
        self._limit = 3 * self._whole.seconds + 10

    def _run(self, limit: float | None, module: str = "") -> Cost:
        command = [sys.executable, "-B", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
        # the tests that stand where the module does come first, for they find out most
        first = f"test_{Path(module).name}"
        places = sorted(_files(self._folder, self._tests, "test_*.py"), key=lambda place: place.name != first)
        words = [*command, "--rootdir", str(self._folder), *map(str, places)]
        # the checkout itself is installed: its copy comes first
        return run(words, limit, {"PYTHONPATH": str(self._folder), "PYTHONSAFEPATH": "1", "PYTEST_ADDOPTS": ""})

    def whole(self) -> str:
        """'' where all tests pass without a fault, else what they say."""
        return "" if self._whole.code == 0 else self._whole.output[-2000:]

    def judged(self, module: str, fault: Fault) -> tuple[str, str]:
        """What becomes of ``fault`` of ``module``, and by which test."""
        place = self._folder / module
        text = place.read_text(encoding="utf-8")
        for compiled in (place.parent / "__pycache__").glob(f"{place.stem}.*"):
            compiled.unlink()
        place.write_text(fault.in_(text), encoding="utf-8")
        try:
            done = self._run(self._limit, module)
        finally:
            place.write_text(text, encoding="utf-8")
        if done.code == 0:
            return SURVIVES, ""
        failed = [row for row in done.output.splitlines() if row.startswith(("FAILED", "ERROR"))]
        return FOUND, failed[0].split(" - ")[0] if failed else "it does not end" if done.code < 0 else "an error"


def _files(folder: Path, names: Sequence[str], pattern: str) -> list[Path]:
    """The files that ``names`` are within ``folder``, or that lie in them and match ``pattern``."""
    places = [folder / name for name in names]
    return [file for place in places for file in (sorted(place.rglob(pattern)) if place.is_dir() else [place])]


def modules_of(room: Room) -> Iterator[str]:
    """The files of ``room``."""
    return (str(file.relative_to(CHECKOUT)) for file in _files(CHECKOUT, room.modules, "*.py"))


def drawn(room: Room, count: int, seed: int) -> list[tuple[str, Fault]]:
    """``count`` of the faults of ``room``, or all, by module and place."""
    every = [(name, f) for name in modules_of(room) for f in faults((CHECKOUT / name).read_text(encoding="utf-8"))]
    if count and count < len(every):
        every = [every[number] for number in sorted(random.Random(seed).sample(range(len(every)), count))]
    return every


def equivalent() -> dict[tuple[str, str, str], str]:
    """The faults that make no difference, each with its reason: by module, line of the source and change."""
    rows = json.loads(EQUIVALENT.read_text(encoding="utf-8"))
    return {(row["module"], row["line"], row["change"]): row["reason"] for row in rows}


def searched(name: str, count: int, seed: int, keep: Path | None) -> Iterator[Mutant]:
    """What becomes of the faults of the room ``name``; those in ``keep`` are not tried again."""
    lines = keep.read_text(encoding="utf-8").splitlines() if keep is not None and keep.is_file() else []
    done = {(found["module"], found["fault"]): Mutant(**found) for found in map(json.loads, lines)}
    equal = equivalent()
    with tempfile.TemporaryDirectory() as folder:
        copy: Copy | None = None
        for module, fault in drawn(ROOMS[name], count, seed):
            key = module, str(fault)
            if (module, fault.row, fault.change) in equal:
                yield Mutant(*key, EQUAL)
                continue
            if key not in done:
                copy = copy or _copy(Path(folder), ROOMS[name])
                done[key] = Mutant(*key, *copy.judged(module, fault))
                if keep is not None:
                    with keep.open("a", encoding="utf-8") as out:
                        out.write(json.dumps(asdict(done[key])) + "\n")
            yield done[key]


def _copy(folder: Path, room: Room) -> Copy:
    copy = Copy(folder, room.tests)
    if said := copy.whole():
        raise click.ClickException(f"the tests fail without a fault:\n{said}")
    return copy


@click.command()
@click.argument("rooms", metavar="[ROOM]...", nargs=-1, type=click.Choice(list(ROOMS)))
@click.option("--count", default=0, metavar="N", help="Try so many faults of each room, drawn; all by default.")
@click.option("--seed", default=0, metavar="S", help="What is drawn.")
@click.option("--keep", type=click.Path(path_type=Path), help="File of faults that were tried before.")
def main(rooms: tuple[str, ...], count: int, seed: int, keep: Path | None) -> None:
    """Put small faults into modules, and list those that no test finds out."""
    survivors = 0
    for name in rooms or tuple(ROOMS):
        found: list[Mutant] = []
        for mutant in searched(name, count, seed, keep):
            found.append(mutant)
            click.echo(f"{mutant.end:11} {mutant.module}, {mutant.fault}", err=mutant.end != SURVIVES)
        ends = {end: sum(mutant.end == end for mutant in found) for end in (FOUND, EQUAL, SURVIVES)}
        click.echo(f"{name}: {len(found)} faults; " + ", ".join(f"{number} {end}" for end, number in ends.items()))
        survivors += ends[SURVIVES]
    sys.exit(1 if survivors else 0)
