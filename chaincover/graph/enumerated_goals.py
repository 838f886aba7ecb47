"""The runs of one goal through the listed states: where they start and end, and which other goals start on the way."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from bmc.explicit.paths import Check
from bmc.explicit.product import Classes, Product, product
from bmc.explicit.state_graph import StateGraph
from bmc.explicit.vectors import Column
from properties.obligations import Arrival, Obligations, bits

MOST_NODES, MOST_ARROWS = 50_000_000, 100_000_000
"""States with obligations, and steps between them, that are kept: some gigabytes."""


class TooManyUnderWay(Exception):
    """More states with obligations under way than may be kept."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What is remembered of one goal's own run and, from ``distance`` on, of the others; ``done``: completed so far."""

    step: int
    own: int
    own_done: bool
    others: int
    done: int


class Together:
    """Watches goal number ``goal`` from a run's start, and all others that begin ``distance`` steps later (None: none).

    The mask of an arrow tells the goals completed by then, once the goal itself is, which is among them.
    """

    def __init__(self, obligations: Obligations, goal: int, distance: int | None) -> None:
        self._obligations, self._goal, self._distance = obligations, goal, distance

    def start(self, state_class: int) -> Sequence[tuple[Hashable, int]]:
        fresh = self._obligations.fresh(state_class)
        own = fresh.pending & self._obligations.of_goal[self._goal]
        own_done = bool(fresh.completed >> self._goal & 1)
        return self._told(_Seen(0, own, own_done, 0, 0), state_class)

    def advance(self, memory: Hashable, input_class: int, state_class: int) -> Sequence[tuple[Hashable, int]]:
        assert isinstance(memory, _Seen)
        if memory.own_done and not memory.others and memory.step >= (self._distance or 0):
            return ()
        own = self._advanced(memory.own, input_class, state_class)
        others = self._advanced(memory.others, input_class, state_class)
        own_done = memory.own_done or bool(own.completed)
        return self._told(
            _Seen(memory.step + 1, own.pending, own_done, others.pending, memory.done | others.completed), state_class
        )

    def _advanced(self, pending: int, input_class: int, state_class: int) -> Arrival:
        after = completed = 0
        for obligation in bits(pending):
            arrival = self._obligations.advance_one(obligation, input_class, state_class)
            after, completed = after | arrival.pending, completed | arrival.completed
        return Arrival(after, completed)

    def _told(self, seen: _Seen, state_class: int) -> Sequence[tuple[Hashable, int]]:
        others, done = seen.others, seen.done
        if seen.step == self._distance:
            fresh = self._obligations.fresh(state_class)
            others |= fresh.pending & ~self._obligations.of_goal[self._goal]
            done |= fresh.completed & ~(1 << self._goal)
        if not (seen.own or seen.own_done):
            return ()
        memory = _Seen(seen.step, seen.own, seen.own_done, others, done)
        return [(memory, done | 1 << self._goal if seen.own_done else 0)]


@dataclass(frozen=True)
class Runs:
    """The states in which runs of a goal can start, and those in which they can end."""

    starts: Column
    ends: Column


def runs_of(graph: StateGraph, classes: Classes, obligations: Obligations, goal: int, check: Check) -> Runs:
    """The runs of goal number ``goal`` alone. TooManyUnderWay if they take too much memory."""
    found = watched(graph, classes, obligations, goal, None, check)
    done = np.unique(found.arrows.ends[found.masks != 0])
    done = np.union1d(done, found.starts[found.start_masks != 0]).astype(np.int64)
    left = found.arrows.backward().distances(done, check)
    starts = np.unique(found.states[found.starts[left[found.starts] >= 0]])
    return Runs(starts, np.unique(found.states[done]))


def watched(
    graph: StateGraph, classes: Classes, obligations: Obligations, goal: int, distance: int | None, check: Check
) -> Product:
    """All runs that ``Together`` watches, from every state. TooManyUnderWay if they take too much memory."""
    every = np.arange(len(graph.states))
    found = product(graph, classes, Together(obligations, goal, distance), every, MOST_NODES, MOST_ARROWS, check)
    if found is None:
        raise TooManyUnderWay
    return found
