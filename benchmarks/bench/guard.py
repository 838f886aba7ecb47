"""Run a command within hard limits of time and memory, its children included: a program of its own.

    python -S guard.py COST SECONDS ASKED MEGABYTES COMMAND ...

After ASKED seconds of the clock it asks the command to end, by SIGTERM. It ends the command, with every process that
came of it, after SECONDS, when they hold more than so many MEGABYTES together, or when the standard input of this
process ends: so nothing goes on when the one who started it is gone, however that ended. What the command took is
written to the file COST, as JSON. This file stands alone, so that it begins at once.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import select
import signal
import sys
import time
from contextlib import suppress

TIME, MEMORY, CALLED_OFF = "time", "memory", "called off"
"""What ended a command from outside; '' where it ended by itself."""

LOOK = 0.2
"""Seconds from one look at the memory to the next; the first ones come sooner."""

BURST = 1024
"""Megabytes beyond twice the limit that no process may ask for: what is taken between two looks."""

FILE = 1 << 30
"""Bytes of a file, such as the log: a tool that writes without end must not fill the disk."""

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
"""Of prctl(2): a process ends with its parent; what loses its parent becomes a child of this one."""

PAGE = os.sysconf("SC_PAGE_SIZE") / 2**20


def prctl(option: int, value: int) -> None:
    """Set an attribute of this process, where the system has it."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def descendants() -> list[int]:
    """All processes that came of this one."""
    parents: dict[int, list[int]] = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if name.isdigit():
            with suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/stat", "rb") as file:
                parents.setdefault(int(file.read().rpartition(b")")[2].split()[1]), []).append(int(name))
    found: list[int] = []
    level = [os.getpid()]
    while level:
        level = [child for parent in level for child in parents.get(parent, ())]
        found += level
    return found


def resident(processes: list[int]) -> float:
    """Megabytes that are resident of these processes together."""
    pages = 0
    for number in processes:
        with suppress(OSError, IndexError), open(f"/proc/{number}/statm", "rb") as file:
            pages += int(file.read().split()[1])
    return pages * PAGE


def end_all(command: int) -> None:
    """Kill the command and all that came of it, until nothing is left."""
    for _ in range(1000):
        with suppress(OSError):
            os.killpg(command, signal.SIGKILL)
        left = descendants()
        for number in left:
            with suppress(OSError):
                os.kill(number, signal.SIGKILL)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not left:
            return
        time.sleep(0.01)


def start(command: list[str], megabytes: float) -> int:
    """Begin ``command`` in a group of its own; its number."""
    most = min(int(2 * megabytes + BURST) << 20, sys.maxsize)
    number = os.fork()
    if number:
        return number
    try:
        os.setpgid(0, 0)
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE, FILE))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
    os._exit(127)


def watch(command: int, seconds: float, asked: float, megabytes: float) -> tuple[str, float, int | None]:
    """What ended the command, the most megabytes that were seen, and its wait status where it ended by itself.

    A command that ended after it was asked to is told as one whose time was up.
    """
    begun, most, pause = time.monotonic(), 0.0, 0.01
    ends, stopped = begun + asked, ""
    ended = os.pidfd_open(command) if hasattr(os, "pidfd_open") else None
    watched = [0] if ended is None else [0, ended]
    while True:
        ready = select.select(watched, [], [], max(0.0, min(pause, ends - time.monotonic())))[0]
        pause = min(LOOK, 2 * pause)
        number, status = os.waitpid(command, os.WNOHANG)
        if number:
            return stopped, most, status
        if 0 in ready and not os.read(0, 1):
            return CALLED_OFF, most, None
        most = max(most, resident(descendants()))
        if most > megabytes:
            return MEMORY, most, None
        if time.monotonic() >= begun + seconds:
            return TIME, most, None
        if time.monotonic() >= ends:
            ends, stopped = begun + seconds, TIME
            with suppress(OSError):
                os.kill(command, signal.SIGTERM)


def main(place: str, limits: tuple[float, float, float], command: list[str]) -> None:
    """Run ``command``, and write what it took."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    begun = time.monotonic()
    number = start(command, limits[-1])
    stopped, most, status = watch(number, *limits)
    wall = time.monotonic() - begun
    end_all(number)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    cost = {
        "stopped": stopped,
        "code": None if status is None else os.waitstatus_to_exitcode(status),
        "seconds": round(wall, 3),
        "processor_seconds": round(usage.ru_utime + usage.ru_stime, 3),
        "megabytes": round(max(most, usage.ru_maxrss / (1024 if sys.platform == "linux" else 2**20)), 1),
    }
    with open(place, "w", encoding="utf-8") as file:
        json.dump(cost, file)


if __name__ == "__main__":
    main(sys.argv[1], (float(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])), sys.argv[5:])
