"""What is read from outside, up to its limits; and that the page on limits names each with its figure."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from command_line import ROOT

from bmc.errors import InputRefused, Location
from bmc.limits import (
    DIGITS,
    LIMITS,
    NESTED_DATA,
    TooLarge,
    exact_number,
    read_json,
    read_text,
    read_toml,
    text_of,
    whole_number,
)

HERE = Location("file")


def test_numbers_up_to_the_limit_are_read() -> None:
    assert whole_number("9" * DIGITS.most) == 10**DIGITS.most - 1
    assert read_json("9" * DIGITS.most, HERE) == read_toml("n = " + "9" * DIGITS.most, HERE)["n"]
    with pytest.raises(TooLarge, match="more than 1,000 digits"):
        whole_number("9" * (DIGITS.most + 1), where=HERE)


@pytest.mark.parametrize("number", ["1" + "0" * DIGITS.most, "0x" + "f" * DIGITS.most, "9" * 5_000, "9_" * 5_000 + "9"])
def test_a_longer_number_of_a_document_is_refused_with_its_place(number: str) -> None:
    with pytest.raises(TooLarge) as caught:
        read_toml(f"a = 1\nb = [2, {number}]", HERE)
    assert caught.value.where == Location("file", 2, 9)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda number: pickle.loads(pickle.dumps(number))])
def test_a_copy_of_a_number_is_as_exact_as_the_number(copied: Callable[[float], float]) -> None:
    number = read_toml("n = 0.1000000000000000000001", HERE)["n"]
    assert copied(number) == number == 0.1
    assert exact_number(copied(number)) == exact_number(number) == Fraction("0.1000000000000000000001")


def test_data_may_be_nested_up_to_the_limit() -> None:
    most = NESTED_DATA.most
    assert read_json("[" * most + "]" * most, HERE)
    for deeper in (most + 1, 1_000, 100_000):
        with pytest.raises(TooLarge, match="one within the other"):
            read_json("[" * deeper + "]" * deeper, HERE)
        with pytest.raises(TooLarge, match="one within the other"):
            read_toml("a = " + "[" * deeper + "]" * deeper, HERE)


@pytest.mark.parametrize(
    ("text", "key", "line", "column"),
    [
        ('{"a": 1, "a": 1}', '"a"', 1, 10),
        ('{"a": {"b": 1},\n "b": [{"a": 1, "c": "a"},\n  {"c": "{", "a": 2, "c" : 3}]}', '"c"', 3, 22),
        ('[{"a\\"b": 1, "\\u0061\\"b": 2}]', '"\\u0061\\"b"', 1, 14),
    ],
)
def test_a_key_that_stands_twice_in_an_object_is_refused_with_its_place(
    text: str, key: str, line: int, column: int
) -> None:
    with pytest.raises(InputRefused) as caught:
        read_json(text, HERE)
    assert caught.value.message == f"the key {key} stands twice in one object"
    assert caught.value.where == Location("file", line, column)
    assert read_json('{"a": {"a": 1}, "b": [{"a": 2}, {"a": 3}]}', HERE)["b"][1] == {"a": 3}


def test_a_byte_order_mark_and_line_ends_of_other_systems_are_read_over(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_bytes(b"\xef\xbb\xbfa = 1\r\nb = 2\rc = 3\n")
    assert text_of(file) == "a = 1\nb = 2\nc = 3\n"


@pytest.mark.parametrize("name", ["", "gone", "a\0b", "x" * 5_000])
def test_a_file_that_cannot_be_opened_is_refused_with_its_name(name: str, tmp_path: Path) -> None:
    with pytest.raises(OSError):  # noqa: PT011 (which one is the system's matter)
        text_of(tmp_path / name)
    with pytest.raises(InputRefused, match="cannot read the table: ") as caught:
        read_text(tmp_path / name, "the table")
    assert caught.value.where is not None
    assert caught.value.where.file.startswith(str(tmp_path))
    assert "\0" not in caught.value.where.file


def test_the_page_on_limits_has_every_limit() -> None:
    page = (ROOT / "docs" / "reference" / "limits.md").read_text(encoding="utf-8")
    rows = [tuple(row.strip("| ").split(" | ")) for row in page.splitlines() if re.match(r"\| \d", row)]
    assert rows == [(f"{x.most:,}", x.named) for x in LIMITS]
