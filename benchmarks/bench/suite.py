"""A suite as it stands in its TOML file: models by pattern, configurations of tools, limits of each run.

Everything is looked at before anything runs: each mistake is a message with its file and line.
"""

from __future__ import annotations

import glob
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.bench import tools
from bmc.errors import InputRefused, Location
from bmc.limits import read_text, read_toml
from bmc.system.names import suggestion
from chaincover.project.keys import Keys
from chaincover.project.project_file import PROJECT_FILE

BUNDLED = Path(__file__).parents[1] / "suites"

Value = str | int | float | bool

SECONDS, MEGABYTES = 120.0, 3000
"""The limits of a run where a suite names none."""

KEYS: Mapping[str, Mapping[str, str]] = {
    "": {
        "title": "what the page is headed with; default: the name of the file",
        "limits": "table: hard limits of each run",
        "models": "tables `[[models]]`: what is run",
        "configurations": "tables `[[configurations]]`: how it is run",
    },
    "limits": {
        "seconds": "by the clock; default 120",
        "megabytes": "of memory, child processes included; default 3000",
    },
    "models": {
        "projects": "project files, folders with one, or C files: patterns relative to the suite",
        "family": "name of the family; default: the project's folder",
        "cover": "criteria that generate goals, as `--cover`",
        "goals": "only these goals (patterns), as `--goal`",
        "arguments": "further options of `generate` that select goals, such as `--final none`",
        "rows": "a file of `[[row]]` tables: names, figures that are pinned, figures in print",
        "sources": "a file of `[[source]]` tables: sources of others that have to be there, by SHA-256",
    },
    "configurations": {
        "name": "its name in the table",
        "tool": "the name of a tool, or `module:Class` for one of your own",
        "seed": "number, or list of numbers: the run is repeated with each",
        "seconds": "by the clock, in place of those of `[limits]`",
    },
    "row": {
        "name": "of the model",
        "project": "its project file, relative to this file",
        "properties": "number of goals",
        "bits": "of state and input",
        "chains": "number of chains",
        "length": "steps in all",
        "lower": "proved bound of the length",
        "states": "number of reachable states",
        "long_goals": "number of goals of several states",
        "printed": "table: what a publication prints",
    },
    "source": {
        "file": "relative to this file",
        "sha256": "of its content",
        "obtain": "a sentence: where it comes from",
    },
}
"""All keys by their tables; those of a configuration are the settings of its tool, too."""

FIGURES = ("properties", "chains", "length", "lower", "states", "long_goals")
"""The keys of a row that pin a figure."""


@dataclass(frozen=True, slots=True)
class Pin:
    """What a file of rows says of a model: figures to which a run of ChainCover is held, and figures in print."""

    name: str
    figures: Mapping[str, int] = field(default_factory=dict)
    bits: tuple[str, ...] = ()
    printed: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Source:
    """A source that has to be there, and where it comes from."""

    file: Path
    sha256: str
    obtain: str


@dataclass(frozen=True, slots=True)
class Model:
    """A project with the goals asked for. ``shown`` is its file relative to the suite, the same on every machine."""

    name: str
    family: str
    project: Path
    shown: str
    selection: tuple[str, ...]
    pin: Pin | None
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Configuration:
    """One setting of a tool: a list in the file has given several. ``seconds``: None for those of the suite."""

    name: str
    tool: str
    settings: Mapping[str, Value]
    seed: int
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Suite:
    """All that a suite says; ``text`` is its file."""

    name: str
    title: str
    folder: Path
    seconds: float
    megabytes: int
    models: tuple[Model, ...]
    configurations: tuple[Configuration, ...]
    text: str


def read_suite(named: str) -> Suite:
    """The suite in the file ``named``, or the bundled one of that name. InputRefused, with the place of a mistake."""
    place = Path(named)
    if not place.exists() and place.suffix != ".toml" and "/" not in named:
        place = BUNDLED / f"{named}.toml"
        if not place.exists():
            known = ", ".join(sorted(each.stem for each in BUNDLED.glob("*.toml"))) or "none"
            raise InputRefused("no such suite", Location(named), f"name a TOML file, or a bundled suite ({known})")
    text = read_text(place, "the suite")
    return _Reader(place, text, read_toml(text, Location(str(place)))).suite()


def _entries(keys: Keys, table: str) -> Iterator[Keys]:
    """Each of the tables ``[[table]]``; its keys are looked for in its own lines."""
    found = keys.data.get(table, [])
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        keys.refuse(keys.wrong(table, f"tables headed [[{table}]]"))
        return
    rows = keys.text.splitlines()
    heads = [at for at, row in enumerate(rows) if re.match(rf"\s*\[\[\s*{table}\s*\]\]", row)]
    if len(heads) != len(found):
        heads = []
    ends = [at for at, row in enumerate(rows) if re.match(r"\s*\[+\s*[A-Za-z]\w*\s*\]", row)] + [len(rows)]
    for number, each in enumerate(found):
        first = heads[number] if heads else 0
        last = next(end for end in ends if end > first) if heads else len(rows)
        own = [*[""] * first, *(["#"] if heads else []), *rows[first + bool(heads) : last]]
        yield Keys(keys.place, "\n".join(own), each, keys.refusals)


