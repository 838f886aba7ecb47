"""gcov's own listing of a harness of a chain that was built with counters and run, without anything of ChainCover."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest
from harnesses import build, export

from bmc.errors import NoOriginal
from bmc.native.build import compiler_words
from bmc.native.commands import run
from bmc.native.coverage import gcov_of

LINE = re.compile(r" *([-#=\d]+)\*?: *(\d+):(.*)")
BRANCH = re.compile(r"branch +\d+ (?:taken (\d+)|never executed)")
Listed = dict[int, tuple[int, list[int]]]
"""By its number the count of a line, and the counts of the outcomes of its branches."""


@cache
def usable() -> bool:
    """Whether lines can be counted: the compiler is a gcc whose gcov is there."""
    try:
        words = compiler_words()
        gcov_of(words, run([*words, "--version"]).stdout.decode().splitlines()[0].strip())
    except NoOriginal:
        return False
    return True


needs_gcov = pytest.mark.skipif(not usable(), reason="needs gcc and gcov")


def listed(project: Path, chain: Path, folder: Path, sources: tuple[str, ...] = ()) -> dict[str, Listed]:
    """What gcov lists, by file, of a run of the chain by its harness."""
    export(project, chain, folder)
    built = build(folder, project.resolve(), "-O0", "-ffp-contract=off", "--coverage", sources=sources)
    assert built.returncode == 0, built.stderr
    subprocess.run([folder / "harness"], cwd=folder, capture_output=True, timeout=60, check=False)
    counters = [place.name for place in folder.glob("*.gcda")]
    subprocess.run(["gcov", "-b", "-c", *counters], cwd=folder, capture_output=True, check=True)
    return {place.stem: read(place.read_text(encoding="utf-8", errors="replace")) for place in folder.glob("*.gcov")}


def read(text: str) -> Listed:
    """A listing of gcov."""
    lines: Listed = {}
    number = 0
    for row in text.splitlines():
        if found := LINE.fullmatch(row):
            number = int(found[2])
            if found[1] != "-" and number:
                lines[number] = (int(found[1]) if found[1].isdigit() else 0, [])
        elif (branch := BRANCH.match(row)) and number in lines:
            lines[number][1].append(int(branch[1] or 0))
    return lines
