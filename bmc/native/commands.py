"""Running a command, such as the compiler, within limits of memory and time."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from bmc.limits import FILE_SIZE

MEMORY, SECONDS, WAIT = 2 << 30, 30, 60.0
"""What a process of the compiler may take: bytes of memory, seconds of the processor, seconds by the clock."""

LIMITED = [
    "/bin/sh",
    "-c",
    '{ ulimit -S -t $1; ulimit -H -t $2; ulimit -v $3; ulimit -f $4; } 2> /dev/null; shift 4; exec "$@"',
    "sh",
]
"""How a command is run within limits: they have to be there before it starts others, and hold for each of these. What
a system has no limit for goes without."""

STOPPED = {
    r"CPU time limit|Cputime limit": f"more than {SECONDS} s of the processor, or {WAIT:g} s by the clock",
    r"File size limit|Filesize limit|File too large": f"more than {FILE_SIZE.most >> 20} MB of text, macros expanded",
    r"out of memory|memory exhausted|annot allocate memory|bad_alloc": f"more than {MEMORY >> 30} GB of memory",
}
"""What a compiler says that has come to a limit, and what it is that it used."""

STOPPING = [-number for name in ("SIGKILL", "SIGXCPU") if (number := getattr(signal, name, None))]
"""Exit codes of a process that the alarm or the limit on the processor has ended."""


def run(command: Sequence[str], output: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run a command within limits, in a session of its own; its standard output goes to ``output`` if that is given."""
    most = (SECONDS, SECONDS + 5, MEMORY >> 10, (FILE_SIZE.most if output else MEMORY) >> 9)
    limited = [*LIMITED, *map(str, most)] if os.name == "posix" else []
    with open(output, "w+b") if output else tempfile.TemporaryFile() as told, tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                [*limited, *command],
                stdin=subprocess.DEVNULL,
                stdout=told,
                stderr=errors,
                env={**os.environ, "LC_ALL": "C"},
                start_new_session=True,
            )
        except OSError as error:  # no program, although the file may be executed
            return subprocess.CompletedProcess(command, 127, b"", f"error: {error}".encode())
        alarm = threading.Timer(WAIT, kill, [process])  # a wait with a time limit of its own would poll
        alarm.start()
        try:
            code = process.wait()
        finally:
            alarm.cancel()
            kill(process)
        if code in STOPPING:  # what the process itself had no time to say
            errors.write(b"\nCPU time limit exceeded")
        for file in (told, errors):
            file.seek(0)
        written = b"" if output else told.read(FILE_SIZE.most)
        return subprocess.CompletedProcess(command, code, written, errors.read(FILE_SIZE.most))


def kill(process: subprocess.Popen[bytes] | subprocess.Popen[str]) -> None:
    """End a process with a session of its own, and whatever it has started, if it still runs."""
    if process.poll() is not None:
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def said(done: subprocess.CompletedProcess[bytes]) -> str:
    """What a command wrote to its standard error."""
    return done.stderr.decode("utf-8", "replace")


def why_stopped(output: str) -> str:
    """The limit that a compiler came to, as far as it tells; '' if it came to none."""
    return next((used for said, used in STOPPED.items() if re.search(said, output)), "")


def first_line(output: str) -> str:
    """The first line of a tool's output that says something, errors first."""
    lines = [line.strip() for line in output.splitlines() if line.strip() and not line.startswith("collect2:")]
    errors = [line for line in lines if re.search(r"error|undefined|cannot find", line, re.IGNORECASE)]
    return (errors or lines or ["no message"])[0]


def compiles(compiler: Sequence[str]) -> bool:
    """Whether this is a C compiler that works."""
    with (
        contextlib.suppress(OSError),
        tempfile.TemporaryDirectory(prefix="chaincover-", ignore_cleanup_errors=True) as folder,
    ):
        source, target = Path(folder) / "one.c", Path(folder) / "one.o"
        source.write_text("int chaincover;\n", encoding="utf-8")
        seen = run([*compiler, "-E", str(source)]).stdout
        done = run([*compiler, "-c", str(source), "-o", str(target)])
        return b"int chaincover" in seen and not done.returncode and target.exists()
    return False
