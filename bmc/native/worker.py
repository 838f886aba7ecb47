"""The process that loads and calls the user's compiled program, so that its crashes and endless loops end only itself.

Started by ``original`` with a ``Job`` on standard input. It writes to its standard output one byte, ``CONFINED`` or
``FREE``, once the program is loaded, one record (the bytes of ``Job.reads`` and a full stop) after init, and one record
after each step; records are written one by one, so that they outlive a crash. What the user's program itself prints
never gets there.

Before the program is loaded, for loading it runs some of its code, the process gives up what the program has no need
of (docs/how-to/security.md): memory, time, files and processes without limit, and, where the kernel lets it, the
network and all files that it could write.

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

CONFINED, FREE = b"C", b"F"
"""The first byte of the output: whether the process is confined."""

MEMORY, FILES = 4 << 30, 16 << 20
"""Bytes of memory that the program may have, and that it may write to a file."""

CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWNET = 0x00020000, 0x08000000, 0x10000000, 0x40000000
MS_BIND, MOUNT_SETATTR, MOUNT_ATTR_RDONLY, AT_FDCWD, AT_RECURSIVE = 0x1000, 442, 1, -100, 0x8000
PR_SET_NO_NEW_PRIVS, CAPABILITY_VERSION = 38, 0x20080522
"""Numbers of the Linux kernel's interface, which are the same on all machines (mount_setattr(2), capset(2))."""

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


def run(job: Job, out: int, confined: bool) -> None:
    """Init, then every step; the records go to the file descriptor ``out``."""
    image, work, reads, layouts, _ = job
    process = Process(image)
    start, steps, restore = work
    pieces = [process.views[index][offset : offset + size] for index, offset, size in reads]
    pieces.append(memoryview(b"."))
    init, step = [process.prepare(call) for call in process.init], process.prepare(process.step)
    os.write(out, CONFINED if confined else FREE)
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


def limit(time_limit: float, output: int) -> None:
    """No core dumps, no life beyond the time limit even if the parent is gone, and no more than it can need.

    ``output``: the bytes that are written if all goes well.
    """
    if sys.platform == "win32":
        return
    import resource

    seconds = int(min(time_limit, 1e6)) + 6
    most = (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_FSIZE, output + FILES),
        (resource.RLIMIT_NPROC, 0),
    )
    for kind, value in most:
        hard = resource.getrlimit(kind)[1]
        try:
            resource.setrlimit(kind, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))
        except (OSError, ValueError):  # a system that knows the limit, and does not keep it
            continue
    ctypes.CDLL(None).alarm(seconds)  # the module signal takes long to import


def confine(folder: str) -> bool:
    """Give up the network, and writing outside ``folder``, for good; False where the kernel does not allow it.

    The process moves into namespaces of its own (Linux, namespaces(7)): one of users, by which it may have the others,
    one without any network, and one in which every file system but ``folder`` is read-only. Then it gives up the
    rights that it has in them, so that the program cannot take any of it back.
    """
    if not sys.platform.startswith("linux"):
        return False
    libc = ctypes.CDLL(None)
    place, none = os.fsencode(folder), ctypes.c_void_p()

    def set_read_only(path: bytes, flags: int, setting: int, clearing: int) -> int:
        return int(libc.syscall(MOUNT_SETATTR, AT_FDCWD, path, flags, struct.pack("=4Q", setting, clearing, 0, 0), 32))

    confined = (
        libc.unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC) == 0
        and set_read_only(b"/", AT_RECURSIVE, MOUNT_ATTR_RDONLY, 0) == 0
        and libc.mount(place, place, none, ctypes.c_ulong(MS_BIND), none) == 0
        and set_read_only(place, 0, 0, MOUNT_ATTR_RDONLY) == 0
        and libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
        and libc.capset(struct.pack("=Ii", CAPABILITY_VERSION, 0), bytes(24)) == 0
    )
    os.chdir(folder)  # as it is in the new namespace
    return confined


def main() -> None:
    """Read the job, keep the standard streams from the program, run, and leave without its exit handlers."""
    job: Job = marshal.load(sys.stdin.buffer)
    image, work, reads, _, seconds = job
    limit(seconds, sum(size for *_, size in reads) * (len(work[1]) + 2))
    out = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    run(job, out, confine(os.path.dirname(image[0])))
    os._exit(0)
