"""Goals by groups: chains for some of the goals, the conflicts between them, and those that no chain covers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pysmt.fnode import FNode

from bmc.system import TransitionSystem
from chaincover.budget import Budget
from chaincover.chain import EXCLUDED, NO_WAY_TO_FINAL, UNDECIDED, Verdict
from chaincover.conflicts import Conflict, pair_reason, set_reason
from chaincover.exhaustive import Exhaustion
from chaincover.explored import Reachable
from chaincover.graph import obstacles, transitive_closure
from chaincover.pipeline import ChainResult, Options, generate_each, within
from chaincover.small import SmallSystem
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
        self.budget = Budget(options.time_limit)
        reachable = Reachable(system, goals, final, options.explore)
        self.small = SmallSystem(system, goals, final, options, reachable, self.budget.check)
        self.conflicts: list[Conflict] = []
        self.set_aside: dict[str, Verdict] = {}

    def generate(
        self, names: Sequence[str], options: Options | None = None, budget: Budget | None = None
    ) -> ChainResult:
        """One chain for the goals ``names``, within the time that is left, or that of ``budget``."""
        chosen = [goal for goal in self.goals if goal.name in names]
        credited = [other for name in names for other in self._credited.get(name, ())]
        options = within(options or self._options, budget or self.budget)
        return generate_each(self._system, chosen, self._final, options, self.progress, credited)

    def each(self, classes: Sequence[Sequence[str]]) -> tuple[list[ChainResult], str]:
        """A result for each class, up to the first that was stopped; and what stopped it, or ''."""
        results: list[ChainResult] = []
        for names in classes:
            results.append(self.generate(names))
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
            if not {a, b} & lost:
                self.learn_conflict((a, b), f"within K = {whole.depth}")
        return [g for g in whole.graph.goals if g not in lost]

    def coverable(self, exact: Exhaustion, left: list[str]) -> list[str]:
        """``left`` without the goals that turn out to fit into no chain at all."""
        coverable = frozenset[str]().union(*(cover.goals for cover in exact.covers))
        for goal in left:
            if goal not in coverable:
                detail = f"no run covers it: all {exact.states} reachable states were searched"
                self.set_aside[goal] = Verdict(goal, NO_WAY_TO_FINAL, detail=detail)
        return [goal for goal in left if goal in coverable]

    def learn_conflict(self, names: tuple[str, ...], within: str) -> None:
        """Note a conflict, proved without K where that can be; not if the exact answer is that the goals do fit."""
        exact = self.small.least(names)
        if exact is not None and exact.run is not None:
            return
        if exact is not None:
            within = f"at all: all {exact.states} reachable states were searched"
        reason = pair_reason(*names, within) if len(names) == 2 else set_reason(within)
        self.conflicts.append(Conflict(names, reason, exact is not None))

    def learn_class(self, names: Sequence[str], result: ChainResult, left: list[str]) -> list[str]:
        """A class that failed: a goal alone is set aside, several goals are a conflict, made as small as it goes."""
        if len(names) == 1 or any(v.status == UNDECIDED for v in result.verdicts):
            for verdict in result.verdicts:
                self.set_aside[verdict.goal] = verdict
            return [g for g in left if g not in names]
        core = list(names)
        for name in names:
            rest = [n for n in core if n != name]
            if len(rest) > 1 and not self.fit(rest):
                core = rest
        before = len(self.conflicts)
        self.learn_conflict(tuple(core), f"with K = {result.depth}")
        if len(self.conflicts) == before:
            self.conflicts.append(Conflict(tuple(core), set_reason(f"with K = {result.depth}"), False))
        return left

    def fit(self, names: Sequence[str]) -> bool:
        """Whether a chain covers ``names``."""
        exact = self.small.least(names)
        if exact is not None:
            return exact.run is not None
        quick = replace(self._options, improve=0, repair="none")
        return self.generate(names, quick).chain is not None or self.generate(names).chain is not None
