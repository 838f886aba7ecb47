"""The graph of all reachable states of a system, the paths through it, and the invariant that the states make."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from math import inf

import numpy as np
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, TRUE, And, Not, Or

from bmc.evaluation.vectors import Column
from bmc.explicit.rows import Rows, Steps, distinct
from bmc.records import dataclass
from bmc.system.transition import Condition, StateVariable, TransitionSystem, Valuation, conjunction, equal

EXACT_STATES = 1000
"""With more states than this the invariant only lists each variable's values."""


@dataclass(frozen=True)
class StateGraph:
    """All reachable states of a system, on some of its variables, and the steps between them.

    ``starts`` are indexes into ``states``; ``inputs`` holds combinations of input values, every input named;
    ``steps[s]`` lists the allowed steps from state s as (index into ``inputs``, index of the next state). All
    are read like tuples, and kept in arrays.
    """

    states: Rows
    starts: tuple[int, ...]
    inputs: Rows
    steps: Steps

    @cached_property
    def moves(self) -> Arrows:
        """The steps between states, one of those that lead from one state to the same other one."""
        size = np.int64(len(self.states))
        pairs = distinct(self.steps.sources * size + self.steps.nexts)
        offsets = np.searchsorted(pairs, np.arange(size + 1) * size)
        return Arrows(offsets, (pairs % size).astype(np.int32))


def longest_run(graph: StateGraph) -> float:
    """The steps of the longest run through ``graph``; infinite where some run goes round and round."""
    counts = np.diff(graph.steps.offsets)
    ended = np.flatnonzero(counts == 0)
    if not ended.size:
        return inf
    offsets = np.concatenate([[0], np.cumsum(np.bincount(graph.steps.nexts, minlength=len(counts)))])
    backward = Arrows(offsets, graph.steps.sources[np.argsort(graph.steps.nexts, kind="stable")])
    left, longest = len(counts) - len(ended), 0
    while left:
        before, how_often = np.unique(backward.ends[backward.of(ended)[0]], return_counts=True)
        counts[before] -= how_often
        ended = before[counts[before] == 0].astype(np.int64)
        if not ended.size:
            return inf
        left, longest = left - len(ended), longest + 1
    return longest


def invariant_of(system: TransitionSystem, states: Sequence[Valuation]) -> Condition | None:
    """The proved invariant "one of ``states``", which are all that can be reached; None if it says nothing."""
    variables = [var for var in system.state if var.name in states[0]]
    formula = _one_of(variables, states) if len(states) <= EXACT_STATES else _each_among(variables, states)
    return None if formula.is_true() else Condition(reachable_states(len(states)), formula, proved=True)


def reachable_states(number: int) -> str:
    """The name of the invariant that a state is one of those that can be reached, of which there are ``number``."""
    return f"one of {number} reachable states"


def _one_of(variables: Sequence[StateVariable], states: Sequence[Valuation]) -> FNode:
    """The formula: the variables have the values of one of ``states``; built as a decision diagram."""
    columns = [_values(var, states) for var in variables]
    below = dict.fromkeys(zip(*columns, strict=True) if columns else [()], TRUE())
    for var in reversed(variables):
        above: dict[tuple[int | None, ...], dict[FNode, list[int | None]]] = {}
        for values, formula in below.items():
            above.setdefault(values[:-1], {}).setdefault(formula, []).append(values[-1])
        below = {
            prefix: Or([conjunction([_among(var, values), formula]) for formula, values in branches.items()])
            for prefix, branches in above.items()
        }
    return below[()]


def _each_among(variables: Sequence[StateVariable], states: Sequence[Valuation]) -> FNode:
    """The formula: each variable has one of the values that it has in ``states``."""
    return conjunction(_among(var, _values(var, states)) for var in variables)


def _values(var: StateVariable, states: Sequence[Valuation]) -> list[int | None]:
    """The values of ``var`` in ``states``, None where one is open."""
    if not isinstance(states, Rows):
        return [state[var.name] for state in states]
    found: list[int | None] = states.columns[var.name].tolist()
    if var.name in states.open:
        return [None if any_value else value for value, any_value in zip(found, states.open[var.name], strict=True)]
    return found


