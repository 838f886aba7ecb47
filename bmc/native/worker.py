"""The process that loads and calls the user's compiled program, so that its crashes and endless loops end only itself.

Started by ``original`` as ``python -m bmc.native.worker`` with a pickled ``Job`` on standard input. It writes to its
standard output one byte ``R`` once the program is loaded, one record (the bytes of ``Job.reads`` and a full stop) after
init, and one record after each step; records are written one by one, so that they outlive a crash. What the user's
program itself prints never gets there.
"""

from __future__ import annotations

import ctypes
import functools
import os
import pickle
import signal
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Layout = tuple[tuple[int, int, int], ...]
"""Contiguous pieces of memory: (index of the object, offset, size in bytes)."""

Patch = tuple[int, bytes]
"""Bytes to write: (index of the layout, the bytes of its pieces one after the other)."""

CTYPES: dict[str, Any] = {
    "b": ctypes.c_int8,
    "B": ctypes.c_uint8,
    "h": ctypes.c_int16,
    "H": ctypes.c_uint16,
    "i": ctypes.c_int32,
    "I": ctypes.c_uint32,
    "q": ctypes.c_int64,
    "Q": ctypes.c_uint64,
    "f": ctypes.c_float,
    "d": ctypes.c_double,
}
"""C types by the code that ``struct`` has for them."""

ALIGNMENT = 16
"""Alignment of what we allocate for the program, in bytes: that of malloc."""


@dataclass(frozen=True, slots=True)
class Storage:
    """One object of ``size`` bytes: at ``address`` in the library's file, or of an exported ``symbol``, or ours."""

    size: int
    address: int | None = None
    symbol: str = ""


@dataclass(frozen=True, slots=True)
class ActualArgument:
    """``kind`` as in ``original.Argument``; ``code`` is its type's code in ``CTYPES`` ('' for an address)."""

    kind: str
    code: str = ""
    object: int = 0
    offset: int = 0
    constant: int | float = 0


@dataclass(frozen=True, slots=True)
class ActualCall:
    """A call of the function at ``address`` (None: exported as ``function``); ``result`` is an object's index or -1."""

    function: str
    address: int | None
    arguments: tuple[ActualArgument, ...]
    result: int = -1
    result_code: str = ""


@dataclass(frozen=True, slots=True)
class Image:
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


@dataclass(frozen=True, slots=True)
class Work:
    """What to run: ``start`` is written after init; each item of ``steps`` is one step and what is written before it.

    ``restore``: every step starts from the image of memory right after init.
    """

    start: tuple[Patch, ...]
    steps: tuple[tuple[Patch, ...], ...]
    restore: bool = False


@dataclass(frozen=True, slots=True)
class Job:
    """All that the worker needs to know; ``time_limit`` in seconds."""

    image: Image
    work: Work
    reads: Layout
    layouts: tuple[Layout, ...]
    time_limit: float


class Process:
    """The loaded library and its memory."""

    def __init__(self, job: Job) -> None:
        self.job, image = job, job.image
        self.library = ctypes.CDLL(image.library)
        self.base = 0
        if image.anchor is not None:
            symbol, address = image.anchor
            self.base = (ctypes.cast(self.library[symbol], ctypes.c_void_p).value or 0) - address
        self.buffers: list[ctypes.Array[ctypes.c_ubyte]] = []  # keeps alive what we allocated
        self.addresses = [self._place(storage) for storage in image.objects]
        sizes = [storage.size for storage in image.objects]
        self.views = [view_of(address, size) for address, size in zip(self.addresses, sizes, strict=True)]
        for index, offset, target in image.links:
            struct.pack_into("@P", self.views[index], offset, self.addresses[target])
        ours = [
            view for view, s in zip(self.views, image.objects, strict=True) if image.anchor is None or not located(s)
        ]
        self.changing = ours + [view_of(self.base + address, size) for address, size in image.writable]

    def _place(self, storage: Storage) -> int:
        """The address of an object in this process."""
        if storage.address is not None:
            return self.base + storage.address
        if storage.symbol:
            return ctypes.addressof(ctypes.c_ubyte.in_dll(self.library, storage.symbol))
        buffer = (ctypes.c_ubyte * (storage.size + ALIGNMENT))()
        self.buffers.append(buffer)
        return -(-ctypes.addressof(buffer) // ALIGNMENT) * ALIGNMENT

    def prepare(self, call: ActualCall) -> Callable[[], None]:
        """The call as a function without arguments."""
        types = [CTYPES[a.code] if a.code else ctypes.c_void_p for a in call.arguments]
        result = CTYPES[call.result_code] if call.result >= 0 else None
        if call.address is not None:
            function = ctypes.CFUNCTYPE(result, *types)(self.base + call.address)
        else:
            function = ctypes.CFUNCTYPE(result, *types)((call.function, self.library))
        getters = [self._getter(argument) for argument in call.arguments]
        if call.result < 0 and all(argument.kind != "value" for argument in call.arguments):
            return functools.partial(function, *(get() for get in getters))
        if call.result < 0:
            return lambda: function(*[get() for get in getters])
        store = functools.partial(struct.pack_into, "=" + call.result_code, self.views[call.result], 0)
        return lambda: store(function(*[get() for get in getters]))

    def _getter(self, argument: ActualArgument) -> Callable[[], int | float]:
        if argument.kind == "constant":
            return lambda: argument.constant
        if argument.kind == "address":
            address = self.addresses[argument.object] + argument.offset
            return lambda: address
        unpack = struct.Struct("=" + argument.code).unpack_from
        view, offset = self.views[argument.object], argument.offset
        return lambda: unpack(view, offset)[0]

    def write(self, patches: tuple[Patch, ...]) -> None:
        for layout, data in patches:
            done = 0
            for index, offset, size in self.job.layouts[layout]:
                self.views[index][offset : offset + size] = data[done : done + size]
                done += size

    def run(self, out: int) -> None:
        """Init, then every step; the records go to the file descriptor ``out``."""
        pieces = [self.views[index][offset : offset + size] for index, offset, size in self.job.reads]
        pieces.append(memoryview(b"."))
        init, step = [self.prepare(call) for call in self.job.image.init], self.prepare(self.job.image.step)
        os.write(out, b"R")
        for call in init:
            call()
        image = [view.tobytes() for view in self.changing] if self.job.work.restore else []
        self.write(self.job.work.start)
        write_all(out, b"".join(pieces))
        for patches in self.job.work.steps:
            if image:
                for view, data in zip(self.changing, image, strict=True):
                    view[:] = data
            self.write(patches)
            step()
            write_all(out, b"".join(pieces))


def located(storage: Storage) -> bool:
    """Is the object part of the library (and not allocated by us)?"""
    return storage.address is not None or bool(storage.symbol)


def view_of(address: int, size: int) -> memoryview:
    """``size`` bytes of this process's memory."""
    return memoryview((ctypes.c_ubyte * size).from_address(address)).cast("B")


def write_all(out: int, data: bytes) -> None:
    """Write without a buffer of ours: what is written outlives a crash."""
    while data:
        data = data[os.write(out, data) :]


def guard(time_limit: float) -> None:
    """No core dumps, and no life beyond the time limit even if the parent is gone."""
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        signal.setitimer(signal.ITIMER_REAL, min(time_limit, 1e6) + 5)


def main() -> None:
    """Read the job, keep the standard streams from the program, run, and leave without its exit handlers."""
    job: Job = pickle.load(sys.stdin.buffer)
    guard(job.time_limit)
    out = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    Process(job).run(out)
    os._exit(0)


if __name__ == "__main__":
    main()
