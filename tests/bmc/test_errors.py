"""What errors show of names and texts that others wrote."""

from __future__ import annotations

import pytest

from bmc.errors import InputRefused, Location, SeveralRefused, printable


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


def test_a_next_step_that_differs_in_a_name_is_told_once() -> None:
    errors = [InputRefused(f"'{name}' is missing", None, f'list "{name}" there') for name in ("one", "two", "three")]
    told = str(SeveralRefused([*errors, InputRefused("'four' is odd", None, "mend four")]))
    assert 'next, with each of one, two, three as NAME: list "NAME" there' in told
    assert 'list "one" there' not in told
    assert "next: mend four" in told