def _start(keys: Keys) -> Location:
    """The heading of an entry: the first line of its text."""
    first = next((number for number, row in enumerate(keys.text.splitlines(), 1) if row.strip()), 0)
    return Location(str(keys.place), first)


def _check_keys(keys: Keys, allowed: Sequence[str], table: str, heading: str = "") -> None:
    for key in keys.table(heading):
        if key not in allowed:
            shown = f"{table}.{key}" if table else key
            keys.refuse(InputRefused(f"unknown key '{shown}'", keys.where(key, heading), suggestion(key, [*allowed])))


def _needed(keys: Keys, table: str, *names: str) -> bool:
    """Whether a table has all of these keys; it is refused where it has not."""
    missing = [name for name in names if keys.data.get(name) in (None, "")]
    for name in missing:
        keys.refuse(InputRefused(f"this table has no '{name}'", _start(keys), f"write {name} = ... below [[{table}]]"))
    return not missing and all(keys.string("", name) for name in names)


class _Reader(Keys):
    """Reads the tables of one suite."""

    def suite(self) -> Suite:
        """The whole suite."""
        _check_keys(self, [*KEYS[""]], "")
        _check_keys(self, [*KEYS["limits"]], "limits", "limits")
        listed: dict[tuple[str, tuple[str, ...]], Model] = {}
        for model in (model for entry in _entries(self, "models") for model in self._models(entry)):
            listed.setdefault((model.shown, model.selection), model)
        models = _named_apart([*listed.values()])
        configurations = [each for entry in _entries(self, "configurations") for each in _configurations(entry)]
        for what, found in (("models", models), ("configurations", configurations)):
            if what not in self.data or (not found and not self.data[what]):
                self.refuse(
                    InputRefused(f"there are no {what}", Location(str(self.place)), f"write a table [[{what}]]")
                )
        self._distinct(configurations)
        suite = Suite(
            name=self.place.stem,
            title=self.string("", "title") or self.place.stem,
            folder=self.place.parent,
            seconds=self.number("limits", "seconds") or SECONDS,
            megabytes=self.whole("limits", "megabytes") or MEGABYTES,
            models=tuple(models),
            configurations=tuple(configurations),
            text=self.text,
        )
        self.refusals.refuse(by_place=True)
        return suite

    def _distinct(self, configurations: Sequence[Configuration]) -> None:
        times = Counter((each.name, each.seed) for each in configurations)
        for (name, _), number in times.items():
            if number > 1:
                text = f"two configurations are called '{name}'"
                self.refuse(InputRefused(text, self.where_is("name", name), "give each a name of its own"))

    def _models(self, entry: Keys) -> Iterator[Model]:
        """The models of one table: those in the file of rows in its order, then the others as they are listed."""
        _check_keys(entry, [*KEYS["models"]], "models")
        pins, sources = self._pins(entry), self._sources(entry)
        cover, goals = entry.strings("", "cover"), entry.strings("", "goals")
        selection = [word for text in cover for word in ("--cover", text)]
        selection += [word for text in goals for word in ("--goal", text)]
        order = [*pins]
        projects = self._projects(entry)
        projects.sort(key=lambda place: order.index(place) if place in pins else len(order))
        for place in projects:
            pin = pins.get(place)
            own = place.parent.name if place.name == PROJECT_FILE else place.stem
            yield Model(
                name=" ".join([pin.name if pin else own, *cover]),
                family=entry.string("", "family") or place.parent.name,
                project=place,
                shown=Path(os.path.relpath(place, self.place.parent.resolve())).as_posix(),
                selection=(*selection, *entry.strings("", "arguments")),
                pin=pin,
                sources=sources,
            )

    def _projects(self, entry: Keys) -> list[Path]:
        patterns = entry.strings("", "projects")
        if not entry.data.get("projects"):
            hint = "write projects = [...] below [[models]]"
            self.refuse(InputRefused("this table has no 'projects'", _start(entry), hint))
        found: dict[Path, None] = {}
        for pattern in patterns:
            hits = [hit for hit in _matching(self.place.parent, pattern) if _is_project(hit)]
            if not hits:
                text = f"no project file matches '{pattern}'"
                where = entry.where_is("projects", pattern)
                self.refuse(InputRefused(text, where, "patterns are relative to the folder of the suite"))
            for hit in hits:
                place = hit / PROJECT_FILE if hit.is_dir() else hit
                found[place.resolve()] = None
        return [*found]

    def _beside(self, entry: Keys, key: str, table: str) -> Keys | None:
        """The other file that ``key`` of ``entry`` names; None if it names none."""
        name = entry.string("", key)
        if not name:
            return None
        place = self.place.parent / name
        if not place.is_file():
            self.refuse(InputRefused(f"there is no file '{name}'", entry.where(key)))
            return None
        text = read_text(place, f"the file of {key}")
        keys = Keys(place, text, read_toml(text, Location(str(place))), self.refusals)
        _check_keys(keys, [table], "")
        return keys

    def _pins(self, entry: Keys) -> dict[Path, Pin]:
        """What the file of rows says, by project."""
        keys = self._beside(entry, "rows", "row")
        pins: dict[Path, Pin] = {}
        for row in _entries(keys, "row") if keys else ():
            _check_keys(row, [*KEYS["row"]], "row")
            if not _needed(row, "row", "name", "project"):
                continue
            figures = {name: row.whole("", name) for name in FIGURES}
            place = (row.place.parent / row.string("", "project")).resolve()
            pins[place] = Pin(
                row.string("", "name"),
                {name: figure for name, figure in figures.items() if figure is not None},
                row.strings("", "bits"),
                row.table("printed"),
            )
        return pins

    def _sources(self, entry: Keys) -> tuple[Source, ...]:
        keys = self._beside(entry, "sources", "source")
        found: list[Source] = []
        for each in _entries(keys, "source") if keys else ():
            _check_keys(each, [*KEYS["source"]], "source")
            if not _needed(each, "source", "file", "sha256", "obtain"):
                continue
            place = (each.place.parent / each.string("", "file")).resolve()
            found.append(Source(place, each.string("", "sha256").lower(), each.string("", "obtain")))
        return tuple(found)


