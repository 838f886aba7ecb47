"""An ordering problem as the proving backends ask it: edges to choose, sub-paths to exclude, delays to add.

Start times are kept as delays: a node starts its edge's weight plus its own *delay* (at least 0) after the node before
it. A least length of a sub-path u..w that is longer than its edges by an *excess* then says: if it occurs, the delays
of its nodes after u sum up to the excess or more. The delays are a solution exactly if the start times meet all
difference constraints, and the end's start time is the sum of all edges and delays. In the earliest start times only
the last node of a sub-path is ever delayed, and by no more than the greatest excess of a sub-path that ends there.

In the assignment relaxation each node gets one next node, in cycles of any number. Its optimum bounds every path from
below, and its dual values reduce the weights: what is left on an edge is what a path through it pays above that bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise, product
from typing import Any

import numpy as np

from bmc.errors import CheckDisagreed, counted
from bmc.records import dataclass
from chaincover.orderings.local import LocalOrdering
from chaincover.orderings.protocol import UNLIMITED, Clock, Limit, OrderingProblem, OrderingResult, Path, path_cost

Edge = tuple[int, int]
Row = np.ndarray[Any, np.dtype[np.int64]]


def assignment_relaxation(edges: Mapping[Edge, int], size: int) -> tuple[dict[Edge, int], int] | None:
    """Reduced weights (at least 0) of all ``edges`` between nodes 0 to ``size`` - 1, and the bound taken off them.

    Every choice of one edge out of and into each node costs the bound plus its reduced weights. None if there is none.
    """
    missing = 1 + size * max(edges.values(), default=0)
    weights = np.full((size, size), missing, dtype=np.int64)
    for edge, weight in edges.items():
        weights[edge] = weight
    out, into = _duals(weights)
    bound = int(out.sum() + into.sum())
    if bound >= missing:
        return None
    return {(a, b): int(weight - out[a] - into[b]) for (a, b), weight in edges.items()}, bound


def _duals(weights: Row) -> tuple[Row, Row]:
    """Optimal dual values of rows and columns (Hungarian method, a shortest augmenting path per row).

    Place 0 of ``into`` and ``row_of`` stands for the row being added; real columns count from 1.
    """
    size = len(weights)
    out, into = np.zeros(size, dtype=np.int64), np.zeros(size + 1, dtype=np.int64)
    row_of = np.full(size + 1, -1, dtype=np.int64)
    for row in range(size):
        row_of[0], column = row, 0
        slack = np.full(size + 1, np.iinfo(np.int64).max // 2, dtype=np.int64)
        before = np.zeros(size + 1, dtype=np.int64)
        visited = np.zeros(size + 1, dtype=bool)
        while row_of[column] >= 0:
            visited[column] = True
            at = row_of[column]
            reduced = weights[at] - out[at] - into[1:]
            closer = ~visited[1:] & (reduced < slack[1:])
            slack[1:][closer] = reduced[closer]
            before[1:][closer] = column
            open_columns = np.flatnonzero(~visited)
            nearest = open_columns[np.argmin(slack[open_columns])]
            step = slack[nearest]
            out[row_of[visited]] += step
            into[visited] -= step
            slack[~visited] -= step
            column = nearest
        while column:
            row_of[column] = row_of[before[column]]
            column = before[column]
    return out, into[1:]


@dataclass(frozen=True, slots=True)
class Excess:
    """Where all of ``edges`` are chosen, the delays of ``delayed`` sum up to at least ``steps``."""

    edges: tuple[Edge, ...]
    delayed: tuple[int, ...]
    steps: int


@dataclass(frozen=True)
class PathModel:
    """Nodes by number: the start is 0, the end is the last of ``names``.

    ``edges`` are those that a path can use, with their weights. ``forbidden`` are sets of edges never chosen together.
    ``most_delay`` has the nodes that can be delayed, with the most steps that help.
    """

    names: tuple[str, ...]
    edges: Mapping[Edge, int]
    forbidden: tuple[tuple[Edge, ...], ...]
    excesses: tuple[Excess, ...]
    most_delay: Mapping[int, int]

    @property
    def end(self) -> int:
        """The end node's number."""
        return len(self.names) - 1

    @property
    def can_close(self) -> bool:
        """Whether every node has an edge in and an edge out."""
        nodes = range(self.end + 1)
        return {a for a, _ in self.edges} == set(nodes[:-1]) and {b for _, b in self.edges} == set(nodes[1:])

    def path(self, after: Mapping[int, int]) -> Path:
        """The path from the start to the end that follows ``after``: each node's next one."""
        path = [0]
        while path[-1] != self.end:
            path.append(after[path[-1]])
        return tuple(self.names[node] for node in path)


