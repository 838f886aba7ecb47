"""The emulated boards: one model on each, and what is said where packages are missing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.boards.cross import compared, differences
from benchmarks.boards.machines import ARM, AVR, BOARDS
from benchmarks.boards.run import main
from bmc.system.transition import Run, StateVariable, TransitionSystem, ValueType

WORD = ValueType("unsigned short", 16)
COMPILERS = {"avr": "avr-gcc", "arm": "arm-none-eabi-gcc"}


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None if name in ("avr-gcc", "qemu-system-arm") else f"/{name}")
    assert "gcc-avr" in AVR.missing
    assert "qemu-system-arm" in ARM.missing
    done = CliRunner().invoke(main, ["--board", "arm"])
    assert done.exit_code == 1
    assert "qemu-system-arm" in done.output
    assert "(apt install)" in done.output


@pytest.mark.slow
@pytest.mark.needs_compiler
@pytest.mark.parametrize("key", [*BOARDS])
def test_a_chain_runs_on_the_board(key: str) -> None:
    """Driven over its serial line, and from its flash."""
    pytest.importorskip("serial")
    if BOARDS[key].missing:
        pytest.skip(f"needs {COMPILERS[key]}")
    done = CliRunner().invoke(main, ["--board", key, "--model", "cruise"])
    lines = done.output.splitlines()
    assert (done.exit_code, len(lines)) == (0, 2), done.output
    assert "cruise driven: 9 steps" in lines[0]
    assert "cruise in flash: 9 steps" in lines[1]


@pytest.mark.slow
@pytest.mark.needs_compiler
@pytest.mark.parametrize("key", [*BOARDS])
def test_drawn_programs_do_on_a_board_as_their_models(key: str, tmp_path: Path) -> None:
    if BOARDS[key].missing:
        pytest.skip(f"needs {COMPILERS[key]}")
    found = [compared(BOARDS[key], seed, tmp_path) for seed in range(20)]
    assert not [outcome for outcome, _ in found if outcome.startswith("wrong")]
    assert sum(steps for _, steps in found) > 1000


def test_what_a_board_said_is_compared_value_by_value() -> None:
    """Two variables of a counter: its second step is wrong in the second one, and the third one is missing."""
    counts = [StateVariable(name, WORD, WORD.constant(0), WORD.symbol(name), "state") for name in ("low", "high")]
    system = TransitionSystem("counter", tuple(counts), ())
    run = Run(tuple({"low": n, "high": 256 + n} for n in range(4)), ({}, {}, {}))
    assert [*differences(system, run, "01000101\n02000201\n03000301\n")] == []
    assert [*differences(system, run, "01000101\n02000301\n")] == [
        "2 of 3 steps were made",
        "high after 2 steps is 0x103, in the model 0x102",
    ]
