"""Goals on enumerated states, in arrays: where each of them can start and end, and which can run at the same time.

A goal has a length of J steps, so its runs are unfolded layer by layer over J steps from all states at once. What a
state or an input means to goals is a class, so that the goals' progression is asked once for each combination of
classes that comes up, and the answers are looked up for whole arrays of steps.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Protocol

import numpy as np
from pysmt.fnode import FNode

from bmc.explicit.product import Classes, classes_of
from bmc.explicit.rows import Steps as GraphSteps
from bmc.explicit.rows import distinct
from bmc.explicit.state_graph import Arrows, StateGraph
from bmc.explicit.vectors import Column, Program
from bmc.records import dataclass
from bmc.system.simulation import Simulator
from bmc.system.transition import Run, TransitionSystem
from chaincover.problem import Problem
from properties.progression import Progression, bits

Check = Callable[[], None]

Count = Callable[[int], None]
"""Is told how many steps were followed, for one goal each."""

BLOCK = 1 << 17
"""Steps of the system that are followed together."""

MOST_STEPS = 100_000_000
"""Steps within the runs of one goal that are kept: one or two gigabytes."""

ASKED = 500
"""Steps that could be followed in the time in which the progression is asked once."""

LEAST_BLOCK = 1000
"""Steps that could be followed in the time that the smallest block takes."""

_SPACE = 1 << 32


class TooManyRuns(Exception):
    """The runs of a goal take more memory than they may."""


def states_in(graph: StateGraph, formula: FNode | None) -> Column:
    """Whether each state satisfies ``formula`` (over plain state symbols; None: all do)."""
    if formula is None:
        return np.ones(len(graph.states), bool)
    (holds,) = Program([formula])(graph.states.columns)
    return np.broadcast_to(holds, (len(graph.states),))


def run_of(system: TransitionSystem, graph: StateGraph, start: int, choices: Sequence[int]) -> Run:
    """The run from a state of ``graph`` by inputs of ``graph``, with all variables of ``system``."""
    simulator, state = Simulator(system), graph.states[start]
    return simulator.run({**simulator.initial(), **state}, [graph.inputs[choice] for choice in choices])


def goal_classes(graph: StateGraph, progression: Progression) -> Classes:
    """The classes of states and inputs that the goals of ``progression`` tell apart."""
    return classes_of(graph, progression.terms, progression.state_class, progression.input_class)


class Watcher(Protocol):
    """Remembers what matters of a run so far."""

    def start(self, state_class: int) -> Sequence[Hashable]:
        """What may be remembered in a state where a run starts; nothing: no run starts there."""

    def advance(self, memory: Hashable, input_class: int, state_class: int) -> Sequence[Hashable]:
        """What may be remembered after a step; nothing: the run is given up."""


@dataclass(frozen=True)
class Steps:
    """Steps between nodes: each leaves the node at ``rows`` of those asked for by ``places`` of the graph's steps."""

    rows: Column
    places: Column
    ends: Column


