"""A command within limits: what it took, and that nothing of it is left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.bench import guard

pytestmark = pytest.mark.needs_signals


def guarded(folder: Path, seconds: float, megabytes: float, *command: str, asked: float = 1e6) -> dict[str, Any]:
    """What the guard says of ``command``; its standard input stays open until it ends."""
    words = [
        sys.executable,
        "-I",
        "-S",
        guard.__file__,
        "cost.json",
        str(seconds),
        str(asked),
        str(megabytes),
        *command,
    ]
    process = subprocess.Popen(words, cwd=folder, stdin=subprocess.PIPE)
    assert process.wait() == 0
    process.communicate()
    found: dict[str, Any] = json.loads((folder / "cost.json").read_text())
    return found


def python(text: str) -> tuple[str, ...]:
    return sys.executable, "-I", "-S", "-c", text


def test_a_command_that_ends_by_itself(tmp_path: Path) -> None:
    text = "import os, pathlib; pathlib.Path('here').touch(); os._exit(7)"
    found = guarded(tmp_path, 60, 1000, *python(text))
    assert (found["stopped"], found["code"]) == ("", 7)
    assert (tmp_path / "here").exists()


def test_processor_seconds_are_those_of_children_too(tmp_path: Path) -> None:
    child = "import time\nwhile time.process_time() < 0.2: pass"
    found = guarded(tmp_path, 60, 1000, *python(f"import subprocess, sys; subprocess.run({[*python(child)]!r})"))
    assert found["processor_seconds"] >= 0.2


def test_no_limit_of_memory_is_too_large(tmp_path: Path) -> None:
    assert guarded(tmp_path, 60, 10**20, *python("pass"))["code"] == 0


def test_a_command_that_cannot_be_run(tmp_path: Path) -> None:
    assert guarded(tmp_path, 60, 1000, str(tmp_path / "gone"))["code"] == 127


def test_the_end_by_a_signal_is_told(tmp_path: Path) -> None:
    assert guarded(tmp_path, 60, 1000, *python("import os; os.kill(os.getpid(), 11)"))["code"] == -11


@pytest.mark.parametrize("session", ["False", "True"])
def test_time_is_up_for_children_too(tmp_path: Path, session: str) -> None:
    """The reader of the pipe comes to its end once every process is gone that could write there."""
    read, write = os.pipe()
    os.set_inheritable(write, True)
    text = f"import subprocess; subprocess.Popen(['sleep', '99'], start_new_session={session}, pass_fds=[{write}])"
    words = [*python(f"{text}; import signal; signal.pause()")]
    command = [sys.executable, "-I", "-S", guard.__file__, "cost.json", "0.3", "0.3", "1000", *words]
    process = subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, pass_fds=[write])
    os.close(write)
    assert os.read(read, 1) == b""
    os.close(read)
    process.wait()
    process.communicate()
    assert json.loads((tmp_path / "cost.json").read_text())["stopped"] == "time"


@pytest.mark.parametrize("processes", [1, 4])
def test_memory_is_that_of_all_processes_together(tmp_path: Path, processes: int) -> None:
    """150 MB: by one process, or by four that hold less than 60 MB each."""
    child = f"x = bytearray({150 // processes} << 20); import signal; signal.pause()"
    text = f"import subprocess, signal\nfor _ in range({processes}): subprocess.Popen({[*python(child)]!r})"
    found = guarded(tmp_path, 60, 120, *python(f"{text}\nsignal.pause()"))
    assert found["stopped"] == "memory"
    assert found["megabytes"] > 120


def test_all_is_called_off_when_the_input_ends(tmp_path: Path) -> None:
    command = [sys.executable, "-I", "-S", guard.__file__, "cost.json", "60", "60", "1000", "sleep", "1000"]
    process = subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE)
    process.communicate()
    assert json.loads((tmp_path / "cost.json").read_text())["stopped"] == "called off"


ASKED = """
import signal, sys
def told(number, frame):
    open("told", "w").close()
    {then}
signal.signal(signal.SIGTERM, told)
while True:
    signal.pause()
"""


def test_a_command_is_asked_to_end_before_its_time_is_up(tmp_path: Path) -> None:
    found = guarded(tmp_path, 60, 1000, *python(ASKED.format(then="sys.exit(9)")), asked=0.5)
    assert (found["stopped"], found["code"]) == ("time", 9)
    assert (tmp_path / "told").exists()


def test_one_that_does_not_end_then_is_killed(tmp_path: Path) -> None:
    found = guarded(tmp_path, 1, 1000, *python(ASKED.format(then="pass")), asked=0.5)
    assert (found["stopped"], found["code"]) == ("time", None)
    assert (tmp_path / "told").exists()
