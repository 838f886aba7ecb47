"""Paths through graphs kept in arrays: the arrows from node n lie at ``offsets[n]`` to ``offsets[n + 1]``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bmc.explicit.vectors import Column

Check = Callable[[], None]


@dataclass(frozen=True)
class Arrows:
    """``ends`` of the arrows; ``numbers``: which arrows of another graph they are, if they come from one."""

    offsets: Column
    ends: Column
    numbers: Column | None = None

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(self.offsets) - 1

    def of(self, nodes: Column) -> tuple[Column, Column]:
        """The places of all arrows from ``nodes``, node by node; for each the row of ``nodes`` that it leaves."""
        counts = self.offsets[nodes + 1] - self.offsets[nodes]
        rows = np.repeat(np.arange(len(nodes)), counts)
        before = np.cumsum(counts) - counts
        return np.arange(len(rows)) + np.repeat(self.offsets[nodes] - before, counts), rows

    def backward(self) -> Arrows:
        """The same arrows the other way round."""
        order = np.argsort(self.ends, kind="stable")
        offsets = np.concatenate([[0], np.cumsum(np.bincount(self.ends, minlength=self.size))])
        sources = np.repeat(np.arange(self.size, dtype=np.int32), np.diff(self.offsets))
        return Arrows(offsets, sources[order], order)

    def distances(self, sources: Column, check: Check = lambda: None) -> Column:
        """For each node the least number of arrows from one of ``sources`` to it, -1 if there is no way."""
        found = np.full(self.size, -1, np.int32)
        layer = np.unique(sources).astype(np.int64)
        found[layer] = 0
        depth = 0
        while layer.size:
            depth += 1
            if depth % 256 == 0:
                check()
            ends = self.ends[self.of(layer)[0]]
            layer = np.unique(ends[found[ends] < 0]).astype(np.int64)
            found[layer] = depth
        return found
