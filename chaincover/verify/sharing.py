"""Sharing goals out among chains: what conflicts allow, and the least total length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

MOST_GOALS = 16
"""Above this number of goals the least total length is not computed."""


def fits(goals: Sequence[str], conflicts: Sequence[Sequence[str]], number: int) -> bool:
    """Whether ``goals`` can be shared out among ``number`` chains so that none has all goals of a conflict."""
    sets = [frozenset(conflict) for conflict in conflicts]
    return _fits(goals, [frozenset()] * number, sets)


def _fits(rest: Sequence[str], classes: list[frozenset[str]], sets: list[frozenset[str]]) -> bool:
    if not rest:
        return True
    for index, members in enumerate(classes):
        more = members | {rest[0]}
        broken = any(conflict <= more for conflict in sets)
        if not broken and _fits(rest[1:], [*classes[:index], more, *classes[index + 1 :]], sets):
            return True
        if not members:  # the other empty ones are no different
            break
    return False


def least_total(goals: Sequence[str], covers: Mapping[frozenset[str], int], number: int) -> int | None:
    """The least total length of at most ``number`` runs that cover ``goals`` together; None if they cannot.

    ``covers``: for each set of goals that one run covers, its least length.
    """
    bits = {goal: 1 << place for place, goal in enumerate(goals)}
    masks: dict[int, int] = {}
    for names, length in covers.items():
        mask = sum(bits[name] for name in names if name in bits)
        masks[mask] = min(length, masks.get(mask, length))
    totals = {0: 0}
    for _ in range(number):
        more = dict(totals)
        for done, steps in totals.items():
            for mask, length in masks.items():
                if steps + length < more.get(done | mask, steps + length + 1):
                    more[done | mask] = steps + length
        totals = more
    return totals.get((1 << len(goals)) - 1)
