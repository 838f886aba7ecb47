"""Bounds on edges and sub-paths, checked on the table of all reachable states."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bmc.evaluation.vectors import Column
from bmc.records import dataclass
from bmc.system.transition import Run
from chaincover.certificate import PathFact
from chaincover.verify.marks import FAR, Marks
from chaincover.verify.states import runs
from chaincover.weights import INIT


@dataclass(frozen=True)
class ExplicitFacts:
    """Answers about the paths of a certificate from all reachable states."""

    marks: Marks

    def holds(self, fact: PathFact) -> bool:
        """Whether no run from a reachable state breaks ``fact``."""
        if len(fact.path) == 2:
            return self._distance(*fact.path) >= fact.at_least
        return _Along(self.marks, fact).earliest() is None

    def against(self, fact: PathFact) -> tuple[int, Run]:
        """A run that breaks ``fact``, and the step at which its last node comes."""
        return _Along(self.marks, fact).witness()

    def _distance(self, source: str, target: str) -> int:
        """The least step at which ``target`` follows ``source``."""
        marks, over = self.marks, self.marks.setting.over(source, 0)
        if target == marks.setting.end:
            return over + int(marks.to_end[marks.after[source]].min(initial=FAR))
        if marks.setting.takes_step(source) and self._same_step(source, target):
            return 0
        return over + int(marks.to_start[target][marks.after[source]].min(initial=FAR))

    def _same_step(self, source: str, target: str) -> bool:
        """Whether some step is covered by ``source``, and is one of ``target`` or begins where that holds."""
        marks = self.marks
        steps = marks.on_moves[source]
        if target in marks.on_moves:
            return bool((steps & marks.on_moves[target]).any())
        return bool(marks.in_states[target][marks.table.source[steps]].any())


NOWHERE = -1
"""The number of nodes passed in a state to which no run comes."""


class _Along:
    """Runs along the nodes of a path, all at once, step by step.

    Where two runs are in one state after as many steps, the one that has passed more nodes of the path can do all that
    the other one can: for each state the greatest number of nodes is enough.
    """

    def __init__(self, marks: Marks, fact: PathFact) -> None:
        self._marks, self._table = marks, marks.table
        self._path, self._below = fact.path, fact.at_least
        self._to_end = fact.path[-1] == marks.setting.end
        self._layers: list[Column] = []

    def earliest(self) -> tuple[int, int, Sequence[int]] | None:
        """Where the last node comes too early: the step, a state, and the move from it that covers the node, where
        one does. None if it nowhere comes too early."""
        table, begins = self._table, self._path[0] == INIT
        states = np.array(table.starts) if begins else np.arange(table.size)
        passed, known = np.full(len(states), int(begins)), np.full(table.size, NOWHERE)
        for step in range(self._below):
            passed = self._passed(passed, states, None)
            arrived = np.flatnonzero(self._over(passed, states))
            if len(arrived):
                return step, int(states[arrived[0]]), ()
            fresh = passed > known[states]
            states, passed = states[fresh], passed[fresh]
            known[states] = passed
            first, last = table.first[states], table.first[states + 1]
            moves, rows = runs(first, last), np.repeat(np.arange(len(states)), last - first)
            after = self._passed(passed[rows], states[rows], moves)
            covering = np.flatnonzero(after == len(self._path))
            if len(covering):
                return step, int(states[rows[covering[0]]]), (int(moves[covering[0]]),)
            going = np.flatnonzero(self._in_time(after, table.target[moves], self._below - step - 1))
            moves, after = moves[going], after[going]
            order = np.lexsort((after, table.target[moves]))
            moves, after = moves[order], after[order]
            most = np.flatnonzero(np.diff(table.target[moves], append=NOWHERE))  # the last one to each state
            states, passed = table.target[moves[most]], after[most]
            if not len(states):
                return None
            self._layers.append(moves[most])
        return None

    def _passed(self, passed: Column, states: Column, moves: Column | None) -> Column:
        """The nodes passed, with those that begin in ``states``, and on the ``moves`` from these if they are given."""
        for number, node in enumerate(self._path):
            if node in self._marks.in_states:
                passed[(passed == number) & self._marks.in_states[node][states]] += 1
            elif moves is not None and node in self._marks.on_moves:
                passed[(passed == number) & self._marks.on_moves[node][moves]] += 1
        return passed

    def _over(self, passed: Column, states: Column) -> Column:
        """Marks those of ``states`` in which the path is at its end."""
        over: Column = passed == len(self._path) - self._to_end
        return over & self._marks.ends[states] if self._to_end else over

    def _in_time(self, passed: Column, states: Column, left: int) -> Column:
        """Marks where the path has begun, and its next node comes within fewer than ``left`` steps."""
        fine = np.zeros(len(passed), bool)
        for number, node in enumerate(self._path[1:], 1):
            ahead = self._marks.to_end if node == self._marks.setting.end else self._marks.to_start[node]
            fine |= (passed == number) & (ahead[states] < left)
        return fine

    def witness(self) -> tuple[int, Run]:
        """A run that is too early, and the step of its last node; the run goes on until all nodes are at their end."""
        found = self.earliest()
        assert found is not None
        step, state, last = found
        moves = [*last]
        for led in reversed(self._layers):
            moves.append(int(led[np.flatnonzero(self._table.target[led] == state)[0]]))
            state = int(self._table.source[moves[-1]])
        places = [state, *(int(self._table.target[move]) for move in moves[::-1])]
        inputs = (self._table.inputs.choice(int(self._table.choice[move])) for move in moves[::-1])
        return step, Run(tuple(self._table.state(place) for place in places), tuple(inputs))
