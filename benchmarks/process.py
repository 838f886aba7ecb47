"""What a command takes, its children included: seconds of the processor, the memory that was resident at most."""

from __future__ import annotations

import os
import resource
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


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
