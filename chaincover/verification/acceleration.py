"""Jumps over the values of counters: no run takes fewer steps than the lightest path through a graph of jumps.

The lemma, which the solver proves again, speaks of any two states that differ in counters only, each within one cell,
and of any inputs: both allow the step or neither does; what is no counter gets the same value; a counter gets the same
value in both, or in each its own and the same added; one counter at most is moved in this way; and no goal and no end
tells them apart. It holds for cells that are cut as well. They are cut at half of the values: no move within a cell is
then one up as well as one down that wraps around.

*Nodes.* A node has a state r, and stands for every state s that is like r but for counters, each within the cell of its
value in r. The difference s(c) - r(c) is the deviation of counter c. A slow counter deviates only at nodes that say so:
it is late there. At most one of the late counters is charged: its period p may be any positive number; that of all
others is 1.

*Potential.* The speed of a counter at a node is the greatest number by which one step has moved it in some direction
since it last had no deviation, on any path. A deviation that takes m moves at this speed costs 1 + (m - 1) p steps, and
none costs 0. The potential of s at a node is the sum of these costs over all counters.

*Claim.* For every run of k steps to a state s there is a path with the same events to a node that stands for s, and its
weight and the potential of s are k at most together. By induction; the lemma says that r does what s does in the step:

1. The step moves no counter, or takes one out of its cell that does not deviate: an arc of weight 1 makes it as it is.
   Counters that are set anew deviate no more, others do as before, and speeds do not fall along an arc.
2. It takes a counter out of its cell that deviates: a leap goes first to the node where r has the value of s; it weighs
   what the deviation costs. Then the step is as above. All values of the cell that the step leads out of have a leap.
3. It moves a counter within its cell. Either an arc of weight 1 makes it as it is, if r stays in the cell as well; or r
   stays where it is. The potential rises by p at most if the counter is charged, else by 1 at most (also where a slow
   counter becomes late and charged), so the arc may weigh 1 - p, or 0. It may weigh 1 where r is already at the end of
   the cell to which the step moves, for there the potential does not rise.

A potential is never negative, so a run of k steps through all events of the goals has a path that weighs k at most,
whatever the periods are. For the search no weight may be negative. So a height of each node, at most 0, and 0 at the
start, is added at the target of an arc and taken away at its source: that makes no path heavier. The period is the
least weight from an arc that moves the charged counter to the end of the next one, towards which heights fall.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import pairwise
from math import inf
from typing import NamedTuple

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE

from bmc.errors import counted
from bmc.formulas.evaluate import compile_formulas, names_in
from bmc.formulas.unroll import NEXT, with_terms
from bmc.records import dataclass
from bmc.system.simulation import Simulator
from bmc.system.transition import TransitionSystem, Valuation, conjunction, conjuncts
from chaincover.certificate import Acceleration, Certificate
from chaincover.verification.counter_lemma import Looks, lemma
from chaincover.verification.inputs import input_classes
from chaincover.verification.limits import Clock
from chaincover.verification.report import HOLDS, OPEN, WRONG, Line
from chaincover.verification.setting import Setting
from chaincover.verification.states import start_states

JUMPS = "jumps of counters"

State = tuple[int, ...]

Late = tuple[int, frozenset[int]]
"""The slow counter that is late and charged (-1: none), and the others that are late, by the place of a variable."""

IN_TIME: Late = (-1, frozenset())


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
        return Line(JUMPS, HOLDS, f"{text}, and {said} among {counted(len(self.graph.arcs), 'node')} of jumps")


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
    setting = setting.of(told)
    strange = [name for name, starts in claim.cells.items() if not _is_cut(system, name, starts)]
    if strange:
        return Jumps(WRONG, f"'{strange[0]}' has no such cells")
    starts = start_states(system, setting.formulas, clock)
    if starts is None or len(starts) > 1:
        return Jumps(OPEN, "start values are open")
    looks = Looks.of(setting)
    given = [part for part in conjuncts(TRUE() if known is None else known) if names_in([part]).isdisjoint(claim.cells)]
    fine = lemma(system, looks, claim.cells, (clock, given))
    if fine is None:
        return Jumps(OPEN, "the solver did not finish with the lemma")
    if not fine:
        return Jumps(WRONG, "two values of one cell are told apart")
    formulas = [system.input_constraint, system.defined, *(var.next for var in looks.variables(system))]
    classes = input_classes(system.inputs, formulas, setting.formulas, clock, {})
    if classes is None:
        return Jumps(OPEN, "too many inputs")
    graph = _Builder(_Steps(system, looks, claim.cells), claim, classes.choices).graph(clock)
    return Jumps(OPEN, "too many jumps, or no time left") if graph is None else Jumps(HOLDS, "", graph)


def _is_cut(system: TransitionSystem, name: str, starts: Sequence[int]) -> bool:
    """Whether cells that begin at ``starts`` cut the values of a variable that has this ``name``."""
    size = next((1 << var.type.bits for var in system.state if var.name == name), 0)
    return size >= 2 and [*starts[:1]] == [0] and all(a < b for a, b in pairwise((*starts, size)))


class _Steps:
    """Makes single steps on the variables that matter, and knows the cells of counters, by the place of a variable."""

    def __init__(self, system: TransitionSystem, looks: Looks, cells: Mapping[str, Sequence[int]]) -> None:
        variables = looks.variables(system)
        self.names, self.looks = [var.name for var in variables], looks
        counters = [(place, var.name, 1 << var.type.bits) for place, var in enumerate(variables) if var.name in cells]
        self.cells = {place: (*sorted({*cells[name], size // 2}), size) for place, name, size in counters}
        begin = Simulator(system).initial()
        self.start = tuple(begin[name] for name in self.names)
        allowed = conjunction([system.input_constraint, system.defined])
        after = {var.type.symbol(NEXT + var.name): var.next for var in variables}
        self._step = compile_formulas([allowed, *after.values(), *with_terms(looks.in_steps, after)])
        self._in_state = compile_formulas([looks.end, *looks.in_states])

    def made(self, state: State, choice: Valuation) -> tuple[State, int] | None:
        """The next state and the events of the step; None where it is not allowed."""
        allowed, *after = self._step({**dict(zip(self.names, state, strict=True)), **choice})
        size = len(state)
        return (tuple(after[:size]), _bits(after[size:]) << len(self.looks.in_states)) if allowed else None

    def seen(self, state: State) -> tuple[bool, int]:
        """Whether a run may end in a state, and the events of the state."""
        end, *happening = self._in_state(dict(zip(self.names, state, strict=True)))
        return bool(end), _bits(happening)

    def cell(self, place: int, value: int) -> tuple[int, int]:
        """The first and the last value of a cell."""
        number = bisect_right(self.cells[place], value)
        return self.cells[place][number - 1], self.cells[place][number] - 1

    def beside(self, state: State) -> State:
        """A state with another value of the same cell for each counter whose cell has one."""
        found = [*state]
        for place in self.cells:
            low, high = self.cell(place, state[place])
            found[place] += (state[place] < high) - (state[place] == high > low)
        return tuple(found)


class _Arc(NamedTuple):
    """From node to node; the counters ``carried`` keep their deviation, but that of ``mover`` rises by ``shift``.

    It weighs ``steps``, and ``periods`` times the period of the counter that is charged at its source.
    """

    source: int
    target: int
    events: int
    carried: frozenset[int]
    steps: int
    periods: int = 0
    mover: int = -1
    shift: int = 0


class _Builder:
    """Finds the nodes of the graph and the arcs that the argument above needs, node by node."""

    def __init__(self, steps: _Steps, claim: Acceleration, choices: Sequence[Valuation]) -> None:
        self._steps, self._kept, self._choices = steps, claim.kept, choices
        self._slow = {place for place in steps.cells if steps.names[place] in claim.slow}
        self._numbers: dict[tuple[State, Late], int] = {}
        self._nodes: list[tuple[State, Late, dict[int, int]]] = []
        self._queue: list[tuple[int, int]] = []
        self._arcs: dict[_Arc, None] = {}
        self._leaps: list[tuple[int, int, int, int]] = []

    def graph(self, clock: Clock) -> Graph | None:
        """The graph; None where it takes more than the limits."""
        self._node(self._steps.start, dict.fromkeys(self._steps.cells, 0), IN_TIME)
        left = clock.limits.explored // 16
        while self._queue:
            _, node = heappop(self._queue)
            beside = self._steps.beside(self._nodes[node][0])
            for choice in self._choices:
                left -= 1 + self._follow(node, beside, choice, left)
            if left < 0 or clock.over:
                return None
        seen = [self._steps.seen(state) for state, *_ in self._nodes]
        arcs: list[dict[tuple[int, int], int]] = [{} for _ in seen]
        for source, target, events, weight in self._weighed():
            key = target, events | seen[target][1]
            arcs[source][key] = min(weight, arcs[source].get(key, weight))
        leading = [[(target, weight, events) for (target, events), weight in found.items()] for found in arcs]
        return Graph(leading, [end for end, _ in seen], seen[0][1], self._steps.looks.of_goal)

    def _node(self, state: State, ages: dict[int, int], late: Late) -> int:
        if (state, late) not in self._numbers:
            self._numbers[state, late] = len(self._nodes)
            self._nodes.append((state, late, ages))
            heappush(self._queue, (sum(ages.values()), self._numbers[state, late]))
        return self._numbers[state, late]

    def _follow(self, node: int, beside: State, choice: Valuation, most: int) -> int:
        """Add what a step needs, under one choice of inputs; the number of leaps, made if ``most`` or fewer."""
        state = self._nodes[node][0]
        made = self._steps.made(state, choice)
        if made is None:
            return 0
        after = made[0]
        there, _ = self._steps.made(beside, choice) or made  # the lemma speaks of states that can be reached
        carried = frozenset(n for n in self._steps.cells if beside[n] != state[n] and there[n] != after[n])
        place = next((n for n in carried if after[n] != state[n]), -1)
        if place < 0:
            self._in_time(node, made, carried)
            return 0
        last = self._move(node, choice, made, carried, place)
        if len(last) <= most:
            self._leap(node, place, last)
        return len(last)

    def _move(
        self, node: int, choice: Valuation, made: tuple[State, int], carried: frozenset[int], place: int
    ) -> range:
        """Add a step that moves the counter at ``place``; the values of its cell to leap to, from which the step leads
        out of it."""
        (state, (charged, others), _), after = self._nodes[node], made[0]
        value, (low, high), late = state[place], self._steps.cell(place, state[place]), place in {charged, *others}
        half = self._steps.cells[place][-1] // 2
        shift = (after[place] - value + half) % (2 * half) - half
        if abs(shift) <= high - low and (late or place not in self._slow or low <= after[place] <= high):
            self._moved(node, choice, made, carried, (place, shift))
        if not low <= after[place] <= high and not late:
            self._in_time(node, made, carried - {place})
        if place in self._slow and not late:
            return range(0)
        return range(max(low, high - shift + 1), high + 1) if shift > 0 else range(low, min(high + 1, low - shift))

    def _leap(self, node: int, place: int, ends: range) -> None:
        """Add leaps to nodes where the counter at ``place`` has the values ``ends``, and does not deviate."""
        state, (charged, others), ages = self._nodes[node]
        rest = self._still_late(node, frozenset(self._steps.cells) - {place})
        for end in ends:
            if end != state[place] or place in {charged, *others}:
                target = self._node((*state[:place], end, *state[place + 1 :]), {**ages, place: 0}, rest)
                self._leaps.append((node, target, place, end - state[place]))

    def _still_late(self, node: int, carried: frozenset[int]) -> Late:
        charged, others = self._nodes[node][1]
        return charged if charged in carried else -1, others & carried

    def _in_time(self, node: int, made: tuple[State, int], carried: frozenset[int], mover: int = -1) -> None:
        """A step that is made as it is; it moves the counter ``mover`` within its cell."""
        ages = {n: age + (n == mover) if n in carried else 0 for n, age in self._nodes[node][2].items()}
        target = self._node(made[0], ages, self._still_late(node, carried))
        self._arcs[_Arc(node, target, made[1], carried, 1)] = None

    def _moved(
        self, node: int, choice: Valuation, made: tuple[State, int], carried: frozenset[int], move: tuple[int, int]
    ) -> None:
        """A step that moves a counter within its cell, where it begins at a value that allows that."""
        (place, shift), state = move, self._nodes[node][0]
        low, high = self._steps.cell(place, state[place])
        within = min(max(state[place], low - shift), high - shift)
        _, events = self._steps.made((*state[:place], within, *state[place + 1 :]), choice) or (state, 0)
        stays = (*made[0][:place], state[place], *made[0][place + 1 :])
        charged, others = still = self._still_late(node, carried)
        late, slow = place in {charged, *others}, place in self._slow
        matters = slow or (events, stays) != (0, state)
        if within == state[place] and self._nodes[node][2][place] < self._kept and matters and not late:
            self._in_time(node, made, carried, place)
            return
        onward = state[place] == (high if shift > 0 else low)
        own = place == charged and not onward
        if slow and not late:
            still = (place, others) if charged < 0 else (charged, others | {place})
        target = self._node(stays, {n: age if n in carried else 0 for n, age in self._nodes[node][2].items()}, still)
        self._arcs[_Arc(node, target, events, carried, int(own or onward), -int(own), place, shift)] = None

    def _speeds(self) -> dict[tuple[int, int, bool], int]:
        """How far a counter that deviates at a node has moved in one step at most, up and down."""
        onward: dict[tuple[int, int], set[int]] = defaultdict(set)
        for arc in self._arcs:
            for place in arc.carried:
                onward[arc.source, place].add(arc.target)
        for source, target, gone, _ in self._leaps:
            for place in self._steps.cells.keys() - {gone}:
                onward[source, place].add(target)
        speeds: dict[tuple[int, int, bool], int] = {}
        todo = [(abs(arc.shift), arc.target, arc.mover, arc.shift < 0) for arc in self._arcs if arc.mover >= 0]
        while todo:
            speed, node, place, down = todo.pop()
            if speed > speeds.get((node, place, down), 0):
                speeds[node, place, down] = speed
                todo += [(speed, target, place, down) for target in onward[node, place]]
        return speeds

    def _priced(self, charged: Sequence[int]) -> Iterator[_Arc]:
        """All arcs, and those of leaps; ``charged`` has the counter that is charged at each node."""
        speeds = self._speeds()
        yield from self._arcs
        for source, target, place, way in self._leaps:
            speed = speeds.get((source, place, way < 0), 0)
            if not way:
                yield _Arc(source, target, 0, frozenset(), 0)
            elif speed:
                more, own = -(-abs(way) // speed) - 1, charged[source] == place
                yield _Arc(source, target, 0, frozenset(), 1 if own else 1 + more, more if own else 0)

    def _weighed(self) -> Iterator[tuple[int, int, int, int]]:
        """All arcs, with source, target, events and weight."""
        charged = [late[0] for _, late, _ in self._nodes]
        arcs, periods, height = [*self._priced(charged)], {-1: 0}, [0] * len(charged)
        for place in self._slow:
            nodes = {node for node, own in enumerate(charged) if own == place}
            ahead, rest = _ahead(arcs, nodes)
            periods[place] = 1 + rest
            for node in nodes:
                height[node] = int(min(ahead.get(node, rest), rest)) - rest
        for arc in arcs:
            weight = arc.steps + arc.periods * periods[charged[arc.source]]
            yield arc.source, arc.target, arc.events, weight + height[arc.target] - height[arc.source]


def _ahead(arcs: Sequence[_Arc], nodes: Collection[int]) -> tuple[Mapping[int, float], int]:
    """From each of the ``nodes`` at which one counter is charged the least weight to an arc that moves it, and the
    least one from where such an arc, or one from another node, ends."""
    moves = [arc for arc in arcs if arc.target in nodes and (arc.periods or arc.source not in nodes)]
    others = [arc for arc in arcs if arc.target in nodes and arc.source in nodes and not arc.periods]
    into = _into((arc.source, arc.target, arc.steps) for arc in others)
    ahead = _least(into, [(0, arc.source) for arc in moves if arc.periods])
    return ahead, int(min((ahead[arc.target] for arc in moves if arc.target in ahead), default=0))


Into = Mapping[int, Sequence[tuple[int, int]]]
"""By target: the sources and weights of arcs."""


@dataclass(frozen=True)
class Graph:
    """``arcs`` by node, as (target, weight, events); the first node is the start, where the events ``begun`` happen."""

    arcs: Sequence[Sequence[tuple[int, int, int]]]
    ends: Sequence[bool]
    begun: int
    of_goal: Mapping[str, int]

    MOST = 2_000_000
    """Arcs followed by one search."""

    def no_path(self, goals: Sequence[str], below: float) -> bool | None:
        """Whether no path through all events of ``goals`` to an end weighs less than ``below``; None: not finished."""
        events = sorted({self.of_goal[goal] for goal in goals})
        wanted, ahead = sum(events), {0: self._to_end, **dict(zip(events, map(self._over, events), strict=True))}
        queue, followed = [(0.0, 0, 0, self.begun & wanted)], 0
        best: dict[tuple[int, int], int] = {}
        passed: list[list[tuple[int, int]]] = [[] for _ in self.arcs]
        while queue:
            _, weight, node, mask = heappop(queue)
            if any(not mask & ~other and cost <= weight for other, cost in passed[node]):
                continue  # with no fewer events and at no higher cost the search has been here
            passed[node].append((mask, weight))
            if mask == wanted and self.ends[node]:
                return False
            followed += len(self.arcs[node])
            if followed > self.MOST:
                return None
            for target, step, seen in self.arcs[node]:
                after = weight + step, target, mask | seen & wanted
                if after[0] < best.get(after[1:], inf):
                    left = max(far.get(target, inf) for event, far in ahead.items() if not event & after[2])
                    if after[0] + left < below:
                        best[after[1:]] = after[0]
                        heappush(queue, (after[0] + left, *after))
        return True

    @cached_property
    def _into(self) -> Into:
        return _into((source, target, weight) for source, out in enumerate(self.arcs) for target, weight, _ in out)

    @cached_property
    def _to_end(self) -> Mapping[int, float]:
        return _least(self._into, [(0, node) for node, end in enumerate(self.ends) if end])

    def _over(self, event: int) -> Mapping[int, float]:
        """For each node the least weight to an end with ``event`` on the way."""
        arcs = ((source, *arc) for source, out in enumerate(self.arcs) for arc in out)
        begin = [
            (weight + self._to_end.get(target, inf), source) for source, target, weight, seen in arcs if seen & event
        ]
        return _least(self._into, begin)


def _into(arcs: Iterable[tuple[int, int, int]]) -> Into:
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for source, target, weight in arcs:
        found[target].append((source, weight))
    return found


def _least(into: Into, begin: Iterable[tuple[float, int]]) -> dict[int, float]:
    """The least weight from each node to one of ``begin``, with the weight that is told there."""
    found: dict[int, float] = {}
    queue = [*begin]
    heapify(queue)
    while queue:
        weight, node = heappop(queue)
        if node not in found:
            found[node] = weight
            for source, step in into.get(node, ()):
                if source not in found:
                    heappush(queue, (weight + step, source))
    return found


def _bits(marks: Iterable[int]) -> int:
    return sum(1 << place for place, holds in enumerate(marks) if holds)
