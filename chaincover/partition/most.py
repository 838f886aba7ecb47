"""The one chain that covers most goals, then as short as possible, where no chain covers all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pysmt.fnode import FNode

from bmc.errors import LimitReached
from bmc.system.transition import TransitionSystem
from chaincover.limits import Limits
from chaincover.chain import EXCLUDED, UNDECIDED, Verdict
from chaincover.partition.conflicts import largest_classes
from chaincover.partition.groups import Groups
from chaincover.pipeline import INTERRUPT, ChainResult, Options, generate, within
from chaincover.reductions.slicing import on_whole, sliced
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
    budget = Limits(options.time_limit, options.query_limit)
    whole = generate(system, goals, final, options, progress)
    if (whole.chain is not None and not whole.partial) or whole.stopped_by:
        return whole
    found = _Most(sliced(system, goals, final), goals, final, within(options, budget), progress).run()
    return replace(on_whole(found, system, goals, final), options=options)


MOST_CLASSES = 20
"""Choices of equally many goals that are tried for the shortest chain."""


def _length(result: ChainResult) -> int:
    return result.chain.length if result.chain is not None else 0


class _Most(Groups):
    """One search for the chain that covers most goals."""

    def run(self) -> ChainResult:
        """The chain that covers most goals, with a verdict for all goals."""
        whole = self.generate([goal.name for goal in self.goals])
        if (whole.chain is not None and not whole.partial) or whole.stopped_by:
            return whole
        try:
            return self._most_of(self.hopeful(whole), whole)
        except LimitReached as error:
            return replace(whole, stopped_by=error.limit)
        except KeyboardInterrupt:
            return replace(whole, stopped_by=INTERRUPT)

    def _most_of(self, left: list[str], whole: ChainResult) -> ChainResult:
        exact = self.covers(left) if left else None
        if exact is not None and exact.covers:
            left = self.coverable(exact, left)
            if not left:
                return self._none(whole)
            best = min(exact.covers, key=lambda cover: (-len(cover.goals), cover.length))
            how = f"no chain covers more than {len(best.goals)} of them {self.how(exact.states)}"
            anyhow = replace(self._options, bound=None)
            return self._completed(self.generate([g for g in left if g in best.goals], anyhow), how)
        if left and not self.conflicts:
            left = self.learn_class(left, whole, left)
        while left:
            classes = largest_classes(left, [c.goals for c in self.conflicts], MOST_CLASSES)
            results, stopped_by = self.each(classes)
            fitting = [result for result in results if result.complete or (stopped_by and result.chain is not None)]
            if fitting or stopped_by:
                best_one = min(fitting, key=_length) if fitting else results[-1]
                proved = self.conflicts and all(c.at_all for c in self.conflicts)
                extent = "at all" if proved else f"within K = {best_one.depth}"
                how = f"no chain covers more than {len(classes[0])} of them, {extent}"
                if len(results) > 1:
                    how += f"; this is the shortest of {len(results)} choices"
                if any(conflict.undecided for conflict in self.conflicts):
                    how = f"the solver gave up on whether a chain covers more than {len(classes[0])} of them"
                return self._completed(replace(best_one, stopped_by=stopped_by), how)
            for names, result in zip(classes, results, strict=True):
                left = self.learn_class(names, result, left)
        return self._none(whole)

    def _none(self, whole: ChainResult) -> ChainResult:
        """``whole``, which has no chain, with the verdicts found since."""
        return replace(whole, verdicts=tuple(self.set_aside.get(v.goal, v) for v in whole.verdicts))

    def _completed(self, result: ChainResult, how: str) -> ChainResult:
        """``result`` with verdicts for the goals that it was not made for."""
        own = {verdict.goal: verdict for verdict in result.verdicts}
        status = UNDECIDED if any(conflict.undecided for conflict in self.conflicts) else EXCLUDED
        verdicts = [
            own.get(goal.name) or self.set_aside.get(goal.name) or Verdict(goal.name, status, detail=how)
            for goal in self.goals
        ]
        return replace(result, verdicts=tuple(verdicts))
