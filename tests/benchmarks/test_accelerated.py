"""Drawn controllers with counters through the whole of generate, all stages in turns, and verify."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import chaincover

from benchmarks.checks.accelerated.written import ENDINGS, minimal, write


@pytest.mark.needs_compiler
@pytest.mark.parametrize("seed", [5, 23])
def test_drawn_controllers_are_searched_and_verified(seed: int, tmp_path: Path) -> None:
    """Every goal that reads a counter is ruled out while counters are looked at."""
    project = write(seed, tmp_path / "drawn")
    made = chaincover("generate", project, "-q", "-o", tmp_path / "out")
    assert made.code in ENDINGS, made.err
    assert minimal(tmp_path / "out" / "chain.json") is not False
    assert chaincover("verify", project, tmp_path / "out", "-q").code == 0
