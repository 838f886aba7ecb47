"""What one run shows about distances between goals: it makes them, so they are no less than the weights."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

from chaincover.graph import FINAL, INIT, Edge


def seen_in(covered: Mapping[str, Sequence[int]], lengths: Mapping[str, int], apart: bool) -> dict[Edge, int]:
    """The least distance of each pair of nodes in a run; pairs that it does not show are left out.

    ``covered`` has for each goal, for FINAL and, where the run starts there, for INIT the steps at which it holds, in
    rising order. ``lengths`` are those of the goals, in steps; ``apart``: a goal begins when the one before has ended.
    """
    found: dict[Edge, int] = {}
    for a, starts in covered.items():
        if a == FINAL:
            continue
        for b, steps in covered.items():
            if b in (a, INIT):
                continue
            least = lengths.get(a, 0) if apart or b == FINAL else 0
            distances = [_distance(start + least, steps, start) for start in starts]
            known = [distance for distance in distances if distance is not None]
            if known:
                found[a, b] = min(known)
    return found


def _distance(earliest: int, steps: Sequence[int], start: int) -> int | None:
    place = bisect_left(steps, earliest)
    return steps[place] - start if place < len(steps) else None
