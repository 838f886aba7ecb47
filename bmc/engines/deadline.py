"""The time limit of one question, for what comes before the solver: encoding can take longer than solving."""

from __future__ import annotations

import time


class OutOfTime(Exception):
    """The time limit of a question was over before the solver was asked: the answer is unknown."""


class Deadline:
    """Counts down ``seconds`` (None: no limit) from its making."""

    def __init__(self, seconds: float | None = None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    def left(self) -> float | None:
        """Seconds left, None without a limit. OutOfTime when they are over."""
        if self._end is None:
            return None
        left = self._end - time.monotonic()
        if left <= 0:
            raise OutOfTime
        return left
