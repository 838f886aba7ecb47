"""The one command that is named where goals are not covered: typed as it stands, it helps."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from command_line import MODELS, chaincover

CASES = [
    (("cruise", "--max-length", "5"), 0),
    pytest.param(("cruise", "-K", "1"), 0, marks=pytest.mark.evidence),
    (("cruise_fig1",), 0),
    (("cruise_fig1", "--final", "init"), 0),
    (("latch", "--property", "bad: G(q == 5 -> X(q == 1))", "--exclude", "reset_wins"), 0),
    (("charger", "--goal", "starts", "--goal", "out_of_order", "--most"), 0),
]


@pytest.mark.slow
@pytest.mark.parametrize(("given", "code"), CASES, ids=lambda value: " ".join(value)[:40] if value else "")
def test_the_named_command_covers_every_goal(tmp_path: Path, given: tuple[str, ...], code: int) -> None:
    model, *options = given
    first = chaincover("generate", MODELS / model, "--no-replay", *options, cwd=tmp_path)
    assert first.code not in (0, code)
    (named,) = [line.removeprefix("try: ") for line in first.out.splitlines() if line.startswith("try: ")]
    words = shlex.split(named)
    assert words[:2] == ["chaincover", "generate"]
    assert chaincover(*words[1:], cwd=tmp_path).code == code


def test_more_effort_is_named_where_it_was_used_up(tmp_path: Path) -> None:
    told = chaincover("generate", MODELS / "window", "--effort", "0.00001", cwd=tmp_path).out
    assert [line.split()[-2:] for line in told.splitlines() if line[:4] == "try:"] == [["--effort", "4e-05"]]
    assert told.count("--effort 0.00001") == 0


def test_no_command_is_named_where_every_goal_is_covered(tmp_path: Path) -> None:
    assert "try: " not in chaincover("generate", MODELS / "cruise", "--no-replay", cwd=tmp_path).out


def test_no_command_is_named_that_would_leave_no_goal(tmp_path: Path) -> None:
    given = (MODELS / "latch", "--no-replay", "--property", "bad: cover(q == 5)", "--goal", "bad")
    assert "try: " not in chaincover("generate", *given, cwd=tmp_path).out
    assert "--exclude bad" in chaincover("generate", *given, "--goal", "sets", cwd=tmp_path).out
