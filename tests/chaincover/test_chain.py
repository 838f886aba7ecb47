"""Hits in a few bytes each are the hits that they were made of."""

from __future__ import annotations

import tracemalloc

from hypothesis import given, settings
from hypothesis import strategies as st

from chaincover.chain import Hit, Hits

HITS = st.lists(st.builds(Hit, st.sampled_from("abc"), st.integers(0, 1 << 30), st.sampled_from([None, False, True])))


@settings(max_examples=50, deadline=None, derandomize=True)
@given(HITS, HITS)
def test_hits_are_those_that_they_were_made_of(given_hits: list[Hit], others: list[Hit]) -> None:
    hits = Hits(given_hits)
    assert [*hits] == given_hits == hits[:]
    assert [*hits.steps] == [hit.step for hit in given_hits]
    assert [*hits.failures] == [hit for hit in given_hits if hit.consequent_held is False]
    assert (hits == Hits(others)) == (given_hits == others)
    assert hits == Hits(given_hits)
    assert hash(hits) == hash(Hits(given_hits))


def test_many_hits_take_a_few_bytes_each() -> None:
    tracemalloc.start()
    try:
        hits = Hits(Hit("goal", step, True) for step in range(50_000))
        kept = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert len(hits) == 50_000
    assert kept < 12 * len(hits)
