"""The process that loads and calls the user's compiled program, so that its crashes and endless loops end only itself.

Started by ``original`` with a ``Job`` on standard input. It writes to its standard output one byte, ``CONFINED`` or
``FREE``, once the program is loaded, one record (the bytes of ``Job.reads`` and a full stop) after init, and one record
after each step; records are written one by one, so that they outlive a crash. What the user's program itself prints
never gets there.

Before the program is loaded, for loading it runs some of its code, the process gives up what the program has no need
of (docs/how-to/security.md): memory and time without limit, and, where the kernel lets it, every system call but those
by which it computes, looks at the clock and reads files.

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

DUMP = "chaincover_dump"
"""The function of a program built for that which hands its counters to a function of ours."""

MEMORY = 4 << 30
"""Bytes of memory that the program may have."""

ALLOWED = """
read 0 63 3, write 1 64 4, close 3 57 6, lseek 8 62 19, _llseek - - 140, pread64 17 67 180, pwrite64 18 68 181,
readv 19 65 145, writev 20 66 146, stat 4 - 106, stat64 - - 195, fstat 5 80 108, fstat64 - - 197, lstat 6 - 107,
lstat64 - - 196, newfstatat 262 79 -, fstatat64 - - 300, statx 332 291 383, access 21 - 33, faccessat 269 48 307,
faccessat2 439 439 439, readlink 89 - 85, readlinkat 267 78 305, getdents64 217 61 220, getcwd 79 17 183,
mmap 9 222 90, mmap2 - - 192, mprotect 10 226 125, munmap 11 215 91, brk 12 214 45, mremap 25 216 163,
madvise 28 233 219, rt_sigaction 13 134 174, rt_sigprocmask 14 135 175, rt_sigreturn 15 139 173, sigreturn - - 119,
rt_sigsuspend 130 133 179, sigaltstack 131 132 186, restart_syscall 219 128 0, pause 34 - 29, futex 202 98 240,
futex_time64 - - 422, sched_yield 24 124 158, sched_getaffinity 204 123 242, poll 7 - 168, ppoll 271 73 309,
ppoll_time64 - - 414, select 23 - 82, _newselect - - 142, pselect6 270 72 308, pselect6_time64 - - 413,
nanosleep 35 101 162,
clock_nanosleep 230 115 267, clock_nanosleep_time64 - - 407, alarm 37 - 27, getitimer 36 102 105,
setitimer 38 103 104, time 201 - 13, gettimeofday 96 169 78, clock_gettime 228 113 265, clock_gettime64 - - 403,
clock_getres 229 114 266, clock_getres_time64 - - 406, times 100 153 43, getpid 39 172 20, gettid 186 178 224,
getppid 110 173 64, getuid 102 174 24, getuid32 - - 199, getgid 104 176 47, getgid32 - - 200, geteuid 107 175 49,
geteuid32 - - 201, getegid 108 177 50, getegid32 - - 202, uname 63 160 122, sysinfo 99 179 116,
getrlimit 97 163 76, ugetrlimit - - 191, getrusage 98 165 77, getrandom 318 278 355, exit 60 93 1,
exit_group 231 94 252
"""
"""The system calls that the program may make, with their numbers on x86-64, on aarch64, and for programs of 32 bits on
x86-64 (-: there is no such call)."""

CONDITIONED = """
open 2 - 5 1 read, openat 257 56 295 2 read, fcntl 72 25 55 1 small, fcntl64 - - 221 1 small,
kill 62 129 37 0 own, tkill 200 130 238 0 own, tgkill 234 131 270 0 own, prlimit64 302 261 340 0 none
"""
"""Those that it may make if an argument, whose position follows the numbers, is right: flags that open a file for
reading; a command of fcntl that no other process feels; the process itself (abort ends it so), by number or by none."""

MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7), "i386": (2, 0x40000003)}
"""Which of the numbers a machine has, and the AUDIT_ARCH by which the kernel knows its calls from those of others."""

LOAD, EQUAL, GREATER, COMMON, ANSWER = 0x20, 0x15, 0x25, 0x45, 0x06
"""Instructions of a filter (BPF): load a word; go on by comparing it, or by bits it has in common; answer."""

GRANT, MISSING, DENIED = 0x7FFF0000, 0x00050026, 0x0005000D
"""Answers of a filter: make the call; the error ENOSYS, as of a call that this kernel does not have; EACCES."""

TO_WRITE, F_SETFL = 0o1103, 4
"""What in the flags of open is not for reading: O_WRONLY, O_RDWR, O_CREAT, O_TRUNC. The last harmless fcntl."""

PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, CAPABILITY_VERSION = 1, 22, 38, 0x20080522
SECCOMP_MODE_FILTER, SIGKILL = 2, 9
CREATE_RULESET, ADD_RULE, RESTRICT_SELF, PATH_BENEATH, READ_FILE = 444, 445, 446, 1, 4
"""Numbers of the Linux kernel's interface, which are the same on all machines (prctl(2), capset(2), landlock(7))."""

