"""What runs show about distances between goals: they make them, so they are no less than the weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from chaincover.graph import FINAL, INIT, Edge

_NEVER = 1 << 30

Numbers = npt.NDArray[np.int64]


class Distances:
    """The least distances between nodes that runs have shown so far.

    ``lengths`` are those of the goals, in steps; ``apart``: a goal begins when the one before has ended.
    """

    def __init__(self, lengths: Mapping[str, int], apart: bool) -> None:
        self._targets = [*lengths, FINAL]
        self._sources = [INIT, *lengths]
        self._lengths = np.array([lengths.get(name, 0) for name in self._sources], np.int64)
        self._least = self._lengths if apart else np.zeros_like(self._lengths)
        self._best = np.full((len(self._targets), len(self._sources)), _NEVER, np.int64)
        for place in range(len(lengths)):
            self._best[place, place + 1] = -1

    def shorter(self, covered: Mapping[str, Sequence[int]], steps: int) -> dict[Edge, int]:
        """The edges that a run of ``steps`` steps makes in fewer steps than any before, and in how many.

        ``covered`` has for each goal, for FINAL where it is asked for and for INIT where the run starts there the steps
        at which it holds, in rising order. Edges come source by source, targets in the order of the goals.
        """
        here, counts, starts = _occurrences(self._sources, covered)
        if not len(here):
            return {}
        following = self._following(covered, steps)
        first = np.minimum(starts + np.repeat(self._least[here], counts), steps + 1)
        reached = following[:, first]
        reached[-1] = following[-1, np.minimum(starts + np.repeat(self._lengths[here], counts), steps + 1)]
        nearest = np.minimum.reduceat(reached - starts, np.cumsum(counts) - counts, axis=1)
        best = self._best[:, here]
        sources, targets = np.nonzero((nearest < best).T)
        self._best[:, here] = np.minimum(best, nearest)
        places = zip(here[sources].tolist(), targets.tolist(), nearest[targets, sources].tolist(), strict=True)
        return {(self._sources[source], self._targets[target]): distance for source, target, distance in places}

    def _following(self, covered: Mapping[str, Sequence[int]], steps: int) -> Numbers:
        """For each target and step (one more than the run has) the step at which it holds next."""
        held = np.full((len(self._targets), steps + 2), 2 * _NEVER, np.int64)
        here, counts, where = _occurrences(self._targets, covered)
        held[np.repeat(here, counts), where] = where
        return np.minimum.accumulate(held[:, ::-1], axis=1)[:, ::-1]


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
