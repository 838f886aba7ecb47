"""Steps of a run that its goals do not need are left out until no block of steps can be, by simulation alone.

Delta debugging (A. Zeller, R. Hildebrandt: Simplifying and isolating failure-inducing input, 2002) on the inputs of the
run: blocks of half its steps, of a quarter, and so on, are left out at many places side by side, and the shortest run
that still covers all goals takes its place. For chains ``chaincover.runs.recombine`` does more in less work.
"""

from __future__ import annotations

from math import inf

import numpy as np

from bmc.evaluation.vectors import Column, Columns, column
from bmc.explicit.batch import NEVER, Batch, EventFinder, Runs
from bmc.system.transition import Run
from chaincover.chain import Chain
from chaincover.limits import PER_UNIT, Limits
from chaincover.problem import Problem
from chaincover.weights import FINAL

PLACES = 4
"""Places, in a block's length, at which blocks begin."""

FROM = 256
"""Places from which the last steps before a goal are tried. With twice as many, goals that need a certain state are met
earlier on the way, and it takes twice the work."""

CELLS = 1 << 19
"""Steps of runs that are held in memory at a time."""

WORK = 2.0
"""Units of work for one finding. With twice as many, long runs of findings are shorter, and there are fewer of them
with the same effort."""


class Shortening:
    """Looks for a run through the goals of ``chain`` that takes the steps of ``chain`` but for some; repeatable.

    It ends by itself after so many units of ``work``, with what was found by then.
    """

    def __init__(
        self,
        problem: Problem,
        chain: Chain,
        limits: Limits,
        work: float = inf,
    ) -> None:
        self._limits, self._left = limits, work
        late = {hit.goal for hit in chain.hits if problem.over(hit.goal, hit.step) > 0}
        self._goals = [goal for goal in problem.targets if goal.name in late or goal.name == FINAL]
        self._batch = Batch(problem.system)
        self._events = EventFinder({goal.name: (goal.antecedent, goal.takes_step) for goal in self._goals})
        bits = {var.name: var.type.bits for var in problem.system.inputs}
        inputs = chain.run.inputs
        self._inputs = {name: column([step[name] for step in inputs], of) for name, of in bits.items()}
        self._steps = len(inputs)
        self._start = {var.name: chain.run.states[0][var.name] for var in problem.system.state}

    def run(self) -> Run | None:
        """The shortest run found; None where nothing can be left out. LimitReached when time is over."""
        before, place = self._steps, 0
        candidates = np.concatenate([self._tails(), self._candidates()])
        while place < len(candidates) and self._inputs:
            some = candidates[place : place + max(16, CELLS // self._steps)]
            lengths = self._lengths(some)
            if lengths is None:
                break
            best = int(lengths.argmin())
            place += len(some)
            if lengths[best] < self._steps:
                self._take(some[best], int(lengths[best]))
                candidates, place = self._candidates(some[best][1]), 0
        if self._steps == before:
            return None
        inputs = {name: values[:, None] for name, values in self._inputs.items()}
        followed = self._follow(inputs, self._work(1))
        return self._batch.run(self._start, followed.run_inputs(0, self._steps))

    def _candidates(self, most: int = 0) -> Column:
        """Blocks of at most ``most`` steps (0: all that may be) that may be left out: rows of (first step, steps)."""
        block = max(0, min(most or self._steps, self._steps - 1))
        found = [np.zeros((0, 2), np.int64)]
        while block:
            starts = np.arange(0, self._steps - block + 1, max(1, block // PLACES))
            found.append(np.stack([starts, np.full(len(starts), block)], axis=1))
            block //= 2
        return np.concatenate(found)

    def _tails(self) -> Column:
        """Blocks that leave the last steps, 1, 2, 4 and so on, from many places: what a goal needs is
        mostly done in the last steps before it. Rows of (first step, steps), long ones first."""
        lasts = 1 << np.arange(max(0, self._steps - 1).bit_length())
        starts = np.unique(np.linspace(0, max(0, self._steps - 1), FROM).astype(np.int64))
        rows = [np.stack([starts, self._steps - last - starts], axis=1) for last in lasts.tolist()]
        found = np.concatenate([np.zeros((0, 2), np.int64), *rows])
        found = found[(found[:, 1] > 0) & (found[:, 1] < self._steps)]
        return found[np.argsort(-found[:, 1], kind="stable")]

    def _take(self, candidate: Column, steps: int) -> None:
        """Leave out one block; the first ``steps`` steps of what is left are the chain now."""
        kept = self._kept(candidate[None, :], steps)[:, 0]
        self._inputs = {name: values[kept] for name, values in self._inputs.items()}
        self._steps = steps

    def _kept(self, candidates: Column, steps: int) -> Column:
        """For each candidate ``steps`` steps that are kept, an array of (step, candidate); the last one is repeated."""
        places = np.arange(steps)[:, None]
        found: Column = np.minimum(places + candidates[:, 1] * (places >= candidates[:, 0]), self._steps - 1)
        return found

    def _lengths(self, candidates: Column) -> Column | None:
        """For each candidate the steps of the run without its block, until all is covered; None if no work is left."""
        kept = self._kept(candidates, self._steps - int(candidates[:, 1].min()))
        each = self._work(len(candidates))
        if len(kept) * each > self._left:
            return None
        self._left -= len(kept) * each
        inputs = {name: values[kept] for name, values in self._inputs.items()}
        hits = self._events.hits(self._follow(inputs, each))
        ends = np.zeros(len(candidates), np.int64)
        for goal in self._goals:
            ends = _after(goal.name == FINAL, hits[goal.name], ends)
        return ends

    def _work(self, count: int) -> float:
        """The units of work that one step of so many runs takes."""
        return self._batch.cost(count) / PER_UNIT.run_values

    def _follow(self, inputs: Columns, each: float) -> Runs:
        """The runs under ``inputs``. Each step counts ``each`` units in the turn in which it is made."""

        def check() -> None:
            self._limits.check()
            self._limits.spend(each)

        count = next(iter(inputs.values())).shape[1]
        return self._batch.follow(self._batch.repeated(self._start, count), inputs, check)


def _after(last: bool, rows: Column, ends: Column) -> Column:
    """The steps until what is over at ``rows`` is covered too; ``last``: only where that is after ``ends``."""
    if last:
        rows = rows & (np.arange(len(rows))[:, None] >= ends[None, :])
    first = np.where(rows.any(axis=0), rows.argmax(axis=0), NEVER)
    found: Column = np.where((ends < NEVER) & (first < NEVER), np.maximum(ends, first), NEVER)
    return found
