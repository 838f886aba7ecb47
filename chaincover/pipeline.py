"""Algorithm 1 with Algorithm 4: from a transition system and goals to one checked chain.

graph (Algorithms 2, 3, 10) -> order (Lemma 2) -> inputs (8, 9) -> repair (11, 12) -> proof -> least inputs -> check.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pysmt.fnode import FNode

from bmc.errors import LimitReached
from bmc.system import TransitionSystem
from chaincover.bounds import lower_bound
from chaincover.certificate import Certificate
from chaincover.chain import Bounds, Chain, Verdict
from chaincover.graph import ReachGraph
from chaincover.options import DEFAULT_BOUND, Options
from chaincover.orderings.protocol import UNLIMITED, Limit
from chaincover.search import Search
from chaincover.verdicts import NoChain, judge
from properties.goal import Goal

__all__ = ["DEFAULT_BOUND", "INTERRUPT", "TIME_LIMIT", "ChainResult", "Options", "generate"]

LAST_SECONDS = 1.0
"""What the bound on many goals may still take when the run was stopped."""

TIME_LIMIT = "time limit"
INTERRUPT = "interrupt"

Progress = Callable[[str], None]


@dataclass(frozen=True)
class ChainResult:
    """``chain`` covers every goal that a chain was found for; ``verdicts`` are in the goals' order.

    ``bounds`` and ``certificate`` speak of the chains through the goals that were not set aside. ``depth`` is the K
    reached (-1: not even 0); ``stopped_by`` is ``time limit``, ``interrupt`` or ''. ``invariants`` names the proved
    invariants that the bound rests on. ``ordering`` is the backend whose order the first chain follows,
    ``order_proved`` says whether that order is least over the graph.
    ``cached`` is the number of values of K whose edges were found on disk.
    """

    chain: Chain | None
    verdicts: tuple[Verdict, ...]
    bounds: Bounds
    certificate: Certificate | None
    graph: ReachGraph
    depth: int
    stopped_by: str
    invariants: tuple[str, ...]
    engine: str
    engine_version: str
    ordering: str
    order_proved: bool
    options: Options
    cached: int


def generate(
    system: TransitionSystem,
    goals: Sequence[Goal],
    final: FNode | None,
    options: Options | None = None,
    progress: Progress | None = None,
) -> ChainResult:
    """Algorithm 1: one chain from init through all goals to ``final`` (over plain state symbols; None: anywhere).

    A time limit or an interrupt gives the result so far, with ``stopped_by`` set. UsageError for a wrong option,
    InputRefused for bad goal names, CheckDisagreed if a result fails its own check.
    """
    options = options or Options()
    options.check()
    search = Search(system, goals, final, options, progress or (lambda text: None))
    stopped_by = ""
    try:
        search.run()
    except LimitReached as error:
        stopped_by = error.limit
    except KeyboardInterrupt:
        stopped_by = INTERRUPT
    return _result(search, options, stopped_by)


def _too_long(options: Options, bounds: Bounds) -> str:
    """Why the limit on the length leaves no chain, or ''."""
    if options.max_length is None or bounds.length is not None:
        return ""
    proof = f"none is shorter than {bounds.lower}" if bounds.lower > options.max_length else "none was found"
    return f"no chain of at most {options.max_length} steps covers all goals: {proof}"


def _result(search: Search, options: Options, stopped_by: str) -> ChainResult:
    """What is known now."""
    graph = search.builder.graph()
    invariants = tuple(inv.name for inv in search.tools.system.invariants if inv.proved)
    limit = Limit(seconds=LAST_SECONDS) if stopped_by else UNLIMITED
    certificate = None
    if search.prover is not None:
        bounds = search.prover.bounds(limit)
        certificate = search.prover.certificate(bounds, invariants)
    else:
        goals = search.chain.order if search.chain else search.graph.goals
        bounds = lower_bound(search.graph.restricted(goals), search.chain.length if search.chain else None, limit)
    if search.chain is None:
        bounds = replace(bounds, length=None)
    no_chain = NoChain(search.attempt, search.longest, search.proved, search.impossible, _too_long(options, bounds))
    return ChainResult(
        chain=search.chain,
        verdicts=judge(graph, search.chain, no_chain, stopped_by),
        bounds=bounds,
        certificate=certificate,
        graph=graph,
        depth=graph.depth,
        stopped_by=stopped_by,
        invariants=invariants,
        engine=search.engine.name,
        engine_version=search.engine.version,
        ordering=search.ordered_by,
        order_proved=search.order_proved,
        options=options,
        cached=search.cached,
    )
