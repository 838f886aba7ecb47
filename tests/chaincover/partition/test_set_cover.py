"""The fewest covers of all goals against every choice of covers."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from drawn_seeds import seeds

from chaincover.partition import set_cover as module
from chaincover.partition.coverable_sets import Cover
from chaincover.partition.set_cover import minimal_set_cover


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
            minimal_set_cover(covers, names)
        return
    found = minimal_set_cover(covers, names)
    assert found is not None
    assert frozenset().union(*(c.goals for c in found)) == frozenset(names)
    best = min((len(chosen), sum(c.length for c in chosen)) for chosen in complete)
    assert (len(found), sum(c.length for c in found)) == best
    assert minimal_set_cover(covers, names[::-1]) == found


def test_many_goals_by_few_covers() -> None:
    """Windows of goals that overlap: every second one would leave gaps, so that the number is not a mere division."""
    names = [f"g{n:02}" for n in range(40)]
    covers = [Cover(frozenset(names[first : first + 5]), 9 if first % 5 else 10) for first in range(36)]
    found = minimal_set_cover(covers, names)
    assert found is not None
    assert (len(found), sum(c.length for c in found)) == (8, 80)
    assert minimal_set_cover([], []) == ()


def test_too_many_ways_to_choose_are_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"g{n}" for n in range(6)]
    covers = [Cover(frozenset(pair), 1) for pair in combinations(names, 2)]
    assert minimal_set_cover(covers, names) == (covers[0], covers[9], covers[14])
    monkeypatch.setattr(module, "MOST_UNIONS", 20)
    assert minimal_set_cover(covers, names) is None
