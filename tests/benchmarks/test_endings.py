"""Commands that come to a limit lose nothing: some places of what ``python -m benchmarks ending-limits`` looks at."""

from __future__ import annotations

import pytest

from benchmarks.checks.endings import limits

CASES = {case.name: case for case in limits.CASES}


@pytest.mark.slow
@pytest.mark.needs_signals
@pytest.mark.parametrize(
    ("name", "at", "how", "code"),
    [
        ("generate", 40, "alarm", 5),
        pytest.param("generate", 370, "alarm", 1, marks=pytest.mark.evidence),
        pytest.param("generate as JSON", 260, "SIGINT", 130, marks=pytest.mark.evidence),
        ("generate --several", 100, "alarm", 5),
        pytest.param("compare", 400, "limit", 5, marks=pytest.mark.evidence),
        pytest.param("check", 300, "alarm", 5, marks=pytest.mark.evidence),
        ("graph", 300, "SIGTERM", 143),
        ("verify", 300, "alarm", 6),
        ("replay", 30, "SIGINT", 130),
        pytest.param("bench", 12, "SIGINT", 130, marks=pytest.mark.evidence),
    ],
)
def test_nothing_is_lost_at_a_limit(name: str, at: int, how: str, code: int) -> None:
    ended, lost = limits.lost(CASES[name], at, how)
    assert (lost, ended.code) == ([], code), ended
    assert ended.looks >= at
