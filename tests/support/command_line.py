"""ChainCover's command line in this process or in one of its own, its output and exit code kept."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO
from unittest import mock

from bmc.models.c.source.survey import apart
from chaincover.cli import entry
from chaincover.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / "benchmarks" / "models"

MODEL_NAMES = sorted(place.parent.name for place in MODELS.glob("*/expected.toml"))


FENCE = re.compile(r"^```(\w*).*?\n(.*?)^```", re.M | re.S)
"""The language and the text of an example in a page."""
PROGRESS = re.compile(r" *\d+\.\d s  .*\n")
"""A line that tells of a better answer."""
UNBROKEN = {"COLUMNS": "2000"}
"""Lines so long that none is broken, for what is looked for in them; other values may be given."""


@dataclass(frozen=True)
class Outcome:
    """How a command ended and what it wrote; ``stderr`` is all that it wrote there."""

    code: int
    out: str
    stderr: str

    @property
    def err(self) -> str:
        """What is on stderr besides the lines that tell of better answers."""
        return "".join(row for row in self.stderr.splitlines(keepends=True) if not PROGRESS.fullmatch(row))

    @property
    def progress(self) -> list[str]:
        """The lines that tell of better answers."""
        return [row for row in self.stderr.splitlines(keepends=True) if PROGRESS.fullmatch(row)]

    @property
    def json(self) -> Any:
        return json.loads(self.out)


fresh_names = apart
"""Two programs may give one name to variables of different types: pysmt's symbols of their own for each."""


def chaincover(*arguments: object, cwd: Path | None = None, **variables: str) -> Outcome:
    """Run the entry point in this process; ``variables`` are set in the environment."""
    out, err = io.StringIO(), io.StringIO()
    code = run_here([*map(str, arguments)], cwd or Path(), out, err, {**UNBROKEN, **variables})
    return Outcome(code, out.getvalue(), err.getvalue())


def run_here(arguments: list[str], cwd: Path, out: TextIO, err: TextIO, variables: Mapping[str, str]) -> int:
    """Run the entry point in this process with ``out`` and ``err`` as its streams; its exit code."""
    with (
        fresh_names(),
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "argv", ["chaincover", *arguments]),
        mock.patch.dict(os.environ, variables),
    ):
        try:
            main()
        except SystemExit as ending:
            code = ending.code
        finally:
            without_alarms()
    assert isinstance(code, int)
    return code


def without_alarms() -> None:
    """A run that a limit or a signal has called off ends its process soon after, which here is that of the tests."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)
    entry._alarms.__init__()  # type: ignore[misc]


def in_process_of_its_own(*arguments: object, cwd: Path | None = None, **variables: str) -> Outcome:
    """Run ``python -m chaincover``."""
    done = subprocess.run(
        [sys.executable, "-m", "chaincover", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **UNBROKEN, **variables},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


WITH_SHORT_RUNS = f"""
import sys
sys.path.insert(0, {str(ROOT / "tests" / "support")!r})
from chaincover.cli.entry import main
from benchmarks.checks.short_runs import short_runs
with short_runs():
    main()
"""
"""``python -m chaincover``, but for the turns of random runs."""


@contextlib.contextmanager
def started(*arguments: object, cwd: Path, short: bool = False) -> Iterator[subprocess.Popen[str]]:
    """``python -m chaincover``, going on; it does not outlive the block, whatever fails there. ``short``: with short
    turns of random runs."""
    program = ("-c", WITH_SHORT_RUNS) if short else ("-m", "chaincover")
    process = subprocess.Popen(
        [sys.executable, *program, *map(str, arguments)],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def write_files(folder: Path, files: dict[str, str | bytes]) -> None:
    """Write ``files``, named by their path in ``folder``."""
    for name, content in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)


def assert_it_fits(told: str, folder: Path) -> None:
    """What is told takes at most 40 lines of 120 characters, the path of a test's folder aside."""
    assert len(told.splitlines()) <= 40, told
    assert max(len(line.replace(f"{folder}", "out")) for line in told.splitlines()) <= 120, told
