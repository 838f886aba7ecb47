"""Jumps over the values of counters: the lemma is proved again, and the bound found again on a graph of jumps.

The lemma speaks of any two states that differ in counters only, each within one cell, and of any inputs: both allow the
step or neither does; what is no counter gets the same value; a counter gets the same value in both, or in each its own
and the same added; one counter at most is moved in this way; and no goal, and no final condition, tells them apart.

Then a state may stand for another one from which it differs within cells, at a price: the steps that its counter needs
to catch up. It catches up where a step leaves a cell, and pays nothing for steps that only move the counter. So for
every run there is a path that sees the same and costs no more; where no path is cheap enough, no run is short enough.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from heapq import heappop, heappush
from itertools import combinations, pairwise
from math import inf

from pysmt.fnode import FNode
from pysmt.shortcuts import BV, TRUE, And, Iff, Not, Or

from bmc.errors import counted
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import at, plain, unframed, with_terms
from bmc.records import dataclass
from bmc.system.simulation import Simulator
from bmc.system.transition import StateVariable, TransitionSystem, Valuation, conjunction, equal, symbols_of
from chaincover.certificate import Certificate
from chaincover.verify.clauses import Clauses
from chaincover.verify.inputs import input_classes
from chaincover.verify.limits import Clock
from chaincover.verify.report import HOLDS, OPEN, WRONG, Line
from chaincover.verify.setting import Setting

JUMPS = "jumps of counters"
LATER, TWIN = "after ", "twin "
"""Before the name of a variable: its value after the step; its value in the other one of the two states."""

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

    def no_path(self, goals: Sequence[str], below: float) -> bool | None:
        """Whether no path through the events of ``goals`` to an end weighs less than ``below``; None if not known."""
        return None if self.graph is None else self.graph.no_path(goals, below)

    def misses(self, goal: str, to_end: bool) -> bool:
        """Whether it is proved that no run covers ``goal`` (``to_end``: and goes on to an end)."""
        graph = self.graph
        if graph is None or goal not in graph.of_goal:
            return False
        return bool((graph if to_end else replace(graph, ends=[True] * len(graph.ends))).no_path([goal], inf))

    def line(self, proof: Certificate) -> Line:
        """Whether the bound by jumps is proved again."""
        claim = proof.acceleration
        assert claim is not None
        if self.graph is None:
            return Line(JUMPS, self.verdict, self.why)
        cells = sum(map(len, claim.cells.values()))
        text = f"the lemma on {', '.join(claim.cells)} ({cells} cells)"
        if not claim.bound:
            return Line(JUMPS, HOLDS, text)
        said = f"no chain shorter than {claim.bound}"
        if not {*proof.goals} <= {*self.graph.of_goal}:
            return Line(JUMPS, WRONG, f"{said}: not all of its goals are known")
        found = self.no_path(proof.goals, claim.bound)
        if found is None:
            return Line(JUMPS, OPEN, f"{said}: too many nodes, or no time left")
        if not found:
            return Line(JUMPS, OPEN, f"{said}: some path of jumps weighs less")
        return Line(JUMPS, HOLDS, f"{text}, and {said} among {counted(len(self.graph.states), 'node')} of jumps")


def jumps_of(setting: Setting, proof: Certificate, clock: Clock, known: FNode | None = None) -> Jumps:
    """The graph of jumps for the cells of ``proof``, if the lemma holds for them and all goals that it speaks of.

    ``known`` is proved of every state that can be reached; what of it reads no counter holds of the two of the lemma.
    """
    claim, system = proof.acceleration, setting.system
    assert claim is not None
    told = {*proof.goals, *proof.unreachable, *proof.no_way_to_end}.union(*proof.conflicts)
    setting = replace(setting, goals=tuple(goal for goal in setting.goals if goal.name in told))
    variables = {var.name: var for var in system.state}
    for name, starts in claim.cells.items():
        var = variables.get(name)
        rising = all(a < b for a, b in pairwise(starts))
        if var is None or not var.type.bits or not starts or starts[0] or not rising or starts[-1] >> var.type.bits:
            return Jumps(WRONG, f"'{name}' has no such cells")
    if system.hold > 1 or any(var.init is None for var in system.state):
        return Jumps(OPEN, "inputs are held, or start values open")
    looks = _Looks.of(setting)
    todo: list[FNode] = [] if known is None else [known]
    given: list[FNode] = []
    while todo:
        part = todo.pop()
        if part.is_and():
            todo += part.args()
        elif not {s.symbol_name() for s in symbols_of(part)} & claim.cells.keys():
            given.append(part)
    fine = _lemma(system, looks, claim.cells, (clock, given))
    if not fine:
        why = "the solver did not finish with the lemma" if fine is None else "two values of one cell are told apart"
        return Jumps(OPEN if fine is None else WRONG, why)
    formulas = [system.input_constraint, system.defined, *(var.next for var in system.state)]
    classes = input_classes(system.inputs, formulas, setting.formulas, clock)
    if classes is None:
        return Jumps(OPEN, "too many inputs")
    choices = [classes.choice(number) for number in range(classes.size)]
    graph = _Builder(_Stepping(system, looks, claim.cells), claim.kept, choices).graph(clock)
    return Jumps(OPEN, "too many jumps, or no time left") if graph is None else Jumps(HOLDS, "", graph)


@dataclass(frozen=True)
class _Looks:
    """Events in states and in steps (over plain symbols, ``LATER`` ones too), and for each goal those that it needs, as
    bits; ``end``: where a run may end."""

    in_states: Sequence[FNode]
    in_steps: Sequence[FNode]
    of_goal: Mapping[str, int]
    end: FNode

    @staticmethod
    def of(setting: Setting) -> _Looks:
        """Those of all goals."""
        system = setting.system
        inputs = {var.name for var in system.inputs}
        in_states, in_steps = dict[FNode, int](), dict[FNode, int]()
        wanted: dict[str, tuple[list[FNode], list[FNode]]] = {}
        for goal in setting.goals:
            whole = [goal.antecedent]
            while any(part.is_and() for part in whole):
                whole = [piece for part in whole for piece in (part.args() if part.is_and() else (part,))]
            alone, together = list[FNode](), list[FNode]()
            if goal.length:
                for step in range(goal.length):
                    here = [_read_at(part, step, system) for part in whole if _fits(part, step, inputs)]
                    if here or goal.length == 1:
                        together.append(conjunction(here))
            else:
                alone.append(conjunction(_read_at(part, 0, system) for part in whole))
            wanted[goal.name] = alone, together
            in_states.update((formula, 0) for formula in alone)
            in_steps.update((formula, 0) for formula in together)
        places = {formula: 1 << place for place, formula in enumerate(in_states)}
        later = {formula: 1 << place for place, formula in enumerate(in_steps, len(in_states))}
        masks = {
            name: sum({*(places[f] for f in alone), *(later[f] for f in together)})
            for name, (alone, together) in wanted.items()
        }
        return _Looks([*in_states], [*in_steps], masks, TRUE() if setting.final is None else setting.final)

    def variables(self, system: TransitionSystem) -> tuple[StateVariable, ...]:
        """The variables of ``system`` that matter."""
        read = [s for f in (*self.in_states, *self.in_steps, self.end) for s in symbols_of(f)]
        names = {s.symbol_name().removeprefix(LATER) for s in read}
        return system.cone(var.symbol for var in system.state if var.name in names)


def _fits(part: FNode, step: int, inputs: set[str]) -> bool:
    """Whether ``part`` reads the state and the inputs at ``step``, and the state after it, and nothing else."""
    read = [unframed(symbol) for symbol in symbols_of(part)]
    return all(place == step or (place == step + 1 and name not in inputs) for name, place in read)


def _read_at(part: FNode, step: int, system: TransitionSystem) -> FNode:
    names = {}
    for symbol in symbols_of(part):
        name, place = unframed(symbol)
        names[symbol] = plain(symbol) if place == step else system.variable(name).type.symbol(LATER + name)
    return with_terms([part], names)[0]


def _lemma(
    system: TransitionSystem, looks: _Looks, cells: Mapping[str, Sequence[int]], asked: tuple[Clock, Sequence[FNode]]
) -> bool | None:
    """Whether the lemma holds; None if the solver gave up. ``asked``: within which limits, and given what."""
    clock, given = asked
    cone = looks.variables(system)
    counters = [var for var in cone if var.name in cells]
    twins = {var.symbol: var.type.symbol(TWIN + var.name) for var in counters}
    nexts = {var.name: (var.next, with_terms([var.next], twins)[0]) for var in cone}
    allowed = And(system.input_constraint, system.defined)
    pair = allowed, with_terms([allowed], twins)[0]
    apart, moved, same_later = list[FNode](), list[FNode](), list[FNode]()
    for var in cone:
        one, two = nexts[var.name]
        differ = Not(equal(one, two))
        if var not in counters:
            apart.append(differ)
            continue
        here, there = var.symbol, twins[var.symbol]
        apart.append(And(differ, Not(equal(one.BVAdd(there), two.BVAdd(here)))))
        moved.append(And(differ, Not(equal(one, here))))
        same_later += [_below_both(one, two, start) for start in cells[var.name] if start]
    apart += [And(one, two) for one, two in combinations(moved, 2)]
    first = {var.type.symbol(LATER + var.name): nexts[var.name][0] for var in cone}
    second = {**twins, **{var.type.symbol(LATER + var.name): nexts[var.name][1] for var in cone}}
    seen = zip(with_terms(looks.in_steps, first), with_terms(looks.in_steps, second), strict=True)
    told = And(*same_later, Or([Not(equal(one, two)) for one, two in seen]))
    states = [*looks.in_states, looks.end]
    alone = [Not(equal(one, two)) for one, two in zip(states, with_terms(states, twins), strict=True)]
    against = Or(Not(Iff(*pair)), And(pair[0], Or(*apart, told)), *alone)
    cell = [_below_both(v.symbol, twins[v.symbol], start) for v in counters for start in cells[v.name] if start]
    clauses = Clauses(clock)
    found = clauses.possible(TRUE(), [clauses.placed(at(And(against, *cell, *given), 0))])
    return None if found is None else not found


def _below_both(one: FNode, two: FNode, start: int) -> FNode:
    bound = BV(start, one.bv_width())
    return Iff(one.BVULT(bound), two.BVULT(bound))


class _Stepping:
    """Makes single steps between states on the variables that matter, and knows the cells of counters."""

    def __init__(self, system: TransitionSystem, looks: _Looks, cells: Mapping[str, Sequence[int]]) -> None:
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


class _Builder:
    """Finds all nodes of the graph and the arcs between them, node by node."""

    def __init__(self, stepping: _Stepping, most: int, choices: Sequence[Valuation]) -> None:
        self._stepping, self._most, self._choices = stepping, most, choices
        self.states: list[State] = []
        self._numbers: dict[State, int] = {}
        self._age: list[dict[int, int]] = []
        self._queue: list[tuple[int, int]] = []
        self._arcs: list[dict[tuple[int, int], int]] = []
        self._leaps: list[tuple[int, int, int, int]] = []
        self._speed: dict[tuple[State, int], tuple[int, int]] = {}
        self._passed: dict[tuple[State, int], set[State]] = {}

    def graph(self, clock: Clock) -> Graph | None:
        """The graph; None where it takes more than the limits."""
        self._node(self._stepping.start, dict.fromkeys(self._stepping.cells, 0))
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
        self._pass_on()
        for node, place, last, target in self._leaps:
            way = last - self.states[node][place]
            speed = self._speed.get((self._stepping.kind(self.states[node]), place), (0, 0))[way < 0]
            if speed:
                self._arc(node, target, 0, -(-abs(way) // speed))
        in_states = compile_formulas([*self._stepping.looks.in_states, self._stepping.looks.end])
        masks, ends = [], []
        for state in self.states:
            *happening, end = in_states(dict(zip(self._stepping.names, state, strict=True)))
            masks.append(sum(1 << place for place, holds in enumerate(happening) if holds))
            ends.append(bool(end))
        arcs = [
            [(target, weight, mask | masks[target]) for (target, mask), weight in found.items()] for found in self._arcs
        ]
        return Graph(self.states, arcs, ends, masks[0], self._stepping.looks.of_goal)

    def _node(self, state: State, age: dict[int, int]) -> int:
        if state not in self._numbers:
            self._numbers[state] = len(self.states)
            self.states.append(state)
            self._age.append(age)
            self._arcs.append({})
            heappush(self._queue, (sum(age.values()), self._numbers[state]))
        return self._numbers[state]

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
        if up or down:
            self._behind(node, choice, after, (place, up, down, inside), taken)
        if not inside:
            self._as_it_is(node, after, mask, taken - {place}, None)
        if (up + down or high - low) > EXITS:
            raise _TooMany
        last_ones = {*range(low, low + down), *range(high - up + 1, high + 1)}
        for last in sorted(last_ones) if up or down else range(low, high + 1):
            if last != state[place]:
                target = self._node((*state[:place], last, *state[place + 1 :]), {**self._age[node], place: 0})
                self._leaps.append((node, place, last, target))

    def _as_it_is(self, node: int, after: State, mask: int, taken: set[int], older: int | None) -> None:
        """A step of one, after which the counters ``taken`` along are behind as before; ``older`` was moved."""
        age = {n: steps + (n == older) if n in taken else 0 for n, steps in self._age[node].items()}
        self._arc(node, self._node(after, age), mask, 1)
        self._taken(node, self._stepping.kind(after), taken)

    def _behind(
        self, node: int, choice: Valuation, after: State, move: tuple[int, int, int, bool], taken: set[int]
    ) -> None:
        """A step that moves a counter within its cell, for some of its values."""
        place, up, down, inside = move
        state = self.states[node]
        value = state[place]
        low, high = self._stepping.cell(place, value)
        stays = (*after[:place], value, *after[place + 1 :])
        kind = self._stepping.kind(stays)
        before = self._speed.get((kind, place), (0, 0))
        self._speed[kind, place] = max(before[0], up), max(before[1], down)
        self._taken(node, kind, taken)
        sample = value
        if up and value + up > high:
            sample = high - up
        elif not up and value - down < low:
            sample = low + down
        seen = self._stepping.made((*state[:place], sample, *state[place + 1 :]), choice) or (after, 0)
        if not seen[1] and stays == state:
            return
        if inside and self._age[node][place] < self._most:
            within = self._stepping.made(state, choice)
            assert within is not None
            self._as_it_is(node, after, within[1], taken, place)
            return
        onward = not (up and down) and value == (high if up else low)
        age = {n: steps if n in taken else 0 for n, steps in self._age[node].items()}
        self._arc(node, self._node(stays, age), seen[1], int(onward))

    def _taken(self, node: int, kind: State, taken: set[int]) -> None:
        for place in taken:
            self._passed.setdefault((self._stepping.kind(self.states[node]), place), set()).add(kind)

    def _pass_on(self) -> None:
        """Counters are behind by their greatest speed since they were set."""
        todo = list(self._speed)
        while todo:
            kind, place = todo.pop()
            speed = self._speed[kind, place]
            for later in self._passed.get((kind, place), ()):
                before = self._speed.get((later, place), (0, 0))
                most = max(before[0], speed[0]), max(before[1], speed[1])
                if most != before:
                    self._speed[later, place] = most
                    todo.append((later, place))


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
        followed = 0
        while queue:
            total, weight, node, mask = heappop(queue)
            if total >= below:
                return True
            if weight > best[node, mask]:
                continue
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
