"""Patterns that stand for variables."""

from __future__ import annotations

import pytest

from bmc.system.names import matching

NAMES = ("ev[0].code", "ev[1].code", "ev[1].at[0]", "even", "n")


@pytest.mark.parametrize("pattern", ["ev[*]", "ev[*", "ev"])
def test_a_pattern_stands_for_all_of_each_element(pattern: str) -> None:
    assert [*matching([pattern], NAMES, None, "variable")] == ["ev[0].code", "ev[1].code", "ev[1].at[0]"]


def test_brackets_within_a_pattern_are_those_of_c() -> None:
    assert [*matching(["ev[*].code"], NAMES, None, "variable")] == ["ev[0].code", "ev[1].code"]
