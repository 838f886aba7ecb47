"""What runs show about distances between goals: they make them, so they are no less than the weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from chaincover.graph import FINAL, INIT, Edge

_NEVER = 1 << 30


class Distances:
    """The least distances between nodes that runs have shown so far.

    ``lengths`` are those of the goals, in steps; ``apart``: a goal begins when the one before has ended.
    """

    def __init__(self, lengths: Mapping[str, int], apart: bool) -> None:
        self._targets = [*lengths, FINAL]
        self._sources = [INIT, *lengths]
        size = len(self._targets)
        self._least = np.array([np.full(size, lengths.get(a, 0) if apart else 0) for a in self._sources], np.int64)
        self._least[:, -1] = [lengths.get(a, 0) for a in self._sources]
        self._best = np.full((len(self._sources), size), _NEVER, np.int64)
        for place in range(len(lengths)):
            self._best[place + 1, place] = -1

    def shorter(self, covered: Mapping[str, Sequence[int]], steps: int) -> dict[Edge, int]:
        """The edges that a run of ``steps`` steps makes in fewer steps than any before, and in how many.

        ``covered`` has for each goal, for FINAL where it is asked for and for INIT where the run starts there the steps
        at which it holds, in rising order.
        """
        following = self._following(covered, steps)
        found: dict[Edge, int] = {}
        for place, name in enumerate(self._sources):
            starts = np.array(covered.get(name, ()), np.int64)
            if not len(starts):
                continue
            earliest = np.minimum(starts[None, :] + self._least[place][:, None], steps + 1)
            reached = np.take_along_axis(following, earliest, axis=1) - starts[None, :]
            nearest = reached.min(axis=1)
            for target in np.flatnonzero(nearest < self._best[place]).tolist():
                found[name, self._targets[target]] = int(nearest[target])
            np.minimum(self._best[place], nearest, out=self._best[place])
        return found

    def _following(
        self, covered: Mapping[str, Sequence[int]], steps: int
    ) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
        """For each target and step (one more than the run has) the step at which it holds next."""
        held = np.full((len(self._targets), steps + 2), 2 * _NEVER, np.int64)
        for place, name in enumerate(self._targets):
            where = covered.get(name, ())
            held[place, where] = where
        return np.minimum.accumulate(held[:, ::-1], axis=1)[:, ::-1]


def seen_in(
    covered: Mapping[str, Sequence[int]], lengths: Mapping[str, int], apart: bool, steps: int
) -> dict[Edge, int]:
    """The least distance of each pair of nodes in a run of ``steps`` steps; pairs that it does not show are left out.

    Parameters as for Distances.
    """
    return Distances(lengths, apart).shorter(covered, steps)
