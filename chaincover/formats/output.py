"""Writing result files whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from bmc.errors import ChainCoverError, Location


class CannotWrite(ChainCoverError):
    """A result cannot be written."""

    exit_code = 2


def prepare_folder(folder: str) -> Path:
    """Make sure that results can be written into ``folder``, before any work is done. CannotWrite if not."""
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        reason = error.strerror or "unknown reason"
        raise CannotWrite(f"cannot write results here: {reason}", Location(folder), "choose another -o DIR") from None
    return place


def write_text(place: Path, text: str) -> None:
    """Write a file by renaming a finished temporary one."""
    handle, temporary = -1, ""
    try:
        handle, temporary = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.chmod(temporary, 0o644)
        os.replace(temporary, place)
    except OSError as error:
        if temporary and os.path.exists(temporary):
            os.unlink(temporary)
        raise CannotWrite(f"cannot write: {error.strerror}", Location(str(place)), "choose another place") from None


def to_json(data: Any) -> str:
    """Data as indented JSON with a newline at its end; keys keep their order. ValueError for a NaN or an infinity."""
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
