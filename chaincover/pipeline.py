"""Algorithm 1 with Algorithm 4: from a transition system and goals to one checked chain.

graph (Algorithms 2, 3, 10) -> order (Lemma 2) -> inputs (8, 9) -> repair (11, 12) -> shorten -> least inputs -> check.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from pysmt.fnode import FNode

from bmc.engines import choose as choose_engine
from bmc.engines.protocol import Run
from bmc.errors import LimitReached, UsageError
from bmc.explore import invariant_of, reachable_states
from bmc.system import TransitionSystem
from bmc.unroll import at
from chaincover.bounds import lower_bound
from chaincover.budget import Budget
from chaincover.canonical import canonicalise
from chaincover.chain import Bounds, Chain, Verdict
from chaincover.concretize import Attempt, Concretizer, Plan
from chaincover.graph import INIT, ReachGraph, exists_path, transitive_closure
from chaincover.orderings import choose as choose_ordering
from chaincover.orderings.protocol import UNLIMITED, Limit, OrderingProblem
from chaincover.reachability import GraphBuilder
from chaincover.recheck import Checker, start_dependence
from chaincover.repair import concretise
from chaincover.shorten import Shortener
from chaincover.verdicts import judge
from properties.goal import Goal

DEFAULT_BOUND = 60
"""The largest K tried, in steps, when the user gives none."""

LAST_SECONDS = 1.0
"""What the bound on many goals may still take when the run was stopped."""

TIME_LIMIT = "time limit"
INTERRUPT = "interrupt"

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Options:
    """``bound`` is K in steps (None: it grows up to ``DEFAULT_BOUND``). ``overlap``: ``allow`` or ``forbid``.

    ``explore`` is the most steps to simulate for all reachable states, as an invariant that sharpens weights and bound
    (0: do not). ``improve`` is the work per query, in units of about a second, of the search over whole chains that
    shortens the chain and raises the bound (0: do not; never with ``forbid``). ``time_limit`` for the whole run and
    ``query_limit`` for one solver query are in seconds, None for no limit.
    """

    bound: int | None = None
    overlap: str = "allow"
    ordering: str = "auto"
    engine: str = "z3"
    explore: int = 100_000
    improve: int = 5
    time_limit: float | None = None
    query_limit: float | None = None


@dataclass(frozen=True)
class ChainResult:
    """``chain`` covers every goal that is not proved unreachable, or is None; ``verdicts`` are in the goals' order.

    ``depth`` is the K reached (-1: not even 0); ``stopped_by`` is ``time limit``, ``interrupt`` or ''. ``invariants``
    names the proved invariants that the bound rests on. ``ordering`` is the backend whose order the chain follows,
    ``order_proved`` says whether that order is least over the graph.
    """

    chain: Chain | None
    verdicts: tuple[Verdict, ...]
    bounds: Bounds
    graph: ReachGraph
    depth: int
    stopped_by: str
    invariants: tuple[str, ...]
    engine: str
    engine_version: str
    ordering: str
    order_proved: bool
    options: Options


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
    _check_options(options)
    search = _Search(system, goals, final, options, progress or (lambda text: None))
    stopped_by = ""
    try:
        search.run()
    except LimitReached:
        stopped_by = TIME_LIMIT
    except KeyboardInterrupt:
        stopped_by = INTERRUPT
    return search.result(stopped_by)


class _Search:
    """The state of one run of the pipeline: best chain so far, last attempt, longest edge allowed in it."""

    def __init__(
        self, system: TransitionSystem, goals: Sequence[Goal], final: FNode | None, options: Options, progress: Progress
    ) -> None:
        self._options = options
        self._progress = progress
        self._goals = tuple(goals)
        self._engine = choose_engine(options.engine)
        self._ordering = choose_ordering(options.ordering)
        self._ordered_by = self._ordering.name
        self._budget = budget = Budget(options.time_limit, options.query_limit)
        system, farthest = explored(system, goals, final, options.explore)
        self._slack = DEFAULT_BOUND if options.bound is None else options.bound
        self._bound = self._slack if farthest is None else min(self._slack, farthest)
        self._builder = GraphBuilder(system, goals, final, self._engine, options.overlap, budget, self._bound)
        self._tools = Concretizer(system, goals, final, self._engine, budget)
        self._checker = Checker(system, goals, final)
        self._order_proved = False
        self._attempt: Attempt | None = None
        self._longest = 0
        self._failed: tuple[Plan, int] | None = None
        self._plan: Plan | None = None
        self._shortener: Shortener | None = None
        self._chain: Chain | None = None

    def run(self) -> None:
        """Grow K until a covering path can be made a chain, or the bound is met; then make it short and canonical."""
        plan = None
        for k in range(self._bound + 1):
            self._builder.extend()
            graph = self._builder.graph().possible
            self._progress(f"graph: K = {k}, {len(graph.weights)} of {len(graph.lower)} edges")
            if self._goals and not graph.goals:
                return
            plan = self._shortest_path(graph)
            if plan is not None and self._worth_trying(plan, k):
                limit = self._bound if self._builder.complete else k
                if self._concretise(plan, limit):
                    break
                self._failed = (plan, limit)
            if self._builder.complete:
                break
        if plan is not None:
            self._shorten(plan)
        if self._plan is not None:
            self._canonicalise(self._plan)

    def _worth_trying(self, plan: Plan, k: int) -> bool:
        """Whether ``plan`` may succeed where it has failed: not before its edges may grow twice as long as then."""
        if self._failed is None or self._failed[0] != plan:
            return True
        return self._builder.complete or k >= 2 * self._failed[1] or k == self._bound

    def result(self, stopped_by: str) -> ChainResult:
        """What is known now."""
        graph = self._builder.graph()
        length = self._chain.length if self._chain else None
        return ChainResult(
            chain=self._chain,
            verdicts=judge(graph, self._chain, self._attempt, stopped_by, self._longest),
            bounds=lower_bound(
                self._builder.graph().possible,
                length,
                self._shortener.lower if self._shortener else 0,
                Limit(seconds=LAST_SECONDS) if stopped_by else UNLIMITED,
            ),
            graph=graph,
            depth=graph.depth,
            stopped_by=stopped_by,
            invariants=tuple(inv.name for inv in self._tools.system.invariants if inv.proved),
            engine=self._engine.name,
            engine_version=self._engine.version,
            ordering=self._ordered_by,
            order_proved=self._order_proved,
            options=self._options,
        )

    def _shortest_path(self, graph: ReachGraph) -> Plan | None:
        """The shortest covering path (Lemma 2), None if there is none yet (Lemma 1)."""
        closed = transitive_closure(graph)
        some_path = exists_path(graph, closed)
        if some_path is None:
            return None
        problem = OrderingProblem(graph.goals, closed, INIT, graph.end)
        found = self._ordering.solve(problem, Limit(self._budget.for_query()))
        self._order_proved, self._ordered_by = found.proved, found.by
        path = found.path or some_path
        return Plan(path, tuple(closed[edge] for edge in pairwise(path)))

    def _concretise(self, plan: Plan, limit: int) -> bool:
        """Algorithm 4: whether inputs were found along ``plan``, edges grown to ``limit`` at most."""
        self._progress(f"inputs: {' -> '.join(plan.path)}, {self._tools.length(plan)} steps")
        self._longest = limit
        plan, self._attempt = concretise(self._tools, plan, limit, self._progress)
        if self._attempt.run is None:
            return False
        self._take(plan, self._attempt.run)
        return True

    def _take(self, plan: Plan, run: Run) -> None:
        """Keep the checked chain of ``run`` as the best so far."""
        self._chain = self._checker.chain(plan, run)
        self._plan = plan

    def _shorten(self, plan: Plan) -> None:
        """Search whole chains: shorter ones than the one found, or any if none was found along ``plan``."""
        longest = self._chain.length if self._chain else self._tools.length(plan) + self._slack + 1
        lower = lower_bound(self._builder.graph().possible, None).lower
        if not self._options.improve or self._options.overlap == "forbid" or lower >= longest:
            return
        self._progress(f"shorten: between {lower} and {longest} steps")

        def found(run: Run) -> None:
            self._take(self._checker.plan(run, plan.goals, plan.path[-1]), run)
            self._progress(f"shorten: {run.length} steps")

        self._shortener = Shortener(self._tools, plan.goals, lower, longest, self._options.improve, found)
        self._shortener.work()

    def _canonicalise(self, plan: Plan) -> None:
        """The least inputs for the chain, and whether it works for all open start values."""
        assert self._chain is not None
        self._progress(f"inputs: least values for {self._chain.length} steps")
        run = canonicalise(self._tools, plan, self._chain.run)
        self._take(plan, run)
        self._chain = replace(self._chain, relies_on=start_dependence(self._tools, plan, run))


def strengthened(system: TransitionSystem, goals: Sequence[Goal], final: FNode | None, limit: int) -> TransitionSystem:
    """``system`` with its reachable states as a proved invariant, if ``limit`` simulated steps suffice to find them."""
    return explored(system, goals, final, limit)[0]


def explored(
    system: TransitionSystem, goals: Sequence[Goal], final: FNode | None, limit: int
) -> tuple[TransitionSystem, int | None]:
    """As ``strengthened``, and a bound in steps on every finite weight (None without exploration).

    Between the end of one goal and the start of the next a shortest run meets no state twice.
    """
    formulas = [goal.antecedent for goal in goals] + ([] if final is None else [at(final, 0)])
    states = reachable_states(system, formulas, limit) if limit else None
    if not states:
        return system, None
    found = invariant_of(system, states)
    farthest = len(states) + max((goal.length for goal in goals), default=0)
    return (system if found is None else replace(system, invariants=(*system.invariants, found))), farthest


def _check_options(options: Options) -> None:
    if options.bound is not None and options.bound < 0:
        raise UsageError(f"the bound K must be at least 0, not {options.bound}")
    if options.overlap not in ("allow", "forbid"):
        raise UsageError(f"overlap must be allow or forbid, not {options.overlap!r}")
    for limit in (options.time_limit, options.query_limit):
        if limit is not None and limit <= 0:
            raise UsageError(f"a time limit must be above 0 seconds, not {limit:g}")
