"""The reachable states as the exact searches walk through them: steps or whole held steps, and what goals see there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf

from pysmt.fnode import FNode

from bmc.explicit.state_graph import StateGraph
from bmc.formulas.evaluate import compile_formulas
from properties.obligations import Arrival, Obligations, bits

Trace = tuple[tuple[int, int], ...]
"""The classes of input and next state of each tick."""


class Ground:
    """The states from which an end can be reached, and their steps, without those that no goal tells apart.

    ``steps[s]`` lists (number of the trace, next state, index of the input) for each state of ``places``, where a trace
    is what goals see of the way there: the classes of input and state, tick by tick. A step takes ``ticks``: where no
    run may end within a held step, a whole held step is one. ``to_final[s]`` is the least number of ticks to a state of
    ``final`` (a formula over plain state symbols, None: every state), infinite if there is none.
    """

    def __init__(self, graph: StateGraph, obligations: Obligations, final: FNode | None) -> None:
        self.obligations = obligations
        self.classes = [obligations.state_class(state) for state in graph.states]
        holds = compile_formulas([] if final is None else [final])
        ends = [s for s, state in enumerate(graph.states) if all(holds(state))]
        whole = graph.hold > 1 and not set(ends).difference(graph.free)
        self.ticks = graph.hold if whole else 1
        self.places: Sequence[int] = graph.free if whole else range(len(graph.states))
        self.traces: list[Trace] = []
        self._numbers: dict[Trace, int] = {}
        self._arrivals: dict[tuple[int, int], Arrival] = {}
        inputs = [obligations.input_class(values) for values in graph.inputs]
        steps = {s: self._steps_from(graph, s, inputs) for s in self.places}
        before: list[list[int]] = [[] for _ in graph.states]
        for state, rows in steps.items():
            for _, after, _ in rows:
                before[after].append(state)
        self.before = before
        self.to_final = self.distances(ends)
        self.steps = {s: [row for row in rows if self.to_final[row[1]] < inf] for s, rows in steps.items()}
        self.starts = [s for s in graph.starts if self.to_final[s] < inf]

    def _steps_from(self, graph: StateGraph, state: int, classes: Sequence[int]) -> list[tuple[int, int, int]]:
        """The steps from a state, one of those that no goal tells apart; a held step that cannot be ended is none."""
        found: dict[tuple[int, int], int] = {}
        for choice, after in graph.steps[state]:
            trace = [(classes[choice], self.classes[after])]
            while len(trace) < self.ticks and (onward := graph.steps[after]):
                ((_, after),) = onward
                trace.append((classes[choice], self.classes[after]))
            if len(trace) == self.ticks:
                found.setdefault((self._number(tuple(trace)), after), choice)
        return [(trace, after, choice) for (trace, after), choice in found.items()]

    def _number(self, trace: Trace) -> int:
        if trace not in self._numbers:
            self._numbers[trace] = len(self.traces)
            self.traces.append(trace)
        return self._numbers[trace]

    def advance(self, pending: int, trace: int) -> Arrival:
        """What is pending, and was completed, after a step along ``trace``; with the goals that begin on the way."""
        key = (pending, trace)
        if key not in self._arrivals:
            completed = 0
            for input_class, state_class in self.traces[trace]:
                arrival = self.obligations.advance(pending, input_class, state_class)
                pending, completed = arrival.pending, completed | arrival.completed
            self._arrivals[key] = Arrival(pending, completed)
        return self._arrivals[key]

    def advance_one(self, obligation: int, trace: int) -> Arrival:
        """As ``advance`` for one obligation, without the goals that begin."""
        pending, completed = 1 << obligation, 0
        for input_class, state_class in self.traces[trace]:
            arrivals = [self.obligations.advance_one(o, input_class, state_class) for o in bits(pending)]
            pending = 0
            for arrival in arrivals:
                pending, completed = pending | arrival.pending, completed | arrival.completed
        return Arrival(pending, completed)

    def distances(self, targets: Iterable[int]) -> list[float]:
        """For each state the least number of ticks to one of ``targets``."""
        found: list[float] = [inf] * len(self.before)
        layer = list(targets)
        for state in layer:
            found[state] = 0
        while layer:
            following = []
            for state in layer:
                for earlier in self.before[state]:
                    if found[earlier] == inf:
                        found[earlier] = found[state] + self.ticks
                        following.append(earlier)
            layer = following
        return found

    def ways(self, arrival: Arrival, covered: int, state_class: int) -> list[tuple[int, int]]:
        """(pending, covered) after an arrival in a state, for each way to credit goals whose steps are disjoint."""
        fresh = arrival.completed & ~covered
        at_once = sum(1 << goal for goal in bits(fresh) if self.obligations.goals[goal].length == 0)
        begun = self.obligations.fresh(state_class).pending
        ways = [1 << goal | at_once for goal in bits(fresh & ~at_once)] or ([at_once] if at_once else [])
        return [*((begun, covered | credited) for credited in ways), (arrival.pending, covered)]

    def ways_along(self, pending: int, covered: int, trace: int) -> Iterable[tuple[int, int]]:
        """As ``ways``, after a step along ``trace``."""
        found = {(pending, covered): None}
        for input_class, state_class in self.traces[trace]:
            following: dict[tuple[int, int], None] = {}
            for before, done in found:
                left = before & ~self.obligations.of(done)
                arrival = self.obligations.advance(left, input_class, state_class)
                following.update(dict.fromkeys(self.ways(arrival, done, state_class)))
            found = following
        return found
