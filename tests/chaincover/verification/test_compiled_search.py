"""The compiled search over all runs against the search in arrays on the same table."""

from __future__ import annotations

import pytest
from random_systems import random_case

from chaincover.verification.compiled_search import compiled_search
from chaincover.verification.limits import Clock, Limits
from chaincover.verification.marks import Marks
from chaincover.verification.search import search
from chaincover.verification.setting import Setting, monitored_setting
from chaincover.verification.states import tabulate

pytestmark = pytest.mark.needs_compiler
FAR_OFF = 1000
"""No chain of these systems is as long."""


def marks_of(seed: int) -> Marks:
    case = random_case(seed, goals=3, longest=1)
    setting = monitored_setting(Setting(case.system, case.goals, case.final, "allow"), None)[0]
    table = tabulate(setting.system, setting.formulas, Clock(Limits()))
    assert table is not None
    return Marks(table, setting, setting.names)


@pytest.mark.parametrize("seed", range(6))
def test_no_run_is_shorter_than_the_shortest_one_which_is_found(seed: int) -> None:
    marks = marks_of(seed)
    names = list(marks.remaining)
    least = search(marks, names, Clock(Limits())).length
    for below in (FAR_OFF,) if least is None else (least, least + 1):
        found = compiled_search(marks, names, Clock(Limits()), below)
        assert found is not None
        assert found.complete
        assert found.length == (None if least is None or below == least else least)


def test_a_limit_of_nodes_leaves_the_question_open() -> None:
    marks = marks_of(0)
    found = compiled_search(marks, list(marks.remaining), Clock(Limits(nodes=0)), FAR_OFF)
    assert found is not None
    assert not found.complete


def test_a_compiler_that_makes_no_program_leaves_the_question_to_the_other_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    marks = marks_of(0)
    monkeypatch.setenv("CC", "true")
    assert compiled_search(marks, list(marks.remaining), Clock(Limits()), FAR_OFF) is None


def test_more_goals_than_the_table_of_bits_has_room_for_are_left_to_the_other_search() -> None:
    marks = marks_of(0)
    assert compiled_search(marks, list(marks.remaining) * 11, Clock(Limits()), FAR_OFF) is None
