"""From a first chain to a least one: shorter chains from above, a higher bound from below, until they meet.

Where the reachable states are few, an exact search over them settles it. Else windows of the chain are shortened first,
then orders that cannot be run at their cost turn into path weights, and where that does not finish whole chains are
searched length by length.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bmc.system.run import Run
from chaincover.certificate import Certificate, EdgeFact, PathFact
from chaincover.chain import Bounds
from chaincover.concretise.any_order import AnyOrder
from chaincover.concretise.check_path import Concretizer
from chaincover.graph.exact import ExactSearch, Least
from chaincover.minimality.direct_bound import lower_bound, raised
from chaincover.minimality.learn import Learner
from chaincover.minimality.proof_means import WINDOW_EFFORT, Means
from chaincover.minimality.segments import credit
from chaincover.minimality.shorten import Shortener
from chaincover.minimality.windows import WindowShortener
from chaincover.options import Options
from chaincover.orderings.protocol import UNLIMITED, Limit, Path
from chaincover.weights import ReachGraph
from properties.monitor import Monitor

ORDER_WORK = 10.0
"""Work for one order, in the units of ``Limit``."""

Take = Callable[[Run, Mapping[str, int]], None]


class Prover:
    """Works on the goals of ``graph``. Each better run goes to ``take`` with the step credited to each goal, in order.

    ``length`` is that of the best chain, None without one. ``exact`` is the exact answer, where the reachable states
    are few.
    """

    def __init__(
        self,
        graph: ReachGraph,
        tools: Concretizer,
        small: ExactSearch,
        means: Means,
        options: Options,
        take: Take,
        progress: Callable[[str], None],
    ) -> None:
        self._graph = graph
        self._tools = tools
        self._small = small
        self._means = means
        self._options = options
        self._take = take
        self._progress = progress
        self._goals = {name: tools.goals[name] for name in graph.goals}
        self._monitor = Monitor(list(self._goals.values()))
        self.any_order = AnyOrder(self._goals, options.overlap)
        self.length: int | None = None
        self._direct: Bounds | None = None
        self._learner: Learner | None = None
        self._shortener: Shortener | None = None
        self.exact: Least | None = None

    def work(self, run: Run | None, credited: Mapping[str, int], longest: int) -> None:
        """Start from ``run`` (None: no chain yet, and none of ``longest`` steps or more is wanted).

        LimitReached when time is over: what was found and proved stays.
        """
        self.length = None if run is None else run.length
        if not self._options.improve:
            return
        if self._open():
            self._exhaust()
        if self.exact is not None:
            return
        if run is not None and self._open():
            self._progress("shorten: windows of the chain")
            windows = self._means.windows
            WindowShortener(self._tools, self.any_order, WINDOW_EFFORT, self._found, windows).work(run, credited)
        if self.length is not None and self._options.rounds and self._open():
            self._learn(self.length)
        if self._open():
            self._search_whole(longest)

    def bounds(self, limit: Limit = UNLIMITED) -> Bounds:
        """The proved bound beside the length of the best chain."""
        if self._direct is None:
            self._direct = lower_bound(self._graph, None, limit)
        learned = self._learner.lower if self._learner else 0
        refuted = self._shortener.lower if self._shortener else 0
        exact = self.exact.run.length if self.exact and self.exact.run else 0
        return raised(self._direct, self.length, learned, refuted, exact)

    def certificate(self, bounds: Bounds, invariants: Sequence[str]) -> Certificate:
        """The facts that ``bounds`` rests on."""
        edges = self._learner.edges if self._learner else self._graph.lower
        paths = self._learner.paths if self._learner else {}
        begun, end = self._refuted
        order_bound = begun if end > begun else bounds.lower
        if self.exact is not None and self._direct is not None:
            order_bound = self._direct.lower
        return Certificate(
            goals=self._graph.goals,
            end=self._graph.end,
            overlap=self._options.overlap,
            invariants=tuple(invariants),
            edges=tuple(EdgeFact(a, b, steps) for (a, b), steps in sorted(edges.items())),
            paths=tuple(PathFact(path, steps) for path, steps in sorted(paths.items())),
            order_bound=order_bound,
            refuted=(begun, end),
            exhausted=self.exact.states if self.exact else 0,
            lower=bounds.lower,
        )

    @property
    def _refuted(self) -> tuple[int, int]:
        return (self._shortener.first, self._shortener.lower) if self._shortener else (0, 0)

    def _open(self) -> bool:
        """Whether length and bound may still come closer."""
        limit = Limit(self._tools.budget.for_query())
        return self.length is None or self.bounds(limit).lower < self.length

    def _exhaust(self) -> None:
        """The exact answer, if it can be had."""
        self._progress("exact: reachable states with the goals covered")
        self.exact = self._small.least(self._graph.goals)
        run = self.exact.run if self.exact else None
        if run is not None and (self.length is None or run.length < self.length):
            self._found(run)

    def _learn(self, length: int) -> None:
        self._progress("bound: orders and path weights")
        self._learner = Learner(self._graph, self._means.lengths, length, self._along, self._options.rounds, ORDER_WORK)
        self._learner.work(self._tools.budget.for_query)
        self._progress(f"bound: {self._learner.lower} after {self._learner.rounds} orders")

    def _search_whole(self, longest: int) -> None:
        lower = self.bounds().lower
        length = longest if self.length is None else self.length
        self._progress(f"shorten: whole chains between {lower} and {length} steps")
        goals = self._graph.goals
        self._shortener = Shortener(
            self._tools, self.any_order, goals, lower, length, self._options.improve, self._found
        )
        self._shortener.work()

    def _found(self, run: Run) -> None:
        self._keep(run, self.any_order.credited(run, self._graph.goals))

    def _along(self, run: Run, path: Path) -> None:
        """A run that follows ``path``."""
        apart = self._options.overlap == "forbid"
        gaps = {name: goal.length if apart else 0 for name, goal in self._goals.items()}
        steps = credit(path[1:-1], self._monitor.covered(run), gaps)
        self._keep(run, dict(zip(path[1:-1], steps, strict=True)))

    def _keep(self, run: Run, credited: Mapping[str, int]) -> None:
        self.length = run.length
        self._progress(f"shorten: {run.length} steps")
        self._take(run, credited)
