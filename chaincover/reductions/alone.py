"""Each goal by itself, on the part of the system that it depends on: far goals, and bounds that many goals hide.

The goals of a problem mostly depend on more variables together than each of them does. The states that matter to one
goal are often few enough to be searched where those of all are not. A shortest run to a goal bounds every chain; the
chain that begins with that run goes on through the other goals by simulation. Where it misses some, they are sought
one by one from the end of the best chain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from bmc.system.simulation import Simulator
from bmc.system.transition import Run, TransitionSystem, Valuation
from chaincover.chain import UNREACHABLE
from chaincover.graph.enumerated import ENUMERATING
from chaincover.known import Board
from chaincover.orderings.bound import FARTHEST, farthest
from chaincover.problem import Problem
from chaincover.reductions.smaller_search import SmallerSearch
from chaincover.runs.random import RandomRuns
from chaincover.weights import INIT

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


class _Alone:
    """The searches for single goals. ``_least`` has for each goal a lower bound on the step at which it ends."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._least: dict[str, int] = {}
        self._done: set[str] = set()
        self._searches: dict[str, SmallerSearch] = {}

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
            self._searches[name] = _alone(board, board.problem.of([name]))
        search = self._searches[name]
        found = search.go_on(units)
        reason = search.uncoverable.get(name)  # undecided, where its test is longer than what is stored
        if reason is not None and reason.status == UNREACHABLE:
            board.rule_out({name: reason})
            return
        if search.finished:
            self._done.add(name)
            self._searches.pop(name).end()
        if found is None:
            return
        self._bound(name, found.bounds.lower)
        if found.chain is not None:
            self._go_on(found.chain.run)
            self._go_straight(name, found.bounds.lower, units)

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
        search = _alone(board, replace(problem.of([name]), system=start))
        try:
            found = search.go_on(units)
        finally:
            search.end()
        if found is not None and found.chain is not None:
            self._go_on(_joined(problem.system, run, found.chain.run))


def _alone(board: Board, problem: Problem) -> SmallerSearch:
    """The search for a shortest run to the only goal of ``problem``, wherever it ends."""
    return SmallerSearch(board, replace(problem, final=None, overlap="allow"))


def _started_at(system: TransitionSystem, state: Valuation) -> TransitionSystem:
    """``system`` with ``state`` as its only start state."""
    return replace(system, state=tuple(replace(var, init=var.type.constant(state[var.name])) for var in system.state))


def _joined(system: TransitionSystem, first: Run, then: Run) -> Run:
    """``first``, and then the inputs of ``then``, simulated as one run."""
    return Simulator(system).run(first.states[0], [*first.inputs, *then.inputs])
