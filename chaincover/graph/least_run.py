"""The least inputs of a run through a goal product that completes given goals at given steps.

The first input that the rest of the run leaves room for is taken, step by step. Where the nodes from which it can go on
are as many steps away from where they lead as are left, distances tell them: those of one stretch at a time, and of the
nodes near enough alone. Else they are searched backward, layer by layer, and every layer is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from bmc.evaluation.vectors import Column
from bmc.explicit.rows import distinct
from bmc.explicit.state_graph import Arrows, StateGraph
from bmc.records import dataclass
from chaincover.graph.enumerated_goals import BLOCK, Check
from chaincover.graph.goal_product import Product


class _Nodes:
    """Some of ``size`` nodes: their numbers where they are few, else a bit for each."""

    def __init__(self, numbers: Column, size: int) -> None:
        self._size = size
        self._packed = 32 * len(numbers) > size
        if self._packed:
            marked = np.zeros(size, bool)
            marked[numbers] = True
            self._kept: Column = np.packbits(marked)
        else:
            self._kept = numbers.astype(np.int32)

    @property
    def numbers(self) -> Column:
        """The numbers of the nodes, rising."""
        return np.flatnonzero(np.unpackbits(self._kept, count=self._size)) if self._packed else self._kept


@dataclass(frozen=True)
class _Stretch:
    """Steps without goals to complete, ``left`` in number, from a step with goals to complete on that is ``first``.

    They begin in one of the nodes ``begin``, and lead to a ``target``. ``layers``: for each step the nodes, packed bit
    by bit, that get there in just the steps that are left, where distances do not tell them.
    """

    first: int
    left: int
    begin: _Nodes
    target: _Nodes
    layers: list[Column]


class LeastRun:
    """Finds the least inputs of runs through the goal product ``made`` that complete at each step the goals
    ``completed`` (as bits). There must be such a run.

    Layers of so many nodes in all, a bit each, are only made where ``allow`` says so; else there may be no answer.
    """

    def __init__(
        self,
        graph: StateGraph,
        made: Product,
        completed: Sequence[int],
        check: Check,
        allow: Callable[[int], bool],
    ) -> None:
        self._graph, self._made, self._completed = graph, made, completed
        self._check, self._allow = check, allow
        self._arrows = made.arrows
        self._backward = self._arrows.backward()
        self._events = [0, *(step for step, goals in enumerate(completed) if step and goals)]
        self._marked = np.zeros(self._arrows.size, bool)

    def found(self, ends: Column) -> tuple[int, list[int]] | None:
        """The first start, and the first input at each step, of a run to one of the nodes ``ends``; None without an
        answer."""
        stretches = self._stretches(self._reached(), np.flatnonzero(ends))
        return None if stretches is None else self._walk(stretches)

    def _reached(self) -> list[_Nodes]:
        """For each step with goals to complete the nodes in which a run may be then, and perhaps some more."""
        made = self._made
        begun = made.complete(made.start_masks, self._completed[0])
        here = distinct(made.starts[begun])
        reached = [_Nodes(here, self._arrows.size)]
        for before, step in zip(self._events, self._events[1:], strict=False):
            near = np.concatenate(self._near(self._arrows, here, step - 1 - before))
            here = self._completing(near, self._completed[step])
            reached.append(_Nodes(here, self._arrows.size))
        return reached

    def _completing(self, nodes: Column, goals: int) -> Column:
        """The nodes to which arrows lead from ``nodes`` that complete ``goals``."""
        found = [nodes[:0]]
        for first in range(0, len(nodes), BLOCK):
            places, _ = self._arrows.of(nodes[first : first + BLOCK])
            found.append(distinct(self._arrows.ends[places[self._made.complete(self._made.masks[places], goals)]]))
        return distinct(np.concatenate(found))

    def _before(self, nodes: Column, goals: int) -> Column:
        """The nodes from which arrows lead to ``nodes`` that complete ``goals``."""
        numbers = self._backward.numbers
        assert numbers is not None
        found = [nodes[:0]]
        for first in range(0, len(nodes), BLOCK):
            places, _ = self._backward.of(nodes[first : first + BLOCK])
            complete = self._made.complete(self._made.masks[numbers[places]], goals)
            found.append(distinct(self._backward.ends[places[complete]]))
        return distinct(np.concatenate(found))

    def _stretches(self, reached: Sequence[_Nodes], target: Column) -> list[_Stretch] | None:
        """The stretches that lead to ``target`` at last, each from a step with goals to complete on."""
        stretches, last, size = list[_Stretch](), len(self._completed) - 1, self._arrows.size
        for step, nodes in zip(reversed(self._events), reversed(reached), strict=True):
            left, layers = last - step, list[Column]()
            near, here = self._near(self._backward, target, left), nodes.numbers
            self._marked[here] = True
            begin = near[left][self._marked[near[left]]] if left < len(near) else here[:0]
            nearer = any(self._marked[layer].any() for layer in near[:left])
            self._marked[here] = False
            if nearer:
                if not self._allow(size * left):
                    return None
                layers = self._layers(target, left)
                begin = here[_in(layers[0], here)]
            stretches.append(_Stretch(step, left, _Nodes(begin, size), _Nodes(target, size), layers))
            target, last = self._before(begin, self._completed[step]), step - 1
        return stretches[::-1]

    def _near(self, arrows: Arrows, nodes: Column, most: int) -> list[Column]:
        """For each number of steps, up to ``most``, the nodes that are just so many away from ``nodes``, rising."""
        layers = [nodes.astype(np.int32)]
        self._marked[nodes] = True
        while len(layers) <= most and len(layers[-1]):
            if len(layers) % 256 == 1:
                self._check()
            ends = arrows.ends[arrows.of(layers[-1])[0]]
            layers.append(distinct(ends[~self._marked[ends]]))
            self._marked[layers[-1]] = True
        for layer in layers:
            self._marked[layer] = False
        return layers

    def _layers(self, target: Column, steps: int) -> list[Column]:
        """For each number of steps, from ``steps`` down to none, the nodes that are just so many before ``target``."""
        layer, layers = target, list[Column]()
        for step in range(steps + 1):
            if step % 256 == 0:
                self._check()
            here = np.zeros(self._arrows.size, bool)
            here[self._backward.ends[self._backward.of(layer)[0]] if step else target] = True
            layer = np.flatnonzero(here)
            layers.append(np.packbits(here))
        return layers[::-1]

    def _walk(self, stretches: Sequence[_Stretch]) -> tuple[int, list[int]]:
        """The first start, and the first input at each step that the ways leave room for."""
        made, graph = self._made, self._graph
        fits = made.complete(made.start_masks, self._completed[0])
        fits &= np.isin(made.starts, stretches[0].begin.numbers)
        start = min(made.starts[fits].tolist(), key=lambda node: graph.starts.index(node))
        node, chosen = start, list[int]()

        def take(good: Callable[[Column], Column], goals: int = 0) -> None:
            nonlocal node
            places = np.arange(self._arrows.offsets[node], self._arrows.offsets[node + 1])
            complete = made.complete(made.masks[places], goals)
            places = places[complete & good(self._arrows.ends[places])]
            place = places[np.argmin(made.choices[places])]
            chosen.append(int(made.choices[place]))
            node = int(self._arrows.ends[place])

        for number, stretch in enumerate(stretches):
            if number:
                take(partial(_among, stretch.begin.numbers), self._completed[stretch.first])
            if stretch.layers:
                for packed in stretch.layers[1:]:
                    take(partial(_in, packed))
            else:
                near = self._near(self._backward, stretch.target.numbers, stretch.left)
                for layer in reversed(near[: stretch.left]):
                    take(partial(_among, layer))
        return start, chosen


def _among(rising: Column, nodes: Column) -> Column:
    """Whether each of ``nodes`` is one of the ``rising``, of which there are some."""
    places = np.minimum(np.searchsorted(rising, nodes), len(rising) - 1)
    found: Column = rising[places] == nodes
    return found


def _in(packed: Column, nodes: Column) -> Column:
    """Whether each of ``nodes`` is in a packed set."""
    bits = packed[nodes >> 3] >> (7 - (nodes & 7)).astype(np.uint8)
    found: Column = (bits & np.uint8(1)) != 0
    return found
