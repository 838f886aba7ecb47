"""Where goals hold in a table of states and moves, and distances to goals.

A goal of no step holds in states, one of a step is covered by moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cached_property

import numpy as np
from pysmt.fnode import FNode

from bmc.evaluation.vectors import Column
from bmc.formulas.unroll import read_at, steps_of
from bmc.system.transition import Run, conjunction, conjuncts
from chaincover.verification.setting import Setting
from chaincover.verification.states import Table, runs
from chaincover.weights import INIT

FAR = 1 << 30
"""The distance to what cannot be reached."""


class Marks:
    """Where the goals of a setting hold, and where a chain may end, in all states and moves of a table.

    ``in_states`` has for each goal of no step a mark for every state in which it holds, ``on_moves`` for each other one
    a mark for every move that covers it. ``ends``: the states in which a chain may end.
    """

    def __init__(self, table: Table, setting: Setting, goals: Sequence[str]) -> None:
        self.table, self.setting, self.goals = table, setting, tuple(goals)
        every = np.ones(table.size, bool)
        self.ends = every if setting.final is None else table.holds(setting.final)
        self.in_states: dict[str, Column] = {}
        self.on_moves: dict[str, Column] = {}
        for name in self.goals:
            goal = setting.by_name[name]
            if goal.takes_step:
                self.on_moves[name] = self._covered(goal.antecedent)
            else:
                self.in_states[name] = table.holds(read_at(goal.antecedent, 0))

    def _covered(self, antecedent: FNode) -> Column:
        """The moves that ``antecedent`` (framed) is true of: what reads one step alone is computed by itself."""
        own, later, both = list[FNode](), list[FNode](), list[FNode]()
        for part in conjuncts(antecedent):
            steps = steps_of(part)
            (both if len(steps) > 1 else later if 1 in steps else own).append(part)
        found = self.table.on_moves(read_at(conjunction(own), 0))
        there = np.zeros(self.table.size, bool)
        there[self.table.target[found]] = True
        found = found & self.table.holds(read_at(conjunction(later), 1), there)[self.table.target]
        return found & self.table.on_moves(read_at(conjunction(both), 0), found)

    def begins(self, goal: str) -> Column:
        """Marks the states from which some run covers ``goal``."""
        if goal in self.in_states:
            return self.in_states[goal]
        found = np.zeros(self.table.size, bool)
        found[self.table.source[self.on_moves[goal]]] = True
        return found

    @cached_property
    def anywhere(self) -> Marks:
        """The same where a chain may end in any state."""
        other = copy(self)
        for name in ("to_end", "remaining", "_along"):
            vars(other).pop(name, None)
        other.ends = np.ones(self.table.size, bool)
        return other

    # distances

    @cached_property
    def to_end(self) -> Column:
        """For each state the least number of steps to one in which a chain may end."""
        return distances(self.table, [self.ends])[0]

    @cached_property
    def to_start(self) -> dict[str, Column]:
        """For each goal, and each state, the least number of steps to a state from which a run covers it."""
        found = distances(self.table, [self.begins(name) for name in self.goals])
        return dict(zip(self.goals, found, strict=True))

    @cached_property
    def remaining(self) -> dict[str, Column]:
        """For each goal, and each state, the least number of steps in which a run covers it and goes on to the end."""
        costs = [self._cost(name, *self._to_end) for name in self.goals]
        return dict(zip(self.goals, spread(self.table, costs), strict=True))

    def both(self, one: str, other: str) -> bool:
        """Whether some run covers two goals, in whichever order, and goes on to the end."""
        return self._then(one, other) or self._then(other, one)

    def _then(self, first: str, later: str) -> bool:
        """Whether some run covers ``first``, and ``later`` at the same step or after it, and goes on to the end."""
        goes_on = self.remaining[later] < FAR
        if first in self.in_states:
            return bool((self.in_states[first] & goes_on).any())
        target = self.table.target
        at_once = self._hit(later) & (self.to_end[target] < FAR)
        return bool((self.on_moves[first] & (goes_on[target] | at_once)).any())

    @property
    def _to_end(self) -> tuple[Column, Column]:
        """The least number of steps to an end, from each state and at each move, which is one of them."""
        return self.to_end, self.to_end[self.table.target] + 1

    def _cost(self, node: str, in_state: Column, at_move: Column) -> Column:
        """For each state the least number of steps in which a run covers the goal ``node`` there, and does then what
        takes so many steps in a state, and at a move."""
        if node in self.in_states:
            return np.where(self.in_states[node], in_state, FAR)
        best, moves = np.full(self.table.size, FAR, np.int64), np.flatnonzero(self.on_moves[node])
        np.minimum.at(best, self.table.source[moves], at_move[moves])
        return np.minimum(best, FAR)

    # paths of goals

    @cached_property
    def _along(self) -> dict[tuple[str, ...], tuple[Column, Column]]:
        return {}

    def along(self, path: tuple[str, ...]) -> tuple[Column, Column]:
        """The least number of steps to the start of the last node of ``path``, with the others before it in order, from
        each state and at each move. Nodes may start at one step, but the end comes when all of them are over."""
        if not path or path == (self.setting.end,):
            return self._to_end if path else (np.zeros(self.table.size, int), np.zeros(self.table.steps, int))
        if path not in self._along:
            (node, *others), table = path, self.table
            later, at_move = self.along(tuple(others))
            found = spread(table, [self._cost(node, later, at_move)])[0] if others else self.to_start[node]
            self._along[path] = found, np.where(self._hit(node), at_move, found[table.target] + 1)
        return self._along[path]

    def _hit(self, node: str) -> Column:
        """Marks the moves at which the goal ``node`` may start."""
        return self.in_states[node][self.table.source] if node in self.in_states else self.on_moves[node]

    def least(self, path: Sequence[str]) -> int:
        """The least step at which the last node of ``path`` starts in a run that begins with the first one."""
        _, steps = self._begun(path)
        return int(steps.min(initial=FAR))

    def _begun(self, path: Sequence[str]) -> tuple[Column, Column]:
        """The moves that begin a run along ``path``, or the states that do where its first node takes no step; and how
        many steps later its last node starts at the soonest."""
        first, (in_state, at_move) = path[0], self.along(tuple(path[1:]))
        if first in self.on_moves:
            places = np.flatnonzero(self.on_moves[first])
            return places, at_move[places]
        places = np.array(self.table.starts) if first == INIT else np.flatnonzero(self.in_states[first])
        return places, in_state[places]

    def witness(self, path: Sequence[str]) -> Run:
        """A run in which the last node of ``path`` starts as soon as it can, until all nodes are over."""
        table, left = self.table, tuple(path[1:])
        places, steps = self._begun(path)
        move = int(places[steps.argmin()]) if path[0] in self.on_moves else None
        state = int(places[steps.argmin()]) if move is None else int(table.source[move])
        visited, moves = [state], list[int]()
        while left or move is not None:
            if move is None and self._here(left[0], state):
                left = left[1:]
                continue
            if move is None:
                first, last = table.first[state], table.first[state + 1]
                move = int(first + self.along(left)[1][first:last].argmin())
            while left and left[0] != self.setting.end and self._hit(left[0])[move]:
                left = left[1:]
            moves.append(move)
            state, move = int(table.target[move]), None
            visited.append(state)
        inputs = (table.inputs.choice(int(table.choice[each])) for each in moves)
        return Run(tuple(table.state(each) for each in visited), tuple(inputs))

    def _here(self, node: str, state: int) -> bool:
        """Whether ``node``, if it takes no step, holds in a state."""
        marked = self.ends if node == self.setting.end else self.in_states.get(node)
        return marked is not None and bool(marked[state])


def distances(table: Table, targets: Sequence[Column]) -> list[Column]:
    """For each of ``targets`` (marked states) the least number of steps from every state to it."""
    return spread(table, [np.where(marked, 0, FAR) for marked in targets])


def spread(table: Table, costs: Sequence[Column]) -> list[Column]:
    """For each of ``costs`` (of stopping in a state) the least number of steps to a state and its cost together.

    All at once, backwards in layers: a layer holds pairs of one of ``costs`` and a state.
    """
    size = table.size
    best = np.stack(costs).astype(np.int64).ravel() if costs else np.zeros(0, np.int64)
    sources, first = table.backwards
    order = np.argsort(best, kind="stable")
    order = order[best[order] < FAR]
    waiting, taken, depth = best[order], 0, 0
    front = np.zeros(0, np.int64)
    while taken < len(order) or len(front):
        if not len(front):
            depth = int(waiting[taken])
        until = int(np.searchsorted(waiting, depth, "right"))
        fresh = order[taken:until]
        taken = until
        front = np.concatenate([front, fresh[best[fresh] == depth]])
        state = front % size
        counts = first[state + 1] - first[state]
        before = np.repeat(front - state, counts) + sources[runs(first[state], first[state + 1])]
        front = np.sort(before[best[before] > depth + 1])
        front = front[np.diff(front, prepend=-1) > 0]  # np.unique, by a hash table, is slow where they are many
        depth += 1
        best[front] = depth
    return list(best.reshape(len(costs), size))
