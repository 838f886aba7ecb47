"""The enumerated states in which a goal can start; whether they reach each other."""

from __future__ import annotations

import numpy as np
from pysmt.fnode import FNode

from bmc.explicit.paths import Arrows
from bmc.explicit.state_graph import StateGraph
from bmc.system.transition import TransitionSystem
from chaincover.graph.goal_runs import Check, EnumeratedGoals, TooManyRuns, states_in
from chaincover.problem import Problem
from properties.goal import Goal


def reach_each_other(graph: StateGraph, states: frozenset[int], check: Check = lambda: None) -> bool:
    """Whether each of ``states``, indexes of ``graph``, is reached from each."""
    if len(states) < 2:
        return True
    forward, several = Arrows(graph.steps.offsets, graph.steps.nexts), np.array(sorted(states), np.int64)
    return all(
        bool((arrows.distances(several[:1], check)[several] >= 0).all()) for arrows in (forward, forward.backward())
    )


def states_where(graph: StateGraph, formula: FNode) -> frozenset[int]:
    """The indexes of the states that satisfy ``formula`` (over plain symbols of the graph's variables)."""
    return frozenset(np.flatnonzero(states_in(graph, formula)).tolist())


def trigger_states(
    graph: StateGraph, system: TransitionSystem, goal: Goal, check: Check = lambda: None
) -> frozenset[int] | None:
    """The reachable states of ``system`` in which ``goal`` can start: some run from there satisfies its whole
    antecedent.

    None if that takes too much memory. ``check`` is called now and then; what it raises ends the search.
    """
    try:
        starts, _ = EnumeratedGoals(Problem(system, (goal,), None), graph, check).ends_of(0)
    except TooManyRuns:
        return None
    return frozenset(starts.tolist())