def _among(var: StateVariable, values: Iterable[int | None]) -> FNode:
    """The formula: ``var`` has one of the raw ``values``."""
    found = set(values)
    different = sorted(value for value in found if value is not None)
    if None in found or len(different) == 1 << max(var.type.bits, 1):
        return TRUE()
    if not var.type.bits:
        return var.symbol if different == [1] else Not(var.symbol)
    return Or([_within(var, low, high) for low, high in _intervals(different)])


def _within(var: StateVariable, low: int, high: int) -> FNode:
    bits = var.type.bits
    if low == high:
        return equal(var.symbol, BV(low, bits))
    return And(BV(low, bits).BVULE(var.symbol), var.symbol.BVULE(BV(high, bits)))


def _intervals(values: Sequence[int]) -> list[tuple[int, int]]:
    """Rising ``values`` as the fewest inclusive intervals."""
    found: list[tuple[int, int]] = []
    for value in values:
        if found and found[-1][1] == value - 1:
            found[-1] = (found[-1][0], value)
        else:
            found.append((value, value))
    return found


Check = Callable[[], None]

UNREACHED = np.iinfo(np.int32).max
"""The distance of a node to which there is no way."""


@dataclass(frozen=True)
class Arrows:
    """``ends`` of the arrows; ``numbers``: which arrows of another graph they are, if they come from one."""

    offsets: Column
    ends: Column
    numbers: Column | None = None

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(self.offsets) - 1

    def of(self, nodes: Column) -> tuple[Column, Column]:
        """The places of all arrows from ``nodes``, node by node; for each the row of ``nodes`` that it leaves."""
        counts = self.offsets[nodes + 1] - self.offsets[nodes]
        rows = np.repeat(np.arange(len(nodes)), counts)
        before = np.cumsum(counts) - counts
        return np.arange(len(rows)) + np.repeat(self.offsets[nodes] - before, counts), rows

    def backward(self) -> Arrows:
        """The same arrows the other way round."""
        order = np.argsort(self.ends, kind="stable")
        offsets = np.concatenate([[0], np.cumsum(np.bincount(self.ends, minlength=self.size))])
        sources = np.repeat(np.arange(self.size, dtype=np.int32), np.diff(self.offsets))
        return Arrows(offsets, sources[order], order.astype(np.int32))

    def distances(self, sources: Column, check: Check = lambda: None) -> Column:
        """For each node the least number of arrows from one of ``sources`` to it, ``UNREACHED`` if there is no way."""
        begin = np.full((1, self.size), UNREACHED, np.int32)
        begin[0, sources] = 0
        found: Column = self.all_distances(begin, check)[0]
        return found

    def all_distances(self, begin: Column, check: Check = lambda: None) -> Column:
        """Row by row, for each node the least number of arrows on a way to it, and what its row has where it begins.

        All rows are searched together, breadth first: a layer takes some time however few its nodes are.
        """
        found = begin.reshape(-1).copy()
        order = np.flatnonzero(found < UNREACHED)
        order = order[np.argsort(found[order], kind="stable")]
        values = found[order]
        depth = done = 0
        layer = np.zeros(0, np.int64)
        while done < len(order) or layer.size:
            if not layer.size:
                depth = int(values[done])
            last = int(np.searchsorted(values, depth, "right"))
            if last > done:
                own = order[done:last]
                layer, done = distinct(np.concatenate([layer, own[found[own] == depth]])), last
            if depth % 256 == 0:
                check()
            depth += 1
            nodes = layer % self.size if len(begin) > 1 else layer
            places, rows = self.of(nodes)
            ends = self.ends[places] + (layer - nodes)[rows] if len(begin) > 1 else self.ends[places]
            layer = distinct(ends[found[ends] > depth])
            found[layer] = depth
        return found.reshape(begin.shape)
