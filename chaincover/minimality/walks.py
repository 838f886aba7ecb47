"""Sub-paths in a listed state graph: the least number of steps for goals in a given order, by breadth-first search.

The same answers as ``segments``, without a solver, for goals of at most one step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pysmt.fnode import FNode

from bmc.engines.protocol import Status
from bmc.explicit.state_graph import StateGraph
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import at
from bmc.system.run import Run
from bmc.system.simulation import Simulator
from bmc.system.transition import TransitionSystem, Valuation
from chaincover.minimality.segments import Path, Segment, Stretch
from chaincover.weights import END, FINAL, INIT
from properties.goal import Goal

MOST_WORK = 2_000_000
"""Steps of the graph times goals up to which goals are evaluated on every step."""


@dataclass(frozen=True, slots=True)
class _Node:
    """A state with the first ``credited`` goals of a path; reached by ``choice`` (an input) from ``parent``."""

    state: int
    credited: int
    parent: int
    choice: int


@dataclass(frozen=True, slots=True)
class _Found:
    """A path's least ``length``, and the inputs ``choices`` from the state ``start`` that walk it."""

    length: int
    start: int
    choices: tuple[int, ...]


class Walks:
    """Least lengths of sub-paths of node names; ``overlap`` and the ends of paths as for ``SegmentSearch``."""

    cheap = True

    def __init__(
        self, system: TransitionSystem, graph: StateGraph, goals: Mapping[str, Goal], final: FNode | None, overlap: str
    ) -> None:
        self._system = system
        self._graph = graph
        self._bit = {name: 1 << place for place, name in enumerate(goals)}
        self._short = frozenset(name for name, goal in goals.items() if goal.length == 0)
        self._apart = overlap == "forbid"
        self._goals, self._end = dict(goals), final
        self._least: dict[Path, _Found | None] = {}

    @cached_property
    def _simulator(self) -> Simulator:
        return Simulator(self._system)

    @cached_property
    def _here(self) -> list[int]:
        """For each state the goals of no step that hold in it, as bits."""
        return self._on_states([goal.antecedent if name in self._short else None for name, goal in self._goals.items()])

    @cached_property
    def _steps(self) -> list[list[tuple[int, int, int]]]:
        """For each state its steps, with the goals of one step that hold on them."""
        return self._on_steps([None if name in self._short else goal.antecedent for name, goal in self._goals.items()])

    @cached_property
    def _final(self) -> list[int] | None:
        """For each state whether it satisfies the final condition; None: there is none."""
        return None if self._end is None else self._on_states([at(self._end, 0)])

    def least_all(self, stretches: Sequence[Stretch]) -> list[Segment]:
        """See the protocol."""
        return [self.least(stretch) for stretch in stretches]

    def least(self, stretch: Stretch) -> Segment:
        """As ``least_all`` for one."""
        found = self._search(stretch.path)
        if found is None or found.length > stretch.most:
            return Segment(max(stretch.at_least, stretch.most + 1), False)
        return Segment(found.length, True)

    def ask(self, path: Path, steps: int) -> tuple[Status, Run | None]:
        """Whether ``path`` takes ``steps`` steps, which is known to be a lower bound; the run if it does."""
        found = self._search(path)
        if found is None or found.length != steps:
            return Status.UNSAT, None
        return Status.SAT, self._run(found)

    def _on_states(self, formulas: Sequence[FNode | None]) -> list[int]:
        """For each state the formulas (framed at 0) that hold in it, as bits."""
        test = _tests(formulas)
        return [test({f"{name}@0": value for name, value in state.items()}) for state in self._graph.states]

    def _on_steps(self, formulas: Sequence[FNode | None]) -> list[list[tuple[int, int, int]]]:
        """For each state its steps as (next state, formulas that hold as bits, input), one of each kind."""
        test = _tests(formulas)
        found = []
        for state, steps in zip(self._graph.states, self._graph.steps, strict=True):
            kinds: dict[tuple[int, int], int] = {}
            for choice, after in steps:
                kinds.setdefault((after, test(self._frames(state, choice, after))), choice)
            found.append([(after, bits, choice) for (after, bits), choice in kinds.items()])
        return found

    def _frames(self, state: Valuation, choice: int, after: int) -> dict[str, int]:
        values = {f"{name}@0": value for name, value in state.items()}
        values.update((f"{name}@0", value) for name, value in self._graph.inputs[choice].items())
        values.update((f"{name}@1", value) for name, value in self._graph.states[after].items())
        return values

    def _search(self, path: Path) -> _Found | None:
        """The least length of ``path`` and a way to walk it, None if there is none at all."""
        if path not in self._least:
            self._least[path] = _Walk(self, path).search()
        return self._least[path]

    def _run(self, found: _Found) -> Run:
        """The run of what was found, with all variables of the system."""
        state = {**self._simulator.initial(), **self._graph.states[found.start]}
        return self._simulator.run(state, [self._graph.inputs[choice] for choice in found.choices])


