"""What a command takes, its children included: seconds of the processor, the memory that was resident at most."""

from __future__ import annotations

import os
import resource
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Cost:
    """``seconds`` of the processor, ``wall`` by the clock, ``memory`` in MB, the exit code and the output."""

    seconds: float
    wall: float
    memory: float
    code: int
    output: str


def run(command: Sequence[str], limit: float | None = None, variables: Mapping[str, str] | None = None) -> Cost:
    """Run ``command`` to its end, with ``variables`` beside those of this process.

    It is killed after ``limit`` seconds of the processor, which other work on the machine does not shorten: its exit
    code is negative then.
    """
    hard = resource.RLIM_INFINITY if limit is None else max(1, round(limit))

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (hard, hard))

    with tempfile.TemporaryFile("w+") as out:
        begun = os.times().elapsed
        process = subprocess.Popen(
            command, env={**os.environ, **(variables or {})}, stdout=out, stderr=subprocess.STDOUT, preexec_fn=limited
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = os.times().elapsed - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024, process.returncode, out.read())


def processor_seconds() -> float:
    """Seconds of the processor that this process has taken so far, with its children and theirs, living or not."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    own = resource.getrusage(resource.RUSAGE_SELF)
    ticks = sum(_living(os.getpid()))
    return own.ru_utime + own.ru_stime + ended.ru_utime + ended.ru_stime + ticks / os.sysconf("SC_CLK_TCK")


def _living(parent: int) -> Iterator[int]:
    """The clock ticks of each living process below ``parent``; none where the system does not tell."""
    with suppress(OSError):
        for task in Path(f"/proc/{parent}/task").iterdir():
            for child in (task / "children").read_text(encoding="ascii").split():
                fields = Path(f"/proc/{child}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
                yield sum(map(int, fields[11:15]))
                yield from _living(int(child))
