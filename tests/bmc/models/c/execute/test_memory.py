"""Memory that parts in many copies: each has contents of its own, and what no copy changes is there once."""

from __future__ import annotations

import random
import tracemalloc

import pytest

from bmc.models.c.execute.memory import Cells


def test_copies_of_a_large_memory_take_little_memory() -> None:
    cells = Cells(dict.fromkeys(range(10_000), "start"))
    cells[0] = "changed"
    tracemalloc.start()
    copies = [cells.copied() for _ in range(100)]
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert {copy[0] for copy in copies} == {"changed"}
    assert most < 100_000


@pytest.mark.parametrize("seed", range(20))
def test_each_copy_has_contents_of_its_own(seed: int) -> None:
    chosen = random.Random(seed)
    start = {number: f"start {number}" for number in range(chosen.choice((0, 5, 200)))}
    copies = [(Cells(start), dict(start))]
    for turn in range(300):
        cells, plain = chosen.choice(copies)
        key = chosen.randrange(len(start) + 10)
        if chosen.random() < 0.1:
            copies.append((cells.copied(), dict(plain)))
        elif chosen.random() < 0.3:
            cells.pop(key, None)
            plain.pop(key, None)
        else:
            cells[key] = plain[key] = f"turn {turn}"
        assert (cells.get(key), key in cells) == (plain.get(key), key in plain)
    for cells, plain in copies:
        assert dict(cells.items()) == plain
        assert set(cells) == plain.keys()
        assert len(cells) == len(plain)


def test_what_is_gone_can_be_written_again() -> None:
    cells = Cells({"x": 1})
    del cells["x"]
    with pytest.raises(KeyError):
        cells["x"]
    with pytest.raises(KeyError):
        del cells["x"]
    cells["x"] = 2
    assert [*cells.copied().items()] == [("x", 2)]
