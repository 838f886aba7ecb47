"""Algorithms 6 and 7: as few chains as the conflicts between goals demand, then as few steps, where one chain is not
enough; or the one chain that covers most goals.

Where the reachable states are few, all sets of goals that one run covers are listed, and the answer is exact. Else
goals that no run covers together within K are conflicts: the least number of classes without a conflict inside is a
lower bound on the number of chains, and a class that turns out impossible as a whole is learned as a further conflict.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pysmt.fnode import FNode

from bmc.errors import LimitReached
from bmc.system import TransitionSystem
from chaincover.budget import Budget
from chaincover.chain import COVERED, EXCLUDED, NO_WAY_TO_FINAL, UNDECIDED, Bounds, Verdict
from chaincover.conflicts import Conflict, conflicts_of, largest_class, pair_reason, partition, set_reason
from chaincover.distribute import Distribution
from chaincover.exhaustive import Cover, Exhaustion
from chaincover.fewest import fewest
from chaincover.graph import obstacles, transitive_closure
from chaincover.pipeline import INTERRUPT, ChainResult, Options, generate
from chaincover.small import SmallSystem
from properties.goal import Goal

ROUNDS = 10
"""Distributions of the goals tried for a smaller total length."""

SHARED = "least order over all chains, with resets between them"
EXACT = "search over all reachable states with the goals covered"
ONE = "bound of the one chain"


@dataclass(frozen=True)
class SeveralChains:
    """``results`` hold a chain each; together they cover every goal that can be covered.

    ``verdicts`` are those of all goals, in their order, with the number of the chain (from 1) in the detail.
    ``fewest``: fewer chains would break one of ``conflicts``; ``at_all``: all of these hold without a bound K.
    ``bounds`` has the total length, and the proved least total length of this number of chains. ``stopped_by`` as in
    ``ChainResult``.
    """

    results: tuple[ChainResult, ...]
    verdicts: tuple[Verdict, ...]
    conflicts: tuple[Conflict, ...]
    fewest: bool
    at_all: bool
    bounds: Bounds
    stopped_by: str

    @property
    def length(self) -> int:
        """Steps of all chains together."""
        return total(self.results)


def total(results: Sequence[ChainResult]) -> int:
    """Steps of all chains together."""
    return sum(r.chain.length for r in results if r.chain is not None)


def generate_several(
    system: TransitionSystem,
    goals: Sequence[Goal],
    final: FNode | None,
    options: Options | None = None,
    progress: Callable[[str], None] | None = None,
) -> SeveralChains:
    """Cover ``goals`` with chains from init to ``final``; one chain where one suffices. Errors as in ``generate``."""
    return _Several(system, goals, final, options or Options(), progress or (lambda text: None)).run()


def generate_most(
    system: TransitionSystem,
    goals: Sequence[Goal],
    final: FNode | None,
    options: Options | None = None,
    progress: Callable[[str], None] | None = None,
) -> ChainResult:
    """One chain that covers as many of ``goals`` as possible, as short as possible among these. Errors as in
    ``generate``. The verdict of each goal left out says whether the number is proved."""
    return _Several(system, goals, final, options or Options(), progress or (lambda text: None)).most()


class _Several:
    """One run: ``conflicts`` grows, ``set_aside`` holds the verdicts of goals that no chain covers."""

    def __init__(
        self,
        system: TransitionSystem,
        goals: Sequence[Goal],
        final: FNode | None,
        options: Options,
        progress: Callable[[str], None],
    ) -> None:
        self._system, self._goals, self._final = system, tuple(goals), final
        self._options, self._progress = options, progress
        self._budget = Budget(options.time_limit)
        self._small = SmallSystem(system, goals, final, options, self._budget.check)
        self._conflicts: list[Conflict] = []
        self._set_aside: dict[str, Verdict] = {}

    def run(self) -> SeveralChains:
        """One chain if that covers all that can be covered; else the fewest."""
        whole = self._generate([goal.name for goal in self._goals])
        if whole.chain is not None or whole.stopped_by:
            return self._one(whole)
        try:
            left = self._hopeful(whole)
            exact = self._small.covers(left) if left else None
            left = self._coverable(exact, left) if exact else left
            chosen = fewest(exact.covers, left) if exact else None
            if exact is None or chosen is None:
                return self._by_conflicts(whole, left)
            return self._exactly(exact, chosen, left)
        except LimitReached as error:
            return self._result([], error.limit, Bounds(0, None, ""))
        except KeyboardInterrupt:
            return self._result([], INTERRUPT, Bounds(0, None, ""))

    def most(self) -> ChainResult:
        """The chain that covers most goals, with a verdict for all goals."""
        whole = self._generate([goal.name for goal in self._goals])
        if whole.chain is not None or whole.stopped_by:
            return whole
        left = self._hopeful(whole)
        exact = self._small.covers(left) if left else None
        if exact is not None and exact.covers:
            best = min(exact.covers, key=lambda cover: (-len(cover.goals), cover.length))
            how = f"no chain covers more than {len(best.goals)} of them: all {exact.states} reachable states searched"
            return self._completed(self._generate([g for g in left if g in best.goals]), how)
        if left and not self._conflicts:
            left = self._learn_class(left, whole, left)
        while left:
            names = largest_class(left, [c.goals for c in self._conflicts])
            result = self._generate(names)
            if result.chain is not None or result.stopped_by:
                extent = "at all" if all(c.at_all for c in self._conflicts) else f"within K = {result.depth}"
                return self._completed(result, f"no chain covers more than {len(names)} of them, {extent}")
            left = self._learn_class(names, result, left)
        return whole

    def _one(self, whole: ChainResult) -> SeveralChains:
        for verdict in whole.verdicts:
            if verdict.status != COVERED:
                self._set_aside[verdict.goal] = verdict
        found = [whole] if whole.chain is not None else []
        bounds = replace(whole.bounds, basis=ONE)
        return self._result(found, whole.stopped_by, bounds)

    def _generate(self, names: Sequence[str], options: Options | None = None) -> ChainResult:
        chosen = [goal for goal in self._goals if goal.name in names]
        options = options or self._options
        if options.time_limit is not None:
            options = replace(options, time_limit=self._budget.for_query())
        return generate(self._system, chosen, self._final, options, self._progress)

    def _completed(self, result: ChainResult, how: str) -> ChainResult:
        """``result`` with verdicts for the goals that it was not made for."""
        own = {verdict.goal: verdict for verdict in result.verdicts}
        verdicts = [
            own.get(goal.name) or self._set_aside.get(goal.name) or Verdict(goal.name, EXCLUDED, detail=how)
            for goal in self._goals
        ]
        return replace(result, verdicts=tuple(verdicts))

    def _hopeful(self, whole: ChainResult) -> list[str]:
        """Set the goals aside that no chain covers; the goals that are left. Notes pairs that exclude each other."""
        possible = whole.graph.possible
        found = obstacles(possible, transitive_closure(possible))
        lost = {*whole.graph.unsatisfiable, *found.unreached, *found.stuck}
        for verdict in whole.verdicts:
            if verdict.goal in lost:
                self._set_aside[verdict.goal] = verdict
        for a, b in found.exclusive:
            if not {a, b} & lost:
                self._learn_conflict((a, b), f"within K = {whole.depth}")
        return [g for g in whole.graph.goals if g not in lost]

    def _coverable(self, exact: Exhaustion, left: list[str]) -> list[str]:
        """``left`` without the goals that turn out to fit into no chain at all."""
        coverable = frozenset[str]().union(*(cover.goals for cover in exact.covers))
        for goal in left:
            if goal not in coverable:
                detail = f"no run covers it: all {exact.states} reachable states were searched"
                self._set_aside[goal] = Verdict(goal, NO_WAY_TO_FINAL, detail=detail)
        return [goal for goal in left if goal in coverable]

    def _exactly(self, exact: Exhaustion, chosen: Sequence[Cover], left: list[str]) -> SeveralChains:
        """The fewest chains, of least total length, by the list of all sets of goals that fit into one."""
        self._conflicts = list(conflicts_of(exact, left))
        self._progress(f"partition: {len(chosen)} chain(s), proved")
        results, done = [], set[str]()
        for cover in chosen:
            results.append(self._generate([g for g in left if g in cover.goals - done]))
            done |= cover.goals
        stopped = next((r.stopped_by for r in results if r.stopped_by), "")
        results = [r for r in results if r.chain is not None]
        lower = sum(cover.length for cover in chosen)
        return self._result(results, stopped, Bounds(lower, total(results), EXACT))

    def _by_conflicts(self, whole: ChainResult, left: list[str]) -> SeveralChains:
        """Classes without a whole conflict inside, and further conflicts from those that fail."""
        if left and not self._conflicts:
            left = self._learn_class(left, whole, left)
        while left:
            classes = partition(left, [c.goals for c in self._conflicts])
            self._progress(f"partition: {len(classes)} chain(s)")
            results = [self._generate(names) for names in classes]
            stopped = next((r.stopped_by for r in results if r.stopped_by), "")
            failed = [(n, r) for n, r in zip(classes, results, strict=True) if r.chain is None]
            if stopped:
                return self._result([r for r in results if r.chain], stopped, Bounds(0, total(results), SHARED))
            if not failed:
                return self._shorter(whole, left, results)
            for names, result in failed:
                left = self._learn_class(names, result, left)
        return self._result([], "", Bounds(0, None, ""))

    def _learn_conflict(self, names: tuple[str, ...], within: str) -> None:
        """Note a conflict, proved without K where that can be; not if the exact answer is that the goals do fit."""
        exact = self._small.least(names)
        if exact is not None and exact.run is not None:
            return
        if exact is not None:
            within = f"at all: all {exact.states} reachable states were searched"
        reason = pair_reason(*names, within) if len(names) == 2 else set_reason(within)
        self._conflicts.append(Conflict(names, reason, exact is not None))

    def _learn_class(self, names: Sequence[str], result: ChainResult, left: list[str]) -> list[str]:
        """A class that failed: a goal alone is set aside, several goals are a conflict, made as small as it goes."""
        if len(names) == 1 or any(v.status == UNDECIDED for v in result.verdicts):
            for verdict in result.verdicts:
                self._set_aside[verdict.goal] = verdict
            return [g for g in left if g not in names]
        core = list(names)
        for name in names:
            rest = [n for n in core if n != name]
            if len(rest) > 1 and not self._fit(rest):
                core = rest
        before = len(self._conflicts)
        self._learn_conflict(tuple(core), f"with K = {result.depth}")
        if len(self._conflicts) == before:
            self._conflicts.append(Conflict(tuple(core), set_reason(f"with K = {result.depth}"), False))
        return left

    def _fit(self, names: Sequence[str]) -> bool:
        """Whether a chain covers ``names``."""
        exact = self._small.least(names)
        if exact is not None:
            return exact.run is not None
        quick = replace(self._options, improve=0, repair="none")
        return self._generate(names, quick).chain is not None or self._generate(names).chain is not None

    def _shorter(self, whole: ChainResult, left: list[str], results: list[ChainResult]) -> SeveralChains:
        """Other distributions over as many chains, as long as the bound on the total length suggests shorter ones."""
        shared = Distribution(whole.graph, left, len(results))
        tried, last = results, results
        lower, stopped = 0, ""
        try:
            for _ in range(ROUNDS):
                fresh = shared.learn(r.certificate for r in last)
                order = shared.least(self._budget.for_query())
                lower = max(lower, order.lower_bound)
                if not order.path or lower >= total(tried) or not (fresh or last is results):
                    break
                self._progress(f"partition: {total(tried)} steps in all, proved: none below {lower}")
                last = [self._generate(names) for names in shared.classes(order.path)]
                if any(r.chain is None for r in last):
                    break
                if total(last) < total(tried):
                    tried = last
        except LimitReached as error:
            stopped = error.limit
        except KeyboardInterrupt:
            stopped = INTERRUPT
        return self._result(tried, stopped, Bounds(lower, total(tried), SHARED))

    def _result(self, results: Sequence[ChainResult], stopped: str, bounds: Bounds) -> SeveralChains:
        verdicts = []
        for goal in self._goals:
            verdict = self._set_aside.get(goal.name)
            for number, result in enumerate(results, 1):
                for own in result.verdicts:
                    if own.goal == goal.name and own.status == COVERED:
                        verdict = replace(own, detail=f"chain {number}")
            if verdict is None:
                status = UNDECIDED if stopped else EXCLUDED
                verdict = Verdict(goal.name, status, detail=f"stopped by {stopped}" if stopped else "")
            verdicts.append(verdict)
        at_all = not stopped and all(c.at_all for c in self._conflicts)
        return SeveralChains(
            tuple(results), tuple(verdicts), tuple(self._conflicts), not stopped, at_all, bounds, stopped
        )
