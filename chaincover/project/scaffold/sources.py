"""Finding the C files of a controller and their headers, and what they declare."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import Any

from bmc import ending
from bmc.errors import InputRefused, Location
from bmc.limits import text_of
from bmc.models.c.controller.reading import SourceConfig
from bmc.models.c.source.headers import STANDARD_HEADERS, stand_in
from bmc.models.c.source.options import Dialect
from bmc.models.c.source.preprocess import Given, preprocess
from bmc.models.c.source.program import parse_file
from bmc.models.c.source.survey import Survey
from bmc.models.c.source.types import DATA_MODELS, DataModel
from bmc.records import dataclass
from bmc.stack import with_deep_stack
from bmc.system.original import FileOptions
from chaincover.project.compile_commands import Build, found_build
from chaincover.project.scaffold.facts import Facts, FileFacts, facts_of

MOST_FILES = 100
"""More C files than this are not read: a folder should hold one controller."""

_SKIPPED = re.compile(r"\..*|build|cmake-.*|html|tests?|unittests?", re.IGNORECASE)
_SAID = re.compile(r"build|tests?|unittests?", re.IGNORECASE)


@dataclass(frozen=True)
class Sources:
    """The C files that were found: with what they declare, and those that could not be read, with the reason.

    A file that cannot be read is among both where something of it can be guessed.
    ``include`` are folders of headers; ``missing`` are headers that are nowhere, ``stand_ins`` those that bundled ones
    stand in for; ``target`` are the word sizes that all files accept. ``chosen``: the user named the files;
    ``places``: what the user named.
    """

    facts: Facts
    unreadable: dict[str, InputRefused] = field(default_factory=dict)
    include: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    stand_ins: tuple[str, ...] = ()
    target: str = "lp64"
    chosen: bool = False
    skipped: tuple[str, ...] = ()
    defines: tuple[tuple[str, str], ...] = ()
    places: tuple[str, ...] = ()
    build: Build = Build()
    guesses: bool = False

    def config(self, name: str, files: Sequence[str], base: str, **more: object) -> SourceConfig:
        """A configuration that reads ``files``; ``base`` is the project file's folder."""
        return SourceConfig(
            name,
            tuple(files),
            (base, *self.include),
            self.defines,
            self.target,
            options={file: self.build.options[file] for file in files if file in self.build.options},
            dialect=self.build.dialect,
            **more,  # type: ignore[arg-type]
        )

    def headers_of(self, file: str) -> list[str]:
        """The headers that a file includes and that were found, in its order."""
        found = (find_header(name, file, self.include) for name in included(file))
        return [place for place in found if place is not None]


@dataclass(frozen=True)
class Wanted:
    """What the user says before anything is recognised: folders of headers, macros, the step's name."""

    include: tuple[str, ...] = ()
    defines: tuple[tuple[str, str], ...] = ()
    step: str = ""
    first: tuple[str, ...] = ()
    """Headers that are included first (-include)."""
    guesses: bool = False
    """Whether functions of which nothing tells what they do are guessed to deliver inputs."""


ANYTHING = Wanted()


