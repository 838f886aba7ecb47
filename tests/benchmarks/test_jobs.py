"""The comparison of one process with two: the arithmetic of its table, and that results may not differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from benchmarks.measures import jobs
from benchmarks.process import Cost
from bmc.errors import CheckDisagreed


def test_ratios_are_of_two_processes_to_one() -> None:
    assert jobs.line("m", 3, {1: 4.0, 2: 3.0}, {1: 4.0, 2: 5.0}) == "| m | 3 | 4.0 | 3.0 | 0.75 | 4.0 | 5.0 | 1.25 |"


@pytest.mark.parametrize("same", [True, False])
def test_results_must_be_the_same_but_for_run_json(same: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def made(command: Sequence[str], limit: float | None = None, variables: Mapping[str, str] | None = None) -> Cost:
        out, number = Path(command[-1]), command[command.index("--jobs") + 1]
        out.mkdir(exist_ok=True)
        (out / "chains.json").write_text('{"chains": [1, 2]}' if same else f'{{"chains": [{number}]}}')
        (out / "run-1.json").write_text(number)
        return Cost(2.0 * int(number), 4.0 / int(number), 80.0, 0, "")

    monkeypatch.setattr(jobs, "run", made)
    if same:
        assert jobs.measured("models/charger", (), 2).endswith("| 2 | 4.0 | 2.0 | 0.50 | 2.0 | 4.0 | 2.00 |")
    else:
        with pytest.raises(CheckDisagreed, match="charger"):
            jobs.measured("models/charger", (), 1)
