"""Exact searches on enumerated states: the product of the states with the sets of goals covered so far.

A node is a state and the set of goals covered. A search goes from the start states to an end with whole arrays of nodes
at a time, and expands those nodes first whose depth, plus an estimate of the steps still to come, is least.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from bmc.evaluation.vectors import Column
from bmc.explicit.rows import Numbering, distinct, grown
from bmc.explicit.state_graph import UNREACHED, Arrows, StateGraph
from bmc.records import dataclass
from bmc.system.transition import Run
from chaincover.graph.enumerated_goals import BLOCK, CELLS, LEAST_BLOCK, Check, Count, run_of, states_in
from chaincover.graph.goal_product import Product, goal_product
from chaincover.problem import Problem

MEMORY = 3 << 29
"""Bytes that the nodes of a search may take at most."""


@dataclass(frozen=True, slots=True)
class Found:
    """A node that ends a run: its number in the search, the run's length, and the goals that it covers, as bits."""

    node: int
    length: int
    covered: int


class _Layout:
    """A node's key: words of 64 bits, with the goals covered in the lowest bits and the place in the product above."""

    def __init__(self, places: int, goals: int) -> None:
        self.goals = goals
        self._low = min(goals, 64 - max(1, (places - 1).bit_length()))
        self._cuts = [0, self._low, *range(self._low + 64, goals, 64), goals]
        if self._low == goals:
            self._cuts = [0, goals]
        self.width = len(self._cuts) - 1

    def split(self, goals: int) -> list[int]:
        """A set of goals as words."""
        return [goals >> low & ((1 << (high - low)) - 1) for low, high in pairwise(self._cuts)]

    def joined(self, words: Sequence[int]) -> int:
        """The set of goals that is covered at the node with the key ``words``."""
        first = words[0] & ((1 << self._low) - 1)
        return sum(word << low for word, low in zip([first, *words[1:]], self._cuts[:-1], strict=True))

    def place(self, words: Sequence[Column]) -> Column:
        """The place in the product of each node."""
        places: Column = (words[0] >> np.uint64(self._low)).astype(np.int64)
        return places

    def covered(self, words: Sequence[Column]) -> list[Column]:
        """The goals covered at each node, in words."""
        return [words[0] & np.uint64((1 << self._low) - 1), *words[1:]]

    def keys(self, places: Column, covered: Sequence[Column]) -> list[Column]:
        """The keys of nodes."""
        return [(places.astype(np.uint64) << np.uint64(self._low)) | covered[0], *covered[1:]]

    def each(self, covered: Sequence[Column]) -> Column:
        """A row for each node, with a column for each goal that tells whether it is covered."""
        columns = []
        for word, (low, high) in zip(covered, pairwise(self._cuts), strict=True):
            whole = np.unpackbits(np.ascontiguousarray(word).view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
            columns.append(whole[:, : high - low])
        return np.concatenate(columns, axis=1) if columns else np.zeros((0, 0), np.uint8)


class _Nodes:
    """The nodes met so far, by number: each with the least depth known and the node before it there.

    A node is open until it is expanded, and again once it is met at a lesser depth.
    """

    def __init__(self, layout: _Layout) -> None:
        self.layout = layout
        self._keys = Numbering(layout.width)
        self._depths: Column = np.zeros(0, np.int32)
        self._before: Column = np.zeros(0, np.int32)
        self._open: Column = np.zeros(0, bool)

    @property
    def size(self) -> int:
        """How many there are."""
        return self._keys.size

    @property
    def bytes(self) -> int:
        """Memory that they take, waiting included."""
        return self._keys.bytes + self._depths.nbytes + self._before.nbytes + self._open.nbytes + 4 * self.size

    def words(self, numbers: Column) -> list[Column]:
        """The keys of nodes."""
        return [column[numbers] for column in self._keys.words]

    def depths(self, numbers: Column) -> Column:
        """The depths of nodes."""
        depths: Column = self._depths[numbers]
        return depths

    def enter(self, keys: Sequence[Column], depths: Column, before: Column) -> tuple[Column, Column]:
        """The rows of ``keys``, once for each node, of nodes that are new at ``depths`` or were deeper; their numbers.

        Each comes after the node ``before`` it.
        """
        old, numbers = self.size, self._keys.add(keys)
        if self.size > len(self._depths):
            size = max(self.size, 2 * len(self._depths))
            self._depths = grown(self._depths, size)
            self._before = grown(self._before, size)
            self._open = grown(self._open, size)
        self._depths[old : self.size] = UNREACHED
        nearer = np.flatnonzero(self._depths[numbers] > depths)
        nearer = nearer[np.argsort(depths[nearer], kind="stable")]
        fresh, first = np.unique(numbers[nearer], return_index=True)
        rows = nearer[first]
        self._depths[fresh], self._before[fresh], self._open[fresh] = depths[rows], before[rows], True
        return rows, fresh

    def opened(self, numbers: Column, expand: bool = True) -> Column:
        """Those of ``numbers`` that are open, rising, which they are no longer if they are to ``expand``."""
        different = distinct(numbers)
        found: Column = different[self._open[different]]
        self._open[found] = not expand
        return found

    def way(self, number: int) -> list[int]:
        """The nodes on the way to a node, itself included."""
        found = [number]
        while (number := int(self._before[number])) >= 0:
            found.append(number)
        return found[::-1]


class _Surroundings:
    """The product for ``problem`` with what each of its nodes can still reach; places are numbers of these nodes.

    ``ends``: whether a run may end there; ``to_end``: the steps to an end; ``to_complete``: for each goal the steps to
    complete it and go on to an end, 0 where that cannot be; ``possible``: the goals, in words, for which it can.
    ``table`` holds the sets of goals by their numbers, in words.
    """

    def __init__(
        self, problem: Problem, graph: StateGraph, made: Product, check: Check, count: Count = lambda steps: None
    ) -> None:
        self.product, self._sets = made, made.sets
        back = made.arrows.backward()
        self.layout = _Layout(self.size, len(problem.goals))
        split = zip(*(self.layout.split(goals) for goals in made.sets), strict=True)
        self.table = [np.array(column, np.uint64) for column in split]
        self.at_once = max((goals.bit_count() for goals in made.sets), default=0)
        self.ends = states_in(graph, problem.final)
        self.to_end = back.distances(np.flatnonzero(self.ends), check)
        count(len(back.ends) + LEAST_BLOCK * _layers(self.to_end))
        self.possible = [np.zeros(self.size, np.uint64) for _ in range(self.layout.width)]
        self.to_complete = self._to_complete(back, len(problem.goals), check, count)

    @property
    def size(self) -> int:
        """How many places there are."""
        return self.product.arrows.size

    def inputs_along(self, places: Sequence[int], covered: Sequence[Column]) -> list[int]:
        """The first inputs that lead from each of ``places`` to the next one, with the goals ``covered`` there."""
        arrows, chosen = self.product.arrows, list[int]()
        for step, (here, after) in enumerate(pairwise(places)):
            numbers = np.arange(arrows.offsets[here], arrows.offsets[here + 1])
            numbers = numbers[arrows.ends[numbers] == after]
            fits = np.ones(len(numbers), bool)
            for word, table in zip(covered, self.table, strict=True):
                fits &= (word[step] | table[self.product.masks[numbers].astype(np.int64)]) == word[step + 1]
            chosen.append(int(self.product.choices[numbers[fits]].min()))
        return chosen

    def _to_complete(self, back: Arrows, goals: int, check: Check, count: Count) -> Column:
        sources = np.repeat(np.arange(self.size), np.diff(self.product.arrows.offsets))
        onward, masks = self.to_end[self.product.arrows.ends], self.product.masks.astype(np.int64)
        steps = np.zeros((self.size, goals), np.int32)
        together = max(1, CELLS // max(1, self.size))
        for low in range(0, goals, together):
            several = range(low, min(low + together, goals))
            begin = np.full((len(several), self.size), UNREACHED, np.int32)
            for row, goal in zip(begin, several, strict=True):
                completed = np.array([number >> goal & 1 for number in self._sets], bool)
                arrows = np.flatnonzero(completed[masks] & (onward < UNREACHED))
                np.minimum.at(row, sources[arrows], onward[arrows] + 1)
            distances = back.all_distances(begin, check)
            count(len(several) * len(back.ends) + LEAST_BLOCK * _layers(distances))
            for goal, found in zip(several, distances, strict=True):
                steps[:, goal] = np.where(found < UNREACHED, found, 0)
                for column, word in zip(self.possible, self.layout.split(1 << goal), strict=True):
                    column |= np.where(found < UNREACHED, np.uint64(word), np.uint64(0))
        return steps.astype(np.uint16) if steps.max(initial=0) < 1 << 16 else steps


def _layers(distances: Column) -> int:
    """How many layers were searched for ``distances``."""
    return int(distances[distances < UNREACHED].max(initial=0))


class ProductSearch:
    """What all searches of this product share. They are generators of work: ``advance`` lets them go on.

    A search says which nodes are ``_worth`` entering, how many steps it will ``_estimate`` from a node to an end, and
    in which order it goes on (``_running``).

    A unit of ``work`` is an arrow of the product that was made or followed, and a block of them is ``LEAST_BLOCK`` at
    least; ``count`` is told of the steps that are followed before, to make the product. ``given_up`` says why the
    search cannot go on, or is ''. ``best`` is the found end with the most goals.
    """

    def __init__(
        self,
        problem: Problem,
        graph: StateGraph,
        check: Check = lambda: None,
        memory: int = MEMORY,
        count: Count = lambda steps: None,
    ) -> None:
        self._problem, self._graph, self._memory = problem, graph, memory
        self._check, self._count = check, count
        self.work = 0
        self.given_up = ""
        self.best: Found | None = None
        self._met: _Nodes | None = None
        self._waiting: dict[int, list[Column]] = {}
        self._steps: Iterator[bool] | None = self._running()

    @property
    def finished(self) -> bool:
        """Whether there is nothing more to search."""
        return self._steps is None

    def advance(self, work: float) -> bool:
        """Do some ``work`` more units of work. Whether there is more to do.

        What ``check`` raises ends the call; a search that is interrupted within a unit starts again.
        """
        until = self.work + work
        while self._steps is not None and not self.given_up and self.work < until:
            self._check()
            try:
                over = next(self._steps, None) is None
            except BaseException:
                self._steps = self._running()
                raise
            if over and not self.given_up:
                self._steps = None
        return not self.finished and not self.given_up

    @property
    def nodes(self) -> int:
        """How many nodes were met."""
        return 0 if self._met is None else self._met.size

    @property
    def bytes(self) -> int:
        """How much memory they take."""
        return 0 if self._met is None else self._met.bytes

    def run_to(self, found: Found) -> Run:
        """The run to ``found``, with all variables of the system."""
        assert self._met is not None
        words = self._met.words(np.array(self._met.way(found.node)))
        places = self._around.layout.place(words).tolist()
        choices = self._around.inputs_along(places, self._around.layout.covered(words))
        return run_of(self._problem.system, self._graph, int(places[0]), choices)

    def _running(self) -> Iterator[bool]:
        raise NotImplementedError

    def _prepare(self) -> bool:
        """Make the product and let the starts wait. False if it takes too much memory."""
        made = goal_product(self._problem, self._graph, self._check, self._count)
        goals = len(self._problem.goals)
        if made is None or made.arrows.size * (4 * goals + 16) > self._memory:
            self.given_up = (
                f"the {len(self._graph.states)} states take too much memory with the distances to {goals} goals"
            )
            return False
        self._around = _Surroundings(self._problem, self._graph, made, self._check, self._count)
        self._met, self._waiting = _Nodes(self._around.layout), {}
        reached = self._around.to_end[self._around.to_end < UNREACHED]
        self.work += len(made.arrows.ends) * (1 + goals) + LEAST_BLOCK * int(reached.max(initial=0))
        covered = [table[made.start_masks.astype(np.int64)] for table in self._around.table]
        nowhere = np.full(len(made.starts), -1, np.int32)
        self._arrive(made.starts, covered, nowhere + 1, nowhere)
        return True

    def _follow(self, numbers: Column) -> Iterator[bool]:
        """Follow all arrows from the nodes ``numbers``, a block at a time."""
        assert self._met is not None
        arrows, words = self._around.product.arrows, self._met.words(numbers)
        places, covered = self._around.layout.place(words), self._around.layout.covered(words)
        depths = self._met.depths(numbers) + 1
        before = np.cumsum(arrows.offsets[places + 1] - arrows.offsets[places])
        first = 0
        while first < len(numbers):
            done = int(before[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(before, done + BLOCK, "right")))
            followed, rows = arrows.of(places[first:last])
            masks, rows = self._around.product.masks[followed].astype(np.int64), rows + first
            after = [word[rows] | table[masks] for word, table in zip(covered, self._around.table, strict=True)]
            self._arrive(arrows.ends[followed].astype(np.int64), after, depths[rows], numbers[rows])
            self.work += max(LEAST_BLOCK, len(followed))
            first = last
            if self._met.bytes > self._memory:
                self.given_up = (
                    f"{self.nodes} pairs of a state and goals covered take all memory that there is for them, "
                    f"{self._memory >> 20} MB"
                )
                return
            yield True

    def _arrive(self, places: Column, covered: Sequence[Column], depths: Column, before: Column) -> None:
        """Enter the nodes that are worth it, and let those wait that are new or nearer than they were."""
        assert self._met is not None
        worth = np.flatnonzero((self._around.to_end[places] < UNREACHED) & self._worth(places, covered))
        places, covered, depths = places[worth], [word[worth] for word in covered], depths[worth]
        rows, numbers = self._met.enter(self._around.layout.keys(places, covered), depths, before[worth])
        self._wait(numbers, depths[rows] + self._estimate(places[rows], [word[rows] for word in covered]))

    def _wait(self, numbers: Column, totals: Column) -> None:
        """Let the nodes ``numbers`` wait with these ``totals`` of steps."""
        for total in distinct(totals).tolist():
            self._waiting.setdefault(total, []).append(numbers[totals == total].astype(np.int32))

    def _can_cover(self, places: Column, covered: Sequence[Column], goals: int) -> Column:
        """In which of ``places`` all of ``goals`` (as bits) are among those ``covered`` and those that still can be."""
        good = np.ones(len(places), bool)
        words = zip(covered, self._around.possible, self._around.layout.split(goals), strict=True)
        for word, possible, wanted in words:
            good &= (word | possible[places]) & np.uint64(wanted) == np.uint64(wanted)
        return good

    def _worth(self, places: Column, covered: Sequence[Column]) -> Column:
        raise NotImplementedError

    def _estimate(self, places: Column, covered: Sequence[Column]) -> Column:
        raise NotImplementedError

    def _next(self, most: float) -> Column:
        """Some ``most`` of the waiting nodes of the least total, those that came last."""
        assert self._met is not None
        total = min(self._waiting)
        waiting, taken, size = self._waiting[total], list[Column](), 0
        while waiting and size < most:
            taken.append(waiting.pop())
            size += len(taken[-1])
        if not waiting:
            del self._waiting[total]
        return self._met.opened(np.concatenate(taken))

    def _ends_among(self, numbers: Column) -> list[Found]:
        """The nodes at an end among ``numbers``, by rising length one for each set of goals covered."""
        assert self._met is not None
        layout, words = self._around.layout, self._met.words(numbers)
        rows = np.flatnonzero(self._around.ends[layout.place(words)])
        if not rows.size:
            return []
        depths = self._met.depths(numbers[rows])
        order = np.argsort(depths, kind="stable")
        rows, depths = rows[order], depths[order]
        covered = np.stack([word[rows] for word in layout.covered(words)], axis=1)
        _, first = np.unique(covered, axis=0, return_index=True)
        return [
            Found(int(numbers[rows[row]]), int(depths[row]), layout.joined(covered[row].tolist()))
            for row in np.sort(first).tolist()
        ]

    def _note(self, found: Found) -> None:
        if self.best is None or found.covered.bit_count() > self.best.covered.bit_count():
            self.best = found
