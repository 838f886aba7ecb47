"""The reachable states, listed one by one, in which a goal can start; which of them reach each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import networkx as nx
import numpy as np
from pysmt.fnode import FNode

from bmc.explicit.state_graph import StateGraph
from bmc.formulas.evaluate import define, translate
from bmc.formulas.unroll import unframed
from bmc.system.transition import Valuation, conjunction, symbols_of
from chaincover.graph.enumerated_exact import goal_classes, states_in
from chaincover.graph.enumerated_goals import TooManyUnderWay, runs_of
from chaincover.graph.small import ONE_BY_ONE
from properties.goal import Goal, goal_length
from properties.obligations import Obligations

TRIGGER_WORK = 1_000_000
"""Steps tried for one goal's trigger."""


def components(graph: StateGraph) -> dict[int, int]:
    """For each state of ``graph``, by its index, the number of its strongly connected component."""
    arrows = nx.DiGraph()
    arrows.add_nodes_from(range(len(graph.states)))
    size = np.int64(len(graph.states))
    different = np.unique(graph.steps.sources * size + graph.steps.nexts)
    arrows.add_edges_from(zip((different // size).tolist(), (different % size).tolist(), strict=True))
    parts = nx.strongly_connected_components(arrows)
    return {state: number for number, part in enumerate(parts) for state in part}


def states_where(graph: StateGraph, formula: FNode) -> frozenset[int]:
    """The indexes of the states that satisfy ``formula`` (over plain symbols of the graph's variables)."""
    return frozenset(np.flatnonzero(states_in(graph, formula)).tolist())


def trigger_states(graph: StateGraph, goal: Goal, work: int = TRIGGER_WORK) -> frozenset[int] | None:
    """The reachable states in which ``goal`` can start: some run from there satisfies its whole antecedent.

    None if that takes more than ``work`` steps to try; in a long list, which is searched as a whole, too much memory.
    """
    if len(graph.states) > ONE_BY_ONE:
        return _in_arrays(graph, goal)
    walk = _Walk(graph, goal, work)
    found = [state for state in range(len(graph.states)) if walk.can_start(state)]
    return None if walk.work < 0 else frozenset(found)


def _in_arrays(graph: StateGraph, goal: Goal) -> frozenset[int] | None:
    obligations = Obligations([goal], set(graph.inputs.columns))
    try:
        found = runs_of(graph, goal_classes(graph, obligations), obligations, 0, lambda: None)
    except TooManyUnderWay:
        return None
    return frozenset(found.starts.tolist())


Test = Callable[[Sequence[Valuation], Sequence[Valuation]], Any]


class _Walk:
    """Depth-first search for one goal's runs. Parts of the antecedent are tested as soon as their steps are known.

    ``_dead`` keeps (level, state) from which no run satisfies the rest, where the rest does not look back.
    """

    def __init__(self, graph: StateGraph, goal: Goal, work: int) -> None:
        self._graph = graph
        self._length = goal.length
        self.work = work
        inputs = set(graph.inputs[0])
        levels: list[list[FNode]] = [[] for _ in range(goal.length + 1)]
        for part in _conjuncts(goal.antecedent):
            levels[goal_length([part], inputs)].append(part)
        self._tests = [_test(parts, inputs) for parts in levels]
        self._forgets = [not _looks_back(levels, level) for level in range(goal.length + 1)]
        self._dead: set[tuple[int, int]] = set()

    def can_start(self, start: int) -> bool:
        """Whether some run from ``start`` satisfies the antecedent; false too once ``work`` is below 0."""
        states: list[Valuation] = [self._graph.states[start]]
        inputs: list[Valuation] = []
        if not self._tests[0](states, inputs):
            return False
        path, todo = [start], [iter(self._graph.steps[start])]
        while path and self.work >= 0:
            level = len(inputs)
            if level == self._length:
                return True
            if (step := self._next_step(todo[-1], states, inputs)) is not None:
                path.append(step)
                todo.append(iter(self._graph.steps[step]))
                continue
            if self._forgets[level]:
                self._dead.add((level, path[-1]))
            for stack in (path, todo, states):
                stack.pop()
            del inputs[-1:]
        return False

    def _next_step(
        self, steps: Iterator[tuple[int, int]], states: list[Valuation], inputs: list[Valuation]
    ) -> int | None:
        """The next state by one of ``steps`` that passes its level's test; ``states`` and ``inputs`` then hold it."""
        level = len(inputs) + 1
        for choice, after in steps:
            self.work -= 1
            if (level, after) in self._dead:
                continue
            states.append(self._graph.states[after])
            inputs.append(self._graph.inputs[choice])
            if self._tests[level](states, inputs):
                return after
            states.pop()
            inputs.pop()
        return None


def _conjuncts(formula: FNode) -> list[FNode]:
    """The parts of nested conjunctions."""
    found, todo = [], [formula]
    while todo:
        part = todo.pop()
        if part.is_and():
            todo.extend(part.args())
        else:
            found.append(part)
    return found


def _test(parts: Sequence[FNode], input_names: set[str]) -> Test:
    """Whether all ``parts`` (framed) hold, as a function of the states and the inputs of a run."""

    def read(symbol: FNode) -> str:
        name, step = unframed(symbol)
        return f"{'i' if name in input_names else 's'}[{step}][{name!r}]"

    done = translate([conjunction(parts)], read)
    return define("s, i", [*done.statements, f"return {done.results[0]}"])


def _looks_back(levels: Sequence[Sequence[FNode]], level: int) -> bool:
    """Whether a part tested after ``level`` reads a step before it."""
    later = (part for parts in levels[level + 1 :] for part in parts)
    return any(unframed(symbol)[1] < level for part in later for symbol in symbols_of(part))
