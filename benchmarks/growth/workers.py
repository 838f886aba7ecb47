"""The axis of workers: measured with the processes that this machine has cores for, and on paper beyond."""

from __future__ import annotations

import heapq
import pickle
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import patch

from chaincover.graph.source import GROWTH
from chaincover.work.remote import Engines, RemoteEdges

from benchmarks.growth.measure import loaded
from benchmarks.growth.points import Point
from bmc.engines import choose
from chaincover.graph.reachability import GraphBuilder
from chaincover.problem import Problem
from chaincover.reductions.distinct import distinct
from chaincover.reductions.slicing import sliced
from chaincover.work.workers import Processes, Workers

PAPER = " on paper"
"""Ends the names of families that are reckoned, not measured."""


@dataclass
class Paper:
    """``count`` workers acted one after the other in this process, each with sessions of its own.

    A task goes to the worker that would be free first. ``seconds`` is when all rounds would be done, ``work`` what the
    tasks took together, ``way`` what packing and unpacking them and their results took, all of the processor. ``sent``
    and ``returned`` are the bytes of each task.
    """

    count: int
    seconds: float = 0.0
    work: float = 0.0
    way: float = 0.0
    sent: list[int] = field(default_factory=list)
    returned: list[int] = field(default_factory=list)

    def map(self, function: Callable[[Any], Any], tasks: Sequence[Any], done: Callable[[int], None]) -> list[Any]:
        """See the protocol of workers."""
        free = [(0.0, worker) for worker in range(self.count)]
        results = []
        for task in tasks:
            begin, worker = heapq.heappop(free)
            own = replace(task, parcel=replace(task.parcel, key=f"{task.parcel.key} {worker}"))
            begun = time.process_time()
            results.append(function(own))
            ended = time.process_time()
            heapq.heappush(free, (begin + ended - begun, worker))
            self.work += ended - begun
            for thing, sizes in ((task, self.sent), (results[-1], self.returned)):
                packed = pickle.dumps(thing)
                pickle.loads(packed)
                sizes.append(len(packed))
            self.way += time.process_time() - ended
        self.seconds += max(busy for busy, _ in free)
        return results

    def size(self) -> int:
        """See the protocol of workers."""
        return self.count

    def close(self) -> None:
        """See the protocol of workers."""


def clock(model: str, jobs: int, depth: int) -> Iterator[Point]:
    """The whole graph of ``model`` to K = ``depth`` with ``jobs`` processes, by the clock; 0: in this process alone.

    Processes are started, and have imported all, before the clock starts.
    """
    problem = problem_of(model)
    pool = Processes(jobs) if jobs else None
    if pool is not None:
        pool.map(_ready, range(jobs), lambda done: None)
    seconds = built(problem, pool, depth)
    if pool is not None:
        pool.close()
    yield Point("workers", model, jobs, {"clock": seconds})


def paper(model: str, count: int, depth: int) -> Iterator[Point]:
    """What ``count`` workers with a core each would take: what is not shared, the ``way`` of all tasks, the tasks.

    What processes take to hand on bytes is left out.
    """
    problem = problem_of(model)
    acted = Paper(count)
    with patch("chaincover.work.remote.KEPT", count), patch.dict("chaincover.work.remote._workshops", clear=True):
        begun = time.process_time()
        built(problem, acted, depth)
        whole = time.process_time() - begun
    serial = max(0.0, whole - acted.work - acted.way)
    values = {
        "clock": serial + acted.way + acted.seconds,
        "serial": serial,
        "shared": acted.seconds,
        "work": acted.work,
        "way": acted.way,
        "tasks": float(len(acted.sent)),
        "sent": statistics.mean(acted.sent),
        "returned": statistics.mean(acted.returned),
    }
    yield Point("workers", model + PAPER, count, values)


def fastest(points: Sequence[Point]) -> list[Point]:
    """Of the points with the same family and x the one with the least ``clock``."""
    best: dict[tuple[str, float], Point] = {}
    for point in points:
        key = (point.family, point.x)
        if key not in best or point.values["clock"] < best[key].values["clock"]:
            best[key] = point
    return list(best.values())


def problem_of(model: str) -> Problem:
    """All different goals of a bundled model."""
    controller = loaded(model)
    goals, _ = distinct(controller.goals)
    return Problem(sliced(controller.system, goals, controller.final), goals, controller.final, "allow")


def _ready(number: int) -> int:
    """A task that a process can only do once it has imported what it needs."""
    return number


def built(problem: Problem, pool: Workers | None, depth: int) -> float:
    """Seconds by the clock for the graph, K growing as in a search."""

    def remote(same: Problem) -> RemoteEdges:
        assert pool is not None
        return RemoteEdges(same, Engines("sat"), pool, lambda text: None)

    begun = time.perf_counter()
    arguments = problem.system, problem.goals, problem.final, choose("sat"), problem.overlap
    builder = GraphBuilder(*arguments, remote=remote if pool else None)
    while builder.depth < depth and not builder.complete:
        builder.extend(min(depth, max(builder.depth + 1, int(builder.depth * GROWTH))))
    return time.perf_counter() - begun
