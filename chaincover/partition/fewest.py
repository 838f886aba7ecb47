"""The minimal number of chains, proved: a minimal set cover of the goals by the sets of goals that runs cover."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import inf

from bmc.errors import LimitReached
from chaincover.graph.exact import Cover, Exhaustion, coverable_sets
from chaincover.graph.states import ENUMERATING, enumerated_within
from chaincover.limits import UNITS, Limits
from chaincover.options import Options
from chaincover.partition.shares import part_of
from chaincover.problem import Problem
from chaincover.reductions.slicing import sliced

MOST_UNIONS = 400_000
"""Unions of covers that are made in the search for a minimal set cover; above, the number is left open."""

COMPARED = 1_000
"""So many unions are compared with each other, to leave out those that others contain."""

PER_UNIT = 5_000_000
"""Arrows of the product that are followed in about a unit of work."""

SHARE = 0.5
"""Part of the time and effort left that the search for all sets of goals may take."""

Unions = Mapping[int, tuple[int, tuple[int, ...]]]
"""For each union of covers, as bits: the total length, and the numbers of the covers."""


def sets_of_goals(problem: Problem, options: Options, limits: Limits) -> Exhaustion | None:
    """The sets of goals that one chain covers, no longer than ``options`` allow.

    None where the states are not to be enumerated, or cannot be within a share of ``limits``.
    """
    if options.engine not in ENUMERATING:
        return None
    small = replace(problem, system=sliced(problem.system, problem.goals, problem.final))
    part = part_of(limits, SHARE)
    try:
        states = enumerated_within(small, part)
        if states is None:
            return None
        left = inf if part.effort is None else max(0.0, part.effort * UNITS - part.spent) * PER_UNIT
        found = coverable_sets(small, states, left, part.check)
        part.spend(found.work / PER_UNIT)
    except LimitReached:
        return None
    finally:
        limits.spend(part.spent)
    most = inf if options.max_length is None else options.max_length
    fitting = [place for place, cover in enumerate(found.covers) if cover.length <= most]
    return replace(found, covers=found.covers[: len(fitting)])


def fewest(pareto: Sequence[Cover], goals: Collection[str]) -> tuple[Cover, ...] | None:
    """The minimal number of covers whose union holds all ``goals`` and, among these, the least total length.

    ``pareto`` are those of ``Exhaustion``; the covers are in their order there. None where there are too many ways to
    choose; ValueError if a goal is in no cover.
    """
    names = sorted(set(goals))
    masks = [sum(1 << place for place, name in enumerate(names) if name in cover.goals) for cover in pareto]
    holders = [[index for index, mask in enumerate(masks) if mask >> place & 1] for place in range(len(names))]
    if not all(holders):
        raise ValueError("a goal is in none of the covers")
    rarest = sorted(range(len(names)), key=lambda place: (len(holders[place]), place))
    everything = (1 << len(names)) - 1
    unions: Unions = {0: (0, ())}
    made = 0
    while everything not in unions:
        following: dict[int, tuple[int, tuple[int, ...]]] = {}
        for done, (length, chosen) in unions.items():
            missing = next(place for place in rarest if not done >> place & 1)  # some cover must hold it
            for index in holders[missing]:
                found = (length + pareto[index].length, tuple(sorted((*chosen, index))))
                union = done | masks[index]
                following[union] = min(following.get(union, found), found)
            made += len(holders[missing])
            if made > MOST_UNIONS:
                return None
        unions = _undominated(following)
    return tuple(pareto[index] for index in unions[everything][1])


def _undominated(unions: Unions) -> Unions:
    """Those of ``unions`` that no larger one contains which is no longer."""
    if len(unions) > COMPARED:
        return unions
    kept: dict[int, tuple[int, tuple[int, ...]]] = {}
    for mask in sorted(unions, key=lambda mask: (-mask.bit_count(), mask)):
        if not any(mask & ~other == 0 and kept[other][0] <= unions[mask][0] for other in kept):
            kept[mask] = unions[mask]
    return kept
