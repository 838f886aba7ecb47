"""The edges of one source, decided by a worker: the task, its result, and how both travel."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from bmc.engines import choose
from bmc.engines.cost import Cost
from bmc.errors import LimitReached
from bmc.pack import dumps, loads
from chaincover.budget import Budget
from chaincover.edges import EdgeSearch, Problem, Row, Upper, enter
from chaincover.workers import Workers

KEPT = 2
"""Problems that a worker remembers, with their sessions."""


@dataclass(frozen=True)
class Engines:
    """Which engine a worker uses; see ``bmc.engines.choose``."""

    name: str
    memory: int | None = None


@dataclass(frozen=True)
class EdgeTask:
    """Decide the open edges of ``row`` up to ``to`` steps within ``seconds``; ``upper`` tells what is known of them.

    ``problem`` is packed, ``key`` its digest.
    """

    key: str
    problem: bytes
    engine: Engines
    row: Row
    upper: Upper
    to: int
    seconds: float | None
    query_limit: float | None


@dataclass(frozen=True)
class EdgeResult:
    """``row`` as far as it was decided, all distances that runs showed, the number of queries, the engine's cost."""

    row: Row
    upper: Upper
    queries: int
    cost: Cost
    limit: LimitReached | None


_searches: dict[tuple[str, Engines], tuple[EdgeSearch, Upper]] = {}
"""The searches of this process, with all distances that they know of."""


def decide(task: EdgeTask) -> EdgeResult:
    """Does the task in this process."""
    search, upper = _search(task)
    enter(upper, task.upper)
    queries, cost, limit = search.queries, replace(search.engine.cost), None
    try:
        search.ask(task.row, upper, task.to, Budget(task.seconds, task.query_limit))
    except LimitReached as error:
        limit = error
    return EdgeResult(task.row, dict(upper), search.queries - queries, search.engine.cost.since(cost), limit)


def _search(task: EdgeTask) -> tuple[EdgeSearch, Upper]:
    key = (task.key, task.engine)
    if key not in _searches:
        while len(_searches) >= KEPT:
            del _searches[next(iter(_searches))]
        _searches[key] = EdgeSearch(loads(task.problem), choose(task.engine.name, task.engine.memory)), {}
    return _searches[key]


class RemoteEdges:
    """Decides the edges of ``problem`` with ``workers``, a source per task."""

    def __init__(self, problem: Problem, engine: Engines, workers: Workers, progress: Callable[[str], None]) -> None:
        self._packed = dumps(problem)
        self._key = hashlib.sha256(self._packed).hexdigest()
        self._engine, self._workers, self._progress = engine, workers, progress

    def ask(self, rows: Sequence[Row], upper: Upper, to: int, budget: Budget) -> list[EdgeResult]:
        """The result of each of ``rows``. LimitReached when time is over before they begin."""
        budget.check()
        seconds = None if budget.seconds is None else budget.left()
        tasks = [
            EdgeTask(
                self._key,
                self._packed,
                self._engine,
                row,
                {edge: steps for edge, steps in upper.items() if edge[0] == row.source},
                to,
                seconds,
                budget.query_limit,
            )
            for row in rows
        ]
        return self._workers.map(decide, tasks, lambda count: self._progress(f"graph: {count} of {len(tasks)} sources"))