class _Walk:
    """One breadth-first search over (state, goals credited so far). To credit a goal is never worse than not to."""

    def __init__(self, walks: Walks, path: Path) -> None:
        self._walks = walks
        self._to_end = path[-1] in (FINAL, END)
        self._final = walks._final if path[-1] == FINAL else None
        self._from_init = path[0] == INIT
        names = [name for name in path if name not in (INIT, FINAL, END)]
        self._goals = [(walks._bit[name], name in walks._short) for name in names]
        self._nodes: list[_Node] = []
        self._seen: set[tuple[int, int]] = set()

    def search(self) -> _Found | None:
        layer = self._first()
        depth = 0
        while layer:
            found = self._arrived(layer)
            if found is not None:
                return self._found(depth, found)
            following = []
            for number in layer:
                node = self._nodes[number]
                for after, bits, choice in self._walks._steps[node.state]:
                    credited = self._stepped(node, bits)
                    if depth == 0 and not self._from_init and credited == 0:
                        continue
                    if not self._to_end and credited == len(self._goals):
                        return self._found(depth, self._new(after, credited, number, choice))
                    following += self._add(after, self._standing(after, credited), number, choice)
            layer, depth = following, depth + 1
        return None

    def _first(self) -> list[int]:
        """The nodes to begin from. A path from a goal begins with it: in its states, or with a step of it."""
        if self._from_init:
            return [n for s in self._walks._graph.starts for n in self._add(s, self._standing(s, 0), -1, -1)]
        layer = []
        for state in range(len(self._walks._graph.states)):
            credited = self._standing(state, 0)
            if credited or not self._goals[0][1]:
                layer += self._add(state, credited, -1, -1)
        return layer

    def _arrived(self, layer: Sequence[int]) -> int | None:
        """The first node that has all goals, and ends the path."""
        for number in layer:
            node = self._nodes[number]
            if node.credited == len(self._goals) and (self._final is None or self._final[node.state]):
                return number
        return None

    def _standing(self, state: int, credited: int) -> int:
        """How many goals are credited once those of no steps that hold in ``state`` are."""
        while credited < len(self._goals):
            bit, short = self._goals[credited]
            if not short or not self._walks._here[state] & bit:
                break
            credited += 1
        return credited

    def _stepped(self, node: _Node, bits: int) -> int:
        """How many goals are credited after a step from ``node`` on which the goals ``bits`` hold."""
        credited = node.credited
        while credited < len(self._goals):
            bit, short = self._goals[credited]
            if not (self._walks._here[node.state] if short else bits) & bit:
                break
            credited += 1
            if self._walks._apart and not short:
                break
        return credited

    def _add(self, state: int, credited: int, parent: int, choice: int) -> list[int]:
        if (state, credited) in self._seen:
            return []
        self._seen.add((state, credited))
        return [self._new(state, credited, parent, choice)]

    def _new(self, state: int, credited: int, parent: int, choice: int) -> int:
        self._nodes.append(_Node(state, credited, parent, choice))
        return len(self._nodes) - 1

    def _found(self, depth: int, number: int) -> _Found:
        choices = []
        while self._nodes[number].parent >= 0:
            choices.append(self._nodes[number].choice)
            number = self._nodes[number].parent
        return _Found(depth, self._nodes[number].state, tuple(reversed(choices)))


def _tests(formulas: Sequence[FNode | None]) -> Callable[[Mapping[str, int]], int]:
    """A function from values of framed symbols to the formulas that hold, as bits; None never holds."""
    places = [place for place, formula in enumerate(formulas) if formula is not None]
    evaluate = compile_formulas([formula for formula in formulas if formula is not None])
    return lambda values: sum(1 << place for place, holds in zip(places, evaluate(values), strict=True) if holds)


def walks_in(
    system: TransitionSystem,
    graph: StateGraph | None,
    goals: Mapping[str, Goal],
    final: FNode | None,
    overlap: str,
) -> Walks | None:
    """Walks in ``graph``; None without one, for goals of more than one step, or where it would take too long."""
    if graph is None or any(goal.length > 1 for goal in goals.values()):
        return None
    if graph.steps.total * max(1, len(goals)) > MOST_WORK:
        return None
    return Walks(system, graph, goals, final, overlap)
