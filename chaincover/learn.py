"""The lower bound raised until a chain meets it: orders that cannot be run at their cost turn into longer path weights.

In any chain, sorted by the steps at which its goals are credited, goals that follow each other directly lie at least
their direct weight apart, and those of a longer stretch at least the least length of that sub-path. The least order
under all that is known is a lower bound. If it can be run at its cost, that is a least chain. If not, a stretch of it
takes longer than is known: its least length is found, and the next order is sought. Path weights are constraints
between start times, never summed up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bmc.engines.protocol import Run, Status
from chaincover.graph import INIT, Edge, ReachGraph
from chaincover.orderings.auto import AutoOrdering
from chaincover.orderings.protocol import Limit, OrderingProblem, OrderingResult, Path, start_times
from chaincover.segments import LeastLengths, windows

Found = Callable[[Run, Path], None]


class Learner:
    """Raises ``lower`` and lowers ``length``, the steps of the best chain, until they meet or a limit does.

    ``graph`` holds the goals to cover; each run found is handed to ``found`` with the order that it follows.
    ``rounds`` and ``work`` (per order, in the units of ``Limit``) limit the search repeatably.
    """

    def __init__(
        self,
        graph: ReachGraph,
        segments: LeastLengths,
        length: int,
        found: Found,
        rounds: int,
        work: float,
    ) -> None:
        self._graph = graph
        self._segments = segments
        self._found = found
        self._rounds = rounds
        self._work = work
        self._edges: dict[Edge, int] = dict(graph.lower)
        self._paths: dict[Path, int] = {}
        self.length = length
        self.lower = 0
        self.rounds = 0

    @property
    def edges(self) -> Mapping[Edge, int]:
        """Least distances proved for single edges."""
        return self._edges

    @property
    def paths(self) -> Mapping[Path, int]:
        """Least lengths proved for longer sub-paths."""
        return self._paths

    def work(self, seconds: Callable[[], float | None]) -> None:
        """Rounds until the bound is met, the orders or the solver give up, or ``rounds`` are over.

        ``seconds`` gives the time left for the next order. LimitReached when time is over: what was proved stays.
        """
        while self.rounds < self._rounds and self.lower < self.length:
            self.rounds += 1
            order = self._order(seconds())
            self.lower = max(self.lower, order.lower_bound)
            if not order.proved or not order.path or order.cost >= self.length:
                return
            if not self._try(order) and not self._learn(order):
                return

    def _order(self, seconds: float | None) -> OrderingResult:
        problem = OrderingProblem(self._graph.goals, self._edges, INIT, self._graph.end, least=self._paths)
        return AutoOrdering().solve(problem, Limit(seconds, self._work))

    def _try(self, order: OrderingResult) -> bool:
        """Whether the order can be run at its cost: then no chain is shorter."""
        status, run = self._segments.ask(order.path, order.cost)
        if run is None:
            return False
        assert status is Status.SAT
        self.length = order.cost
        self._found(run, order.path)
        return True

    def _learn(self, order: OrderingResult) -> bool:
        """Find the shortest stretches of the order that take longer than is known; whether there is one."""
        for size in range(2, len(order.path) + 1):
            fresh = [sub for sub in windows(order.path, size) if self._raise(sub, order)]
            if fresh:
                if self._segments.cheap and size > 2:
                    self._learn_variants(fresh)
                return True
        return False

    def _learn_variants(self, paths: Sequence[Path]) -> None:
        """The same stretches with another first or last node: the next orders would go there."""
        for path in paths:
            for goal in self._graph.goals:
                for sub in ((goal, *path[1:]), (*path[:-1], goal)):
                    if len(set(sub)) == len(sub):
                        own = self._start_times(sub)[-1]
                        known = self._segments.least(sub, own, self.length)
                        if known.at_least > own:
                            self._paths[sub] = known.at_least

    def _raise(self, sub: Path, order: OrderingResult) -> bool:
        """Find the least length of ``sub`` as far as it matters along ``order``; whether it is more than was known."""
        own = self._start_times(sub)[-1]
        times = self._start_times(order.path)
        place = order.path.index(sub[0])
        others = times[-1] - (times[place + len(sub) - 1] - times[place])
        most = max(own, self.length - 1 - others)
        if len(sub) == 2 and sub in self._graph.weights:
            return False
        known = self._segments.least(sub, own, most)
        if known.at_least <= own:
            return False
        if len(sub) == 2:
            self._edges[sub[0], sub[1]] = known.at_least
        else:
            self._paths[sub] = known.at_least
        if known.exact and len(sub) == len(order.path) and known.at_least < self.length:
            self._take(sub, known.at_least)
        return True

    def _take(self, path: Path, steps: int) -> None:
        """The chain along a whole order at its least length."""
        _, run = self._segments.ask(path, steps)
        if run is not None:
            self.length = steps
            self._found(run, path)

    def _start_times(self, path: Path) -> list[int]:
        problem = OrderingProblem(self._graph.goals, self._edges, INIT, self._graph.end, least=self._paths)
        times = start_times(problem, path)
        assert times is not None
        return times
