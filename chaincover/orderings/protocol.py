"""What every ordering backend offers: a shortest covering path from start to end."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Protocol

from bmc.records import dataclass

Path = tuple[str, ...]


@dataclass(frozen=True)
class OrderingProblem:
    """Visit every one of ``nodes`` once on a path from ``start`` to ``end``; pairs without weight have no edge.

    Weights are steps, at least 0. ``nodes`` excludes ``start`` and ``end``; its order breaks ties.

    Path constraints speak of sub-paths, which may begin at ``start`` and finish at ``end``: those of ``forbidden`` must
    not occur contiguously in the path, and where a sub-path u..w of ``least`` occurs contiguously, w starts at least
    that many steps after u. An order costs the start time of ``end``: the longest path through all these difference
    constraints, never their sum, because sub-paths that overlap share steps. ValueError for a sub-path of fewer than
    two nodes.
    """

    nodes: tuple[str, ...]
    weights: Mapping[tuple[str, str], int]
    start: str
    end: str
    forbidden: tuple[Path, ...] = ()
    least: Mapping[Path, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for path in (*self.forbidden, *self.least):
            if len(path) < 2:
                raise ValueError(f"a path constraint needs at least two nodes: {path}")

    @property
    def constrained(self) -> bool:
        """Whether there are path constraints."""
        return bool(self.forbidden or self.least)


@dataclass(frozen=True, slots=True)
class Limit:
    """How long a backend that proves may search; None for no limit.

    ``seconds`` is wall-clock time, so that the result depends on the machine; ``work`` is counted by the solver itself,
    in units of very roughly a second, so that the result is the same everywhere.
    """

    seconds: float | None = None
    work: float | None = None


UNLIMITED = Limit()


class Clock:
    """Tells when the seconds of ``limit`` are over, counted from its making."""

    def __init__(self, limit: Limit) -> None:
        self._begun = time.monotonic()
        self._end = None if limit.seconds is None else self._begun + limit.seconds

    @property
    def spent(self) -> float:
        """Seconds since its making."""
        return time.monotonic() - self._begun

    @property
    def over(self) -> bool:
        """Whether they are."""
        return self._end is not None and time.monotonic() >= self._end

    @property
    def left(self) -> float | None:
        """Seconds left, at least 0; None without a limit."""
        return None if self._end is None else max(0.0, self._end - time.monotonic())


@dataclass(frozen=True, slots=True)
class OrderingResult:
    """``path`` from start to end, empty if none was found, with its ``cost`` in steps (0 for no path).

    ``lower_bound`` is proven for every path; ``proved`` says that ``path`` is shortest, or that there is none.
    ``seconds`` is the time taken; ``by`` names the backend that found the path.
    """

    path: Path
    cost: int
    lower_bound: int
    proved: bool
    seconds: float
    by: str


class Ordering(Protocol):
    """An ordering backend."""

    name: str

    def solve(self, problem: OrderingProblem, limit: Limit = UNLIMITED) -> OrderingResult:
        """A short path through all nodes, the least one if the backend can prove it within ``limit``.

        UsageError if a library is missing, or the backend does not take such a problem.
        """


def path_cost(problem: OrderingProblem, path: Sequence[str]) -> int | None:
    """The cost of ``path`` in steps, None if it uses a missing edge or a forbidden sub-path."""
    times = start_times(problem, path)
    return None if times is None else times[-1]


def start_times(problem: OrderingProblem, path: Sequence[str]) -> list[int] | None:
    """The least step at which each node of ``path`` can start, None if it uses a missing edge or a forbidden sub-path.

    That is the longest path through the difference constraints: the weights, and the least lengths of sub-paths.
    """
    walked = tuple(path)
    if any(_occurs_at(walked, sub, here) for sub in problem.forbidden for here in range(len(walked))):
        return None
    times = [0]
    for here in range(1, len(walked)):
        weight = problem.weights.get((walked[here - 1], walked[here]))
        if weight is None:
            return None
        later = [times[here + 1 - len(sub)] + c for sub, c in problem.least.items() if _occurs_at(walked, sub, here)]
        times.append(max([times[-1] + weight, *later]))
    return times


def _occurs_at(path: Path, sub: Path, last: int) -> bool:
    """Whether ``sub`` lies contiguously in ``path`` with its last node at place ``last``."""
    begin = last + 1 - len(sub)
    return begin >= 0 and path[last] == sub[-1] and path[begin : last + 1] == sub
