"""What a baseline found, as the file ``outcome.json``: written by its command, read by its tool."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from benchmarks.bench.tools.protocol import CRASHED, TIME_OUT, Outcome

FILE = "outcome.json"
_NAMES = frozenset(each.name for each in fields(Outcome))


def write(outcome: Outcome, folder: Path) -> None:
    """Write ``outcome`` into ``folder``, in one piece: who reads it meanwhile sees the one before."""
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / f"{FILE}.part"
    place.write_text(json.dumps(asdict(outcome), indent=1, sort_keys=True) + "\n", encoding="utf-8")
    os.replace(place, folder / FILE)


def read(folder: Path, code: int) -> tuple[Outcome, ...]:
    """The outcome in ``folder``, after the process ended with ``code``.

    Where there is none the process has crashed. One that was killed after it had written its outcome has run out of
    time.
    """
    try:
        data = json.loads((folder / FILE).read_text(encoding="utf-8"))
        outcome = _outcome(data)
    except (OSError, ValueError, TypeError):
        return (Outcome(CRASHED),)
    if code < 0:
        note = "; ".join(filter(None, (outcome.note, "it was ended from outside")))
        return (Outcome(**{**asdict(outcome), "status": TIME_OUT, "note": note}),)
    return (outcome,)


def _outcome(data: Mapping[str, Any]) -> Outcome:
    """The record of a document. TypeError or ValueError if it is none."""
    if not isinstance(data, dict) or not data.keys() <= _NAMES:
        raise ValueError("no outcome of a baseline")
    return Outcome(**{**data, "files": tuple(data.get("files", ()))})
