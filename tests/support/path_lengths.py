"""At which distances the nodes of a path can follow each other: all runs at once, layer by layer, explicitly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from explicit import Explicit, Input, State
from pysmt.fnode import FNode

from bmc.formulas.unroll import at
from chaincover.weights import END, FINAL, INIT
from properties.goal import Goal


class Place(NamedTuple):
    """A step of a run with what follows it; the path's nodes before number ``place`` are behind it, one for ``busy``
    more steps."""

    states: tuple[State, ...]
    inputs: tuple[Input, ...]
    place: int
    busy: int


class PathLengths:
    """``starts``: the states in which runs for paths from a goal begin (None: all). ``overlap``: allow or forbid."""

    def __init__(
        self,
        reference: Explicit,
        goals: Sequence[Goal],
        final: FNode | None,
        overlap: str,
        starts: Sequence[State] | None = None,
    ) -> None:
        self._reference = reference
        self._goals: Mapping[str, Goal] = {goal.name: goal for goal in goals}
        self._final = final
        self._apart = overlap == "forbid"
        self._starts = reference.states if starts is None else starts
        self._ahead = max((goal.length for goal in goals), default=0)

    def possible(self, path: Sequence[str], most: int) -> set[int]:
        """The distances up to ``most`` between the first node of ``path`` and its last one, in some run."""
        found: set[int] = set()
        layer = set(self._first(path))
        for step in range(most + 1):
            here = {more for node in layer for more in self._passed(path, node, step == 0)}
            if any(self._at_last(path, node) for node in here):
                found.add(step)
            layer = {after for node in here for after in self._next(node)}
        return found

    def _first(self, path: Sequence[str]) -> Iterator[Place]:
        for start in [self._reference.init] if path[0] == INIT else self._starts:
            for length in range(self._ahead + 1):
                for states, inputs in self._reference.runs(start, length):
                    yield Place(tuple(states), tuple(inputs), 1 if path[0] == INIT else 0, 0)

    def _passed(self, path: Sequence[str], node: Place, first: bool) -> Iterator[Place]:
        """``node`` with none, one or more of the path's nodes but the last passed at this step."""
        if first or node.place > 0:
            yield node
        if node.place < len(path) - 1 and (first or node.place > 0) and self._holds(path[node.place], node):
            busy = self._goals[path[node.place]].length if self._apart else 0
            yield from self._passed(path, node._replace(place=node.place + 1, busy=busy), True)

    def _holds(self, goal: str, node: Place) -> bool:
        wanted = self._goals[goal]
        fits = node.busy == 0 and wanted.length <= len(node.inputs)
        return fits and self._reference.holds(wanted.antecedent, node.states, node.inputs)

    def _at_last(self, path: Sequence[str], node: Place) -> bool:
        if node.place < len(path) - 1:
            return False
        if path[-1] not in (FINAL, END):
            return self._holds(path[-1], node)
        final = self._final is None or self._reference.holds(at(self._final, 0), node.states[:1], [])
        return not node.inputs and node.busy == 0 and final

    def _next(self, node: Place) -> Iterator[Place]:
        if node.place == 0:
            return
        later = node._replace(busy=max(0, node.busy - 1))
        if node.inputs:
            yield later._replace(states=node.states[1:], inputs=node.inputs[1:])
        if len(node.inputs) == self._ahead:
            for values, after in self._reference.steps[node.states[-1]]:
                yield later._replace(states=(*node.states, after)[1:], inputs=(*node.inputs, values)[1:])
