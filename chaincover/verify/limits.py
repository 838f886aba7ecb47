"""What a verification may spend."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

RESOURCES = 6_000_000
"""z3's resource count for one unit of effort, about a second."""


@dataclass(frozen=True, slots=True)
class Limits:
    """``seconds`` for everything (None: no limit); ``effort`` for each proof, in units of very roughly a second.

    ``explored``: simulated steps for the list of reachable states. ``original``: steps of the compiled original.
    ``nodes``: nodes of the search over state and covered goals. ``orders``: partial orders of goals looked at.
    """

    seconds: float | None = None
    effort: float = 60.0
    explored: int = 200_000
    original: int = 100_000
    nodes: int = 300_000
    orders: int = 300_000


@dataclass(frozen=True)
class Clock:
    """``limits``, counted from the making of the clock."""

    limits: Limits
    begun: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> float | None:
        """Seconds that are left, at least 0; None for no limit."""
        if self.limits.seconds is None:
            return None
        return max(0.0, self.begun + self.limits.seconds - time.monotonic())

    @property
    def over(self) -> bool:
        """Whether no time is left."""
        return self.left == 0.0

    @property
    def resources(self) -> int:
        """z3's resource limit for one proof."""
        return max(1, min(int(self.limits.effort * RESOURCES), (1 << 32) - 1))
