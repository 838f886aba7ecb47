"""The canonical inputs for a plan by the enumerated states: as ``chaincover.concretise.canonical``, without a solver.

Backward from the end, for each step the states from which the rest of the plan can be run; then forward, by the first
input that leads into them. That is the least one: inputs are listed from 0 up, and of those that nothing tells apart
the first stands for all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np

from bmc.explicit.state_graph import StateGraph
from bmc.explicit.vectors import Column
from bmc.system.run import Run
from chaincover.chain import Plan
from chaincover.graph.goal_product import GoalProduct, goal_product
from chaincover.graph.goal_runs import run_of, states_in
from chaincover.questions import Questions

MOST_CELLS = 1 << 33
"""States with what is pending of goals, times steps, one bit of memory each."""


def enumerated_values(questions: Questions, graph: StateGraph, plan: Plan) -> Run | None:
    """The canonical run of ``plan``, which must have one; None where that takes too much memory, or is not defined so.

    ``graph`` enumerates the states for the goals and the final condition of ``questions``. Inputs and open start values
    must not be floating: of these others than the least are preferred.
    """
    problem, check = questions.problem, questions.limits.check
    system, goals, final = problem.system, problem.by_name, problem.final
    types = [var.type for var in system.inputs] + [var.type for var in system.state if var.init is None]
    wanted = [goals[name] for name in dict.fromkeys(plan.goals)]
    if any(kind.floating for kind in types):
        return None
    made = goal_product(replace(problem, goals=tuple(wanted), overlap="allow"), graph, check)
    ends = [start + goals[name].length for name, start in zip(plan.goals, plan.starts, strict=True)]
    length = max([sum(plan.gaps), *ends])
    if made is None or made.product.arrows.size * length > MOST_CELLS:
        return None
    completed = [0] * (length + 1)
    for name, end in zip(plan.goals, ends, strict=True):
        completed[end] |= 1 << wanted.index(goals[name])
    layers = _feasible(made, completed, states_in(graph, final)[made.product.states], check)
    return run_of(system, graph, *_least(graph, made, completed, layers))


def _feasible(made: GoalProduct, completed: list[int], ends: Column, check: Callable[[], None]) -> list[Column]:
    """For each step the nodes, packed bit by bit, from which the rest can be run."""
    found = made.product
    backward = found.arrows.backward()
    layer = np.flatnonzero(ends)
    layers = [np.packbits(ends)]
    for step in range(len(completed) - 1, 0, -1):
        if step % 256 == 0:
            check()
        places, _ = backward.of(layer)
        assert backward.numbers is not None
        fits = made.complete(found.masks[backward.numbers[places]], completed[step])
        here = np.zeros(found.arrows.size, bool)
        here[backward.ends[places[fits]]] = True
        layer = np.flatnonzero(here)
        layers.append(np.packbits(here))
    return layers[::-1]


def _least(graph: StateGraph, made: GoalProduct, completed: list[int], layers: list[Column]) -> tuple[int, list[int]]:
    """The first start, and the first input at each step, by which all ``layers`` are met."""
    found = made.product
    fits = made.complete(found.start_masks, completed[0]) & _in(layers[0], found.starts)
    start = min(found.starts[fits].tolist(), key=lambda node: graph.starts.index(int(found.states[node])))
    node, chosen = start, list[int]()
    for wanted, (_, layer) in zip(completed[1:], pairwise(layers), strict=True):
        places = np.arange(found.arrows.offsets[node], found.arrows.offsets[node + 1])
        after = found.arrows.ends[places]
        good = places[made.complete(found.masks[places], wanted) & _in(layer, after)]
        place = good[np.argmin(found.choices[good])]
        chosen.append(int(found.choices[place]))
        node = int(found.arrows.ends[place])
    return int(found.states[start]), chosen


def _in(packed: Column, nodes: Column) -> Column:
    """Whether each of ``nodes`` is in a packed set."""
    bits = packed[nodes >> 3] >> (7 - (nodes & 7)).astype(np.uint8)
    found: Column = (bits & np.uint8(1)) != 0
    return found
