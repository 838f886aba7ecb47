"""What ``original`` hands to ``worker``, the process that calls the compiled program.

The worker gets plain tuples of the same items, for the import of these classes would take longer than a usual run.
"""

from __future__ import annotations

import marshal
from typing import Any, BinaryIO, NamedTuple

Layout = tuple[tuple[int, int, int, int], ...]
"""Contiguous pieces of memory: (index of the object, offset, size in bytes, the bits that are written, 0 for all)."""

Patch = tuple[int, bytes]
"""Bytes to write: (index of the layout, the bytes of its pieces one after the other)."""


class Storage(NamedTuple):
    """One object of ``size`` bytes: at ``address`` in the library's file, or of an exported ``symbol``, or ours.

    ``fixed``: the address is that in memory.
    """

    size: int
    address: int | None = None
    symbol: str = ""
    fixed: bool = False


class ActualArgument(NamedTuple):
    """``kind`` as in ``original.Argument``; ``code`` is its type's code in ``struct`` ('' for an address)."""

    kind: str
    code: str = ""
    object: int = 0
    offset: int = 0
    constant: int | float = 0


class ActualCall(NamedTuple):
    """A call of the function at ``address`` (None: exported as ``function``); ``result`` is an object's index or -1."""

    function: str
    address: int | None
    arguments: tuple[ActualArgument, ...]
    result: int = -1
    result_code: str = ""


class ActualPointer(NamedTuple):
    """A pointer at ``offset`` in an object; the object ``number`` holds which of ``pointees`` it points to.

    These are (index of the object, offset), (None, address of a function) or, for NULL, None.
    """

    object: int
    offset: int
    number: int
    pointees: tuple[tuple[int | None, int] | None, ...]


class Image(NamedTuple):
    """A compiled program and its calls.

    ``anchor`` is (symbol, address in the library's file) of an exported function, None where there are no addresses.
    ``writable`` are (address, size) of the library's memory that steps may change. ``links`` are pointers that are set
    before init: (index of the object that holds it, offset, index of the object that it points to).
    """

    library: str
    anchor: tuple[str, int] | None
    objects: tuple[Storage, ...]
    writable: tuple[tuple[int, int], ...]
    init: tuple[ActualCall, ...]
    step: ActualCall
    links: tuple[tuple[int, int, int], ...] = ()
    pointers: tuple[ActualPointer, ...] = ()


class Work(NamedTuple):
    """What to run: ``start`` is written after init; each item of ``steps`` is one step and what is written before it.

    ``restored`` has a byte for each step: 1 where it starts from the image of memory right after init, else 0.
    ``dumps``: after how many steps the program, built for that (``bmc.native.coverage``), writes its counters, at most
    ``dump_size`` bytes each time.
    """

    start: tuple[Patch, ...]
    steps: tuple[tuple[Patch, ...], ...]
    restored: bytes
    dumps: tuple[int, ...] = ()
    dump_size: int = 0


class Job(NamedTuple):
    """All that the worker needs to know; ``time_limit`` in seconds."""

    image: Image
    work: Work
    reads: Layout
    layouts: tuple[Layout, ...]
    time_limit: float


def write(job: Job, file: BinaryIO) -> None:
    """Write ``job`` as the worker reads it."""
    plain: Any = (_plain(job.image), tuple(job.work), job.reads, job.layouts, job.time_limit)
    marshal.dump(plain, file)  # patches, of which there may be very many, are plain tuples


def _plain(value: Any) -> Any:
    """``value``, with plain tuples in place of named ones."""
    return tuple(_plain(item) for item in value) if isinstance(value, tuple) else value
