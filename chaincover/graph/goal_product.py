"""The enumerated states with what is pending of goals, as one graph whose arrows tell which goals they complete.

Goals of at most one step leave nothing pending but what the state tells: then the states themselves are the nodes, and
the goals are evaluated on whole arrays of steps. Longer goals are watched by their progress.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import reduce
from weakref import WeakValueDictionary

import numpy as np
from pysmt.fnode import FNode

from bmc.explicit.product import Product, product
from bmc.explicit.state_graph import UNREACHED, Arrows, StateGraph
from bmc.explicit.vectors import Column, Program
from bmc.formulas.unroll import unframed
from bmc.records import dataclass
from bmc.system.transition import symbols_of
from chaincover.graph.goal_runs import BLOCK, Check, Count, blocks, goal_classes
from chaincover.problem import Problem
from properties.goal import Goal
from properties.progression import Arrival, Progression, bits

MOST_NODES, MOST_ARROWS = 50_000_000, 100_000_000
"""States with pending goals, and steps between them, that are kept: a gigabyte and a half."""


class Watch:
    """Remembers the goals under way as what of them is pending; with ``forbid`` goals are credited one by one.

    It tells each set of goals that is completed by its number in ``sets``, which are bit masks; number 0 is the empty
    set.
    """

    def __init__(self, progression: Progression, forbid: bool) -> None:
        self._progression, self._forbid = progression, forbid
        self.sets = [0]
        self._numbers = {0: 0}

    def start(self, state_class: int) -> Sequence[tuple[Hashable, int]]:
        return self._ways(self._progression.begin_all(state_class), self._progression.begin_all(state_class))

    def advance(self, memory: Hashable, input_class: int, state_class: int) -> Sequence[tuple[Hashable, int]]:
        assert isinstance(memory, int)
        moved, begun = (
            self._progression.advance(memory, input_class, state_class),
            self._progression.begin_all(state_class),
        )
        return self._ways(Arrival(moved.pending | begun.pending, moved.completed | begun.completed), begun)

    def _ways(self, arrival: Arrival, begun: Arrival) -> Sequence[tuple[Hashable, int]]:
        """With ``forbid`` a completed goal may be credited, which gives up what began before; ``begun`` is the rest."""
        if not self._forbid:
            return [(arrival.pending, self._number(arrival.completed))]
        goals = self._progression.goals
        at_once = sum(1 << goal for goal in bits(arrival.completed) if goals[goal].length == 0)
        ways = [1 << goal | at_once for goal in bits(arrival.completed & ~at_once)] or ([at_once] if at_once else [])
        return [*((begun.pending, self._number(credited)) for credited in ways), (arrival.pending, 0)]

    def _number(self, goals: int) -> int:
        if goals not in self._numbers:
            self._numbers[goals] = len(self.sets)
            self.sets.append(goals)
        return self._numbers[goals]


@dataclass(frozen=True)
class GoalProduct:
    """The states of ``graph`` with what is pending of ``goals``. An arrow's mask is a number in ``sets``: the goals (as
    bits) that are completed on its arrival."""

    graph: StateGraph
    goals: tuple[Goal, ...]
    product: Product
    sets: tuple[int, ...]

    def complete(self, numbers: Column, wanted: int) -> Column:
        """Whether each of the sets ``numbers`` has all goals of ``wanted``."""
        return np.array([goals & wanted == wanted for goals in self.sets])[numbers.astype(np.int64)]


_in_use: WeakValueDictionary[tuple[int, bool], GoalProduct] = WeakValueDictionary()


def goal_product(
    problem: Problem, graph: StateGraph, check: Check = lambda: None, count: Count = lambda steps: None
) -> GoalProduct | None:
    """The product for all goals of ``problem``; None for more than ``MOST_NODES`` or ``MOST_ARROWS``.

    It may take as much memory as all else: who asks for one that somebody has gets that one. ``count`` is told of one
    that is made, at its end: nobody else makes it meanwhile.
    """
    key = id(graph), problem.forbid
    made = _in_use.get(key)
    if made is None or made.graph is not graph or made.goals != problem.goals:
        made = _goal_product(problem, graph, check)
        count(graph.steps.total * len(problem.goals))
        if made is not None:
            _in_use[key] = made
    return made


def _goal_product(problem: Problem, graph: StateGraph, check: Check) -> GoalProduct | None:
    """``goal_product``, made anew."""
    if not problem.forbid and all(goal.length <= 1 for goal in problem.goals):
        return _on_steps(problem, graph, check)
    progression = problem.progression
    watch = Watch(progression, problem.forbid)
    found = product(graph, goal_classes(graph, progression), watch, (MOST_NODES, MOST_ARROWS), check)
    return None if found is None else GoalProduct(graph, problem.goals, found, tuple(watch.sets))


MOST_WALKED, MOST_SETS = 400_000, 20_000
"""Arrows of the product up to which its components are looked at, and sets of goals that are carried through them."""


def largest_sets(made: GoalProduct, ends: Column, least: int) -> tuple[int, ...] | None:
    """The sets of ``least`` goals or more that a walk from a start to one of ``ends`` completes, without those within
    others.

    A walk goes round in a strongly connected component until it has all of it, and never comes back to one: the sets
    follow from the graph of components, however many goals there are. None where these, or the sets, are too many.
    """
    product, arrows = made.product, made.product.arrows
    if len(arrows.ends) > MOST_WALKED:
        return None
    useful = arrows.distances(product.starts) < UNREACHED
    useful &= arrows.backward().distances(np.flatnonzero(ends & useful)) < UNREACHED
    component = _components(arrows, useful)
    count = int(component.max(initial=-1)) + 1
    sources = np.repeat(np.arange(arrows.size), np.diff(arrows.offsets))
    kept = np.flatnonzero(useful[sources] & useful[arrows.ends])
    steps = np.stack([component[sources[kept]], component[arrows.ends[kept]], product.masks[kept].astype(np.int64)])
    inside, leaving = [0] * count, [set[tuple[int, int]]() for _ in range(count)]
    for here, after, number in sorted({*zip(*steps.tolist(), strict=True)}):
        if here == after:
            inside[here] |= made.sets[number]
        else:
            leaving[here].add((after, made.sets[number]))
    possible = list[int]()
    for here, goals in enumerate(inside):  # what a component leads to has a lower number
        for after, completed in leaving[here]:
            goals |= completed | possible[after]
        possible.append(goals)
    arrived = [set[int]() for _ in range(count)]
    for node, number in zip(product.starts.tolist(), product.start_masks.tolist(), strict=True):
        if useful[node]:
            arrived[component[node]].add(made.sets[int(number)])
    over, found, carried = {*component[np.flatnonzero(ends & useful)].tolist()}, set[int](), 0
    for here in reversed(range(count)):
        sets = {goals | inside[here] for goals in arrived[here]}
        sets = _undominated({goals for goals in sets if (goals | possible[here]).bit_count() >= least})
        carried += len(sets) * (1 + len(leaving[here]))
        if carried > MOST_SETS:
            return None
        if here in over:
            found |= {goals for goals in sets if goals.bit_count() >= least}
        for after, completed in leaving[here]:
            arrived[after] |= {goals | completed for goals in sets}
    return tuple(sorted(_undominated(found)))


def _undominated(sets: set[int]) -> set[int]:
    """Those of ``sets`` that are not within another one."""
    kept = list[int]()
    for goals in sorted(sets, key=int.bit_count, reverse=True):
        if all(goals & ~other for other in kept):
            kept.append(goals)
    return {*kept}


def _components(arrows: Arrows, among: Column) -> Column:
    """The number of the strongly connected component of each node ``among``, those that it leads to first (Tarjan).

    -1 for the other nodes.
    """
    after = [ends[among[ends]].tolist() for ends in np.split(arrows.ends, arrows.offsets[1:-1])]
    number, low = [-1] * arrows.size, [0] * arrows.size
    component: Column = np.full(arrows.size, -1, np.int64)
    met = components = 0
    stack = list[int]()
    for root in np.flatnonzero(among).tolist():
        calls = [(root, iter(after[root]))] if number[root] < 0 else []
        while calls:
            node, left = calls[-1]
            if number[node] < 0:
                number[node] = low[node] = met
                met += 1
                stack.append(node)
            for end in left:
                if number[end] < 0:
                    calls.append((end, iter(after[end])))
                    break
                if component[end] < 0:
                    low[node] = min(low[node], number[end])
            else:
                calls.pop()
                if calls:
                    low[calls[-1][0]] = min(low[calls[-1][0]], low[node])
                if low[node] == number[node]:
                    while component[node] < 0:
                        component[stack.pop()] = components
                    components += 1
    return component


class _Sets:
    """Numbers for sets of goals, given as rows of bits; number 0 is the empty set."""

    def __init__(self, goals: int) -> None:
        self.width = max(1, -(-goals // 8))
        self.sets = [0]
        self._numbers = {bytes(self.width): 0}

    def number(self, packed: bytes) -> int:
        if packed not in self._numbers:
            self._numbers[packed] = len(self.sets)
            self.sets.append(int.from_bytes(packed, "little"))
        return self._numbers[packed]

    def numbered(self, rows: Column) -> Column:
        """The number of each row; a row has a column of packed bits for each eight goals."""
        different, place = np.unique(rows, axis=0, return_inverse=True)
        return np.array([self.number(row.tobytes()) for row in different], np.uint64)[place.reshape(-1)]


def followers_on_steps(
    problem: Problem, graph: StateGraph, check: Check = lambda: None, count: Count = lambda steps: None
) -> dict[str, set[str]]:
    """For each goal of at most one step the others that every step on which it holds covers too, where it begins or
    where it ends; nothing for a goal that no step covers."""
    sets, names = _Sets(len(problem.goals)), problem.names
    for _, _, steps, _ in _steps_with_goals(problem, graph, sets, check):
        count(len(steps) * len(names))
    sets.numbered(_at_once(problem, graph, sets.width)[np.array(graph.starts, np.int64)])
    met = reduce(int.__or__, sets.sets)
    follow = {goal: reduce(int.__and__, (s for s in sets.sets if s >> goal & 1)) for goal in bits(met)}
    return {
        name: {names[other] for other in bits(follow.get(goal, 0)) if other != goal} for goal, name in enumerate(names)
    }


def _at_once(problem: Problem, graph: StateGraph, width: int) -> Column:
    """The goals of no step that hold in each state, in bits."""
    goals = [goal if goal.length == 0 else None for goal in problem.goals]
    return _packed(goals, graph, np.arange(len(graph.states)), None, width)


def _steps_with_goals(
    problem: Problem, graph: StateGraph, sets: _Sets, check: Check
) -> Iterator[tuple[int, int, Column, Column]]:
    """From the first to the last state, some at a time: the steps that leave them, and for each the number in ``sets``
    of the goals, of at most one step, that are completed on arrival."""
    in_step = [goal if goal.length == 1 else None for goal in problem.goals]
    here, sources = _at_once(problem, graph, sets.width), graph.steps.sources
    for first, last in blocks(graph.steps.offsets):
        check()
        steps = np.arange(graph.steps.offsets[first], graph.steps.offsets[last])
        rows = np.zeros((len(steps), sets.width), np.uint8)
        for begin in range(0, len(steps), BLOCK):
            part = steps[begin : begin + BLOCK]
            rows[begin : begin + BLOCK] = _packed(in_step, graph, sources[part], part, sets.width)
        yield first, last, steps, sets.numbered(rows | here[graph.steps.nexts[steps]])


def _on_steps(problem: Problem, graph: StateGraph, check: Check) -> GoalProduct | None:
    """The product where no goal takes more than one step: its nodes are the states; None if there are too many."""
    sets, size = _Sets(len(problem.goals)), len(graph.states)
    sources, counts, ends, masks, choices = graph.steps.sources, [], list[Column](), list[Column](), list[Column]()
    for first, last, steps, numbers in _steps_with_goals(problem, graph, sets, check):
        after = graph.steps.nexts[steps]
        key = (sources[steps].astype(np.int64) * size + after) * len(sets.sets) + numbers.astype(np.int64)
        _, kept = np.unique(key, return_index=True)
        kept.sort()
        counts.append(np.bincount(sources[steps[kept]] - first, minlength=last - first))
        ends.append(after[kept])
        masks.append(numbers[kept].astype(np.min_scalar_type(len(sets.sets))))
        choices.append(graph.steps.choices[steps[kept]])
        if sum(len(part) for part in ends) > MOST_ARROWS:
            return None
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(counts), dtype=np.int64)])
    starts = np.array(graph.starts, np.int64)
    found = Product(
        states=np.arange(size, dtype=np.int32),
        memories=np.zeros(size, np.int32),
        starts=starts,
        start_masks=sets.numbered(_at_once(problem, graph, sets.width)[starts]),
        arrows=Arrows(offsets, np.concatenate(ends).astype(np.int32)),
        masks=np.concatenate(masks),
        choices=np.concatenate(choices),
    )
    return GoalProduct(graph, problem.goals, found, tuple(sets.sets))


def _packed(
    goals: Sequence[Goal | None], graph: StateGraph, states: Column, steps: Column | None, width: int
) -> Column:
    """For each of ``states``, and the one of ``steps`` that leaves it, which of ``goals`` it completes, in bits."""
    found: Column = np.zeros((len(states), 8 * width), bool)
    asked = [(number, goal.antecedent) for number, goal in enumerate(goals) if goal is not None]
    values = _values([formula for _, formula in asked], graph, states, steps)
    for (number, _), value in zip(asked, values, strict=True):
        found[:, number] = value
    return np.packbits(found, axis=1, bitorder="little")


def _values(formulas: Sequence[FNode], graph: StateGraph, states: Column, steps: Column | None) -> Sequence[Column]:
    """The values of ``formulas`` (framed) in each of ``states``, and on the one of ``steps`` that leaves it."""
    columns: dict[str, Column] = {}
    for symbol in {symbol for formula in formulas for symbol in symbols_of(formula)}:
        name, frame = unframed(symbol)
        if name in graph.states.columns:
            own = graph.states.columns[name]
            columns[symbol.symbol_name()] = own[states if frame == 0 or steps is None else graph.steps.nexts[steps]]
        else:
            assert steps is not None
            columns[symbol.symbol_name()] = graph.inputs.columns[name][graph.steps.choices[steps]]
    return Program(formulas)(columns) if formulas else ()


def goal_on_steps(goal: Goal, graph: StateGraph, sources: Column) -> Column:
    """Among all steps, which leave ``sources``, where a goal of one step holds; of no step: where among all states."""
    found: Column = np.zeros(len(sources) if goal.length else len(graph.states), bool)
    for first in range(0, len(found), BLOCK):
        part = np.arange(first, min(first + BLOCK, len(found)))
        here, steps = (sources[part], part) if goal.length else (part, None)
        found[first : first + BLOCK] = _values([goal.antecedent], graph, here, steps)[0]
    return found
