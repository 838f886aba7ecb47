"""Which numeric constants of the search matter: ``python -m benchmarks doubled [ROOM ...] [--keep FILE]``.

Each numeric constant of the rooms that a search goes through is doubled, one at a time, and ``ROWS`` are searched with
it, in a process of its own. A constant matters where a row has other goals covered, another length or another bound
then, or where its units of work differ: these are counted and do not depend on the machine. A constant that stands for
something else than an amount, such as a mark or a seed, may make a search fail; it is told apart.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import click

from benchmarks import FOLDER
from benchmarks.measures.house import named_numbers, read
from benchmarks.process import run

ROOMS = (
    "bmc.engines",
    "bmc.explicit",
    "bmc.invariants",
    "bmc.limits",
    "chaincover.concretise",
    "chaincover.graph",
    "chaincover.known",
    "chaincover.limits",
    "chaincover.minimality",
    "chaincover.orderings",
    "chaincover.partition",
    "chaincover.pipeline",
    "chaincover.reductions",
    "chaincover.requirements",
    "chaincover.runs",
    "chaincover.stages",
)
"""What a search goes through."""

ROWS = (
    *((f"models/{name}", "") for name in ("latch", "cruise", "alarm", "gate", "oven", "burner", "reminder", "seat")),
    *((f"models/{name}", "") for name in ("elevator", "tank", "charger", "belt")),
    *((f"models/{name}", "branches()") for name in ("window", "mixer", "fan", "dispenser")),
    *((f"models/{name}", "mcdc()") for name in ("door", "pump")),
    ("floats/controllers/mode", ""),
    ("hard/controllers/circle", ""),
)
"""Twenty searches, each of a few seconds: folder of the project, and the criterion of further goals."""

EFFORT = 0.04
"""Of each search, some two seconds. With twice as much, rows that are not proved take twice as long."""

MOST = 600.0
"""Seconds of the processor after which a process is ended."""


@dataclass(frozen=True, slots=True)
class Constant:
    """The place of a constant: its module, the line, and its name."""

    module: str
    line: int
    name: str


@dataclass(frozen=True, slots=True)
class Found:
    """What a search has: goals covered, length and bound in steps, units of work."""

    covered: int
    length: int | None
    lower: int
    units: float


def constants(rooms: Sequence[str]) -> Iterator[Constant]:
    """The numeric constants of the modules of ``rooms``, as ``house`` counts them; one for each name."""
    for module in read(FOLDER.parent):
        if not any(f"{module.name}.".startswith(f"{room}.") for room in rooms):
            continue
        for statement in module.tree.body:
            for name in named_numbers(statement):
                yield Constant(module.importable, statement.lineno, name)


class Doubling(MetaPathFinder):
    """Loads the module of one constant with twice its value."""

    def __init__(self, constant: Constant) -> None:
        self._constant = constant

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The module with the constant doubled; None for all others."""
        if name != self._constant.module:
            return None
        spec = PathFinder.find_spec(name, path)
        assert spec is not None
        assert spec.origin is not None
        spec.loader = Doubled(name, spec.origin, self._constant)
        return spec


class Doubled(SourceFileLoader):
    """Compiles a source file with one constant doubled."""

    def __init__(self, name: str, path: str, constant: Constant) -> None:
        super().__init__(name, path)
        self._constant = constant

    def get_code(self, fullname: str) -> CodeType:
        """The code of the module, never from a cache: a statement after that of the constant doubles it."""
        tree = ast.parse(self.get_data(self.path))
        place = next(number for number, each in enumerate(tree.body) if each.lineno == self._constant.line)
        name = self._constant.name
        tree.body[place + 1 : place + 1] = ast.parse(f"from {__name__} import twice\n{name} = twice({name})").body
        return compile(tree, self.path, "exec")


def twice(value: Any) -> Any:
    """Twice a number; of a collection, of all its numbers."""
    if isinstance(value, dict):
        return {key: twice(each) for key, each in value.items()}
    if isinstance(value, tuple | list | set | frozenset):
        return type(value)(map(twice, value))
    return 2 * value


