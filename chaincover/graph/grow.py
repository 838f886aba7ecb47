"""Algorithm 2 alone: the K-reachability graph, grown until it has a covering path."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pysmt.fnode import FNode

from bmc.engines import choose
from bmc.errors import LimitReached
from bmc.system.transition import TransitionSystem
from chaincover.budget import Budget
from chaincover.graph.reachability import GraphBuilder
from chaincover.pipeline import INTERRUPT, Options
from chaincover.weights import ReachGraph, exists_path, transitive_closure
from chaincover.work.remote import Engines, sharing
from chaincover.work.workers import choose as choose_workers
from properties.goal import Goal


def grow(
    system: TransitionSystem,
    goals: Sequence[Goal],
    final: FNode | None,
    options: Options,
    progress: Callable[[str], None],
) -> tuple[ReachGraph, str]:
    """The graph at the smallest K with a covering path, or at the bound; and what stopped the search early, or ''."""
    budget = Budget(options.time_limit, options.query_limit)
    most = options.slack(system.hold)
    workers = choose_workers(options.jobs, options.scheduler)
    shared = sharing(workers, Engines(options.engine, options.memory_limit), progress)
    engine = choose(options.engine, options.memory_limit)
    builder = GraphBuilder(system, goals, final, engine, options.overlap, budget, most, remote=shared)
    stopped_by = ""
    try:
        for k in range(most + 1):
            builder.extend()
            graph = builder.graph()
            progress(f"graph: K = {k}, {len(graph.weights)} of {len(graph.lower)} edges")
            if builder.complete or exists_path(graph.possible, transitive_closure(graph.possible)):
                break
    except LimitReached as error:
        stopped_by = error.limit
    except KeyboardInterrupt:
        stopped_by = INTERRUPT
    return builder.graph(), stopped_by
