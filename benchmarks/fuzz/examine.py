"""One random program: made from its seed, read, and compared with its compiled original, in a process of its own."""

from __future__ import annotations

import multiprocessing
import random
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from pysmt.environment import push_env

from benchmarks.fuzz import csmith
from benchmarks.fuzz.agreement import agreement, fresh_environment
from benchmarks.fuzz.generator import Program
from bmc.c.controller.build import read_c
from bmc.c.controller.reading import SourceConfig
from bmc.errors import InputRefused

SECONDS = 60
"""Time limit of one program."""
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload([__name__])
AGREE, DIFFER, REFUSED, FAILED, LATE = "agree", "differ", "refused", "failed", "too long"


@dataclass(frozen=True)
class Row:
    """What became of one program: ``steps`` compared, ``detail`` says why it did not agree."""

    seed: int
    outcome: str
    steps: int = 0
    variables: int = 0
    lines: int = 0
    detail: str = ""


def _own(seed: int, floating: bool) -> str:
    return Program(random.Random(seed), size=2 + seed % 9, floating=floating).text


SOURCES: dict[str, tuple[Callable[[int, bool], str], str]] = {
    "own": (_own, "compute"),
    "csmith": (csmith.source, "step"),
}
"""By name: the maker of programs, and their step function."""


def examine(seed: int, source: str, floating: bool, steps: int) -> Row:
    """Read one program and compare it, in a process of its own; never raises but for an interrupt."""
    receiver, sender = _PROCESSES.Pipe(duplex=False)
    process = _PROCESSES.Process(target=_child, args=(sender, seed, source, floating, steps), daemon=True)
    process.start()
    sender.close()
    try:
        row: Row = receiver.recv() if receiver.poll(SECONDS) else Row(seed, LATE)
    except EOFError:
        row = Row(seed, FAILED, detail="the process ended without an answer")
    finally:
        process.kill()
        process.join()
    return row


def _child(sender: Connection, seed: int, source: str, floating: bool, steps: int) -> None:
    push_env()
    make, step = SOURCES[source]
    text = make(seed, floating)
    lines = len(text.splitlines())
    try:
        with tempfile.TemporaryDirectory() as folder:
            row = _compare(Path(folder), text, step, seed, steps)
    except InputRefused as error:
        row = Row(seed, REFUSED, lines=lines, detail=error.message)
    except Exception as error:
        row = Row(seed, FAILED, lines=lines, detail=f"{type(error).__name__}: {error}")
    sender.send(row)


def _compare(folder: Path, text: str, step: str, seed: int, steps: int) -> Row:
    fresh_environment()
    (folder / "csmith.h").write_text(csmith.HEADER)
    file = folder / "program.c"
    file.write_text(text)
    include = (str(folder), str(csmith.WRAPPERS))
    model = read_c(SourceConfig("program", (str(file),), include=include, step=step))
    found = agreement(model, pairs=steps, seed=seed)
    detail = str(found.differences[0]) if found.differences else f"trap: {found.traps[0]}" if found.traps else ""
    return Row(seed, DIFFER if detail else AGREE, found.steps, len(model.system.state), len(text.splitlines()), detail)