def searched(constant: Constant | None) -> list[Found]:
    """The searches of ``ROWS`` in this process, with ``constant`` doubled."""
    if constant is not None:
        for name in [name for name in sys.modules if name.partition(".")[0] in ("bmc", "properties", "chaincover")]:
            del sys.modules[name]
        sys.meta_path.insert(0, Doubling(constant))
    from chaincover.options import Options
    from chaincover.pipeline import generate
    from chaincover.project.load import Request, load_request
    from chaincover.requirements.deciding import Deciding, for_chains
    from chaincover.result import Silent

    found = []
    for folder, criterion in ROWS:
        problem = load_request(Request(str(FOLDER / folder), cover=(criterion,) if criterion else ())).problem
        options = Options(effort=EFFORT)
        deciding: Deciding[Any] = Deciding(problem, options, Silent())
        result = generate(problem, for_chains(problem, options), deciding, deciding.stages)
        deciding.finish(result, result.answered.effort)
        covered = 0 if result.chain is None else len(result.chain.goals)
        length = None if result.chain is None else result.chain.length
        found.append(Found(covered, length, result.bounds.lower, result.answered.effort + deciding.spent))
    return found


def apart(constant: Constant | None) -> list[Found] | str:
    """``searched`` in a process of its own, or why there is nothing."""
    text = json.dumps(None if constant is None else asdict(constant))
    done = run([sys.executable, "-m", "benchmarks", "doubled", "--one", text], MOST)
    last = done.output.strip().rpartition("\n")[2]
    if done.code:
        return last[:100] if done.code > 0 else f"not over after {MOST:.0f} s"
    return [Found(**each) for each in json.loads(last)]


def verdict(first: Sequence[Found], found: Sequence[Found] | str) -> str:
    """What doubling a constant changes, in words."""
    if isinstance(found, str):
        return f"fails: {found}"
    texts = []
    for (folder, criterion), one, other in zip(ROWS, first, found, strict=True):
        if (one.covered, one.length, one.lower) != (other.covered, other.length, other.lower):
            name = f"{folder.rpartition('/')[2]} {criterion}".strip()
            texts.append(f"{name}: {_told(one)} -> {_told(other)}")
    differing = [b.units / a.units for a, b in zip(first, found, strict=True) if a.units and a.units != b.units]
    if differing:
        texts.append(f"units of {len(differing)} rows differ, {min(differing):.2f} to {max(differing):.2f} times")
    return "; ".join(texts) or "nothing"


def _told(found: Found) -> str:
    return f"{found.covered} in {found.length} (>= {found.lower})"


@click.command()
@click.argument("rooms", metavar="[ROOM]...", nargs=-1)
@click.option(
    "--keep", type=click.Path(path_type=Path), help="File of constants that are done, and are not done again."
)
@click.option("--one", hidden=True)
def main(rooms: tuple[str, ...], keep: Path | None, one: str | None) -> None:
    """Double each constant of ROOMS, such as chaincover.runs, by default of all that a search goes through."""
    if one is not None:
        given = json.loads(one)
        found = searched(None if given is None else Constant(**given))
        click.echo(json.dumps([asdict(each) for each in found]))
        return
    done = {} if keep is None or not keep.is_file() else dict(map(json.loads, keep.read_text().splitlines()))
    first = apart(None)
    if isinstance(first, str):
        raise click.ClickException(first)
    counts = {"nothing": 0, "fails": 0, "units": 0, "results": 0}
    for constant in constants(rooms or ROOMS):
        name = f"{constant.module} {constant.name}"
        if name not in done:
            done[name] = verdict(first, apart(constant))
            if keep is not None:
                with keep.open("a", encoding="utf-8") as out:
                    out.write(json.dumps([name, done[name]]) + "\n")
        click.echo(f"{name}: {done[name]}")
        kind = next((kind for kind in counts if done[name].startswith(kind)), "results")
        counts[kind] += 1
    click.echo(
        f"{sum(counts.values())} constants: doubling changes nothing of {counts['nothing']}, units of work of "
        f"{counts['units']}, results of {counts['results']}; {counts['fails']} are no amounts"
    )
