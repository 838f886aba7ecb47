"""What every ordering backend offers: a least covering path from start to end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol


@dataclass(frozen=True)
class OrderingProblem:
    """Visit every one of ``nodes`` once on a path from ``start`` to ``end``; pairs without weight have no edge.

    Weights are steps, at least 0. ``nodes`` excludes ``start`` and ``end``; its order breaks ties.
    """

    nodes: tuple[str, ...]
    weights: Mapping[tuple[str, str], int]
    start: str
    end: str


@dataclass(frozen=True, slots=True)
class OrderingResult:
    """``path`` from start to end, empty if none was found, with its ``cost`` in steps (0 for no path).

    ``lower_bound`` is proven for every path; ``proved`` says that ``path`` is least, or that there is none.
    """

    path: tuple[str, ...]
    cost: int
    lower_bound: int
    proved: bool
    seconds: float


class Ordering(Protocol):
    """An ordering backend."""

    name: str

    def solve(self, problem: OrderingProblem) -> OrderingResult:
        """A short path through all nodes, the least one if the backend can prove it."""


def path_cost(problem: OrderingProblem, path: Sequence[str]) -> int | None:
    """The cost of ``path``, None if it uses a missing edge."""
    weights = [problem.weights.get(edge) for edge in pairwise(path)]
    known = [w for w in weights if w is not None]
    return sum(known) if len(known) == len(weights) else None
