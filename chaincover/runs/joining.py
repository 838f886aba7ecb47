"""A test of a goal that the best chain does not cover is joined to it, by simulation alone.

The last parts of the test, of 1, 2, 4 and more steps and from states that are most like it, are tried in each state in
which the chain covers a goal, in its last one, and in its first one; then what comes next of the chain, in any order,
as in every recombination.
"""

from __future__ import annotations

from collections.abc import Set
from contextlib import suppress
from dataclasses import replace

import numpy as np

from bmc.engines.protocol import SEED
from bmc.evaluation.vectors import Column
from bmc.explicit.batch import NEVER, Batch, EventFinder
from bmc.explicit.branch_distance import ModeGraph
from chaincover.chain import Chain
from chaincover.facts import PARTS, tests_beside_chain
from chaincover.known import Board
from chaincover.limits import PER_UNIT, EffortUsedUp
from chaincover.runs.budget import Budget, Share
from chaincover.runs.random import WAITED
from chaincover.runs.recombine import Node, Onward, Recombination
from chaincover.runs.side_by_side import Start, Way
from chaincover.runs.ways import Endings
from chaincover.stages import await_news
from chaincover.weights import FINAL

AWAY = 2.0
"""The turn of this stage once a chain is complete, and distances are not known exactly, as a part of what the others
had since its last one. With half as much, chains become short later, and bounds come earlier."""

ENDING = 0.25
"""Units of work for random runs to the final condition, from a node with all goals. With twice as many, more of them
end, and fewer nodes are tried."""

IN_VAIN = 3
"""Tests one after the other that could not be joined, after which this stage has no more work than others. With twice
as many, goals that no chain covers together cost twice the work."""

ENDS = 64
"""Parts of known runs that lead to the final condition. With twice as many, it is met from more states, and twice as
many ways are followed."""


def recombine(board: Board) -> None:
    """Join tests of goals to the best chain that does not cover them, then parts of known runs to shorter chains; again
    when another stage has found some.

    Where all distances are known, or there is a bound K on the steps from goal to goal, which parts seldom keep, and
    after tests that could not be joined, it has no more work than others; a program without inputs has one run only.
    """
    lengths: dict[str, int] = {}
    share = Share(board.limits, AWAY if board.options.bound is None else 0.0)
    if not board.known.problem.system.inputs:
        return
    in_vain = 0
    while True:
        if (beside := _next_beside(board)) is not None:
            in_vain = 0 if _join(board, share, beside, in_vain < IN_VAIN) else in_vain + 1
            continue
        board.say("recombine: parts of known runs in other orders")
        tests = tests_beside_chain(board)
        search = Recombination(board, lengths, share, board.known.complete)
        while search.go_on() and tests_beside_chain(board) == tests:
            pass
        if tests_beside_chain(board) == tests:
            await_news(board, PARTS, (search.chain, board.lead, tests))


def join_tests(board: Board) -> None:
    """Once the effort is used up, join the tests that the best chain does not cover and that were not tried, as far as
    the limits suffice for what comes after the search."""
    known = board.known
    if known.chain is None or known.no_chain or board.on_states or board.options.bound is not None:
        return
    if not known.problem.system.inputs:
        return
    after = replace(board, limits=board.limits.after())
    try:
        with suppress(EffortUsedUp):
            while (beside := _next_beside(after)) is not None:
                _join(after, Share(after.limits, 0.0), beside, False)
    finally:
        board.known = after.known


def _join(board: Board, share: Share, beside: str, ample: bool) -> bool:
    """Seek a chain through the goal ``beside`` the best one, and all that this one covers; whether there is one now."""
    board.say(f"recombine: the chain with a test of {beside}")
    search = Joining(board, share, beside, ample)
    while search.go_on():
        pass
    return beside not in tests_beside_chain(board)


