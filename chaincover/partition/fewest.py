"""The fewest chains, proved: of the sets of goals that single runs can cover, as few as cover every goal together."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from bmc.errors import LimitReached
from chaincover.graph.exact import Cover, Exhaustion, coverable_sets
from chaincover.graph.states import enumerated_within
from chaincover.limits import UNITS, Limits
from chaincover.problem import Problem
from chaincover.reductions.slicing import sliced

MOST_GOALS = 16
"""The search is over the subsets of the goals."""


PER_UNIT = 5_000_000
"""Arrows of the product that are followed in about a unit of work."""

SHARE = 0.5
"""Part of the work that is left which the search for all sets of goals may take."""


def sets_of_goals(problem: Problem, limits: Limits) -> Exhaustion | None:
    """The sets of goals that one chain covers; None where the states cannot be enumerated within ``limits``."""
    small = replace(problem, system=sliced(problem.system, problem.goals, problem.final))
    states = enumerated_within(small, limits)
    if states is None:
        return None
    left = UNITS if limits.effort is None else max(1.0, limits.effort * UNITS - limits.spent) * SHARE
    work = left * PER_UNIT
    limits.spend(left)
    try:
        return coverable_sets(small, states, work, limits.check)
    except LimitReached:
        return None


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
