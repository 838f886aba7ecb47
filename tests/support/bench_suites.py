"""Suites of a tool that does what a test wants, and where ``chaincover bench`` is found without an installation."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from command_line import MODELS, ROOT, Outcome, chaincover, write_files

from benchmarks.bench.tools.protocol import CRASHED, FINISHED, Task
from benchmarks.bench.tools.protocol import Outcome as Found

SCRIPT = """\
import json, os, pathlib, signal, subprocess, sys
place, name, does = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
with open(place / "did", "a") as file:
    file.write(name + "\\n")
print("begun", *sys.argv[4:], flush=True)
first = not (place / (name + ".seen")).exists()
(place / (name + ".seen")).touch()
if does == "crash":
    os.kill(os.getpid(), signal.SIGSEGV)
if does == "fail":
    sys.exit("nothing to be found in " + os.getcwd() + "\\n  next: look elsewhere")
if does == "fill":
    subprocess.run([sys.executable, "-c", "x = bytearray(400 << 20); import signal; signal.pause()"])
if does == "hold" and first:
    alive = open(place / "alive", "w")  # a pipe: its reader sees the end of all processes that have it
    subprocess.Popen(["sleep", "1000"], start_new_session=True, pass_fds=[alive.fileno()])
    alive.write("alive\\n")
    alive.flush()
    signal.pause()
if does == "kill worker" and first:
    stat = pathlib.Path("/proc/%d/stat" % os.getppid()).read_text()
    os.kill(int(stat.rpartition(")")[2].split()[1]), signal.SIGKILL)
    signal.pause()
pathlib.Path("found.json").write_text(json.dumps({"length": len(name)}))
"""


class Fake:
    """``does`` says what becomes of the run: ``crash``, ``fail``, ``fill`` the memory, ``hold``, or a chain.

    What runs is entered into the file ``did`` of the folder ``place``. With ``orderings`` it has a row for each word.
    """

    name = "fake"
    settings = frozenset({"does", "place", "orderings"})

    def missing(self) -> str:
        return ""

    def command(self, task: Task, folder: Path) -> Sequence[str]:
        if task.settings.get("does") == "refuse":
            raise ValueError("this cannot be run")
        does = str(task.settings.get("does", "finish"))
        name = f"{task.project.parent.name} {does} {task.seed}"
        orderings = str(task.settings.get("orderings", "")).split()
        return [sys.executable, "-S", "-c", SCRIPT, str(task.settings["place"]), name, does, *orderings]

    def read(self, folder: Path, code: int, log: str) -> tuple[Found, ...]:
        found = folder / "found.json"
        if not found.exists():
            return (Found(CRASHED),)
        length = json.loads(found.read_text())["length"]
        verdicts = {"a": "covered", "b": "unreachable", "c": "undecided"}
        names = log.split()[1:] or [""]
        return tuple(
            Found(FINISHED, name, 1, length, length, True, True, verdicts=verdicts, files=("found.json",))
            for name in names
        )


class Absent(Fake):
    """One that is not installed."""

    def missing(self) -> str:
        return "absent is not installed: get it"


def suite_text(place: Path, configurations: Sequence[dict[str, Any]], models: Sequence[str] = ("latch",)) -> str:
    """A suite of the fake tool on bundled models; limits of 60 s and 200 MB."""
    rows = ["[limits]", "seconds = 60", "megabytes = 200", "[[models]]"]
    rows += [f"projects = {json.dumps([str(MODELS / name) for name in models])}"]
    for number, each in enumerate(configurations):
        whole = {"name": f"c{number}", "tool": "bench_suites:Fake", "place": str(place), **each}
        rows += ["[[configurations]]", *(f"{key} = {json.dumps(value)}" for key, value in whole.items())]
    return "\n".join([*rows, ""])


def entry_point(folder: Path) -> Path:
    """A folder for the path of modules in which ``bench`` is registered, as an installation does it."""
    text = "[chaincover.commands]\nbench = benchmarks.bench.command:bench\n"
    write_files(folder, {"bench-0.dist-info/entry_points.txt": text})
    return folder


def module_path(folder: Path) -> str:
    """The path of modules of a process that runs suites."""
    return os.pathsep.join([str(ROOT), str(ROOT / "tests" / "support"), str(entry_point(folder))])


def bench(monkeypatch: pytest.MonkeyPatch, folder: Path, *arguments: object) -> Outcome:
    """``chaincover bench`` in this process and in ``folder``."""
    monkeypatch.syspath_prepend(str(entry_point(folder / "registered")))
    return chaincover("bench", *arguments, cwd=folder, PYTHONPATH=module_path(folder / "registered"))


def rows_in(folder: Path) -> list[dict[str, Any]]:
    """The rows of a table."""
    return [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]


def done(place: Path) -> list[str]:
    """What has been run, in order."""
    file = place / "did"
    return file.read_text().splitlines() if file.exists() else []
