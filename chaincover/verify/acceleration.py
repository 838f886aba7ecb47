"""Jumps over the values of counters: the lemma is proved again, and the bound found again on a graph of jumps.

The lemma speaks of any two states that differ in counters only, each within one cell, and of any inputs: both allow the
step or neither does; what is no counter gets the same value; a counter gets the same value in both, or in each its own
and the same added; one counter at most is moved in this way; and no goal, and no final condition, tells them apart.

Then a state may stand for another one from which it differs within cells, at a price: the steps that its counter needs
to catch up. It catches up where a step leaves a cell, and pays nothing for steps that only move the counter. So for
every run there is a path that sees the same and costs no more; where no path is cheap enough, no run is short enough.

Of a slow counter, one that moves at most every few steps, the price is the whole time. It is paid by the jump, so the
steps that lead to the next one that moves the counter cost nothing while it is late, and those that lead away cost two.
One counter at a time is charged like that; others that are late too pay for the steps that move them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from heapq import heappop, heappush
from itertools import pairwise
from math import inf

from pysmt.fnode import FNode

from bmc.errors import counted
from bmc.formulas.evaluate import compile_formulas
from bmc.records import dataclass
from bmc.system.simulation import Simulator
from bmc.system.transition import TransitionSystem, Valuation, conjunction, symbols_of
from chaincover.certificate import Acceleration, Certificate
from chaincover.verify.counter_lemma import LATER, Looks, lemma
from chaincover.verify.inputs import input_classes
from chaincover.verify.limits import Clock
from chaincover.verify.report import HOLDS, OPEN, WRONG, Line
from chaincover.verify.setting import Setting

JUMPS = "jumps of counters"
EXITS = 4096
"""Values of a cell from which one step may leave it, at most."""

State = tuple[int, ...]


class _TooMany(Exception):
    """A step may leave a cell from too many of its values."""


@dataclass(frozen=True)
class Jumps:
    """What is known of jumps: ``why`` they cannot be used, or '', with ``verdict``; else the ``graph``."""

    verdict: str
    why: str
    graph: Graph | None = None

    def no_path(self, goals: Sequence[str], below: float, to_end: bool = True) -> bool | None:
        """Whether no path through the events of ``goals`` (``to_end``: to an end) weighs less than ``below``; None if
        that is not known."""
        graph = self.graph
        if graph is None or not {*goals} <= {*graph.of_goal}:
            return None
        return (graph if to_end else replace(graph, ends=[True] * len(graph.ends))).no_path(goals, below)

    def line(self, proof: Certificate) -> Line:
        """Whether the bound by jumps is proved again."""
        claim = proof.acceleration
        assert claim is not None
        if self.graph is None:
            return Line(JUMPS, self.verdict, self.why, unfinished=self.verdict == OPEN)
        cells = sum(map(len, claim.cells.values()))
        text = f"the lemma on {', '.join(claim.cells)} ({cells} cells)"
        if not claim.bound:
            return Line(JUMPS, HOLDS, text)
        said = f"no chain shorter than {claim.bound}"
        if not {*proof.goals} <= {*self.graph.of_goal}:
            return Line(JUMPS, WRONG, f"{said}: not all of its goals are known")
        found = self.no_path(proof.goals, claim.bound)
        if found is None:
            return Line(JUMPS, OPEN, f"{said}: too many nodes, or no time left", unfinished=True)
        if not found:
            return Line(JUMPS, OPEN, f"{said}: some path of jumps weighs less")
        return Line(JUMPS, HOLDS, f"{text}, and {said} among {counted(len(self.graph.states), 'node')} of jumps")


def jumps_of(
    setting: Setting,
    proof: Certificate,
    clock: Clock,
    known: FNode | None = None,
    more: Collection[str] = (),
) -> Jumps:
    """The graph of jumps for the cells of ``proof``, if the lemma holds for them and all goals that it speaks of, and
    for the goals ``more``.

    ``known`` is proved of every state that can be reached; what of it reads no counter holds of the two of the lemma.
    """
    claim, system = proof.acceleration, setting.system
    assert claim is not None
    told = {*more, *proof.goals, *proof.unreachable, *proof.no_way_to_end}.union(*proof.conflicts)
    setting = replace(setting, goals=tuple(goal for goal in setting.goals if goal.name in told))
    variables = {var.name: var for var in system.state}
    for name, starts in claim.cells.items():
        var = variables.get(name)
        rising = all(a < b for a, b in pairwise(starts))
        if var is None or not var.type.bits or not starts or starts[0] or not rising or starts[-1] >> var.type.bits:
            return Jumps(WRONG, f"'{name}' has no such cells")
    if any(var.init is None for var in system.state):
        return Jumps(OPEN, "start values are open")
    looks = Looks.of(setting)
    todo: list[FNode] = [] if known is None else [known]
    given: list[FNode] = []
    while todo:
        part = todo.pop()
        if part.is_and():
            todo += part.args()
        elif not {s.symbol_name() for s in symbols_of(part)} & claim.cells.keys():
            given.append(part)
    fine = lemma(system, looks, claim.cells, (clock, given))
    if not fine:
        why = "the solver did not finish with the lemma" if fine is None else "two values of one cell are told apart"
        return Jumps(OPEN if fine is None else WRONG, why)
    formulas = [system.input_constraint, system.defined, *(var.next for var in looks.variables(system))]
    classes = input_classes(system.inputs, formulas, setting.formulas, clock)
    if classes is None:
        return Jumps(OPEN, "too many inputs")
    choices = [classes.choice(number) for number in range(classes.size)]
    graph = _Builder(_Stepping(system, looks, claim.cells), claim, choices).graph(clock)
    return Jumps(OPEN, "too many jumps, or no time left") if graph is None else Jumps(HOLDS, "", graph)


class _Stepping:
    """Makes single steps between states on the variables that matter, and knows the cells of counters."""

    def __init__(self, system: TransitionSystem, looks: Looks, cells: Mapping[str, Sequence[int]]) -> None:
        variables = looks.variables(system)
        self.names = [var.name for var in variables]
        self.looks = looks
        self.cells = {place: cells[var.name] for place, var in enumerate(variables) if var.name in cells}
        self.wraps = {place: 1 << variables[place].type.bits for place in self.cells}
        begin = Simulator(system).initial()
        self.start = tuple(begin[name] for name in self.names)
        allowed = conjunction([system.input_constraint, system.defined])
        self._step = compile_formulas([allowed, *(var.next for var in variables)])
        self._events = compile_formulas(looks.in_steps)

    def made(self, state: State, choice: Valuation) -> tuple[State, int] | None:
        """The next state and the events of the step; None where it is not allowed."""
        values = {**dict(zip(self.names, state, strict=True)), **choice}
        allowed, *after = self._step(values)
        if not allowed:
            return None
        happening = self._events({**values, **{LATER + n: value for n, value in zip(self.names, after, strict=True)}})
        first = len(self.looks.in_states)
        return tuple(after), sum(1 << place for place, holds in enumerate(happening, first) if holds)

    def cell(self, place: int, value: int) -> tuple[int, int]:
        """The first and the last value of a cell."""
        starts = self.cells[place]
        number = bisect_right(starts, value)
        return starts[number - 1], (starts[number] if number < len(starts) else self.wraps[place]) - 1

    def kind(self, state: State) -> State:
        """The state with the first value of its cell for each counter."""
        return tuple(self.cell(n, value)[0] if n in self.cells else value for n, value in enumerate(state))


Late = tuple[int, frozenset[int]]
"""The slow counter that is charged for the time that it is late, -1: none; and others that are late, all by place."""

IN_TIME: Late = (-1, frozenset())

PAID = -1
"""The cost of a step that moves the counter charged: nothing, for the jump pays for the time since the last one."""


class _Builder:
    """Finds all nodes of the graph and the arcs between them, node by node."""

    def __init__(self, stepping: _Stepping, claim: Acceleration, choices: Sequence[Valuation]) -> None:
        self._stepping, self._most, self._choices = stepping, claim.kept, choices
        self._slow = {place for place in stepping.cells if stepping.names[place] in claim.slow}
        self.states: list[State] = []
        self._numbers: dict[tuple[State, Late], int] = {}
        self._age: list[dict[int, int]] = []
        self._late: list[Late] = []
        self._queue: list[tuple[int, int]] = []
        self._arcs: list[dict[tuple[int, int], int]] = []
        self._leaps: list[tuple[int, int, int, int]] = []
        self._paces = _Paces()

    def graph(self, clock: Clock) -> Graph | None:
        """The graph; None where it takes more than the limits."""
        self._node(self._stepping.start, dict.fromkeys(self._stepping.cells, 0), IN_TIME)
        tried = 0
        while self._queue:
            _, node = heappop(self._queue)
            tried += len(self._choices)
            if tried > clock.limits.explored // 16 or clock.over:
                return None
            try:
                for choice in self._choices:
                    self._follow(node, choice)
            except _TooMany:
                return None
        self._paces.pass_on()
        for node, place, last, target in self._leaps:
            price = self._price(node, place, last - self.states[node][place])
            if price is not None:
                self._arc(node, target, 0, price)
        in_states = compile_formulas([*self._stepping.looks.in_states, self._stepping.looks.end])
        masks, ends = [], []
        for state in self.states:
            *happening, end = in_states(dict(zip(self._stepping.names, state, strict=True)))
            masks.append(sum(1 << place for place, holds in enumerate(happening) if holds))
            ends.append(bool(end))
        arcs = [
            [(target, self._cost(node, target, cost), mask | masks[target]) for (target, mask), cost in found.items()]
            for node, found in enumerate(self._arcs)
        ]
        return Graph(self.states, arcs, ends, masks[0], self._stepping.looks.of_goal)

    def _price(self, node: int, place: int, way: int) -> int | None:
        """The time that a counter needs at least to get on by ``way``; None where it cannot."""
        kind = self._stepping.kind(self.states[node])
        speed = self._paces.speed.get((kind, place), (0, 0))[way < 0]
        if not way or not speed:
            return None if way else 0
        moves = -(-abs(way) // speed)
        if self._late[node][0] != place:
            return moves
        return moves * self._paces.gap(place) - self._paces.time_left(kind, place)

    def _cost(self, node: int, target: int, cost: int) -> int:
        """What an arc costs, where a counter is charged for the time."""
        place = self._late[node][0]
        if cost == PAID:
            return 0
        if place < 0 or self._late[target][0] != place:
            return cost
        before, after = (self._stepping.kind(self.states[number]) for number in (node, target))
        return cost + self._paces.time_left(after, place) - self._paces.time_left(before, place)

    def _node(self, state: State, age: dict[int, int], late: Late) -> int:
        if (state, late) not in self._numbers:
            self._numbers[state, late] = len(self.states)
            self.states.append(state)
            self._age.append(age)
            self._late.append(late)
            self._arcs.append({})
            heappush(self._queue, (sum(age.values()), self._numbers[state, late]))
        return self._numbers[state, late]

    def _still_late(self, node: int, taken: set[int]) -> Late:
        """Which of the counters that are late at ``node`` still are when only those ``taken`` along can be."""
        charged, others = self._late[node]
        return charged if charged in taken else -1, others & taken

    def _arc(self, source: int, target: int, mask: int, weight: int) -> None:
        known = self._arcs[source].get((target, mask))
        if known is None or weight < known:
            self._arcs[source][target, mask] = weight

    def _follow(self, node: int, choice: Valuation) -> None:
        """What the step from a node under one choice of inputs leads to."""
        state = self.states[node]
        made = self._stepping.made(state, choice)
        if made is None:
            return
        after, mask = made
        beside = [*state]
        for place in self._stepping.cells:
            low, high = self._stepping.cell(place, state[place])
            beside[place] += (state[place] < high) - (state[place] == high > low)
        there = self._stepping.made(tuple(beside), choice) or made  # the lemma speaks of states that can be reached
        taken = {n for n in self._stepping.cells if beside[n] != state[n] and there[0][n] != after[n]}
        moved = [n for n in taken if after[n] != state[n]]
        if not moved:
            self._as_it_is(node, after, mask, taken, None)
            return
        place = moved[0]
        low, high = self._stepping.cell(place, state[place])
        shift = (after[place] - state[place]) % self._stepping.wraps[place]
        back = self._stepping.wraps[place] - shift
        up, down = shift if shift <= high - low else 0, back if back <= high - low else 0
        inside = low <= after[place] <= high
        late = place == self._late[node][0] or place in self._late[node][1]
        if up or down:
            self._behind(node, choice, after, (place, up, down, inside), taken)
        if not inside and not late:
            self._as_it_is(node, after, mask, taken - {place}, None)
        if place in self._slow and not late:
            return
        if (up + down or high - low) > EXITS:
            raise _TooMany
        last_ones = {*range(low, low + down), *range(high - up + 1, high + 1)}
        for last in sorted(last_ones) if up or down else range(low, high + 1):
            if last != state[place] or late:
                age = {**self._age[node], place: 0}
                rest = self._still_late(node, {*self._stepping.cells} - {place})
                target = self._node((*state[:place], last, *state[place + 1 :]), age, rest)
                self._leaps.append((node, place, last, target))

    def _as_it_is(self, node: int, after: State, mask: int, taken: set[int], older: int | None) -> None:
        """A step of one, after which the counters ``taken`` along are behind as before; ``older`` was moved."""
        age = {n: steps + (n == older) if n in taken else 0 for n, steps in self._age[node].items()}
        self._arc(node, self._node(after, age, self._still_late(node, taken)), mask, 1)
        if older is None:
            self._paces.step(self._stepping.kind(self.states[node]), self._stepping.kind(after), taken)

    def _behind(
        self, node: int, choice: Valuation, after: State, move: tuple[int, int, int, bool], taken: set[int]
    ) -> None:
        """A step that moves a counter within its cell, for some of its values."""
        place, up, down, inside = move
        state = self.states[node]
        value = state[place]
        low, high = self._stepping.cell(place, value)
        stays = (*after[:place], value, *after[place + 1 :])
        kinds = self._stepping.kind(state), self._stepping.kind(stays)
        self._paces.move(kinds, taken, place, (up, down))
        charged, others = still = self._still_late(node, taken)
        late, slow = place == charged or place in others, place in self._slow
        if slow and not inside and not late:
            return
        sample = value
        if up and value + up > high:
            sample = high - up
        elif not up and value - down < low:
            sample = low + down
        seen = self._stepping.made((*state[:place], sample, *state[place + 1 :]), choice) or (after, 0)
        if not seen[1] and stays == state and not slow:
            return
        if inside and self._age[node][place] < self._most and not late:
            within = self._stepping.made(state, choice)
            assert within is not None
            self._as_it_is(node, after, within[1], taken, place)
            return
        onward = not (up and down) and value == (high if up else low) and not slow
        age = {n: steps if n in taken else 0 for n, steps in self._age[node].items()}
        if slow and not late:
            still = (place, others) if charged < 0 else (charged, others | {place})
        self._arc(node, self._node(stays, age, still), seen[1], PAID if still[0] == place else int(onward))


class _Paces:
    """How fast counters move from one kind of state to another, and how long they do not."""

    def __init__(self) -> None:
        self.speed: dict[tuple[State, int], tuple[int, int]] = {}
        self._steps: dict[tuple[State, State, int], set[int]] = {}
        self._left: dict[int, dict[State, int]] = {}
        self._gaps: dict[int, int] = {}

    def step(self, before: State, after: State, taken: set[int]) -> None:
        """A step that moves no counter within its cell, and takes some along."""
        self._steps.setdefault((before, after, -1), set()).update(taken)

    def move(self, kinds: tuple[State, State], taken: set[int], place: int, most: tuple[int, int]) -> None:
        """A step that moves a counter within its cell by ``most``, up or down."""
        self._steps.setdefault((*kinds, place), set()).update(taken)
        up, down = self.speed.get((kinds[1], place), (0, 0))
        self.speed[kinds[1], place] = max(up, most[0]), max(down, most[1])

    def pass_on(self) -> None:
        """Counters are late by their greatest speed since they were set."""
        passed: dict[tuple[State, int], list[State]] = {}
        for (before, after, _), taken in self._steps.items():
            for place in taken:
                passed.setdefault((before, place), []).append(after)
        todo = list(self.speed)
        while todo:
            kind, place = todo.pop()
            speed = self.speed[kind, place]
            for later in passed.get((kind, place), ()):
                before = self.speed.get((later, place), (0, 0))
                most = max(before[0], speed[0]), max(before[1], speed[1])
                if most != before:
                    self.speed[later, place] = most
                    todo.append((later, place))

    def gap(self, place: int) -> int:
        """The least time from one step that moves a counter to the next one."""
        if place not in self._gaps:
            times = self._times(place)
            ends = [after for _, after, moved in self._steps if moved == place]
            self._gaps[place] = 1 + min((times[kind] for kind in ends if kind in times), default=0)
        return self._gaps[place]

    def time_left(self, kind: State, place: int) -> int:
        """The time until a step moves the counter, at most that of a gap."""
        most = self.gap(place) - 1
        return min(self._times(place).get(kind, most), most)

    def _times(self, place: int) -> dict[State, int]:
        """The least time until a step moves a counter. Steps that move another one are that one's time."""
        if place in self._left:
            return self._left[place]
        into: dict[State, list[tuple[State, int]]] = {}
        for (before, after, moved), taken in self._steps.items():
            if place in taken:
                into.setdefault(after, []).append((before, 1 if moved in (-1, place) else 0))
        queue = [(0, before) for before, _, moved in self._steps if moved == place]
        found = self._left[place] = {}
        while queue:  # all begin with 0: a heap
            time, kind = heappop(queue)
            if kind in found:
                continue
            found[kind] = time
            for earlier, cost in into.get(kind, ()):
                if earlier not in found:
                    heappush(queue, (time + cost, earlier))
        return found


