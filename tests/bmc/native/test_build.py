"""What is done side by side while the original is built."""

from __future__ import annotations

import threading

import pytest

from bmc.native import build


@pytest.fixture(autouse=True)
def two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build.os, "cpu_count", lambda: 2)


def test_the_results_are_in_the_order_of_the_files() -> None:
    assert build._at_once(lambda number: 10 * number, range(50)) == [10 * number for number in range(50)]


def test_the_error_is_that_of_the_first_file_and_later_files_are_left() -> None:
    begun: list[int] = []

    def work(number: int) -> None:
        begun.append(number)
        if number in (3, 5):
            raise ValueError(number)

    with pytest.raises(ValueError, match="3"):
        build._at_once(work, range(1000))
    assert max(begun) <= 6, "after the error of 5 at the latest nothing is begun"


def test_an_interrupt_waits_for_what_is_under_way_and_begins_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    ended: list[int] = []
    joined: list[threading.Thread] = []
    go_on = threading.Event()
    join = threading.Thread.join

    def work(number: int) -> None:
        begun.append(number)
        go_on.wait()
        ended.append(number)

    def interrupted(thread: threading.Thread, timeout: float | None = None) -> None:
        joined.append(thread)
        if len(joined) == 1:
            raise KeyboardInterrupt
        go_on.set()
        join(thread, timeout)

    monkeypatch.setattr(threading.Thread, "join", interrupted)
    with pytest.raises(KeyboardInterrupt):
        build._at_once(work, range(1000))
    assert sorted(begun) == sorted(ended)
    assert len(begun) <= 2
