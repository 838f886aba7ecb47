"""Headers: those of the standard library and the stand-ins for vendors' that come with the project, and where others
may be."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Sequence
from pathlib import Path

from bmc.errors import Location
from bmc.limits import INCLUDED
from bmc.models.c.source.kept import Seen
from bmc.records import dataclass

STANDARD_HEADERS = Path(__file__).parent / "include"
VENDOR_STAND_INS = Path(__file__).parent / "stand_ins"
UNCONFIRMED = "chaincover stub, unconfirmed"
"""Stands in a file that was guessed, as long as nobody has confirmed it."""
STUB = re.compile(r"chaincover stub, (un)?confirmed\b")
"""What stands in a file that was guessed, whether it is confirmed or not."""

GENERIC_STAND_INS = {r"\w*_?MemMap\.h": "MemMap.h", r"Rte_\w+\.h": "Rte_Component.h"}
"""Headers whose names hold that of a component (regular expressions), and the stand-ins for them."""


def stand_in(name: str) -> Path:
    """The bundled stand-in for the vendor header ``name``; FileNotFoundError if there is none."""
    place = VENDOR_STAND_INS / name
    if not place.exists():
        generic = next((file for pattern, file in GENERIC_STAND_INS.items() if re.fullmatch(pattern, name)), None)
        if generic is None:
            raise FileNotFoundError(name)
        place = VENDOR_STAND_INS / generic
    return place


def is_stub(path: str) -> bool:
    """Whether a file was guessed by ``chaincover init``."""
    if not os.path.isfile(path):  # a device may never end
        return False
    try:
        with open(path, "rb") as file:
            return STUB.search(file.readline(2 * len(UNCONFIRMED)).decode("utf-8", "replace")) is not None
    except OSError:
        return False


def shown(path: str) -> str:
    """How messages name a file: as it is given, but from the current folder on where its whole path is given."""
    if not os.path.isabs(path):
        return os.path.normpath(path)
    whole, here = os.path.abspath(path), os.path.join(os.path.abspath(""), "")
    return whole[len(here) :] if whole.startswith(here) else whole


def folder_with(header: str, folder: str) -> str:
    """A folder near ``folder`` from which an include path finds ``header``; '' if none of a few hundred does."""
    top = os.path.dirname(os.path.abspath(folder)) or os.sep
    for start in dict.fromkeys((os.path.abspath(folder), top)):
        for root, folders, _ in itertools.islice(os.walk(start), 500):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            if os.path.isfile(os.path.join(root, header)):
                return os.path.relpath(root)
    return ""


@dataclass(frozen=True, slots=True)
class Header:
    """A header that was found: its ``path``, what compilers see of it, and the number of its folder in the include
    path, -1 for that of the file that includes it."""

    path: str
    seen: str
    folder: int


class Headers:
    """The headers of one source file: where they are looked for, and what its reader says of those that were read.

    ``last`` are the folders behind the bundled ones.
    """

    def __init__(self, include: Sequence[str], last: Sequence[str]) -> None:
        self.path = [*include, str(STANDARD_HEADERS), str(VENDOR_STAND_INS), *last]
        self.first_last = len(self.path) - len(last)
        self.seen = Seen()
        self.included = 0
        self.once: set[str] = set()
        """The real paths of those that are read once only."""
        self.last_folders: dict[str, None] = {}
        """The last folders from which some were read."""
        self.stand_ins: dict[str, str] = {}
        """The paths of the bundled stand-ins that were read, by the names in the #include."""
        self.stubs: dict[str, bool] = {}
        """Whether the user has confirmed a file that was guessed, by the name that messages give it."""

    def find(self, name: str, beside: tuple[str, str] | None, after: int, where: Location) -> Header | None:
        """A header ``beside`` the file that includes it (its folder, and that as compilers see it), or else in the
        folders of the include path after that with the number ``after``; None where it is in none of them."""
        self.included += 1
        INCLUDED.check(self.included, where)
        own = [(-1, *beside)] if beside is not None else []
        for number, folder, seen in [*own, *((n, each, each) for n, each in enumerate(self.path) if n > after)]:
            path = os.path.join(folder, name)
            if folder == str(VENDOR_STAND_INS):
                try:
                    path = str(stand_in(name))
                except FileNotFoundError:
                    continue
                self.stand_ins[name] = path
            elif not self.seen.finds(path):
                continue
            if number >= self.first_last:
                self.last_folders[folder] = None
            base = os.path.abspath(seen) if number >= 0 else seen
            return Header(path, os.path.join(base, name), number)
        return None

    def text(self, path: str, name: str) -> str:
        """The text of a file; raises as ``text_of``."""
        text = self.seen.text(path)
        if "chaincover stub" in text and (marks := STUB.findall(text)):
            self.stubs[name] = not any(marks)
        return text
