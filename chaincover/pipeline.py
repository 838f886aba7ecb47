"""Algorithm 1 with Algorithm 4: from a transition system and goals to one checked chain.

graph (Algorithms 2, 3, 10) -> order (Lemma 2) -> inputs (8, 9) -> repair (11, 12) -> proof -> least inputs -> check.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from pysmt.fnode import FNode

from bmc.engines import choose as choose_engine
from bmc.engines import listen
from bmc.engines import reason as engine_reason
from bmc.engines.protocol import Engine
from bmc.errors import LimitReached
from bmc.system.transition import TransitionSystem
from chaincover.budget import Budget
from chaincover.certificate import Certificate
from chaincover.chain import COVERED, Bounds, Chain, Verdict
from chaincover.graph.explored import Reachable
from chaincover.minimality.direct_bound import lower_bound
from chaincover.options import DEFAULT_BOUND, Options
from chaincover.orderings.protocol import UNLIMITED, Limit
from chaincover.profile import Profiler, StageCost
from chaincover.reductions.duplicates import SameAs, distinct, expanded_chain, expanded_verdicts
from chaincover.reductions.implied import all_verdicts, credit_all, implied_goals, left_to_search
from chaincover.reductions.set_aside import Reasons, SetAside, StandInsLost
from chaincover.reductions.sliced import on_whole, sliced
from chaincover.search import Search
from chaincover.verdicts import NoChain, judge
from chaincover.weights import ReachGraph
from chaincover.work.workers import choose as choose_workers
from properties.goal import Goal

__all__ = ["DEFAULT_BOUND", "INTERRUPT", "TIME_LIMIT", "ChainResult", "Options", "generate"]

LAST_SECONDS = 1.0
"""What the bound on many goals may still take when the run was stopped."""

LEAST_SECONDS = 0.001
"""The time limit of a search that begins when time is over: it still says what it knows."""

LISTING = 0.3
"""The part of the time that listing the reachable states may take."""

TIME_LIMIT = "time limit"
INTERRUPT = "interrupt"

Progress = Callable[[str], None]


@dataclass(frozen=True)
class ChainResult:
    """``chain`` covers every goal that a chain was found for; ``verdicts`` are in the goals' order.

    ``bounds`` and ``certificate`` speak of the chains through the goals that were not set aside. ``depth`` is the K
    reached (-1: not even 0); ``stopped_by`` is ``time limit``, ``interrupt`` or ''. ``invariants`` names the proved
    invariants that the bound rests on. ``engine_why`` says why this engine was chosen. ``ordering`` is the backend
    whose order the first chain follows, ``order_proved`` says whether that order is least over the graph. ``partial``:
    the chain leaves goals out that may fit into another one. ``cached`` is the number of values of K whose edges were
    found on disk. ``profile`` says where the time went.
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
    engine_why: str
    ordering: str
    order_proved: bool
    options: Options
    cached: int
    partial: bool = False
    profile: tuple[StageCost, ...] = field(default=(), compare=False)

    @property
    def complete(self) -> bool:
        """Whether there is a chain, and it covers every goal."""
        return self.chain is not None and all(verdict.status == COVERED for verdict in self.verdicts)


def generate(
    system: TransitionSystem,
    goals: Sequence[Goal],
    final: FNode | None,
    options: Options | None = None,
    progress: Progress | None = None,
) -> ChainResult:
    """Algorithm 1: one chain from init through all goals to ``final`` (over plain state symbols; None: anywhere).

    The search sees the part of ``system`` that goals and ``final`` depend on; the chain is checked on the whole.
    Goals that others imply are not searched for, but credited where they are covered; ``graph`` and ``certificate``
    of the result leave them out. A time limit or an interrupt gives the result so far, with ``stopped_by`` set.
    UsageError for a wrong option, InputRefused for bad goal names, CheckDisagreed if a result fails its own check.
    """
    options = options or Options()
    options.check()
    few, same_as = distinct(goals, options.overlap)
    profiler = Profiler(progress or (lambda text: None))
    result = _generate_few(sliced(system, goals, final), few, final, options, profiler)
    result = on_whole(told_of_all(result, goals, same_as), system, goals, final)
    return replace(result, options=options, profile=profiler.stages())


