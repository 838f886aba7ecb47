"""A sample of the generated systems against the independent search (``python -m benchmarks generated``).

A wrong answer always fails. One that only leaves something open (a gap, an unproved verdict, a limit) fails with
``STRICT``; so does a *minimal number* that was only shown within K.
"""

from __future__ import annotations

import pytest

from benchmarks.checks.generated.run import ARRAYS, COMPILED, Row, compared, line

STRICT = True
"""Whether every length, number of chains, verdict and claim of minimality must equal the search's."""

SAMPLE = range(12)
STATES = 16
GOALS = 4
LIMIT = 60.0
"""Seconds for one system, as the benchmark gives it."""


def checked(row: Row) -> None:
    if STRICT:
        assert row.agrees(strict=True), line(row)
    assert not [kind for kind, _ in row.wrong if STRICT or kind != "number wrong"], line(row)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SAMPLE)
def test_the_answer_equals_the_search(seed: int) -> None:
    checked(compared(seed, states=STATES, goals=GOALS, limit=LIMIT))


@pytest.mark.slow
@pytest.mark.parametrize("seed", SAMPLE[::3])
def test_the_answer_with_a_level_in_floating_point_equals_the_search(seed: int) -> None:
    checked(compared(seed, states=STATES, goals=GOALS, limit=LIMIT, kind="levels"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", SAMPLE[::5])
def test_the_answer_with_disjoint_goals_equals_the_search(seed: int) -> None:
    checked(compared(seed, overlap="forbid", states=STATES, goals=GOALS, limit=LIMIT))


@pytest.mark.slow
@pytest.mark.needs_compiler
def test_the_compiled_search_alone_answers_as_the_search() -> None:
    checked(compared(7, overlap="forbid", states=STATES, goals=GOALS, limit=LIMIT, by=COMPILED))


@pytest.mark.slow
def test_the_answer_without_what_is_compiled_equals_the_search() -> None:
    checked(compared(2, states=STATES, goals=GOALS, limit=LIMIT, by=ARRAYS))


@pytest.mark.slow
@pytest.mark.parametrize("seed", SAMPLE[::5])
def test_the_answer_with_starts_that_are_left_open_equals_the_search(seed: int) -> None:
    checked(compared(seed, states=STATES, goals=GOALS, limit=LIMIT, kind="formulas", open_start=True))
