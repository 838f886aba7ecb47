"""The proof by workers: least lengths of stretches of an order, and of windows of a chain.

Workers tell lengths alone. Runs come of the session of this process, which is asked the same in any case, so that they
are the same whoever found out the lengths.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from bmc.engines.cost import Cost
from bmc.engines.protocol import Status
from bmc.errors import LimitReached
from bmc.system.run import Run
from chaincover.limits import Limits
from chaincover.concretise.any_order import AnyOrder
from chaincover.minimality.segments import Path, Segment, SegmentSearch, Stretch, told
from chaincover.minimality.windows import Between, WindowSearch
from chaincover.work.remote import Allowance, Parcel, Workshop, workshop
from chaincover.work.workers import Workers

Progress = Callable[[str], None]

AHEAD = 2
"""Windows looked into at once, for each worker: the shorter the chain gets, the more of them were for nothing."""


@dataclass(frozen=True)
class Office:
    """Who does the tasks about the problem of ``parcel``; ``cost`` is told what they cost, ``progress`` how many are
    done. ``budget`` is that of the run."""

    parcel: Parcel
    workers: Workers
    budget: Limits
    cost: Cost
    progress: Progress


@dataclass(frozen=True)
class StretchTask:
    """Find out about ``stretch``; ``effort`` is the work per query."""

    parcel: Parcel
    stretch: Stretch
    effort: float | None
    time: Allowance


@dataclass(frozen=True)
class StretchResult:
    """What is ``found`` of a stretch before ``limit`` was met, if it was; the number of queries, the engine's cost."""

    found: Segment
    queries: int
    cost: Cost
    limit: LimitReached | None


def least_length(task: StretchTask) -> StretchResult:
    """Does the task in this process."""
    with workshop(task.parcel) as here:
        search = _lengths(here, task.effort)
        queries, cost, limit = search.queries, replace(here.engine.cost), None
        here.tools.budget = task.time.budget()
        try:
            search.least(task.stretch)
        except LimitReached as error:
            limit = error
        spent = here.engine.cost.since(cost)
        return StretchResult(search.so_far(task.stretch), search.queries - queries, spent, limit)


def _lengths(here: Workshop, effort: float | None) -> SegmentSearch:
    key = ("lengths", effort)
    if key not in here.made:
        here.made[key] = SegmentSearch(here.tools, here.problem.overlap, effort)
    found = here.made[key]
    assert isinstance(found, SegmentSearch)
    return found


class RemoteLengths:
    """As ``here``, but several stretches at once are looked into by the workers of ``office``."""

    cheap = False

    def __init__(self, here: SegmentSearch, effort: float | None, office: Office) -> None:
        self._here, self._effort, self._office = here, effort, office

    def least_all(self, stretches: Sequence[Stretch]) -> list[Segment]:
        """See the protocol."""
        asked = self._here.open_ones(stretches)
        if len(asked) < 2 or any(stretch.whole for stretch in asked):
            return self._here.least_all(stretches)
        office = self._office
        left = Allowance.of(office.budget)
        tasks = [StretchTask(office.parcel, stretch, self._effort, left) for stretch in asked]
        results = office.workers.map(least_length, tasks, lambda done: office.progress(told(done, len(tasks))))
        for stretch, result in zip(asked, results, strict=True):
            self._here.enter(stretch.path, result.found)
            self._here.queries += result.queries
            office.cost.add(result.cost)
        _raise_first([result.limit for result in results])
        return [self._here.so_far(stretch) for stretch in stretches]

    def ask(self, path: Path, steps: int) -> tuple[Status, Run | None]:
        """See the protocol."""
        return self._here.ask(path, steps)


@dataclass(frozen=True)
class WindowTask:
    """Answer ``question``; ``effort`` is the work per query."""

    parcel: Parcel
    question: Between
    effort: int
    time: Allowance


@dataclass(frozen=True)
class WindowResult:
    """The answer to a window's question (no answer where ``limit`` was met), and what it cost the engine."""

    steps: int | None
    cost: Cost
    limit: LimitReached | None


def shortest_window(task: WindowTask) -> WindowResult:
    """Does the task in this process."""
    with workshop(task.parcel) as here:
        search = _windows(here, task.effort)
        cost, steps, limit = replace(here.engine.cost), None, None
        here.tools.budget = task.time.budget()
        try:
            steps = search.least(task.question)
        except LimitReached as error:
            limit = error
        return WindowResult(steps, here.engine.cost.since(cost), limit)


def _windows(here: Workshop, effort: int) -> WindowSearch:
    key = ("windows", effort)
    if key not in here.made:
        here.made[key] = WindowSearch(here.tools, AnyOrder(here.tools.goals, here.problem.overlap), effort)
    found = here.made[key]
    assert isinstance(found, WindowSearch)
    return found


class RemoteWindows:
    """As ``here``, but the workers of ``office`` look into some of the next windows beforehand."""

    def __init__(self, here: WindowSearch, effort: int, office: Office) -> None:
        self._here, self._effort, self._office = here, effort, office

    def first(self, questions: Sequence[Between]) -> tuple[int, int] | None:
        """See the protocol."""
        ahead = AHEAD * self._office.workers.size()
        for place, question in enumerate(questions):
            if self._here.open_ones([question]):
                self._ask(self._here.open_ones(questions[place:])[:ahead])
            steps = self._here.least(question)
            if steps is not None:
                return place, steps
        return None

    def _ask(self, asked: Sequence[Between]) -> None:
        if len(asked) < 2:
            return
        office, most = self._office, len(asked)
        left = Allowance.of(office.budget)
        tasks = [WindowTask(office.parcel, question, self._effort, left) for question in asked]
        results = office.workers.map(
            shortest_window, tasks, lambda done: office.progress(f"shorten: {done} of {most} windows")
        )
        for question, result in zip(asked, results, strict=True):
            office.cost.add(result.cost)
            if result.limit is None:
                self._here.enter(question, result.steps)
        _raise_first([result.limit for result in results])


def _raise_first(limits: Sequence[LimitReached | None]) -> None:
    for limit in limits:
        if limit is not None:
            raise limit
