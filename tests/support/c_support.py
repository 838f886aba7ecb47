"""Reading small C programs in tests and comparing the model with the compiled original, undefined steps included."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator
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


def sanitizing_compiler(folder: Path) -> str | None:
    """The command of a C compiler that traps undefined behaviour; None if it cannot."""
    command = find_compiler()
    if command is None:
        return None
    probe = folder / "probe.c"
    probe.write_text("int f(int a) { return a + 1; }\n")
    words = [*shlex.split(command), *shlex.split(TRAPS), "-c", str(probe), "-o", str(folder / "probe.o")]
    done = subprocess.run(words, capture_output=True, check=False)
    return f"{command} {TRAPS}" if done.returncode == 0 else None


@pytest.fixture(autouse=True)
def traps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiler traps undefined behaviour where it can."""
    command = sanitizing_compiler(tmp_path)
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
