"""The lower bound raised until a chain meets it: orders that cannot be run at their cost turn into longer path weights.

In any chain, sorted by the steps at which its goals are credited, goals that follow each other directly lie at least
their direct weight apart, and those of a longer stretch at least the least length of that sub-path. The least order
under all that is known is a lower bound. If it can be run at its cost, that is a least chain. If not, a stretch of it
takes longer than is known: its least length is found, and the next order is sought. Path weights are constraints
between start times, never summed up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from bmc.engines.protocol import Status
from bmc.system.run import Run
from chaincover.minimality.segments import LeastLengths, Segment, Stretch, windows
from chaincover.orderings.auto import AutoOrdering
from chaincover.orderings.protocol import Limit, OrderingProblem, OrderingResult, Path, start_times
from chaincover.weights import INIT, Edge, ReachGraph

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
            fresh = self._raise(windows(order.path, size), order)
            if fresh:
                if self._segments.cheap and size > 2:
                    self._learn_variants(fresh)
                return True
        return False

    def _learn_variants(self, paths: Sequence[Path]) -> None:
        """The same stretches with another first or last node: the next orders would go there."""
        places = [(path, goal) for path in paths for goal in self._graph.goals]
        subs = [sub for path, goal in places for sub in ((goal, *path[1:]), (*path[:-1], goal))]
        wanted = [sub for sub in dict.fromkeys(subs) if len(set(sub)) == len(sub)]
        self._enter(Stretch(sub, self._start_times(sub)[-1], self.length) for sub in wanted)

    def _raise(self, subs: Sequence[Path], order: OrderingResult) -> list[Path]:
        """Find the least lengths of ``subs`` as far as they matter along ``order``; those of more than was known.

        They are of one size, so that what is found of one changes nothing that was known of another.
        """
        times = self._start_times(order.path)
        wanted = []
        for sub in subs:
            if len(sub) > 2 or sub not in self._graph.weights:
                own, place = self._start_times(sub)[-1], order.path.index(sub[0])
                others = times[-1] - (times[place + len(sub) - 1] - times[place])
                wanted.append(Stretch(sub, own, max(own, self.length - 1 - others)))
        fresh = self._enter(wanted)
        whole = next((found for stretch, found in fresh if stretch.path == order.path), None)
        if whole is not None and whole.exact and whole.at_least < self.length:
            self._take(order.path, whole.at_least)
        return [stretch.path for stretch, _ in fresh]

    def _enter(self, stretches: Iterable[Stretch]) -> list[tuple[Stretch, Segment]]:
        """Find out about ``stretches``, and take note of those that are longer than was known: these are returned."""
        asked = list(stretches)
        answers = zip(asked, self._segments.least_all(asked), strict=True)
        fresh = [(stretch, found) for stretch, found in answers if found.at_least > stretch.at_least]
        for stretch, found in fresh:
            if len(stretch.path) == 2:
                self._edges[stretch.path[0], stretch.path[1]] = found.at_least
            else:
                self._paths[stretch.path] = found.at_least
        return fresh

    def _take(self, path: Path, steps: int) -> None:
        """The chain along a whole order at its least length."""
        _, run = self._segments.ask(path, steps)
        if run is not None:
            self.length = steps
            self._found(run, path)

    def _start_times(self, path: Path) -> list[int]:
        parts = (part for size in range(3, len(path) + 1) for part in windows(path, size))
        least = {part: self._paths[part] for part in parts if part in self._paths}
        times = start_times(OrderingProblem(self._graph.goals, self._edges, INIT, self._graph.end, least=least), path)
        assert times is not None
        return times
