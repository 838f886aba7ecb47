"""Random machines in parts: strongly connected where they have a way round, left for good, some of them dead ends."""

from __future__ import annotations

import random


def parts_table(rng: random.Random, number: int, commands: int) -> list[list[int]]:
    """The next of ``number`` places for each place and each of ``commands`` commands; place 0 is in the first part.

    The parts form a tree, or with a second way into a part a directed graph without circles.
    """
    parts = _split(rng, number)
    habit = rng.choice(("jump", "jump", "back", "stay"))
    exits: list[list[int]] = [[] for _ in parts]
    for index in range(1, len(parts)):
        parents = {rng.choice((0, rng.randrange(index)))}
        if rng.random() < 0.2:
            parents.add(rng.randrange(index))
        for parent in sorted(parents):
            exits[parent].append(rng.choice(parts[index]))
    rows = []
    for index, part in enumerate(parts):
        no_way_round = rng.random() < 0.15
        for position, place in enumerate(part):
            last = position == len(part) - 1
            row = [_other(rng, part, place, exits[index], habit) for _ in range(commands)]
            if commands > 1 or not exits[index] or not last:
                row[rng.randrange(commands)] = place if last and no_way_round else part[(position + 1) % len(part)]
            rows.append(row)
    return rows


def _split(rng: random.Random, number: int) -> list[list[int]]:
    """The places in rising order, cut into one to eight parts; of more than two the first is small."""
    count = min(number - 1, rng.choice((0, 1, 3, 4, 5, 6, 7, 7)))
    cuts = sorted(rng.sample(range(1, number), count))
    if count > 1:
        cuts[0] = min(cuts[0], rng.randint(2, 6))
    return [list(range(a, b)) for a, b in zip([0, *cuts], [*cuts, number], strict=True)]


def _other(rng: random.Random, part: list[int], place: int, exits: list[int], habit: str) -> int:
    """Where a command leads that does not lead round the part: out of it, or according to ``habit``."""
    if exits and rng.random() < 0.5:
        return rng.choice(exits)
    if habit == "jump":
        return rng.choice(part)
    return part[0] if habit == "back" and rng.random() < 0.5 else place
