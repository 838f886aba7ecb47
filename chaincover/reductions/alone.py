"""Each goal by itself, on the part of the system that it depends on: far goals, and bounds that many goals hide.

The goals of a problem mostly depend on more variables together than each of them does. The states that matter to one
goal are often few enough to be searched where those of all are not. A shortest run to a goal bounds every chain; the
chain that begins with that run goes on through the other goals by simulation. Where it misses some, they are sought
one by one from the end of the best chain.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from bmc.records import dataclass
from bmc.system.simulation import Simulator
from bmc.system.transition import Run, TransitionSystem, Valuation
from chaincover.chain import UNREACHABLE
from chaincover.facts import BETTER, COMPLETE, DISTANCES, EXACT, FLOATING, NEAR, OBSERVED, STATES
from chaincover.graph.enumerated import ENUMERATING, LISTING, enumerate_states, exact_graph
from chaincover.known import Board, Known, Reason
from chaincover.limits import EffortUsedUp
from chaincover.minimality.claims import result_of
from chaincover.orderings.bound import FARTHEST, farthest
from chaincover.problem import Problem
from chaincover.reductions.reduction import Reduction
from chaincover.reductions.slicing import smaller_problem
from chaincover.replaying.judge import Judge
from chaincover.runs.random import RandomRuns
from chaincover.stages import Rounds, Stage, later
from chaincover.weights import INIT

STAGES = (
    Stage("enumerate", enumerate_states, LISTING, for_targets=False, gives=(STATES,), once=True),
    Stage("enumerate", enumerate_states, 0.4, for_targets=False, gives=(STATES,), put_off=FLOATING),
    Stage("exact graph", exact_graph, 1.0, gives=(DISTANCES, EXACT, NEAR)),
    Stage(
        "path weights",
        later("chaincover.minimality.path_weights:learn_path_weights"),
        1.0,
        needs=(DISTANCES, STATES | EXACT | COMPLETE),
    ),
    Stage("simulate", later("chaincover.runs.random:random_runs"), for_targets=False, gives=(COMPLETE, OBSERVED)),
    Stage("whole lengths", later("chaincover.minimality.windows:refute_lengths"), needs=(NEAR,)),
    Stage("accelerate", later("chaincover.minimality.acceleration:accelerate"), 1.0, gives=(COMPLETE, BETTER)),
)
"""What finds a shortest run to one goal, in turns."""

FIRST = 1.0
"""Units of work for the first search for each goal. In each round every goal has twice as many; with twice this value
easy goals wait for the first hard one for twice as long."""


def each_alone(board: Board) -> None:
    """Search for shortest runs to single goals: those that no chain covers yet first, then those that are far away.

    A run that is found becomes a chain through the other goals, too. The distance of a goal is a lower bound for
    every chain. Where the states of all goals are enumerated or searched in layers there is nothing to do.
    """
    if board.options.engine != ENUMERATING or board.options.bound is not None:
        return
    alone, units = _Alone(board), FIRST
    try:
        while names := list(alone.open()):
            for name in names:
                alone.search(name, units)
                if board.settled or board.known.no_chain:
                    return
            units *= 2
    finally:
        alone.end()


@dataclass(frozen=True, slots=True)
class _Found:
    """What a search for one goal has found: ``lower`` bounds the steps to its end, ``run`` leads to it, ``never`` says
    that no run does, and why. ``finished``: there is nothing else to find out."""

    lower: int
    run: Run | None
    never: Reason | None
    finished: bool


class _Alone:
    """The searches for single goals. ``_least`` has for each goal a lower bound on the step at which it ends."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._least: dict[str, int] = {}
        self._done: set[str] = set()
        self._searches: dict[str, _Search] = {}

    def end(self) -> None:
        """End all searches."""
        for search in self._searches.values():
            search.end()

    def open(self) -> Iterator[str]:
        """The goals that are worth a search: those that the best chain does not cover, then the farthest other one."""
        known = self._board.known
        if known.enumerated is not None or known.graph.exact:
            return
        covered = frozenset() if known.chain is None else known.chain.goals
        yield from (name for name in known.targets if name not in covered and name not in self._done)
        far = {name: known.seen[name].length for name in known.targets if name in covered and name in known.seen}
        worth = [name for name in far if name not in self._done and far[name] > known.lower]
        yield from sorted(worth, key=lambda name: -far[name])[:1]

    def search(self, name: str, units: float) -> None:
        """Search for ``name`` with so many units of work, and tell what was found."""
        board = self._board
        known = board.known
        if name in known.uncoverable or name in self._done:
            return
        board.say(f"each goal alone: {name}")
        if name not in self._searches:
            self._searches[name] = _Search(board, board.problem.of([name]))
        found = self._searches[name].go_on(units)
        if found.never is not None:
            board.rule_out({name: found.never})
            return
        if found.finished:
            self._done.add(name)
            self._searches.pop(name).end()
        self._bound(name, found.lower)
        if found.run is not None:
            self._go_on(found.run)
            self._go_straight(name, found.lower, units)

    def _bound(self, name: str, lower: int) -> None:
        """Every chain that covers ``name`` has ``lower`` steps at least."""
        problem, proof = self._board.problem, self._board.known.proof
        self._least[name] = max(lower, self._least.get(name, 0))
        known = dict(self._board.known.target_graph.lower)
        if proof.goals == problem.names:
            known |= proof.edges
        for goal, least in self._least.items():
            if goal in problem.by_name:
                steps = problem.over(goal, 0)
                known[INIT, goal] = max(known.get((INIT, goal), 0), least - steps)
                known[goal, problem.end] = max(known.get((goal, problem.end), 0), steps)
        bound = farthest(problem.names, problem.end, known)
        if bound > self._board.known.lower:
            paths = proof.paths if proof.goals == problem.names else {}
            self._board.prove(order_bound=bound, edges=known, paths=paths, basis=FARTHEST)

    def _go_on(self, run: Run) -> None:
        """Offer ``run``, and chains that begin with it and go on through the goals that it does not cover."""
        board, problem = self._board, self._board.problem
        board.offer(run)
        covered = board.judge.first_steps(run)
        missing = problem.of([name for name in problem.names if name not in covered])
        onward = replace(missing, system=_started_at(problem.system, run.states[-1]))
        if onward.goals or onward.final is not None:
            for more in RandomRuns(onward, board.limits, distances=False).runs():
                board.offer(_joined(problem.system, run, more))

    def _go_straight(self, name: str, lower: int, units: float) -> None:
        """Seek ``name`` from the end of the goal before it in the best chain, or from the end of that where it does not
        cover it, and go on from there. ``lower`` bounds the steps to it from init."""
        board, problem, chain = self._board, self._board.problem, self._board.known.chain
        if chain is None:
            return
        at = next((hit.step for hit in chain.hits if hit.goal == name), chain.length)
        ends = [problem.over(hit.goal, hit.step) for hit in chain.hits if hit.step < at]
        begin = chain.length if name not in chain.goals else max(ends, default=0)
        if name in chain.goals and (not begin or problem.over(name, at) - begin <= 2 * lower):
            return
        run = Run(chain.run.states[: begin + 1], chain.run.inputs[:begin])
        start = _started_at(problem.system, run.states[-1])
        search = _Search(board, replace(problem.of([name]), system=start))
        try:
            found = search.go_on(units)
        finally:
            search.end()
        if found.run is not None:
            self._go_on(_joined(problem.system, run, found.run))


