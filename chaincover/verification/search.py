"""Search over (state, goals covered) on the table: is there a chain shorter than claimed?

Breadth first. A node is left out where no run from it can cover a goal that is left and come to the end soon enough
(the exact distances of one goal at a time tell that), and where a run was in the same state as early with all that this
one has, and more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from bmc.evaluation.vectors import WORD, Column
from bmc.records import dataclass
from bmc.system.transition import Valuation
from chaincover.verification.inputs import distinct
from chaincover.verification.limits import BLOCK, Clock
from chaincover.verification.marks import FAR, Marks
from chaincover.verification.states import runs

COMPARED = (16, 128, 1024)
"""Earlier nodes of a state with which a new one is compared; those that are left by then with more of them."""
MOVES_PER_NODE = 50
"""Moves looked at, times the limit of nodes, before the search is given up."""


class Ahead(Protocol):
    """A lower bound on the steps that are still to come."""

    def __call__(self, states: Column, missing: Column) -> Column:
        """The steps from each of ``states`` to an end over the ``missing`` goals, which have a mark in its row."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """``length`` is that of the shortest chain, with its ``inputs``; None if there is none.

    ``complete``: whether all runs shorter than asked for were searched, else a limit came first.
    """

    complete: bool
    nodes: int
    length: int | None = None
    inputs: tuple[Valuation, ...] = ()


def search(
    marks: Marks,
    goals: Sequence[str],
    clock: Clock,
    below: int | None = None,
    ahead: Ahead | None = None,
) -> Outcome:
    """The shortest run of fewer than ``below`` steps (None: of any length) that covers ``goals`` and ends as asked.

    ``ahead`` bounds what a run over all of them still takes.
    """
    sweep = _Sweep(marks, goals, clock, len(goals))
    sweep.ahead = ahead
    return _shortest(sweep, marks, below)


def search_some(marks: Marks, goals: Sequence[str], clock: Clock, enough: int, below: int | None = None) -> Outcome:
    """The shortest run of fewer than ``below`` steps that covers at least ``enough`` of ``goals`` and ends as asked."""
    return _shortest(_Sweep(marks, goals, clock, enough), marks, below)


def _shortest(sweep: _Sweep, marks: Marks, below: int | None) -> Outcome:
    for length, nodes in sweep.layers(below):
        fitting = np.flatnonzero(sweep.over(nodes))
        if len(fitting):
            moves = sweep.way(length, int(fitting[0]))
            inputs = tuple(marks.table.inputs.choice(int(marks.table.choice[m])) for m in moves)
            return Outcome(True, sweep.count, length, inputs)
    return Outcome(not sweep.stopped, sweep.count)


def covers(marks: Marks, goals: Sequence[str], clock: Clock) -> dict[frozenset[str], int] | None:
    """Sets of ``goals`` that some run to the end covers, with the least number of steps; None above the limits.

    A set is left out where a larger one takes no more steps.
    """
    sweep = _Sweep(marks, goals, clock, 0)
    least: dict[frozenset[str], int] = {}
    for length, nodes in sweep.layers(None):
        for names in sweep.sets(nodes):
            least.setdefault(names, length)
    return None if sweep.stopped else least


@dataclass(frozen=True)
class _Nodes:
    """``state`` numbers and ``bits`` (words of 64) of the goals covered; ``parent`` are places in the layer before,
    ``move`` led from there."""

    state: Column
    bits: Column
    parent: Column
    move: Column

    def which(self, kept: Column) -> _Nodes:
        return _Nodes(self.state[kept], self.bits[kept], self.parent[kept], self.move[kept])


def _joined(parts: Sequence[_Nodes]) -> _Nodes:
    return _Nodes(*(np.concatenate([getattr(p, name) for p in parts]) for name in ("state", "bits", "parent", "move")))


class Dominance:
    """What runs had in each state, so that a later run which has nothing else is left out."""

    def __init__(self, size: int, words: int) -> None:
        self._size = size
        self._state, self._bits = np.zeros(0, np.int64), np.zeros((0, words), np.uint64)

    def fresh(self, state: Column, bits: Column) -> Column:
        """The numbers of the rows that have a bit which each row lacks that came before in the same state; these are
        known then."""
        met = np.zeros(self._size, bool)
        met[state] = True
        known = np.flatnonzero(met[self._state])
        states, have = np.concatenate([self._state[known], state]), np.concatenate([self._bits[known], bits])
        order = np.argsort(states, kind="stable")
        states, have = states[order], np.asfortranarray(have[order])
        fine = order >= len(known)
        for most in COMPARED:
            last = np.flatnonzero(fine)
            first = np.maximum(np.searchsorted(states, states[last]), last - most)
            cuts = np.flatnonzero(np.diff(np.cumsum(last - first) // BLOCK)) + 1
            for part in np.split(np.arange(len(last)), cuts):
                own, earlier = np.repeat(last[part], last[part] - first[part]), runs(first[part], last[part])
                lacks = np.zeros(len(own), np.uint64)
                for word in have.T:
                    lacks |= word[own] & ~word[earlier]
                fine[own[lacks == 0]] = False
        kept = np.sort(order[fine] - len(known))
        self._state = np.concatenate([self._state, state[kept]])
        self._bits = np.concatenate([self._bits, bits[kept]])
        return kept


class _Sweep:
    """All nodes by the number of steps to them. ``stopped``: a limit came first. So many goals are ``enough``."""

    def __init__(self, marks: Marks, goals: Sequence[str], clock: Clock, enough: int) -> None:
        self.stopped, self.count = False, 0
        self.ahead: Ahead | None = None
        self._marks, self._table, self._goals = marks, marks.table, list(goals)
        self._clock, self._enough = clock, enough
        self._layers: list[_Nodes] = []
        self._steps = Steps(marks, self._goals)
        self._known = Dominance(marks.table.size, self._steps.words)

    def layers(self, below: int | None) -> Iterator[tuple[int, _Nodes]]:
        """Numbers of steps with the nodes after so many, as long as there are new ones and fewer than ``below``."""
        starts = np.array(self._table.starts, np.int64)
        nothing = np.zeros((len(starts), self._steps.words), np.uint64)
        none = np.full(len(starts), -1, np.int64)
        begun = _Nodes(starts, nothing | self._steps.here[starts], none, none)
        layer = self._fresh(self._pruned(begun, 0, below))
        length = moved = 0
        while len(layer.state) and (below is None or length < below):
            self._layers.append(layer)
            self.count += len(layer.state)
            yield length, layer
            length += 1
            parts = []
            for block in self._blocks(layer):
                nodes = self._stepped(layer, block)
                moved += len(nodes.state)
                parts.append(self._pruned(nodes, length, below))
                limits = self._clock.limits
                if self.count > limits.nodes or moved > limits.nodes * MOVES_PER_NODE or self._clock.over:
                    self.stopped = True
                    return
            layer = self._fresh(parts[0] if len(parts) == 1 else self._pruned(_joined(parts), length, below))

    def _blocks(self, layer: _Nodes) -> Iterator[Column]:
        """Numbers of nodes, together with about as many moves as may be made at once."""
        counts = np.cumsum(self._steps.first[layer.state + 1] - self._steps.first[layer.state])
        cuts = np.flatnonzero(np.diff(counts // BLOCK)) + 1
        yield from np.split(np.arange(len(layer.state)), cuts)

    def _stepped(self, layer: _Nodes, block: Column) -> _Nodes:
        """The nodes one move on, with what the move and the new state cover."""
        steps = self._steps
        first, last = steps.first[layer.state[block]], steps.first[layer.state[block] + 1]
        rows, place = np.repeat(block, last - first), runs(first, last)
        moves = steps.moves[place]
        state = steps.target[place].astype(np.int64)
        return _Nodes(state, layer.bits[rows] | steps.hits[place] | steps.here[state], rows, moves)

    def _pruned(self, nodes: _Nodes, length: int, below: int | None) -> _Nodes:
        """Those of ``nodes`` that may lead to a chain below the bound, each once."""
        worth = np.ones(len(nodes.state), bool)
        limit = FAR if below is None else min(FAR, below - length)
        worth &= self._marks.to_end[nodes.state] < limit
        if self._enough:
            missing = np.zeros(len(nodes.state), np.int64)
            for number, goal in enumerate(self._goals):
                left = np.flatnonzero(worth & ~has(nodes.bits, number))
                missing[left] += self._marks.remaining[goal][nodes.state[left]] >= limit
                worth &= missing <= len(self._goals) - self._enough
        nodes = nodes.which(np.flatnonzero(worth))
        if self.ahead is not None and len(nodes.state):
            marks = [~has(nodes.bits, number) for number in range(len(self._goals))]
            ahead = self.ahead(nodes.state, np.stack(marks, axis=1).astype(np.int64))
            nodes = nodes.which(np.flatnonzero(ahead < limit))
        if not len(nodes.state):
            return nodes
        place, _ = distinct([nodes.state.astype(np.uint64), *nodes.bits.T], len(nodes.state))
        return nodes.which(place)

    def _fresh(self, nodes: _Nodes) -> _Nodes:
        """Those of ``nodes`` that have something which no earlier one in the same state has; these are known then."""
        many = np.bitwise_count(nodes.bits).sum(axis=1, dtype=np.int64)
        nodes = nodes.which(np.lexsort((-many, nodes.state)))  # those with more bits come first
        return nodes.which(self._known.fresh(nodes.state, nodes.bits))

    def over(self, nodes: _Nodes) -> Column:
        """Which nodes have covered enough goals and may end."""
        covered = np.bitwise_count(nodes.bits).sum(axis=1, dtype=np.int64)
        over: Column = (covered >= self._enough) & self._marks.ends[nodes.state]
        return over

    def sets(self, nodes: _Nodes) -> Iterator[frozenset[str]]:
        """The sets of goals covered by those nodes that may end."""
        chosen = nodes.bits[self._marks.ends[nodes.state]]
        for row in np.unique(chosen, axis=0).tolist():
            yield frozenset(goal for n, goal in enumerate(self._goals) if row[n // WORD] >> n % WORD & 1)

    def way(self, length: int, number: int) -> list[int]:
        """The moves that lead to a node of the last layer."""
        moves = []
        for layer in reversed(self._layers[1 : length + 1]):
            moves.append(int(layer.move[number]))
            number = int(layer.parent[number])
        return moves[::-1]


def has(bits: Column, number: int) -> Column:
    """Marks the rows of ``bits`` that have the goal of this ``number``."""
    word, bit = divmod(number, WORD)
    marks: Column = bits[:, word] >> np.uint64(bit) & np.uint64(1) != 0
    return marks


class Steps:
    """All steps between states, from ``source`` to ``target``, those once that cover the same goals: ``moves`` has one
    of each.

    ``first`` is the place of the first of them for each state. ``hits`` are the goals that a move covers, ``here``
    those that hold in a state, as bits.
    """

    def __init__(self, marks: Marks, goals: Sequence[str]) -> None:
        table = marks.table
        self.words = -(-len(goals) // WORD) or 1
        self.here = np.zeros((table.size, self.words), np.uint64)
        hits = np.zeros((table.steps, self.words), np.uint64)
        for number, goal in enumerate(goals):
            word, bit = divmod(number, WORD)
            rows, marked = (self.here, marks.in_states) if goal in marks.in_states else (hits, marks.on_moves)
            rows[:, word] |= marked[goal].astype(np.uint64) << np.uint64(bit)
        example, _ = distinct([table.source, table.target, *hits.T], table.steps)
        self.moves = np.sort(example)
        self.source, self.target, self.hits = table.source[self.moves], table.target[self.moves], hits[self.moves]
        self.first = np.searchsorted(self.source, np.arange(table.size + 1))
