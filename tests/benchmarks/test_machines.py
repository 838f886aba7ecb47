"""Shortest runs that take every transition: the flows beside a search through all runs, and the recorded numbers."""

from __future__ import annotations

import heapq
import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from drawn_seeds import seeds

from benchmarks.checks.machines.postman import FILES, HERE, Arrow, closed_tour, expected, fewest_runs, reachable

RECORDED = json.loads((HERE / "expected.json").read_text(encoding="utf-8"))


def by_search(arrows: Sequence[Arrow], start: str, ends_at_start: bool = False) -> tuple[int, int] | None:
    """The least number of runs, then of steps, by Dijkstra's algorithm over states and sets of arrows taken."""
    begin = (start, frozenset[int]())
    best = {begin: (1, 0)}
    queue = [((1, 0), start, frozenset[int]())]
    while queue:
        cost, state, taken = heapq.heappop(queue)
        if len(taken) == len(arrows) and (state == start or not ends_at_start):
            return cost
        runs, steps = cost
        nexts = [] if ends_at_start else [((runs + 1, steps), start, taken)]
        for number, (source, target) in enumerate(arrows):
            if source == state:
                nexts.append(((runs, steps + 1), target, taken | {number}))
        for more, there, then in nexts:
            if (there, then) not in best or more < best[there, then]:
                best[there, then] = more
                heapq.heappush(queue, (more, there, then))
    return None


@seeds(40)
def test_flows_are_as_short_as_a_search(seed: int) -> None:
    rng = random.Random(seed)
    states = [f"s{number}" for number in range(rng.randint(1, 4))]
    drawn = [(rng.choice(states), rng.choice(states)) for _ in range(rng.randint(1, 7))]
    arrows = reachable([("s0", rng.choice(states)), *drawn], "s0")
    assert fewest_runs(arrows, "s0") == by_search(arrows, "s0")
    closed = by_search(arrows, "s0", ends_at_start=True)
    assert closed_tour(arrows) == (None if closed is None else closed[1])


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_recorded_numbers(file: Path) -> None:
    assert RECORDED[file.relative_to(HERE).as_posix()] == expected(file)


def test_every_recorded_machine_is_there() -> None:
    assert [*RECORDED] == [file.relative_to(HERE).as_posix() for file in FILES]


@pytest.mark.parametrize(
    ("name", "runs", "steps", "closed"),
    [
        ("car_alarm", 1, 15, 16),
        ("faulty_car_alarm", 1, 21, 22),
        ("CC2640R2-no-pairing-req", 1, 62, 62),
        ("CC2640R2-no-feature-req", 1, 128, 128),
        ("CC2650", 1, 54, 54),
        ("CYBLE-416045-02", 1, 29, 29),
        ("cc2652r1", 1, 28, 28),
        ("nRF52832", 1, 60, 60),
        ("CYW43455", 12, 122, None),
    ],
)
def test_numbers_that_were_found_otherwise(name: str, runs: int, steps: int, closed: int | None) -> None:
    known = RECORDED[f"aalpy/{name}.dot"]
    assert (known["runs"], known["steps"], known["closed"]) == (runs, steps, closed)
