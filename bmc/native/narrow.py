"""Programs of 32 bits on a machine of 64: their compiler options, the worker that loads them, and its job.

A process cannot load a library of another word size, so ``worker_32.c`` does for them what ``bmc.native.worker`` does.
"""

from __future__ import annotations

import os
import shlex
import struct
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources
from pathlib import Path

from bmc.native.build import NoCompiler, compiler_words
from bmc.native.commands import run
from bmc.native.job import ActualArgument, ActualCall, Job, Layout, Patch

HERE = sys.platform == "linux" and os.uname().machine == "x86_64"
PLATFORM = ("linux", "unix", "gnu_linux", "i386", "i686", "pentiumpro", "ELF", "SSE", "SSE2", "MMX", "FXSR")
UNSEEN = [f"-U{word}" for name in PLATFORM for word in (name, f"__{name}", f"__{name}__")]
OPTIONS = {"ilp32": ("-m32", "-msse2", "-mfpmath=sse", *UNSEEN)} if HERE else {}
"""By word sizes: how a compiler makes programs that have them, and whose floating-point operations round as C says.
They do not see on what platform they run here, for they are made for another: the project's options tell of it."""

KINDS = ("constant", "address", "value")


def worker(compiler: Sequence[str], folder: Path) -> Path:
    """The worker, in ``folder``, made by a compiler's words with ``OPTIONS``. NoCompiler where these make none."""
    made = folder / "worker"
    made.write_bytes(program(tuple(compiler), "worker_32.c"))
    made.chmod(0o700)
    return made


def usable() -> bool:
    """Whether the system's compiler makes programs of 32 bits."""
    try:
        program((*compiler_words(), *OPTIONS["ilp32"]), "worker_32.c")
    except (KeyError, NoCompiler):
        return False
    return True


@cache
def program(compiler: tuple[str, ...], file: str) -> bytes:
    """A program of ours, made from a ``file`` of this package by a compiler's words. Else NoCompiler."""
    with tempfile.TemporaryDirectory(prefix="chaincover-", ignore_cleanup_errors=True) as name:
        target = Path(name) / "made"
        with resources.as_file(resources.files("bmc.native").joinpath(file)) as source:
            done = run([*compiler, "-O1", "-w", str(source), "-o", str(target), "-ldl"])
        if done.returncode or not target.exists():
            raise NoCompiler(
                f"the replay needs programs of 32 bits, and '{shlex.join(compiler)}' makes none",
                hint="install the libraries that it lacks (gcc-multilib on Debian and Ubuntu)",
            )
        return target.read_bytes()


def numbers(job: Job) -> bytes:
    """``job`` as the worker reads it: numbers of four bytes, in the order of ``main`` in ``worker_32.c``."""
    return b"".join(_pieces(job))


def _pieces(job: Job) -> Iterator[bytes]:
    image, work = job.image, job.work
    assert image.anchor is not None  # what has these options makes ELF
    yield _text(image.library.encode("utf-8", "surrogateescape"))
    yield _text(image.anchor[0].encode())
    yield _row(image.anchor[1], len(image.objects), len(image.writable))
    for storage in image.objects:
        placed = (storage.address is not None) + storage.fixed
        yield _row(storage.size, placed, storage.address or 0)
    for area in image.writable:
        yield _row(*area)
    yield _row(len(image.links))
    for link in image.links:
        yield _row(*link)
    yield _row(len(image.pointers))
    for pointer in image.pointers:
        yield _row(pointer.object, pointer.offset, pointer.number, len(pointer.pointees))
        for pointee in pointer.pointees:
            yield _pointee(pointee)
    yield _row(len(image.init))
    for call in (*image.init, image.step):
        yield from _call(call)
    yield from _layout(job.reads)
    yield _row(len(job.layouts))
    for layout in job.layouts:
        yield from _layout(layout)
    yield _row(any(work.restored))
    yield from _patches(work.start)
    yield _row(len(work.steps))
    for restored, patches in zip(work.restored, work.steps, strict=True):
        yield _row(restored)
        yield from _patches(patches)


def _row(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)


def _text(data: bytes) -> bytes:
    return _row(len(data)) + data


def _pointee(pointee: tuple[int | None, int] | None) -> bytes:
    if pointee is None:
        return _row(0, 0, 0)
    number, offset = pointee
    return _row(1, 0, offset) if number is None else _row(2, number, offset)


def _call(call: ActualCall) -> Iterator[bytes]:
    yield _row(call.address or 0, len(call.arguments))
    for argument in call.arguments:
        size = struct.calcsize("=" + argument.code) if argument.code else 4
        yield _row(KINDS.index(argument.kind), size, argument.code.islower(), argument.object, argument.offset)
        yield _constant(argument, size)
    size = struct.calcsize("=" + call.result_code)
    yield _row(call.result >= 0, max(call.result, 0), size, call.result_code in ("f", "d"))


def _constant(argument: ActualArgument, size: int) -> bytes:
    """A constant argument as the words that lie on the stack: narrow integers are widened to four bytes."""
    if argument.kind != "constant":
        return bytes(8)
    if argument.code in ("f", "d"):
        return struct.pack("<" + argument.code, argument.constant).ljust(8, b"\0")
    return (int(argument.constant) & (1 << 64) - 1).to_bytes(8, "little")


def _layout(layout: Layout) -> Iterator[bytes]:
    yield _row(len(layout))
    for index, offset, size, bits in layout:
        yield _row(index, offset, size) + struct.pack("<Q", bits)


def _patches(patches: Sequence[Patch]) -> Iterator[bytes]:
    yield _row(len(patches))
    for layout, data in patches:
        yield _row(layout) + _text(data)
