"""The least inputs of a run through a goal product that completes given goals at given steps.

The first input that the rest of the run leaves room for is taken, step by step. Where the nodes from which it can go on
are as many steps away from where they lead as are left, distances tell them; else they are searched backward, layer by
layer, and every layer is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bmc.explicit.rows import distinct
from bmc.explicit.state_graph import UNREACHED, Arrows, StateGraph
from bmc.explicit.vectors import Column
from bmc.records import dataclass
from chaincover.graph.goal_product import GoalProduct
from chaincover.graph.goal_runs import Check


def least_run(
    graph: StateGraph,
    made: GoalProduct,
    completed: Sequence[int],
    ends: Column,
    check: Check,
    allow: Callable[[int], bool],
) -> tuple[int, list[int]] | None:
    """The first start, and the first input at each step, of a run to one of the nodes ``ends`` that completes at each
    step the goals ``completed`` (as bits). There must be such a run.

    Layers of so many nodes in all, a bit each, are only made where ``allow`` says so; else there may be no answer
    (None).
    """
    return _LeastRun(graph, made, completed, check, allow).found(ends)


@dataclass(frozen=True)
class _Stretch:
    """Steps without goals to complete, from ``first`` on, that lead to a target.

    ``away``: how many steps from each node; ``layers``: for each step the nodes, packed bit by bit, that get there in
    just the steps that are left, where that has to be known.
    """

    first: int
    away: Column
    layers: list[Column]


class _LeastRun:
    def __init__(
        self,
        graph: StateGraph,
        made: GoalProduct,
        completed: Sequence[int],
        check: Check,
        allow: Callable[[int], bool],
    ) -> None:
        self._graph, self._made, self._completed = graph, made, completed
        self._check, self._allow = check, allow
        self._arrows = made.product.arrows
        self._backward = self._arrows.backward()
        self._events = [0, *(step for step, goals in enumerate(completed) if step and goals)]

    def found(self, ends: Column) -> tuple[int, list[int]] | None:
        """See ``least_run``."""
        ways = self._ways(self._reached(), ends)
        return None if ways is None else self._walk(*ways)

    def _reached(self) -> list[Column]:
        """For each step with goals to complete the nodes in which a run may be then, and perhaps some more."""
        product = self._made.product
        begun = self._made.complete(product.start_masks, self._completed[0])
        reached = [distinct(product.starts[begun])]
        for before, step in zip(self._events, self._events[1:], strict=False):
            self._check()
            away = self._distances(self._arrows, reached[-1], step - 1 - before)
            sources, places = self._completing(self._completed[step])
            reached.append(distinct(self._arrows.ends[places[away[sources] <= step - 1 - before]]))
        return reached

    def _ways(self, reached: list[Column], ends: Column) -> tuple[list[_Stretch], list[Column]] | None:
        """The stretches, each from a step with goals to complete on, and the nodes in which each of them can begin."""
        stretches, beginnings, target, last = list[_Stretch](), list[Column](), ends, len(self._completed) - 1
        for step, here in zip(reversed(self._events), reversed(reached), strict=True):
            self._check()
            left = last - step
            away = self._distances(self._backward, np.flatnonzero(target), left)
            begin, layers = np.zeros(self._arrows.size, bool), list[Column]()
            begin[here[away[here] == left]] = True
            if (away[here] < left).any():
                if not self._allow(self._arrows.size * left):
                    return None
                layers = self._layers(target, left)
                begin[here] = _in(layers[0], here)
            stretches.append(_Stretch(step, away.astype(np.min_scalar_type(left + 1)), layers))
            beginnings.append(np.packbits(begin))
            sources, places = self._completing(self._completed[step])
            target, last = np.zeros(self._arrows.size, bool), step - 1
            target[sources[begin[self._arrows.ends[places]]]] = True
        return stretches[::-1], beginnings[::-1]

    def _distances(self, arrows: Arrows, nodes: Column, most: int) -> Column:
        """The steps from ``nodes`` to each node; ``most`` and one for more than that."""
        begin = np.full((1, arrows.size), UNREACHED, np.int32)
        begin[0, nodes] = 0
        found: Column = np.minimum(arrows.all_distances(begin, self._check, most)[0], most + 1)
        return found

    def _completing(self, goals: int) -> tuple[Column, Column]:
        """The places of the arrows that complete ``goals``, and where they come from."""
        places = np.flatnonzero(self._made.complete(self._made.product.masks, goals))
        return np.searchsorted(self._arrows.offsets, places, "right") - 1, places

    def _layers(self, target: Column, steps: int) -> list[Column]:
        """For each number of steps, from ``steps`` down to none, the nodes that are just so many before ``target``."""
        layer, layers = np.flatnonzero(target), [np.packbits(target)]
        for step in range(steps):
            if step % 256 == 0:
                self._check()
            here = np.zeros(self._arrows.size, bool)
            here[self._backward.ends[self._backward.of(layer)[0]]] = True
            layer = np.flatnonzero(here)
            layers.append(np.packbits(here))
        return layers[::-1]

    def _walk(self, stretches: Sequence[_Stretch], beginnings: Sequence[Column]) -> tuple[int, list[int]]:
        """The first start, and the first input at each step that the ways leave room for."""
        product, graph = self._made.product, self._graph
        fits = self._made.complete(product.start_masks, self._completed[0]) & _in(beginnings[0], product.starts)
        start = min(product.starts[fits].tolist(), key=lambda node: graph.starts.index(int(product.states[node])))
        node, chosen = start, list[int]()
        for number, stretch in enumerate(stretches):
            after = stretches[number + 1].first if number + 1 < len(stretches) else len(self._completed)
            for step in range(stretch.first + 1, after + (number + 1 < len(stretches))):
                places = np.arange(self._arrows.offsets[node], self._arrows.offsets[node + 1])
                ends = self._arrows.ends[places]
                if step == after:
                    good = self._made.complete(product.masks[places], self._completed[step])
                    good &= _in(beginnings[number + 1], ends)
                elif stretch.layers:
                    good = _in(stretch.layers[step - stretch.first], ends)
                else:
                    good = stretch.away[ends] == after - 1 - step
                place = places[good][np.argmin(product.choices[places[good]])]
                chosen.append(int(product.choices[place]))
                node = int(self._arrows.ends[place])
        return int(product.states[start]), chosen


def _in(packed: Column, nodes: Column) -> Column:
    """Whether each of ``nodes`` is in a packed set."""
    bits = packed[nodes >> 3] >> (7 - (nodes & 7)).astype(np.uint8)
    found: Column = (bits & np.uint8(1)) != 0
    return found
