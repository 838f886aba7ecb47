"""Harnesses in C: chains exported, built with a compiler, run, and their results read."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from command_line import MODELS, chaincover

from bmc.native.original import find_compiler

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror")
CROSS = {
    "avr-gcc": ("-mmcu=atmega328p", "-Os"),
    "arm-none-eabi-gcc": ("-mcpu=cortex-m3", "-mthumb", "-Os", "-fno-short-enums", "-fsigned-char"),
}
"""Compilers for boards, and what they are given."""
LINE = re.compile(r"(not )?ok (\d+) - (.*)")

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="needs a C compiler")


@dataclass(frozen=True)
class Told:
    """What a harness put out: the descriptions of the tests that passed and of those that failed, by number."""

    text: str
    code: int

    @property
    def tests(self) -> list[tuple[bool, str]]:
        found = [match for line in self.text.splitlines() if (match := LINE.fullmatch(line))]
        assert [int(match[2]) for match in found] == [*range(1, len(found) + 1)]
        assert f"1..{len(found)}" == self.text.splitlines()[1]
        return [(match[1] is None, match[3]) for match in found]

    @property
    def failed(self) -> list[str]:
        return [text for passed, text in self.tests if not passed]

    @property
    def deviation(self) -> dict[str, str]:
        """The block behind the first test."""
        block = re.search(r"^  ---\n(.*?)^  \.\.\.\n", self.text, re.M | re.S)
        assert block is not None, self.text
        return dict(re.findall(r"^  (\w+): (.*)$", block[1], re.M))


def export(project: Path, chain: Path, folder: Path, form: str = "c") -> Path:
    """The folder of the exported chain."""
    done = chaincover("export", project, chain, "--format", form, "-o", folder)
    assert done.code == 0, done.stderr
    return folder


def chain_of(project: Path, folder: Path) -> Path:
    """The folder of a chain of a project."""
    done = chaincover("generate", project, "-o", folder)
    assert (folder / "chain.json").is_file(), done.stderr
    return folder


@cache
def bundled_chain(name: str) -> Path:
    """The folder of the chain of a bundled model, which serves all tests."""
    return chain_of(MODELS / name, Path(tempfile.mkdtemp()))


def model(name: str, tmp_path: Path) -> tuple[Path, Path]:
    """A copy of a bundled model, so that it can be changed, and the folder of its harness."""
    project, chain = tmp_path / name, tmp_path / "chain"
    shutil.copytree(MODELS / name, project)
    shutil.copytree(bundled_chain(name), chain)
    return project, export(project, chain, tmp_path / "harness")


def build(folder: Path, project: Path, *more: str, sources: Iterable[str] = ()) -> subprocess.CompletedProcess[str]:
    """Compile the harness with the port for the host; ``sources`` are further files of the project."""
    compiler = find_compiler()
    assert compiler is not None
    files = [*(str(place) for place in folder.glob("*.c")), *(str(project / name) for name in sources)]
    words = [*compiler.split(), f"-I{project}", "-idirafter", str(folder / "stand_ins"), *more, *files]
    return subprocess.run([*words, "-lm", "-o", str(folder / "harness")], capture_output=True, text=True, check=False)


def run(folder: Path, project: Path, *more: str, sources: Iterable[str] = ()) -> Told:
    """Build and run a harness."""
    built = build(folder, project, *more, sources=sources)
    assert built.returncode == 0, built.stderr
    done = subprocess.run([folder / "harness"], capture_output=True, text=True, timeout=60, check=False)
    return Told(done.stdout, done.returncode)


def strictly(folder: Path, compiler: str, *more: str) -> str:
    """What a compiler says of chain.c, with all warnings."""
    words: Sequence[str] = [compiler, *STRICT, *more, "-c", "chain.c", "-o", "strict.o"]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False).stderr
