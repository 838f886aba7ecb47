"""The weighted set cover of the baselines, against all ways to choose."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.bench.tools.weighted_cover import greedy_cover, undominated, weighted_cover

LENGTHS = st.dictionaries(st.integers(1, 63), st.integers(0, 12), min_size=1, max_size=9)


def union(sets: object) -> int:
    found = 0
    for mask in sets:  # type: ignore[attr-defined]
        found |= mask
    return found


@settings(max_examples=60, derandomize=True, deadline=None, database=None)
@given(lengths=LENGTHS)
def test_a_cover_has_the_fewest_steps_and_then_the_fewest_sets(lengths: dict[int, int]) -> None:
    picked, proved = weighted_cover(lengths)
    ways = (way for size in range(len(lengths) + 1) for way in combinations(lengths, size))
    best = min((sum(lengths[m] for m in way), len(way)) for way in ways if union(way) == union(lengths))
    assert proved
    assert union(picked) == union(lengths)
    assert (sum(lengths[m] for m in picked), len(picked)) == best


@settings(max_examples=40, derandomize=True, deadline=None, database=None)
@given(lengths=LENGTHS)
def test_the_greedy_cover_and_the_undominated_sets_cover_all(lengths: dict[int, int]) -> None:
    assert union(greedy_cover(lengths)) == union(lengths)
    kept = undominated(lengths)
    assert union(kept) == union(lengths)
    for mask, length in lengths.items():
        assert any(mask & ~other == 0 and own <= length for other, own in kept.items())


def test_nothing_to_cover_needs_nothing() -> None:
    assert weighted_cover({}) == ((), True)
    assert weighted_cover({0: 5}) == ((), True)
    assert greedy_cover({0: 5}) == ()


def test_a_greedy_choice_may_be_longer() -> None:
    lengths = {0b0011: 3, 0b1100: 3, 0b0110: 1}
    assert greedy_cover(lengths) == (0b0110, 0b0011, 0b1100)
    assert weighted_cover(lengths)[0] == (0b0011, 0b1100)
