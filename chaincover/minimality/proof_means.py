"""What answers the questions of the proof: in the list of reachable states, by the solver here, or by workers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bmc.engines import choose
from bmc.engines.protocol import Engine
from bmc.explicit.state_graph import StateGraph
from chaincover.concretise.any_order import AnyOrder
from chaincover.concretise.check_path import Concretizer
from chaincover.minimality.segments import LeastLengths, SegmentSearch
from chaincover.minimality.walks import Walks
from chaincover.minimality.windows import WindowAnswers, WindowSearch
from chaincover.options import Options
from chaincover.problem import Problem
from chaincover.work.remote import Engines, Parcel
from chaincover.work.remote_proof import Office, RemoteLengths, RemoteWindows
from chaincover.work.workers import Workers

WINDOW_EFFORT = 1
"""The work for one query about a window of the chain, see the protocol of sessions."""


@dataclass(frozen=True)
class Means:
    """``lengths`` of the stretches of orders; ``windows``: which windows of a chain can be shorter."""

    lengths: LeastLengths
    windows: WindowAnswers


def questions_engine(options: Options) -> Engine:
    """An engine for questions of which only the answer counts.

    It is one of its own, so that what is asked of it, which depends on who answers, changes no run that others find.
    """
    return choose(options.engine, options.memory_limit)


def means(
    tools: Concretizer,
    engine: Engine,
    listed: StateGraph | None,
    options: Options,
    workers: Workers | None,
    progress: Callable[[str], None],
) -> Means:
    """For the goals of ``tools``. ``engine`` is the one of ``questions_engine``, ``listed`` the reachable states."""
    parts = Concretizer(tools.system, list(tools.goals.values()), tools.final, engine, tools.budget)
    windows = WindowSearch(parts, AnyOrder(tools.goals, options.overlap), WINDOW_EFFORT)
    problem = Problem(tools.system, tuple(tools.goals.values()), tools.final, options.overlap)
    walks = None if listed is None or not options.exhaust else Walks(problem, listed, check=tools.budget.check)
    if workers is None:
        return Means(walks or SegmentSearch(tools, options.overlap, options.improve, parts, progress), windows)
    parcel = Parcel.of(problem, Engines(options.engine, options.memory_limit))
    office = Office(parcel, workers, tools.budget, engine.cost, progress)
    here = SegmentSearch(tools, options.overlap, options.improve, parts, progress)
    lengths = walks or RemoteLengths(here, options.improve, office)
    return Means(lengths, RemoteWindows(windows, WINDOW_EFFORT, office))
