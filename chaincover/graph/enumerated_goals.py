"""Goals on enumerated states, in arrays: where each of at most one step can start and end, which can hold at the same
time, and in which states a goal of any number of steps can start."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
from pysmt.fnode import FNode

from bmc.evaluation.vectors import Column, Program
from bmc.explicit.rows import distinct
from bmc.explicit.state_graph import UNREACHED, Arrows, StateGraph
from bmc.formulas.unroll import unframed
from bmc.system.simulation import Simulator
from bmc.system.transition import Run, TransitionSystem, conjunction, conjuncts, symbols_of
from chaincover.problem import Problem
from properties.goal import Goal

Check = Callable[[], None]

Count = Callable[[int], None]
"""Is told how many steps were followed, for one goal each."""

BLOCK = 1 << 16
"""Arrows that are followed together: with many goals each takes some hundred bytes meanwhile. With twice as many, a
search takes twice that memory, and large systems are no faster."""

CELLS = 1 << 22
"""Distances that are found together, for several goals each, and prices that are summed up: twice as many take 64 MB in
place of 32."""

LEAST_BLOCK = 1000
"""Steps that could be followed in the time that the smallest block takes."""


def bits(mask: int) -> Iterator[int]:
    """The places of the ones of ``mask``, rising."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def states_in(graph: StateGraph, formula: FNode | None) -> Column:
    """Whether each state satisfies ``formula`` (over plain state symbols; None: all do)."""
    if formula is None:
        return np.ones(len(graph.states), bool)
    (holds,) = Program([formula])(graph.states.columns)
    return np.broadcast_to(holds, (len(graph.states),))


def run_of(system: TransitionSystem, graph: StateGraph, start: int, choices: Sequence[int]) -> Run:
    """The run from a state of ``graph`` by inputs of ``graph``, with all variables of ``system``."""
    simulator, state = Simulator(system), graph.states[start]
    return simulator.run({**simulator.initial(), **state}, [graph.inputs[choice] for choice in choices])


def blocks(offsets: Column) -> list[tuple[int, int]]:
    """Ranges of states with some ``BLOCK`` of steps each, but one state at least."""
    cuts, first = [0], 0
    while first < len(offsets) - 1:
        first = max(first + 1, int(np.searchsorted(offsets, offsets[first] + BLOCK, "right")) - 1)
        cuts.append(first)
    return list(pairwise(cuts))


def values_on_steps(
    formulas: Sequence[FNode], graph: StateGraph, states: Column, steps: Column | None
) -> Sequence[Column]:
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
    found: Column = np.zeros(len(sources) if goal.takes_step else len(graph.states), bool)
    for first in range(0, len(found), BLOCK):
        part = np.arange(first, min(first + BLOCK, len(found)))
        here, steps = (sources[part], part) if goal.takes_step else (part, None)
        found[first : first + BLOCK] = values_on_steps([goal.antecedent], graph, here, steps)[0]
    return found


class EnumeratedGoals:
    """The goals of ``problem``, evaluated on all states, or on all steps, at once.

    ``followed`` counts the steps that were looked at, for one goal each.
    """

    def __init__(self, problem: Problem, states: StateGraph) -> None:
        self.problem, self.graph, self._steps = problem, states, states.steps
        self._sources = states.steps.sources
        self._near: dict[int, dict[int, int]] = {}
        self._begins: dict[int, Column] = {}
        self._sizes = [states.steps.total if goal.takes_step else len(states.states) for goal in problem.goals]
        self._bits = [np.packbits(goal_on_steps(goal, states, self._sources)) for goal in problem.goals]
        self.followed = (states.steps.total + LEAST_BLOCK) * len(problem.goals)

    def holds(self, goal: int) -> Column:
        """Among all steps (of a goal of no step: all states), where a goal holds."""
        return np.unpackbits(self._bits[goal], count=self._sizes[goal]).view(bool)

    def ends_of(self, goal: int) -> tuple[Column, Column]:
        """The states in which runs of a goal can start, and those in which they can end."""
        if not self.problem.goals[goal].takes_step:
            here = np.flatnonzero(self.holds(goal))
            return here, here
        steps = np.flatnonzero(self.holds(goal))
        return distinct(self._sources[steps]).astype(np.int64), distinct(self._steps.nexts[steps]).astype(np.int64)

    def together_with(self, goal: int) -> dict[int, int]:
        """The other goals that can start where a goal of one step does, each with the distance 0."""
        if goal in self._near:
            return self._near[goal]
        near = self._near[goal] = {}
        if not self.problem.goals[goal].takes_step:
            return near
        steps = np.flatnonzero(self.holds(goal))
        self.followed += len(steps) * len(self._bits)
        for other, each in enumerate(self.problem.goals):
            if other != goal and self.holds(other)[steps if each.takes_step else self._sources[steps]].any():
                near[other] = 0
        return near

    def holds_on(self, goal: int, steps: Column) -> Column:
        """Whether a goal of one step holds on each of ``steps``."""
        found: Column = (self._bits[goal][steps >> 3] >> (7 - (steps & 7)).astype(np.uint8)) & 1 == 1
        return found

    def can_begin(self, goal: int) -> Column:
        """For each state whether a run of a goal can start there."""
        if goal not in self._begins:
            self._begins[goal] = np.zeros(len(self.graph.states), bool)
            self._begins[goal][self.ends_of(goal)[0]] = True
        return self._begins[goal]


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
    parts, last_step = conjuncts(goal.antecedent), goal.over(0)
    due = [conjunction(part for part in parts if _decided(part, names) == step) for step in range(last_step + 1)]
    arrows, rows = Arrows(graph.steps.offsets, graph.steps.nexts), {(0, False): np.arange(len(graph.states))}
    start = rows[0, False]
    for step, condition in enumerate(due):
        check()
        values = {s.symbol_name(): _column(graph, rows, s, names) for s in symbols_of(condition)}
        good = np.broadcast_to(Program([condition])(values)[0], start.shape)
        later = _read(conjunction(due[step + 1 :]), names)
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


def _decided(formula: FNode, inputs: set[str]) -> int:
    """The step before which the state, of a run so far, tells whether ``formula`` (framed) holds."""
    return max((step + of_inputs for step, of_inputs in _read(formula, inputs)), default=0)


def _column(graph: StateGraph, rows: Mapping[tuple[int, bool], Column], symbol: FNode, inputs: set[str]) -> Column:
    """The values of ``symbol`` (framed) in runs with the states and inputs ``rows``."""
    name, step = unframed(symbol)
    columns = graph.inputs.columns if name in inputs else graph.states.columns
    found: Column = columns[name]
    return found if len(found) == 1 else found[rows[step, name in inputs]]
