"""Where the headers are that C files include: found beside them and below the folders that are named."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from bmc.errors import InputRefused
from bmc.limits import text_of
from bmc.models.c.source.headers import STANDARD_HEADERS, stand_in

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