def _generate_few(
    system: TransitionSystem, goals: Sequence[Goal], final: FNode | None, options: Options, progress: Profiler
) -> ChainResult:
    """The chain for goals that differ, without those that others imply."""
    budget = Budget(options.time_limit, options.query_limit)
    reachable = Reachable(system, goals, final, options.explore, budget.share(LISTING).check)
    try:
        progress("list: reachable states")
        reachable.find()
        engine = progress.watch(choose_engine(options.engine, options.memory_limit))
        if reachable.graph is None and options.improve:
            progress("invariants: values of the state, and what random runs suggest")
            reachable.suggest(engine, budget.share(LISTING).for_query)
        progress("imply: goals that others imply")
        implied = find_implied(system, goals, final, options, budget, reachable, engine)
    except LimitReached:
        implied = {}
    except KeyboardInterrupt:
        at_once = replace(options, time_limit=LEAST_SECONDS, explore=0)
        return replace(generate_each(system, goals, final, at_once, progress), stopped_by=INTERRUPT)
    proved: Reasons = {}
    while True:
        kept = [goal for goal in goals if goal.name not in implied]
        credited = [goal for goal in goals if goal.name in implied]
        aside = SetAside(proved, frozenset(implied.values()))
        try:
            left = within(options, budget)
            result = generate_each(system, kept, final, left, progress, credited, reachable, aside)
        except StandInsLost as lost:
            implied, proved = {goal: by for goal, by in implied.items() if by not in lost.names}, lost.proved
            continue
        fewer = implied if result.stopped_by else left_to_search(implied, result.verdicts)
        if fewer == implied:
            break
        implied = fewer
    return _with_implied(result, system, goals, final, implied) if implied else result


def told_of_all(result: ChainResult, goals: Sequence[Goal], same_as: SameAs) -> ChainResult:
    """``result``, found for goals that stand for others, told of all ``goals``."""
    if not same_as:
        return result
    chain = result.chain and expanded_chain(result.chain, goals, same_as)
    return replace(result, chain=chain, verdicts=expanded_verdicts(result.verdicts, goals, same_as))


def within(options: Options, budget: Budget) -> Options:
    """``options`` with the time that is left of ``budget``."""
    if options.time_limit is None:
        return options
    return replace(options, time_limit=max(budget.left(), LEAST_SECONDS))


def find_implied(
    system: TransitionSystem,
    goals: Sequence[Goal],
    final: FNode | None,
    options: Options,
    budget: Budget,
    reachable: Reachable | None = None,
    engine: Engine | None = None,
) -> dict[str, str]:
    """The goals that need not be searched for, each with the one that implies it; none with overlap ``forbid``.

    None either where time is over before they are known. ``reachable`` is that of ``goals``, if it is at hand.
    """
    if options.overlap == "forbid" or len(goals) < 2:
        return {}
    reachable = reachable or Reachable(system, goals, final, options.explore)
    try:
        engine = engine or choose_engine(options.engine, options.memory_limit)
        return implied_goals(reachable.system, goals, engine, budget)
    except LimitReached:
        return {}


def _with_implied(
    result: ChainResult, system: TransitionSystem, goals: Sequence[Goal], final: FNode | None, implied: dict[str, str]
) -> ChainResult:
    """``result`` with the goals that its chain covers because it covers others."""
    chain = result.chain
    if chain is not None:
        found = {hit.goal for hit in chain.hits}
        chain = credit_all(chain, system, [g for g in goals if implied.get(g.name, g.name) in found], final, implied)
    verdicts = all_verdicts(goals, result.verdicts, implied, [chain] if chain else [])
    return replace(result, chain=chain, verdicts=verdicts)


def generate_each(
    system: TransitionSystem,
    goals: Sequence[Goal],
    final: FNode | None,
    options: Options,
    progress: Progress,
    credited: Sequence[Goal] = (),
    reachable: Reachable | None = None,
    aside: SetAside | None = None,
) -> ChainResult:
    """As ``generate``, every goal searched for by itself.

    What the goals ``credited`` depend on is explored with the others: then the number of reachable states is that of
    all goals of the result. ``reachable`` is that of both, if it is at hand. ``aside`` has the goals that are known to
    be covered by no chain; StandInsLost as it says.
    """
    listing = Budget(options.time_limit).share(LISTING).check
    reachable = reachable or Reachable(system, [*goals, *credited], final, options.explore, listing)
    profiler = progress if isinstance(progress, Profiler) else Profiler(progress)
    workers = choose_workers(options.jobs, options.scheduler)
    search = Search(reachable, goals, final, options, profiler, workers, aside)
    for engine in (search.engine, search.source.engine, search.questions_engine):
        listen(profiler.watch(engine), profiler)
    stopped_by = ""
    try:
        search.run()
    except LimitReached as error:
        stopped_by = error.limit
    except KeyboardInterrupt:
        stopped_by = INTERRUPT
    return replace(_result(search, options, stopped_by), profile=profiler.stages())


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
    no_chain = NoChain(
        search.attempt,
        search.longest,
        search.aside.proved,
        search.impossible,
        search.small.apart(search.graph) if search.impossible and not stopped_by else frozenset(),
        _too_long(options, bounds),
    )
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
        engine_why=engine_reason(search.engine),
        ordering=search.ordered_by,
        order_proved=search.order_proved,
        options=options,
        cached=search.source.cached,
        partial=search.partial,
    )
