"""Values of inputs, one of each class; and rows of numbers that are told apart."""

from __future__ import annotations

import random

import numpy as np
import pytest

from bmc.formulas.terms import constant
from bmc.system.transition import InputVariable, ValueType
from chaincover.verification import inputs
from chaincover.verification.inputs import distinct
from chaincover.verification.limits import Clock, Limits


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


def test_an_input_that_is_read_as_it_is_has_a_class_for_each_value() -> None:
    """Of 16 bits, too, which are just as many as are listed; and a signed one has its raw values."""
    word, small = ValueType("word", 16), ValueType("small", 8, signed=True)
    clock = Clock(Limits())
    found = inputs.values_of(InputVariable("in_word", word), [word.symbol("in_word")], clock)
    assert found is not None
    assert sorted(found) == [*range(1 << 16)]
    found = inputs.values_of(InputVariable("in_small", small, ((-3, 2),)), [small.symbol("in_small")], clock)
    assert found == [0, 1, 2, 253, 254, 255]
    below = small.symbol("in_small").BVSLT(constant(0, 8))
    found = inputs.values_of(InputVariable("in_small", small, ((-3, 2),)), [below], clock)
    assert found == [0, 253]


def test_more_inputs_than_an_array_has_dimensions() -> None:
    """Each input that no other one is read with is a group of its own: numpy's arrays have at most 64 dimensions."""
    bit = ValueType("bit", 0)
    every = [InputVariable(f"in_{number}", bit) for number in range(100)]
    read = [var.symbol for var in every[:2]]
    found = inputs.input_classes(every, read, [], Clock(Limits()), {})
    assert found is not None
    assert (found.size, len(found.columns)) == (4, 100)
    assert {(choice["in_0"], choice["in_1"], choice["in_99"]) for choice in found.choices} == {
        (a, b, 0) for a in (0, 1) for b in (0, 1)
    }
