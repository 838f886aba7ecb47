"""Explicit sub-path distances: the least number of steps in which goals are covered in a given order.

The same answers as ``sub_path_lengths``, from enumerated states instead of a solver: a run is followed breadth first,
and at every state it is tried to begin the next goals of the path there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

from bmc.engines.protocol import Status
from bmc.evaluation.vectors import Column
from bmc.explicit.rows import distinct
from bmc.explicit.state_graph import Arrows, StateGraph
from bmc.records import dataclass
from bmc.system.transition import Run
from chaincover.chain import UNDECIDED, UNREACHABLE
from chaincover.graph.enumerated_goals import LEAST_BLOCK, Check, EnumeratedGoals, blocks, run_of, states_in
from chaincover.known import Board
from chaincover.limits import PER_UNIT, Limits
from chaincover.minimality.sub_path_lengths import KnownLength, Path, SubPath
from chaincover.problem import Problem
from chaincover.weights import END, FINAL, INIT

WORK = 50_000_000
"""Steps that are followed for one question, some seconds."""

CHEAP = 1_000_000
"""Steps that are followed in a moment; after so many the limits are told."""

Back = tuple[Column, Column]
"""For each node of a layer the row of the layer before from which it comes, and the step of the graph that leads
there, in 32 bits each: there are as many as nodes were met."""


class _InOrder:
    """States with how many goals of a path have begun there, and before: a run is to begin them in order.

    A node is a number: the state, how many of the goals have begun on arrival, and how many once some begin there.
    Goals of one step that begin in a state must hold on the step that leaves it. The first goals begin at once where
    the path starts with a goal (``at_once``). ``followed`` counts the steps that were followed, for each block
    ``LEAST_BLOCK`` at least.
    """

    def __init__(self, goals: EnumeratedGoals, graph: StateGraph, path: Sequence[int], at_once: bool) -> None:
        self._steps, self._at_once, self._size = graph.steps, at_once, len(path) + 1
        self._arrows = Arrows(graph.steps.offsets, graph.steps.nexts)
        self._begins = [goals.can_begin(number) for number in path]
        self._goals, self._path = goals, tuple(path)
        self._one_step = [goals.problem.goals[number].takes_step for number in path]
        self.followed = 0

    def state_of(self, nodes: Column) -> Column:
        """The state of each node."""
        return nodes // self._size**2

    def begun(self, nodes: Column) -> Column:
        """How many goals have begun at each node."""
        return nodes % self._size

    def pending(self, nodes: Column) -> Column:
        """Whether a goal has begun at each node that takes a step."""
        found = np.zeros(len(nodes), bool)
        for memory, rows in self._by_memory(nodes):
            found[rows] = any(self._one_step[slice(*memory)])
        return found

    def starts(self, states: Column) -> Column:
        """The nodes where runs start in ``states``."""
        return self._arrived(states, 0, self._at_once)[1]

    def steps(self, nodes: Column) -> Iterator[tuple[Column, Column, Column]]:
        """The steps from ``nodes``, some at a time: for each its place among ``nodes``, and in the graph, and the node
        that it leads to."""
        for (before, begun), rows in self._by_memory(nodes):
            states = self.state_of(nodes[rows])
            for first, last in blocks(np.concatenate([[0], np.cumsum(np.diff(self._arrows.offsets)[states])])):
                places, owners = self._arrows.of(states[first:last])
                self.followed += max(LEAST_BLOCK, len(places))
                good = np.ones(len(places), bool)
                for goal in range(before, begun):
                    if self._one_step[goal]:
                        good[good] = self._goals.holds_on(self._path[goal], places[good])
                places, owners = places[good], rows[first:last][owners[good]]
                arrived, ends = self._arrived(self._steps.nexts[places].astype(np.int64), begun, False)
                yield owners[arrived], places[arrived], ends

    def _by_memory(self, nodes: Column) -> Iterator[tuple[tuple[int, int], Column]]:
        """For each pair of numbers of goals begun, on arrival and since, the places of the ``nodes`` with it."""
        memories = nodes % self._size**2
        for memory in distinct(memories).tolist():
            yield divmod(memory, self._size), np.flatnonzero(memories == memory)

    def _arrived(self, states: Column, begun: int, some: bool) -> tuple[Column, Column]:
        """The nodes in ``states`` with ``begun`` goals before, which as many more begin as can; for each the place of
        its state. ``some``: at least one begins."""
        rows, found = np.arange(len(states)), []
        for number in range(begun, self._size):
            if number > begun:
                rows = rows[self._begins[number - 1][states[rows]]]
            if number > begun or not some:
                found.append((rows, (states[rows].astype(np.int64) * self._size + begun) * self._size + number))
        return np.concatenate([place for place, _ in found]), np.concatenate([node for _, node in found])


class _Met:
    """A set of nodes that grows by few at a time: sorted arrays, each more than twice as long as the one after it."""

    def __init__(self, arrays: Sequence[Column] = ()) -> None:
        self._arrays = [*arrays]

    def has(self, nodes: Column) -> Column:
        """Whether it has each of ``nodes``."""
        found = np.zeros(len(nodes), bool)
        for array in self._arrays:
            places = np.minimum(np.searchsorted(array, nodes), len(array) - 1)
            found |= array[places] == nodes
        return found

    def and_also(self, nodes: Column) -> _Met:
        """The set with ``nodes`` too."""
        arrays = [*self._arrays, *([np.sort(nodes)] if nodes.size else [])]
        while len(arrays) > 1 and len(arrays[-2]) <= 2 * len(arrays[-1]):
            last = arrays.pop()
            arrays[-1] = distinct(np.concatenate((arrays[-1], last)))
        return _Met(arrays)


@dataclass
class _Layers:
    """What a search has met: the nodes of the ``last`` layer, the way ``back`` from each layer, the states of the
    ``first`` one, all nodes ``met``, and those from which what is pending cannot be completed (``dead``)."""

    first: Column
    last: Column
    back: list[Back]
    met: _Met
    dead: _Met

    @classmethod
    def of(cls, first: Column, nodes: Column) -> _Layers:
        """The first layer, ``nodes`` in the states ``first``."""
        return cls(first, nodes, [], _Met().and_also(nodes), _Met())


class _BreadthFirst:
    """One breadth-first search for ``path``, which ``go_on`` continues. Of each node the first way there is kept.

    ``depth`` is a lower bound on the steps to the last node; ``length`` is their number once it is known; the search is
    ``over`` where it is, or where there is no such run: then only the run is kept.
    """

    def __init__(self, goals: EnumeratedGoals, path: Path, final: Column | None, check: Check) -> None:
        problem, graph = goals.problem, goals.graph
        numbers = [problem.names.index(name) for name in path if name not in (INIT, FINAL, END)]
        self._graph, self._check = graph, check
        self._count, self._final = len(numbers), final
        self._to_end = path[-1] in (FINAL, END)
        self._order = _InOrder(goals, graph, numbers, path[0] != INIT)
        starts = np.array(graph.starts) if path[0] == INIT else np.arange(len(graph.states))
        nodes = self._order.starts(np.sort(starts))
        self._layers = _Layers.of(self._order.state_of(nodes).astype(np.int32), nodes)
        self.depth, self.length, self.over = 0, -1, False

    @property
    def work(self) -> int:
        """The steps followed so far."""
        return self._order.followed

    def needs_work(self, most: int) -> bool:
        """Whether it is open if the path takes at most ``most`` steps."""
        return not self.over and self.depth <= most

    def go_on(self, most: int, work: float) -> None:
        """Search on, up to a length of ``most`` and for some ``work``."""
        until = self.work + work
        while self.needs_work(most) and self.work < until:
            self._check()
            layers = self._layers
            if self._ending(layers.last):
                self.length = self.depth
                self._end_with(self._way())
                return
            layers.last, back = self._after(layers.last, layers.met)
            layers.met = layers.met.and_also(layers.last)
            layers.back.append(back)
            self.depth += 1
            if not layers.last.size:
                self._end_with((0, []))

    def choices(self) -> tuple[int, list[int]]:
        """The state where the run that was found starts, and its inputs, up to the end of the goals that have begun."""
        return self._found

    def _end_with(self, found: tuple[int, list[int]]) -> None:
        """The search is over: what it has met is forgotten."""
        self.over, self._found = True, found
        nothing = np.zeros(0, np.int64)
        self._layers = _Layers.of(nothing, nothing)

    def _way(self) -> tuple[int, list[int]]:
        """The state and inputs that lead to the node at which the search ended."""
        place, chosen = self._end, list[int]()
        for before, steps in reversed(self._layers.back):
            chosen.append(int(self._graph.steps.choices[steps[place]]))
            place = int(before[place])
        return int(self._layers.first[place]), chosen[::-1]

    def _after(self, nodes: Column, met: _Met) -> tuple[Column, Back]:
        """The nodes after ``nodes`` that were not met, with the way back."""
        nothing = np.zeros(0, np.int32)
        ends, rows, places = [nodes[:0]], [nothing], [nothing]
        for owners, steps, after in self._order.steps(nodes):
            different, first = np.unique(after, return_index=True)
            fresh = ~met.has(different)
            ends.append(different[fresh])
            rows.append(owners[first[fresh]].astype(np.int32))
            places.append(steps[first[fresh]].astype(np.int32))
        after, first = np.unique(np.concatenate(ends), return_index=True)
        return after, (np.concatenate(rows)[first], np.concatenate(places)[first])

    def _ending(self, nodes: Column) -> bool:
        """Whether the path ends at one of ``nodes``: all its goals have begun, and can be completed, or are."""
        begun, done = self._judged(nodes)
        if self._to_end:
            good = begun & done
            if self._final is not None:
                good &= self._final[self._order.state_of(nodes)]
            return self._settled(np.flatnonzero(good))
        return self._settled(np.flatnonzero(begun & done)) or self._completed(nodes, np.flatnonzero(begun))

    def _judged(self, nodes: Column) -> tuple[Column, Column]:
        """For each node whether all goals have begun, and whether those that have are completed."""
        return self._order.begun(nodes) == self._count, ~self._order.pending(nodes)

    def _settled(self, places: Column) -> bool:
        if places.size:
            self._end = int(places[0])
        return bool(places.size)

    def _completed(self, nodes: Column, places: Column) -> bool:
        """Follow runs from ``places`` of the last layer until what is pending is completed; the layers go on so.

        Nodes from which that cannot be are remembered.
        """
        fresh = places[~self._layers.dead.has(nodes[places])]
        last, ways = nodes[fresh], list[Back]()
        met = self._layers.dead.and_also(last)
        while last.size:
            last, back = self._after(last, met)
            met = met.and_also(last)
            ways.append(back)
            if self._settled(np.flatnonzero(self._judged(last)[1])):
                before, steps = ways[0]
                self._layers.back += [(fresh[before], steps), *ways[1:]]
                return True
        self._layers.dead = met
        return False


class _LegByLeg:
    """The search for ``path`` where each goal is one state: a shortest way from each node to the next, one by one.

    Else as ``_BreadthFirst``, which looks for each of them.
    """

    def __init__(self, goals: EnumeratedGoals, path: Path, final: Column | None, check: Check) -> None:
        self._goals, self._legs, self._final, self._check = goals, list(pairwise(path)), final, check
        self._ways: list[tuple[int, list[int]]] = []
        self._search = _BreadthFirst(goals, self._legs[0], None, check)
        self._steps = self._work = 0
        self.length, self.over = -1, False

    @property
    def work(self) -> int:
        """See ``_BreadthFirst``."""
        return self._work + self._search.work

    @property
    def depth(self) -> int:
        """See ``_BreadthFirst``."""
        return self._steps + self._search.depth

    def needs_work(self, most: int) -> bool:
        """See ``_BreadthFirst``."""
        return not self.over and self.depth <= most

    def go_on(self, most: int, work: float) -> None:
        """See ``_BreadthFirst``."""
        until = self.work + work
        while self.needs_work(most) and self.work < until:
            self._search.go_on(most - self._steps, until - self.work)
            if self._search.length >= 0:
                self._arrive()
            else:
                self.over = self._search.over

    def choices(self) -> tuple[int, list[int]]:
        """See ``_BreadthFirst``."""
        return self._ways[0][0], [choice for _, way in self._ways for choice in way]

    def _arrive(self) -> None:
        """Take the way to the next node, and go on from there."""
        self._ways.append(self._search.choices())
        if len(self._ways) == len(self._legs):
            self.length, self.over = self.depth, True
        else:
            self._steps += self._search.length
            self._work += self._search.work
            leg = self._legs[len(self._ways)]
            final = self._final if leg[-1] == FINAL else None
            self._search = _BreadthFirst(self._goals, leg, final, self._check)


class ExplicitSubPaths:
    """Least lengths of sub-paths of node names. Up to ``most`` steps are followed for one question, and ``limits`` are
    told of them. Where each goal is one state, the ways between two of them are questions of their own."""

    def __init__(self, problem: Problem, graph: StateGraph, limits: Limits, most: float = WORK) -> None:
        self._problem, self._graph, self._limits, self._work = problem, graph, limits, most
        self._final = None if problem.final is None else states_in(graph, problem.final)
        self._searches: dict[Path, _BreadthFirst | _LegByLeg] = {}
        self.work = self._questions = 0

    @property
    def cheap(self) -> bool:
        """Whether the questions so far took little work on average."""
        return self.work <= CHEAP * max(1, self._questions)

    @cached_property
    def _goals(self) -> EnumeratedGoals:
        """The goals on the states of the graph; making them is work too."""
        made = EnumeratedGoals(self._problem, self._graph)
        self._limits.spend(made.followed / PER_UNIT.steps)
        return made

    @cached_property
    def single_states(self) -> bool:
        """Whether each goal is one state: then exact distances add up along every order."""
        goals = self._problem.goals
        alone = not any(goal.takes_step for goal in goals)
        return alone and all(self._goals.ends_of(number)[0].size == 1 for number in range(len(goals)))

    def least_all(self, sub_paths: Sequence[SubPath]) -> list[KnownLength]:
        """See the protocol."""
        return [self.least(sub_path) for sub_path in sub_paths]

    def least(self, sub_path: SubPath) -> KnownLength:
        """As ``least_all`` for one."""
        search = self._searched(sub_path.path, sub_path.most)
        if search.length >= 0:
            exact = search.length <= sub_path.most
            return KnownLength(search.length if exact else max(sub_path.at_least, sub_path.most + 1), exact)
        if search.over or search.depth > sub_path.most:
            return KnownLength(max(sub_path.at_least, sub_path.most + 1), False)
        return KnownLength(max(sub_path.at_least, search.depth), False, gave_up=True)

    def ask(self, path: Path, steps: int) -> tuple[Status, Run | None]:
        """Whether ``path`` takes ``steps`` steps, which is known to be a lower bound; the run if it does."""
        search = self._searched(path, steps)
        if search.length == steps:
            return Status.SAT, run_of(self._problem.system, self._graph, *search.choices())
        return (Status.UNSAT if search.over or search.depth > steps else Status.UNKNOWN), None

    def _searched(self, path: Path, most: int) -> _BreadthFirst | _LegByLeg:
        parts = len(path) - 1 if len(path) > 2 and self.single_states else 1
        if path not in self._searches:
            kind = _LegByLeg if parts > 1 else _BreadthFirst
            final = self._final if path[-1] == FINAL else None
            self._searches[path] = kind(self._goals, path, final, self._limits.check)
            self._questions += parts
        search = self._searches[path]
        until = search.work + parts * self._work
        while search.work < until and search.needs_work(most):
            before = search.work
            search.go_on(most, min(CHEAP, self._work))
            self.work += search.work - before
            self._limits.spend((search.work - before) / PER_UNIT.steps)
        return search


def find_tests(board: Board) -> None:
    """A shortest run to each goal that the best chain leaves out and some run covers, from the enumerated states.

    There are as many as the limits for what comes after the search suffice for.
    """
    known, after = board.known, board.limits.after()
    if known.enumerated is None:
        return
    covered = frozenset() if known.chain is None else known.chain.goals
    never = {name for name, reason in known.uncoverable.items() if reason.status in (UNREACHABLE, UNDECIDED)}
    missing = [name for name in known.problem.names if name not in {*covered, *never, *known.seen}]
    distances = ExplicitSubPaths(known.problem, known.enumerated, after, min(WORK, after.unspent * PER_UNIT.steps))
    for name in missing:
        if after.used_up:
            return
        found = distances.least(SubPath((INIT, name), 0, len(known.enumerated.states)))
        _, run = distances.ask((INIT, name), found.at_least) if found.exact else (None, None)
        if run is not None:
            board.offer(run)
