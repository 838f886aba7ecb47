"""What a command loads: modules are counted, for imports are most of a short run, and libraries named."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import MODELS

HEAVY = frozenset({"clingo", "difflib", "distributed", "elkai", "matplotlib", "networkx"})
HEAVY |= {"numpy.ma", "numpy.random", "ortools", "pandas", "pysat", "rich", "scipy", "z3"}
HEAVY |= {"concurrent"}
"""Libraries that neither a page of help nor a run on enumerated states has any use for."""

SOLVERS = frozenset({"bmc.engines.sat", "bmc.engines.unrolling", "chaincover.orderings.auto", "highspy"})
"""What a run that the product search settles asks nothing."""

READ = frozenset({"numpy", "pycparser", "pysmt"})
"""What reading a program and searching for a chain are done with."""


def loaded(folder: Path, *arguments: str) -> set[str]:
    """The modules that a command has loaded at its end, without those that Python starts with."""
    code = (
        "import atexit, sys; begun = set(sys.modules)\n"
        "from chaincover.cli.entry import main\n"
        "@atexit.register\n"
        "def told():\n"
        "    with open(sys.argv[0], 'w') as file: print(*sorted(set(sys.modules) - begun), file=file)\n"
        "main()"
    )
    told = folder / "modules"
    program = f"import sys; sys.argv = [{str(told)!r}, *sys.argv[1:]]\n{code}"
    environment = {**os.environ, "CHAINCOVER_CACHE": str(folder / "kept")}
    subprocess.run([sys.executable, "-c", program, *arguments], env=environment, capture_output=True, check=False)
    return set(told.read_text().split())


def names(modules: set[str], libraries: frozenset[str]) -> set[str]:
    return libraries & {".".join(name.split(".")[:parts]) for name in modules for parts in (1, 2, 3)}


def test_help_loads_no_library_but_its_own(tmp_path: Path) -> None:
    modules = loaded(tmp_path, "--help")
    assert not names(modules, HEAVY | SOLVERS | READ)
    assert len([name for name in modules if name.split(".")[0] in ("bmc", "properties", "chaincover")]) <= 10
    assert len(modules) <= 70


@pytest.mark.slow
@pytest.mark.needs_compiler
def test_a_short_run_loads_what_it_uses(tmp_path: Path) -> None:
    run = ("generate", str(MODELS / "latch"), "--output", str(tmp_path / "out"))
    first = loaded(tmp_path, *run)
    assert not names(first, HEAVY | SOLVERS)
    assert len([name for name in first if name.split(".")[0] in ("bmc", "properties", "chaincover")]) <= 238
    assert len(first) <= 534
    again = loaded(tmp_path, *run)
    assert again < first, "the built program was kept: nothing more is needed than to build it"
    assert not names(again, frozenset({"elftools"}))
    assert len(again) <= 478
