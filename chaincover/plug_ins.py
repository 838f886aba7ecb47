"""What other packages add to ChainCover through groups of entry points, found without loading it."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator


def entry_points(group: str) -> dict[str, str]:
    """Where what other packages add to ``group`` is, ``module:attribute`` by name.

    Their files are looked for as in ``bmc.engines.installed``: ``importlib.metadata`` takes as long as all of help.
    """
    found: dict[str, str] = {}
    for folder in sys.path:
        for entry in sorted(os.listdir(folder or ".")) if os.path.isdir(folder or ".") else ():
            if entry.endswith((".dist-info", ".egg-info")):
                for name, place in _of_file(os.path.join(folder, entry, "entry_points.txt"), group):
                    found.setdefault(name, place)
    return dict(sorted(found.items()))


def _of_file(file: str, group: str) -> Iterator[tuple[str, str]]:
    """The entry points of ``group`` in a file, which may not be there."""
    section = ""
    with contextlib.suppress(OSError, UnicodeDecodeError), open(file, encoding="utf-8") as lines:
        for line in map(str.strip, lines):
            if line.startswith("["):
                section = line.strip("[]").strip()
            elif section == group and "=" in line:
                name, _, place = line.partition("=")
                yield name.strip(), place.strip()