TERMINALS = ("ptmx", "pts")
"""What in /dev makes a device when it is opened, if only for reading."""

ELSEWHERE = 255
"""The number of a pointer that points to nothing known."""

ALIGNMENT = 16
"""Alignment of what we allocate for the program, in bytes: that of malloc."""


class Process:
    """The loaded library and its memory."""

    def __init__(self, image: Image) -> None:
        library, self.anchor, objects, writable, self.init, self.step, links, pointers = image
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
        self.pointers = [self._pointer(*pointer) for pointer in pointers]

    def _pointer(
        self, index: int, offset: int, number: int, pointees: tuple[tuple[int | None, int] | None, ...]
    ) -> tuple[memoryview, int, memoryview, list[int]]:
        """A pointer's object and offset, what holds its number, and the addresses by their numbers."""
        addresses = [
            0 if pointee is None else (self.base if pointee[0] is None else self.addresses[pointee[0]]) + pointee[1]
            for pointee in pointees
        ]
        return self.views[index], offset, self.views[number], addresses

    def read_pointers(self) -> None:
        """Set the numbers of the pointers that steps change: by where these point to now."""
        for view, offset, number, addresses in self.pointers:
            (address,) = struct.unpack_from("@P", view, offset)
            number[0] = addresses.index(address) if address in addresses else ELSEWHERE

    def _place(self, storage: Storage) -> None:
        """Find an object in this process, or make room for it."""
        size, address, symbol, fixed = storage
        if address is not None:
            place = address if fixed else self.base + address
        elif symbol:
            place = ctypes.addressof(ctypes.c_ubyte.in_dll(self.library, symbol))
        else:
            buffer = (ctypes.c_ubyte * (size + ALIGNMENT))()
            self.buffers.append(buffer)
            place = -(-ctypes.addressof(buffer) // ALIGNMENT) * ALIGNMENT
        view = view_of(place, size)
        self.addresses.append(place)
        self.views.append(view)
        if self.anchor is None or fixed or (address is None and not symbol):  # else it is in what is writable
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

    def dumper(self, out: int) -> Callable[[], object]:
        """A function that writes the counters of a program built for that: records of a kind, a size and bytes."""
        kind = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_uint)
        record = kind(
            lambda what, place, size: write_all(out, struct.pack("<BI", what, size) + ctypes.string_at(place, size))
        )
        function = self.library[DUMP]
        return lambda: function(record)

    def write(self, layouts: tuple[Layout, ...], patches: tuple[Patch, ...]) -> None:
        """Write ``patches`` into the program's memory."""
        for layout, data in patches:
            done = 0
            for index, offset, size, bits in layouts[layout]:
                view, new = self.views[index][offset : offset + size], data[done : done + size]
                if bits:
                    kept = int.from_bytes(view, "little") & ~bits
                    new = (kept | int.from_bytes(new, "little")).to_bytes(size, "little")
                view[:] = new
                done += size
        for view, offset, number, addresses in self.pointers:
            if number[0] < len(addresses):
                struct.pack_into("@P", view, offset, addresses[number[0]])


def run(job: Job, out: int, confined: bool) -> None:
    """Init, then every step; the records go to the file descriptor ``out``."""
    image, work, reads, layouts, _ = job
    process = Process(image)
    start, steps, restored, dumps, _ = work
    pieces = [process.views[index][offset : offset + size] for index, offset, size, _ in reads]
    pieces.append(memoryview(b"."))
    init, step = [process.prepare(call) for call in process.init], process.prepare(process.step)
    dump, wanted = process.dumper(out) if dumps else None, frozenset(dumps)
    os.write(out, CONFINED if confined else FREE)
    for call in init:
        call()
    process.read_pointers()
    after_init = [view.tobytes() for view in process.changing] if any(restored) else []
    process.write(layouts, start)
    write_all(out, b"".join(pieces))
    if dump and 0 in wanted:
        dump()
    for number, (again, patches) in enumerate(zip(restored, steps, strict=True), 1):
        if again:
            for view, data in zip(process.changing, after_init, strict=True):
                view[:] = data
        process.write(layouts, patches)
        step()
        process.read_pointers()
        write_all(out, b"".join(pieces))
        if dump and number in wanted:
            dump()


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
        (resource.RLIMIT_FSIZE, output),
        (resource.RLIMIT_NPROC, 0),
    )
    for kind, value in most:
        hard = resource.getrlimit(kind)[1]
        least = value if hard == resource.RLIM_INFINITY else min(value, hard)
        try:
            resource.setrlimit(kind, (least, least))  # the hard one too, or the program could raise it again
        except (OSError, ValueError):  # a system that knows the limit, and does not keep it
            continue
    ctypes.CDLL(None).alarm(seconds)  # the module signal takes long to import


