"""Ordering problems for tests, and their shortest paths by trying all permutations."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise, permutations

from chaincover.orderings.protocol import OrderingProblem


def problem(seed: int, count: int, density: float = 1.0, largest: int = 9) -> OrderingProblem:
    """A problem with random weights from 0 to ``largest`` on that share of all edges."""
    rng = random.Random(seed)
    nodes = tuple(f"g{n}" for n in range(count))
    everything = ("init", *nodes, "final")
    weights = {
        (a, b): rng.randint(0, largest)
        for a in everything
        for b in everything
        if a != b and a != "final" and b != "init" and rng.random() < density
    }
    return OrderingProblem(nodes, weights, "init", "final")


def with_constraints(given: OrderingProblem, seed: int, forbidden: int, least: int) -> OrderingProblem:
    """The same with that many random forbidden sub-paths and least lengths, of 2 to 5 nodes (with init and final)."""
    rng = random.Random(seed)

    def sub_path() -> tuple[str, ...]:
        order = [given.start, *rng.sample(given.nodes, len(given.nodes)), given.end]
        size = rng.randint(2, min(5, len(order)))
        begin = rng.randint(0, len(order) - size)
        return tuple(order[begin : begin + size])

    return replace(
        given,
        forbidden=tuple(sub_path() for _ in range(forbidden)),
        least={sub_path(): rng.randint(0, 25) for _ in range(least)},
    )


def brute_force(given: OrderingProblem) -> tuple[int, tuple[str, ...]] | None:
    """The least cost and the first path of that cost in the order of the nodes; None if there is no path."""
    costs = ((cost, path) for path in paths(given) if (cost := longest_path(given, path)) is not None)
    return min(costs, key=lambda item: item[0], default=None)


def paths(given: OrderingProblem) -> Iterator[tuple[str, ...]]:
    """Every order of the nodes, from start to end."""
    return ((given.start, *order, given.end) for order in permutations(given.nodes))


def longest_path(given: OrderingProblem, path: tuple[str, ...]) -> int | None:
    """The start time of the end, by relaxing all difference constraints of ``path`` until nothing changes."""
    text = "|".join(["", *path, ""])
    if any("|".join(["", *sub, ""]) in text for sub in given.forbidden):
        return None
    differences = []
    for a, b in pairwise(path):
        if (a, b) not in given.weights:
            return None
        differences.append((a, b, given.weights[a, b]))
    differences += [(sub[0], sub[-1], c) for sub, c in given.least.items() if "|".join(["", *sub, ""]) in text]
    times = dict.fromkeys(path, 0)
    changed = True
    while changed:
        changed = False
        for a, b, c in differences:
            if times[b] < times[a] + c:
                times[b], changed = times[a] + c, True
    return times[path[-1]]
