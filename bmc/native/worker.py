"""The process that loads and calls the user's compiled program, so that its crashes and endless loops end only itself.

Started by ``original`` with a ``Job`` on standard input. It writes to its standard output one byte ``R`` once the
program is loaded, one record (the bytes of ``Job.reads`` and a full stop) after init, and one record after each step;
records are written one by one, so that they outlive a crash. What the user's program itself prints never gets there.

Of Python it imports as little as it can: there is one such process for each run. Jobs come as plain tuples, so they are
taken apart here, never asked for an attribute.
"""

from __future__ import annotations

import ctypes
import marshal
import os
import struct
import sys

TYPE_CHECKING = False  # typing would take longer to import than all of the above
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from bmc.native.job import ActualArgument, ActualCall, Image, Job, Layout, Patch, Storage

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


class Process:
    """The loaded library and its memory."""

    def __init__(self, image: Image) -> None:
        library, self.anchor, objects, writable, self.init, self.step, links = image
        self.library = ctypes.CDLL(library)
        self.base = 0
        if self.anchor is not None:
            symbol, address = self.anchor
            self.base = (ctypes.cast(self.library[symbol], ctypes.c_void_p).value or 0) - address
        self.buffers: list[ctypes.Array[ctypes.c_ubyte]] = []  # keeps alive what we allocated
        self.addresses: list[int] = []
        self.views: list[memoryview] = []
        self.changing: list[memoryview] = []
        for storage in objects:
            self._place(storage)
        for index, offset, target in links:
            struct.pack_into("@P", self.views[index], offset, self.addresses[target])
        self.changing += [view_of(self.base + address, size) for address, size in writable]

    def _place(self, storage: Storage) -> None:
        """Find an object in this process, or make room for it."""
        size, address, symbol = storage
        if address is not None:
            place = self.base + address
        elif symbol:
            place = ctypes.addressof(ctypes.c_ubyte.in_dll(self.library, symbol))
        else:
            buffer = (ctypes.c_ubyte * (size + ALIGNMENT))()
            self.buffers.append(buffer)
            place = -(-ctypes.addressof(buffer) // ALIGNMENT) * ALIGNMENT
        view = view_of(place, size)
        self.addresses.append(place)
        self.views.append(view)
        if self.anchor is None or (address is None and not symbol):  # else it is in what is writable
            self.changing.append(view)

    def prepare(self, call: ActualCall) -> Callable[[], object]:
        """The call as a function without arguments."""
        name, address, arguments, result, result_code = call
        types = [CTYPES[code] if code else ctypes.c_void_p for _, code, *_ in arguments]
        made = ctypes.CFUNCTYPE(CTYPES[result_code] if result >= 0 else None, *types)
        function = made((name, self.library)) if address is None else made(self.base + address)
        getters = [self._getter(argument) for argument in arguments]
        if result < 0 and all(kind != "value" for kind, *_ in arguments):
            fixed = [get() for get in getters]
            return lambda: function(*fixed)
        if result < 0:
            return lambda: function(*[get() for get in getters])
        pack, view = struct.Struct("=" + result_code).pack_into, self.views[result]
        return lambda: pack(view, 0, function(*[get() for get in getters]))

    def _getter(self, argument: ActualArgument) -> Callable[[], int | float]:
        kind, code, index, offset, constant = argument
        if kind == "constant":
            return lambda: constant
        if kind == "address":
            address = self.addresses[index] + offset
            return lambda: address
        unpack, view = struct.Struct("=" + code).unpack_from, self.views[index]
        return lambda: unpack(view, offset)[0]

    def write(self, layouts: tuple[Layout, ...], patches: tuple[Patch, ...]) -> None:
        """Write ``patches`` into the program's memory."""
        for layout, data in patches:
            done = 0
            for index, offset, size in layouts[layout]:
                self.views[index][offset : offset + size] = data[done : done + size]
                done += size


def run(job: Job, out: int) -> None:
    """Init, then every step; the records go to the file descriptor ``out``."""
    image, work, reads, layouts, _ = job
    process = Process(image)
    start, steps, restore = work
    pieces = [process.views[index][offset : offset + size] for index, offset, size in reads]
    pieces.append(memoryview(b"."))
    init, step = [process.prepare(call) for call in process.init], process.prepare(process.step)
    os.write(out, b"R")
    for call in init:
        call()
    after_init = [view.tobytes() for view in process.changing] if restore else []
    process.write(layouts, start)
    write_all(out, b"".join(pieces))
    for patches in steps:
        if restore:
            for view, data in zip(process.changing, after_init, strict=True):
                view[:] = data
        process.write(layouts, patches)
        step()
        write_all(out, b"".join(pieces))


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
        ctypes.CDLL(None).alarm(int(min(time_limit, 1e6)) + 6)  # the module signal takes long to import


def main() -> None:
    """Read the job, keep the standard streams from the program, run, and leave without its exit handlers."""
    job: Job = marshal.load(sys.stdin.buffer)
    guard(job[-1])
    out = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    run(job, out)
    os._exit(0)