def _matching(folder: Path, pattern: str) -> list[Path]:
    """The files and folders that ``pattern`` names, in the order of their names."""
    if not re.search(r"[*?\[]", pattern):
        return [folder / pattern]
    return sorted(Path(each) for each in glob.glob(str(folder / pattern), recursive=True))


def _is_project(place: Path) -> bool:
    if place.is_dir():
        return (place / PROJECT_FILE).exists()
    return place.suffix in (".toml", ".c") and place.is_file()


def _named_apart(models: Sequence[Model]) -> list[Model]:
    """``models``, those that have one name with their family before it, and with more of their selection."""
    longer: tuple[Callable[[Model], str], ...] = (
        lambda model: f"{model.family}/{model.name}",
        lambda model: f"{model.name} {' '.join(model.selection)}",
        lambda model: f"{model.name} ({model.shown})",
    )
    for name in longer:
        times = Counter(model.name for model in models)
        models = [replace(model, name=name(model)) if times[model.name] > 1 else model for model in models]
    return list(models)


def _configurations(entry: Keys) -> Iterator[Configuration]:
    """The configurations of one table: one for each choice of a value from every list; what is wrong is noted."""
    whole = _needed(entry, "configurations", "name", "tool")
    name, named = entry.string("", "name"), entry.string("", "tool")
    if not named:
        return
    if ":" not in named and named not in tools.TOOLS:
        where, hint = entry.where("tool"), suggestion(named, [*tools.TOOLS])
        entry.refuse(InputRefused(f"no tool is called '{named}'", where, hint))
        return
    try:
        tool = tools.find(named)
    except Exception as error:  # whatever a module of the user does
        text = f"the tool '{named}' cannot be loaded: {error or type(error).__name__}"
        entry.refuse(InputRefused(text, entry.where("tool"), "name it by module:Class, with its module on the path"))
        return
    allowed = [*KEYS["configurations"], *sorted(tool.settings)]
    _check_keys(entry, allowed, "configurations")
    given = [key for key in entry.data if key in allowed and key not in ("name", "tool", "seconds")]
    choices = {key: _values(entry, key) for key in given}
    for key, value in ((key, value) for key, values in choices.items() if key != "seed" for value in values):
        wrong = tool.refused(key, value) if hasattr(tool, "refused") else ""
        if wrong:
            shown = repr(value) if isinstance(value, str) else _told(value)
            entry.refuse(InputRefused(f"'{key}' cannot be {shown}: {wrong}", entry.where(key)))
    if not whole:
        return
    several = [key for key, values in choices.items() if len(values) > 1 and key != "seed"]
    for values in product(*choices.values()):
        settings = dict(zip(choices, values, strict=True))
        seed = settings.pop("seed", 0)
        if isinstance(seed, bool) or not isinstance(seed, int):
            entry.refuse(entry.wrong("seed", "a whole number, or a list of them"))
            return
        told = [f"{key}={_told(settings[key])}" for key in several]
        yield Configuration(" ".join([name, *told]), named, settings, seed, entry.number("", "seconds"))


def _values(entry: Keys, key: str) -> list[Value]:
    """The values of a setting; one that is no list stands for a list of one. None where they are refused."""
    given = entry.data[key]
    values = given if isinstance(given, list) else [given]
    if not values or not all(isinstance(value, str | int | float) for value in values):
        entry.refuse(entry.wrong(key, "a text, a number, true or false, or a list of these"))
        return []
    if len({_told(value) for value in values}) < len(values):
        entry.refuse(entry.wrong(key, "a list without repetitions"))
        return values[:1]
    return values


def _told(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
