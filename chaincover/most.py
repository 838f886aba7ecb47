"""The one chain that covers most goals, then as short as possible, where no chain covers all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pysmt.fnode import FNode

from bmc.errors import LimitReached
from bmc.system import TransitionSystem
from chaincover.budget import Budget
from chaincover.chain import COVERED, EXCLUDED, Verdict
from chaincover.conflicts import largest_class
from chaincover.groups import Groups
from chaincover.pipeline import INTERRUPT, ChainResult, Options, generate, within
from properties.goal import Goal


def generate_most(
    system: TransitionSystem,
    goals: Sequence[Goal],
    final: FNode | None,
    options: Options | None = None,
    progress: Callable[[str], None] | None = None,
) -> ChainResult:
    """One chain that covers as many of ``goals`` as possible, as short as possible among these. Errors as in
    ``generate``. The verdict of each goal left out says whether the number is proved."""
    options, progress = options or Options(), progress or (lambda text: None)
    budget = Budget(options.time_limit)
    whole = generate(system, goals, final, options, progress)
    if whole.chain is not None or whole.stopped_by:
        return whole
    return _Most(system, goals, final, within(options, budget), progress).run()


class _Most(Groups):
    """One search for the chain that covers most goals."""

    def run(self) -> ChainResult:
        """The chain that covers most goals, with a verdict for all goals."""
        whole = self.generate([goal.name for goal in self.goals])
        if whole.chain is not None or whole.stopped_by:
            return whole
        try:
            return self._most_of(self.hopeful(whole), whole)
        except LimitReached as error:
            return replace(whole, stopped_by=error.limit)
        except KeyboardInterrupt:
            return replace(whole, stopped_by=INTERRUPT)

    def _most_of(self, left: list[str], whole: ChainResult) -> ChainResult:
        exact = self.small.covers(left) if left else None
        if exact is not None and exact.covers:
            left = self.coverable(exact, left)
            if not left:
                return self._none(whole)
            best = min(exact.covers, key=lambda cover: (-len(cover.goals), cover.length))
            how = f"no chain covers more than {len(best.goals)} of them: all {exact.states} reachable states searched"
            return self._completed(self.generate([g for g in left if g in best.goals]), how)
        if left and not self.conflicts:
            left = self.learn_class(left, whole, left)
        while left:
            names = largest_class(left, [c.goals for c in self.conflicts])
            result = self.generate(names)
            lost = [v for v in result.verdicts if v.status != COVERED]
            if result.chain is not None and lost and not result.stopped_by:
                self.set_aside.update({v.goal: v for v in lost})
                left = [g for g in left if g not in self.set_aside]
                continue
            if result.chain is not None or result.stopped_by:
                proved = self.conflicts and all(c.at_all for c in self.conflicts)
                extent = "at all" if proved else f"within K = {result.depth}"
                return self._completed(result, f"no chain covers more than {len(names)} of them, {extent}")
            left = self.learn_class(names, result, left)
        return self._none(whole)

    def _none(self, whole: ChainResult) -> ChainResult:
        """``whole``, which has no chain, with the verdicts found since."""
        return replace(whole, verdicts=tuple(self.set_aside.get(v.goal, v) for v in whole.verdicts))

    def _completed(self, result: ChainResult, how: str) -> ChainResult:
        """``result`` with verdicts for the goals that it was not made for."""
        own = {verdict.goal: verdict for verdict in result.verdicts}
        verdicts = [
            own.get(goal.name) or self.set_aside.get(goal.name) or Verdict(goal.name, EXCLUDED, detail=how)
            for goal in self.goals
        ]
        return replace(result, verdicts=tuple(verdicts))
