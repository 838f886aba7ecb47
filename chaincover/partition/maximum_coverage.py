"""Maximum coverage: the one chain that covers most goals, then as short as possible, where no chain covers all."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from bmc import ending
from bmc.ending import INTERRUPT, TIME_LIMIT
from bmc.errors import CheckDisagreed, LimitReached, counted, listed
from bmc.system.transition import Run
from chaincover.certificate import Certificate, NoRun
from chaincover.chain import COVERED, EXCLUDED, NOT_WITHIN_BOUND, UNDECIDED, Verdict
from chaincover.limits import HALF, Limits
from chaincover.options import Options
from chaincover.partition.set_cover import part_of, sets_of_goals, share_of, within
from chaincover.pipeline import generate
from chaincover.problem import Problem
from chaincover.requirements.deciding import Deciding, for_chains
from chaincover.result import ChainResult, Listener, Silent
from chaincover.verdicts import own_test

if TYPE_CHECKING:
    from chaincover.partition.coverable_sets import Exhaustion
    from chaincover.result import Conflict


def generate_most(problem: Problem, options: Options | None = None, listener: Listener | None = None) -> ChainResult:
    """One chain that covers as many goals as possible, as short as possible among these. Errors as in ``generate``.

    The verdict of each goal left out says whether the number is proved.
    """
    return _generate(problem, options or Options(), listener or Silent(), HALF, lambda whole: True)


def generate_all_or_most(
    problem: Problem, options: Options | None = None, listener: Listener | None = None
) -> ChainResult:
    """One chain that covers all goals; where it is proved that none does, or none as short as ``options`` want it, as
    ``generate_most``. Errors as in ``generate``."""
    return _generate(problem, options or Options(), listener or Silent(), 1.0, _not_all)


def _not_all(whole: ChainResult) -> bool:
    """Whether it is known that no chain covers all goals, as far as a chain may go."""
    from chaincover.partition.conflicts import pairs_apart

    return bool(whole.no_chain) or whole.too_long or (_whole_graph(whole) and bool(pairs_apart(whole, _open(whole))))


def _whole_graph(result: ChainResult) -> bool:
    """Whether the graph has all edges up to the K that was asked for."""
    return result.options.bound is not None and result.depth >= result.options.bound


def _open(result: ChainResult) -> tuple[str, ...]:
    """The goals that are not proved to be in no chain."""
    return tuple(verdict.goal for verdict in result.verdicts if verdict.goal not in result.uncoverable)


def _generate(
    problem: Problem, options: Options, listener: Listener, share: float, wanted: Callable[[ChainResult], bool]
) -> ChainResult:
    """A chain for all goals with a ``share`` of time and effort; if ``wanted``, one for most of them with the rest.

    Besides it is decided whether requirements can fail.
    """
    options.check()
    problem = replace(problem, overlap=options.overlap)
    with ending.uninterrupted():
        return _found(problem, options, listener, share, wanted)


def _found(
    problem: Problem, options: Options, listener: Listener, share: float, wanted: Callable[[ChainResult], bool]
) -> ChainResult:
    """``_generate``, of which only the searches themselves can be interrupted."""
    deciding, chains = Deciding(problem, options, listener), for_chains(problem, options)
    limits = Limits(chains.time_limit, options.query_limit, options.effort)
    found = generate(problem, within(chains, part_of(limits, share)), deciding, deciding.stages)
    limits.spend(found.answered.effort)
    if not _covered(found) >= {*_open(found)}:
        found = _Most(problem, chains, limits, found, deciding).run(wanted)
    decided = deciding.finish(found, limits.spent)
    answered = replace(found.answered, effort=limits.spent + decided.effort)
    stopped_by = found.stopped_by or decided.stopped_by
    return replace(found, options=options, answered=answered, requirements=decided, stopped_by=stopped_by)


class _Most:
    """One search for the chain that covers most goals. ``whole`` was made for all goals, and covers fewer; what is
    found later is better than what was found before."""

    def __init__(
        self, problem: Problem, options: Options, limits: Limits, whole: ChainResult, listener: Deciding[ChainResult]
    ) -> None:
        self._problem, self._options, self._limits, self._listener = problem, options, limits, listener
        self._whole = self._best = whole
        self._goals = _open(whole)
        self._details = {verdict.goal: verdict.detail for verdict in whole.verdicts}
        self._most: tuple[int, str, bool] | None = None
        self._used_up = whole.used_up
        self._pairs: Sequence[Conflict] = ()

    def run(self, wanted: Callable[[ChainResult], bool]) -> ChainResult:
        """The best chain, with a verdict for all goals. A better one than for all goals is sought if it is ``wanted``.

        What the first search has found out of pairs of goals may prove the number without a further search.
        """
        from chaincover.partition.conflicts import pairs_apart

        stopped_by = self._whole.stopped_by
        try:
            with ending.interruptible():
                self._pairs = pairs_apart(self._whole, self._goals)
                names = self._largest(self._pairs)
                if names is not None and len(names) <= len(_covered(self._best)):
                    self._claim(len(names), self._pairs)
                if stopped_by in ("", TIME_LIMIT) and not self._limits.used_up and wanted(self._whole):
                    stopped_by = self._search() or stopped_by
        except LimitReached as error:
            stopped_by = error.limit
        except KeyboardInterrupt as error:
            stopped_by = str(error) or INTERRUPT
        return replace(self._told(), stopped_by=stopped_by)

    def _search(self) -> str:
        """Search for the chain that covers most goals; the limit that kept the sets of goals from being found, or
        ''."""
        exact, limit = None, ""
        self._listener.begin()
        try:
            self._listener("most goals: the largest set of goals that one run covers")
            least = max(1, len(_covered(self._best)))
            exact = sets_of_goals(self._problem.of(self._goals), self._options, self._limits, least)
        except LimitReached as error:
            limit = error.limit
        if exact is None or not exact.covers:
            self._by_conflicts()
        else:
            self._by_sets(exact)
        return limit

    def _by_sets(self, exact: Exhaustion) -> None:
        """The largest of the sets of goals that one run covers, and of those the one with the shortest run."""
        best = min(exact.covers, key=lambda cover: (-len(cover.goals), cover.length))
        number, at_all = len(best.goals), self._options.max_length is None
        if exact.complete:
            if len(_covered(self._best)) > number:
                raise CheckDisagreed(f"a chain covers more than {number} goals, which no run was found to do")
            searched = "searched" if at_all else f"looked at within {counted(self._options.max_length or 0, 'step')}"
            self._most = number, f"all {exact.states} reachable states were {searched}", at_all
        if not number:
            return
        done = self._best.bounds.minimal and _covered(self._best) == best.goals
        if (-number, best.length) < _cost(self._best) and not done:
            self._try(best.goals)
        elif not self._best.bounds.minimal:
            self._try(_covered(self._best))

    def _by_conflicts(self) -> None:
        """The largest set of goals without a whole conflict inside; where no chain is found for it, it is one itself.

        Whether goals exclude each other in pairs is known from the graph.
        """
        from chaincover.partition.conflicts import conflict_of_class

        conflicts = [*self._pairs]
        while not self._limits.used_up:
            names = self._largest(conflicts)
            if names is None:
                return
            if len(names) <= len(_covered(self._best)):
                self._claim(len(names), conflicts)
                return
            found = self._try(names)
            if not _covered(found) >= {*names}:
                conflicts.append(conflict_of_class(names, found))

    def _largest(self, conflicts: Sequence[Conflict]) -> list[str] | None:
        """The most goals of which none contain a whole conflict; None if that is too hard to find out."""
        from chaincover.partition.conflicts import largest_class

        return largest_class(self._goals, [conflict.goals for conflict in conflicts])

    def _claim(self, number: int, conflicts: Sequence[Conflict]) -> None:
        """Note that no chain covers more than ``number`` goals, where ``conflicts`` prove it."""
        at_all = all(conflict.at_all for conflict in conflicts)
        if not any(conflict.undecided for conflict in conflicts) and (at_all or _whole_graph(self._whole)):
            how = "at all" if at_all else f"within K = {self._whole.depth}"
            self._most = number, f"the others exclude each other {how}", at_all

    @ending.uninterrupted()
    def _try(self, names: Collection[str]) -> ChainResult:
        """A chain through the goals ``names``, taken if it is better, or as good and its bound is higher.

        Only the search itself is interrupted.
        """
        result = generate(self._problem.of(names), share_of(self._options, self._limits, HALF), Silent(self._listener))
        self._limits.spend(result.answered.effort)
        self._used_up = self._used_up or result.used_up
        if (_cost(result), -result.bounds.lower) < (_cost(self._best), -self._best.bounds.lower):
            self._best = self._completed(result)
            self._listener.improved(self._told)
        if result.stopped_by not in ("", TIME_LIMIT):
            raise KeyboardInterrupt(result.stopped_by)
        return result

    def _completed(self, result: ChainResult) -> ChainResult:
        """``result``, made for fewer goals, with what the first search told of the others."""
        own = {verdict.goal: verdict for verdict in result.verdicts}
        verdicts = tuple(own.get(verdict.goal, verdict) for verdict in self._whole.verdicts)
        tests = {name: run for name, run in self._whole.tests.items() if name not in _covered(result)}
        own_facts, facts = result.certificate, self._whole.certificate
        if own_facts is not None and facts is not None:
            own_facts = _with_impossible(own_facts, facts)
        return replace(
            result,
            verdicts=verdicts,
            certificate=own_facts,
            graph=self._whole.graph,
            no_chain=self._whole.no_chain,
            tests={**tests, **result.tests},
        )

    def _told(self) -> ChainResult:
        """The best chain so far, with verdicts of the goals left out that say what is proved of their number.

        Where nothing is, they are undecided: another chain may cover more of them.
        """
        covered, best = _covered(self._best), self._best
        proof = self._most if self._most is not None and self._most[0] == len(covered) else None
        status, how = UNDECIDED, f"no chain was found that covers more than {len(covered)} of them"
        if proof is not None:
            status = EXCLUDED if covered else NOT_WITHIN_BOUND
            how = f"no chain covers more than {len(covered)} of them: {proof[1]}"
        tests, missed, verdicts = self._tests(), {*self._goals} - covered, []
        for verdict in best.verdicts:
            if verdict.goal in missed and (proof or self._claims_too_much(verdict)):
                verdict = Verdict(verdict.goal, status, detail=self._detail(verdict.goal, how, tests))
            verdicts.append(verdict)
        certificate = best.certificate
        if certificate is not None and proof is not None and proof[2]:
            certificate = replace(certificate, most=NoRun(self._goals, len(covered) + 1))
        used_up = (self._used_up or self._limits.used_up) and not (proof and best.bounds.minimal)
        return replace(best, verdicts=tuple(verdicts), certificate=certificate, tests=tests, used_up=used_up)

    def _detail(self, goal: str, how: str, tests: Mapping[str, Run]) -> str:
        """Why ``goal`` is left out: ``how``, and what the first search or pairs of goals say; with its test if any."""
        kept = self._best is self._whole or self._whole.too_long
        before = self._details[goal] if kept else self._apart(goal)
        test = own_test(tests[goal]) if goal in tests else ""
        return "; ".join(filter(None, (how, before, "" if test in before else test)))

    def _claims_too_much(self, verdict: Verdict) -> bool:
        """Whether ``verdict`` says of a goal left out what is only so for the chains sought, not for every chain."""
        return verdict.status in (COVERED, EXCLUDED) or (self._whole.too_long and verdict.status == NOT_WITHIN_BOUND)

    def _apart(self, goal: str) -> str:
        """Which goals of the best chain no run covers together with ``goal``, as far as that is known of pairs."""
        pairs = [pair for pair in self._pairs if goal in pair.goals and not pair.undecided]
        apart = [name for pair in pairs for name in pair.goals if name in _covered(self._best)]
        within = "" if all(pair.at_all for pair in pairs) else f" within K = {self._whole.depth}"
        return f"no run covers it together with {listed(apart)}{within}" if apart else ""

    def _tests(self) -> dict[str, Run]:
        """For each goal that some run covers, but not the best chain, such a run."""
        tests, chain = dict(self._best.tests), self._whole.chain
        if chain is None:
            return tests
        for hit in chain.hits:
            if hit.goal not in tests and hit.goal not in _covered(self._best):
                end = self._problem.over(hit.goal, hit.step)
                tests[hit.goal] = Run(chain.run.states[: end + 1], chain.run.inputs[:end])
        return tests


def _with_impossible(own: Certificate, whole: Certificate) -> Certificate:
    """``own`` with what no chain at all can do by ``whole``."""
    return replace(
        own,
        invariants=tuple(dict.fromkeys((*own.invariants, *whole.invariants))),
        formulas={**whole.formulas, **own.formulas},
        unreachable=whole.unreachable,
        no_way_to_end=whole.no_way_to_end,
        conflicts=tuple(dict.fromkeys((*whole.conflicts, *own.conflicts))),
    )


def _covered(result: ChainResult) -> frozenset[str]:
    return frozenset() if result.chain is None else result.chain.goals


def _cost(result: ChainResult) -> tuple[int, int]:
    """The less the better: most goals, then fewest steps."""
    return -len(_covered(result)), 0 if result.chain is None else result.chain.length
