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
from dataclasses import dataclass

import numpy as np
from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE

from bmc.explicit.input_classes import allowed_ranges
from bmc.explicit.rows import Rows, first_of_each
from bmc.explicit.scope import FoundSteps, Inputs, Scope
from bmc.explicit.steps import BLOCK, ByCases, EveryInput
from bmc.explicit.vectors import Column, Program, column
from bmc.formulas.unroll import at, plain, unframed, with_terms
from bmc.invariants.counters import NEXT, Cells, Seen
from bmc.system.simulation import Simulator
from bmc.system.transition import InputVariable, Run, TransitionSystem, Valuation, conjunction, symbols_of
from chaincover.problem import Problem

MOST_EVENTS = 62
"""Events that paths are asked for; of more, the first ones."""

MOST_NODES = 300_000
"""Nodes of a graph: it takes about a kilobyte for each."""

State = tuple[int, ...]
Moves = tuple[tuple[int, int], ...]
"""Inputs by their numbers, each with the number of steps that it is kept."""


@dataclass(frozen=True)
class Events:
    """What goals ask of single states (``states``) and single steps (``steps``), each once.

    ``of_goal`` has for each goal the events that every run has which covers it: places in ``states``, then in
    ``steps``. ``whole``: the goals that are covered wherever their event is.
    """

    states: tuple[FNode, ...]
    steps: tuple[FNode, ...]
    of_goal: Mapping[str, tuple[int, ...]]
    whole: frozenset[str]

    @staticmethod
    def of(problem: Problem) -> Events:
        """The events of the goals of ``problem``."""
        inputs = {var.name for var in problem.system.inputs}
        named: dict[str, list[tuple[bool, FNode]]] = {}
        whole = set()
        for goal in problem.goals:
            parts = list(_conjuncts(goal.antecedent))
            if not goal.length:
                named[goal.name] = [(True, conjunction(_placed(part, 0, problem.system) for part in parts))]
                whole.add(goal.name)
                continue
            of_step = []
            for step in range(goal.length):
                fitting = [part for part in parts if _within(part, step, inputs)]
                of_step.append(conjunction(_placed(part, step, problem.system) for part in fitting))
            kept = [formula for formula in dict.fromkeys(of_step) if goal.length == 1 or not formula.is_true()]
            named[goal.name] = [(False, formula) for formula in kept or [TRUE()]]
            if goal.length == 1:
                whole.add(goal.name)
        states = dict.fromkeys(formula for events in named.values() for alone, formula in events if alone)
        steps = dict.fromkeys(formula for events in named.values() for alone, formula in events if not alone)
        numbers = {(True, formula): number for number, formula in enumerate(states)}
        numbers |= {(False, formula): len(states) + number for number, formula in enumerate(steps)}
        of_goal = {name: tuple(numbers[event] for event in events) for name, events in named.items()}
        return Events(tuple(states), tuple(steps), of_goal, frozenset(whole))

    @property
    def number(self) -> int:
        """How many events there are."""
        return len(self.states) + len(self.steps)


def _conjuncts(formula: FNode) -> Iterator[FNode]:
    todo = [formula]
    while todo:
        part = todo.pop()
        if part.is_and():
            todo += part.args()
        else:
            yield part


def _within(part: FNode, step: int, inputs: set[str]) -> bool:
    """Whether ``part`` (framed) reads nothing but the state at ``step``, the inputs there, and the state after it."""
    places = [unframed(symbol) for symbol in symbols_of(part)]
    return all(frame == step or (frame == step + 1 and name not in inputs) for name, frame in places)


