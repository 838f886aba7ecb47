"""States in arrays: packing, numbers for them, reading them like tuples, and distances between them."""

from __future__ import annotations

import random
from math import inf

import numpy as np
import pytest

from bmc.explicit.rows import Layout, Numbering, Rows, Steps
from bmc.explicit.state_graph import UNREACHED, Arrows, StateGraph, longest_run


def test_keys_get_numbers_in_the_order_in_which_they_come() -> None:
    rng = np.random.default_rng(3)
    for width in (1, 2, 3):
        table, known = Numbering(width), dict[tuple[int, ...], int]()
        for _ in range(20):
            keys = [rng.integers(0, 40, 500).astype(np.uint64) << np.uint64(40) for _ in range(width)]
            rows = list(zip(*(column.tolist() for column in keys), strict=True))
            expected = [known.setdefault(row, len(known)) for row in rows]
            assert table.add(keys).tolist() == expected
            assert table.find(keys).tolist() == expected
        assert list(zip(*(column.tolist() for column in table.words), strict=True)) == list(known)
        missing = [np.array([1], np.uint64)] * width
        assert table.find(missing).tolist() == [-1]


def test_variables_are_packed_and_unpacked() -> None:
    widths = [0, 3, 64, 8, 33, 31, 1, 64, 12]
    layout = Layout([(f"v{n}", bits) for n, bits in enumerate(widths)])
    rng = random.Random(1)
    rows = {f"v{n}": [rng.randrange(1 << max(bits, 1)) for _ in range(20)] for n, bits in enumerate(widths)}
    words = layout.pack([np.array(values, np.uint64) for values in rows.values()])
    assert {name: [int(v) for v in column.tolist()] for name, column in layout.columns(words).items()} == rows


def test_rows_and_steps_read_like_tuples() -> None:
    rows = Rows({"a": np.array([3, 1], np.uint8), "b": np.array([True, False])}, 2)
    assert list(rows) == [{"a": 3, "b": 1}, {"a": 1, "b": 0}] == [rows[0], rows[1]] == list(rows[:])
    assert rows[-1] == {"a": 1, "b": 0}
    with pytest.raises(IndexError):
        rows[2]
    steps = Steps(np.array([0, 2, 2, 3]), np.array([0, 1, 4]), np.array([1, 2, 0]))
    assert list(steps) == [((0, 1), (1, 2)), (), ((4, 0),)] == [steps[0], steps[1], steps[-1]] == steps[:]
    with pytest.raises(IndexError):
        steps[3]


def test_distances_and_arrows_backward() -> None:
    arrows = Arrows(np.array([0, 2, 3, 3, 4]), np.array([1, 2, 2, 0]))
    assert arrows.distances(np.array([0])).tolist() == [0, 1, 1, UNREACHED]
    back = arrows.backward()
    assert back.distances(np.array([2])).tolist() == [1, 1, 0, 2]
    begin = np.array([[5, UNREACHED, 3, UNREACHED], [UNREACHED] * 4, [0, UNREACHED, UNREACHED, 2]], np.int32)
    assert arrows.all_distances(begin).tolist() == [[5, 6, 3, UNREACHED], [UNREACHED] * 4, [0, 1, 1, 2]]
    assert [back.ends[back.of(np.array([node]))[0]].tolist() for node in range(4)] == [[3], [0], [0, 1], []]


@pytest.mark.parametrize("seed", range(20))
def test_the_longest_run_is_that_of_all_runs(seed: int) -> None:
    """Against all runs, one step after the other, on graphs in which every step leads onward, or some lead back."""
    rng = random.Random(seed)
    size, back = rng.randint(1, 9), seed % 4 == 3
    ways = [
        [end for end in range(size) if (end > state or (back and end == state // 2)) and rng.random() < 0.4]
        for state in range(size)
    ]
    near, reached = {0}, [0]
    while near := {end for state in near for end in ways[state]} - {*reached}:
        reached += sorted(near)
    number = {state: place for place, state in enumerate(reached)}
    counts = [2 * len(ways[state]) for state in reached]
    nexts = [number[end] for state in reached for end in ways[state] * 2]
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    steps = Steps(offsets, np.zeros(len(nexts), np.int32), np.array(nexts, np.int32))
    graph = StateGraph(Rows({}, len(reached)), (0,), Rows({}, 1), steps)
    longest, ends = 0.0, {0}
    while ends := {end for state in ends for end in ways[state]}:
        longest = inf if longest > size else longest + 1
        if longest == inf:
            break
    assert longest_run(graph) == longest