def _usable(problem: OrderingProblem) -> Iterator[tuple[str, str]]:
    """The edges of ``problem`` that a path can use; the one from the start to the end only without nodes."""
    for a, b in product((problem.start, *problem.nodes), (*problem.nodes, problem.end)):
        direct = (a, b) == (problem.start, problem.end)
        if a != b and (a, b) in problem.weights and not (direct and problem.nodes):
            yield a, b


def path_model(problem: OrderingProblem) -> PathModel:
    """The problem by number; sub-paths that cannot occur, and least lengths that say nothing new, are left out."""
    names = (problem.start, *problem.nodes, problem.end)
    number = {name: i for i, name in enumerate(names)}
    edges = {(number[a], number[b]): problem.weights[a, b] for a, b in _usable(problem)}
    forbidden = [steps for sub in problem.forbidden if (steps := _edges_of(sub, number, edges))]
    excesses = []
    most: dict[int, int] = {}
    for sub, least in problem.least.items():
        used = _edges_of(sub, number, edges)
        excess = least - sum(edges[edge] for edge in used)
        if used and excess > 0:
            excesses.append((used, excess))
            last = used[-1][1]
            most[last] = max(excess, most.get(last, 0))
    return PathModel(
        names,
        edges,
        tuple(forbidden),
        tuple(Excess(used, tuple(b for _, b in used if b in most), excess) for used, excess in excesses),
        dict(sorted(most.items())),
    )


def _edges_of(sub: Path, number: Mapping[str, int], edges: Mapping[Edge, int]) -> tuple[Edge, ...]:
    """The edges of ``sub``, none if it cannot occur."""
    used = [(number.get(a, -1), number.get(b, -1)) for a, b in pairwise(sub)]
    return tuple(used) if len(set(sub)) == len(sub) and all(edge in edges for edge in used) else ()


def relaxed(problem: OrderingProblem) -> OrderingResult:
    """No path, but the bound of the assignment relaxation, which needs no library; proved if that has no solution."""
    clock = Clock(UNLIMITED)
    paths = path_model(problem)
    reduced = assignment_relaxation({**paths.edges, (paths.end, 0): 0}, len(paths.names))
    bound = 0 if reduced is None else reduced[1]
    return OrderingResult((), 0, bound, reduced is None, clock.spent, "assignment")


@dataclass(frozen=True, slots=True)
class Answer:
    """What the backend ``by`` found: a ``path`` or none, and a bound.

    ``proved``: no path is shorter, or there is none at all.
    """

    by: str
    path: Path = ()
    lower_bound: int = 0
    proved: bool = True


def outcome(problem: OrderingProblem, answer: Answer, clock: Clock) -> OrderingResult:
    """The result of a proving backend; where it found no path in time, the local ordering's path with its bound.

    CheckDisagreed if the cost of a path is not what was proved.
    """
    path, lower_bound, proved, by = answer.path, answer.lower_bound, answer.proved, answer.by
    if not path and proved:
        return OrderingResult((), 0, 0, True, clock.spent, by)
    if not path:
        other = LocalOrdering().solve(problem, Limit(clock.left))
        path, by = other.path, other.by
    cost = path_cost(problem, path) if path else 0
    if cost is None or (path and cost < lower_bound) or (proved and cost != lower_bound):
        raise CheckDisagreed(
            f"the ordering {by} claims a shortest path of {counted(lower_bound, 'step')}, but its path takes {cost}"
        )
    return OrderingResult(path, cost, lower_bound, bool(path) and cost == lower_bound, clock.spent, by)
