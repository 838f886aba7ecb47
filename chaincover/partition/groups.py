"""Goals by groups: chains for some of the goals, the conflicts between them, and those that no chain covers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pysmt.fnode import FNode

from bmc.errors import LimitReached
from bmc.system.transition import TransitionSystem
from chaincover.budget import Budget
from chaincover.chain import COVERED, EXCLUDED, NO_WAY_TO_FINAL, NOT_WITHIN_BOUND, UNDECIDED, Verdict
from chaincover.graph.exact import ExactSearch, Exhaustion, work_of
from chaincover.graph.explored import Reachable
from chaincover.partition.conflicts import Conflict, pair_reason, set_reason
from chaincover.pipeline import INTERRUPT, ChainResult, Options, generate_each, within
from chaincover.problem import Problem
from chaincover.verdicts import undecided_between
from chaincover.weights import obstacles, transitive_closure
from properties.goal import Goal


class Groups:
    """``conflicts`` grows as classes of goals fail; ``set_aside`` holds the verdicts of goals that no chain covers.

    ``credited``: for each goal those that are covered with it, and not searched for.
    """

    def __init__(
        self,
        system: TransitionSystem,
        goals: Sequence[Goal],
        final: FNode | None,
        options: Options,
        progress: Callable[[str], None],
        credited: Mapping[str, Sequence[Goal]] | None = None,
    ) -> None:
        self._credited = credited or {}
        self._system, self.goals, self._final = system, tuple(goals), final
        self._options, self.progress = options, progress
        self.budget = Budget(options.time_limit, options.query_limit)
        reachable = Reachable(system, goals, final, options.explore)
        problem = Problem(system, tuple(goals), final, options.overlap)
        self.small = ExactSearch(problem, lambda: reachable.graph, work_of(options), self.budget.check)
        self.conflicts: list[Conflict] = []
        self.set_aside: dict[str, Verdict] = {}
        self._most = options.max_length

    def generate(
        self, names: Sequence[str], options: Options | None = None, budget: Budget | None = None
    ) -> ChainResult:
        """One chain for the goals ``names``, within the time that is left, or that of ``budget``."""
        chosen = [goal for goal in self.goals if goal.name in names]
        credited = [other for name in names for other in self._credited.get(name, ())]
        options = within(options or self._options, budget or self.budget)
        return generate_each(self._system, chosen, self._final, options, self.progress, credited)

    def each(self, classes: Sequence[Sequence[str]], options: Options | None = None) -> tuple[list[ChainResult], str]:
        """A result for each class, up to the first that was stopped; and what stopped it, or ''."""
        results: list[ChainResult] = []
        for names in classes:
            results.append(self.generate(names, options))
            if results[-1].stopped_by:
                break
        return results, results[-1].stopped_by if results else ""

    def hopeful(self, whole: ChainResult) -> list[str]:
        """Set the goals aside that no chain covers; the goals that are left. Notes pairs that exclude each other."""
        possible = whole.graph.possible
        found = obstacles(possible, transitive_closure(possible))
        apart = {verdict.goal for verdict in whole.verdicts if verdict.status == EXCLUDED}
        lost = {*whole.graph.unsatisfiable, *({*found.unreached, *found.stuck} - apart)}
        for verdict in whole.verdicts:
            if verdict.goal in lost:
                self.set_aside[verdict.goal] = verdict
        for a, b in found.exclusive:
            if not {a, b} & lost and self._exactly_fit((a, b)) is not True:
                self._learn_pair(a, b, f"within K = {whole.depth}", undecided_between(possible, a, b))
        return [g for g in whole.graph.goals if g not in lost]

    def _learn_pair(self, a: str, b: str, within: str, undecided: bool) -> None:
        """Note that the graph has no way between two goals, proved without K where that can be.

        ``undecided``: because the solver gave up, which the exact answer makes up for.
        """
        exact = self.small.least((a, b))
        proved = exact is not None and self._most is None
        undecided = undecided and exact is None
        reason = pair_reason(a, b, self.how(exact.states) if exact is not None else within)
        if undecided:
            reason = f"the solver gave up on whether one run covers both {a} and {b}, {within}"
        self.conflicts.append(Conflict((a, b), reason, proved, undecided))

    def covers(self, names: Sequence[str]) -> Exhaustion | None:
        """All sets of the goals ``names`` that one chain covers; None where the system is too large."""
        exact = self.small.covers(names)
        if exact is None or not exact.complete:
            return None
        if self._most is None:
            return exact
        kept = [(cover, run) for cover, run in zip(exact.covers, exact.runs, strict=True) if cover.length <= self._most]
        return replace(exact, covers=tuple(c for c, _ in kept), runs=tuple(r for _, r in kept))

    def how(self, states: int) -> str:
        """How an exact answer is known."""
        within = "at all" if self._most is None else f"in at most {self._most} steps"
        return f"{within}: all {states} reachable states were searched"

    def coverable(self, exact: Exhaustion, left: list[str]) -> list[str]:
        """``left`` without the goals that turn out to fit into no chain."""
        coverable = frozenset[str]().union(*(cover.goals for cover in exact.covers))
        for goal in left:
            if goal not in coverable:
                status = NO_WAY_TO_FINAL if self._most is None else NOT_WITHIN_BOUND
                self.set_aside[goal] = Verdict(goal, status, detail=f"no chain covers it {self.how(exact.states)}")
        return [goal for goal in left if goal in coverable]

    def learn_conflict(self, names: tuple[str, ...], within: str) -> bool:
        """Note a conflict, proved without K where that can be; not if the exact answer is that the goals do fit.

        Whether it was noted.
        """
        exact = self._exactly_fit(names)
        if exact is True:
            return False
        states = self.small.least(names)
        if exact is False and states is not None:
            within = self.how(states.states)
        self.conflicts.append(Conflict(names, set_reason(within), exact is False and self._most is None))
        return True

    def learn_class(self, names: Sequence[str], result: ChainResult, left: list[str]) -> list[str]:
        """A class that failed: goals that no chain covers are set aside, else it is a conflict, as small as it goes.

        LimitReached or KeyboardInterrupt where a search for a smaller one was stopped.
        """
        lost = [verdict for verdict in result.verdicts if verdict.status != COVERED]
        if len(names) == 1 or any(verdict.status == UNDECIDED for verdict in lost):
            gone = lost
        else:
            gone = [self._alone(verdict) for verdict in lost if self.fit([verdict.goal]) is False]
        if gone:
            self.set_aside.update({verdict.goal: verdict for verdict in gone})
            return [goal for goal in left if goal not in self.set_aside]
        core = list(names)
        for name in names:
            rest = [n for n in core if n != name]
            if len(rest) > 1 and self.fit(rest) is False:
                core = rest
        if not self.learn_conflict(tuple(core), f"with K = {result.depth}"):
            self.conflicts.append(Conflict(tuple(core), set_reason(f"with K = {result.depth}"), False))
        return left

    def _alone(self, verdict: Verdict) -> Verdict:
        """The verdict of a goal that does not even fit into a chain of its own."""
        exact = self.small.least([verdict.goal])
        if exact is not None and exact.run is None:
            return Verdict(verdict.goal, NO_WAY_TO_FINAL, detail=f"no chain covers it {self.how(exact.states)}")
        own = self.generate([verdict.goal]).verdicts[0]
        return verdict if own.status == COVERED else own

    def fit(self, names: Sequence[str]) -> bool | None:
        """Whether a chain covers ``names``; None where the solver gave up.

        LimitReached or KeyboardInterrupt where the search was stopped.
        """
        exact = self._exactly_fit(names)
        if exact is not None:
            return exact
        quick = replace(self._options, improve=0, repair="none")
        return self._finished(names, quick) or self._finished(names, None)

    def _exactly_fit(self, names: Sequence[str]) -> bool | None:
        exact = self.small.least(names)
        if exact is None:
            return None
        return exact.run is not None and (self._most is None or exact.run.length <= self._most)

    def _finished(self, names: Sequence[str], options: Options | None) -> bool | None:
        result = self.generate(names, options)
        if result.complete:
            return True
        if result.stopped_by == INTERRUPT:
            raise KeyboardInterrupt
        if result.stopped_by:
            raise stopped(result.stopped_by)
        return None if any(verdict.status == UNDECIDED for verdict in result.verdicts) else False


def stopped(limit: str) -> LimitReached:
    """What to raise where ``limit`` ended a search."""
    error = LimitReached(f"the {limit} was reached")
    error.limit = limit
    return error
