"""Conflicts: goals that do not fit into one chain, each with a reason that a person can read.

Algorithm 7 (Partition) colours the goals: it finds the minimal number of classes without any conflict inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, count
from math import comb

from chaincover.minimality.goal_verdicts import undecided_between
from chaincover.partition.coverable_sets import Cover
from chaincover.result import ChainResult, Conflict
from chaincover.weights import obstacles, transitive_closure

LARGEST = 4
"""Conflicts are looked for by going through all sets of 2, 3, ... goals, up to sets of so many."""

MOST_SETS = 200_000
"""The budget of the exact searches here: conflicts of some size are not looked for where there are more sets of so many
goals; the search for the minimal number of classes gives up after it has put a goal into a class so many times, the
search for the largest class if it would have to leave out more than so many sets of goals in turn."""


def pair_reason(a: str, b: str, within: str) -> str:
    """The reason of a conflict of two goals; ``within`` is ``within K = ...`` or ``at all: ...``."""
    return f"after {a} no run reaches {b}, nor after {b} a run reaches {a}, {within}"


def set_reason(within: str) -> str:
    """The reason of a conflict of more goals."""
    return f"no run covers them together, {within}"


def pairs_apart(result: ChainResult, goals: Sequence[str]) -> list[Conflict]:
    """Pairs of ``goals`` between which the graph of ``result`` has no way: proved where its distances are exact.

    None where no distance above 0 has been decided: that two goals do not share a step says nothing of chains.
    """
    graph, exact = result.graph.restricted(goals), result.answered.exact
    found = []
    for a, b in obstacles(graph, transitive_closure(graph)).exclusive if graph.depth >= (not exact) else ():
        reason = pair_reason(a, b, "at all" if exact else f"within K = {result.depth}")
        found.append(Conflict((a, b), reason, exact, not exact and undecided_between(graph, a, b)))
    return found


def conflict_of_class(goals: Sequence[str], result: ChainResult) -> Conflict:
    """The conflict of ``goals``, all of which ``result`` was to cover in one chain, and does not."""
    if result.no_chain:
        return Conflict(tuple(goals), set_reason(f"at all: {result.no_chain}"), True)
    within = f", with K = {result.depth}" if result.depth >= 0 else ""
    return Conflict(tuple(goals), f"no chain was found that covers them together{within}", False, True)


def conflicts_of(
    covers: Sequence[Cover], goals: Sequence[str], within: str, at_all: bool, anywhere: bool
) -> tuple[Conflict, ...]:
    """The minimal conflicts among ``goals`` of up to ``LARGEST`` goals, by all sets of goals that one run covers.

    ``within`` and ``at_all`` say how far these go; ``anywhere``: a chain may end in any state.
    """
    sets, conflicts = _masks([cover.goals for cover in covers], goals), list[Conflict]()
    for size in range(2, LARGEST + 1):
        found = _masks([conflict.goals for conflict in conflicts], goals)
        for places in combinations(range(len(goals)), size) if comb(len(goals), size) <= MOST_SETS else ():
            mask = sum(1 << place for place in places)
            if any(mask & ~cover == 0 for cover in sets) or any(other & ~mask == 0 for other in found):
                continue
            names = tuple(goals[place] for place in places)
            pair = size == 2 and anywhere
            reason = pair_reason(names[0], names[1], within) if pair else set_reason(within)
            conflicts.append(Conflict(names, reason, at_all))
    return tuple(conflicts)


def minimal_conflict(goals: Sequence[str], covers: Sequence[Cover]) -> tuple[str, ...]:
    """A minimal set of ``goals`` that is in none of ``covers``, as ``goals`` themselves are in none."""
    kept = list(goals)
    for name in goals:
        fewer = {*kept} - {name}
        if not any(fewer <= cover.goals for cover in covers):
            kept.remove(name)
    return tuple(kept)


def more_conflicts(
    goals: Sequence[str], covers: Sequence[Cover], conflicts: Sequence[Conflict], claim: tuple[int, str, bool]
) -> list[Conflict]:
    """Larger conflicts, until all together show that fewer chains than claimed do not cover ``goals``.

    ``claim``: the number of chains, how it is known, and whether it holds for runs of any length.
    """
    (number, how, at_all), more = claim, list[Conflict]()
    while True:
        classes = classes_without(goals, [c.goals for c in (*conflicts, *more)])
        if classes is None or len(classes) >= number:
            return more
        apart = next(names for names in classes if not any({*names} <= cover.goals for cover in covers))
        more.append(Conflict(minimal_conflict(apart, covers), set_reason(how), at_all))


def classes_without(goals: Sequence[str], conflicts: Sequence[Sequence[str]]) -> list[list[str]] | None:
    """Algorithm 7, for conflict sets of any size: the fewest classes such that no class contains a whole conflict.

    Exact; goals in many conflicts are placed first. ValueError for a conflict of one goal. None if that is too hard to
    find out.
    """
    sets = [frozenset(c) for c in conflicts]
    if any(len(names) < 2 for names in sets):
        raise ValueError("a goal that no class can hold")
    order = sorted(goals, key=lambda g: (-sum(g in c for c in sets), goals.index(g)))
    for number in count(0):
        colouring = _Colouring(order, sets, number)
        if colouring.extend(0):
            return [[g for g in goals if g in members] for members in colouring.classes]
        if colouring.tried > MOST_SETS:
            return None
    raise AssertionError("unreachable")


class _Colouring:
    """Puts the goals of ``order``, one after the other, into at most ``number`` classes without a whole conflict."""

    def __init__(self, order: Sequence[str], conflicts: Sequence[frozenset[str]], number: int) -> None:
        self._order, self._number = order, number
        self._of = {goal: [conflict for conflict in conflicts if goal in conflict] for goal in order}
        self.classes: list[set[str]] = []
        self.tried = 0

    def extend(self, place: int) -> bool:
        """Put the goals from ``place`` on into classes; whether that goes."""
        if place == len(self._order):
            return True
        goal = self._order[place]
        for index in range(min(len(self.classes) + 1, self._number)):
            self.tried += 1
            if self.tried > MOST_SETS:
                return False
            if index == len(self.classes):
                self.classes.append(set())
            members = self.classes[index]
            members.add(goal)
            if not any(conflict <= members for conflict in self._of[goal]) and self.extend(place + 1):
                return True
            members.discard(goal)
            if not members:
                self.classes.pop()
        return False


def largest_class(goals: Sequence[str], conflicts: Sequence[Sequence[str]]) -> list[str] | None:
    """The most goals of which none contain a whole conflict; the first in the order of the goals among equals.

    None if that is too hard to find out.
    """
    sets = [frozenset(c) for c in conflicts if set(c) <= set(goals)]
    concerned = [g for g in goals if any(g in c for c in sets)]
    tried = 0
    for removed in range(len(concerned) + 1):
        tried += comb(len(concerned), removed)
        if tried > MOST_SETS:
            return None
        fitting = [names for names in combinations(concerned, removed) if all(c & set(names) for c in sets)]
        if fitting:
            return [g for g in goals if g not in fitting[-1]]  # the later the goals removed, the earlier those kept
    return []


def _masks(sets: Sequence[Sequence[str] | frozenset[str]], goals: Sequence[str]) -> list[int]:
    """Sets of goals as bits."""
    places = {goal: place for place, goal in enumerate(goals)}
    return [sum(1 << places[name] for name in names if name in places) for names in sets]
