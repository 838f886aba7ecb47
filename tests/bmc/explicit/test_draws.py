"""Draws beside ``numpy.random.RandomState``, number by number."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bmc.explicit import draws
from bmc.explicit.draws import Draws

SHAPES = st.one_of(st.integers(0, 50), st.tuples(st.integers(0, 7), st.integers(0, 9)))
CALLS = st.lists(st.tuples(st.one_of(st.none(), st.integers(1, 9), st.integers(1, 1 << 32)), SHAPES), max_size=12)


@given(st.integers(0, (1 << 32) - 1), CALLS, st.integers(0, 200))
def test_the_numbers_are_those_of_numpy_wherever_its_generator_takes_over(seed, calls, few) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(draws, "FEW", few)
        own = Draws(seed)
    theirs = np.random.RandomState(seed)
    for most, shape in calls:
        if most is None:
            found, wanted = own.parts(shape), theirs.random_sample(shape)
        else:
            found, wanted = own.below(most, shape), theirs.randint(0, most, shape)
        assert found.shape == wanted.shape
        assert found.tolist() == wanted.tolist()