def find_sources(places: Sequence[str], base: Path, wanted: Wanted = ANYTHING) -> Sources:
    """Read the C files that ``places`` (files, or folders with all below them) name; ``base``: the project's folder.

    InputRefused where there is no C file, or too many.
    """
    skipped: list[str] = []
    files = list(dict.fromkeys(file for place in places for file in _c_files(place, skipped)))
    if len(files) > MOST_FILES:
        hint = "name the folder of one controller, or its files"
        raise InputRefused(f"{len(files)} C files are too many to look through", Location(places[0]), hint)
    build, files = found_build(places, base, files)
    if wanted.first:
        build = build.including(files, wanted.first)
    own = tuple(dict.fromkeys(folder for options in build.options.values() for folder in options.include))
    include, missing, stand_ins = headers(files, places, (str(base), *wanted.include, *own))
    others = (each for each in include if not _same(each, base) and each not in own)
    include = tuple(dict.fromkeys((*wanted.include, *others)))
    folders = (str(base), *include)
    read: list[FileFacts] = []
    hopeless: set[str] = set()
    unreadable: dict[str, InputRefused] = {}
    target = build.dialect.target
    for file in files:
        try:
            given = Given.of(build.options.get(file, FileOptions()), folders, wanted.defines, False)
            facts, problem, needs = _file_facts(file, given, target or "lp64", build.dialect, hopeless)
        except KeyboardInterrupt:
            late = [each for each in files if each not in {one.file for one in read} | set(unreadable)]
            unreadable.update({each: ended_early(Location(each)) for each in late})
            break
        if problem is not None:
            unreadable[file] = problem
        else:
            target = needs if needs != "lp64" else target
        if facts is not None:
            read.append(facts)
    chosen = all(not os.path.isdir(place) for place in places)
    return Sources(
        Facts(tuple(read)),
        unreadable,
        include,
        missing,
        stand_ins,
        target or "lp64",
        chosen,
        tuple(skipped),
        wanted.defines,
        tuple(places),
        build,
        wanted.guesses,
    )


def ended_early(where: Location | None = None) -> InputRefused:
    """That something was not read to its end, as the run was called off."""
    place = ending.reading()
    text = f"not read to the end: {ending.called_off()}{f' while {place}' if place and where is None else ''}"
    return InputRefused(text, where, "allow more time (--time-limit), or name fewer files")


def _same(folder: str, base: Path) -> bool:
    return os.path.relpath(folder, base) == "."


def _c_files(place: str, skipped: list[str]) -> Iterator[str]:
    path = Path(place)
    if not os.path.isdir(place):
        if path.suffix != ".c" or not os.path.exists(place):
            raise InputRefused("no such C file", Location(place), "name an existing .c file, or a folder with C files")
        yield place
        return
    found = False
    for folder, inner, names in os.walk(path):
        for name in sorted(n for n in inner if _SKIPPED.fullmatch(n)):
            inner.remove(name)
            if _SAID.fullmatch(name):
                skipped.append(os.path.join(folder, name))
        inner.sort()
        for name in sorted(n for n in names if n.endswith(".c")):
            found = True
            yield os.path.normpath(os.path.join(folder, name))
    if not found:
        raise InputRefused("there is no C file in this folder", Location(place), "name C files, or their folder")


_HEAD = re.compile(r"^\w[^;{}()#=]*?\b(\w+)\s*\([^;{}]*\)\s*\{", re.M)


def functions_in(file: str) -> list[str]:
    """The names of the functions that a file seems to define, by its text alone; none where it cannot be read."""
    try:
        return _HEAD.findall(text_of(file, "replace"))
    except (OSError, InputRefused):
        return []


def trees_of(sources: Sources, base: Path) -> dict[str, Any]:
    """The syntax trees of all files, by these, as far as they can be parsed."""
    model = sources.build.dialect.model(sources.target)
    trees = {}
    for file in dict.fromkeys((*(facts.file for facts in sources.facts.files), *sources.unreadable)):
        own = sources.build.options.get(file, FileOptions())
        given = Given.of(own, (str(base), *sources.include), sources.defines, True)
        with suppress(InputRefused):
            trees[file] = with_deep_stack(lambda: parse_file(file, given, model, Survey())[1])  # noqa: B023
    return trees


def _file_facts(
    file: str,
    given: Given,
    first: str,
    dialect: Dialect,
    hopeless: set[str],
) -> tuple[FileFacts | None, InputRefused | None, str]:
    """What a file declares, why it cannot be read (None where it can), and the word sizes that it accepts: ``first``,
    or else the first ones that pass its checks by ``#error``.

    Of a file that cannot be read there is what can be guessed of it; None where that is nothing. ``hopeless`` are
    refusals by ``#error`` that no word sizes pass, those of this file among them afterwards.
    """
    facts, survey = _surveyed(file, given, dialect.model(first))
    if not survey.errors:
        return facts, None, first
    problem = survey.errors[0]
    if problem.message.startswith("#error") and str(problem) not in hopeless:
        for name in DATA_MODELS:
            other = Survey()
            with other.gathered():
                preprocess(file, given, dialect.model(name), other)
            if not other.errors:
                again, survey = _surveyed(file, given, dialect.model(name))
                if not survey.errors:
                    return again, None, name
        hopeless.add(str(problem))
    return (facts if facts is not None and (facts.functions or facts.objects) else None), problem, first


