"""The fewest covers of all goals against every choice of covers."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from drawn_seeds import seeds

from chaincover.graph.exact import Cover
from chaincover.partition.fewest import MOST_GOALS, fewest


@seeds(30)
def test_fewest_against_every_choice(seed: int) -> None:
    rng = random.Random(seed)
    names = [f"g{n}" for n in range(rng.randint(1, 6))]
    covers = [
        Cover(frozenset(rng.sample(names, rng.randint(1, len(names)))), rng.randint(1, 9))
        for _ in range(rng.randint(1, 8))
    ]
    complete = [
        chosen
        for size in range(1, len(covers) + 1)
        for chosen in combinations(covers, size)
        if frozenset().union(*(c.goals for c in chosen)) == frozenset(names)
    ]
    if not complete:
        with pytest.raises(ValueError, match="in none of the covers"):
            fewest(covers, names)
        return
    found = fewest(covers, names)
    assert found is not None
    assert frozenset().union(*(c.goals for c in found)) == frozenset(names)
    best = min((len(chosen), sum(c.length for c in chosen)) for chosen in complete)
    assert (len(found), sum(c.length for c in found)) == best
    assert fewest(covers, names[::-1]) == found


def test_fewest_has_a_limit() -> None:
    names = [f"g{n}" for n in range(MOST_GOALS + 1)]
    assert fewest([Cover(frozenset(names), 1)], names) is None
    assert fewest([], []) == ()