def _next_beside(board: Board) -> str | None:
    """The goal with the shortest test that was not tried with the goals of the best chain, which does not cover it."""
    known = board.known
    assert known.chain is not None
    for name in sorted(tests_beside_chain(board), key=lambda test: known.seen[test].length):
        now = known.chain.goals, known.seen[name].length
        if board.joins.get(name) != now:
            board.joins[name] = now
            return name
    return None


class Joining(Recombination):
    """One search for a chain through the goals of the best one, and the goal ``beside``, however long; repeatable.

    It ends with the first one. No steps are left out on its way: the chain is made shorter once it is there.
    """

    def __init__(self, board: Board, share: Share, beside: str, ample: bool) -> None:
        self._beside, self._counted = beside, 0
        super().__init__(board, {}, share, ample)
        self._take_chain()

    def _goals(self, chain: Chain) -> Set[str]:
        return frozenset() if self._beside in chain.goals else super()._goals(chain) | {self._beside}

    def _most(self, chain: Chain) -> int:
        return self._board.most_steps

    def _prepare(self, lengths: dict[str, int]) -> None:
        self._look_at_chain()
        self._own = np.array([name == self._beside for name in self._names])
        self._last = np.array([name == FINAL for name in self._names])
        self._rest[self._own] = self._board.known.seen[self._beside].length
        batch = Batch(self._problem.system, seed=SEED)
        events = EventFinder({goal.name: (goal.antecedent, goal.takes_step) for goal in self._problem.targets})
        self._budget = Budget(batch, self._limits, self._limits.check)
        self._endings = Endings(self._problem, self._budget, events, ModeGraph(), None)
        for place in np.flatnonzero(self._last).tolist():
            self._known[place] = self._ways_to_final(events)

    def _ways_to_final(self, events: EventFinder) -> list[Way]:
        """The longest of the parts between states of known runs in which the final condition holds, each to the next
        one."""
        found = list[Way]()
        for run in (self.chain.run, *(run for _, run in self._tests())):
            self._limits.spend(run.length * len(self._start.state) / PER_UNIT.values)
            holds = np.flatnonzero(events.hits(self._budget.batch.taken(run))[FINAL][:, 0])
            found += [part for part in np.split(self._ways.note(run), holds)[:-1] if len(part)]
        return sorted(found, key=len)[-ENDS:]

    def _longest(self, place: int) -> int:
        return self._length if self._last[place] else super()._longest(place)

    def _take_chain(self) -> None:
        """Note the states in which the chain covers goals, and its last one."""
        run, way, ends = self.chain.run, self._ways.note(self.chain.run), self._ends
        for steps in sorted({*ends.values(), run.length} - {0}):
            covered = np.array([name != FINAL and ends.get(name, NEVER) <= steps for name in self._names])
            state = {name: run.states[steps][name] for name in self._start.state}
            if self._add(Node(Start(state, covered), steps, 0, way[:steps])):
                self._push(len(self._nodes) - 1)

    def _sought(self, covered: Column) -> Column:
        """The goal beside the chain; once that is covered, all goals."""
        return self._own if not covered[self._own].all() else super()._sought(covered)

    def _arrive(self, number: int) -> None:
        """Let a new node go on: at once where all goals are covered, else in its layer."""
        covered = self._nodes[number].start.covered
        if covered[self._own].all() and covered.sum() > self._counted:
            self._counted, self._improved = int(covered.sum()), self._limits.spent
        if covered.all():
            self._finish(number)
        elif (covered | self._last).all():
            self._end(number)
            self._onward(number)
        else:
            self._push(number)

    def _finish(self, number: int) -> None:
        self._offer(number)

    def _end(self, number: int) -> None:
        """Let a node go on by random runs to the final condition."""
        self._budget.left, state = ENDING, self._nodes[number].start.state
        inputs = self._endings.find(state, WAITED)
        if inputs:
            self._wait(Onward(number, self._ways.note(self._budget.batch.run(state, inputs))))
