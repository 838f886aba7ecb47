"""The steps of a system with counters, in jumps: a graph on which no run takes fewer steps than in the system.

Where counters are proved to fall into cells (``bmc.invariants.counters``), a node is a state that stands for those that
differ from it by how far a counter has moved within its cell. It lags behind them: a step that only moves a counter is
not made at once, and its node stays where it is. The lag is made up for by a jump, whose weight is the number of steps
that the counter needs for it, where it matters: before a step that leaves the cell. What takes along a counter as it
is, or sets it anew, is done under any lag alike, because nothing within a cell is told apart. So for every run there
is a path through the graph that sees the same and weighs no more, and the jumps that a run can make are steps of a run.

A step that moves a counter and does something else as well (or completes a goal) is made as it is, a few times
(``kept``) since the counter was where cells begin or end; after that it is done without moving, for nothing, so that
values do not spread. The more are kept, the closer the paths are to runs, and the more nodes there are.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

import numpy as np
from pysmt.shortcuts import TRUE

from bmc.explicit.input_classes import plainest
from bmc.explicit.rows import Rows, first_of_each
from bmc.explicit.scope import FoundSteps, Inputs, Scope
from bmc.explicit.steps import BLOCK, EveryInput
from bmc.explicit.vectors import Column, Program, column
from bmc.formulas.unroll import NEXT, at
from bmc.invariants.counters import Cells, Seen
from bmc.records import dataclass
from bmc.system.simulation import Simulator
from bmc.system.transition import Run, TransitionSystem, Valuation
from chaincover.problem import Problem
from properties.goal import Events

MOST_EVENTS = 62
"""Events that paths are asked for; of more, the first ones."""

MOST_NODES = 300_000
"""Nodes of a graph: it takes about a kilobyte for each."""

MOST_EXITS = 2048
"""Values of a cell from which one step may leave it: where there are more, nothing is gained by jumps."""

State = tuple[int, ...]
Moves = tuple[tuple[int, int], ...]
"""Inputs by their numbers, each with the number of steps that it is kept."""


@dataclass(frozen=True, slots=True)
class Arc:
    """From node to node in ``weight`` steps, with the events of ``mask`` on the way or on arrival.

    ``moves`` are the inputs of the run that it is; None where it is none.
    """

    target: int
    weight: int
    mask: int
    moves: Moves | None


@dataclass(frozen=True)
class JumpGraph:
    """``arcs`` by node; node 0 is the start, where the events ``begun`` happen. ``ends`` marks where a run may end.
    ``states`` are on the variables of ``system``, the part that matters."""

    states: Sequence[State]
    system: TransitionSystem
    inputs: Rows
    arcs: Sequence[Sequence[Arc]]
    begun: int
    ends: Sequence[bool]

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(self.states)

    def state(self, node: int) -> Valuation:
        """The state of a node."""
        return {var.name: value for var, value in zip(self.system.state, self.states[node], strict=True)}

    def run(self, problem: Problem, path: Sequence[Arc]) -> Run | None:
        """The run along ``path`` from the start; None where an arc is none of a run."""
        choices: list[Mapping[str, int]] = []
        for arc in path:
            if arc.moves is None:
                return None
            for choice, count in arc.moves:
                choices += [self.inputs[choice]] * count
        simulator = Simulator(problem.system)
        return simulator.run(simulator.initial(), choices)


def seen_by(problem: Problem) -> Seen:
    """What the lemma has to speak of: all events of goals, and where a run may end."""
    events = Events.of(problem.goals, problem.system)
    ends = [] if problem.final is None else [problem.final]
    known = [fact.formula for fact in problem.system.invariants if fact.proved]
    return Seen((*events.states, *ends), events.steps, known)


def scope_of(problem: Problem) -> Scope:
    """The part of the system that matters to the goals and the end."""
    ends = [] if problem.final is None else [at(problem.final, 0)]
    return Scope(problem.system, [*(goal.antecedent for goal in problem.goals), *ends])


@dataclass(frozen=True, slots=True)
class _Step:
    """A step from the state number ``row``; ``forgotten``: bits of the counters that are set anew, or have one value in
    their cell. It adds ``shift`` to counter ``mover`` (-1: to none); ``inner`` are its events within the cell."""

    row: int
    choice: int
    target: State
    mask: int
    forgotten: int
    mover: int
    shift: int
    inner: int


@dataclass(frozen=True)
class _Movement:
    """For each step the number of the counter that it moves (-1: none), by how much, and which it sets anew (as bits).
    ``samples`` has for each counter a value of its cell from which it is moved within the cell, if there is one."""

    mover: Column
    shift: Column
    forgotten: Column
    samples: Mapping[str, Column]


class Jumps:
    """Builds the graph for ``cells``; a counter's value is ``kept`` over so many steps that do more than move it.
    ``advance`` yields the work done, in operations on values; at the end there is ``graph``, unless it is too large.
    """

    def __init__(self, problem: Problem, scope: Scope, inputs: Inputs, cells: Cells, kept: int) -> None:
        self._problem, self._scope, self._kept = problem, scope, kept
        counters = [(place, var) for place, var in enumerate(scope.system.state) if var.name in cells.starts]
        self._names = [var.name for _, var in counters]
        self._counters = [_Counter(place, cells.starts[var.name], var.type.bits) for place, var in counters]
        self._steps = _Steps(problem, scope, inputs, self._counters)
        self._nodes = _Nodes(self._counters)
        self.graph: JumpGraph | None = None

    @property
    def jumped(self) -> set[str]:
        """The counters that some step moves and does nothing else; the values of others are better walked through."""
        return {self._names[number] for number in self._nodes.jumped}

    def advance(self) -> Iterator[int]:
        """Build the graph; yields the work done."""
        nodes, steps, begin = self._nodes, self._steps, Simulator(self._scope.system).initial()
        nodes.number(tuple(begin[var.name] for var in self._scope.system.state), (0,) * len(self._counters))
        while fresh := nodes.next(steps.together):
            if len(nodes.states) > MOST_NODES or nodes.too_many:
                return
            for made in steps.of([nodes.states[node] for node in fresh]):
                if isinstance(made, int):
                    yield made
                elif made.mover < 0:
                    nodes.step(fresh[made.row], made)
                else:
                    nodes.moving(fresh[made.row], made, self._kept)
        here, ends = steps.seen_in(nodes.states)
        arcs = nodes.arcs(here)
        yield sum(map(len, arcs))
        inputs = steps.tried
        rest = [var for var in self._problem.system.inputs if var.name not in inputs.columns]
        spare = {var.name: column([plainest(var)] * len(inputs), var.type.bits) for var in rest}
        choices = Rows({**inputs.columns, **spare}, len(inputs))
        self.graph = JumpGraph(nodes.states, self._scope.system, choices, arcs, here[0], ends)


@dataclass(frozen=True)
class _Counter:
    """A variable of ``bits`` bits at a ``place`` of a state, with the first values of its cells."""

    place: int
    starts: Sequence[int]
    bits: int

    def bounds(self, value: int) -> tuple[int, int]:
        """The first and the last value of the cell of ``value``."""
        cell = bisect_right(self.starts, value)
        return self.starts[cell - 1], (self.starts[cell] if cell < len(self.starts) else 1 << self.bits) - 1

    def all_bounds(self, values: Column) -> tuple[Column, Column]:
        """The same for many values."""
        starts = np.array(self.starts, np.int64)
        cell = np.searchsorted(starts, values, "right") - 1
        return starts[cell], np.append(starts[1:], 1 << self.bits)[cell] - 1


class _Steps:
    """Makes steps from many states at once, under every combination of inputs; ``tried`` has these by number."""

    def __init__(self, problem: Problem, scope: Scope, inputs: Inputs, counters: Sequence[_Counter]) -> None:
        self._variables, self._counters = scope.system.state, counters
        self._names = [var.name for var in self._variables]
        assert inputs.every is not None  # inputs of one outcome here may have different ones where a counter has moved
        self.tried, self._every = inputs.every, EveryInput(scope, inputs)
        self._looks = _Looks(problem, self._names)
        self._nexts = Program([var.next for var in self._variables])

    @property
    def together(self) -> int:
        """States from which steps are made at once."""
        return max(1, BLOCK // self._every.size)

    def seen_in(self, states: Sequence[State]) -> tuple[list[int], list[bool]]:
        """For each state its events, and whether a run may end there."""
        return self._looks.at(self._columns(states), len(states))

    def of(self, states: Sequence[State]) -> Iterator[int | _Step]:
        """All different steps from ``states``, and the work done."""
        columns = self._columns(states)
        for found in self._found(columns, len(states)):
            if isinstance(found, int):
                yield found
                continue
            yield 3 * self._nexts.size * len(found.row)
            if len(found.row):
                yield from self._told(columns, found)

    def _columns(self, states: Sequence[State]) -> dict[str, Column]:
        rows = list(zip(*states, strict=True))
        return {var.name: column(rows[place], var.type.bits) for place, var in enumerate(self._variables)}

    def _found(self, columns: Mapping[str, Column], count: int) -> Iterator[int | FoundSteps]:
        """The work done, and at last all steps of ``count`` states."""
        spent, row, choice, nexts = self._every.steps(columns, count, list)
        yield spent
        yield FoundSteps(row, choice, nexts, {}, row)

    def _told(self, columns: Mapping[str, Column], found: FoundSteps) -> Iterator[_Step]:
        row, size = found.row, len(found.row)
        nexts = [np.broadcast_to(part, (size,)) for part in found.nexts]
        given = {name: part[found.choice] for name, part in self.tried.columns.items()}
        here = {name: part[row] for name, part in columns.items()}
        moves = self._movement(here, given, nexts)
        sample = {**here, **moves.samples}
        after_sample = [np.broadcast_to(part, (size,)) for part in self._nexts({**sample, **given})]
        mask, inner = self._looks.on({**here, **given}, nexts), self._looks.on({**sample, **given}, after_sample)
        told = mask, moves.forgotten, moves.mover, moves.shift, inner
        chosen = first_of_each([key.astype(np.uint64) for key in (row, *nexts, *told)], np.ones(size, bool))
        targets = zip(*(list(map(int, part[chosen].tolist())) for part in nexts), strict=True)
        rest = zip(*(part[chosen].tolist() for part in (row, found.choice, *told)), strict=True)
        for target, (source, choice, *others) in zip(targets, rest, strict=True):
            yield _Step(source, choice, target, *others)

    def _movement(self, here: Mapping[str, Column], given: Mapping[str, Column], nexts: Sequence[Column]) -> _Movement:
        """What steps do with counters, as steps from other values of the same cells tell."""
        size, names = len(nexts[0]), self._names
        beside = {**here}
        for counter in self._counters:
            name = names[counter.place]
            value = here[name].astype(np.int64)
            low, high = counter.all_bounds(value)
            other = np.where(high == low, value, np.where(value < high, value + 1, value - 1))
            beside[name] = column(other, counter.bits)
        there = self._nexts({**beside, **given})
        mover, shift, forgotten = np.full(size, -1), np.zeros(size, np.int64), np.zeros(size, np.int64)
        samples = {}
        for number, counter in enumerate(self._counters):
            value, following = here[names[counter.place]].astype(np.int64), nexts[counter.place]
            low, high = counter.all_bounds(value)
            alike = (np.broadcast_to(there[counter.place], (size,)) == following) | (low == high)
            delta = (following.astype(np.int64) - value) % (1 << counter.bits)
            moving = ~alike & (delta != 0)
            mover[moving], shift[moving] = number, delta[moving]
            forgotten |= alike.astype(np.int64) << number
            back = (1 << counter.bits) - delta
            up, down = moving & (delta <= high - low), moving & (back <= high - low)
            sample = np.where(up & (value + delta > high), high - delta, value)
            sample = np.where(~up & down & (value - back < low), low + back, sample)
            samples[names[counter.place]] = column(sample, counter.bits)
        return _Movement(mover, shift, forgotten, samples)


class _Looks:
    """Which events happen in states and steps, as bits."""

    def __init__(self, problem: Problem, names: Sequence[str]) -> None:
        events = Events.of(problem.goals, problem.system)
        self._names = names
        self._first = min(len(events.states), MOST_EVENTS)
        self._states = Program([*events.states[: self._first], problem.final or TRUE()])
        self._steps = Program(events.steps[: MOST_EVENTS - self._first])

    def at(self, columns: Mapping[str, Column], size: int) -> tuple[list[int], list[bool]]:
        """For each state its events, and whether a run may end there."""
        *values, ends = self._states(columns)
        return [int(mask) for mask in _bits(values, size, 0).tolist()], np.broadcast_to(ends, (size,)).tolist()

    def on(self, values: Mapping[str, Column], nexts: Sequence[Column]) -> Column:
        """For each step its events."""
        later = {NEXT + name: part for name, part in zip(self._names, nexts, strict=True)}
        return _bits(self._steps({**values, **later}), len(nexts[0]), self._first)


def _bits(values: Sequence[Column], size: int, first: int) -> Column:
    found = np.zeros(size, np.uint64)
    for number, value in enumerate(values):
        found |= np.broadcast_to(value, (size,)).astype(np.uint64) << np.uint64(first + number)
    return found


@dataclass(slots=True)
class _Node:
    """``kept``: the steps over which the value of each counter was kept; ``found``: what leads from here."""

    kept: tuple[int, ...]
    group: int
    found: dict[tuple[int, int, bool], tuple[int, Moves | None]] = field(default_factory=dict)


class _Nodes:
    """The nodes of a graph in the making, and what leads from one to another.

    Nodes are of one group where they differ in counters within cells only; in each group a counter lags behind by what
    ``speeds`` says at most for each step: up, and down.
    """

    def __init__(self, counters: Sequence[_Counter]) -> None:
        self._counters = counters
        self.states: list[State] = []
        self._nodes: list[_Node] = []
        self._numbers: dict[State, int] = {}
        self._waiting: dict[int, list[int]] = {}
        self._groups: dict[State, int] = {}
        self._jumps: dict[tuple[int, int, int], int] = {}
        self._pure: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
        self._speeds: dict[tuple[int, int], list[int]] = {}
        self._carried: set[tuple[int, int, int]] = set()
        self.too_many = False

    @property
    def jumped(self) -> set[int]:
        """The counters, by number, that some step moves and does nothing else."""
        return {number for _, number in self._pure}

    def number(self, state: State, kept: tuple[int, ...]) -> int:
        """The node of ``state``, whose counters were kept over so many steps."""
        known = self._numbers.get(state)
        if known is not None:
            return known
        node = self._numbers[state] = len(self.states)
        self.states.append(state)
        self._nodes.append(_Node(kept, self._group(state)))
        self._waiting.setdefault(sum(kept), []).append(node)
        return node

    def _group(self, state: State) -> int:
        key = list(state)
        for counter in self._counters:
            key[counter.place] = counter.bounds(state[counter.place])[0]
        return self._groups.setdefault(tuple(key), len(self._groups))

    def next(self, most: int) -> list[int]:
        """At most ``most`` nodes whose steps are to be made, those first that were kept over the fewest steps."""
        least = min(self._waiting, default=None)
        if least is None:
            return []
        queue = self._waiting.pop(least)
        if len(queue) > most:
            self._waiting[least] = queue[most:]
        return queue[:most]

    def step(self, node: int, step: _Step, moved: int = -1, left: int = -1) -> None:
        """A step as it is. It moves the counter of number ``moved`` within its cell, or that of ``left`` out of it."""
        before = self._nodes[node].kept
        kept = [0 if step.forgotten >> n & 1 or n == left else steps for n, steps in enumerate(before)]
        if moved >= 0:
            kept[moved] += 1
        target = self.number(step.target, tuple(kept))
        self._arc(node, target, step.mask, (1, ((step.choice, 1),)))
        self._carry(node, step, self._nodes[target].group, left)

    def moving(self, node: int, step: _Step, most: int) -> None:
        """A step that moves a counter, whose value may be kept over ``most`` of them."""
        number, shift, inner, counter = step.mover, step.shift, step.inner, self._counters[step.mover]
        place, state, kept = counter.place, self.states[node], self._nodes[node].kept
        value, back = state[place], (1 << counter.bits) - shift
        low, high = counter.bounds(value)
        up, down = shift if shift <= high - low else 0, back if back <= high - low else 0
        inside = low <= step.target[place] <= high
        if up or down:
            lagging = (*step.target[:place], value, *step.target[place + 1 :])
            group = self._group(lagging)
            speeds = self._speeds.setdefault((group, number), [0, 0])
            speeds[:] = max(speeds[0], up), max(speeds[1], down)
            self._carry(node, step, group, -1)
            if lagging == state and not (up and down):
                self._pure.setdefault((node, number), []).append((up or -down, step.choice, inner))
            if inside and kept[number] < most and (inner or lagging != state):
                self.step(node, step, moved=number)
            elif inner or lagging != state:
                onward = value == (high if up else low) and not (up and down)
                after_it = tuple(0 if step.forgotten >> n & 1 else steps for n, steps in enumerate(kept))
                self._arc(node, self.number(lagging, after_it), inner, (int(onward), None))
        if not inside:
            self.step(node, step, left=number)
        first, end = (high - up + 1, high + 1) if up else (low, low + down if down else high + 1)
        self.too_many |= end - first > MOST_EXITS  # no cell is so wide that a step may lead up or down in it
        for last in range(first, min(end, first + MOST_EXITS)):
            if last != value:
                anew = (*kept[:number], 0, *kept[number + 1 :])
                target = self.number((*state[:place], last, *state[place + 1 :]), anew)
                self._jumps[node, number, last] = target

    def arcs(self, here: Sequence[int]) -> list[list[Arc]]:
        """All arcs by node; ``here`` are the events in each node."""
        self._spread()
        for (node, number, last), target in self._jumps.items():
            way = last - self.states[node][self._counters[number].place]
            speed = self._speeds.get((self._nodes[node].group, number), [0, 0])[way < 0]
            if not speed:
                continue
            weight, moves, mask = -(-abs(way) // speed), None, 0
            run = _moves(way, self._pure.get((node, number), ()))
            if run is not None:
                steps, moves, mask = run
                self._arc(node, target, mask, (steps, moves))
            if run is None or run[0] > weight:
                self._arc(node, target, 0, (weight, None))
        return [
            [Arc(target, weight, mask | here[target], moves) for (target, mask, _), (weight, moves) in found.items()]
            for found in (node.found for node in self._nodes)
        ]

    def _spread(self) -> None:
        """A counter that lags behind does so by its greatest speed so far, until it is set anew."""
        after_it: dict[tuple[int, int], list[int]] = {}
        for group, following, number in self._carried:
            after_it.setdefault((group, number), []).append(following)
        todo = [*self._speeds]
        while todo:
            group, number = todo.pop()
            speeds = self._speeds[group, number]
            for following in after_it.get((group, number), ()):
                there = self._speeds.setdefault((following, number), [0, 0])
                if there[0] < speeds[0] or there[1] < speeds[1]:
                    there[:] = max(there[0], speeds[0]), max(there[1], speeds[1])
                    todo.append((following, number))

    def _carry(self, node: int, step: _Step, group: int, left: int) -> None:
        """Counters that the step does not set anew may lag behind in ``group`` too."""
        source = self._nodes[node].group
        for number in range(len(self._counters)):
            if source != group and number != left and not step.forgotten >> number & 1:
                self._carried.add((source, group, number))

    def _arc(self, source: int, target: int, mask: int, way: tuple[int, Moves | None]) -> None:
        found, key = self._nodes[source].found, (target, mask, way[1] is not None)
        if key not in found or way[0] < found[key][0]:
            found[key] = way


def _moves(way: int, steps: Sequence[tuple[int, int, int]]) -> tuple[int, Moves, int] | None:
    """A run that moves a counter by ``way``: its length, its inputs, and the events on it; None if none is found.

    ``steps``: by how much each step moves the counter, its input, and its events.
    """
    far, sign = abs(way), 1 if way > 0 else -1
    fitting: dict[tuple[int, int], int] = {}
    for moved, choice, mask in steps:
        if moved * sign > 0:
            fitting.setdefault((abs(moved), mask), choice)
    if not fitting:
        return None
    most = max(moved for moved, _ in fitting)
    count, rest = divmod(far, most)
    last = [(choice, mask) for (moved, mask), choice in fitting.items() if moved == rest][:1]
    if rest and not last:
        return None
    first = [(choice, mask) for (moved, mask), choice in sorted(fitting.items(), reverse=True) if moved == most]
    used = first[:count]
    moves = [(choice, 1) for choice, _ in used[1:] + last]
    if used:
        moves.insert(0, (used[0][0], count - len(used) + 1))
    events = 0
    for _, mask in [*used, *last]:
        events |= mask
    return count + bool(rest), tuple(moves), events
