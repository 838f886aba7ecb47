"""Algorithm 2 without a solver: the reachable states, where they can be enumerated, and the exact K-reachability graph.

Between the end of one goal and the start of another a shortest run is a shortest path: breadth first from all starts
of a goal at once. Goals that hold on one step have the distance 0.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from importlib.util import find_spec

import numpy as np
from pysmt.fnode import FNode

from bmc import footprint
from bmc.evaluation.vectors import Column, node_count
from bmc.explicit.enumeration import MEMORY, PORTION, Enumeration
from bmc.explicit.state_graph import UNREACHED, Arrows, StateGraph
from bmc.explicit.steps import InputSolver
from bmc.system.transition import TransitionSystem
from chaincover.chain import NO_WAY_TO_FINAL, UNREACHABLE, LongTest
from chaincover.facts import STATES
from chaincover.graph.enumerated_goals import CELLS, LEAST_BLOCK, EnumeratedGoals, states_in
from chaincover.known import Board, Reason
from chaincover.limits import PER_UNIT, Limits
from chaincover.orderings.bound import FARTHEST, farthest
from chaincover.problem import Problem
from chaincover.stages import await_news
from chaincover.weights import END, FINAL, INIT, Edge, ReachGraph, exact_reach_graph


def enumerated_graph(problem: Problem, states: StateGraph, limits: Limits) -> ReachGraph:
    """The K-reachability graph of ``problem`` with every weight; its reachable ``states`` may be those of more goals.

    An edge that no run makes has a lower bound above every finite weight. LimitReached when time is over.
    """
    problem.check_names()
    search = _Weights(problem, states, limits)
    begun = time.monotonic()
    found = {edge: steps for edges in search.edges() for edge, steps in edges.items()}
    never = tuple(name for number, name in enumerate(problem.names) if number not in search.possible)
    graph = exact_reach_graph(problem.names, problem.end, found, search.impossible, never)
    return replace(graph, seconds=time.monotonic() - begun)


class _Weights:
    """Finds the weights of ``problem``. ``possible`` are the numbers of the goals that some run covers."""

    def __init__(self, problem: Problem, states: StateGraph, limits: Limits) -> None:
        self._problem, self._states, self._limits = problem, states, limits
        self._goals = EnumeratedGoals(problem, states)
        self._spent = 0
        self._spend()
        self.possible = []
        for number in range(len(problem.goals)):
            if self._goals.ends_of(number)[0].size:
                self.possible.append(number)
            self._spend()
        for number in self.possible:
            self._goals.together_with(number)
            self._spend()

    @property
    def impossible(self) -> int:
        """Above every finite weight: a shortest way between two goals meets no state twice."""
        return len(self._states.states) + 2

    def edges(self) -> Iterator[dict[Edge, int | None]]:
        """The edges to each of the possible goals, then those to the end, with their weights (None: no way)."""
        every, goals = self._problem.goals, self._goals
        together = max(1, CELLS // max(1, self._backward.size))
        for several in (self.possible[low : low + together] for low in range(0, len(self.possible), together)):
            starts_of = [goals.ends_of(number)[0] for number in several]
            for number, ways in zip(several, self._ways_to([every[n].name for n in several], starts_of), strict=True):
                target = every[number].name
                ways.pop((target, target), None)
                for source in self.possible:
                    if number in goals.together_with(source):
                        ways[every[source].name, target] = goals.together_with(source)[number]
                yield ways
        if self._problem.final is None:
            ways = {(name, END): length for name, length in self._sources}
        else:
            (ways,) = self._ways_to([FINAL], [np.flatnonzero(states_in(self._states, self._problem.final))])
        if every:
            del ways[INIT, self._problem.end]
        yield ways

    def _ways_to(self, targets: Sequence[str], among: Sequence[Column]) -> Iterator[dict[Edge, int | None]]:
        """The edges to each of ``targets``, which are the states ``among``, with their weights."""
        nodes, first = self._source_states
        begin = np.full((len(among), self._backward.size), UNREACHED, np.int32)
        for row, states in zip(begin, among, strict=True):
            row[states] = 0
        for target, distances in zip(targets, self._backward.all_distances(begin, self._limits.check), strict=True):
            near = np.minimum.reduceat(distances[nodes], first).tolist()
            layers = int(distances[distances < UNREACHED].max(initial=0)) // len(targets)
            self._spend(len(self._backward.ends) + LEAST_BLOCK * layers)
            ways = zip(self._sources, near, strict=True)
            yield {(name, target): None if way == UNREACHED else over + way for (name, over), way in ways}

    @cached_property
    def _backward(self) -> Arrows:
        return self._states.moves.backward()

    @cached_property
    def _sources(self) -> list[tuple[str, int]]:
        """Where edges begin: init and the possible goals, with the steps from the start of each to its end."""
        goals = (self._problem.goals[number] for number in self.possible)
        return [(INIT, 0), *((goal.name, goal.over(0)) for goal in goals)]

    @cached_property
    def _source_states(self) -> tuple[Column, Column]:
        """The states in which edges begin, one source after the other, and the place of the first one of each."""
        each = [np.array(self._states.starts, np.int64), *(self._goals.ends_of(number)[1] for number in self.possible)]
        return np.concatenate(each), np.cumsum([0, *map(len, each)])[:-1]

    def _spend(self, steps: int = 0) -> None:
        """Count the work of following ``steps``, and that of the goals so far."""
        before, self._spent = self._spent, self._goals.followed
        self._limits.spend((self._spent - before + steps) / PER_UNIT.steps)
        self._limits.check()


def analysed(system: TransitionSystem) -> float:
    """Units of work that a slice of ``system`` takes, and as many that finding the values of its variables takes."""
    formulas = [system.input_constraint, system.defined, *(var.next for var in system.state)]
    return node_count(formulas) / PER_UNIT.analysed_nodes


ENUMERATING = "auto"
"""The engine with which states are enumerated; with any other one it answers all questions."""


AT_ONCE = 4
"""Portions of that work before a normal form of the states is sought, and a first chain by simulation: mostly the
states are few. With twice as many, what is not listed by then waits 0.1 units longer for its first chain. No solver is
made for their inputs in so little work."""

LISTING = (AT_ONCE - 0.5) * PORTION / PER_UNIT.values
"""Units of work after which the turn is over in which most states are listed."""


def enumerate_states(board: Board) -> None:
    """Enumerate the reachable states, on what the goals and the final condition depend on."""
    if board.options.engine != ENUMERATING:
        return
    board.say("enumerate: reachable states")
    state, portions = board.known.problem.system.state, 0
    enumeration = enumeration_of(board.known.problem)
    try:
        while not enumeration.done:
            advance(enumeration, board.limits)
            board.limits.check()
            portions += 1
            if board.known.problem.system.state is not state:  # by now they have a normal form
                state = board.known.problem.system.state
                enumeration = board.enumeration or enumeration_of(board.known.problem)
            board.enumeration = enumeration if portions >= AT_ONCE else None
    finally:
        board.not_enumerated, board.enumeration = enumeration.reason or "", None
    if enumeration.graph is None or not enumeration.graph.states:
        board.say(f"enumerate: {board.not_enumerated}")
        return
    board.say(f"enumerate: {enumeration.states} reachable states")
    board.tell(enumerated=enumeration.graph)


def enumeration_of(problem: Problem) -> Enumeration:
    """The enumeration of the states on what the goals and the final condition of ``problem`` depend on."""
    return enumeration(problem.system, [goal.antecedent for goal in problem.goals] + problem.end_formulas(0))


def enumeration(system: TransitionSystem, formulas: Sequence[FNode]) -> Enumeration:
    """The enumeration of the states of ``system`` on what ``formulas`` (framed) depend on.

    Where cases of inputs are too many, a SAT solver is asked for inputs, if python-sat is installed.
    """
    solving = None if find_spec("pysat") is None else _least_inputs
    return Enumeration(system, formulas, footprint.part(MEMORY), solving)


def _least_inputs(system: TransitionSystem, terms: Sequence[FNode]) -> InputSolver:
    from bmc.engines.sat import LeastInputs  # a library that most enumerations do not need

    return LeastInputs(system, terms)


def advance(enumeration: Enumeration, limits: Limits) -> None:
    """Go on with ``enumeration`` by a portion of work, and count it, or as much as it has done where that is more."""
    before = enumeration.counted
    enumeration.advance(PORTION)
    limits.spend((enumeration.counted - before) / PER_UNIT.values)


def enumerate_within(enumeration: Enumeration, limits: Limits) -> StateGraph | None:
    """What ``enumeration`` gives until ``limits`` are over; None if that is not all."""
    while not enumeration.done and not limits.over:
        advance(enumeration, limits)
    return enumeration.graph if enumeration.graph is not None and enumeration.graph.states else None


def enumerated_within(problem: Problem, limits: Limits, begun: Enumeration | None = None) -> StateGraph | None:
    """The reachable states of ``problem``; None if they cannot be enumerated within ``limits``.

    ``begun``: their enumeration, where it was begun before. LimitReached when time is over.
    """
    graph = enumerate_within(begun or enumeration_of(problem), limits)
    limits.check()
    return graph


def exact_graph(board: Board) -> None:
    """Exact distances between the reachable states, and the goals that no chain covers.

    Where the states are not enumerated in the first turn of that, they are searched in layers.
    """
    problem, known = board.problem, board.known.graph
    if problem.goals and known.exact and known.end == problem.end and {*problem.names} <= {*known.goals}:
        return
    if board.known.enumerated is None and board.options.engine == ENUMERATING and board.options.bound is None:
        found = _graph_in_layers(board)
        if found is not None:
            _tell(board, *found)
            return
    await_news(board, STATES)
    states = board.known.enumerated
    assert states is not None
    board.say("exact graph: distances between enumerated states")
    _tell(board, enumerated_graph(problem, states, board.limits), len(states.states))


def _graph_in_layers(board: Board) -> tuple[ReachGraph, int] | None:
    """The graph, and how many states are reachable; None where that cannot be found in layers."""
    from bmc.explicit.layers import NotInLayers, OutOfMemory  # here, for most states are enumerated soon
    from bmc.native.kernel import KernelFailed
    from chaincover.graph.layered import MEMORY as IN_LAYERS
    from chaincover.graph.layered import LayeredGoals

    board.say("exact graph: distances between states in layers")
    if board.layered is not None:
        board.layered.close()
    try:
        board.layered = found = LayeredGoals(board.problem, board.limits, board.say, footprint.part(IN_LAYERS))
        graph = found.graph(lambda need: board.tell(layers=need))
    except NotInLayers as error:
        board.layered = None
        text = f"the states of {board.problem.system.name} are not searched in layers: {error}"
        if isinstance(error.__cause__, (OutOfMemory, KernelFailed)):
            board.give_up("exact graph", text)
        else:
            board.say(f"exact graph: {text}")
        return None
    board.tell(reachable=found.states)
    return graph, found.states


def _tell(board: Board, graph: ReachGraph, states: int) -> None:
    """Write the exact graph on the board, and the goals that no run covers, of which it tells."""
    problem, how = board.known.problem, f"all {states} reachable states were searched"
    gone = {name: Reason(UNREACHABLE, f"no run covers it: {how}") for name in graph.unsatisfiable}
    for goal in graph.goals:
        if goal in gone:
            continue
        if (INIT, goal) not in graph.weights:
            gone[goal] = Reason(UNREACHABLE, f"no run covers it: {how}")
        elif graph.end == FINAL and (goal, FINAL) not in graph.weights:
            gone[goal] = Reason(NO_WAY_TO_FINAL, f"reached, but no run goes on to the final condition: {how}")
    board.tell(graph=_within(graph, board.options.bound))
    if gone:
        board.rule_out(gone)
    steps = {goal: problem.over(goal, graph.weights[INIT, goal]) for goal in graph.goals if goal not in gone}
    board.set_aside({goal: LongTest(far) for goal, far in steps.items() if far > board.options.most_steps})
    lower, targets = graph.restricted(board.known.targets).lower, board.known.targets
    board.prove(order_bound=farthest(targets, graph.end, lower), edges=lower, basis=FARTHEST)


def _within(graph: ReachGraph, bound: int | None) -> ReachGraph:
    """``graph`` without the weights above ``bound``."""
    if bound is None:
        return graph
    kept = {edge: weight for edge, weight in graph.weights.items() if weight <= bound}
    return replace(graph, weights=kept, depth=bound, exact=len(kept) == len(graph.weights))
