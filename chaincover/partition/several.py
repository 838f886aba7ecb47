"""Algorithms 6 and 7: several chains where one cannot cover all goals, as few as possible, then as short as possible.

There are chains at once: each takes as many of the goals that are left as one chain is found to cover. From below,
goals that no run covers together are conflicts; the least number of classes without a conflict inside bounds the number
of chains (a colouring). Where the states are enumerated, the sets of goals that one run covers give the number exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from bmc.errors import CheckDisagreed, LimitReached
from bmc.formulas import pack
from chaincover.chain import COVERED, EXCLUDED, NO_WAY_TO_FINAL, UNDECIDED, UNREACHABLE, Bounds, Verdict
from chaincover.graph.exact import Exhaustion
from chaincover.limits import UNITS, Limits
from chaincover.options import Options
from chaincover.partition.conflicts import Conflict, classes_without, conflicts_of, pair_reason, set_reason
from chaincover.partition.distribute import Distribution
from chaincover.partition.fewest import fewest, sets_of_goals
from chaincover.pipeline import generate
from chaincover.problem import Problem
from chaincover.result import INTERRUPT, ChainResult, Silent
from chaincover.verdicts import undecided_between
from chaincover.weights import obstacles, transitive_closure
from chaincover.work.workers import choose as choose_workers

ROUNDS = 10
"""Distributions of the goals tried for a smaller total length."""

ONE_SHARE = 0.4
"""Part of time and effort for the one chain that is tried first; the rest is for several."""

SHARED = "least order over all chains, with resets between them"
EXACT = "search over all reachable states with the goals covered"
ONE = "bound of the one chain"


@dataclass(frozen=True)
class SeveralChains:
    """``results`` hold a chain each; together they cover every goal that is known to be covered by a chain.

    ``verdicts`` are those of all goals, in their order, with the number of the chain (from 1) in the detail.
    ``fewest``: it is proved that fewer chains do not cover these goals; ``at_all``: without any bound. ``bounds`` has
    the total length, and the proved least total length of this number of chains. ``stopped_by`` as in ``ChainResult``.
    """

    results: tuple[ChainResult, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    fewest: bool = False
    at_all: bool = False
    bounds: Bounds = field(default=Bounds(0, None, ONE))
    stopped_by: str = ""

    @property
    def length(self) -> int:
        """Steps of all chains together."""
        return total(self.results)


class Listener(Protocol):
    """As for one chain; every better set of chains is told as soon as it is known."""

    def __call__(self, text: str) -> None:
        """A stage begins, or goes on."""

    def improved(self, result: Callable[[], SeveralChains]) -> None:
        """There are better chains; ``result`` makes the answer so far."""


class _Quiet:
    """A listener that tells nobody."""

    def __call__(self, text: str) -> None:
        """See the protocol."""

    def improved(self, result: Callable[[], SeveralChains]) -> None:
        """See the protocol."""


def total(results: Sequence[ChainResult]) -> int:
    """Steps of all chains together."""
    return sum(r.chain.length for r in results if r.chain is not None)


def generate_several(
    problem: Problem, options: Options | None = None, listener: Listener | None = None
) -> SeveralChains:
    """Cover the goals of ``problem`` with chains from init to its final condition; one chain where one suffices.

    At a limit or an interrupt the best chains so far are the answer. Errors as in ``generate``.
    """
    options = options or Options()
    options.check()
    return _Several(replace(problem, overlap=options.overlap), options, listener or _Quiet()).run()


class _Several:
    """One search for the fewest chains. What is found until a limit stays."""

    def __init__(self, problem: Problem, options: Options, listener: Listener) -> None:
        self._problem, self._options, self._listener = problem, options, listener
        self._limits = Limits(options.time_limit, options.query_limit, options.effort)
        self._results: tuple[ChainResult, ...] = ()
        self._lost: dict[str, Verdict] = {}
        self._conflicts: list[Conflict] = []
        self._proved = self._at_all = False
        self._bounds = Bounds(0, None, ONE)
        self._stopped = ""

    def run(self) -> SeveralChains:
        """One chain if that covers all that can be covered; else several."""
        try:
            self._work()
        except LimitReached as error:
            self._stopped = error.limit
        except KeyboardInterrupt as error:
            self._stopped = str(error) or INTERRUPT
        return self._answer()

    def _work(self) -> None:
        whole = self._one(self._problem.names, ONE_SHARE)
        self._lost = {v.goal: v for v in whole.verdicts if v.status in (UNREACHABLE, NO_WAY_TO_FINAL)}
        left = [name for name in self._problem.names if name not in self._lost]
        if whole.chain is None and not left:
            return
        if whole.chain is not None:
            self._take((whole,), Bounds(whole.bounds.lower, whole.chain.length, ONE))
            if whole.chain.goals >= {*left}:
                self._proved = self._at_all = True
                return
        if whole.stopped_by == INTERRUPT:
            raise KeyboardInterrupt
        self._greedily(whole, left)
        self._learn_pairs(whole, left)
        left = [name for name in left if name not in self._lost and any(name in _covered(r) for r in self._results)]
        exact = sets_of_goals(self._problem.of(left), self._limits) if left and self._options.bound is None else None
        if exact is not None:
            self._exactly(exact, left)
        elif left:
            self._by_conflicts(whole, left)
            self._shorter(whole, left)

    def _greedily(self, whole: ChainResult, left: Sequence[str]) -> None:
        """Chains at once: the next one for the goals that are left, as many as it is found to cover."""
        results = [whole] if whole.chain is not None else []
        missing = [name for name in left if not any(name in _covered(result) for result in results)]
        while missing:
            self._listener(f"partition: {len(results)} chain(s), {len(missing)} goal(s) left")
            found = self._one(missing, 1 / (2 + len(missing)))
            if found.chain is None or not _covered(found) & {*missing}:
                alone = next(iter(missing))
                found = found if len(missing) == 1 else self._one([alone], 1 / (2 + len(missing)))
                if found.chain is None:
                    self._lost[alone] = next(v for v in found.verdicts if v.goal == alone)
                    missing.remove(alone)
                    continue
            results.append(found)
            missing = [name for name in missing if name not in _covered(found)]
            self._take(tuple(results), Bounds(0, total(results), SHARED))

    def _exactly(self, exact: Exhaustion, left: Sequence[str]) -> None:
        """The fewest chains, of least total length, by the sets of goals that one run covers."""
        how = f"at all: all {exact.states} reachable states were searched"
        chosen = fewest(exact.covers, left) if exact.complete else None
        if chosen is None:
            return
        if self._options.max_length is not None and any(c.length > self._options.max_length for c in chosen):
            return
        self._conflicts = list(conflicts_of(exact.covers, left, how, True, self._problem.final is None))
        lower = sum(cover.length for cover in chosen)
        if len(chosen) < len(self._results) or lower < total(self._results):
            self._each([[name for name in left if name in cover.goals] for cover in chosen])
        self._proved = self._at_all = len(self._results) == len(chosen)
        if self._proved:
            self._take(self._results, Bounds(lower, total(self._results), EXACT))

    def _by_conflicts(self, whole: ChainResult, left: Sequence[str]) -> None:
        """Fewer chains as long as there are classes without a whole conflict inside; classes that fail are
        conflicts."""
        while True:
            classes = classes_without(left, [c.goals for c in self._conflicts])
            if len(classes) >= len(self._results):
                self._proved = not any(conflict.undecided for conflict in self._conflicts)
                self._at_all = self._proved and all(conflict.at_all for conflict in self._conflicts)
                return
            self._listener(f"partition: are {len(classes)} chains enough?")
            results = self._all_of(classes)
            failed = [(n, r) for n, r in zip(classes, results, strict=True) if not _covered(r) >= {*n}]
            if not failed:
                self._take(tuple(results), Bounds(0, total(results), SHARED))
                continue
            for names, result in failed:
                reason = set_reason(f"with K = {result.depth}")
                decided = bool(result.no_chain)
                self._conflicts.append(Conflict(tuple(names), reason, decided, not decided))

    def _shorter(self, whole: ChainResult, left: Sequence[str]) -> None:
        """Other distributions over as many chains, as long as the bound on the total length suggests shorter ones."""
        if len(self._results) < 2 or not {*left} <= {*whole.graph.goals}:
            return
        shared = Distribution(whole.graph, left, len(self._results))
        last = list(self._results)
        for _ in range(ROUNDS):
            fresh = shared.learn(result.certificate for result in last)
            order = shared.least(self._limits.for_query())
            lower = max(self._bounds.lower, order.lower_bound)
            self._take(self._results, Bounds(lower, total(self._results), SHARED))
            if not order.path or lower >= total(self._results) or not (fresh or last == [*self._results]):
                return
            last = self._all_of(shared.classes(order.path))
            if not {*left} <= {name for result in last for name in _covered(result)}:
                return
            if total(last) < total(self._results):
                self._take(tuple(last), self._bounds)

    def _learn_pairs(self, whole: ChainResult, left: Sequence[str]) -> None:
        """Pairs of goals between which the graph has no way: proved where its distances are exact."""
        graph = whole.graph.restricted(left)
        for a, b in obstacles(graph, transitive_closure(graph)).exclusive:
            exact = whole.answered.exact and (a, b) not in graph.weights and (b, a) not in graph.weights
            reason = pair_reason(a, b, "at all" if exact else f"within K = {whole.depth}")
            undecided = not exact and undecided_between(graph, a, b)
            self._conflicts.append(Conflict((a, b), reason, exact, undecided))

    def _each(self, classes: Sequence[Sequence[str]]) -> None:
        """A chain for each class, taken if together they cover what the chains so far cover."""
        results = self._all_of(classes)
        if all(_covered(result) >= {*names} for result, names in zip(results, classes, strict=True)):
            self._take(tuple(results), Bounds(0, total(results), SHARED))

    def _all_of(self, classes: Sequence[Sequence[str]]) -> list[ChainResult]:
        """A result for each class: by the workers, if there are any, and several classes."""
        workers = choose_workers(self._options.jobs, self._options.scheduler)
        options = [self._within(1 / (len(classes) + 1)) for _ in classes]
        problems = [self._problem.of(names) for names in classes]
        if workers is None or len(classes) < 2:
            results = []
            for part, own in zip(problems, options, strict=True):
                results.append(self._counted(generate(part, own, _Told(self._listener))))
            return results
        tasks = [pack.dumps(task) for task in zip(problems, options, strict=True)]
        done = workers.map(generate_packed, tasks, lambda count: self._limits.check())
        return [self._counted(result) for result in done]

    def _one(self, names: Sequence[str], share: float) -> ChainResult:
        """The best chain for the goals ``names``, with a share of what is left of time and effort."""
        return self._counted(generate(self._problem.of(names), self._within(share), _Told(self._listener)))

    def _within(self, share: float) -> Options:
        """The options with a share of what is left of time and effort."""
        self._limits.check()
        seconds = None if self._options.time_limit is None else max(0.01, self._limits.left() * share)
        effort = self._options.effort
        if effort is not None:
            effort = max(effort / 20, (effort - self._limits.spent / UNITS) * share)
        return replace(self._options, time_limit=seconds, effort=effort, jobs=1, scheduler=None)

    def _counted(self, result: ChainResult) -> ChainResult:
        self._limits.spend(result.answered.effort)
        if result.stopped_by and result.stopped_by not in ("time limit", "memory limit"):
            self._take_more(result)
            raise KeyboardInterrupt(result.stopped_by)
        return result

    def _take_more(self, result: ChainResult) -> None:
        """Add what a search found that was interrupted, if it covers more."""
        covered = {name for own in self._results for name in _covered(own)}
        if _covered(result) - covered:
            self._take((*self._results, result), Bounds(0, total((*self._results, result)), SHARED))

    def _take(self, results: tuple[ChainResult, ...], bounds: Bounds) -> None:
        """These are the best chains now. CheckDisagreed if they are shorter than the bound."""
        if bounds.length is not None and bounds.length < bounds.lower:
            raise CheckDisagreed(f"chains of {bounds.length} steps were found below the proven least {bounds.lower}")
        self._results, self._bounds = results, bounds
        self._listener.improved(self._answer)

    def _answer(self) -> SeveralChains:
        """What is known now."""
        verdicts = [self._verdict(name) for name in self._problem.names]
        return SeveralChains(
            tuple(replace(result, options=self._options) for result in self._results),
            tuple(verdicts),
            tuple(self._conflicts),
            self._proved,
            self._at_all,
            self._bounds,
            self._stopped,
        )

    def _verdict(self, name: str) -> Verdict:
        for number, result in enumerate(self._results, 1):
            for own in result.verdicts:
                if own.goal == name and own.status == COVERED:
                    return replace(own, detail=f"chain {number}")
        if name in self._lost:
            return self._lost[name]
        if self._stopped:
            return Verdict(name, UNDECIDED, detail=f"stopped by {self._stopped}")
        return Verdict(name, EXCLUDED, detail="no chain was found for it")


class _Told:
    """A listener to a single chain of several."""

    def __init__(self, listener: Callable[[str], None]) -> None:
        self._listener = listener

    def __call__(self, text: str) -> None:
        """See the protocol."""
        self._listener(text)

    def improved(self, result: Callable[[], ChainResult]) -> None:
        """A single chain is told when it is whole."""


def generate_packed(task: bytes) -> ChainResult:
    """``generate`` for a worker: problem and options as ``pack.dumps`` packs them."""
    problem, options = pack.loads(task)
    return generate(problem, options, Silent())


def _covered(result: ChainResult) -> frozenset[str]:
    return frozenset() if result.chain is None else result.chain.goals
