"""Finding the C files of a controller, the folders of their headers, and what each file declares."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bmc.c.source.config import SourceConfig
from bmc.c.source.preprocess import STANDARD_HEADERS, stand_in
from bmc.c.source.program import parse_file, with_deep_stack
from bmc.c.source.types import DATA_MODELS
from bmc.errors import ChainCoverError, InputRefused, Location
from chaincover.project.scaffold.facts import Facts, FileFacts, facts_of

MOST_FILES = 100
"""More C files than this are not read: a folder should hold one controller."""

_SKIPPED = re.compile(r"\..*|build|cmake-.*|html|tests?|unittests?", re.IGNORECASE)
_SAID = re.compile(r"build|tests?|unittests?", re.IGNORECASE)
_HEADER_FOLDERS = re.compile(r"inc(lude)?s?|headers?|h|types|shared|.*_headerfiles|src", re.IGNORECASE)
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"\n]+)[>\"]", re.M)


@dataclass(frozen=True)
class Sources:
    """The C files that were found: read ones with what they declare, and those that could not be read, with the reason.

    ``include`` are folders of headers; ``missing`` are headers that are nowhere, ``stand_ins`` those that bundled ones
    stand in for; ``target`` are the word sizes that all files accept. ``chosen``: the user named the files.
    """

    facts: Facts
    unreadable: dict[str, str] = field(default_factory=dict)
    include: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    stand_ins: tuple[str, ...] = ()
    target: str = "lp64"
    chosen: bool = False
    skipped: tuple[str, ...] = ()

    def config(self, name: str, files: Sequence[str], base: str, **more: object) -> SourceConfig:
        """A configuration that reads ``files``; ``base`` is the project file's folder."""
        return SourceConfig(name, tuple(files), (base, *self.include), target=self.target, **more)  # type: ignore[arg-type]


def find_sources(places: Sequence[str], base: Path) -> Sources:
    """Read the C files that ``places`` (files, or folders with all below them) name; ``base``: the project's folder.

    InputRefused where there is no C file, or too many.
    """
    skipped: list[str] = []
    files = list(dict.fromkeys(file for place in places for file in _c_files(place, skipped)))
    if len(files) > MOST_FILES:
        hint = "name the folder of one controller, or its files"
        raise InputRefused(f"{len(files)} C files are too many to look through", Location(places[0]), hint)
    include, missing, stand_ins = _headers(files, places, base)
    wanted = (str(base), *include)
    read: list[FileFacts] = []
    unreadable: dict[str, str] = {}
    target = ""
    for file in files:
        facts, problem, needs = _read(file, wanted, target or "lp64")
        if facts is None:
            unreadable[file] = problem
        else:
            read.append(facts)
            target = needs if needs != "lp64" else target
    chosen = all(not Path(place).is_dir() for place in places)
    return Sources(
        Facts(tuple(read)), unreadable, include, missing, stand_ins, target or "lp64", chosen, tuple(skipped)
    )


def _c_files(place: str, skipped: list[str]) -> Iterator[str]:
    path = Path(place)
    if not path.is_dir():
        if path.suffix != ".c" or not path.exists():
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


def _read(file: str, include: Sequence[str], target: str) -> tuple[FileFacts | None, str, str]:
    """What a file declares, or why it cannot be read; and the first word sizes, ``target`` first, that it accepts."""
    problem = ""
    for name in dict.fromkeys([target, *DATA_MODELS]):
        try:
            return _parsed(file, include, name), "", name
        except ChainCoverError as error:
            problem = problem or str(error)
            if "#error" not in error.message:
                break
    return None, problem, target


def _parsed(file: str, include: Sequence[str], target: str) -> FileFacts:
    return with_deep_stack(lambda: facts_of(file, parse_file(file, include, (), DATA_MODELS[target])[1]))


def _headers(
    files: Sequence[str], places: Sequence[str], base: Path
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Folders of the headers that ``files`` need; headers that are nowhere; those with a bundled stand-in."""
    known = _header_index(places)
    folders: dict[str, None] = {}
    missing: dict[str, None] = {}
    bundled: dict[str, None] = {}
    todo = list(files)
    seen = set(todo)
    for file in todo:
        for name in _INCLUDE.findall(_text(file)):
            found = _find(name, file, [str(base), *folders])
            if found is None and (index := _candidates(name, known, file)):
                found = index[0]
                folders[found.removesuffix(os.path.normpath(name)).rstrip("/") or "."] = None
            if found is not None and found not in seen:
                seen.add(found)
                todo.append(found)
            elif found is None and not (STANDARD_HEADERS / name).exists():
                (bundled if _has_stand_in(name) else missing)[name] = None
    include = tuple(folder for folder in folders if os.path.relpath(folder, base) != ".")
    return include, tuple(missing), tuple(bundled)


def _find(name: str, file: str, folders: Sequence[str]) -> str | None:
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


def _text(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
