"""Reading small C programs in tests and comparing the model with the compiled original, undefined steps included."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from pysmt.environment import pop_env, push_env

from benchmarks.checks.fuzz.agreement import agreement, fresh_environment
from bmc.errors import ChainCoverError, SeveralRefused
from bmc.models.c.controller.build import read_c
from bmc.models.c.controller.model import CModel
from bmc.models.c.controller.reading import SourceConfig
from bmc.models.c.execute import arithmetic
from bmc.native.original import find_compiler

__all__ = ["agreement", "fresh_environment", "own_environment", "read", "refusal", "sanitizing_compiler", "traps"]
TRAPS = (
    "-fsanitize=undefined -fno-sanitize=shift-base -fsanitize-undefined-trap-on-error -ftrivial-auto-var-init=pattern"
)
"""Undefined behaviour ends the program, but for ``<<`` of negative numbers, which gcc defines; automatic objects start
with garbage."""


@pytest.fixture(autouse=True, scope="module")
def own_environment() -> Iterator[None]:
    """A pysmt environment of the module's own, so that formulas of other modules stay valid."""
    push_env()
    yield
    pop_env()
    arithmetic.forget_intervals()


def sanitizing_compiler() -> str | None:
    """The command of a C compiler that traps undefined behaviour; None if it cannot."""
    command = find_compiler()
    return f"{command} {TRAPS}" if command is not None and _can_trap(command) else None


@cache
def _can_trap(command: str) -> bool:
    words = [*shlex.split(command), *shlex.split(TRAPS), "-x", "c", "-c", "-o", os.devnull, "-"]
    done = subprocess.run(words, input=b"int f(int a) { return a + 1; }", capture_output=True, check=False)
    return done.returncode == 0


@pytest.fixture(autouse=True)
def traps(monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiler traps undefined behaviour where it can."""
    command = sanitizing_compiler()
    if command is not None:
        monkeypatch.setenv("CC", command)


def read(folder: Path, text: str, step: str = "step", **config: object) -> CModel:
    """The model of one file."""
    fresh_environment()
    file = folder / "program.c"
    file.write_text(text, encoding="utf-8")
    return read_c(SourceConfig("program", (str(file),), step=step, **config))  # type: ignore[arg-type]


def refusal(folder: Path, text: str, **config: object) -> ChainCoverError:
    """The error that reading one file ends with; of several the one that comes first."""
    with pytest.raises(ChainCoverError) as caught:
        read(folder, text, **config)  # type: ignore[arg-type]
    return caught.value.errors[0] if isinstance(caught.value, SeveralRefused) else caught.value
