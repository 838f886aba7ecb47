"""The enumerated states with what a watcher remembers of the way there: a graph in arrays for exact searches.

A watcher is a small automaton over classes of states and inputs; it is asked once for each combination that comes up,
and the answers are looked up for whole arrays of steps.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Protocol

import numpy as np
from pysmt.fnode import FNode

from bmc.explicit.rows import Numbering, Rows, distinct, groups_of
from bmc.explicit.state_graph import Arrows, Check, StateGraph
from bmc.explicit.vectors import Column, Program
from bmc.records import dataclass
from bmc.system.transition import Valuation

BLOCK = 1 << 16
"""Steps, or states, looked at together."""

_SPACE = 1 << 32


class Watcher(Protocol):
    """Remembers what matters of a run so far, and tells sets of goals, as bits."""

    def start(self, state_class: int) -> Sequence[tuple[Hashable, int]]:
        """What may be remembered in a state where a run starts, each with the goals completed there."""

    def advance(self, memory: Hashable, input_class: int, state_class: int) -> Sequence[tuple[Hashable, int]]:
        """What may be remembered after a step, each with the goals completed on arrival; none: the way is given up."""


@dataclass(frozen=True)
class Classes:
    """The classes of the states and of the inputs of a graph, as watchers tell them apart."""

    states: Column
    inputs: Column


def classes_of(
    graph: StateGraph,
    terms: tuple[Sequence[FNode], Sequence[FNode]],
    state_class: Callable[[Valuation], int],
    input_class: Callable[[Valuation], int],
) -> Classes:
    """``terms``: those over states, and those over inputs, on whose values classes depend."""
    return Classes(_classes(graph.states, terms[0], state_class), _classes(graph.inputs, terms[1], input_class))


def _classes(rows: Rows, terms: Sequence[FNode], class_of: Callable[[Valuation], int]) -> Column:
    """The class of each row, asked once for those rows of a block for which all ``terms`` have the same values."""
    program, found = Program(terms), np.zeros(len(rows), np.int64)
    for first in range(0, len(rows), BLOCK):
        last = min(first + BLOCK, len(rows))
        here = {name: column if len(column) == 1 else column[first:last] for name, column in rows.columns.items()}
        different, group = groups_of(program(here), last - first)
        found[first:last] = np.array([class_of(rows[first + place]) for place in different.tolist()], np.int64)[group]
    return found


@dataclass(frozen=True)
class Product:
    """``states`` of the nodes; ``starts``: nodes where runs start, with the goals completed there (``start_masks``).

    Of each arrow ``masks`` tells the goals completed on arrival, ``choices`` the input, the first of those that do the
    same.
    """

    states: Column
    memories: Column
    starts: Column
    start_masks: Column
    arrows: Arrows
    masks: Column
    choices: Column

    @property
    def done(self) -> Column:
        """The nodes on whose arrival, or start, goals are completed; some more than once."""
        return np.concatenate([self.arrows.ends[self.masks != 0], self.starts[self.start_masks != 0]]).astype(np.int64)


def product(
    graph: StateGraph, classes: Classes, watcher: Watcher, most: tuple[int, int], check: Check = lambda: None
) -> Product | None:
    """All (state, memory) reachable from the start states, and perhaps some that are not, with the arrows between them.

    None for more nodes or more arrows than ``most``.
    """
    return _Builder(graph, classes, watcher, check).build(*most)


class _Builder:
    def __init__(self, graph: StateGraph, classes: Classes, watcher: Watcher, check: Check) -> None:
        self._graph, self._classes, self._watcher, self._check = graph, classes, watcher, check
        self._arrows = Arrows(graph.steps.offsets, graph.steps.nexts)
        self._nodes = Numbering(1)
        self._memories: list[Hashable] = []
        self._numbers: dict[Hashable, int] = {}
        self._answers = _Answers()

    def build(self, most_nodes: int, most_arrows: int) -> Product | None:
        start_nodes, start_masks = self._start(np.asarray(self._graph.starts, np.int64))
        self._start(np.arange(len(self._graph.states)))  # most nodes come up so: then steps are made in large blocks
        parts: tuple[list[Column], ...] = ([], [], [], [])
        done = total = 0
        step = max(1, BLOCK // max(1, len(self._graph.inputs)))
        while done < self._nodes.size or not parts[0]:
            self._check()
            nodes = np.arange(done, min(self._nodes.size, done + step))
            found = self._from(nodes)
            for kept, part in zip(parts, found, strict=True):
                kept.append(part)
            done, total = done + len(nodes), total + len(found[1])
            if self._nodes.size > most_nodes or total > most_arrows:
                return None
        counts, ends, masks, choices = (np.concatenate(columns) for columns in parts)
        offsets = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        keys = self._nodes.words[0]
        return Product(
            states=(keys >> np.uint64(32)).astype(np.int32),
            memories=(keys % np.uint64(_SPACE)).astype(np.int32),
            starts=start_nodes,
            start_masks=start_masks,
            arrows=Arrows(offsets, ends.astype(np.int32)),
            masks=masks.astype(np.min_scalar_type(int(masks.max(initial=0)))),
            choices=choices,
        )

    def _start(self, starts: Column) -> tuple[Column, Column]:
        kinds = self._classes.states[starts]
        answers = _Answers()
        for kind in dict.fromkeys(kinds.tolist()):
            answers.add(kind, [(self._number(memory), mask) for memory, mask in self._watcher.start(kind)])
        rows, memories, masks = answers.of(kinds)
        return self._node(starts[rows], memories), masks

    def _from(self, nodes: Column) -> tuple[Column, Column, Column, Column]:
        """The number of arrows of each of ``nodes``; for each arrow its end, its goals and its input."""
        keys = self._nodes.words[0][nodes]
        places, source = self._arrows.of((keys >> np.uint64(32)).astype(np.int64))
        memory = (keys % np.uint64(_SPACE)).astype(np.int64)[source]
        after, choice = self._graph.steps.nexts[places].astype(np.int64), self._graph.steps.choices[places]
        kinds = self._asked(memory, self._classes.inputs[choice], self._classes.states[after])
        rows, memories, masks = self._answers.of(kinds)
        source, choice = source[rows], choice[rows]
        ends = self._node(after[rows], memories)
        _, mask_numbers = np.unique(masks, return_inverse=True)
        first = _first_of_each([source, ends, mask_numbers])
        return np.bincount(source[first], minlength=len(nodes)), ends[first], masks[first], choice[first]

    def _asked(self, memory: Column, inputs: Column, states: Column) -> Column:
        """A number for each combination; the watcher's answer to it is known then."""
        input_kinds, state_kinds = int(self._classes.inputs.max(initial=0)) + 1, int(self._classes.states.max()) + 1
        kinds = (memory * input_kinds + inputs) * state_kinds + states
        for kind in distinct(kinds).tolist():
            if kind not in self._answers:
                rest, state = divmod(kind, state_kinds)
                number, given = divmod(rest, input_kinds)
                found = self._watcher.advance(self._memories[number], given, state)
                self._answers.add(kind, [(self._number(memory), mask) for memory, mask in found])
        return kinds

    def _number(self, memory: Hashable) -> int:
        if memory not in self._numbers:
            self._numbers[memory] = len(self._memories)
            self._memories.append(memory)
        return self._numbers[memory]

    def _node(self, states: Column, memories: Column) -> Column:
        return self._nodes.add([(states.astype(np.uint64) << np.uint64(32)) | memories.astype(np.uint64)])


