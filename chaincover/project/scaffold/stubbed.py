"""Proposals for programs that lack headers, types or functions, with stubs for these."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bmc import ending
from bmc.errors import InputRefused
from bmc.models.c.source.survey import apart
from chaincover.project.scaffold.sources import Wanted, find_sources, trees_of
from chaincover.project.scaffold.stubs import COMMON, Stubs, missing_of
from chaincover.project.scaffold.text import Scaffold, propose


def propose_with_stubs(
    places: Sequence[str], folder: Path, wanted: Wanted, stubs: Path, write: Callable[[Path, str], object]
) -> tuple[Scaffold, tuple[str, ...]]:
    """A proposal as ``propose`` makes one, with the stubs that it needs in the folder ``stubs``, and their paths.

    ``write`` writes a text to a file. Files that are there are used and stay as they are. What is missing shows piece
    by piece: behind a header that is not found are types, behind these members and functions.
    """
    present = _present(stubs)
    wanted = replace(wanted, guesses=True)
    if present:
        wanted = _with(wanted, stubs, present, {})
    made = Stubs(trees_of(find_sources(places, folder, wanted), folder), present)
    with tempfile.TemporaryDirectory() as scratch:
        plain = scaffold = _proposed(places, folder, wanted)
        while (
            not ending.called_off()
            and (reading := scaffold.reading) is not None
            and made.add(missing_of(reading.errors), reading.files)
        ):
            texts = made.texts()
            _write(Path(scratch), texts, Path.write_text)
            bodies = [str(Path(scratch) / name) for name in texts if name.endswith(".c")]
            scaffold = _proposed([*places, *bodies], folder, _with(wanted, Path(scratch), (), texts))
    texts = {name: text for name, text in made.texts().items() if name not in present}
    if not texts or ending.called_off():
        return plain, ()
    _write(stubs, texts, write)
    written = tuple(str(stubs / name) for name in texts)
    bodies = [path for path in written if path.endswith(".c")]
    return _proposed([*places, *bodies], folder, _with(wanted, stubs, present, texts)), written


def _proposed(places: Sequence[str], folder: Path, wanted: Wanted) -> Scaffold:
    """A proposal with symbols of its own: with other stubs a variable may have another type."""
    with apart():
        return propose(places, folder, wanted)


def _present(stubs: Path) -> list[str]:
    """The files in the folder of stubs, by their paths in it; InputRefused where it is none."""
    if stubs.exists() and not stubs.is_dir():
        raise InputRefused(f"{stubs} is no folder", None, "name a new folder for the stubs, or one that has some")
    found = [os.path.join(root, name) for root, _, names in os.walk(stubs) for name in sorted(names)]
    return [os.path.relpath(path, stubs) for path in found]


def _with(wanted: Wanted, stubs: Path, present: Sequence[str], texts: Mapping[str, str]) -> Wanted:
    """``wanted`` with the stubs in a folder: headers are found there; where there are none, the stubs come first."""
    names = [*present, *texts]
    headers = [name for name in names if name.endswith(".h")]
    common = [name for name in headers if name.startswith(COMMON.removesuffix(".h"))]
    first = tuple(str(stubs / name) for name in common if len(common) == len(headers))
    include = (*wanted.include, *([str(stubs)] if str(stubs) not in wanted.include else []))
    return replace(wanted, include=include, first=tuple(dict.fromkeys((*wanted.first, *first))))


def _write(folder: Path, texts: Mapping[str, str], write: Callable[[Path, str], object]) -> None:
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write(folder / name, text)
