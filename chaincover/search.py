"""The stages of one run, joined: first chain, graph, order, inputs, repair, proof, least inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pysmt.fnode import FNode

from bmc.engines import choose as choose_engine
from bmc.errors import LimitReached
from bmc.system.run import Run
from chaincover.budget import Budget
from chaincover.chain import Chain
from chaincover.concretise.check_path import Attempt, Concretizer, Plan
from chaincover.concretise.covering_path import shortest_covering_path
from chaincover.concretise.enumerated_inputs import least_values
from chaincover.concretise.fallback import by_nearest, by_other_orders
from chaincover.concretise.path_trial import Task
from chaincover.concretise.repair import concretise
from chaincover.graph.enumerated import EnumeratedGraphBuilder
from chaincover.graph.exact import ExactSearch, Least, work_of
from chaincover.graph.explored import Reachable
from chaincover.graph.reachability import Builder
from chaincover.graph.source import GraphSource
from chaincover.minimality.proof import Prover
from chaincover.minimality.proof_means import means, questions_engine
from chaincover.options import Options
from chaincover.orderings import choose as choose_ordering
from chaincover.orderings.protocol import Limit
from chaincover.problem import Problem
from chaincover.reductions.lost_goals import LostGoals
from chaincover.reductions.set_aside import SetAside
from chaincover.replay.simulated import Checker, start_dependence
from chaincover.runs.first_chain import FirstChain, by_simulation, shown_distances
from chaincover.weights import ReachGraph, hopeless
from chaincover.work.workers import Workers
from properties.goal import Goal

Progress = Callable[[str], None]

PATIENCE = 4
"""After this many K without a new edge the exact search over the reachable states is asked, where these are few."""


class Search:
    """The state of one run: the graph so far, the best ``chain`` with its plan, the last ``attempt`` to make one.

    ``aside`` holds the goals that the chain is not made for. ``together`` is the exact answer for the others, where
    there is one. ``partial``: the chain leaves goals out that may fit into another one.
    """

    def __init__(
        self,
        reachable: Reachable,
        goals: Sequence[Goal],
        final: FNode | None,
        options: Options,
        progress: Progress,
        workers: Workers | None = None,
        aside: SetAside | None = None,
    ) -> None:
        self._options = options
        self._progress, self._workers = progress, workers
        self.engine = choose_engine(options.engine, options.memory_limit)
        self.questions_engine = questions_engine(options)
        self._ordering = choose_ordering(options.ordering)
        self.ordered_by = self._ordering.name
        self._budget = budget = Budget(options.time_limit, options.query_limit)
        self._reachable = reachable
        problem = Problem(reachable.plain, tuple(goals), final, options.overlap)
        self.small = ExactSearch(problem, lambda: reachable.graph, work_of(options), budget.check)
        system = reachable.system
        limits = (options.slack(reachable.plain.hold), reachable.farthest, options.max_length)
        self._bound = min(limit for limit in limits if limit is not None)
        self.source = GraphSource(reachable, goals, final, options, budget, self._bound, workers, progress)
        self.tools = Concretizer(system, goals, final, self.engine, budget)
        self._checker = Checker(system, goals, final)
        self.aside = aside or SetAside({}, ())
        self._lost = LostGoals(self.aside, self.small, self.tools, options)
        self.together: Least | None = None
        self.order_proved = self.partial = False
        self.attempt: Attempt | None = None
        self.longest = 0
        self.chain: Chain | None = None
        self.prover: Prover | None = None
        self._plan: Plan | None = None
        self._seen: FirstChain | None = None
        self._first: FirstChain | None = None
        self._failed: tuple[Plan, int] | None = None

    def run(self) -> None:
        """Find a chain, make it as short as can be proved, then canonical.

        LimitReached when time is over. StandInsLost before anything is proved for goals that are too few.
        """
        self._try_first()
        try:
            plan = self._grow()
        except (LimitReached, KeyboardInterrupt):
            if self._seen and (self.chain is None or len(self.chain.order) < len(self._seen.chain.order)):
                self.chain, self._plan = self._seen.chain, self._seen.plan
            raise
        finally:
            self.source.keep()
            self._prefer_first()
        self.aside.check_stand_ins()
        if plan is not None or self.chain is not None or (self.together is not None and self.together.run is not None):
            self._prove(plan)
        if plan is not None and self.chain is None and not self.impossible and self._nearest_first(partial=True):
            self._prove(plan)
        if self._plan is not None:
            self._canonicalise(self._plan)

    @property
    def builder(self) -> Builder:
        """What builds the graph; another one once the list of states takes too much memory."""
        return self.source.builder

    @property
    def graph(self) -> ReachGraph:
        """The graph of the goals that the chain is made for."""
        return self.aside.without(self.builder.graph())

    @property
    def impossible(self) -> str:
        """How it is proved that no chain covers all goals that were not set aside; empty if it is not."""
        exact = self.prover.exact if self.prover and self.prover.exact else self.together
        if exact is None or exact.run is not None:
            return ""
        return f"all {exact.states} reachable states were searched"

    def _try_first(self) -> None:
        """A chain by simulation, and what it tells of distances; the search falls back on one that covers all goals.

        Not where all reachable states are listed: they tell all distances."""
        if self._options.improve and not isinstance(self.builder, EnumeratedGraphBuilder):
            limits = self._options.overlap, self._bound
            self.source.observe(by_simulation(self.tools, self.graph.goals, *limits, self._take_run, self._progress))
        if self.chain and self._plan:
            self.source.observe(shown_distances(self.chain.run, self.tools, self._options.overlap))
            self._seen = FirstChain(self.chain, self._plan)
        self._adopt_seen()

    def _adopt_seen(self) -> None:
        """Fall back on what simulation found, where it covers all goals that were not set aside."""
        if self._first is None and self._seen and {*self._seen.chain.order} == {*self.graph.goals}:
            self._first = self._seen

    def _prefer_first(self) -> None:
        """Fall back on the first chain where the order over the graph came to none, or to a longer one."""
        if self._first is not None and (self.chain is None or self.chain.length > self._first.chain.length):
            self.chain, self._plan = self._first.chain, self._first.plan

    def _grow(self) -> Plan | None:
        """Grow K until a covering path can be made a chain, or the bound is met; the last covering path.

        Goals that are not reached by then, or have no way to the end, are set aside, and the others get their chain.
        """
        plan, edges, news, settled = None, -1, 0, -1
        while True:
            self.source.extend()
            k, last = self.builder.depth, self.source.over
            graph = self.builder.graph().possible
            self._progress(f"graph: K = {k}, {len(graph.weights)} of {len(graph.lower)} edges")
            if self._first is not None and self._first.is_least(self.graph, Limit(self._budget.for_query())):
                break
            if isinstance(self.builder, EnumeratedGraphBuilder):
                self._settle(last)
                if self.together is not None or (self.aside.names and not self.graph.goals):
                    break
            if len(graph.weights) > edges:
                edges, news = len(graph.weights), k
            plan = self._shortest_path(self.graph)
            if plan is None and (last or (k >= news + PATIENCE and news > settled)):
                settled = news
                self._settle(last)
                plan = self._shortest_path(self.graph)
                if self.aside.names and not self.graph.goals:
                    break
                if plan is None and not last and self._first is None:
                    self._provide(k)
            if plan is not None and self._worth_trying(plan, k):
                self.chain, self._plan = None, None
                limit = self._bound if last else k
                if self._concretise(plan, limit):
                    return plan
                self._failed = (plan, limit)
                if self._options.improve:
                    self.together = self._lost.least_together(self.builder.graph())
                if self.together is None and not last and (self._first is not None or self._nearest_first()):
                    self._complete_graph()
                    return plan
            if last or self.together is not None:
                break
        self.chain, self._plan = None, None
        if plan is not None and self.together is None and self._first is None and self._options.repair != "none":
            self._try_other_orders()
        return plan

    def _complete_graph(self) -> None:
        """Ask for longer edges as long as there are any: they make the bound."""
        news, edges = self.builder.depth, 0
        while not self.source.over and self.builder.depth < news + PATIENCE:
            self.source.extend(PATIENCE)
            graph = self.graph
            self._progress(f"graph: K = {graph.depth}, {len(graph.weights)} of {len(graph.lower)} edges")
            if len(graph.weights) > edges:
                news, edges = graph.depth, len(graph.weights)

    def _nearest_first(self, partial: bool = False) -> bool:
        """Whether going on to the nearest goal each time gives a chain.

        ``partial``: for as many goals as it leads to, the others are set aside.
        """
        if not self._options.improve or (partial and self._options.max_length is not None):
            return False
        goals = self.graph.goals
        self._progress("inputs: nearest goal first")
        if found := by_nearest(self.tools, goals, self._options.overlap, self._bound, partial):
            self._take_run(*found)
            self.aside.leave_out(name for name in goals if name not in found[1])
            self.partial = partial
        return self.chain is not None

    def _try_other_orders(self) -> None:
        options = self._options
        rounds, effort = options.rounds or None, options.improve or None
        sets = self._ordering, options.overlap, self._bound, self.aside.names
        task = Task(self.tools, self.builder, *sets, rounds, effort, self._progress)
        found = by_other_orders(task, options, self.ordered_by)
        if found.plan is not None and found.run is not None:
            self._take(found.plan, found.run)

    def _provide(self, k: int) -> None:
        """A chain for the goals that have one so far, in case that a limit stops the search for the others."""
        left = [goal for goal in self.graph.goals if goal not in hopeless(self.graph)]
        plan = self._shortest_path(self.graph.restricted(left)) if 0 < len(left) < len(self.graph.goals) else None
        if plan is not None:
            self._concretise(plan, k)

    def _settle(self, last: bool) -> None:
        """Set aside the goals that no chain covers, as far as that is proved, or K ends here (``last``).

        Then the exact answer for the others, where the reachable states are few. That may lie beyond K, but not beyond
        one that the user gave.
        """
        known = self._first is not None or self._lost.settle(self.builder.graph(), last)
        self._adopt_seen()
        if known and self._options.improve and self.graph.goals:
            self.together = self._lost.least_together(self.builder.graph())

    def _worth_trying(self, plan: Plan, k: int) -> bool:
        """Whether ``plan`` may succeed where it has failed: not before its edges may grow twice as long as then."""
        if self._failed is None or self._failed[0] != plan:
            return True
        return self.builder.complete or k >= 2 * self._failed[1] or k == self._bound

    def _shortest_path(self, graph: ReachGraph) -> Plan | None:
        """The shortest covering path, None if there is none yet, or no goal is left."""
        if self.builder.graph().goals and not graph.goals:
            return None
        found = shortest_covering_path(graph, self._ordering, self._budget.for_query())
        if found is not None:
            self.order_proved, self.ordered_by = found.proved, found.by
        return None if found is None else found.plan

    def _concretise(self, plan: Plan, limit: int) -> bool:
        """Algorithm 4: whether inputs were found along ``plan``, edges grown to ``limit`` at most."""
        self._progress(f"inputs: {' -> '.join(plan.path)}, {self.tools.length(plan)} steps")
        self.longest = limit
        plan, self.attempt = concretise(self.tools, plan, limit, self._progress)
        if self.attempt.run is None:
            return False
        self._take(plan, self.attempt.run)
        return True

    def _take_run(self, run: Run, credited: Mapping[str, int]) -> None:
        self._take(self._checker.plan(run, credited, self.graph.end), run)

    def _take(self, plan: Plan, run: Run) -> None:
        """Keep the checked chain of ``run`` as the best so far, if it is not too long."""
        if self._options.max_length is not None and run.length > self._options.max_length:
            return
        self.chain = self._checker.chain(plan, run)
        self._plan = plan

    def _prove(self, plan: Plan | None) -> None:
        """Shorter chains and a higher bound; where no chain was found along ``plan``, any chain."""
        shared, options = (self._workers, self._progress), self._options
        answers = means(self.tools, self.questions_engine, self._reachable.graph, options, *shared)
        self.prover = Prover(self.graph, self.tools, self.small, answers, options, self._take_run, self._progress)
        run = self.chain.run if self.chain else None
        credited = {hit.goal: hit.step for hit in self.chain.hits} if self.chain else {}
        longest = self._options.slack(self._reachable.plain.hold) + 1 + (self.tools.length(plan) if plan else 0)
        if self._options.max_length is not None:
            longest = min(longest, self._options.max_length + 1)
        self.prover.work(run, credited, longest)

    def _canonicalise(self, plan: Plan) -> None:
        """The least inputs for the chain, and whether it works for all open start values."""
        assert self.chain is not None
        self._progress(f"inputs: least values for {self.chain.length} steps")
        run = least_values(self.builder, self.tools, plan, self.chain.run)
        self._take(plan, run)
        self.chain = replace(self.chain, relies_on=start_dependence(self.tools, plan, run))
