"""Goals that do not fit into one chain, each with a reason that a person can read; and classes without any conflict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, count, islice

from chaincover.graph.exact import Exhaustion

LARGEST = 4
"""Goals in the largest conflict that is looked for in the list of all sets that fit."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Goals that do not fit into one chain; ``reason`` says how that is known.

    ``at_all``: no run whatever covers them together; else none within the K that ``reason`` names. ``undecided``: they
    are only kept apart because the solver gave up on whether one does, so nothing may be claimed from it.
    """

    goals: tuple[str, ...]
    reason: str
    at_all: bool
    undecided: bool = False


def pair_reason(a: str, b: str, within: str) -> str:
    """The reason of a conflict of two goals; ``within`` is ``within K = ...`` or ``at all: ...``."""
    return f"after {a} no run reaches {b}, nor after {b} a run reaches {a}, {within}"


def set_reason(within: str) -> str:
    """The reason of a conflict of more goals."""
    return f"no run covers them together, {within}"


def conflicts_of(
    found: Exhaustion, goals: Sequence[str], within: str, at_all: bool, anywhere: bool
) -> tuple[Conflict, ...]:
    """The least conflicts among ``goals`` of up to ``LARGEST`` goals, by an exhaustive search.

    ``within`` and ``at_all`` say how far it went; ``anywhere``: a chain may end in any state.
    """
    fitting = [cover.goals for cover in found.covers]
    conflicts: list[Conflict] = []
    for size in range(2, LARGEST + 1):
        for names in combinations(goals, size):
            if any(set(names) <= cover for cover in fitting) or any(set(c.goals) <= set(names) for c in conflicts):
                continue
            pair = size == 2 and anywhere
            reason = pair_reason(names[0], names[1], within) if pair else set_reason(within)
            conflicts.append(Conflict(names, reason, at_all))
    return tuple(conflicts)


def partition(goals: Sequence[str], conflicts: Sequence[Sequence[str]]) -> list[list[str]]:
    """Algorithm 7, for conflict sets of any size: the fewest classes such that no class contains a whole conflict.

    Exact; the first in the order of the goals among equals. Conflicts of one goal are not allowed.
    """
    sets = [frozenset(c) for c in conflicts]
    order = sorted(goals, key=lambda g: (-sum(g in c for c in sets), goals.index(g)))
    for number in count(1):
        classes: list[set[str]] = []
        if _assign(order, 0, classes, sets, number):
            return [[g for g in goals if g in members] for members in classes]
    raise AssertionError("unreachable")


def largest_classes(goals: Sequence[str], conflicts: Sequence[Sequence[str]], most: int) -> list[list[str]]:
    """All classes of most goals without a whole conflict inside, up to the number ``most``, as ``largest_class``."""
    first = largest_class(goals, conflicts)
    sets = [s for s in map(frozenset, conflicts) if s <= set(goals)]
    concerned = [g for g in goals if any(g in c for c in sets)]
    leaving = combinations(reversed(concerned), len(goals) - len(first))
    found = ([g for g in goals if g not in names] for names in leaving if all(c & set(names) for c in sets))
    return list(islice(found, most))


def largest_class(goals: Sequence[str], conflicts: Sequence[Sequence[str]]) -> list[str]:
    """The most goals of which none contain a whole conflict; the first in the order of the goals among equals."""
    sets = [frozenset(c) for c in conflicts if set(c) <= set(goals)]
    concerned = [g for g in goals if any(g in c for c in sets)]
    for removed in range(len(concerned) + 1):
        for names in combinations(reversed(concerned), removed):
            if all(c & set(names) for c in sets):
                return [g for g in goals if g not in names]
    return []


def _assign(order: Sequence[str], place: int, classes: list[set[str]], sets: list[frozenset[str]], number: int) -> bool:
    if place == len(order):
        return True
    goal = order[place]
    for index in range(min(len(classes) + 1, number)):
        if index == len(classes):
            classes.append(set())
        members = classes[index]
        members.add(goal)
        if not any(goal in s and s <= members for s in sets) and _assign(order, place + 1, classes, sets, number):
            return True
        members.discard(goal)
        if not members:
            classes.pop()
    return False
