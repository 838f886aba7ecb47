"""What runs show about distances between goals: they make them, so they are no less than the weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from chaincover.weights import FINAL, INIT, Edge

_NEVER = 1 << 30

Numbers = npt.NDArray[np.int64]


class Distances:
    """The least distances between nodes that runs have shown so far.

    ``lengths`` are those of the goals, in steps; ``apart``: a goal begins when the one before has ended.
    """

    def __init__(self, lengths: Mapping[str, int], apart: bool) -> None:
        self._names = [INIT, *lengths, FINAL]
        self._lengths = np.array([lengths.get(name, 0) for name in self._names], np.int64)
        self._apart = apart
        self._best = np.full((len(lengths) + 1, len(lengths) + 1), _NEVER, np.int64)
        for place in range(len(lengths)):
            self._best[place + 1, place] = -1

    def shorter(self, covered: Mapping[str, Sequence[int]], steps: int) -> dict[Edge, int]:
        """The edges that a run of ``steps`` steps makes in fewer steps than any before, and in how many.

        ``covered`` has for each goal, for FINAL where it is asked for and for INIT where the run starts there the steps
        at which it holds, in rising order. Edges come source by source, targets in the order of the goals.
        """
        here, counts, starts = _occurrences(self._names, covered)
        held = np.full((steps + 2, len(self._names)), 2 * _NEVER, np.int64)
        places = np.repeat(here, counts)
        held[starts, places] = starts
        following = np.minimum.accumulate(held[::-1, 1:])[::-1]
        ends = len(here) and here[-1] == len(self._names) - 1
        if ends:
            last = len(starts) - counts[-1]
            here, counts, starts, places = here[:-1], counts[:-1], starts[:last], places[:last]
        if not len(here):
            return {}
        after = np.minimum(starts + self._lengths[places], steps + 1) if ends or self._apart else starts
        reached = following[after if self._apart else starts]
        if ends:
            reached[:, -1] = following[after, -1]
        nearest = np.minimum.reduceat(reached - starts[:, None], np.cumsum(counts) - counts)
        best = self._best[here]
        sources, targets = np.nonzero(nearest < best)
        if not len(sources):
            return {}
        self._best[here] = np.minimum(best, nearest)
        found = zip(here[sources].tolist(), targets.tolist(), nearest[sources, targets].tolist(), strict=True)
        return {(self._names[source], self._names[target + 1]): distance for source, target, distance in found}


def _occurrences(names: Sequence[str], covered: Mapping[str, Sequence[int]]) -> tuple[Numbers, Numbers, Numbers]:
    """The places of those of ``names`` that hold somewhere, at how many steps each, and one after the other which."""
    steps = [covered.get(name, ()) for name in names]
    counts = np.fromiter(map(len, steps), np.int64, len(steps))
    here = np.flatnonzero(counts)
    return here, counts[here], np.fromiter(chain.from_iterable(steps), np.int64)


def seen_in(
    covered: Mapping[str, Sequence[int]], lengths: Mapping[str, int], apart: bool, steps: int
) -> dict[Edge, int]:
    """The least distance of each pair of nodes in a run of ``steps`` steps; pairs that it does not show are left out.

    Parameters as for Distances.
    """
    return Distances(lengths, apart).shorter(covered, steps)
