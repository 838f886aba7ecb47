"""The reachable states, listed one by one, in which a goal can start; which of them reach each other."""

from __future__ import annotations

import networkx as nx
import numpy as np
from pysmt.fnode import FNode

from bmc.explicit.state_graph import StateGraph
from bmc.system.transition import TransitionSystem
from chaincover.graph.goal_runs import EnumeratedGoals, TooManyRuns, states_in
from chaincover.problem import Problem
from properties.goal import Goal


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


def trigger_states(graph: StateGraph, system: TransitionSystem, goal: Goal) -> frozenset[int] | None:
    """The reachable states of ``system`` in which ``goal`` can start: some run from there satisfies its whole
    antecedent.

    None if that takes too much memory.
    """
    try:
        starts, _ = EnumeratedGoals(Problem(system, (goal,), None), graph).ends_of(0)
    except TooManyRuns:
        return None
    return frozenset(starts.tolist())
