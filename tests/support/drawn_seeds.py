"""Seeds for systems made at random: drawn by hypothesis, the same ones in every run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st


def seeds(count: int) -> Callable[[Callable[..., None]], Any]:
    """The test gets ``count`` values of ``seed``, one after the other; a failure tells which one fails."""

    def drawn(test: Callable[..., None]) -> Any:
        setting = settings(
            max_examples=count,
            derandomize=True,
            deadline=None,
            database=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
        )
        return setting(given(seed=st.integers(0, 1_000_000))(test))

    return drawn