def _placed(part: FNode, step: int, system: TransitionSystem) -> FNode:
    """``part`` over plain symbols, those of the state after ``step`` by their names there."""
    terms = {}
    for symbol in symbols_of(part):
        name, frame = unframed(symbol)
        terms[symbol] = plain(symbol) if frame == step else system.variable(name).type.symbol(NEXT + name)
    return with_terms([part], terms)[0]


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

    ``states`` are on the variables of ``system``, the part that matters.
    """

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


def seen_by(problem: Problem, events: Events) -> Seen:
    """What the lemma has to speak of: all events, and where a run may end."""
    ends = [] if problem.final is None else [problem.final]
    return Seen((*events.states, *ends), events.steps)


def scope_of(problem: Problem) -> Scope:
    """The part of the system that matters to the goals and the end."""
    ends = [] if problem.final is None else [at(problem.final, 0)]
    return Scope(problem.system, [*(goal.antecedent for goal in problem.goals), *ends])


@dataclass(frozen=True, slots=True)
class _Step:
    """A step from a node by an input to a state, with its events; ``forgotten``: bits of the counters that are set
    anew, or have one value in their cell."""

    source: int
    choice: int
    target: State
    mask: int
    forgotten: int


@dataclass(frozen=True)
class _Movement:
    """For each step the counter that it moves (-1: none), by how much, and which it sets anew (as bits).

    ``samples`` has for each counter a value of its cell from which it is moved within the cell, if there is one.
    """

    mover: Column
    shift: Column
    forgotten: Column
    samples: Mapping[int, Column]


class Jumps:
    """Builds the graph for ``cells``; a counter's value is ``kept`` over so many steps that do more than move it.

    ``advance`` yields the work done, in operations on single values; at the end there is ``graph``, or it is
    ``too_large``. ``exact``: every arc is one of a run.
    """

    def __init__(self, problem: Problem, scope: Scope, inputs: Inputs, cells: Cells, kept: int) -> None:
        self._problem, self._scope, self._inputs, self._kept = problem, scope, inputs, kept
        self._variables = scope.system.state
        self._names = [var.name for var in self._variables]
        self._counters = [place for place, var in enumerate(self._variables) if var.name in cells.starts]
        self._starts = {place: np.array(cells.starts[self._names[place]], np.int64) for place in self._counters}
        self._dense = EveryInput(scope, inputs) if inputs.every is not None else None
        self._split = ByCases(scope, inputs)
        self._looks = _Looks(problem, self._names)
        self._nexts = Program([var.next for var in self._variables])
        self._nodes = _Nodes(self._counters, {p: self._variables[p].type.bits for p in self._counters}, self._starts)
        self.graph: JumpGraph | None = None
        self.too_large = False

    @property
    def jumped(self) -> set[str]:
        """The counters that some step moves and does nothing else; the values of others are better walked through."""
        return {self._names[self._counters[number]] for number in self._nodes.jumped}

    def advance(self) -> Iterator[int]:
        """Build the graph; yields the work done."""
        nodes, begin = self._nodes, Simulator(self._scope.system).initial()
        nodes.number(tuple(begin[name] for name in self._names), (0,) * len(self._counters))
        together = max(1, BLOCK // (self._dense.size if self._dense is not None else 64))
        while fresh := nodes.next(together):
            if len(nodes.states) > MOST_NODES:
                self.too_large = True
                return
            yield from self._expand(fresh)
        here, ends = self._looks.at(self._columns(nodes.states), len(nodes.states))
        arcs = nodes.arcs(here)
        yield sum(map(len, arcs))
        inputs = self._tried()
        whole = self._problem.system.inputs
        rest = [var for var in whole if var.name not in inputs.columns]
        spare = {var.name: column([_plainest(var)] * len(inputs), var.type.bits) for var in rest}
        choices = Rows({**inputs.columns, **spare}, len(inputs))
        self.graph = JumpGraph(nodes.states, self._scope.system, choices, arcs, here[0], ends)

    def _tried(self) -> Rows:
        """The inputs by number."""
        if self._dense is None:
            return self._split.inputs()
        assert self._inputs.every is not None
        return self._inputs.every

    def _columns(self, states: Sequence[State]) -> dict[str, Column]:
        rows = list(zip(*states, strict=True))
        return {var.name: column(rows[place], var.type.bits) for place, var in enumerate(self._variables)}

    def _steps(self, columns: Mapping[str, Column], count: int) -> Iterator[int | FoundSteps]:
        """The work done, and at last all steps of ``count`` states."""
        if self._dense is None:
            yield from self._split.steps(columns, {}, count)
            return
        spent, row, choice, nexts = self._dense.steps(columns, count, list)
        yield spent
        yield FoundSteps(row, choice, nexts, {}, row)

    def _expand(self, fresh: Sequence[int]) -> Iterator[int]:
        """Make all steps from the nodes ``fresh``."""
        columns = self._columns([self._nodes.states[node] for node in fresh])
        for found in self._steps(columns, len(fresh)):
            if isinstance(found, int):
                yield found
                continue
            yield 3 * self._nexts.size * len(found.row)
            if len(found.row):
                self._add(fresh, columns, found)

    def _add(self, fresh: Sequence[int], columns: Mapping[str, Column], found: FoundSteps) -> None:
        row, size = found.row, len(found.row)
        nexts = [np.broadcast_to(part, (size,)) for part in found.nexts]
        given = {name: part[found.choice] for name, part in self._tried().columns.items()}
        here = {name: part[row] for name, part in columns.items()}
        moves = self._movement(here, given, nexts)
        sample = {**here, **{self._names[place]: part for place, part in moves.samples.items()}}
        after_sample = [np.broadcast_to(part, (size,)) for part in self._nexts({**sample, **given})]
        mask = self._looks.on({**here, **given}, nexts)
        sampled = self._looks.on({**sample, **given}, after_sample)
        keys = [row, *nexts, mask, sampled, moves.mover, moves.shift, moves.forgotten]
        chosen = first_of_each([key.astype(np.uint64) for key in keys], np.ones(size, bool))
        targets = zip(*(list(map(int, part[chosen].tolist())) for part in nexts), strict=True)
        read = (row, found.choice, mask, sampled, moves.mover, moves.shift, moves.forgotten)
        rest = zip(*(part[chosen].tolist() for part in read), strict=True)
        for target, (source, choice, events, inner, mover, shift, forgotten) in zip(targets, rest, strict=True):
            step = _Step(fresh[source], choice, target, events, forgotten)
            if mover < 0:
                self._nodes.step(step)
            else:
                self._nodes.moving(step, self._counters.index(mover), shift, inner, self._kept)

    def _movement(self, here: Mapping[str, Column], given: Mapping[str, Column], nexts: Sequence[Column]) -> _Movement:
        """What steps do with counters, as steps from other values of the same cells tell."""
        size = len(nexts[0])
        beside, bounds = {**here}, dict[int, tuple[Column, Column, Column]]()
        for place in self._counters:
            var, starts = self._variables[place], self._starts[place]
            value = here[var.name].astype(np.int64)
            cell = np.searchsorted(starts, value, "right") - 1
            low, high = starts[cell], np.append(starts[1:], 1 << var.type.bits)[cell] - 1
            other = np.where(high == low, value, np.where(value < high, value + 1, value - 1))
            beside[var.name] = column(other, var.type.bits)
            bounds[place] = low, high, value
        there = self._nexts({**beside, **given})
        mover, shift, forgotten = np.full(size, -1), np.zeros(size, np.int64), np.zeros(size, np.int64)
        samples = {}
        for number, (place, (low, high, value)) in enumerate(bounds.items()):
            bits = self._variables[place].type.bits
            alike = (np.broadcast_to(there[place], (size,)) == nexts[place]) | (low == high)
            delta = (nexts[place].astype(np.int64) - value) % (1 << bits)
            moving = ~alike & (delta != 0)
            mover[moving], shift[moving] = place, delta[moving]
            forgotten |= alike.astype(np.int64) << number
            back = (1 << bits) - delta
            up, down = moving & (delta <= high - low), moving & (back <= high - low)
            sample = np.where(up & (value + delta > high), high - delta, value)
            sample = np.where(~up & down & (value - back < low), low + back, sample)
            samples[place] = column(sample, bits)
        return _Movement(mover, shift, forgotten, samples)


class _Looks:
    """Which events happen in states and steps, as bits."""

    def __init__(self, problem: Problem, names: Sequence[str]) -> None:
        events = Events.of(problem)
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


class _Nodes:
    """The nodes of a graph in the making, and what leads from one to another.

    Nodes are of one group where they differ in counters within cells only; in each group a counter lags behind by what
    ``speeds`` says at most for each step: up, and down.
    """

    def __init__(self, counters: Sequence[int], bits: Mapping[int, int], starts: Mapping[int, Column]) -> None:
        self._counters, self._bits = counters, bits
        self._starts = {place: part.tolist() for place, part in starts.items()}
        self.states: list[State] = []
        self._numbers: dict[State, int] = {}
        self._kept: list[tuple[int, ...]] = []
        self._waiting: dict[int, list[int]] = {}
        self._groups: list[int] = []
        self._group_numbers: dict[State, int] = {}
        self._found: list[dict[tuple[int, int, bool], tuple[int, Moves | None]]] = []
        self._jumps: dict[tuple[int, int, int], int] = {}
        self._pure: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
        self._speeds: dict[tuple[int, int], list[int]] = {}
        self._carried: set[tuple[int, int, int]] = set()

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
        self._kept.append(kept)
        self._found.append({})
        self._waiting.setdefault(sum(kept), []).append(node)
        self._groups.append(self._group(state))
        return node

    def _group(self, state: State) -> int:
        key = list(state)
        for place in self._counters:
            key[place] = bisect_right(self._starts[place], state[place])
        return self._group_numbers.setdefault(tuple(key), len(self._group_numbers))

    def next(self, most: int) -> list[int]:
        """At most ``most`` nodes whose steps are to be made, those first that were kept over the fewest steps."""
        least = min(self._waiting, default=None)
        if least is None:
            return []
        queue = self._waiting.pop(least)
        if len(queue) > most:
            self._waiting[least] = queue[most:]
        return queue[:most]

    def step(self, step: _Step, moved: int = -1, left: int = -1) -> None:
        """A step as it is. It moves the counter of number ``moved`` within its cell, or that of ``left`` out of it."""
        kept = [0 if step.forgotten >> n & 1 or n == left else steps for n, steps in enumerate(self._kept[step.source])]
        if moved >= 0:
            kept[moved] += 1
        target = self.number(step.target, tuple(kept))
        self._arc(step.source, target, step.mask, (1, ((step.choice, 1),)))
        self._carry(step, self._groups[target], left)

    def moving(self, step: _Step, number: int, shift: int, inner: int, most: int) -> None:
        """A step that adds ``shift`` to a counter; ``inner`` are its events where it leads to the same cell."""
        node, place = step.source, self._counters[number]
        state, kept = self.states[node], self._kept[node]
        value, back = state[place], (1 << self._bits[place]) - shift
        low, high = self._bounds(place, value)
        up, down = shift if shift <= high - low else 0, back if back <= high - low else 0
        inside = low <= step.target[place] <= high
        if up or down:
            lagging = (*step.target[:place], value, *step.target[place + 1 :])
            group = self._group(lagging)
            speeds = self._speeds.setdefault((group, number), [0, 0])
            speeds[:] = max(speeds[0], up), max(speeds[1], down)
            self._carry(step, group, -1)
            if lagging == state and not (up and down):
                self._pure.setdefault((node, number), []).append((up or -down, step.choice, inner))
            if inside and kept[number] < most and (inner or lagging != state):
                self.step(step, moved=number)
            elif inner or lagging != state:
                onward = value == (high if up else low) and not (up and down)
                after_it = tuple(0 if step.forgotten >> n & 1 else steps for n, steps in enumerate(kept))
                self._arc(node, self.number(lagging, after_it), inner, (int(onward), None))
        if not inside:
            self.step(step, left=number)
        leaving: Sequence[int] = range(low, high + 1)
        if up or down:
            leaving = sorted({*range(low, low + down), *range(high - up + 1, high + 1)})
        for last in leaving:
            if last != value:
                anew = (*kept[:number], 0, *kept[number + 1 :])
                target = self.number((*state[:place], last, *state[place + 1 :]), anew)
                self._jumps[node, number, last] = target

    def arcs(self, here: Sequence[int]) -> list[list[Arc]]:
        """All arcs by node; ``here`` are the events in each node."""
        self._spread()
        for (node, number, last), target in self._jumps.items():
            way = last - self.states[node][self._counters[number]]
            speed = self._speeds.get((self._groups[node], number), [0, 0])[way < 0]
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
            for found in self._found
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

    def _carry(self, step: _Step, group: int, left: int) -> None:
        """Counters that the step does not set anew may lag behind in ``group`` too."""
        source = self._groups[step.source]
        for number in range(len(self._counters)):
            if source != group and number != left and not step.forgotten >> number & 1:
                self._carried.add((source, group, number))

    def _arc(self, source: int, target: int, mask: int, way: tuple[int, Moves | None]) -> None:
        found, key = self._found[source], (target, mask, way[1] is not None)
        if key not in found or way[0] < found[key][0]:
            found[key] = way

    def _bounds(self, place: int, value: int) -> tuple[int, int]:
        starts = self._starts[place]
        cell = bisect_right(starts, value)
        return starts[cell - 1], (starts[cell] if cell < len(starts) else 1 << self._bits[place]) - 1


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


def _plainest(var: InputVariable) -> int:
    """The first allowed value of ``var`` from 0 up, raw; the least one if all are negative."""
    values = [max(low, 0) for low, high in allowed_ranges(var) if high >= 0]
    return (min(values) if values else allowed_ranges(var)[0][0]) % (1 << max(var.type.bits, 1))
