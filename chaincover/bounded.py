"""One chain where goals depend on functions of the C library of which the user gives bounds.

The search works on the system approximated from above (``chaincover.library``), where a function yields any value in
its bounds. Each chain that it finds is tried with what the C library yields. Where that does not cover the same goals,
what was called and what it yielded are facts for the next search, which therefore finds another chain. A chain counts
once the compiled original has made all its steps. That no chain is shorter, and that no run covers a goal, is proved
from above and rests on the bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf

from bmc.errors import CheckDisagreed, NoOriginal, counted
from bmc.native.build import find_compiler, why_no_compiler
from bmc.native.differential import Sampler
from bmc.native.mathematics import Library
from bmc.system.original import Original
from bmc.system.transition import Run
from chaincover.chain import COVERED, NO_WAY_TO_FINAL, NOT_WITHIN_BOUND, UNDECIDED, UNREACHABLE, Bounds, Chain, Verdict
from chaincover.formats.chain_file import stimulus_of
from chaincover.library import Bounded, TrueRuns
from chaincover.limits import HALF, UNITS, Limits
from chaincover.options import Options
from chaincover.pipeline import generate
from chaincover.problem import Problem
from chaincover.replaying.judge import Judge
from chaincover.result import ChainResult, Listener
from chaincover.subject import Subject
from chaincover.target.original import replay
from chaincover.verdicts import NO_ORIGINAL

BELOW, ABOVE = 1 / 12, 1 / 4
"""Parts of the effort that is left for a search from below and from above. With twice as much, fewer are made."""
LEAST, EACH = 1e-3, 0.25
"""The least effort, or time, for a search, and the effort for one where there is no limit."""
EXPLORED, TRIES = 4_000, 6
"""Steps that are made to learn values, and those that are made from each state before the next one has its turn. With
twice as many, states further away are seen."""
LEARNT = 150
"""Values that are learnt so, and chains from above that are tried. With twice as many, values of more arguments are
learnt, each by two more searches, and each search from above has twice the conditions."""

PROVED = (UNREACHABLE, NO_WAY_TO_FINAL, NOT_WITHIN_BOUND)
"""Verdicts that hold of the program, too, if the bounds are right."""


class BoundedSearch:
    """Finds one chain for ``subject``; in the end ``subject`` is what the result is written for."""

    def __init__(self, subject: Subject, options: Options, original: Callable[[], Original | None]) -> None:
        assert subject.library is not None
        self.subject = subject
        self._whole, self._options, self._original = subject, options, original
        self._calls = subject.library.calls
        self._limits = Limits(options.time_limit)
        self._spent = 0.0

    def find(self, listener: Listener) -> ChainResult:
        """The result, of which every goal said to be covered is covered by the compiled original."""
        library, why = self._library(), ""
        if library is None or self._original() is None:
            cause = "the program cannot be compiled for this machine" if find_compiler() else why_no_compiler()
            why = f"{NO_ORIGINAL}: {cause}"
        if library is None:
            return self._result(self._searched(self._whole.above, 1, listener), None, why)
        runs = TrueRuns(self._whole.system, self._calls, library)
        self._explore(runs)
        found = self._closing(runs, library.version, listener)
        if found is None:
            found = self._within_bounds(runs, library.version, listener)
        above, best = found
        if why:
            return self._result(above, None, why)
        if best is not None:
            self._replayed(best)
        return self._result(above, best)

    def _library(self) -> Library | None:
        """The functions that the original calls; None where they cannot be called here."""
        try:
            return Library(self._calls[0].word_sizes)
        except NoOriginal:
            return None

    def _closing(self, runs: TrueRuns, version: str, listener: Listener) -> tuple[ChainResult, Chain | None] | None:
        """The result from above and the best chain, where few values are all that is needed; None if they are not."""
        best: Chain | None = None
        for number in range(1, LEARNT + 1):
            known = len(runs.facts)
            if known >= LEARNT:
                return None
            self._learn(runs, version, closed=True)
            listener(f"search {number}: {counted(known, 'value')} of functions known")
            above = self._searched(self._whole.above, HALF, listener)
            best = self._better(best, self._tried(above, runs, version))
            if len(runs.facts) == known or above.stopped_by or self._left <= 0:
                return above, best
        return None

    def _tried(self, above: ChainResult, runs: TrueRuns, version: str) -> Chain | None:
        """What the program does under the inputs of the chain from above; what was called there is known from now on.

        CheckDisagreed where nothing new was called, and the program does not do what the chain does.
        """
        if above.chain is None:
            return None
        assert self._whole.library is not None
        known = len(runs.facts)
        run = runs.run(above.chain.run)
        self._learn(runs, version, self._whole.library.closed)
        chain = self._judged(run)
        if len(runs.facts) == known and (chain is None or not chain.goals >= above.chain.goals):
            raise CheckDisagreed("a chain for which all values of functions are known is none of the program")
        return chain

    def _within_bounds(self, runs: TrueRuns, version: str, listener: Listener) -> tuple[ChainResult, Chain | None]:
        """The result from above, where functions yield any values in their bounds, and the best chain."""
        best: Chain | None = None
        for number in range(1, LEARNT + 1):
            known = len(runs.facts)
            self._learn(runs, version, closed=False)
            listener(f"search within bounds {number}: {counted(known, 'value')} of functions known")
            best = self._better(best, self._searched(self.subject.problem, BELOW, listener).chain)
            above = self._searched(self._whole.above, ABOVE, listener)
            best = self._better(best, self._tried(above, runs, version))
            done = above.chain is None or self._settled(above, best) or len(runs.facts) == known
            if done or above.stopped_by or self._left <= 0:
                break
        return above, best

    def _explore(self, runs: TrueRuns) -> None:
        """Learn values in states that the program reaches, those first that are reached in fewer steps."""
        sampler = Sampler(self._whole.system, 0)
        start = sampler.simulator.initial()
        found, seen, step = [start], {tuple(start.values())}, 0
        while step < EXPLORED and len(runs.facts) < LEARNT:
            state = found[step // TRIES % len(found)]
            inputs, step = sampler.constrained_inputs(state), step + 1
            made = None if inputs is None else {**inputs, **runs.values(state, inputs, step)}
            if made is not None and sampler.simulator.allowed(state, made):
                after = sampler.simulator.step(state, made)
                if (key := tuple(after.values())) not in seen:
                    seen.add(key)
                    found.append(after)

    def _learn(self, runs: TrueRuns, version: str, closed: bool) -> None:
        library = Bounded(self._calls, dict(runs.facts), version, closed)
        self._whole = replace(self._whole, library=library)
        self.subject = self._whole.below

    @property
    def _left(self) -> float:
        """The effort that is left; infinite where there is no limit."""
        return inf if self._options.effort is None else self._options.effort - self._spent / UNITS

    def _searched(self, problem: Problem, part: float, listener: Listener) -> ChainResult:
        """The result for ``problem`` by this part of the effort that is left."""
        share = EACH if self._left == inf else max(LEAST, part * self._left)
        time_limit = None if self._options.time_limit is None else max(LEAST, self._limits.left())
        result = generate(problem, replace(self._options, effort=share, time_limit=time_limit), _Told(listener))
        self._spent += result.answered.effort
        return result

    def _better(self, best: Chain | None, chain: Chain | None) -> Chain | None:
        """The chain that covers more goals, of two with as many the shorter one."""
        chains = [each for each in (best, chain) if each is not None]
        return min(chains, key=lambda each: (-len(each.goals), each.length), default=None)

    @staticmethod
    def _settled(above: ChainResult, best: Chain | None) -> bool:
        """Whether a chain of the program covers what one from above does, and is as short as any."""
        return (
            best is not None
            and above.chain is not None
            and (best.goals >= above.chain.goals and best.length <= above.bounds.lower)
        )

    def _judged(self, run: Run) -> Chain | None:
        """What ``run`` covers, with the inputs of the user alone."""
        names = {call.name for call in self._calls}
        inputs = tuple({name: value for name, value in values.items() if name not in names} for values in run.inputs)
        problem = replace(self.subject.problem, overlap=self._options.overlap)
        return Judge(problem).chain(Run(run.states, inputs))

    def _replayed(self, chain: Chain) -> None:
        """CheckDisagreed unless the compiled original takes the same steps."""
        played = replay(self.subject, stimulus_of(self.subject.system, chain), built=self._original())
        faults = [*played.disagreements, *played.refused]
        if faults or played.on == "model":
            why = faults[0] if faults else played.why
            raise CheckDisagreed(f"the compiled original differs from the model with the C library's values: {why}")

    def _result(self, above: ChainResult, chain: Chain | None, why: str = "") -> ChainResult:
        """The result with the chain of the program, and what is proved from above.

        A bound speaks of chains through the goals of the chain from above: there is none where ``chain`` covers others.
        """
        hits = {} if chain is None else {hit.goal: hit.step for hit in chain.hits}
        verdicts = tuple(_restated(verdict, hits.get(verdict.goal), why) for verdict in above.verdicts)
        same = chain is not None and above.chain is not None and chain.goals == above.chain.goals
        length = None if chain is None else chain.length
        bounds = Bounds(above.bounds.lower, length, above.bounds.basis) if same else Bounds(0, length, "")
        bare = replace(above, chain=chain, verdicts=verdicts, bounds=bounds, tests={}, beyond={})
        kept = same or (chain is None and above.chain is None)
        open_goals = any(verdict.status == UNDECIDED for verdict in verdicts)
        return replace(
            bare,
            certificate=above.certificate if kept else None,
            used_up=above.used_up or (not above.stopped_by and not why and open_goals),
        )


class _Told:
    """Passes on what a search does, but no answer: it is one from above."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener

    def __call__(self, text: str) -> None:
        self._listener(text)

    def improved(self, result: object) -> None:
        """See the protocol."""


def _restated(verdict: Verdict, step: int | None, why: str) -> Verdict:
    """What is said of the program, where ``verdict`` is said from above; a chain covers the goal at ``step``."""
    if step is not None:
        return Verdict(verdict.goal, COVERED, step)
    if verdict.status in PROVED:
        return replace(verdict, detail=f"{verdict.detail}; this rests on the bounds of functions of the C library")
    found = "with some values in the bounds a run covers it" if verdict.status == COVERED else verdict.detail
    return Verdict(verdict.goal, UNDECIDED, detail=why or f"no run of the program that covers it was found: {found}")
