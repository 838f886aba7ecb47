"""Breadth-first search over (state, goals under way, goals covered) of a small system: the shortest chain of all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pysmt.fnode import FNode

from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import plain, unframed
from bmc.system.hold import held_values
from bmc.system.transition import Valuation, conjunction, symbols_of
from chaincover.verify.limits import Clock
from chaincover.verify.setting import Setting
from chaincover.verify.states import Table
from properties.goal import Goal

Test = Callable[[Mapping[str, int]], tuple[int, ...]]

MOVES_PER_NODE = 20
"""Moves looked at, times the limit of nodes, before the search is given up."""


@dataclass(frozen=True, slots=True)
class Node:
    """``under_way``: bits of goals that started so many steps ago and held so far; ``covered``: bits of goals.

    ``window``: the last (state, inputs) as numbers, where a goal compares its steps with each other.
    """

    state: int
    under_way: int
    covered: int
    window: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """``length`` is that of the shortest chain, with its ``inputs`` and the ``start`` state; None if there is none.

    ``complete``: whether all runs shorter than asked for were searched, else a limit came first.
    """

    complete: bool
    nodes: int
    length: int | None = None
    start: Valuation | None = None
    inputs: tuple[Valuation, ...] = ()


def search(
    table: Table, setting: Setting, goals: Sequence[str], to_end: bool, below: int | None, clock: Clock
) -> Outcome:
    """The shortest run of fewer than ``below`` steps (None: of any length) that covers ``goals``.

    ``to_end``: and that ends in the end condition.
    """
    sweep = _Sweep(_Work(table, setting, [setting.goals[name] for name in goals], to_end), clock)
    for length, layer in sweep.layers():
        if below is not None and length >= below:
            break
        for node in layer:
            if sweep.work.over(node):
                return _outcome(table, sweep, node)
    return Outcome(not sweep.stopped, len(sweep.parents))


def covers(table: Table, setting: Setting, goals: Sequence[str], clock: Clock) -> dict[frozenset[str], int] | None:
    """Every set of ``goals`` that some run to the end covers, with the least number of steps; None above the limits."""
    sweep = _Sweep(_Work(table, setting, [setting.goals[name] for name in goals], True), clock)
    least: dict[int, int] = {}
    for length, layer in sweep.layers():
        for node in layer:
            if sweep.work.may_end(node):
                least.setdefault(node.covered, length)
    if sweep.stopped:
        return None
    return {frozenset(g for n, g in enumerate(goals) if mask >> n & 1): length for mask, length in least.items()}


class _Sweep:
    """All nodes by the number of steps to them. ``stopped``: a limit came first. ``parents`` tells the ways."""

    def __init__(self, work: _Work, clock: Clock) -> None:
        self.work = work
        self.parents: dict[Node, tuple[Node, int] | None] = {}
        self.stopped = False
        self._clock = clock

    def layers(self) -> Iterator[tuple[int, list[Node]]]:
        """Numbers of steps with the nodes after so many, as long as there are new ones."""
        layer = list(dict.fromkeys(self.work.first_nodes()))
        self.parents.update(dict.fromkeys(layer))
        length, moves, most = 0, 0, self._clock.limits.nodes
        while layer:
            yield length, layer
            following: list[Node] = []
            for node in layer:
                for choice, after in self.work.successors(node):
                    moves += 1
                    if after not in self.parents:
                        self.parents[after] = (node, choice)
                        following.append(after)
                if len(self.parents) > most or moves > most * MOVES_PER_NODE or self._clock.over:
                    self.stopped = True
                    return
            layer = following
            length += self.work.stride


def _outcome(table: Table, sweep: _Sweep, node: Node) -> Outcome:
    inputs: list[Valuation] = []
    here = node
    while (step := sweep.parents[here]) is not None:
        here, choice = step
        inputs += [table.choices[choice]] * sweep.work.stride
    return Outcome(True, len(sweep.parents), len(inputs), table.states[here.state], tuple(reversed(inputs)))


class _Work:
    """The goals taken apart: what each asks of one step alone, as bits, and what compares several steps.

    A goal of J steps has J + 1 bits: number j is set while a start of the goal j steps ago is still possible.
    ``stride``: the steps between two nodes; those of a held step where no chain may end within one.
    """

    def __init__(self, table: Table, setting: Setting, goals: Sequence[Goal], to_end: bool) -> None:
        self._table = table
        self._forbid = setting.overlap == "forbid"
        self._goals = goals
        self._all = (1 << len(goals)) - 1
        self._first: list[int] = []
        offset = 0
        for goal in goals:
            self._first.append(offset)
            offset += goal.length + 1
        self._starts = sum(1 << bit for bit in self._first)
        self._own = [((2 << g.length) - 1) << bit for g, bit in zip(goals, self._first, strict=True)]
        alone, self._joint = _taken_apart(goals)
        self._window = max((goals[n].length for n in self._joint), default=0)
        self._held = self._bits(alone)
        self._ends = _end_states(table, setting) if to_end else [True] * len(table.states)
        places = zip(self._ends, table.states, strict=True)
        within = any(end and held_values(setting.system, state) is not None for end, state in places)
        self.stride = 1 if within else setting.system.hold
        self._moves = [self._worthwhile(number) for number in range(len(table.states))]

    def over(self, node: Node) -> bool:
        """Whether a chain may end here."""
        return node.covered == self._all and self._ends[node.state]

    def may_end(self, node: Node) -> bool:
        """Whether a chain, of whatever goals, may end here."""
        return self._ends[node.state]

    def first_nodes(self) -> Iterator[Node]:
        """The nodes before any step."""
        for start in self._table.starts:
            yield from self.arrivals(start, 0, 0, ())

    def successors(self, node: Node) -> Iterator[tuple[int, Node]]:
        """The nodes ``stride`` steps later, each with the inputs that lead there."""
        for choice, after in self._one_step(node):
            nodes = [after]
            for _ in range(1, self.stride):
                nodes = [later for here in nodes for _, later in self._one_step(here)]
            for last in dict.fromkeys(nodes):
                yield choice, last

    def _one_step(self, node: Node) -> Iterator[tuple[int, Node]]:
        for choice, target, held in self._moves[node.state]:
            window = ((*node.window, (node.state, choice))[-self._window :]) if self._window else ()
            for after in self.arrivals(target, (node.under_way & held) << 1, node.covered, window):
                yield choice, after

    def arrivals(self, state: int, under_way: int, covered: int, window: tuple[tuple[int, int], ...]) -> Iterator[Node]:
        """The nodes in which ``state`` can be reached: with overlap forbidden it is free which goals are credited."""
        under_way |= self._starts
        here = under_way & self._held[state][0]
        hits = [n for n, goal in enumerate(self._goals) if here >> (self._first[n] + goal.length) & 1]
        hits = [n for n in hits if not covered >> n & 1 and self._fits(n, window, state)]
        if not self._forbid:
            yield self._node(state, under_way, covered | sum(1 << n for n in hits), window)
            return
        yield self._node(state, under_way, covered, window)
        at_once = sum(1 << n for n in hits if not self._goals[n].length)
        for bits in ([at_once] if at_once else []) + [at_once | 1 << n for n in hits if self._goals[n].length]:
            yield self._node(state, self._starts, covered | bits, window)

    def _node(self, state: int, under_way: int, covered: int, window: tuple[tuple[int, int], ...]) -> Node:
        for n, own in enumerate(self._own):
            if covered >> n & 1:
                under_way &= ~own
        return Node(state, under_way, covered, window if any(not covered >> n & 1 for n in self._joint) else ())

    def _fits(self, number: int, window: tuple[tuple[int, int], ...], state: int) -> bool:
        """Whether what the goal asks of several steps together holds, its last step being now."""
        if number not in self._joint:
            return True
        length = self._goals[number].length
        values = {f"{name}@{length}": value for name, value in self._table.states[state].items()}
        for step, (earlier, choice) in enumerate(window[len(window) - length :]):
            both = {**self._table.states[earlier], **self._table.choices[choice]}
            values.update({f"{name}@{step}": value for name, value in both.items()})
        return bool(self._joint[number](values)[0])

    def _bits(self, alone: dict[tuple[int, int], FNode]) -> list[tuple[int, dict[int, int]]]:
        """For each state the bits that hold with it as a last one, and for each of its moves those that hold in it."""
        last = {key: f for key, f in alone.items() if key[1] == self._goals[key[0]].length}
        inner = {key: f for key, f in alone.items() if key not in last}
        at_end, at_step = compile_formulas(list(last.values())), compile_formulas(list(inner.values()))
        free = sum(self._own) & ~sum(1 << (self._first[n] + j) for n, j in alone)
        rows = []
        for state, moves in zip(self._table.states, self._table.moves, strict=True):
            here = free | self._sum(last, at_end(state))
            steps = {c: free | self._sum(inner, at_step({**state, **self._table.choices[c]})) for c, _ in moves}
            rows.append((here, steps))
        tops = sum(1 << (bit + goal.length) for goal, bit in zip(self._goals, self._first, strict=True))
        return [(here, {c: bits & ~tops for c, bits in steps.items()}) for here, steps in rows]

    def _sum(self, formulas: dict[tuple[int, int], FNode], values: Sequence[int]) -> int:
        return sum(1 << (self._first[n] + j) for (n, j), value in zip(formulas, values, strict=True) if value)

    def _worthwhile(self, number: int) -> list[tuple[int, int, int]]:
        """The moves of a state, with the bits that hold in them; of those that make no difference only the first."""
        seen: dict[tuple[int, int], tuple[int, int, int]] = {}
        rows = []
        for choice, target in self._table.moves[number]:
            held = self._held[number][1][choice]
            rows.append((choice, target, held))
            seen.setdefault((target, held), rows[-1])
        return rows if self._joint else list(seen.values())


def _taken_apart(goals: Sequence[Goal]) -> tuple[dict[tuple[int, int], FNode], dict[int, Test]]:
    """What each goal (by number) asks of its step j alone, over plain symbols, and tests of what it asks of several."""
    alone: dict[tuple[int, int], FNode] = {}
    joint: dict[int, Test] = {}
    for number, goal in enumerate(goals):
        together = []
        for part in _conjuncts(goal.antecedent):
            symbols = symbols_of(part)
            steps = {unframed(symbol)[1] for symbol in symbols} or {0}
            if len(steps) > 1:
                together.append(part)
                continue
            key = number, steps.pop()
            own = part.substitute({symbol: plain(symbol) for symbol in symbols})
            alone[key] = conjunction([alone[key], own]) if key in alone else own
        if together:
            joint[number] = compile_formulas([conjunction(together)])
    return alone, joint


def _conjuncts(formula: FNode) -> Iterator[FNode]:
    """The parts of which ``formula`` is the conjunction."""
    todo = [formula]
    while todo:
        part = todo.pop()
        if part.is_and():
            todo.extend(part.args())
        else:
            yield part


def _end_states(table: Table, setting: Setting) -> list[bool]:
    """For each state whether a chain may end there."""
    if setting.final is None:
        return [True] * len(table.states)
    holds = compile_formulas([setting.final])
    return [bool(holds(state)[0]) for state in table.states]