@dataclass(frozen=True)
class Graph:
    """``arcs`` by node, as (target, weight, events); the first node is the start, where the events ``begun`` happen."""

    states: Sequence[State]
    arcs: Sequence[Sequence[tuple[int, int, int]]]
    ends: Sequence[bool]
    begun: int
    of_goal: Mapping[str, int]

    MOST = 2_000_000
    """Arcs followed by one search."""

    def no_path(self, goals: Sequence[str], below: float) -> bool | None:
        """Whether no path through all events of ``goals`` to an end weighs less than ``below``; None: not finished."""
        wanted = 0
        for goal in goals:
            wanted |= self.of_goal[goal]
        ahead = [self._to_end, *(self._over(event) for event in _places(wanted))]
        masks = [0, *(1 << event for event in _places(wanted))]

        def left(node: int, mask: int) -> float:
            return max(far[node] for far, event in zip(ahead, masks, strict=True) if not event or not mask & event)

        first = self.begun & wanted
        best = {(0, first): 0}
        queue = [(left(0, first), 0, 0, first)]
        followed, passed = 0, dict[int, list[tuple[int, int]]]()
        while queue:
            total, weight, node, mask = heappop(queue)
            if total >= below:
                return True
            earlier = passed.setdefault(node, [])
            if weight > best[node, mask] or any(not mask & ~other and cost <= weight for other, cost in earlier):
                continue  # with no fewer events and at no higher cost the search has been here
            earlier.append((mask, weight))
            if mask == wanted and self.ends[node]:
                return False
            followed += len(self.arcs[node])
            if followed > self.MOST:
                return None
            for target, step, events in self.arcs[node]:
                key = target, mask | events & wanted
                if weight + step < best.get(key, inf):
                    far = left(*key)
                    if far < inf:
                        best[key] = weight + step
                        heappush(queue, (weight + step + far, weight + step, *key))
        return True

    @cached_property
    def _backward(self) -> list[list[tuple[int, int]]]:
        found: list[list[tuple[int, int]]] = [[] for _ in self.states]
        for source, arcs in enumerate(self.arcs):
            for target, weight, _ in arcs:
                found[target].append((source, weight))
        return found

    @cached_property
    def _to_end(self) -> list[float]:
        return self._least({node: 0.0 for node, end in enumerate(self.ends) if end})

    def _over(self, event: int) -> list[float]:
        """For each node the least weight to an end with ``event`` on the way."""
        begin: dict[int, float] = {}
        for source, arcs in enumerate(self.arcs):
            for target, weight, events in arcs:
                if events >> event & 1:
                    begin[source] = min(begin.get(source, inf), weight + self._to_end[target])
        return self._least(begin)

    def _least(self, begin: Mapping[int, float]) -> list[float]:
        found = [begin.get(node, inf) for node in range(len(self.states))]
        queue = [(weight, node) for node, weight in sorted(begin.items(), key=lambda pair: pair[1])]
        while queue:
            weight, node = heappop(queue)
            if weight > found[node]:
                continue
            for source, step in self._backward[node]:
                if weight + step < found[source]:
                    found[source] = weight + step
                    heappush(queue, (weight + step, source))
        return found


def _places(mask: int) -> list[int]:
    return [place for place in range(mask.bit_length()) if mask >> place & 1]
