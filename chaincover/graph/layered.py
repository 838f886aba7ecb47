"""The exact K-reachability graph without listed steps: breadth-first layers over packed states, goal by goal.

Where the reachable states and the steps between them are too many to be listed soon, distances are still found, as long
as each goal takes one step at most: one search from the start states meets all reachable ones and notes where the runs
of each goal end; one more from the ends of each goal finds the distances to all others. A run along a path of goals
comes from one search for each of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import ceil, inf

from bmc import footprint
from bmc.engines.protocol import PORTION, WORK
from bmc.errors import counted
from bmc.evaluation.vectors import Columns, node_count
from bmc.explicit.covering import CoveringSearch
from bmc.explicit.guide import Guide
from bmc.explicit.layers import Key, LayeredSystem, NotInLayers, OutOfMemory, Watched, Way
from bmc.explicit.layers_in_c import CompiledLayers, layers
from bmc.native.kernel import KernelFailed
from bmc.system.simulation import Simulator
from bmc.system.transition import Run
from chaincover.facts import FAR
from chaincover.graph.enumerated import analysed
from chaincover.known import Board
from chaincover.limits import PER_STEP, PER_UNIT, UNITS, Limits
from chaincover.problem import Problem
from chaincover.result import LayersNeed
from chaincover.weights import END, FINAL, INIT, Edge, ReachGraph, exact_reach_graph

MEMORY = 8 << 30
"""Bytes that a search may take."""


FIRST_PART, PART, FAR_PART = 1 / 8, 1 / 2, 7 / 8
"""Parts of the effort foreseen that a search may take in one turn: for the reachable states, and, once they are known,
for all distances, or a way to a goal; and the same where a goal is ``FAR``. How much that is at most is known before.
"""

QUICKLY_COMPILED = 4.0
"""Units of work of a search that is compiled in a third of the time, and half as fast: compiling well takes as long as
so much work. With twice as many, searches of two units take longer."""

MOST_TOLD = 10_000_000_000
"""Where there may be more states than this, by the values of variables, what all of them would take is not told."""


class LayeredGoals:
    """The goals and the final condition of ``problem``, on reachable states that are searched in layers.

    NotInLayers where that cannot be, or takes more memory than it may.
    """

    def __init__(self, problem: Problem, limits: Limits, say: Callable[[str], None], memory: int = MEMORY) -> None:
        self.problem, self._limits, self._memory = problem, limits, memory
        self._say, self._told = say, 1 << 28
        self.states, self.far = 0, False
        self._final = len(problem.goals) if problem.final is not None else None
        watched = [Watched(goal.antecedent, goal.takes_step) for goal in problem.goals]
        ends = [Watched(formula, False) for formula in problem.end_formulas(0)]
        made = self._made = LayeredSystem(problem.system, [*watched, *ends], self._spend)
        judged = Simulator(problem.system).size + node_count([goal.antecedent for goal in problem.goals])
        self._each = (judged + PER_STEP) / PER_UNIT.simulated
        limits.spend(made.size / PER_UNIT.compiled + analysed(made.system))
        self._search = layers(made, memory, say, limits.unspent <= QUICKLY_COMPILED)

    def _spend(self, work: int) -> None:
        self._limits.spend(work / PER_UNIT.values)
        self._limits.check()

    def graph(self, tell: Callable[[LayersNeed | None], None] = lambda need: None) -> ReachGraph:
        """The K-reachability graph with every weight; ``tell`` is told what that and a chain take, if it is more than
        there is. LimitReached when time is over.
        """
        begun = time.monotonic()
        problem, goals, most = self.problem, self.problem.goals, self._made.most_states
        self._extend(most, FIRST_PART)
        tell(self._need(most, len(goals), exact=False) if most <= MOST_TOLD else None)
        self.reach()
        self._say(f"exact graph: {self.states} reachable states, in layers")
        impossible = self.states + 2
        first = self._search.first()
        self.far = max(first, default=0) > FAR
        possible = [number for number, step in enumerate(first[: len(goals)]) if step >= 0]
        together = self._search.together()
        self._extend(len(possible) * self.states, FAR_PART if self.far else PART)
        tell(self._need(self.states, len(possible), exact=True))
        found = dict(self._edges(possible, together))
        never = tuple(name for number, name in enumerate(problem.names) if number not in possible)
        graph = exact_reach_graph(problem.names, problem.end, found, impossible, never)
        return replace(graph, seconds=time.monotonic() - begun)

    @property
    def compiled(self) -> bool:
        """Whether it is searched by a compiled program."""
        return isinstance(self._search, CompiledLayers)

    def covering(self) -> CoveringSearch | None:
        """A search for a shortest chain on the arrows between all reachable states; None where these are not noted."""
        search = self._search
        if not isinstance(search, CompiledLayers) or search.arrows is None:
            return None
        return CoveringSearch(search, self._made, len(self.problem.goals), self._final)

    def guide(self, order: Sequence[str]) -> Guide | None:
        """The steps to come along an ``order`` of goals, for all states; None where the arrows between these are not
        noted, or the states are too many. NotInLayers where memory is over."""
        search, names = self._search, self.problem.names
        if not isinstance(search, CompiledLayers) or search.arrows is None:
            return None
        made = Guide(search, self._made, len(names), self._final, [names.index(name) for name in order])
        before = 0.0
        try:
            for _ in made.make():
                self._limits.spend((made.work - before) / WORK)
                self._limits.check()
                before = made.work
        except (OutOfMemory, KernelFailed) as error:
            raise NotInLayers("the steps to come take more memory than there is") from error
        return made if made.there else None

    @property
    def inputs(self) -> Columns:
        """The inputs that are tried in some state, by name."""
        return self._search.inputs()

    def reach(self) -> None:
        """Meet all reachable states, and note the arrows between them, as far as there is memory for these.
        NotInLayers where there is none for the states."""
        self._search.from_starts()
        self._go()
        self.states = self._search.states
        self._extend(2 * self.states, FAR_PART)
        over = False
        while not over:
            with self._counted():
                over = self._search.list_arrows(PORTION * WORK)
            self._limits.check()

    def run_of(self, choices: Sequence[int], start: Key | None = None) -> Run:
        """The run from a start state (None: the first one) with the inputs of these numbers."""
        simulator, made = Simulator(self.problem.system), self._made
        start = made.starts[0] if start is None else start
        inputs = {number: self._search.input(number) for number in {*choices}}
        return simulator.run(simulator.initial(made.opened(start)), [inputs[choice] for choice in choices])

    def _edges(self, possible: Sequence[int], together: Sequence[set[int]]) -> Iterator[tuple[Edge, int | None]]:
        """The edges from init and from each of the possible goals, with their weights (None: no way)."""
        goals, names = self.problem.goals, self.problem.names
        sought = [*possible, *([] if self._final is None else [self._final])]
        for source in (None, *possible):
            length = 0 if source is None else goals[source].over(0)
            if source is not None:
                self._search.from_ends(source, sought)
                self._go()
            first, near = self._search.first(), set() if source is None or not length else together[source]
            name = INIT if source is None else names[source]
            for target in possible:
                if target != source:
                    yield (name, names[target]), 0 if target in near else _after(length, first[target])
            if source is not None or not goals:
                yield (name, self.problem.end), length if self._final is None else _after(length, first[self._final])

    def run_along(self, path: Sequence[str], covers: Callable[[Run], Collection[str]]) -> Run | None:
        """A run from init through the goals of ``path``, each by a shortest way from where the run has come to.

        ``covers`` tells the goals that a run covers: those are not sought again. None where the run gets stuck.
        """
        start, *others = self._made.starts
        run = self.run_of([], start)
        choices: list[int] = []
        covered = set() if others else covers(run)
        key = None if others else start
        for name in path:
            if name in (INIT, END) or name in covered:
                continue
            number = self._final if name == FINAL else self.problem.names.index(name)
            assert number is not None
            self._extend(2 * self.states, PART)
            self._search.from_state(key, number)
            self._go()
            if self._search.first()[number] < 0:
                return None
            way = self._way(number)
            start = way.start if key is None else start
            new, key = key is None or bool(way.inputs), way.end
            choices += way.inputs
            if new:
                run = self.run_of(choices, start)
                self._limits.spend(run.length * self._each)
                covered = covers(run)
        return run

    def close(self) -> None:
        """Give back what it has taken."""
        self._search.close()

    def _extend(self, states: int, part: float) -> None:
        """Take the turn for trying ``states`` at once, if it takes no more than a ``part`` of the effort foreseen."""
        units = self._units(states)
        if units <= part * self._limits.foreseen:
            self._limits.extend(units)

    def _units(self, states: int) -> float:
        """The work of trying all inputs in so many states; infinite for more than a float counts."""
        try:
            return states * self._search.work_each / WORK
        except OverflowError:
            return inf

    def _need(self, states: int, goals: int, exact: bool) -> LayersNeed | None:
        """What it takes to search so many states from the starts, from the ends of so many goals and along a chain
        through these; None where that is not more effort than there is."""
        once, spent = self._units(states), self._limits.spent
        units = max(once / FIRST_PART, spent + (2 * goals + (1 if exact else 2)) * once)
        memory = self._made.bytes_for(states) >> 20
        need = LayersNeed(states, exact, ceil(units / UNITS), memory, self._memory >> 20)
        effort = self._limits.effort
        return need if effort is not None and need.effort > effort else None

    def _go(self) -> None:
        """Search to the end of what was begun. NotInLayers where memory is over."""
        search = self._search
        over = False
        while not over:
            with self._counted():
                over = search.go(PORTION * WORK)
            if search.bytes > self._told:
                self._told = 2 * search.bytes
                self._say(f"exact graph: {search.states} states so far, in layers that take {search.bytes >> 20} MB")
            self._limits.check()

    def _way(self, goal: int) -> Way:
        """A shortest run that meets a goal, from where the search began. NotInLayers where memory is over."""
        steps, found = self._search.way(goal, PORTION * WORK), None
        while found is None:
            with self._counted():
                found = next(steps)
            self._limits.check()
        return found

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """Counts the work of the search within. NotInLayers where memory is over."""
        search = self._search
        before = search.work
        try:
            yield
        except (OutOfMemory, KernelFailed) as error:
            raise NotInLayers(
                f"{counted(search.states, 'state')} and more, of {self._made.bits} bits each, take more than "
                f"{self._memory >> 20} MB"
            ) from error
        self._limits.spend((search.work - before) / WORK)


def reach_in_layers(board: Board) -> None:
    """Meet all reachable states, and note the arrows between them, for searches along these; not without a compiler."""
    board.say("states in layers: all reachable ones")
    try:
        made = LayeredGoals(board.problem, board.limits, board.say, footprint.part(MEMORY))
        try:
            if made.compiled:
                made.reach()
                board.layered = made
        finally:
            if board.layered is not made:
                made.close()
    except NotInLayers as error:
        board.say(f"states in layers: {error}")


@contextmanager
def layers_of(board: Board) -> Iterator[LayeredGoals]:
    """The goals that a chain is sought for on ``board``, in layers that have met all reachable states: those that are
    there, or else others for as long as they are used. NotInLayers as ``LayeredGoals``."""
    if isinstance(board.layered, LayeredGoals) and board.layered.problem is board.problem:
        yield board.layered
        return
    made = LayeredGoals(board.problem, board.limits, board.say, footprint.part(MEMORY))
    try:
        made.reach()
        yield made
    finally:
        made.close()


def _after(length: int, way: int) -> int | None:
    return None if way < 0 else length + way
