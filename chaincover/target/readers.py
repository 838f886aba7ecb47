"""Recordings by the ending of their files: one reader a format."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from bmc.errors import InputRefused, Location
from chaincover.target.recording import Recording
from chaincover.target.table import Layout

READERS = {
    ".csv": "chaincover.target.table:read_table",
    ".vcd": "chaincover.target.vcd:read_vcd",
    ".jsonl": "chaincover.target.log:read_log",
}
"""Where the reader of each format is, ``module:function``, by the ending of its files."""


def read_recording(path: str, layout: Layout) -> Recording:
    """The recording in a file. InputRefused, with its place, if it cannot be read."""
    module, _, function = READERS.get(Path(path).suffix.lower(), "").partition(":")
    if not module:
        raise InputRefused("this is no recording", Location(path), f"its name must end in {', '.join(READERS)}")
    found = getattr(import_module(module), function)(path, layout)
    assert isinstance(found, Recording)
    return found