class Unfolding:
    """Nodes are pairs of a state and a memory of the watcher, each a single number. ``memories`` holds the memories.

    ``followed`` counts the steps of the graph that were followed, for each block ``LEAST_BLOCK`` at least; an answer of
    the watcher counts for ``ASKED``.
    """

    def __init__(self, graph: StateGraph, classes: Classes, watcher: Watcher) -> None:
        self._graph, self._classes, self._watcher = graph, classes, watcher
        self._arrows = Arrows(graph.steps.offsets, graph.steps.nexts)
        self.memories: list[Hashable] = []
        self._numbers: dict[Hashable, int] = {}
        self._answers: dict[int, list[int]] = {}
        self._kinds = int(classes.inputs.max(initial=0)) + 1, int(classes.states.max(initial=0)) + 1
        self.followed = 0

    @staticmethod
    def state_of(nodes: Column) -> Column:
        """The state of each node."""
        return nodes >> 32

    @staticmethod
    def memory_of(nodes: Column) -> Column:
        """The number of each node's memory."""
        return nodes & (_SPACE - 1)

    def starts(self, states: Column) -> Column:
        """The nodes in which runs from ``states`` start."""
        kinds = self._classes.states[states]
        answers = {kind: self._numbered(self._watcher.start(kind)) for kind in dict.fromkeys(kinds.tolist())}
        rows, memories = _looked_up(*np.unique(kinds, return_inverse=True), answers)
        return states[rows].astype(np.int64) << 32 | memories

    def steps(self, nodes: Column) -> Steps:
        """The steps from ``nodes`` that the watcher follows."""
        parts = [(found.rows, found.places, found.ends) for found in self.some_steps(nodes)]
        if not parts:
            nothing = np.zeros(0, np.int64)
            return Steps(nothing, nothing, nothing)
        return Steps(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def some_steps(self, nodes: Column) -> Iterator[Steps]:
        """As ``steps``, in parts of some ``BLOCK`` of steps."""
        return (Steps(*self._block(nodes, first, last)) for first, last in self._blocks(nodes))

    def _blocks(self, nodes: Column) -> Iterator[tuple[int, int]]:
        """Parts of ``nodes`` with some ``BLOCK`` of steps each, as ranges of rows."""
        states = self.state_of(nodes)
        before = np.cumsum(self._arrows.offsets[states + 1] - self._arrows.offsets[states])
        first = 0
        while first < len(nodes):
            done = int(before[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(before, done + BLOCK, "right")))
            yield first, last
            first = last

    def _block(self, nodes: Column, first: int, last: int) -> tuple[Column, Column, Column]:
        part = nodes[first:last]
        places, rows = self._arrows.of(self.state_of(part))
        self.followed += max(LEAST_BLOCK, len(places))
        after = self._graph.steps.nexts[places].astype(np.int64)
        inputs, states = self._classes.inputs[self._graph.steps.choices[places]], self._classes.states[after]
        kinds = (self.memory_of(part)[rows] * self._kinds[0] + inputs) * self._kinds[1] + states
        different, place = np.unique(kinds, return_inverse=True)
        self._ask(different)
        chosen, memories = _looked_up(different, place, self._answers)
        return rows[chosen] + first, places[chosen], after[chosen] << 32 | memories

    def _ask(self, kinds: Column) -> None:
        for kind in kinds.tolist():
            if kind not in self._answers:
                rest, state_class = divmod(kind, self._kinds[1])
                memory, input_class = divmod(rest, self._kinds[0])
                found = self._watcher.advance(self.memories[memory], input_class, state_class)
                self._answers[kind] = self._numbered(found)
                self.followed += ASKED

    def _numbered(self, memories: Sequence[Hashable]) -> list[int]:
        for memory in memories:
            if memory not in self._numbers:
                self._numbers[memory] = len(self.memories)
                self.memories.append(memory)
        return [self._numbers[memory] for memory in memories]


def _looked_up(kinds: Column, place: Column, answers: dict[int, list[int]]) -> tuple[Column, Column]:
    """The rows of ``place``, which are rows of ``kinds``, as often as there are answers, with the answer."""
    each = [answers[kind] for kind in kinds.tolist()]
    flat = np.array([number for answer in each for number in answer], np.int64)
    counts = np.array([len(answer) for answer in each], np.int64)
    found, rows = Arrows(np.concatenate([[0], np.cumsum(counts)]), flat).of(place)
    return rows, flat[found]


@dataclass(frozen=True)
class GoalRuns:
    """The runs of one goal from reachable states: the states in which they can ``start`` and those in which they can
    ``end``, rising.

    ``layers`` holds for each number of steps, up to the goal's length, (state, progress) of the runs that reach the
    goal's end, as nodes; ``steps`` the steps from each layer to the next, where ``ends`` are rows of that one.
    """

    starts: Column
    ends: Column
    layers: tuple[Column, ...]
    steps: tuple[Steps, ...]


class _OneGoal:
    """Watches a run of one goal from its start. The memory is its progress, None once it is completed."""

    def __init__(self, progression: Progression, goal: int) -> None:
        self._progression, self._goal = progression, goal

    def start(self, state_class: int) -> Sequence[Hashable]:
        arrival = self._progression.begin(self._goal, state_class)
        return [None] if arrival.completed else list(bits(arrival.pending))

    def advance(self, memory: Hashable, input_class: int, state_class: int) -> Sequence[Hashable]:
        assert isinstance(memory, int)
        arrival = self._progression.advance_one(memory, input_class, state_class)
        return [None] if arrival.completed else list(bits(arrival.pending))


class EnumeratedGoals:
    """The goals of ``problem`` on the states of ``graph``, which enumerates them for these goals or more.

    ``check`` is called now and then; what it raises ends a search. What was found is kept, the steps within the runs of
    goals as long as there are no more than ``MOST_STEPS`` of them. ``followed`` counts as that of ``Unfolding``, and at
    first each state and step of ``graph``, of which the classes are found.
    """

    def __init__(self, problem: Problem, graph: StateGraph, check: Check = lambda: None) -> None:
        self.problem, self.check = problem, check
        self.progression = problem.progression
        self.classes = goal_classes(graph, self.progression)
        self.graph = _without_repeated_steps(graph, self.classes.inputs)
        self._alive: dict[int, dict[int, Column]] = {}
        self._ends: dict[int, tuple[Column, Column]] = {}
        self._near: dict[int, dict[int, int]] = {}
        self._runs: dict[int, GoalRuns] = {}
        self._kept, self.followed = 0, len(graph.states) + graph.steps.total

    def classes_for(self, goals: Sequence[int]) -> Classes:
        """The classes that the goals of these numbers tell apart; each is the first of those that look alike."""
        columns = []
        for kind, place in ((self.classes.states, 0), (self.classes.inputs, 1)):
            looks = [self.progression.alike(goal)[place] for goal in goals]
            number = len(looks[0]) if looks else 0
            first = np.zeros(max(number, 1), np.int64)
            if number:
                table = np.array(looks, np.int64)
                _, rows, group = np.unique(table, axis=1, return_index=True, return_inverse=True)
                first = rows[group.reshape(-1)]
            first = first.astype(np.min_scalar_type(number))
            columns.append(first[kind] if number else np.zeros(len(kind), np.uint8))
        return Classes(*columns)

    def ends_of(self, goal: int) -> tuple[Column, Column]:
        """The states in which runs of goal number ``goal`` can start, and those in which they can end."""
        if goal not in self._ends:
            self.runs_of(goal)
        return self._ends[goal]

    def runs_of(self, goal: int) -> GoalRuns:
        """The runs of goal number ``goal``. TooManyRuns if they take too much memory."""
        if goal in self._runs:
            return self._runs[goal]
        runs = self._unfolded(goal)
        size = sum(len(steps.ends) for steps in runs.steps)
        if self._kept + size <= MOST_STEPS:
            self._runs[goal] = runs
            self._kept += size
        return runs

    def _unfolded(self, goal: int) -> GoalRuns:
        unfolding = Unfolding(self.graph, self.classes_for([goal]), _OneGoal(self.progression, goal))
        layers = [unfolding.starts(np.arange(len(self.graph.states)))]
        steps: list[Steps] = []
        for _ in range(self.progression.goals[goal].length):
            self.check()
            found = unfolding.steps(layers[-1])
            if len(found.ends) + sum(len(each.ends) for each in steps) > MOST_STEPS:
                raise TooManyRuns
            following, rows = np.unique(found.ends, return_inverse=True)
            steps.append(Steps(found.rows, found.places, rows))
            layers.append(following)
        self.followed += unfolding.followed
        runs = _completed(layers, steps)
        self._ends[goal] = runs.starts, runs.ends
        self._alive[goal] = self._by_progress(runs, unfolding.memories)
        return runs

    def can_complete(self, progress: int, states: Column) -> bool:
        """Whether what has progressed so far can be completed from one of ``states``."""
        goal = self.progression.progress[progress].goal
        if goal not in self._alive:
            self.runs_of(goal)
        good = self._alive[goal].get(progress)
        return good is not None and bool(np.isin(states, good, assume_unique=True).any())

    def _by_progress(self, runs: GoalRuns, memories: Sequence[Hashable]) -> dict[int, Column]:
        """For each progress of a goal the states, rising, from which the goal can be completed."""
        found: dict[int, Column] = {}
        for layer in runs.layers:
            numbers = Unfolding.memory_of(layer)
            for number in distinct(numbers).tolist():
                progress = memories[number]
                if isinstance(progress, int):
                    found[progress] = distinct(Unfolding.state_of(layer[numbers == number]).astype(np.int32))
        return found

    def together_with(self, goal: int) -> dict[int, int]:
        """The other goals that can start before goal number ``goal``, which starts first, has ended.

        Each with the least distance between the starts.
        """
        if goal not in self._near:
            self._near[goal] = self._together(goal) if self.progression.goals[goal].length else {}
        return self._near[goal]

    def _together(self, goal: int) -> dict[int, int]:
        runs, length = self.runs_of(goal), self.progression.goals[goal].length
        near: dict[int, int] = {}
        watch = _Others(self, near)
        rows, memories = np.arange(len(runs.layers[0])), watch.begin(Unfolding.state_of(runs.layers[0]))
        for step, steps in enumerate(runs.steps, 1):
            self.check()
            rows, memories = self._along(steps, rows, memories, partial(watch.advance, step=step, begin=step < length))
        watch.finish(Unfolding.state_of(runs.layers[-1])[rows], memories, length)
        near.pop(goal, None)
        return near

    def _along(
        self, steps: Steps, rows: Column, memories: Column, advance: Callable[[Column, Column], Column]
    ) -> tuple[Column, Column]:
        """The rows of the next layer and the memories there, for those at ``rows`` of this layer.

        ``advance`` takes memories over places of steps.
        """
        layer = Arrows(np.searchsorted(steps.rows, np.arange(int(rows.max(initial=-1)) + 2)), steps.ends)
        found = []
        for first in range(0, len(rows), BLOCK):
            places, row = layer.of(rows[first : first + BLOCK])
            self.followed += len(places)
            taken = steps.places[places]
            after = advance(memories[first + row], taken)
            found.append(distinct(steps.ends[places].astype(np.int64) << 32 | after))
        nodes = distinct(np.concatenate(found)) if found else np.zeros(0, np.int64)
        return nodes >> 32, nodes & (_SPACE - 1)


class _Others:
    """All goals that begin while one of them runs, on its runs; the memory is what of them is pending, numbered.

    ``near`` gets the least number of steps after the start of that one at which each goal can start.
    """

    def __init__(self, goals: EnumeratedGoals, near: dict[int, int]) -> None:
        self._goals, self._near = goals, near
        self._progression, self._classes = goals.progression, goals.classes
        self._kinds = int(self._classes.inputs.max(initial=0)) + 1, int(self._classes.states.max(initial=0)) + 1
        self._pending: list[int] = []
        self._numbers: dict[int, int] = {}
        self._answers: dict[tuple[int, bool], tuple[int, int]] = {}

    def begin(self, states: Column) -> Column:
        """The memories in ``states``, in which the one goal starts."""
        kinds, place = np.unique(self._classes.states[states], return_inverse=True)
        arrivals = [self._progression.begin_all(kind) for kind in kinds.tolist()]
        for arrival in arrivals:
            self._note(arrival.completed, 0)
        return np.array([self._number(arrival.pending) for arrival in arrivals], np.int64)[place]

    def advance(self, memories: Column, taken: Column, step: int, begin: bool) -> Column:
        """The memories after the steps ``taken`` of the graph; ``begin``: further goals begin there."""
        graph = self._goals.graph
        inputs, states = (
            self._classes.inputs[graph.steps.choices[taken]],
            self._classes.states[graph.steps.nexts[taken]],
        )
        kinds = (memories * self._kinds[0] + inputs) * self._kinds[1] + states
        different, place = np.unique(kinds, return_inverse=True)
        after, completed = [], 0
        for kind in different.tolist():
            number, done = self._answer(kind, begin)
            after.append(number)
            completed |= done
        self._note(completed, step)
        return np.array(after, np.int64)[place]

    def finish(self, states: Column, memories: Column, step: int) -> None:
        """The one goal ends in ``states``, after which its run goes on as the pending goals need."""
        for number in distinct(memories).tolist():
            here = distinct(states[memories == number])
            for progress in bits(self._pending[number]):
                it = self._progression.progress[progress]
                distance = step - it.age
                if distance < self._near.get(it.goal, step) and self._goals.can_complete(progress, here):
                    self._near[it.goal] = distance

    def _answer(self, kind: int, begin: bool) -> tuple[int, int]:
        if (kind, begin) not in self._answers:
            rest, state_class = divmod(kind, self._kinds[1])
            number, input_class = divmod(rest, self._kinds[0])
            arrival = self._progression.advance(self._pending[number], input_class, state_class)
            pending, completed = arrival.pending, arrival.completed
            if begin:
                begun = self._progression.begin_all(state_class)
                pending, completed = pending | begun.pending, completed | begun.completed
            self._answers[kind, begin] = self._number(pending), completed
            self._goals.followed += ASKED
        return self._answers[kind, begin]

    def _number(self, pending: int) -> int:
        if pending not in self._numbers:
            self._numbers[pending] = len(self._pending)
            self._pending.append(pending)
        return self._numbers[pending]

    def _note(self, completed: int, step: int) -> None:
        for goal in bits(completed):
            distance = step - self._progression.goals[goal].length
            self._near[goal] = min(distance, self._near.get(goal, distance))


def _without_repeated_steps(graph: StateGraph, input_classes: Column) -> StateGraph:
    """``graph`` with the first of the steps between two states whose inputs are of one class; itself if that is all.

    Some states at a time: sorting all steps at once takes many times the memory that they do.
    """
    steps, states = graph.steps, np.int64(len(graph.states))
    different, sort = np.unique(input_classes, return_inverse=True)
    kinds = max(1, len(different))
    if len(graph.states) ** 2 * kinds >= 1 << 63:
        return graph
    kept, counts = list[Column](), list[Column]()
    for first, last in blocks(steps.offsets):
        here = slice(int(steps.offsets[first]), int(steps.offsets[last]))
        rows = np.repeat(np.arange(last - first), np.diff(steps.offsets[first : last + 1]))
        _, fresh = np.unique((rows * states + steps.nexts[here]) * kinds + sort[steps.choices[here]], return_index=True)
        fresh.sort()
        kept.append(fresh + here.start)
        counts.append(np.bincount(rows[fresh], minlength=last - first))
    if sum(map(len, kept)) == steps.total:
        return graph
    offsets, chosen = np.concatenate([[0], np.cumsum(np.concatenate(counts))]), np.concatenate(kept)
    return replace(graph, steps=GraphSteps(offsets, steps.choices[chosen], steps.nexts[chosen]))


BLOCK = 1 << 17
"""Steps that are looked at together."""


def blocks(offsets: Column) -> list[tuple[int, int]]:
    """Ranges of states with some ``BLOCK`` of steps each, but one state at least."""
    cuts, first = [0], 0
    while first < len(offsets) - 1:
        first = max(first + 1, int(np.searchsorted(offsets, offsets[first] + BLOCK, "right")) - 1)
        cuts.append(first)
    return list(pairwise(cuts))


def _completed(layers: Sequence[Column], steps: Sequence[Steps]) -> GoalRuns:
    """The part of ``layers`` and ``steps`` that leads to the last layer."""
    good = np.ones(len(layers[-1]), bool)
    kept_layers, kept_steps = [layers[-1]], list[Steps]()
    for layer, found in zip(reversed(layers[:-1]), reversed(steps), strict=True):
        number = np.cumsum(good) - 1
        chosen = good[found.ends]
        here = np.zeros(len(layer), bool)
        here[found.rows[chosen]] = True
        kept_layers.append(layer[here])
        before = np.cumsum(here) - 1
        kept_steps.append(Steps(before[found.rows[chosen]], found.places[chosen], number[found.ends[chosen]]))
        good = here
    first, last = (distinct(Unfolding.state_of(layer)) for layer in (kept_layers[-1], kept_layers[0]))
    return GoalRuns(first, last, tuple(reversed(kept_layers)), tuple(reversed(kept_steps)))
