"""The steps of a system with counters as a graph of accelerated transitions, on which no run takes fewer steps.

Where counters are proved to fall into cells (``bmc.invariants.counters``), one node stands for all states that differ
in how far a counter has moved within its cell. A step that only moves a counter is not made in the graph: the node
stays the same, and the value of the counter there **lags** behind its value in the run. Before a step that leaves the
cell the lag is made up for by a **jump**, an arc whose weight is the number of steps that the counter needs for the
distance. A step that copies a counter, or sets it anew, is made under any lag alike, because nothing tells apart the
values of a cell. So for each run there is a path through the graph that covers the same goals and weighs no more. A
jump that the program can make is a sequence of steps of a run.

A step may move a counter and do something else as well, or complete a goal. Such a step is made as it is as long as
fewer than ``kept`` of them were made since the counter was where a cell begins or ends. After that it is made without
moving the counter, so that the number of values stays small. A larger ``kept`` gives paths that are closer to runs, and
more nodes.

The **gap** of a counter is the least number of steps between two that move it; a counter with a gap above 1 is
**slow**. A slow counter lags behind only after ``kept`` values, and then the node says so: the steps up to the next one
that moves the counter weigh nothing there, and the jump weighs one gap for each time that the counter has to move. Two
slow counters may be moved by the same steps, so of those that lag behind at the same time only the first is
**charged**: its jumps alone are weighed by its gap.

A path may stand for a test of more steps than are stored: a few sequences of inputs, each made a number of times. Where
a sequence is made many times, one counter moves each time by the same; everything else is what it was before. That is
looked at where the sequence is made for the first and for the last time: what lies between differs in the value of the
counter only, within one cell, where by the lemma of ``bmc.invariants.counters`` nothing tells its values apart.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import partial

from bmc.evaluation.vectors import column
from bmc.explicit.rows import Rows
from bmc.explicit.scope import Inputs, Scope
from bmc.formulas.unroll import at
from bmc.invariants.counters import Seen
from bmc.records import dataclass
from bmc.system.simulation import Simulator
from bmc.system.transition import Run, TransitionSystem, Valuation
from chaincover.certificate import Acceleration
from chaincover.chain import STORED, LongTest
from chaincover.graph.counter_groups import Counter, Groups, Moves, State, straight
from chaincover.graph.counter_steps import PLACED, Step, Steps
from chaincover.problem import Problem
from properties.goal import Events, Goal
from properties.monitor import Monitor

MOST_NODES = 300_000
"""Nodes of a graph: it takes about a kilobyte for each."""

MOST_EXITS = 2048
"""Values of a cell from which one step may leave it: where there are more, nothing is gained by jumps."""

Lag = tuple[int, int]
"""Which slow counter lags behind and is charged by its gap (-1: none), and which others do (as bits)."""

NO_LAG: Lag = (-1, 0)

OWN = -1
"""Weight of a step that moves the counter that is charged: its jump pays for it and the steps before."""


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

    def run(self, problem: Problem, path: Sequence[Arc], most: int = STORED) -> Run | None:
        """The run along ``path`` from the start, up to the first arc by which it would have more than ``most`` steps;
        None where an arc is none of a run."""
        choices: list[Mapping[str, int]] = []
        for arc in path:
            if arc.moves is None:
                return None
            if len(choices) + arc.weight > most:
                break
            for sequence, count in arc.moves:
                choices += [self.inputs[choice] for choice in sequence] * count
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


class Jumps:
    """Builds the graph for the cells of ``claim``, in whose words it says what is kept, and which counters are slow.
    ``advance`` yields the work done, in operations on values; at the end there is ``graph``, unless it is too large.
    """

    def __init__(self, problem: Problem, scope: Scope, inputs: Inputs, claim: Acceleration) -> None:
        self._problem, self._scope, self._kept = problem, scope, claim.kept
        counters = [(place, var) for place, var in enumerate(scope.system.state) if var.name in claim.cells]
        self._names = [var.name for _, var in counters]
        self._counters = [Counter(place, claim.cells[var.name], var.type.bits) for place, var in counters]
        self._steps = Steps(problem, scope, inputs, self._counters)
        slow = sum(1 << number for number, name in enumerate(self._names) if name in claim.slow)
        self._nodes = _Nodes(self._counters, slow)
        self.graph: JumpGraph | None = None

    @property
    def size(self) -> int:
        """The number of nodes so far."""
        return len(self._nodes.states)

    @property
    def jumped(self) -> set[str]:
        """The counters that some steps move, and do nothing else; the values of others are better walked through."""
        return {self._names[number] for number in self._nodes.jumped}

    @property
    def slow(self) -> tuple[str, ...]:
        """The counters that move at most every few steps."""
        gaps = self._nodes.groups.gaps
        return tuple(name for name, gap in zip(self._names, gaps, strict=True) if gap > 1)

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
                    continue
                exits = 0
                if made.mover < 0:
                    nodes.step(fresh[made.row], made)
                else:
                    exits = nodes.moving(fresh[made.row], made, self._kept)
                yield PLACED * (1 + exits)
        inputs = steps.tried
        rest = [var for var in self._problem.system.inputs if var.name not in inputs.columns]
        spare = {var.name: column([var.plainest] * len(inputs), var.type.bits) for var in rest}
        choices = Rows({**inputs.columns, **spare}, len(inputs))
        here, ends = steps.seen_in(nodes.states)
        arcs = nodes.arcs(here, partial(_end_of, Simulator(self._scope.system), choices))
        yield PLACED * sum(map(len, arcs))
        self.graph = JumpGraph(nodes.states, self._scope.system, choices, arcs, here[0], ends)


def _end_of(simulator: Simulator, inputs: Rows, state: State, choices: Sequence[int]) -> State | None:
    """The state after steps from ``state`` under these inputs; None where one is not allowed."""
    values: Valuation = {var.name: value for var, value in zip(simulator.system.state, state, strict=True)}
    for choice in choices:
        if not simulator.allowed(values, inputs[choice]):
            return None
        values = simulator.step(values, inputs[choice])
    return tuple(values[var.name] for var in simulator.system.state)


@dataclass(slots=True)
class _Node:
    """``kept``: the steps over which the value of each counter was kept; ``found``: what leads from here."""

    kept: tuple[int, ...]
    group: int
    lag: Lag
    found: dict[tuple[int, int, bool], tuple[int, Moves | None]] = field(default_factory=dict)

    def lags(self, number: int) -> bool:
        """Whether it is said of a slow counter that it lags behind."""
        return self.lag[0] == number or bool(self.lag[1] >> number & 1)

    def lag_without(self, gone: int) -> Lag:
        """What still lags behind when the counters ``gone`` (as bits) do not."""
        charged, others = self.lag
        return -1 if charged >= 0 and gone >> charged & 1 else charged, others & ~gone


class _Nodes:
    """The nodes of a graph in the making, and what leads from one to another; ``slow`` are the slow counters, as bits.

    A counter that lags behind does so by what ``groups`` say at most for each step.
    """

    def __init__(self, counters: Sequence[Counter], slow: int) -> None:
        self._counters, self._slow = counters, slow
        self.states: list[State] = []
        self.groups = Groups(counters)
        self.jumped: set[int] = set()
        self._nodes: list[_Node] = []
        self._numbers: dict[tuple[State, Lag], int] = {}
        self._waiting: dict[int, list[int]] = {}
        self._jumps: dict[tuple[int, int, int], int] = {}
        self._pure: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
        self.too_many = False

    def number(self, state: State, kept: tuple[int, ...], lag: Lag = NO_LAG) -> int:
        """The node of ``state``, whose counters were kept over so many steps."""
        known = self._numbers.get((state, lag))
        if known is not None:
            return known
        node = self._numbers[state, lag] = len(self.states)
        self.states.append(state)
        self._nodes.append(_Node(kept, self.groups.number(state), lag))
        self._waiting.setdefault(sum(kept), []).append(node)
        return node

    def next(self, most: int) -> list[int]:
        """At most ``most`` nodes whose steps are to be made, those first that were kept over the fewest steps."""
        least = min(self._waiting, default=None)
        if least is None:
            return []
        queue = self._waiting.pop(least)
        if len(queue) > most:
            self._waiting[least] = queue[most:]
        return queue[:most]

    def step(self, number: int, step: Step, moved: int = -1, left: int = -1) -> None:
        """A step as it is. It moves the counter of number ``moved`` within its cell, or that of ``left`` out of it."""
        node = self._nodes[number]
        gone = step.forgotten | (1 << left if left >= 0 else 0)
        kept = [0 if gone >> n & 1 else steps for n, steps in enumerate(node.kept)]
        if moved >= 0:
            kept[moved] += 1
        target = self.number(step.target, tuple(kept), node.lag_without(gone))
        self._arc(number, target, step.mask, (1, (((step.choice,), 1),) if node.lag == NO_LAG else None))
        if moved < 0:
            self.groups.step(node.group, self._nodes[target].group, ~gone, step.choice)

    def moving(self, node: int, step: Step, most: int) -> int:
        """A step that moves a counter, whose value may be kept over ``most`` of them; the number of values from which
        it leaves the cell."""
        number, counter = step.mover, self._counters[step.mover]
        state, here = self.states[node], self._nodes[node]
        place, lags = counter.place, here.lags(number)
        value = state[place]
        if any(counter.within(value, step.shift)):
            self._within(node, step, most)
        if not lags and not counter.same_cell(value, step.target[place]):
            self.step(node, step, left=number)
        exits = counter.exits(value, step.shift)
        self.too_many |= len(exits) > MOST_EXITS  # no cell is so wide that a step may lead up or down in it
        for last in exits[:MOST_EXITS]:
            if last != value or lags:
                anew = (*here.kept[:number], 0, *here.kept[number + 1 :])
                there = (*state[:place], last, *state[place + 1 :])
                self._jumps[node, number, last] = self.number(there, anew, here.lag_without(1 << number))
        return len(exits[:MOST_EXITS])

    def _within(self, node: int, step: Step, most: int) -> None:
        """A step that moves a counter within its cell, from this or from other values: made as it is, so that the
        value is kept over one step more (``most`` at most), or without moving the counter, which lags behind then."""
        number, counter = step.mover, self._counters[step.mover]
        state, here = self.states[node], self._nodes[node]
        place, lags, slow = counter.place, here.lags(number), bool(self._slow >> number & 1)
        value = state[place]
        up, down = counter.within(value, step.shift)
        lagging = (*step.target[:place], value, *step.target[place + 1 :])
        self.groups.move((here.group, self.groups.number(lagging)), ~step.forgotten, number, step.choice, (up, down))
        if lagging == state and not (up and down):
            self._pure.setdefault((node, number), []).append((up or -down, step.choice, step.inner))
            self.jumped.add(number)
        inside, more = counter.same_cell(value, step.target[place]), bool(step.inner) or lagging != state
        if inside and here.kept[number] < most and not lags and (slow or more):
            self.step(node, step, moved=number)
        elif (inside or lags) if slow else more:
            low, high = counter.bounds(value)
            onward = value == (high if up else low) and not (up and down)
            self._behind(node, lagging, step, int(onward and not slow))

    def _behind(self, number: int, lagging: State, step: Step, weight: int) -> None:
        """A step that is made without moving its counter, which lags behind then."""
        node, mover = self._nodes[number], step.mover
        after_it = tuple(0 if step.forgotten >> n & 1 else steps for n, steps in enumerate(node.kept))
        charged, others = lag = node.lag_without(step.forgotten)
        if self._slow >> mover & 1 and not node.lags(mover):
            lag = (mover, others) if charged < 0 else (charged, others | 1 << mover)
        own = lag[0] == mover  # a gap ends with this step: the steps since the last one have been charged
        self._arc(number, self.number(lagging, after_it, lag), step.inner, (OWN if own else weight, None))

    def arcs(self, here: Sequence[int], end_of: Callable[[State, Sequence[int]], State | None]) -> list[list[Arc]]:
        """All arcs by node; ``here`` are the events in each node, ``end_of`` makes steps."""
        for (node, number, last), target in self._jumps.items():
            way = last - self.states[node][self._counters[number].place]
            run = self._run(node, number, way, end_of) if way and self._nodes[node].lag == NO_LAG else None
            if run is not None:
                self._arc(node, target, run[2], run[:2])
            weight = self._weight(node, number, way)
            if weight is not None and (run is None or run[0] > weight):
                self._arc(node, target, 0, (weight, None))
        return [
            [
                Arc(target, self._charged(node, target, weight), mask | here[target], moves)
                for (target, mask, _), (weight, moves) in node.found.items()
            ]
            for node in self._nodes
        ]

    def _charged(self, node: _Node, target: int, weight: int) -> int:
        """The weight of an arc; while a slow counter lags behind, the steps of a gap are paid for by its jump."""
        charged, after = node.lag[0], self._nodes[target]
        if weight == OWN:
            return 0
        if charged < 0 or after.lag[0] != charged:
            return weight
        return weight + self.groups.due(after.group, charged) - self.groups.due(node.group, charged)

    def _weight(self, number: int, counter: int, way: int) -> int | None:
        """The least steps of a run in which a counter gets ``way`` on; None where it does not lag behind."""
        node = self._nodes[number]
        if self._slow >> counter & 1 and not node.lags(counter):
            return None
        speed = self.groups.speeds.get((node.group, counter), (0, 0))[way < 0]
        if not way or not speed:
            return None if way else 0
        moves = -(-abs(way) // speed)
        if node.lag[0] != counter:
            return moves
        return moves * self.groups.gaps[counter] - self.groups.due(node.group, counter)

    def _run(
        self, node: int, number: int, way: int, end_of: Callable[[State, Sequence[int]], State | None]
    ) -> tuple[int, Moves, int] | None:
        """A run that moves a counter by ``way`` and does nothing else: its length, inputs and events; or None."""
        pure = self._pure.get((node, number), ())
        cycle = None if pure else self.groups.cycle(self._nodes[node].group, number)
        if cycle is None:
            return straight(way, pure)
        state, place = self.states[node], self._counters[number].place
        after = end_of(state, cycle)
        moved = 0 if after is None else after[place] - state[place]
        if after is None or not moved or (*after[:place], state[place], *after[place + 1 :]) != state:
            return None
        self.jumped.add(number)
        if way % moved or way // moved < 0:
            return None
        return way // moved * len(cycle), ((cycle, way // moved),), 0

    def _arc(self, source: int, target: int, mask: int, way: tuple[int, Moves | None]) -> None:
        found, key = self._nodes[source].found, (target, mask, way[1] is not None)
        if key not in found or way[0] < found[key][0]:
            found[key] = way


def long_test(graph: JumpGraph, goal: Goal, path: Sequence[Arc]) -> LongTest | None:
    """The test along ``path`` from the start of ``graph``; None where it is no run, or does not end with ``goal``.

    Of each sequence that is made many times only so many are left as the goal needs: the path leads to one value of a
    cell, and mostly all of them will do.
    """
    simulator, start, parts = Simulator(graph.system), graph.state(0), list[tuple[tuple[Valuation, ...], int]]()
    for arc in path:
        if arc.moves is None:
            return None
        parts += [(tuple(graph.inputs[choice] for choice in sequence), count) for sequence, count in arc.moves]

    def covered(place: int, count: int) -> bool:
        """Whether the goal is covered where the part at ``place`` is made so many times."""
        last = _last(simulator, start, [*parts[:place], (parts[place][0], count), *parts[place + 1 :]])
        return last is not None and Monitor([goal]).ends(last, goal.name, last.length)

    if not parts or not covered(0, parts[0][1]):
        return None
    for place in reversed(range(len(parts))):
        inputs, count = parts[place]
        parts[place] = (inputs, 1 + bisect_left(range(1, count), True, key=partial(covered, place)))
    return LongTest(sum(len(inputs) * count for inputs, count in parts), tuple(parts))


def _last(simulator: Simulator, state: Valuation, parts: Iterable[tuple[Sequence[Valuation], int]]) -> Run | None:
    """The run of the last of ``parts`` when it is made for the last time; None where they are no run from ``state``."""
    made: Run | None = None
    for inputs, count in parts:
        begin = _moved(simulator, state, inputs, count - 1)
        made = None if begin is None else _made(simulator, begin, inputs)
        if made is None:
            return None
        state = made.states[-1]
    return made


def _made(simulator: Simulator, state: Valuation, inputs: Sequence[Valuation]) -> Run | None:
    """The run from ``state`` under ``inputs``; None where a step is not allowed."""
    run = simulator.run(state, inputs)
    allowed = all(simulator.allowed(*each) for each in zip(run.states, run.inputs, strict=False))
    return run if allowed else None


def _moved(simulator: Simulator, state: Valuation, inputs: Sequence[Valuation], times: int) -> Valuation | None:
    """The state after ``inputs`` were made so many times, each of which moves one variable by the same; None where they
    do anything else."""
    once = _made(simulator, state, inputs) if times else None
    if once is None:
        return None if times else state
    after: Mapping[str, int] = once.states[-1]
    changed = [name for name, value in after.items() if value != state[name]]
    if len(changed) > 1:
        return None
    bits = {var.name: var.type.bits for var in simulator.system.state}
    values = {name: state[name] + times * (after[name] - state[name]) for name in changed}
    if any(not 0 <= value < 1 << bits[name] for name, value in values.items()):
        return None
    return {**state, **values}
