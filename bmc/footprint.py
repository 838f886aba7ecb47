"""The memory that this process and its children take, and how much of it they may take together.

The limit is looked at where work is done in portions (``chaincover.limits``); a search also counts what it is about to
take, and asks ``part`` how much that may be. Beside that there is a hard limit of the system on the data of a process:
an array that is far too large ends in a MemoryError, and not in a process that the system kills.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from bmc.errors import MemoryLimitReached

MB = 1_000_000
"""Bytes in a megabyte."""

HALF = 2
"""All processes may take one part in so many of the machine's memory, and one search one part of what they may take.

Twice as much leaves other programs, and other searches, half of that."""

SPARE = 1 << 30
"""Bytes of data that a process may have beyond the limit before the system refuses it more: stacks of threads and room
that is reserved count as data, but are mostly not taken. With twice as much, arrays may be larger by that."""

_CGROUPS = Path("/sys/fs/cgroup")

_given: list[int] = []
"""The limit in force, in bytes, if one was given."""


def allow(megabytes: int | None) -> None:
    """This process and its children may take ``megabytes`` together; None: half of the machine's memory."""
    _given[:] = [] if megabytes is None else [megabytes * MB]


def allowed() -> int:
    """The bytes that this process and its children may take together."""
    return _given[0] if _given else machine() // HALF


def part(most: int) -> int:
    """The bytes that one search may take, ``most`` at the most."""
    return min(most, allowed() // HALF)


def reached() -> MemoryLimitReached:
    """The error for a process that takes, with its children, more than it may."""
    text = f"the memory limit of {allowed() // MB} MB was reached"
    return MemoryLimitReached(text, hint="allow more memory (--memory-limit), or ask for fewer goals")


@lru_cache(maxsize=1)
def machine() -> int:
    """The bytes of memory that this process can have at all: the machine's, or those of its container if that has less.

    A limit of the shell on the address space (``ulimit -v``) counts too.
    """
    sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), *container_limits()]
    with suppress(ImportError, OSError, AttributeError, ValueError):
        import resource

        space = resource.getrlimit(resource.RLIMIT_AS)[0]
        sizes += [] if space == resource.RLIM_INFINITY else [space]
    return min(sizes)


def container_limits(groups: Path = Path("/proc/self/cgroup"), root: Path = _CGROUPS) -> Iterator[int]:
    """The limits on memory, in bytes, of the control groups that this process belongs to (version 1 and 2).

    A group lies in its parents, each of which may have a limit. Within a container the path of a group may be that of
    the host, which is not there: the container's own limit is that of the root.
    """
    try:
        lines = groups.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return
    for line in lines:
        number, _, rest = line.partition(":")
        controllers, _, place = rest.partition(":")
        if number == "0" and not controllers:
            folder, name = root, "memory.max"
        elif "memory" in controllers.split(","):
            folder, name = root / "memory", "memory.limit_in_bytes"
        else:
            continue
        group = Path(place.lstrip("/"))
        for parent in (group, *group.parents):
            with suppress(OSError, ValueError):  # 'max' is no number
                yield int((folder / parent / name).read_text(encoding="ascii"))


def taken() -> int:
    """The bytes of this process and its children, their children included, that are in memory now.

    Where the system does not tell (no ``/proc``), the most that this process has taken so far.
    """
    try:
        return sum(map(_resident, _family("self")))
    except OSError:
        import resource

        most: int = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024


def _family(process: str) -> Iterator[str]:
    """A process, its children, and theirs. OSError if the system does not tell of ``process``; others may be gone."""
    yield process
    for thread in os.listdir(f"/proc/{process}/task"):
        with suppress(OSError):
            with open(f"/proc/{process}/task/{thread}/children", encoding="ascii") as file:
                children = file.read().split()
            for child in children:
                yield from _family(child)


def _resident(process: str) -> int:
    """The bytes of one process; 0 if it is gone."""
    try:
        with open(f"/proc/{process}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        if process == "self":
            raise
        return 0


def limit_data() -> None:
    """Let the system refuse this process, and each of its children, much more data than what is allowed.

    Twice of that, or so much as ``SPARE`` more; never more than now.
    """
    _set_data_limit(max(HALF * allowed(), allowed() + SPARE))


def unlimit_data() -> None:
    """Take ``limit_data`` back, so that what is known can be written."""
    _set_data_limit(None)


def _set_data_limit(most: int | None) -> None:
    if sys.platform != "linux":  # elsewhere it does not count all data, or is not heeded
        return
    import resource

    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    if most is None or (hard != resource.RLIM_INFINITY and most > hard):
        most = hard
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