def _surveyed(file: str, given: Given, model: DataModel) -> tuple[FileFacts | None, Survey]:
    """What can be read or guessed of a file, and what cannot be read."""
    survey, facts = Survey(), None
    with survey.gathered():
        facts = _parsed(file, given, model, survey)
    return facts, survey


def _parsed(file: str, given: Given, model: DataModel, survey: Survey) -> FileFacts:
    """What a file declares; what cannot be read is noted in ``survey``, and the rest is guessed."""
    return with_deep_stack(lambda: facts_of(file, parse_file(file, given, model, survey)[1]))


_HEADER_FOLDERS = re.compile(r"inc(lude)?s?|headers?|h|types|shared|.*_headerfiles|src", re.IGNORECASE)
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"\n]+)[>\"]", re.M)


def headers(
    files: Sequence[str], places: Sequence[str], known_folders: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Further folders of the headers that ``files`` need; headers that are nowhere; those with a bundled stand-in."""
    known = _header_index(places)
    folders: dict[str, None] = {}
    missing: dict[str, None] = {}
    bundled: dict[str, None] = {}
    todo = list(files)
    seen = set(todo)
    for file in todo:
        for name in included(file):
            found = find_header(name, file, [*known_folders, *folders])
            if found is None and (index := _candidates(name, known, file)):
                found = index[0]
                folders[found.removesuffix(os.path.normpath(name)).rstrip("/") or "."] = None
            if found is not None and found not in seen:
                seen.add(found)
                todo.append(found)
            elif found is None and not (STANDARD_HEADERS / name).exists():
                (bundled if _has_stand_in(name) else missing)[name] = None
    return tuple(folders), tuple(missing), tuple(bundled)


def find_header(name: str, file: str, folders: Sequence[str]) -> str | None:
    """A header beside the file that includes it, or in one of ``folders``."""
    for folder in (os.path.dirname(file), *folders):
        place = os.path.normpath(os.path.join(folder, name))
        if os.path.isfile(place):
            return place
    return None


def _candidates(name: str, known: Sequence[str], file: str) -> list[str]:
    tail = os.path.normpath(name)
    found = [place for place in known if place == tail or place.endswith("/" + tail)]
    return sorted(found, key=lambda place: (len(os.path.relpath(place, os.path.dirname(file)).split("/")), place))


def _header_index(places: Sequence[str]) -> list[str]:
    """All headers below the given folders, and in folders for headers in and beside those of given files."""
    roots: dict[str, None] = {}
    for place in places:
        here = place if os.path.isdir(place) else os.path.dirname(place) or "."
        if here == place:
            roots[place] = None
        for folder in (here, os.path.join(here, os.pardir)):
            names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
            inner = [os.path.join(folder, n) for n in names if _HEADER_FOLDERS.fullmatch(n)]
            roots.update(dict.fromkeys(os.path.normpath(f) for f in inner if os.path.isdir(f)))
    found = []
    for root in roots:
        for folder, inner, names in os.walk(root):
            inner[:] = sorted(n for n in inner if not n.startswith("."))
            found += [os.path.normpath(os.path.join(folder, name)) for name in sorted(names) if name.endswith(".h")]
    return found


def _has_stand_in(name: str) -> bool:
    try:
        stand_in(name)
    except OSError:
        return False
    return True


def included(file: str) -> list[str]:
    """The headers that a file names, in its order; none where it cannot be read."""
    try:
        return _INCLUDE.findall(text_of(file, "replace"))
    except (OSError, InputRefused):
        return []
