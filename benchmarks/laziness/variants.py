"""The search as it is, and the same search with its graph decided whole, without simulation, source by source."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from chaincover.graph.source import GraphSource
from pysmt.fnode import FNode

from benchmarks.laziness.table import Outcome
from bmc.engines.protocol import Alternative, Answer, Engine, Session
from bmc.system.run import Run
from bmc.system.transition import TransitionSystem
from chaincover.graph.reachability import GraphBuilder
from chaincover.pipeline import ChainResult, Options, generate
from chaincover.problem import Problem
from chaincover.project.load import load
from chaincover.project.project_file import read_project
from chaincover.questions import Questions
from chaincover.runs import first_chain
from chaincover.weights import Edge


@dataclass
class Meter:
    """``queries`` about edges and seconds of the processor for them, and for ``simulation``, over all graphs."""

    queries: int = 0
    graph: float = 0.0
    simulation: float = 0.0

    @contextmanager
    def measured(self, builder: Any) -> Iterator[None]:
        """Counts what ``builder`` does within."""
        queries, begun = builder.graph().queries, time.process_time()
        try:
            yield
        finally:
            self.graph += time.process_time() - begun
            self.queries += builder.graph().queries - queries


class MeteredSource(GraphSource):
    """The source of the graph as it is, its work entered in ``meter``."""

    def __init__(self, meter: Meter, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._meter = meter

    def extend(self, by: int = 0) -> None:
        """See the base."""
        with self._meter.measured(self.builder):
            super().extend(by)


class WholeSource(GraphSource):
    """Decides all edges level by level: to ``depth`` at once, and then by as many levels as are asked for.

    A question is about one source at one distance, whichever of its open targets the run then shows (Algorithm 10).
    What ``meter`` gets ends at ``depth``.
    """

    def __init__(self, meter: Meter, depth: int, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._meter, self._depth = meter, depth
        reachable, goals, final, options, budget, most = arguments[:6]
        self.engine = OneByOne(self.engine)
        self.builder = GraphBuilder(
            Questions(Problem(reachable.system, tuple(goals), final, options.overlap), self.engine, budget), most
        )

    def observe(self, upper: Mapping[Edge, int]) -> None:
        """What runs show is not looked at."""

    def extend(self, by: int = 0) -> None:
        """See the base."""
        self._progress(f"graph: all edges of up to {self._depth} steps")
        if self.builder.depth >= self._depth:
            self._extend_to(self.builder.depth + max(1, by))
            return
        with self._meter.measured(self.builder):
            self._extend_to(self._depth)

    def _extend_to(self, depth: int) -> None:
        while self.builder.depth < depth and not self.over:
            self.builder.extend()


class OneByOne:
    """An engine whose sessions cannot ask about several sources at once; no runs are tried before its solver."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.name, self.version, self.cost = engine.name, engine.version, engine.cost

    def tries(self, system: TransitionSystem) -> bool:
        """See the protocol."""
        return False

    def session(self, system: TransitionSystem, source: FNode, goals: Sequence[FNode] = ()) -> Session:
        """See the protocol."""
        return OneSource(self._engine.session(system, source, goals))


class OneSource:
    """A session without questions about groups."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def check(
        self, formulas: Sequence[FNode], steps: int, time_limit: float | None = None, effort: float | None = None
    ) -> Answer:
        """See the protocol."""
        return self._session.check(formulas, steps, time_limit, effort)

    def check_any(
        self, alternatives: Sequence[Alternative], time_limit: float | None = None, effort: float | None = None
    ) -> Answer:
        """See the protocol."""
        return self._session.check_any(alternatives, time_limit, effort)

    def run(self) -> Run:
        """See the protocol."""
        return self._session.run()


def outcome(folder: Path, criterion: str, limit: float, depth: int | None = None) -> Outcome:
    """The chain for the project in ``folder``, nothing listed explicitly, in at most ``limit`` seconds of the clock.

    ``criterion`` ('': none) gives more goals. ``depth`` None: the search as it is; else the graph is first decided
    whole up to ``depth`` steps. Every engine is ``sat``.
    """
    controller = load(read_project(str(folder)), criteria=[criterion] if criterion else [])
    options = Options(engine="sat", time_limit=limit)
    meter = Meter()
    with _as_wanted(meter, depth):
        result = generate(Problem(controller.system, tuple(controller.goals), controller.final), options)
    return _told(result, meter)


@contextmanager
def _as_wanted(meter: Meter, depth: int | None) -> Iterator[None]:
    """The search with one of the two sources; without simulation where the graph is whole."""

    def source(*arguments: Any) -> GraphSource:
        return MeteredSource(meter, *arguments) if depth is None else WholeSource(meter, depth, *arguments)

    def simulated(*arguments: Any) -> dict[Edge, int]:
        begun = time.process_time()
        try:
            return first_chain.by_simulation(*arguments) if depth is None else {}
        finally:
            meter.simulation += time.process_time() - begun

    with ExitStack() as stack:
        stack.enter_context(patch("chaincover.search.GraphSource", source))
        stack.enter_context(patch("chaincover.search.by_simulation", simulated))
        yield


def _told(result: ChainResult, meter: Meter) -> Outcome:
    graph = result.graph
    return Outcome(
        goals=len(graph.goals),
        depth=result.depth,
        queries=meter.queries,
        seconds=meter.graph,
        simulation=meter.simulation,
        all_queries=sum(stage.queries for stage in result.profile),
        length=result.bounds.length,
        lower=result.bounds.lower,
        stopped=bool(result.stopped_by),
        weights=sorted([*edge, steps] for edge, steps in graph.weights.items()),
        bounds=sorted([*edge, steps] for edge, steps in graph.lower.items()),
    )
