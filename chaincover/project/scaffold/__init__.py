"""``chaincover init``: a commented project file for C sources, filled with what was found in them, and why."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from chaincover.project.scaffold.reading import Reading, find_sources, try_proposal
from chaincover.project.scaffold.recognisers import proposals
from chaincover.project.scaffold.text import project_text, summary

__all__ = ["propose", "read_proposal"]


def propose(places: Sequence[str], folder: Path) -> tuple[str, str]:
    """A project file for C files and folders, to be kept in ``folder``, and one line on what was found.

    InputRefused where there is no C file.
    """
    text, reading = read_proposal(places, folder)
    return text, summary(reading)


def read_proposal(places: Sequence[str], folder: Path) -> tuple[str, Reading | None]:
    """The project file, and what was recognised (None: no function looks like a step)."""
    sources = find_sources(places, folder)
    found = proposals(sources.facts)
    reading = try_proposal(sources, found[0], folder) if found else None
    first = Path(places[0])
    name = first.resolve().name if first.is_dir() else first.stem
    return project_text(name, sources, reading, found[1:], folder), reading
