"""What a verification may spend: deterministic counts of work, and a time limit over them."""

from __future__ import annotations

import time
from dataclasses import field, replace

from bmc import ending
from bmc.records import dataclass

INDUCTION = 8
"""The largest k of a proof by k-induction, as where it was claimed; more by as many steps as monitors look back."""

SHARES = (1 / 512, 1 / 32, 1)
"""What is spent on a question in the first round, and in later ones where it is left open: no hard one starves others.
"""

FIRST_ASKED = 1 / 64
"""The part of an effort for a question that others follow: about all lengths at once, and about each requirement. With
twice as much, it decides more, and less time is left for the others."""

BLOCK = 1 << 14
"""Steps, cases, pairs of nodes that are computed at once. With twice as many, twice the memory for them."""


@dataclass(frozen=True, slots=True)
class Limits:
    """``seconds`` for everything (None: no limit), from the moment ``begun`` (None: from a clock's making).

    The other counts are those of one unit of effort.

    ``question``: for each question to the solver, in units of work of about a second. ``explored``: steps tried for the
    table of reachable states. ``original``: steps of the compiled original. ``nodes``: nodes of the search over state
    and covered goals. ``solver``: work of the linear programs over orders, in about seconds.
    """

    seconds: float | None = None
    begun: float | None = None
    question: float = 80.0
    explored: int = 20_000_000
    original: int = 200_000
    nodes: int = 5_000_000
    solver: float = 60.0

    @staticmethod
    def of(effort: float | None, seconds: float | None) -> Limits:
        """The limits for so many units of effort (None: no limit but the time)."""
        if effort is None:
            return Limits(seconds, None, 1e9, 1 << 40, 1 << 40, 1 << 40, 1e9)
        base = Limits()

        def scaled(count: int) -> int:
            return max(0, int(effort * count))

        return Limits(
            seconds=seconds,
            question=effort * base.question,
            explored=scaled(base.explored),
            original=scaled(base.original),
            nodes=scaled(base.nodes),
            solver=effort * base.solver,
        )


@dataclass(frozen=True)
class Clock:
    """``limits``, counted from their beginning, or from the making of the clock."""

    limits: Limits
    made: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> float | None:
        """Seconds that are left, at least 0; None for no limit. KeyboardInterrupt where the run was called off."""
        ending.check()
        if self.limits.seconds is None:
            return None
        begun = self.made if self.limits.begun is None else self.limits.begun
        return max(0.0, begun + self.limits.seconds - time.monotonic())

    def part(self, part: float) -> Clock:
        """A clock over this part of the time that is left, if that is limited."""
        left = self.left
        return self if left is None else Clock(replace(self.limits, seconds=left * part, begun=None))

    @property
    def over(self) -> bool:
        """Whether no time is left."""
        return self.left == 0.0

    def question(self, share: float = 1) -> float:
        """The units of work of one question that may take this share of an effort."""
        return self.limits.question * share
