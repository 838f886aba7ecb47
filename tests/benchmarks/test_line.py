"""Chains over a serial line to a target on this machine: noise, and a target that fails in the middle."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.boards.build import Built, built
from benchmarks.boards.line import Ran, host_target, ran, wrong
from benchmarks.boards.noise import damaged

pytestmark = pytest.mark.needs_compiler
pytest.importorskip("serial")

AT = 5
"""The step at which the target fails."""


@pytest.fixture(scope="module")
def cruise(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return built("cruise", tmp_path_factory.mktemp("cruise"), ["lp64"])


@pytest.fixture(scope="module")
def target(cruise: Built) -> str:
    return str(host_target(cruise))


def test_noise_damages_bytes_in_three_ways() -> None:
    data = bytes(range(100))
    assert damaged(random.Random(1), data, 0.0) == data
    lengths = {len(damaged(random.Random(seed), data, 0.02)) for seed in range(50)}
    assert min(lengths) < len(data) < max(lengths)


def test_noise_changes_no_verdict_and_makes_no_step_twice(cruise: Built, target: str, tmp_path: Path) -> None:
    """A hundredth of the bytes: a third of the exchanges has to be repeated."""
    draw, columns = random.Random(1), ["gas", "brake", "acc", "dec", "button"]
    rows = [draw.choice(columns) for _ in range(200)]
    chain = tmp_path / "inputs.csv"
    lines = [",".join(f"i->{name}" for name in columns), *(",".join(str(int(n == r)) for n in columns) for r in rows)]
    chain.write_text("\n".join(lines) + "\n")
    long = replace(cruise, chain=chain)
    quiet = ran(long, target, 0, share=0.0)
    assert (quiet.made, quiet.ordered) == (200, 200)
    assert {goal["verdict"] for goal in quiet.judged["goals"]} == {"covered"}
    run = ran(long, target, 1)
    assert [*wrong(run, quiet)] == []
    assert run.repeated


def messages(run: Ran) -> list[str]:
    """The remark on how the run ended, and no traceback beside it."""
    assert "Traceback" not in run.stderr
    return [text for text in run.judged["remarks"] if text.startswith("the run ended early")]


@pytest.mark.parametrize(
    ("fault", "message", "stopped"),
    [
        ("kill", "gave no answer within 1 s", 0),
        ("hang", "gave no answer within 1 s", 0),
        ("forget", "knows nothing of this session", 1),
        ("late", "gave no answer within 1 s", 1),
    ],
)
def test_a_target_that_fails(fault: str, message: str, stopped: int, cruise: Built, target: str) -> None:
    """One message, and a log of the steps up to there; the safe inputs are applied where the target still answers."""
    run = ran(cruise, target, 0, share=0.0, fault=(fault, AT))
    (text,) = messages(run)
    assert message in text
    assert run.code == 5
    assert [line["step"] for line in run.log if "step" in line] == [*range(AT - 1)]
    assert [line["end"] for line in run.log if "end" in line] == ["the target was lost"]
    assert [line["inputs"]["i->brake"] for line in run.log if "after_end" in line and "inputs" in line] == [1] * stopped
