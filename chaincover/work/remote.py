"""Tasks for workers: a problem that is packed once and unpacked once by each worker; the edges of one source."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock
from typing import Any

from pysmt.environment import Environment, pop_env, push_env

from bmc.engines import choose
from bmc.engines.cost import Cost
from bmc.errors import LimitReached
from bmc.formulas.pack import dumps, loads
from chaincover.limits import Limits
from chaincover.concretise.check_path import Concretizer
from chaincover.graph.edges import EdgeSearch, Row, Upper, enter
from chaincover.problem import Problem
from chaincover.work.workers import Workers

KEPT = 2
"""Problems that a worker remembers, with their sessions."""

SHARES = 2
"""Tasks for each worker: one question is about all sources of a task, and who is done early takes another."""

LEAST_SOURCES = 8
"""The sources of a task, if there are so many: a worker finds less the fewer it asks about at once, and makes the
clauses of a step for itself."""

LEAST_SECONDS = 0.001
"""The time of a task that begins when time is over: it says so."""


@dataclass(frozen=True)
class Engines:
    """Which engine a worker uses; see ``bmc.engines.choose``."""

    name: str
    memory: int | None = None


@dataclass(frozen=True)
class Parcel:
    """A problem for workers: ``packed`` (see ``bmc.formulas.pack``), its digest ``key``, and the engine to use."""

    key: str
    packed: bytes
    engine: Engines

    @staticmethod
    def of(problem: Problem, engine: Engines) -> Parcel:
        """``problem`` packed."""
        packed = dumps(problem)
        return Parcel(hashlib.sha256(packed).hexdigest(), packed, engine)


@dataclass(frozen=True)
class Allowance:
    """How long a task may take: until ``end`` (seconds since 1970, on all machines), a query ``query_limit`` seconds.

    None: no limit.
    """

    end: float | None
    query_limit: float | None

    @staticmethod
    def of(budget: Limits) -> Allowance:
        """What is left of ``budget``. LimitReached when time is over."""
        budget.check()
        return Allowance(None if budget.seconds is None else time.time() + budget.left(), budget.query_limit)

    def budget(self) -> Limits:
        """The same as a budget, beginning now."""
        left = None if self.end is None else max(self.end - time.time(), LEAST_SECONDS)
        return Limits(left, self.query_limit)


class Workshop:
    """What a worker makes of a parcel: the problem, its formulas in a table of their own, an engine, the searches."""

    def __init__(self, parcel: Parcel) -> None:
        self.environment = Environment()
        self.environment.enable_infix_notation = True
        self._parcel = parcel
        self.engine = choose(parcel.engine.name, parcel.engine.memory)
        self.upper: Upper = {}
        self.made: dict[Any, Any] = {}

    @cached_property
    def problem(self) -> Problem:
        """The problem, unpacked."""
        found = loads(self._parcel.packed)
        assert isinstance(found, Problem)
        return found

    @cached_property
    def edges(self) -> EdgeSearch:
        """Decides edges; ``upper`` has all distances that it knows of."""
        return EdgeSearch(self.problem, self.engine)

    @cached_property
    def tools(self) -> Concretizer:
        """Sessions for other questions."""
        return Concretizer(self.problem.system, self.problem.goals, self.problem.final, self.engine, Limits())


_workshops: dict[tuple[str, Engines], Workshop] = {}
_one_at_a_time = Lock()


@contextmanager
def workshop(parcel: Parcel) -> Iterator[Workshop]:
    """That of ``parcel`` in this process, whose formulas are those of its problem meanwhile.

    A worker may have several threads; pysmt and the sessions are for one.
    """
    key = (parcel.key, parcel.engine)
    with _one_at_a_time:
        if key not in _workshops:
            while len(_workshops) >= KEPT:
                del _workshops[next(iter(_workshops))]
            _workshops[key] = Workshop(parcel)
        push_env(_workshops[key].environment)
        try:
            yield _workshops[key]
        finally:
            pop_env()


@dataclass(frozen=True)
class EdgeTask:
    """Decide the open edges of ``rows`` up to ``to`` steps; ``upper`` tells what is known of them."""

    parcel: Parcel
    rows: tuple[Row, ...]
    upper: Upper
    to: int
    time: Allowance


@dataclass(frozen=True)
class EdgeResult:
    """``row`` as far as it was decided, all distances that runs showed, the number of queries, the engine's cost."""

    row: Row
    upper: Upper
    queries: int
    cost: Cost
    limit: LimitReached | None


def decide(task: EdgeTask) -> list[EdgeResult]:
    """Does the task in this process; the first result tells the cost of all."""
    with workshop(task.parcel) as here:
        search, upper = here.edges, here.upper
        enter(upper, task.upper)
        queries, cost, limit = search.queries, replace(here.engine.cost), None
        try:
            search.ask_all(task.rows, upper, task.to, task.time.budget())
        except LimitReached as error:
            limit = error
        spent = search.queries - queries, here.engine.cost.since(cost)
        results = [EdgeResult(row, {}, 0, Cost(), limit) for row in task.rows]
        return [EdgeResult(task.rows[0], dict(upper), *spent, limit), *results[1:]]


class RemoteEdges:
    """Decides the edges of ``problem`` with ``workers``, some sources per task."""

    def __init__(self, problem: Problem, engine: Engines, workers: Workers, progress: Callable[[str], None]) -> None:
        self._parcel = Parcel.of(problem, engine)
        self._workers, self._progress = workers, progress

    def ask(self, rows: Sequence[Row], upper: Upper, to: int, budget: Limits) -> list[EdgeResult]:
        """The result of each of ``rows``. LimitReached when time is over before they begin."""
        left = Allowance.of(budget)
        several = max(LEAST_SOURCES, len(rows) // (SHARES * self._workers.size()))
        parts = [tuple(rows[begin : begin + several]) for begin in range(0, len(rows), several)]
        tasks = []
        for part in parts:
            sources = {row.source for row in part}
            known = {edge: steps for edge, steps in upper.items() if edge[0] in sources}
            tasks.append(EdgeTask(self._parcel, part, known, to, left))

        def done(count: int) -> None:
            self._progress(f"graph: {min(count * several, len(rows))} of {len(rows)} sources")

        return [result for results in self._workers.map(decide, tasks, done) for result in results]


def sharing(
    workers: Workers | None, engine: Engines, progress: Callable[[str], None]
) -> Callable[[Problem], RemoteEdges] | None:
    """What lets ``workers`` decide the edges of a problem; None without any."""
    return None if workers is None else lambda problem: RemoteEdges(problem, engine, workers, progress)
