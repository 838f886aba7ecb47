"""Notes that say the same of several names are told as one, and none loses its name."""

from __future__ import annotations

from chaincover.report.console_check import joined

LONG = "set neither by init nor by the step, so that reading it is undefined behaviour"


def test_a_note_keeps_its_only_name_where_it_is_longer_than_a_line() -> None:
    assert joined([f"'s->e' is {LONG}"], 60) == [f"'s->e' is {LONG}"]


def test_names_that_fit_are_told_and_others_are_counted() -> None:
    notes = [f"'{name * 9}' is {LONG}" for name in "abcd"]
    assert joined(notes) == [f"'aaaaaaaaa', 'bbbbbbbbb', 'ccccccccc', 'ddddddddd' are {LONG}"]
    assert joined(notes, len(LONG) + 40) == [f"'aaaaaaaaa', 'bbbbbbbbb' and 2 more are {LONG}"]
    assert joined(notes, len(LONG)) == [f"4 variables are {LONG}"]