def confine() -> bool:
    """Give up, for good, every system call that ``filter_of`` does not let pass; False where that cannot be done."""
    machine = os.uname().machine if sys.platform.startswith("linux") and struct.calcsize("P") == 8 else ""
    if machine not in MACHINES or not give_up_rights():
        return False
    libc = ctypes.CDLL(None)
    code = filter_of(machine, os.getpid())
    place = ctypes.create_string_buffer(code)
    program = struct.pack("@HP", len(code) // 8, ctypes.addressof(place))
    return bool(libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0) == 0)


def give_up_rights() -> bool:
    """Give up the rights of root, for good, and end with the parent (Linux, prctl(2)); whether that was done."""
    libc = ctypes.CDLL(None)
    libc.syscall.restype = ctypes.c_long
    for_good = libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    hide_terminals(libc)
    return bool(
        for_good
        and libc.prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0
        and libc.capset(struct.pack("=Ii", CAPABILITY_VERSION, 0), bytes(24)) == 0
    )


def hide_terminals(libc: ctypes.CDLL) -> None:
    """Give up reading ``TERMINALS``, for good, where the kernel has Landlock (since Linux 5.13).

    What may be read has to be named: everything else in the root folder, and everything else in /dev.
    """
    rules = libc.syscall(CREATE_RULESET, struct.pack("@Q", READ_FILE), 8, 0)
    if rules < 0:
        return
    places = ["/" + name for name in os.listdir("/") if name != "dev"]
    places += ["/dev/" + name for name in os.listdir("/dev") if name not in TERMINALS]
    for place in places:
        try:
            opened = os.open(place, os.O_PATH)
        except OSError:  # a link that leads nowhere
            continue
        libc.syscall(ADD_RULE, rules, PATH_BENEATH, struct.pack("=Qi", READ_FILE, opened), 0)
        os.close(opened)
    libc.syscall(RESTRICT_SELF, rules, 0)
    os.close(rules)


def filter_of(machine: str, process: int) -> bytes:
    """The filter for the system calls of a process with this number.

    What is not granted is refused, which holds for calls of later kernels, and for all calls in the manner of other
    machines, such as those of 32 bits. The kernel hands the filter the number of the call, the machine at byte 4, and
    the arguments from byte 16 on, eight bytes each, of which the lower four count here.
    """
    column, architecture = MACHINES[machine]
    grant, missing, denied = -1, -2, -3
    tests = {
        "read": (COMMON, TO_WRITE, denied, grant),
        "small": (GREATER, F_SETFL, missing, grant),
        "own": (EQUAL, process, grant, missing),
        "none": (EQUAL, 0, grant, missing),
    }
    lines = [(LOAD, 4, 0, 0), (EQUAL, architecture, 0, missing), (LOAD, 0, 0, 0)]
    for call in ALLOWED.split(","):
        number = call.split()[1 + column]
        if number != "-":
            lines.append((EQUAL, int(number), grant, 0))
    for call in CONDITIONED.split(","):
        _, *numbers, position, test = call.split()
        if numbers[column] != "-":
            lines += [(EQUAL, int(numbers[column]), 0, 2), (LOAD, 16 + 8 * int(position), 0, 0), tests[test]]
    end = len(lines)
    lines += [(ANSWER, MISSING, 0, 0), (ANSWER, DENIED, 0, 0), (ANSWER, GRANT, 0, 0)]
    places = {grant: end + 2, denied: end + 1, missing: end}
    return b"".join(
        struct.pack("=HBBI", code, *(places[way] - at - 1 if way < 0 else way for way in (yes, no)), value)
        for at, (code, value, yes, no) in enumerate(lines)
    )


def output_size(job: Job) -> int:
    """Bytes that are written if all goes well."""
    _, work, reads, *_ = job
    _, steps, _, dumps, dump_size = work
    return 1 + (sum(size for *_, size, _ in reads) + 1) * (len(steps) + 1) + len(dumps) * dump_size


def start_narrow() -> None:
    """Become the worker for programs of 32 bits, whose path, time limit and bytes of output are the arguments.

    It gets the filter of system calls as text, '' where it is to do without.
    """
    _, _, program, seconds, output = sys.argv
    limit(float(seconds), int(output))
    code = filter_of("i386", os.getpid()) if give_up_rights() else b""
    os.execv(program, [program, code.hex()])


def main() -> None:
    """Read the job, keep the standard streams from the program, run, and leave without its exit handlers.

    With the arguments of ``start_narrow`` another program does all that.
    """
    if len(sys.argv) > 2:
        start_narrow()
    job: Job = marshal.load(sys.stdin.buffer)
    limit(job[-1], output_size(job))
    out = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    run(job, out, confine())
    os._exit(0)
