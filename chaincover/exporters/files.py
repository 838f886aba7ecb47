"""The files of questions, and the index that says what is in them and what was left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bmc.records import dataclass
from chaincover.exporters.claims import Claim, LeftOut
from chaincover.exporters.protocol import Exporter, Question
from chaincover.formats.output import to_json, write_texts

SCHEMA = "chaincover/export/1"
INDEX = "index.json"
LONGEST = 80
"""Characters of a file's name that come from a claim."""

Progress = Callable[[str], None]


def write_question(place: Path, head: dict[str, Any], question: Question, content: bytes) -> dict[str, Any]:
    """Write a question as ``content`` to ``place``, and return its index, which begins with ``head``.

    CannotWrite if that fails.
    """
    write_texts({place: [content]})
    return {"schema": SCHEMA, **head, "questions": [_entry(place.name, question)], "left_out": []}


@dataclass(frozen=True)
class Written:
    """A question as its file has it."""

    entry: dict[str, Any]
    content: bytes


def written(claims: Iterable[Claim], exporter: Exporter, progress: Progress) -> Iterator[Written | LeftOut]:
    """Each of ``claims`` with the content of its file; what is left out as it is. ``progress`` is told each name."""
    number = 0
    for claim in claims:
        if isinstance(claim, LeftOut):
            yield claim
            continue
        number += 1
        name = f"{number:04}-{_name(claim)}.{claim.bound}{exporter.suffix}"
        progress(name)
        yield Written(_entry(name, claim), exporter.write(claim))


def write_claims(folder: Path, head: dict[str, Any], found: Sequence[Written | LeftOut]) -> dict[str, Any]:
    """Write what is ``found`` of claims into ``folder``, and return their index, which begins with ``head``.

    All files are finished before the first is put in its place. CannotWrite if that fails.
    """
    files = [each for each in found if isinstance(each, Written)]
    left_out = [asdict(each) for each in found if isinstance(each, LeftOut)]
    index = {"schema": SCHEMA, **head, "questions": [each.entry for each in files], "left_out": left_out}
    texts: dict[Path, str | list[bytes]] = {folder / each.entry["file"]: [each.content] for each in files}
    write_texts({**texts, folder / INDEX: to_json(index)})
    return index


def _entry(name: str, question: Question) -> dict[str, Any]:
    statement, frames = question.statement, question.frames
    bound = "ever" if frames is None else frames
    return {"file": name, "kind": statement.kind, "text": statement.text, "frames": bound}


def _name(question: Question) -> str:
    """What the question is about, in characters that every file system has."""
    statement = question.statement
    return re.sub(r"[^A-Za-z0-9_.]+", "-", f"{statement.kind}-{statement.title}")[:LONGEST].strip("-.")
