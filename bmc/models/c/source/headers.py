"""Headers: those of the standard library and the stand-ins for vendors' that come with the project, and where others
may be."""

from __future__ import annotations

import itertools
import os
import re
from pathlib import Path

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
