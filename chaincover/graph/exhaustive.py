"""Exact answers on small state spaces: which sets of goals one run can cover, and in how few steps, or that none can.

A search over (state, obligations, goals covered). A node is left out where another one at the same state, no deeper,
has covered at least as much and has the same antecedents under way: whatever follows it follows the other one too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from math import inf

from pysmt.fnode import FNode

from bmc.explicit.enumeration import affordable, enumerated
from bmc.explicit.state_graph import StateGraph
from bmc.formulas.unroll import at
from bmc.system.run import Run
from bmc.system.simulation import Simulator
from bmc.system.transition import TransitionSystem
from chaincover.graph.estimates import Estimate, TooManyPairs
from chaincover.graph.ground import Ground
from properties.goal import Goal
from properties.obligations import Arrival, Obligations, bits

Check = Callable[[], None]

STEPS_LIMIT, NODES_LIMIT = 100_000, 500_000
"""Simulated steps that finding the reachable states may take; nodes that the search over sets of goals may keep."""

CHECK_EVERY, LOOK_BACK = 256, 100
"""Nodes between two calls of the caller's check; earlier nodes at the same state that a node is compared with."""


@dataclass(frozen=True, slots=True)
class Cover:
    """One run from init to the end covers ``goals`` in ``length`` steps; no run covers them in fewer."""

    goals: frozenset[str]
    length: int


@dataclass(frozen=True)
class Exhaustion:
    """The outcome of a search that ran to its end, so that what it did not find does not exist.

    ``states`` reachable states, ``nodes`` of the search. ``runs`` holds a run for each of ``covers``.
    """

    states: int
    nodes: int
    covers: tuple[Cover, ...]
    runs: Sequence[Run] = field(repr=False)

    def pareto(self) -> tuple[Cover, ...]:
        """By rising length, every set of goals that one run covers, unless a superset takes no more steps."""
        return self.covers

    def least(self, goals: Collection[str]) -> Run | None:
        """A shortest run that covers at least ``goals`` and ends in the final condition; None: proved to be none."""
        wanted = frozenset(goals)
        fitting = (place for place, cover in enumerate(self.covers) if wanted <= cover.goals)
        place = next(fitting, None)
        return None if place is None else self.runs[place]


@dataclass(frozen=True, slots=True)
class Least:
    """``run``: a shortest one over all goals to the end; None: proved to be none. ``states``, ``nodes``: the effort."""

    run: Run | None
    states: int
    nodes: int


def exhaust(
    system: TransitionSystem,
    goals: Sequence[Goal],
    final: FNode | None,
    overlap: str = "allow",
    steps_limit: int = STEPS_LIMIT,
    nodes_limit: int = NODES_LIMIT,
    check: Check = lambda: None,
    graph: StateGraph | None = None,
) -> Exhaustion | None:
    """All sets of ``goals`` that one run from init to ``final`` can cover; None if a limit is reached.

    ``final`` is over plain state symbols, None: a run may end anywhere. With ``overlap`` ``forbid`` the steps of the
    goals of a set are disjoint. All values of variables that init leaves open are start states. ``check`` is called
    now and then; what it raises ends the search. ``graph`` is that of ``enumeration.enumerated``, if it is known, for
    these goals or more.
    """
    search = _search(system, goals, final, overlap, steps_limit, nodes_limit, check, graph)
    if search is None or not search.every_set():
        return None
    best = search.undominated()
    covers = tuple(Cover(frozenset(goals[goal].name for goal in bits(mask)), length) for mask, length, _ in best)
    return Exhaustion(search.states, search.size, covers, tuple(search.run(node) for _, _, node in best))


