"""The time a run may take."""

from __future__ import annotations

import time
from math import inf

from bmc.errors import LimitReached


class Budget:
    """Counts down ``seconds`` (None: no limit) from its making; no single query gets more than ``query_limit``."""

    def __init__(self, seconds: float | None = None, query_limit: float | None = None) -> None:
        self.seconds = seconds
        self.query_limit = query_limit
        self._end = None if seconds is None else time.monotonic() + seconds

    def for_query(self) -> float | None:
        """Seconds that the next query may take, None for no limit. LimitReached if no time is left."""
        self.check()
        left = None if self._end is None else self._end - time.monotonic()
        limits = [limit for limit in (left, self.query_limit) if limit is not None]
        return min(limits) if limits else None

    def left(self) -> float:
        """Seconds left, infinite without a limit, 0 when time is over."""
        return inf if self._end is None else max(0.0, self._end - time.monotonic())

    def share(self, part: float) -> Budget:
        """A budget over ``part`` of the time that is left, beginning now."""
        return Budget(None if self._end is None else max(0.001, self.left() * part), self.query_limit)

    def check(self) -> None:
        """LimitReached once the time is over."""
        if self._end is not None and time.monotonic() >= self._end:
            raise LimitReached(
                f"the time limit of {self.seconds:g} s was reached", hint="allow more time, or fewer goals"
            )
