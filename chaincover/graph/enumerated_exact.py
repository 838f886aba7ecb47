"""Exact answers on large lists of states, in arrays: as ``chaincover.graph.exhaustive``, whole layers at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import overload

import numpy as np
from pysmt.fnode import FNode

from bmc.explicit.product import Classes, classes_of, product
from bmc.explicit.state_graph import StateGraph
from bmc.explicit.vectors import Column, compile_columns
from bmc.formulas.unroll import unframed
from bmc.system.run import Run
from bmc.system.simulation import Simulator
from bmc.system.transition import TransitionSystem, symbols_of
from chaincover.graph.enumerated_cover import MOST_GOALS, CoverSearch, Found, Watch
from chaincover.graph.exhaustive import Cover, Exhaustion, Least
from properties.goal import Goal
from properties.obligations import Obligations, bits

Check = Callable[[], None]

MOST_KEYS = (1 << 63) - 1
"""Nodes times sets of covered goals that have a number each."""

MOST_ARROWS = 100_000_000
"""Steps between states with obligations that are kept: a gigabyte and a half."""


def exhaust(
    system: TransitionSystem,
    graph: StateGraph,
    goals: Sequence[Goal],
    final: FNode | None,
    overlap: str,
    nodes_limit: int,
    check: Check = lambda: None,
) -> Exhaustion | None:
    """All sets of ``goals`` that one run covers, by rising length; parameters and answer as for ``exhaustive``.

    ``graph`` lists the states for these goals or more. ``nodes_limit``: at most so many nodes are kept.
    """
    search = _search(system, graph, goals, final, overlap, nodes_limit, check)
    found = None if search is None else search.every_set()
    if search is None or found is None:
        return None
    covers = tuple(Cover(frozenset(goals[goal].name for goal in bits(it.covered)), it.depth) for it in found)
    return Exhaustion(len(graph.states), search.size, covers, _Runs(system, graph, search, found))


def least_run(
    system: TransitionSystem,
    graph: StateGraph,
    goals: Sequence[Goal],
    final: FNode | None,
    overlap: str,
    nodes_limit: int,
    check: Check = lambda: None,
) -> Least | None:
    """A shortest run over all ``goals``, or that there is none; None for too many nodes. As for ``exhaust``."""
    search = _search(system, graph, goals, final, overlap, nodes_limit, check)
    if search is None:
        return None
    found, certain = search.all_goals()
    if not certain:
        return None
    run = None if found is None else run_of(system, graph, *search.choices(found))
    return Least(run, len(graph.states), search.size)


def states_in(graph: StateGraph, formula: FNode | None) -> Column:
    """Whether each state satisfies ``formula`` (over plain state symbols; None: all do)."""
    if formula is None:
        return np.ones(len(graph.states), bool)
    (holds,) = compile_columns([formula])(graph.states.columns)
    return np.broadcast_to(holds, (len(graph.states),))


def goal_classes(graph: StateGraph, obligations: Obligations) -> Classes:
    """The classes of states and inputs that the goals tell apart."""
    antecedents = [goal.antecedent for goal in obligations.goals]
    read = sorted({unframed(symbol)[0] for formula in antecedents for symbol in symbols_of(formula)})
    return classes_of(graph, read, obligations.state_class, obligations.input_class)


def run_of(system: TransitionSystem, graph: StateGraph, start: int, choices: Sequence[int]) -> Run:
    """The run from a state of ``graph`` that starts runs, by inputs of ``graph``, with all variables of ``system``."""
    simulator, state = Simulator(system), graph.states[start]
    open_ones = {var.name: state[var.name] for var in system.state if var.init is None and var.name in state}
    return simulator.run(simulator.initial(open_ones), [graph.inputs[choice] for choice in choices])


def _search(
    system: TransitionSystem,
    graph: StateGraph,
    goals: Sequence[Goal],
    final: FNode | None,
    overlap: str,
    nodes_limit: int,
    check: Check,
) -> CoverSearch | None:
    if len(goals) > MOST_GOALS:
        return None
    obligations = Obligations(goals, {var.name for var in system.inputs})
    watch = Watch(obligations, overlap == "forbid")
    found = product(graph, goal_classes(graph, obligations), watch, graph.starts, nodes_limit, MOST_ARROWS, check)
    if found is None or found.arrows.size << len(goals) > MOST_KEYS:
        return None
    return CoverSearch(found, len(goals), states_in(graph, final)[found.states], nodes_limit, check)


class _Runs(Sequence[Run]):
    """The runs to what a search found, each made when it is asked for."""

    def __init__(
        self, system: TransitionSystem, graph: StateGraph, search: CoverSearch, found: Sequence[Found]
    ) -> None:
        self._system, self._graph, self._search, self._found = system, graph, search, found

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, index: int) -> Run: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Run]: ...
    def __getitem__(self, index: int | slice) -> Run | Sequence[Run]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        return run_of(self._system, self._graph, *self._search.choices(self._found[index]))
