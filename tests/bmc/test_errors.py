"""What errors show of names and texts that others wrote."""

from __future__ import annotations

import pytest

from bmc.errors import InputRefused, Location, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("größer → 3 %", "größer → 3 %"),
        ("a\x1b[31mb\x9b2J\x7f", "a\\x1b[31mb\\x9b2J\\x7f"),
        ("one\ntwo\r\tthree\u2028", "one\\ntwo\\r\\tthree\\u2028"),
        ("turned \u202e round", "turned \\u202e round"),
    ],
)
def test_nothing_that_a_terminal_acts_on_is_left(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_an_error_has_a_line_for_what_is_wrong_and_one_for_what_is_next() -> None:
    error = InputRefused("it said '\x1b[2J\nerror: none'", Location("a\nb.c", 3), "look\nthere")
    assert str(error).splitlines() == [
        "a\\nb.c:3: it said '\\x1b[2J\\nerror: none'",
        "  next: look\\nthere",
    ]