def least_run(
    system: TransitionSystem,
    goals: Sequence[Goal],
    final: FNode | None,
    overlap: str = "allow",
    steps_limit: int = STEPS_LIMIT,
    nodes_limit: int = NODES_LIMIT,
    check: Check = lambda: None,
    graph: StateGraph | None = None,
) -> Least | None:
    """A shortest run that covers all ``goals``, or the proof that there is none; None if a limit is reached.

    Much faster than ``exhaust``, whose parameters it has: it follows only what can still cover every goal.
    """
    search = _search(system, goals, final, overlap, steps_limit, nodes_limit, check, graph)
    if search is None or not search.all_goals():
        return None
    node = search.ends.get(search.everything)
    return Least(None if node is None else search.run(node), search.states, search.size)


def _search(
    system: TransitionSystem,
    goals: Sequence[Goal],
    final: FNode | None,
    overlap: str,
    steps_limit: int,
    nodes_limit: int,
    check: Check,
    graph: StateGraph | None,
) -> _Search | None:
    if graph is None:
        formulas = [goal.antecedent for goal in goals] + ([] if final is None else [at(final, 0)])
        graph = enumerated(system, formulas, affordable(system, steps_limit))
    if graph is None:
        return None
    check()
    ground = Ground(graph, Obligations(goals, {var.name for var in system.inputs}), final)
    try:
        return _Search(system, graph, ground, overlap == "forbid", nodes_limit, check)
    except TooManyPairs:
        return None


@dataclass(frozen=True, slots=True)
class _Node:
    """Obligations of goals in ``covered`` are not ``pending``; ``choice``: the input (first: -1) after ``parent``."""

    state: int
    pending: int
    covered: int
    depth: int
    parent: int
    choice: int