class _Search:
    """A search for a shortest run to the only goal of ``problem``."""

    def __init__(self, board: Board, problem: Problem) -> None:
        self._board, self._problem = board, replace(problem, final=None, overlap="allow")
        self._limits = board.limits.portion(0.0)
        self._reduction: Reduction | None = None
        self._own: Board | None = None
        self._rounds: Rounds | None = None

    def go_on(self, units: float) -> _Found:
        """What is found with so many more units of work, and was before."""
        self._board.limits.check()  # what runs within may end without a look at the turn of this stage
        self._limits.go_on(units)
        if self._rounds is None:
            try:
                self._begin()
            except EffortUsedUp:
                return _Found(0, None, None, False)
        assert self._rounds is not None
        assert self._own is not None
        assert self._reduction is not None
        more = True
        with suppress(EffortUsedUp):
            more = self._rounds.go_on()
        known, (name,) = self._own.known, self._problem.names
        chain = self._reduction.restore(result_of(self._own, known, "")).chain
        reason = known.uncoverable.get(name)  # undecided, where its test is longer than what is stored
        never = reason if reason is not None and reason.status == UNREACHABLE else None
        return _Found(known.lower, None if chain is None else chain.run, never, known.settled or not more)

    def end(self) -> None:
        """End it, wherever it is."""
        if self._rounds is not None:
            self._rounds.end()

    def _begin(self) -> None:
        """Take the part that the goal depends on, its states in a normal form. EffortUsedUp where it does not suffice
        for that."""
        board, limits = self._board, self._limits
        options = replace(board.options, max_length=None)
        reduction = self._reduction = smaller_problem(self._problem, options, limits)
        if not reduction.normal_form:
            limits.check()
        known = Known(reduction.problem)
        own = self._own = Board(known, options, board.engine, limits, _Unheard(), Judge(reduction.problem))
        own.enumeration = reduction.enumeration
        self._rounds = Rounds(STAGES, own)


class _Unheard:
    """Listens to the search for one goal: what it finds is told once it has ended."""

    def __call__(self, text: str) -> None:
        """A stage begins, or goes on."""

    def improved(self, known: Known) -> None:
        """There is a better chain, a higher bound or a new verdict."""


def _started_at(system: TransitionSystem, state: Valuation) -> TransitionSystem:
    """``system`` with ``state`` as its only start state."""
    return replace(system, state=tuple(replace(var, init=var.type.constant(state[var.name])) for var in system.state))


def _joined(system: TransitionSystem, first: Run, then: Run) -> Run:
    """``first``, and then the inputs of ``then``, simulated as one run."""
    return Simulator(system).run(first.states[0], [*first.inputs, *then.inputs])
