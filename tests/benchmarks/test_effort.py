"""The comparison of units of work with seconds of the processor."""

from __future__ import annotations

from typing import Any, cast

import pytest
from click.testing import CliRunner

from benchmarks.measures import effort
from benchmarks.measures.effort import UNCOUNTED, Measured, Turn, Turns, main, shown
from chaincover.known import Board
from chaincover.stages import Stage


def test_a_row_has_seconds_units_and_the_costly_stages() -> None:
    done = CliRunner().invoke(main, ["latch", "--effort", "0.02"])
    assert done.exit_code == 0, done.output
    heading, row, *_ = done.output.splitlines()
    assert heading.split()[:4] == ["row", "reading", "seconds", "units"]
    name, *numbers = row.split()[:4]
    assert name == "latch"
    assert all(float(number) >= 0 for number in numbers)


def measured(seconds: float, units: float, used_up: bool, turn: Turn) -> Measured:
    before, whole = Turn("before", 0.0, 0.0), Turn("whole", seconds, units)
    return Measured(0.0, before, whole, used_up, (), (turn,), 1, 5, 5)


FAIR = Turn("graph", 2.0, 1.0)


@pytest.mark.parametrize(
    ("found", "marks"),
    [
        (measured(60.0, 60.0, True, FAIR), [False, False]),
        (measured(119.0, 60.0, True, FAIR), [False, False]),
        (measured(125.0, 60.0, True, FAIR), [True, False]),
        (measured(19.0, 60.0, True, FAIR), [True, False]),
        (measured(19.0, 60.0, False, FAIR), [False, False]),
        (measured(68.0, 0.004, False, FAIR), [True, False]),
        (measured(60.0, 60.0, True, Turn("graph", 45.0, 1.0)), [False, True]),
    ],
)
def test_what_one_effort_takes_and_what_a_turn_takes_is_marked(found: Measured, marks: list[bool]) -> None:
    assert [marked for _, marked in shown("row", found)] == marks


def test_a_marked_row_ends_with_exit_code_1(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = measured(60.0, 60.0, True, Turn("graph", 45.0, 1.0))
    monkeypatch.setattr(effort, "searched", lambda *_: slow)
    done = CliRunner().invoke(main, ["latch"])
    assert done.exit_code == 1
    assert "a turn of graph: 45.0 s of 1.00 units  <<<" in done.output
    assert done.output.splitlines()[-1] == "marked: latch"


def test_more_effort_that_finds_less_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths = {"0.1": 7, "0.3": 6, "1": 8, "3": 6, "none": 5}
    found = measured(1.0, 1.0, False, FAIR)

    def searched(*given: str) -> Measured:
        return Measured(0.0, found.before, found.whole, False, (), (), 1, lengths[given[2]], 5)

    monkeypatch.setattr(effort, "searched", searched)
    done = CliRunner().invoke(main, ["latch", "--rising"])
    assert done.exit_code == 1
    assert [part.endswith("worse") for part in done.output.splitlines()[0].split(";")] == [False] * 2 + [True] + [
        False
    ] * 2


def test_of_each_stage_the_turn_that_is_longest_for_its_units_is_shown() -> None:
    turns = Turns(made=[Turn("a", 9.0, 9.0), Turn("a", 5.0, 1.0), Turn("b", UNCOUNTED, 1.0), Turn("b", 1.0, 2.0)])
    assert turns.longest == (Turn("a", 5.0, 1.0), Turn("b", UNCOUNTED, 1.0))
    assert turns.whole == [Turn("a", 14.0, 10.0), Turn("b", 2.0, 3.0)]


def test_a_work_in_several_places_stays_one() -> None:
    """Else the stage begins anew in each place, and another search is measured than the one that users have."""

    def work(board: Board) -> None:
        raise AssertionError("it is not begun")

    stages = [Stage("one", work), Stage("one", work, 2.0), Stage("two", print)]
    first, second, other = Turns().of(stages, cast(Any, None))
    assert first.work is second.work is not other.work
    assert second.first_turn == 2.0
