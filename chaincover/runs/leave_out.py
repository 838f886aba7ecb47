"""Steps of a chain that no goal needs are left out, by simulation alone.

Delta debugging (A. Zeller, R. Hildebrandt: Simplifying and isolating failure-inducing input, 2002) on the inputs of the
chain: blocks of half its steps, then of a quarter, and so on, are left out at many places side by side, and the
shortest run that still covers all goals of the chain takes its place.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bmc.explicit.batch import Batch, Watch
from bmc.explicit.vectors import Column, column
from bmc.system.transition import Run
from chaincover.chain import Chain
from chaincover.known import Board
from chaincover.limits import Limits
from chaincover.problem import Problem
from chaincover.runs.random import NEVER, OVERHEAD, PER_UNIT
from chaincover.stages import wait_for
from chaincover.weights import FINAL

PLACES = 4
"""Places, in a block's length, at which blocks begin."""

CELLS = 1 << 19
"""Steps of runs that are held in memory at a time."""

WORK = 3.0
"""Units of work for one chain and those that come of it."""


def leave_out_steps(board: Board) -> None:
    """Leave out steps of the best chain; again when another stage has found a better one."""
    wait_for(board, lambda known: known.chain is not None)
    if board.on_states:
        return
    while True:
        chain = board.known.chain
        assert chain is not None
        board.say("leave out: steps of the chain that no goal needs")
        shorter = Shortening(board.problem, chain, board.limits).run()
        if shorter is not None:
            board.offer(shorter)
        best = board.known.chain
        wait_for(board, lambda known, best=best: known.chain is not best)  # type: ignore[misc]


class Shortening:
    """Looks for a run through the goals of ``chain`` that takes the steps of ``chain`` but for some; repeatable."""

    def __init__(self, problem: Problem, chain: Chain, limits: Limits) -> None:
        self._limits, self._left = limits, WORK
        self._goals = [goal for goal in problem.targets if goal.name in chain.goals or goal.name == FINAL]
        self._batch = Batch(problem.system)
        self._watch = Watch({goal.name: (goal.antecedent, goal.length) for goal in self._goals})
        bits = {var.name: var.type.bits for var in problem.system.inputs}
        self._inputs = {name: column([step[name] for step in chain.run.inputs], of) for name, of in bits.items()}
        self._steps = chain.length

    def run(self) -> Run | None:
        """The shortest run found; None where nothing can be left out. LimitReached when time is over."""
        before, block = self._steps, self._steps // 2
        while block and self._inputs and self._left > 0:
            block = min(block if self._without(block) else block // 2, self._steps // 2)
        if self._steps == before:
            return None
        inputs = {name: values[:, None] for name, values in self._inputs.items()}
        followed = self._batch.follow(self._batch.initial(), inputs, self._limits.check)
        return self._batch.run(self._batch.initial(), followed.run_inputs(0, self._steps))

    def _without(self, block: int) -> bool:
        """Leave out the ``block`` steps that shorten most; False where no such block can be left out."""
        starts = np.arange(0, self._steps - block + 1, max(1, block // PLACES))
        best, at = self._steps, -1
        width = max(16, CELLS // self._steps)
        for first in range(0, len(starts), width):
            lengths = self._lengths(starts[first : first + width], block)
            if lengths.min() < best:
                best, at = int(lengths.min()), int(starts[first + lengths.argmin()])
        if at < 0:
            return False
        kept = np.delete(np.arange(self._steps), slice(at, at + block))[:best]
        self._inputs = {name: values[kept] for name, values in self._inputs.items()}
        self._steps = best
        return True

    def _lengths(self, starts: Sequence[int] | Column, block: int) -> Column:
        """For each start the steps of the run without the ``block`` steps from there on, until all is covered."""
        steps = self._steps - block
        kept = np.arange(steps)[:, None]
        kept = kept + block * (kept >= np.asarray(starts)[None, :])
        work = steps * self._batch.nodes * (len(starts) + OVERHEAD) / PER_UNIT
        self._left -= work
        self._limits.spend(work)
        inputs = {name: values[kept] for name, values in self._inputs.items()}
        hits = self._watch.hits(self._batch.follow(self._batch.initial(), inputs, self._limits.check))
        ends = np.zeros(len(starts), np.int64)
        for goal in self._goals:
            rows = hits[goal.name]
            if goal.name == FINAL:
                rows = rows & (np.arange(len(rows))[:, None] >= ends[None, :])
            first = np.where(rows.any(axis=0), rows.argmax(axis=0) if len(rows) else 0, NEVER)
            ends = np.where((ends < NEVER) & (first < NEVER), np.maximum(ends, first + goal.length), NEVER)
        return ends
