"""What one of several searches may spend: a share of the time and of the effort that is left for all of them."""

from __future__ import annotations

from dataclasses import replace
from math import inf

from chaincover.limits import UNITS, Limits
from chaincover.options import Options

LEAST_PART, LEAST_SECONDS = 0.01, 0.01
"""Every search may spend so much of the whole effort, and so many seconds, whatever is left."""


def share_of(options: Options, limits: Limits, share: float) -> Options:
    """``options`` for one search that may spend ``share`` of what ``limits`` leave. LimitReached when time is over."""
    limits.check()
    part = part_of(limits, share)
    return replace(options, time_limit=part.seconds, effort=part.effort, jobs=1, scheduler=None)


def part_of(limits: Limits, share: float) -> Limits:
    """Limits over ``share`` of the time and the effort that ``limits`` leave, beginning now."""
    left, effort = limits.left(), limits.effort
    if effort is not None:
        effort = max(effort * LEAST_PART, (effort - limits.spent / UNITS) * share)
    return Limits(None if left == inf else max(LEAST_SECONDS, left * share), limits.query_limit, effort)
