"""The assignment relaxation of an ordering problem: each node gets one next node, in cycles of any number.

Its optimum bounds every path from below, and its dual values reduce the weights: what is left on an edge is what a path
through it pays above that bound.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Edge = tuple[int, int]
Row = NDArray[np.int64]


def reduce(edges: Mapping[Edge, int], size: int) -> tuple[dict[Edge, int], int] | None:
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
