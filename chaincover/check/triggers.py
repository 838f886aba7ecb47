"""The states in which goals can start, where all states are enumerated."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from pysmt.fnode import FNode

from bmc.evaluation.vectors import Column, Program
from bmc.explicit.state_graph import UNREACHED, Arrows, StateGraph
from bmc.formulas.unroll import unframed
from bmc.system.transition import TransitionSystem, conjuncts, symbols_of
from chaincover.graph.enumerated_goals import Check, states_in
from properties.goal import Goal


def reach_each_other(graph: StateGraph, states: frozenset[int], check: Check = lambda: None) -> bool:
    """Whether each of ``states``, indexes of ``graph``, is reached from each."""
    if len(states) < 2:
        return True
    forward, several = Arrows(graph.steps.offsets, graph.steps.nexts), np.array(sorted(states), np.int64)
    return all(
        bool((arrows.distances(several[:1], check)[several] < UNREACHED).all())
        for arrows in (forward, forward.backward())
    )


def states_where(graph: StateGraph, formula: FNode) -> frozenset[int]:
    """The indexes of the states that satisfy ``formula`` (over plain symbols of the graph's variables)."""
    return frozenset(np.flatnonzero(states_in(graph, formula)).tolist())


MOST_ROWS = 5_000_000
"""Runs of a goal that are followed at once when the states are listed in which it can start: some 200 MB. With twice as
many, a goal that compares values of distant steps may have more states, and less is asked of a solver."""


def trigger_states(
    graph: StateGraph, system: TransitionSystem, goal: Goal, check: Check = lambda: None
) -> frozenset[int] | None:
    """The reachable states of ``system`` in which ``goal`` can start: some run from there satisfies its whole
    antecedent.

    Runs are followed step by step from all states at once; of each its start is kept, and what the antecedent still
    reads. None if that are too many. ``check`` is called now and then; what it raises ends the search.
    """
    names = {var.name for var in system.inputs}
    due = [(part, _read(part, names)) for part in conjuncts(goal.antecedent)]
    arrows, rows = Arrows(graph.steps.offsets, graph.steps.nexts), {(0, False): np.arange(len(graph.states))}
    start = rows[0, False]
    last_step = goal.over(0)
    for step in range(last_step + 1):
        check()
        good = np.ones(len(start), bool)
        for part, read in due:
            if max((at + given for at, given in read), default=0) == step:
                values = {s.symbol_name(): _column(graph, rows, s, names) for s in symbols_of(part)}
                good &= np.broadcast_to(Program([part])(values)[0], good.shape)
        later = {key for _, read in due if max((at + given for at, given in read), default=0) > step for key in read}
        rows = {key: column[good] for key, column in rows.items() if key in later or key == (step, False)}
        different = np.unique(np.stack([start[good], *rows.values()]), axis=1)
        start, rows = different[0], dict(zip(rows, different[1:], strict=True))
        if step < last_step:
            last = rows[step, False]
            if int((arrows.offsets[last + 1] - arrows.offsets[last]).sum()) > MOST_ROWS:
                return None
            places, owners = arrows.of(last)
            start, rows = start[owners], {key: column[owners] for key, column in rows.items()}
            rows[step, True] = graph.steps.choices[places].astype(np.int64)
            rows[step + 1, False] = graph.steps.nexts[places].astype(np.int64)
    return frozenset(start.tolist())


def _read(formula: FNode, inputs: set[str]) -> frozenset[tuple[int, bool]]:
    """The steps that ``formula`` (framed) reads, each with whether of its inputs."""
    return frozenset((step, name in inputs) for name, step in map(unframed, symbols_of(formula)))


def _column(graph: StateGraph, rows: Mapping[tuple[int, bool], Column], symbol: FNode, inputs: set[str]) -> Column:
    """The values of ``symbol`` (framed) in runs with the states and inputs ``rows``."""
    name, step = unframed(symbol)
    columns = graph.inputs.columns if name in inputs else graph.states.columns
    found: Column = columns[name]
    return found if len(found) == 1 else found[rows[step, name in inputs]]
