"""Ranges of floating inputs in steps: the values that the project allows, one by one."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from c_support import own_environment, read, refusal

from bmc.floats.format import FLOAT32, number

__all__ = ["own_environment"]
SOURCE = "float u; double w; double y; void step(void) { y = (double)u + w; }\n"


def _allowed(folder: Path, text: str | tuple[str, ...]) -> list[float]:
    model = read(folder, SOURCE, ranges={"u": text, "w": ("0.0",)}, input=("u", "w"))
    (var,) = (var for var in model.system.inputs if var.name == "u")
    return sorted(number(raw, FLOAT32) for low, high in var.values for raw in range(low, high + 1))


def test_steps_are_counted_from_the_lower_end(tmp_path: Path) -> None:
    assert _allowed(tmp_path, "-0.5..1.1 step 0.25") == [-0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0]


def test_every_value_is_rounded_once(tmp_path: Path) -> None:
    """The tenths are those that C's literals give, not sums of a rounded 0.1."""
    tenths = [struct.unpack("f", struct.pack("f", n / 10))[0] for n in range(11)]
    assert _allowed(tmp_path, "0.0..1.0 step 0.1") == tenths


def test_steps_stand_in_lists(tmp_path: Path) -> None:
    assert _allowed(tmp_path, ("0..2 step 1", "7.5")) == [0.0, 1.0, 2.0, 7.5]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0.0..1.0 step 0", "must be above 0"),
        ("0.0..1.0 step -1", "must be above 0"),
        ("0.0..1e6 step 0.5", "2000001 values"),
        ("0.0..inf step 1", "three plain numbers"),
        ("0.0 step 1", "three plain numbers"),
        ("2.0..1.0 step 0.5", "empty"),
        ("1e39..2e39 step 1e39", "does not fit"),
    ],
)
def test_steps_that_make_no_sense_are_refused(tmp_path: Path, text: str, message: str) -> None:
    error = refusal(tmp_path, SOURCE, ranges={"u": text, "w": ("0.0",)}, input=("u", "w"))
    assert message in str(error)
