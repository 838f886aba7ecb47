"""The sets of goals that one chain covers, where the reachable states can be enumerated."""

from __future__ import annotations

from dataclasses import dataclass

from bmc.errors import LimitReached
from chaincover.graph.product import CoverableSets
from chaincover.graph.states import enumerated_within
from chaincover.limits import Limits
from chaincover.problem import Problem
from chaincover.reductions.slicing import sliced

PORTION = 200_000
PER_UNIT = 5_000_000


@dataclass(frozen=True, slots=True)
class Cover:
    """One run from init to the end covers ``goals`` in ``length`` steps; no run covers them in fewer."""

    goals: frozenset[str]
    length: int


@dataclass(frozen=True)
class Coverable:
    """``covers`` are, by rising length, the sets of goals that one run covers, unless a superset takes no more steps.

    They are all, if ``complete``. ``states`` reachable states were searched.
    """

    states: int
    covers: tuple[Cover, ...]
    complete: bool


def coverable_sets(problem: Problem, limits: Limits) -> Coverable | None:
    """The sets of goals that one chain covers; None where the states cannot be enumerated within ``limits``."""
    system = sliced(problem.system, problem.goals, problem.final)
    states = enumerated_within(Problem(system, problem.goals, problem.final, problem.overlap), limits)
    if states is None:
        return None
    search = CoverableSets(Problem(system, problem.goals, problem.final, problem.overlap), states, limits.check)
    try:
        while not limits.used_up and search.advance(PORTION):
            limits.spend(PORTION / PER_UNIT)
    except LimitReached:
        pass
    names = problem.names
    covers = tuple(
        Cover(frozenset(name for place, name in enumerate(names) if found.covered >> place & 1), found.length)
        for found in search.found
    )
    return Coverable(len(states.states), covers, search.finished)
