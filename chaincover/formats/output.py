"""Writing result files whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from json.encoder import encode_basestring
from math import isfinite
from pathlib import Path
from typing import Any

from bmc import ending
from bmc.ending import ExitCode
from bmc.errors import ChainCoverError, Location


class CannotWrite(ChainCoverError):
    """A result cannot be written, for example because the disk is full; what was there before is still there."""

    exit_code = ExitCode.NOT_WRITTEN


class NoFolder(CannotWrite):
    """Results cannot be written into the folder that was named."""

    exit_code = ExitCode.USAGE


def prepare_folder(folder: str) -> Path:
    """Make sure that results can be written into ``folder``, before any work is done. NoFolder if not."""
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        reason = error.strerror or "unknown reason"
        raise NoFolder(f"cannot write results here: {reason}", Location(folder), "choose another -o DIR") from None
    return place


def write_text(place: Path, text: str) -> None:
    """Write a file by renaming a finished temporary one. CannotWrite, with the old file as it was, if that fails.

    A link keeps being one, and a device or a pipe is written to: it cannot be replaced.
    """
    write_texts({place: text})


def write_texts(texts: Mapping[Path, str | Iterable[str | bytes]]) -> None:
    """Write files that belong together: all are finished before the first is renamed. Otherwise as ``write_text``.

    A long text may come in parts, which are made while they are written; parts may be bytes.
    """
    temporary: dict[str, Path] = {}
    place = Path()
    try:
        for place, text in texts.items():
            real = Path(os.path.realpath(place))
            if os.path.exists(real) and not os.path.isfile(real):
                handle = os.open(real, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe needs a reader
            else:
                handle, name = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name[:99]}.")
                temporary[name] = real
                os.chmod(name, 0o644)
            with os.fdopen(handle, "wb") as file:
                parts = [text] if isinstance(text, str) else text
                file.writelines(part.encode() if isinstance(part, str) else part for part in parts)
        with ending.whole():
            for name in list(temporary):
                os.replace(name, temporary[name])
                del temporary[name]
    except OSError as error:
        reason = error.strerror or "unknown reason"
        raise CannotWrite(
            f"cannot write: {reason}", Location(str(place)), "make room, or choose another place"
        ) from None
    finally:
        for name in temporary:  # also where an interrupt came between
            with suppress(OSError):
                os.unlink(name)


def to_json(data: Any) -> str:
    """Data as indented JSON with a newline at its end; keys keep their order. ValueError for a NaN or an infinity."""
    return "".join(json_parts(data))


def json_parts(data: Any) -> Iterator[str]:
    """The text of ``to_json`` in parts: of a list an item each, so that a long one is never in memory as a whole.

    Each item of a sequence that is neither a list nor a tuple stands on a line of its own.
    """
    yield from _parts(data, "\n")
    yield "\n"


_plain = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def _parts(data: Any, line: str) -> Iterator[str]:
    """The parts of ``_text``."""
    inner = line + "  "
    if isinstance(data, dict) and data:
        before = "{"
        for key, value in data.items():
            yield f"{before}{inner}{encode_basestring(key)}: "
            yield from _parts(value, inner)
            before = ","
        yield f"{line}}}"
    elif _is_list(data) and data:
        before, text = "[", _text if isinstance(data, list | tuple) else _in_a_line
        for value in data:
            yield f"{before}{inner}{text(value, inner)}"
            before = ","
        yield f"{line}]"
    else:
        yield _text(data, line)


def _in_a_line(data: Any, line: str) -> str:
    """``data``, an item of a list whose items are made while it is written, without line breaks: there may be very many
    of them."""
    return _plain(data)


def _is_list(data: Any) -> bool:
    """Whether ``data`` is a sequence, and no text."""
    return isinstance(data, list | tuple) or (isinstance(data, Sequence) and not isinstance(data, str))


def _text(data: Any, line: str) -> str:
    """``data`` as ``json.dumps`` indents it, which takes twice as long; ``line`` ends a line and indents."""
    kind = type(data)
    if kind is int:
        return str(data)
    if kind is str:
        return encode_basestring(data)
    if kind is float and isfinite(data):
        return repr(data)
    if isinstance(data, dict) and data:
        inner = line + "  "
        parts = [f"{encode_basestring(key)}: {_text(value, inner)}" for key, value in data.items()]
        return f"{{{inner}{f',{inner}'.join(parts)}{line}}}"
    if _is_list(data):
        if not data:
            return "[]"
        inner = line + "  "
        return f"[{inner}{f',{inner}'.join([_text(value, inner) for value in data])}{line}]"
    return _plain(data)
