"""The fewest chains, proved: of the sets of goals that single runs can cover, as few as cover every goal together."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from chaincover.graph.exact import Cover

MOST_GOALS = 16
"""The search is over the subsets of the goals."""


def fewest(pareto: Sequence[Cover], goals: Collection[str]) -> tuple[Cover, ...] | None:
    """The least number of covers whose union holds all ``goals`` and, among these, the least total length.

    ``pareto`` are those of ``Exhaustion``; of equals the ones that come first there. The covers are in their order
    there. None above ``MOST_GOALS`` goals; ValueError if a goal is in no cover.
    """
    names = sorted(set(goals))
    if len(names) > MOST_GOALS:
        return None
    masks = [sum(1 << place for place, name in enumerate(names) if name in cover.goals) for cover in pareto]
    everything = (1 << len(names)) - 1
    best: dict[int, tuple[int, int, tuple[int, ...]]] = {0: (0, 0, ())}
    for done in range(everything):  # unions only grow, so each is final when its turn comes
        if done not in best:
            continue
        number, length, chosen = best[done]
        missing = ~done & (done + 1)  # the first goal not covered: some cover must hold it
        for index, mask in enumerate(masks):
            if mask & missing:
                found = (number + 1, length + pareto[index].length, tuple(sorted((*chosen, index))))
                best[done | mask] = min(best.get(done | mask, found), found)
    if everything not in best:
        raise ValueError("a goal is in none of the covers")
    return tuple(pareto[index] for index in best[everything][2])
