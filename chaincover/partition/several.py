"""Algorithm 6: several chains where one cannot cover all goals, as few as possible, then as short as possible.

First chains are found greedily: each next one is sought for all goals that the chains before it leave out, and covers
as many of these as the search finds. So there is an answer early. Then the number of chains is bounded from below.
Goals that no run covers together are a conflict, and goals that share a chain must not contain a conflict: the minimal
number of classes without a conflict inside (Algorithm 7, ``chaincover.partition.conflicts``) is a lower bound on the
number of chains. While it is below the number of chains found, one chain for each class is tried; a class for which
that fails is a new conflict. At last the chains are shortened by other distributions of the goals.

Where the states are enumerated, a minimal set cover by the sets of goals that one run covers gives the number exactly,
before all that. The chains of least total length are one shortest run with resets (``chaincover.reductions.resets``).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from bmc import ending
from bmc.ending import INTERRUPT, TIME_LIMIT
from bmc.errors import CheckDisagreed, LimitReached, counted
from chaincover.chain import COVERED, EXCLUDED, NO_WAY_TO_FINAL, UNDECIDED, UNREACHABLE, Bounds, Verdict
from chaincover.limits import HALF, Limits
from chaincover.options import Options
from chaincover.partition.best import (
    EXACT,
    FLOW,
    ONE,
    RESETS,
    SHARED,
    Best,
    Growing,
    Listener,
    Missed,
    covered_by,
    narrowed,
    total,
)
from chaincover.partition.conflicts import classes_without, conflict_of_class, conflicts_of, more_conflicts, pairs_apart
from chaincover.partition.coverable_sets import Exhaustion
from chaincover.partition.joint_flow import JointFlow, applies, joint_flow, until_apart
from chaincover.partition.set_cover import (
    Distribution,
    RunsInHand,
    minimal_set_cover,
    sets_of_goals,
    share_of,
    with_implied,
)
from chaincover.pipeline import generate
from chaincover.problem import Problem
from chaincover.reductions.reduction import distinct
from chaincover.reductions.resets import parts, placed_apart, with_resets
from chaincover.requirements.deciding import Deciding, for_chains
from chaincover.result import BY, ChainResult, Conflict, SeveralChains, Silent
from chaincover.stages import Stage
from chaincover.verdicts import own_test

ROUNDS = 10
"""Distributions of the goals tried for a smaller total length."""

ONE_SHARE = 0.4
"""Part of time and effort for the one chain that is tried first; the rest is for several."""

MEMORY_LIMIT = "memory limit"


def generate_several(
    problem: Problem, options: Options | None = None, listener: Listener | None = None
) -> SeveralChains:
    """Cover the goals of ``problem`` with chains from init to its final condition; one chain where one suffices.

    At a limit or an interrupt the best chains so far are the answer. Errors as in ``generate``.
    """
    options, listener = options or Options(), listener or Silent()
    options.check()
    problem = replace(problem, overlap=options.overlap)
    deciding = Deciding(problem, options, listener)
    with ending.uninterrupted():
        search = _Several(problem, for_chains(problem, options), deciding)
        found = search.run()
        decided = deciding.finish(found, search.spent)
    results = tuple(replace(result, options=options) for result in found.results)
    return replace(found, results=results, requirements=decided, stopped_by=found.stopped_by or decided.stopped_by)


def none_begun(problem: Problem, stopped_by: str) -> SeveralChains:
    """The answer of a run that ``stopped_by`` has ended before anything was found out."""
    why = f"stopped by {BY.get(stopped_by, stopped_by)}"
    verdicts = tuple(Verdict(name, UNDECIDED, detail=why) for name in problem.names)
    return SeveralChains(verdicts=verdicts, bounds=Bounds(0, None, ONE), stopped_by=stopped_by)


class _Several:
    """One search for the minimal number of chains. What is found until a limit stays.

    Goals that the same runs cover are one: only the first of each kind is in ``_kinds``.
    """

    def __init__(self, problem: Problem, options: Options, listener: Deciding[SeveralChains]) -> None:
        problem.check_names()
        self._problem, self._options, self._listener = problem, options, listener
        self._limits = Limits(options.time_limit, options.query_limit, options.effort)
        self._same_as = distinct(problem.goals, problem.overlap)[1]
        self._best = Best()
        self._missed = Missed()
        self._conflicts: list[Conflict] = []
        self._stopped = self._limited = ""
        self._flow: JointFlow | None = None
        self._in_hand = RunsInHand(self._problem, options)

    @property
    def spent(self) -> float:
        """Units of work spent so far."""
        return self._limits.spent

    def run(self) -> SeveralChains:
        """One chain if that covers all that can be covered; else several."""
        try:
            with ending.interruptible():
                self._work()
        except LimitReached as error:
            self._limited = self._limited or error.limit
        except KeyboardInterrupt as error:
            self._stopped = str(error) or INTERRUPT
        while found := self._in_hand.best(self._left(self._best.covered)):
            self._take((*self._best.results, found))
        answer = self._answer()
        if self._stopped or (answer.number_minimal_within_k and answer.bounds.minimal):
            return answer
        self._stopped = self._limited or ("" if self._limits.left() else TIME_LIMIT)
        return self._answer()

    def _work(self) -> None:
        whole = self._all_in_one()
        if whole.chain is not None and not self._left(self._best.covered):
            self._prove(whatever_k=True)
            return
        self._listener.begin()
        self._conflicts = pairs_apart(whole, self._left())
        soon = self._options.bound is None and (whole.answered.exact or not whole.used_up)  # else listing takes long
        if not (soon and (self._by_flow(whole) or self._settled_by(self._sets_of(self._left(), measured=False)))):
            self._cover_the_rest()
            possible = self._left()
            if not self._settled_by(self._sets_of(possible)):
                self._improve(whole, [name for name in possible if name in self._best.covered])
        self._bound_each()

    # the next three are uninterrupted but for the searches within them, so that nothing that these have found is lost

    @ending.uninterrupted()
    def _all_in_one(self) -> ChainResult:
        """The best chain for all goals, taken if there is one.

        Where no chain covers all of them, nothing is gained by a chain through as many as possible.
        """
        stages = self._listener.stages
        whole = self._one(self._kinds, ONE_SHARE, until_apart(stages) if applies(self._options) else stages)
        self._missed.give_up(whole, whole.uncoverable)
        if whole.chain is not None:
            self._take((whole,), Bounds(whole.bounds.lower, whole.chain.length, ONE))
        return whole

    @ending.uninterrupted()
    def _bound_each(self) -> None:
        """A search of its own for each chain that is left over from a search for other goals, for a bound on it."""
        for place, result in enumerate(self._best.results):
            own = covered_by(result)
            sought = result.certificate is not None and all(verdict.goal in own for verdict in result.verdicts)
            if not result.bounds.minimal and not sought:
                found, best = self._one(sorted(own), 1 / (1 + len(self._best.results))), self._best
                results = (*best.results[:place], found, *best.results[place + 1 :])
                if covered_by(found) >= own and total(results) <= total(best.results):
                    self._take(results, replace(best.bounds, length=total(results)))

    @ending.uninterrupted()
    def _cover_the_rest(self) -> None:
        """Greedily add chains until every goal is covered or given up.

        The next chain is sought for all goals that are left. Where it covers none of them, and no run in hand does, it
        is sought for the first of them alone, and that goal is given up if it is not covered either. Runs in hand come
        first where the effort is used up.
        """
        while missing := self._left({*self._best.covered, *self._missed.verdicts}):
            self._listener(f"partition: {len(self._best.results)} chain(s), {len(missing)} goal(s) left")
            found = self._in_hand.best(missing) if self._limits.used_up else None
            for names in (missing, missing[:1]):
                if found is None or not covered_by(found):
                    found = self._one(names, 1 / (2 + len(missing)))
                    self._missed.give_up(found, found.uncoverable)
                    found = found if covered_by(found) else self._in_hand.best(missing) or found
            assert found is not None
            if covered_by(found):
                self._take((*self._best.results, found))
            else:
                self._missed.give_up(found, missing[:1])

    def _by_flow(self, whole: ChainResult) -> bool:
        """Whether the covering flow of several chains settles number and total length of the chains."""
        if not applies(self._options):
            return False
        self._listener("partition: covering flow of several chains")
        try:
            self._flow = joint_flow(self._problem.of(self._left()), self._options, self._limits)
        except LimitReached as error:
            self._limited = self._limited or error.limit
        if self._flow is None:
            return False
        chains = [self._in_hand.proved(each, whole) for each in self._flow.chains]
        self._offer([chain for chain in chains if chain is not None])
        if self._best.results:
            self._take(self._best.results, self._best.bounds)
        return self._best.number_minimal and self._best.bounds.minimal

    @property
    def _kinds(self) -> list[str]:
        return [name for name in self._problem.names if name not in self._same_as]

    def _left(self, without: Collection[str] = ()) -> list[str]:
        """The goals that are not proved to be in no chain, nor among ``without``."""
        return [name for name in self._kinds if name not in self._missed.impossible and name not in without]

    def _sets_of(self, names: Collection[str], measured: bool = True) -> Exhaustion | None:
        """The sets of the goals ``names`` that one run covers; None where they are not found within the limits.

        Where they need not be ``measured``, only as the components of the states tell them.
        """
        if not names:
            return None
        try:
            return sets_of_goals(self._problem.of(names), self._options, self._limits, 0, measured)
        except LimitReached as error:
            self._limited = self._limited or error.limit
            return None

    def _settled_by(self, exact: Exhaustion | None) -> bool:
        """Whether the sets ``exact`` settle number and total length of the chains."""
        return exact is not None and exact.complete and bool(exact.covers) and self._by_cover(exact)

    def _by_cover(self, exact: Exhaustion) -> bool:
        """The minimal number of chains, of least total length, by all sets of goals that one run covers.

        Whether that settled it.
        """
        most = self._options.max_length
        at_all, states = most is None, f"all {exact.states} reachable states were searched"
        how = f"{'at all' if most is None else 'within ' + counted(most, 'step')}: {states}"
        goals = self._coverable(exact, f"no chain covers it: {states}" if at_all else "")
        chosen = minimal_set_cover(exact.covers, goals)
        if chosen is None:
            return False
        conflicts = list(conflicts_of(exact.covers, goals, how, at_all, self._problem.final is None))
        self._conflicts = [*conflicts, *more_conflicts(goals, exact.covers, conflicts, (len(chosen), how, at_all))]
        self._listener(f"partition: {len(chosen)} chain(s), no fewer will do")
        lower, basis = sum(cover.length for cover in chosen), EXACT
        if not exact.measured:
            lower, basis = self._in_one_run(goals, len(chosen)), RESETS
        if not self._covers(goals, len(chosen)) or (exact.measured and self._best.cost[2] != lower):
            self._offer(self._all_of([[name for name in goals if name in cover.goals] for cover in chosen]))
        if not self._covers(goals, len(chosen)):
            return False
        self._take(self._best.results, Bounds(lower, total(self._best.results), basis))
        self._prove(at_all)
        return exact.measured or self._best.bounds.minimal

    def _covers(self, goals: Collection[str], chains: int) -> bool:
        """Whether the best chains are so many, and cover all ``goals``."""
        return len(self._best.results) == chains and {*goals} <= self._best.covered

    def _in_one_run(self, goals: Sequence[str], chains: int) -> int:
        """A lower bound on the total length of so many ``chains`` through ``goals``, by the search for one run with
        resets; chains that it finds are offered."""
        self._listener(f"partition: one run with {counted(chains - 1, 'reset')}")
        pairs = {frozenset(conflict.goals) for conflict in self._conflicts if len(conflict.goals) == 2}
        joined = with_resets(self._problem.of(goals), chains, placed_apart(goals, pairs, chains))
        own = replace(share_of(self._options, self._limits, HALF), bound=None)
        with ending.uninterrupted():
            found = generate(joined, own, Growing(self._listener, self._with_parts))
            self._limits.spend(found.answered.effort)
            self._offer(self._parts_of(found))
        if found.stopped_by and found.stopped_by not in (TIME_LIMIT, MEMORY_LIMIT):
            raise KeyboardInterrupt(found.stopped_by)
        self._limited = self._limited or found.stopped_by
        return max(0, found.bounds.lower - (chains - 1))

    def _parts_of(self, found: ChainResult) -> tuple[ChainResult, ...]:
        """The chains between the resets of ``found``."""
        runs = () if found.chain is None else parts(self._problem.system, found.chain.run)
        return tuple(result for run in runs if (result := self._in_hand.chain_of(run)) is not None)

    def _with_parts(self, found: ChainResult) -> SeveralChains:
        """What is known now, while a run with resets is sought that is ``found`` so far."""
        offered = Best(self._parts_of(found))
        better = offered.covered >= self._best.covered and offered.cost < self._best.cost
        return self._answer(replace(offered, bounds=Bounds(0, total(offered.results), RESETS)) if better else None)

    def _coverable(self, exact: Exhaustion, how: str) -> list[str]:
        """The goals that one run covers; those that none covers get their verdict, if ``how`` says how it is proved.

        With a bound K only those that chains cover so far: another one may be too far away.
        """
        coverable = frozenset[str]().union(*(cover.goals for cover in exact.covers))
        if wrong := self._best.covered & {*self._kinds} - coverable:
            raise CheckDisagreed(f"a chain covers {', '.join(sorted(wrong))}, which no run was found to cover")
        if how:
            status = UNREACHABLE if self._problem.final is None else NO_WAY_TO_FINAL
            beyond = [name for name in self._left() if name not in coverable]
            self._missed.exclude(beyond, status, how)
        sought = self._best.covered if self._options.bound is not None else coverable
        return [name for name in self._left() if name in sought]

    def _improve(self, whole: ChainResult, left: Sequence[str]) -> None:
        """Fewer chains for the goals ``left``, by the conflicts that are known of them, then shorter ones."""
        within = [conflict for conflict in self._conflicts if {*conflict.goals} <= {*left}]
        self._conflicts = [conflict for conflict in within if not self._best.has(conflict.goals)]
        if not self._conflicts and {*left} == {*self._kinds} and len(left) > 1:
            self._conflicts.append(conflict_of_class(left, whole))
        self._by_conflicts(left)
        self._shorten(whole, left)

    def _by_conflicts(self, left: Sequence[str]) -> None:
        """Reduce the number of chains by Algorithm 6's loop over the goals ``left``, or prove that it is minimal.

        Partition the goals into the minimal number of classes without a conflict inside (Algorithm 7). If these are
        fewer than the chains, try one chain for each class; a class that one chain is not found to cover is added to
        the conflicts. If they are not fewer, the number of chains is minimal, provided that all conflicts are proved.
        """
        while not self._limits.used_up:
            classes = classes_without(left, [c.goals for c in self._conflicts])
            if classes is None:
                return
            if len(classes) >= len(self._best.results):
                if not any(conflict.undecided for conflict in self._conflicts):
                    self._prove(whatever_k=all(conflict.at_all for conflict in self._conflicts))
                return
            verb = "is" if len(classes) == 1 else "are"
            self._listener(f"partition: {verb} {counted(len(classes), 'chain')} enough?")
            results = self._all_of(classes)
            self._offer(results)
            failed = [pair for pair in zip(classes, results, strict=True) if not covered_by(pair[1]) >= {*pair[0]}]
            fresh = [conflict_of_class(names, result) for names, result in failed if len(names) > 1]
            if len(fresh) < len(failed):  # one goal, which a chain covers: its share of the limits was too small
                return
            self._conflicts += fresh

    def _shorten(self, whole: ChainResult, left: Sequence[str]) -> None:
        """Shorten the chains in total, by other distributions of the goals ``left`` over as many chains.

        The shortest order of the goals with resets in it (``Distribution``) bounds the total length from below, and
        names the goals of each chain: these chains are tried. What their proofs show is learned for the next order.
        """
        shared, last = Distribution.of(whole, left, len(self._best.results)), self._best.results
        if shared is None:
            return
        for number in range(ROUNDS):
            fresh = shared.learn(result.certificate for result in last)
            order = shared.least(self._limits.for_query())
            lower = self._best.bounds.lower
            if self._best.number_minimal_within_k:  # else fewer chains may take fewer steps in all
                lower = max(lower, order.lower_bound)
            self._take(self._best.results, Bounds(lower, total(self._best.results), SHARED))
            if not order.path or self._best.bounds.minimal or self._limits.used_up or (number and not fresh):
                return
            classes = shared.classes(order.path)
            last = tuple(self._all_of([with_implied(names, left, whole.represented) for names in classes]))
            if not self._offer(last) and not {*left} <= Best(last).covered:
                return

    def _all_of(self, classes: Sequence[Sequence[str]]) -> list[ChainResult]:
        """A result for each class."""
        own = share_of(self._options, self._limits, 1 / (len(classes) + 1))
        with ending.uninterrupted():
            return [self._counted(generate(self._expanded(names), own, Silent(self._listener))) for names in classes]

    def _one(self, names: Sequence[str], share: float, stages: Sequence[Stage] = ()) -> ChainResult:
        """The best chain for the goals ``names``, with a share of what is left of time and effort."""
        own, listener = share_of(self._options, self._limits, share), Growing(self._listener, self._with_more)
        return self._counted(generate(self._expanded(names), own, listener, stages or self._listener.stages))

    def _with_more(self, found: ChainResult) -> SeveralChains:
        """What is known now, while the search for one more chain goes on that has ``found`` this so far."""
        return self._answer(self._best.with_more(found))

    def _expanded(self, names: Collection[str]) -> Problem:
        """The problem with the goals of the kinds ``names``."""
        return self._problem.of([name for name in self._problem.names if self._same_as.get(name, name) in names])

    def _counted(self, result: ChainResult) -> ChainResult:
        """``result``, the work of which counts. An interrupt ends the search; what was found until then is kept."""
        self._limits.spend(result.answered.effort)
        self._in_hand.add(result)
        if result.stopped_by and result.stopped_by not in (TIME_LIMIT, MEMORY_LIMIT):
            self._offer((*self._best.results, result))
            raise KeyboardInterrupt(result.stopped_by)
        self._limited = self._limited or result.stopped_by
        return result

    def _offer(self, results: Sequence[ChainResult]) -> bool:
        """Replace the best chains by those in ``results`` if these are better; whether they were.

        They are better if they cover every goal that the best chains cover, and either more goals, or the same by fewer
        chains, or the same by as many chains with fewer steps in all. Results without a chain do not count.
        """
        offered = Best(tuple(result for result in results if result.chain is not None))
        if not offered.covered >= self._best.covered or offered.cost >= self._best.cost:
            return False
        self._take(offered.results)
        return True

    def _take(self, results: tuple[ChainResult, ...], bounds: Bounds | None = None) -> None:
        """These are the best chains now. CheckDisagreed if they are shorter than the bound.

        Without ``bounds`` those on as many chains through the same goals remain.
        """
        fresh = Best(results)
        same = fresh.cost[:2] == self._best.cost[:2] and fresh.covered == self._best.covered
        if bounds is None:
            bounds = Bounds(self._best.bounds.lower if same else 0, total(results), SHARED)
        if bounds.length is not None and bounds.length < bounds.lower:
            raise CheckDisagreed(f"chains of {bounds.length} steps were found below the proven least {bounds.lower}")
        self._best = self._with_flow(replace(self._best if same else fresh, results=results, bounds=bounds))
        self._listener.improved(self._answer)

    def _with_flow(self, best: Best) -> Best:
        """``best``, with what the covering flow has proved of so many chains through all goals."""
        flow = self._flow
        if flow is None or len(best.results) != flow.number or not {*self._left()} <= best.covered:
            return best
        bounds = best.bounds
        if flow.lower > bounds.lower:
            bounds = Bounds(flow.lower, bounds.length, FLOW)
        return replace(best, bounds=bounds, number_minimal_within_k=True, number_minimal=True)

    def _prove(self, whatever_k: bool) -> None:
        """Note that fewer chains do not cover these goals, within the K reached or, with ``whatever_k``, at all."""
        self._best = replace(self._best, number_minimal_within_k=True, number_minimal=whatever_k)
        self._listener.improved(self._answer)

    def _answer(self, best: Best | None = None) -> SeveralChains:
        """What is known now, with the chains of ``best`` in place of the best ones where it is given."""
        best = best or self._best
        verdicts = tuple(self._verdict(name, best) for name in self._problem.names)
        missed = {self._same_as.get(v.goal, v.goal): v.status for v in verdicts if v.status != COVERED}
        minimal = best.number_minimal_within_k and not {UNDECIDED, EXCLUDED} & {*missed.values()}
        settled = minimal and best.bounds.minimal
        used_up = (self._limits.used_up or self._in_hand.used_up) and not settled
        tests = self._in_hand.tests(best.covered)
        flow = self._flow if self._with_flow(best) is not best else None
        own = [replace(narrowed(each, verdicts, self._problem), options=self._options) for each in best.results]
        if len(own) == 1:
            own = [replace(own[0], used_up=used_up)]
        return SeveralChains(
            tuple(own),
            verdicts,
            tuple(self._conflicts),
            minimal,
            minimal and best.number_minimal and {*missed} <= self._missed.impossible,
            best.bounds,
            None if flow is None else flow.certificate,
            self._stopped,
            used_up,
            tests,
        )

    def _verdict(self, name: str, best: Best) -> Verdict:
        for number, result in enumerate(best.results, 1):
            for own in result.verdicts:
                if own.goal == name and own.status == COVERED:
                    return replace(own, detail=f"chain {number}")
        missed = self._missed.verdicts.get(self._same_as.get(name, name))
        why = "no chain has been found for it so far"
        if self._stopped:
            why = f"stopped by {BY.get(self._stopped, self._stopped)}"
        verdict = Verdict(name, UNDECIDED, detail=why) if missed is None else replace(missed, goal=name)
        run = self._in_hand.runs.get(name)
        if run is None or verdict.status != UNDECIDED or own_test(run) in verdict.detail:
            return verdict
        return replace(verdict, detail=f"{own_test(run)}; {verdict.detail}")
