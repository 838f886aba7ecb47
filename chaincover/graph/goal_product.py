"""The enumerated states as a graph whose arrows tell which goals they complete.

The goals, of at most one step, are evaluated on whole arrays of steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from weakref import WeakValueDictionary

import numpy as np

from bmc.analysis.components import strongly_connected
from bmc.evaluation.vectors import Column
from bmc.explicit.state_graph import UNREACHED, Arrows, StateGraph
from bmc.records import dataclass
from chaincover.graph.enumerated_goals import BLOCK, Check, Count, bits, blocks, values_on_steps
from chaincover.problem import Problem
from properties.goal import Goal

MOST_ARROWS = 100_000_000
"""Arrows that are kept: a gigabyte."""


@dataclass(frozen=True)
class Product:
    """The states of ``graph`` with the ``goals`` that arrows between them complete.

    ``starts``: where runs start, with the goals completed there (``start_masks``). Of each arrow ``masks`` tells the
    goals completed on arrival, ``choices`` the input, the first of those that do the same. A mask is a number in
    ``sets``: the goals, as bits.
    """

    graph: StateGraph
    goals: tuple[Goal, ...]
    sets: tuple[int, ...]
    starts: Column
    start_masks: Column
    arrows: Arrows
    masks: Column
    choices: Column

    @property
    def done(self) -> Column:
        """The nodes on whose arrival, or start, goals are completed; some more than once."""
        return np.concatenate([self.arrows.ends[self.masks != 0], self.starts[self.start_masks != 0]]).astype(np.int64)

    def complete(self, numbers: Column, wanted: int) -> Column:
        """Whether each of the sets ``numbers`` has all goals of ``wanted``."""
        return np.array([goals & wanted == wanted for goals in self.sets])[numbers.astype(np.int64)]


_in_use: WeakValueDictionary[int, Product] = WeakValueDictionary()


def goal_product(
    problem: Problem, graph: StateGraph, check: Check = lambda: None, count: Count = lambda steps: None
) -> Product | None:
    """The product for all goals of ``problem``; None for more than ``MOST_ARROWS``.

    It may take as much memory as all else: who asks for one that somebody has gets that one. ``count`` is told of one
    that is made, at its end: nobody else makes it meanwhile.
    """
    key = id(graph)
    made = _in_use.get(key)
    if made is None or made.graph is not graph or made.goals != problem.goals:
        made = _on_steps(problem, graph, check)
        count(graph.steps.total * len(problem.goals))
        if made is not None:
            _in_use[key] = made
    return made


MOST_WALKED, MOST_SETS = 400_000, 20_000
"""Arrows of the product up to which its components are looked at, and sets of goals that are carried through them."""


def _condensed(made: Product, useful: Column, component: Column) -> tuple[list[int], list[set[tuple[int, int]]]]:
    """The graph of components of the ``useful`` nodes: for each one the goals of arrows within it, and its arrows to
    other ones, with their goals."""
    count, arrows = int(component.max(initial=-1)) + 1, made.arrows
    sources = np.repeat(np.arange(arrows.size), np.diff(arrows.offsets))
    kept = np.flatnonzero(useful[sources] & useful[arrows.ends])
    steps = np.stack([component[sources[kept]], component[arrows.ends[kept]], made.masks[kept].astype(np.int64)])
    inside, leaving = [0] * count, [set[tuple[int, int]]() for _ in range(count)]
    for here, after, number in sorted({*zip(*steps.tolist(), strict=True)}):
        if here == after:
            inside[here] |= made.sets[number]
        else:
            leaving[here].add((after, made.sets[number]))
    return inside, leaving


def _from_here_on(inside: Sequence[int], leaving: Sequence[set[tuple[int, int]]]) -> list[int]:
    """For each component the goals of all ways that begin in it."""
    possible = list[int]()
    for here, goals in enumerate(inside):  # what a component leads to has a lower number
        for after, completed in leaving[here]:
            goals |= completed | possible[after]
        possible.append(goals)
    return possible


def largest_sets(made: Product, ends: Column, least: int) -> tuple[int, ...] | None:
    """The sets of ``least`` goals or more that a walk from a start to one of ``ends`` completes, without those within
    others.

    A walk goes round in a strongly connected component until it has all of it, and never comes back to one: the sets
    follow from the graph of components, however many goals there are. None where these, or the sets, are too many.
    """
    arrows = made.arrows
    if len(arrows.ends) > MOST_WALKED:
        return None
    useful = arrows.distances(made.starts) < UNREACHED
    useful &= arrows.backward().distances(np.flatnonzero(ends & useful)) < UNREACHED
    component = _components(arrows, useful)
    inside, leaving = _condensed(made, useful, component)
    count = len(inside)
    possible = _from_here_on(inside, leaving)
    arrived = [set[int]() for _ in range(count)]
    for node, number in zip(made.starts.tolist(), made.start_masks.tolist(), strict=True):
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
    """The number of the strongly connected component of each node ``among``, those that it leads to first.

    -1 for the other nodes.
    """
    after = [ends[among[ends]].tolist() for ends in np.split(arrows.ends, arrows.offsets[1:-1])]
    return np.array(strongly_connected(after, np.flatnonzero(among).tolist()), np.int64)


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
    goals = [None if goal.takes_step else goal for goal in problem.goals]
    return _packed(goals, graph, np.arange(len(graph.states)), None, width)


def _steps_with_goals(
    problem: Problem, graph: StateGraph, sets: _Sets, check: Check
) -> Iterator[tuple[int, int, Column, Column]]:
    """From the first to the last state, some at a time: the steps that leave them, and for each the number in ``sets``
    of the goals, of at most one step, that are completed on arrival."""
    in_step = [goal if goal.takes_step else None for goal in problem.goals]
    here, sources = _at_once(problem, graph, sets.width), graph.steps.sources
    for first, last in blocks(graph.steps.offsets):
        check()
        steps = np.arange(graph.steps.offsets[first], graph.steps.offsets[last])
        rows = np.zeros((len(steps), sets.width), np.uint8)
        for begin in range(0, len(steps), BLOCK):
            part = steps[begin : begin + BLOCK]
            rows[begin : begin + BLOCK] = _packed(in_step, graph, sources[part], part, sets.width)
        yield first, last, steps, sets.numbered(rows | here[graph.steps.nexts[steps]])


def _on_steps(problem: Problem, graph: StateGraph, check: Check) -> Product | None:
    """``goal_product``, made anew."""
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
    start_masks = sets.numbered(_at_once(problem, graph, sets.width)[starts])
    return Product(
        graph=graph,
        goals=problem.goals,
        sets=tuple(sets.sets),
        starts=starts,
        start_masks=start_masks,
        arrows=Arrows(offsets, np.concatenate(ends).astype(np.int32)),
        masks=np.concatenate(masks),
        choices=np.concatenate(choices),
    )


def _packed(
    goals: Sequence[Goal | None], graph: StateGraph, states: Column, steps: Column | None, width: int
) -> Column:
    """For each of ``states``, and the one of ``steps`` that leaves it, which of ``goals`` it completes, in bits."""
    found: Column = np.zeros((len(states), 8 * width), bool)
    asked = [(number, goal.antecedent) for number, goal in enumerate(goals) if goal is not None]
    values = values_on_steps([formula for _, formula in asked], graph, states, steps)
    for (number, _), value in zip(asked, values, strict=True):
        found[:, number] = value
    return np.packbits(found, axis=1, bitorder="little")