class _Answers:
    """What a watcher answered, by the number of the question, to be looked up for arrays of questions."""

    def __init__(self) -> None:
        self._known: dict[int, Sequence[tuple[int, int]]] = {}

    def __contains__(self, kind: int) -> bool:
        return kind in self._known

    def add(self, kind: int, answer: Sequence[tuple[int, int]]) -> None:
        self._known[kind] = answer

    def of(self, kinds: Column) -> tuple[Column, Column, Column]:
        """The rows of ``kinds``, as often as there are answers, with memory and goals of each."""
        different, place = np.unique(kinds, return_inverse=True)
        answers = [self._known[kind] for kind in different.tolist()]
        flat = [pair for answer in answers for pair in answer]
        memories = np.array([memory for memory, _ in flat], np.int64)
        masks = np.array([mask for _, mask in flat], np.uint64)
        found = Arrows(np.concatenate([[0], np.cumsum([len(a) for a in answers], dtype=np.int64)]), memories)
        places, rows = found.of(place)
        return rows, memories[places], masks[places]


def _first_of_each(columns: Sequence[Column]) -> Column:
    """The rows that no earlier one equals, by the first column."""
    key = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        key = key * (int(column.max(initial=0)) + 1) + column
    _, first = np.unique(key, return_index=True)
    return np.sort(first)
