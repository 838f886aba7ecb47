"""Rows of numbers that are told apart: which are there, and which one each row equals."""

from __future__ import annotations

import random

import numpy as np
import pytest

from chaincover.verification.inputs import distinct


@pytest.mark.parametrize("bits", [(1, 1), (40, 20, 3), (60, 60, 60), (63, 64, 1, 64)])
def test_distinct_rows(bits: tuple[int, ...]) -> None:
    """Also of more bits together than a word has, and where many values are as wide as it: in the order of the rows."""
    source = random.Random(7)
    rows = [tuple(source.getrandbits(width) for width in bits) for _ in range(700)]
    rows = [source.choice(rows) for _ in range(2000)]
    place, which = distinct([np.array(column, np.uint64) for column in zip(*rows, strict=True)], len(rows))
    first = {row: number for number, row in reversed([*enumerate(rows)])}
    assert place.tolist() == sorted(first.values())
    assert [rows[place[number]] for number in which.tolist()] == rows


def test_values_wider_than_a_word() -> None:
    rows = [(1 << 70) + 1, 5, (1 << 70) + 1, 1 << 70]
    place, which = distinct([np.array(rows, object), np.zeros(4, np.uint64)], 4)
    assert (place.tolist(), which.tolist()) == ([0, 1, 3], [0, 1, 0, 2])


def test_no_row() -> None:
    place, which = distinct([np.zeros(0, np.uint64)], 0)
    assert (place.tolist(), which.tolist()) == ([], [])
