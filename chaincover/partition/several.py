"""Algorithms 6 and 7: as few chains as the conflicts between goals demand, then as few steps, where one is not enough.

Where the reachable states are few, all sets of goals that one run covers are listed, and the answer is exact. Else
goals that no run covers together within K are conflicts: the least number of classes without a conflict inside is a
lower bound on the number of chains, and a class that turns out impossible as a whole is learned as a further conflict.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pysmt.fnode import FNode

from bmc.errors import CheckDisagreed, LimitReached
from bmc.system.transition import TransitionSystem
from chaincover.budget import Budget
from chaincover.chain import COVERED, EXCLUDED, NOT_WITHIN_BOUND, UNDECIDED, Bounds, Verdict
from chaincover.graph.exact import Cover, Exhaustion
from chaincover.partition.conflicts import Conflict, conflicts_of, pair_reason, partition
from chaincover.partition.distribute import Distribution
from chaincover.partition.fewest import fewest
from chaincover.partition.groups import Groups
from chaincover.pipeline import INTERRUPT, ChainResult, Options, find_implied, told_of_all, within
from chaincover.reductions.duplicates import SameAs, distinct, expanded_verdicts
from chaincover.reductions.implied import all_verdicts, credit_all, credited_with, left_to_search
from chaincover.reductions.sliced import on_whole, sliced, with_reasons
from chaincover.weights import hopeless, obstacles, transitive_closure
from properties.goal import Goal

FIRST_SHARE = 0.7
"""Part of the time limit for the one chain; the rest is for several."""

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
    options = options or Options()
    options.check()
    few, same_as = distinct(goals, options.overlap)
    found = _several_of_few(sliced(system, goals, final), few, final, options, progress or (lambda text: None))
    found = replace(found, results=tuple(replace(result, options=options) for result in found.results))
    if same_as:
        found = _told_of_all(found, goals, same_as)
    results = tuple(on_whole(result, system, goals, final) for result in found.results)
    return replace(found, results=results, verdicts=with_reasons(found.verdicts, system, goals, final))


def _told_of_all(found: SeveralChains, goals: Sequence[Goal], same_as: SameAs) -> SeveralChains:
    """``found``, for goals that stand for others, told of all ``goals``."""
    results = []
    for result in found.results:
        names = {verdict.goal for verdict in result.verdicts}
        part = [goal for goal in goals if same_as.get(goal.name, goal.name) in names]
        results.append(told_of_all(result, part, {name: by for name, by in same_as.items() if by in names}))
    verdicts = expanded_verdicts(found.verdicts, goals, same_as)
    return replace(found, results=tuple(results), verdicts=verdicts)


def _several_of_few(
    system: TransitionSystem,
    goals: Sequence[Goal],
    final: FNode | None,
    options: Options,
    progress: Callable[[str], None],
) -> SeveralChains:
    """The chains for goals that differ, without those that others imply."""
    budget = Budget(options.time_limit, options.query_limit)
    implied = find_implied(system, goals, final, options, budget)
    while True:
        kept = [goal for goal in goals if goal.name not in implied]
        found = _Several(system, kept, final, within(options, budget), progress, credited_with(goals, implied)).run()
        fewer = implied if found.stopped_by else left_to_search(implied, found.verdicts, excluded_too=True)
        if fewer == implied:
            break
        implied = fewer
    return _with_implied(found, system, goals, final, implied) if implied else found


def _with_implied(
    found: SeveralChains, system: TransitionSystem, goals: Sequence[Goal], final: FNode | None, implied: dict[str, str]
) -> SeveralChains:
    """``found`` with the goals that its chains cover because they cover others, each in the chain of that one."""
    results = []
    for result in found.results:
        assert result.chain is not None
        hits = {hit.goal for hit in result.chain.hits}
        own = [goal for goal in goals if implied.get(goal.name, goal.name) in hits]
        chain = credit_all(result.chain, system, own, final, implied)
        names = {verdict.goal for verdict in result.verdicts}
        part = [goal for goal in goals if implied.get(goal.name, goal.name) in names]
        verdicts = all_verdicts(part, result.verdicts, implied, [chain])
        results.append(replace(result, chain=chain, verdicts=verdicts))
    chains = [result.chain for result in results if result.chain is not None]
    verdicts = all_verdicts(goals, found.verdicts, implied, chains)
    return replace(found, results=tuple(results), verdicts=verdicts)


class _Several(Groups):
    """One search for the fewest chains."""

    def run(self) -> SeveralChains:
        """One chain if that covers all that can be covered; else the fewest."""
        whole = self.generate([goal.name for goal in self.goals], budget=self.budget.share(FIRST_SHARE))
        if (whole.chain is not None and not whole.partial) or whole.stopped_by == INTERRUPT:
            return self._one(whole)
        if whole.stopped_by:
            return self._after_limit(whole)
        try:
            left = self.hopeful(whole)
            exact = self.covers(left) if left else None
            left = self.coverable(exact, left) if exact else left
            chosen = fewest(exact.covers, left) if exact else None
            if exact is None or chosen is None:
                return self._by_conflicts(whole, left)
            return self._exactly(exact, chosen, left)
        except LimitReached as error:
            return self._result([], error.limit, Bounds(0, None, ""))
        except KeyboardInterrupt:
            return self._result([], INTERRUPT, Bounds(0, None, ""))

    def _after_limit(self, whole: ChainResult) -> SeveralChains:
        """Chains for what the graph shows at the limit, in the time that was kept back for them."""
        graph = whole.graph.possible
        left = [goal for goal in graph.goals if goal not in hopeless(graph)]
        apart = [edge for edge in obstacles(graph, transitive_closure(graph)).exclusive if set(edge) <= set(left)]
        self.set_aside = {v.goal: v for v in whole.verdicts if v.goal not in left}
        self.conflicts = [Conflict(pair, pair_reason(*pair, f"within K = {whole.depth}"), False) for pair in apart]
        classes = partition(left, apart) if left else []
        try:
            results, _ = self.each(classes)
        except LimitReached:
            results = []
        chains = [result for result in results if result.chain is not None]
        return self._result(chains, whole.stopped_by, Bounds(0, total(chains), SHARED))

    def _one(self, whole: ChainResult) -> SeveralChains:
        for verdict in whole.verdicts:
            if verdict.status != COVERED:
                self.set_aside[verdict.goal] = verdict
        found = [whole] if whole.chain is not None else []
        bounds = replace(whole.bounds, basis=ONE)
        return self._result(found, whole.stopped_by, bounds)

    def _exactly(self, exact: Exhaustion, chosen: Sequence[Cover], left: list[str]) -> SeveralChains:
        """The fewest chains, of least total length, by the list of all sets of goals that fit into one."""
        at_all = self._options.max_length is None
        self.conflicts = list(conflicts_of(exact, left, self.how(exact.states), at_all, self._final is None))
        self.progress(f"partition: {len(chosen)} chain(s), proved")
        classes: list[list[str]] = []
        for cover in chosen:
            classes.append([g for g in left if g in cover.goals and not any(g in c for c in classes)])
        results, stopped = self.each(classes, replace(self._options, bound=None))
        results = [r for r in results if r.chain is not None]
        lower = sum(cover.length for cover in chosen)
        return self._result(results, stopped, Bounds(lower, total(results), EXACT))

    def _by_conflicts(self, whole: ChainResult, left: list[str]) -> SeveralChains:
        """Classes without a whole conflict inside, and further conflicts from those that fail."""
        if left and not self.conflicts:
            left = self.learn_class(left, whole, left)
        while left:
            classes = partition(left, [c.goals for c in self.conflicts])
            self.progress(f"partition: {len(classes)} chain(s)")
            results, stopped = self.each(classes)
            if stopped:
                return self._result([r for r in results if r.chain], stopped, Bounds(0, total(results), SHARED))
            failed = [(n, r) for n, r in zip(classes, results, strict=True) if not r.complete]
            if not failed:
                return self._shorter(whole, left, results)
            for names, result in failed:
                left = self.learn_class(names, result, left)
        return self._result([], "", Bounds(0, None, ""))

    def _shorter(self, whole: ChainResult, left: list[str], results: list[ChainResult]) -> SeveralChains:
        """Other distributions over as many chains, as long as the bound on the total length suggests shorter ones."""
        shared = Distribution(whole.graph, left, len(results))
        tried, last = results, results
        lower, stopped = 0, ""
        try:
            for _ in range(ROUNDS):
                fresh = shared.learn(r.certificate for r in last)
                order = shared.least(self.budget.for_query())
                lower = max(lower, order.lower_bound)
                if not order.path or lower >= total(tried) or not (fresh or last is results):
                    break
                self.progress(f"partition: {total(tried)} steps in all, proved: none below {lower}")
                last, stopped = self.each(shared.classes(order.path))
                if stopped or not all(r.complete for r in last):
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
        for goal in self.goals:
            verdict = self.set_aside.get(goal.name)
            for number, result in enumerate(results, 1):
                for own in result.verdicts:
                    if own.goal == goal.name and own.status == COVERED:
                        verdict = replace(own, detail=f"chain {number}")
            if verdict is None:
                status = UNDECIDED if stopped else EXCLUDED
                verdict = Verdict(goal.name, status, detail=f"stopped by {stopped}" if stopped else "")
            verdicts.append(verdict)
        length = total(results) if results else None
        if length is not None and not stopped and length < bounds.lower:
            raise CheckDisagreed(f"chains of {length} steps in all were found below the proven least {bounds.lower}")
        left_out = {verdict.status for verdict in verdicts if verdict.status != COVERED}
        given_up = any(conflict.undecided for conflict in self.conflicts)
        fewest = not stopped and not given_up and not left_out & {UNDECIDED, EXCLUDED}
        at_all = fewest and NOT_WITHIN_BOUND not in left_out and all(c.at_all for c in self.conflicts)
        bounds = Bounds(min(bounds.lower, length or 0) if stopped else bounds.lower, length, bounds.basis)
        return SeveralChains(tuple(results), tuple(verdicts), tuple(self.conflicts), fewest, at_all, bounds, stopped)