class _Search:
    """One search. ``ends`` gives for each set of goals found at an end the first node that has it."""

    def __init__(
        self, system: TransitionSystem, graph: StateGraph, ground: Ground, forbid: bool, nodes_limit: int, check: Check
    ) -> None:
        self._system, self._graph, self._ground, self._forbid = system, graph, ground, forbid
        self._obligations = ground.obligations
        self._limit, self._check = nodes_limit, check
        self._estimate = Estimate(ground, forbid, nodes_limit, check)
        self._nodes: list[_Node] = []
        self._depths: dict[tuple[int, int, int], int] = {}
        self._at_state: list[list[tuple[int, int, int]]] = [[] for _ in graph.states]
        self._effects: dict[tuple[int, int], tuple[tuple[int, Arrival, int], ...]] = {}
        self._queues: list[list[int]] = []
        self._bucket = 0
        self._largest = 0
        self.everything = (1 << len(self._obligations.goals)) - 1
        self.ends: dict[int, int] = {}
        self.states = len(graph.states)

    @property
    def size(self) -> int:
        """Nodes kept."""
        return len(self._nodes)

    def every_set(self) -> bool:
        """Search until no node can add to what was found. False if the limit was reached."""
        self._start(0)
        for number in self._in_order():
            node = self._nodes[number]
            if not self._ground.to_final[node.state]:
                self.ends.setdefault(node.covered, number)
                self._largest = max(self._largest, node.covered.bit_count())
            reach = node.covered | self._estimate.possible(node.state, node.pending)
            if reach.bit_count() > self._largest or not any(reach & ~found == 0 for found in self.ends):
                self._expand(number, 0)
        return self.size <= self._limit

    def all_goals(self) -> bool:
        """Search until all goals are covered at an end, or cannot be. False if the limit was reached."""
        self._start(self.everything)
        for number in self._in_order():
            node = self._nodes[number]
            if node.covered == self.everything and not self._ground.to_final[node.state]:
                self.ends[node.covered] = number
                return True
            self._expand(number, self.everything)
        return self.size <= self._limit

    def undominated(self) -> list[tuple[int, int, int]]:
        """(goals, length, node) of the sets found for which no superset takes as few steps, by rising length."""
        kept: list[tuple[int, int, int]] = []
        found = [(mask, self._nodes[node].depth, node) for mask, node in self.ends.items()]
        for item in sorted(found, key=lambda it: (it[1], -it[0].bit_count(), it[0])):
            if not any(item[0] & ~other == 0 for other, _, _ in kept):
                kept.append(item)
        return kept

    def run(self, number: int) -> Run:
        """The run to a node, with all variables of the system."""
        choices = []
        node = self._nodes[number]
        while node.parent >= 0:
            choices += [node.choice] * self._ground.ticks
            node = self._nodes[node.parent]
        start = self._graph.states[node.state]
        simulator = Simulator(self._system)
        open_ones = {v.name: start[v.name] for v in self._system.state if v.init is None and v.name in start}
        return simulator.run(simulator.initial(open_ones), [self._graph.inputs[i] for i in reversed(choices)])

    def _in_order(self) -> Iterator[int]:
        while self._bucket < len(self._queues):
            for count, number in enumerate(self._queues[self._bucket]):
                if count % CHECK_EVERY == 0:
                    self._check()
                if self.size > self._limit:
                    return
                node = self._nodes[number]
                if self._depths[node.state, node.pending, node.covered] == node.depth:
                    yield number
            self._bucket += 1

    def _start(self, wanted: int) -> None:
        for state in self._ground.starts:
            arrival = self._obligations.fresh(self._ground.classes[state])
            self._arrive(state, arrival, 0, 0, -1, -1, wanted)

    def _expand(self, number: int, wanted: int) -> None:
        node = self._nodes[number]
        depth = node.depth + self._ground.ticks
        if self._forbid and self._ground.ticks > 1:
            for trace, after, choice in self._ground.steps[node.state]:
                for pending, covered in self._ground.ways_along(node.pending, node.covered, trace):
                    self._add(_Node(after, pending, covered, depth, number, choice), wanted)
            return
        for after, arrival, choice in self._effects_of(node.state, node.pending):
            self._arrive(after, arrival, node.covered, depth, number, choice, wanted)

    def _effects_of(self, state: int, pending: int) -> tuple[tuple[int, Arrival, int], ...]:
        """(next state, what is pending and completed there, input) for each effect that an input can have."""
        if (state, pending) not in self._effects:
            found: dict[tuple[int, Arrival], int] = {}
            for trace, after, choice in self._ground.steps[state]:
                found.setdefault((after, self._ground.advance(pending, trace)), choice)
            self._effects[state, pending] = tuple((after, arrival, i) for (after, arrival), i in found.items())
        return self._effects[state, pending]

    def _arrive(
        self, state: int, arrival: Arrival, covered: int, depth: int, parent: int, choice: int, wanted: int
    ) -> None:
        """Add the nodes that an arrival makes: with overlap forbidden, one for each way to credit goals."""
        if not self._forbid:
            return self._add(_Node(state, arrival.pending, covered | arrival.completed, depth, parent, choice), wanted)
        for pending, credited in self._ground.ways(arrival, covered, self._ground.classes[state]):
            self._add(_Node(state, pending, credited, depth, parent, choice), wanted)

    def _add(self, node: _Node, wanted: int) -> None:
        """Keep ``node``, without obligations of goals that it covers, unless it is dominated or hopeless."""
        pending = node.pending & ~self._obligations.of(node.covered)
        key = (node.state, pending, node.covered)
        if self._depths.get(key, inf) <= node.depth:
            return
        node = replace(node, pending=pending)
        least = self._estimate.steps(node.state, pending, wanted & ~node.covered) if wanted else 0
        if least == inf or self._dominated(node):
            return
        self._depths[key] = node.depth
        self._at_state[node.state].append((node.covered, node.pending, node.depth))
        bucket = max(node.depth + int(least), self._bucket)
        while len(self._queues) <= bucket:
            self._queues.append([])
        self._queues[bucket].append(len(self._nodes))
        self._nodes.append(node)

    def _dominated(self, node: _Node) -> bool:
        """Whether one of the last nodes at the same state dominates ``node``; further back is not worth the time."""
        for covered, pending, depth in islice(reversed(self._at_state[node.state]), LOOK_BACK):
            if node.covered & ~covered == 0 and depth <= node.depth:
                missing = node.pending & ~pending
                if not missing or not self._obligations.goals_of(missing) & ~covered:
                    return True
        return False
