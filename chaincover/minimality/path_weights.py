"""The lower bound raised until a chain meets it: orders that cannot be run at their cost turn into longer path weights.

In any chain, sorted by the steps at which its goals are credited, goals that follow each other directly lie at least
their direct weight apart, and those of a longer sub-path at least the least length of that sub-path. The shortest order
under all that is known is a lower bound. If it can be run at its cost, that is a shortest chain. If not, a sub-path of
it takes longer than is known: its least length is found, and the next order is sought. Path weights are constraints
between start times, never summed up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bmc.engines.protocol import Status
from bmc.errors import counted
from chaincover.facts import LISTED, NEAR
from chaincover.known import Board, Known, Pathfinder
from chaincover.limits import PER_UNIT
from chaincover.minimality.explicit_sub_paths import WORK, ExplicitSubPaths
from chaincover.minimality.sub_path_lengths import KnownLength, SubPath, SubPathLengths, SubPathSearch, windows
from chaincover.orderings.bound import FARTHEST, LEARNED, farthest
from chaincover.orderings.protocol import Limit, OrderingProblem, OrderingResult, Path, start_times
from chaincover.stages import await_news, pause
from chaincover.weights import INIT, Edge

NO_ORDER = "no order of the goals has distances that are all finite"
"""Why no chain covers all goals, where the distances are exact."""

NO_RUN = "every order of the goals has a part that no run follows"
"""The same, where that is found out part by part."""

NO_LIMIT = 1 << 22
"""More steps than any chain has: so long are sub-paths that no run follows."""

LEAST_WORK, ORDER_WORK = 0.5, 8.0
"""Work for one order, in the units of ``Limit``: at first, and at most. It is doubled when it was not enough."""

UNITS_OF_ORDER = 3.0
"""Units of work in one unit of work for orders."""


def shortest_tour(board: Board) -> None:
    """Where every goal is one state: the shortest order over exact distances, which a run follows at its cost."""
    assert board.known.enumerated is not None
    lengths = ExplicitSubPaths(board.problem, board.known.enumerated, board.limits)
    if lengths.single_states:
        Learner(board, lengths, ORDER_WORK).work()


def learn_path_weights(board: Board) -> None:
    """Raise the bound by shortest orders and path weights, as soon as every edge has a bound, until a chain meets it.

    On enumerated states this finds the first chain too: the shortest run along the shortest order; and a run along that
    order where the states were searched in layers.
    """
    if board.known.enumerated is None:
        Learner(board, SubPathSearch(board.questions, board.say)).work()
    states = board.known.enumerated
    if states is None:
        return
    lengths = ExplicitSubPaths(board.problem, states, board.limits)
    if not lengths.single_states:
        Learner(board, lengths).work()


class Learner:
    """Raises the bound of ``board`` and finds chains, until they meet, or until states are enumerated that were not.

    ``lengths`` tell the least lengths of sub-paths. ``work`` may be taken for the first order, in the units of
    ``Limit``.
    """

    def __init__(self, board: Board, lengths: SubPathLengths, work: float = LEAST_WORK) -> None:
        self._board, self._lengths = board, lengths
        self._graph = board.known.target_graph
        self._edges: dict[Edge, int] = {}
        self._paths: dict[Path, int] = {}
        self._work = work
        self._states = board.known.enumerated
        self.rounds = 0

    @property
    def edges(self) -> Mapping[Edge, int]:
        """Least distances proved for single edges."""
        return self._edges

    @property
    def paths(self) -> Mapping[Path, int]:
        """Least lengths proved for longer sub-paths."""
        return self._paths

    def work(self) -> None:
        """Rounds until the bound is met, or the orders or the solver give up. LimitReached when time is over."""
        board = self._board
        while not board.known.settled:
            self.rounds += 1
            self._take_distances(board.known)
            order = self._order()
            units = self._units(order)
            if order.proved and not order.path:
                board.tell(no_chain=NO_ORDER)
                return
            if order.lower_bound >= NO_LIMIT:
                board.tell(no_chain=NO_RUN)
                return
            self._prove(order)
            more = not order.proved and self._work < ORDER_WORK
            if more:
                self._work *= 2
            if self._shortens(order):
                self._run(order)
            board.limits.spend(units)
            if board.known.settled:
                return
            if not self._shortens(order):
                if more:
                    continue
                return
            self._let_others_work()
            if board.known.enumerated is not self._states:
                return
            if not self._try(order) and not self._learn(order) and not more:
                return

    def _prove(self, order: OrderingResult) -> None:
        """Raise the bound to that of the shortest ``order``, or to the way to the farthest goal."""
        far = farthest(self._graph.goals, self._graph.end, self._edges)
        bound, basis = (order.lower_bound, LEARNED) if order.lower_bound >= far else (far, FARTHEST)
        self._board.prove(order_bound=bound, edges=dict(self._edges), paths=dict(self._paths), basis=basis)
        least, orders = counted(order.lower_bound, "step"), counted(self.rounds, "order")
        self._board.say(f"path weights: at least {least} after {orders}")

    def _let_others_work(self) -> None:
        """Before sub-paths are asked about: other stages may tell first what makes the questions needless."""
        if self._board.layered is not None and self.rounds == 1:
            for _ in range(2):  # one turn more is earned by the chain; the questions that follow have time
                pause()
        if not self._lengths.cheap:
            await_news(self._board, NEAR | LISTED)

    def _take_distances(self, known: Known) -> None:
        """What is known of single edges by now. On enumerated states an edge without weight is proved impossible."""
        graph = known.target_graph
        exact = graph.exact
        for edge, least in graph.lower.items():
            if exact and edge not in graph.weights:
                self._edges.pop(edge, None)
            else:
                self._edges[edge] = max(least, self._edges.get(edge, 0))

    def _shortens(self, order: OrderingResult) -> bool:
        """Whether a run along ``order`` at its cost would be the best chain."""
        length = self._board.known.length
        return bool(order.path) and (length is None or order.cost < length)

    def _run(self, order: OrderingResult) -> None:
        """A run along ``order``, a chain before any other work."""
        board = self._board
        if board.known.length is None or not order.proved:
            self._along(order.path)
        if board.layered is not None and board.known.graph.exact and not self._in_layers(board.layered, order.path):
            board.layered = None

    def _along(self, path: Path) -> None:
        """The shortest run along a whole order, if it is cheap to find: the first chain, or a better one."""
        if self._lengths.cheap:
            self._board.limits.extend(WORK / PER_UNIT.steps)
            start = self._start_times(path)[-1]
            found = self._lengths.least_all([SubPath(path, start, NO_LIMIT)])[0]
            if found.exact:
                self._take(path, found.at_least)

    def _in_layers(self, layered: Pathfinder, path: Path) -> bool:
        """Offer a run along a whole order, of which each part is a shortest way: often the whole one is.

        False if the run gets stuck, or takes more memory than there is.
        """
        from bmc.explicit.layers import NotInLayers  # here, for most state spaces are enumerated

        try:
            run = layered.run_along(path, self._board.judge.first_steps)
        except NotInLayers as error:
            self._board.say(f"path weights: no run along the order in layers: {error}")
            run = None
        if run is not None:
            self._board.offer(run)
        return run is not None

    @property
    def _longest(self) -> int:
        """Sub-paths matter only as far as a chain with them is shorter than the best one."""
        length = self._board.known.length
        return NO_LIMIT if length is None else length

    def _order(self) -> OrderingResult:
        from chaincover.orderings.auto import AutoOrdering  # here, for most runs ask for no order

        limits = self._board.limits
        limits.check()
        return AutoOrdering().solve(self._problem, Limit(limits.for_query(), self._work))

    def _units(self, order: OrderingResult) -> float:
        """The units of work that ``order`` took."""
        from chaincover.orderings.auto import ordering_effort  # as above

        most = UNITS_OF_ORDER * self._work
        return min(ordering_effort(self._problem), most) if order.proved else most

    @property
    def _problem(self) -> OrderingProblem:
        return OrderingProblem(self._graph.goals, self._edges, INIT, self._graph.end, least=self._paths)

    def _try(self, order: OrderingResult) -> bool:
        """Whether the order can be run at its cost: then no chain is shorter."""
        status, run = self._lengths.ask(order.path, order.cost)
        if run is None:
            return False
        assert status is Status.SAT
        return self._board.offer(run)

    def _learn(self, order: OrderingResult) -> bool:
        """Find the shortest sub-paths of the order that take longer than is known; whether there is one."""
        for size in range(2, len(order.path) + 1):
            fresh = self._raise(windows(order.path, size), order)
            if fresh:
                if self._lengths.cheap and size > 2:
                    self._learn_variants(fresh)
                return True
        return False

    def _learn_variants(self, paths: Sequence[Path]) -> None:
        """The same sub-paths with another first or last node: the next orders would go there."""
        places = [(path, goal) for path in paths for goal in self._graph.goals]
        subs = [sub for path, goal in places for sub in ((goal, *path[1:]), (*path[:-1], goal))]
        wanted = [sub for sub in dict.fromkeys(subs) if len(set(sub)) == len(sub)]
        timed = ((sub, self._times(sub)) for sub in wanted)
        self._enter(SubPath(sub, times[-1], self._longest) for sub, times in timed if times is not None)

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
                wanted.append(SubPath(sub, own, max(own, self._longest - 1 - others)))
        fresh = self._enter(wanted)
        whole = next((found for sub_path, found in fresh if sub_path.path == order.path), None)
        if whole is not None and whole.exact and whole.at_least < self._longest:
            self._take(order.path, whole.at_least)
        return [sub_path.path for sub_path, _ in fresh]

    def _enter(self, sub_paths: Iterable[SubPath]) -> list[tuple[SubPath, KnownLength]]:
        """Find out about ``sub_paths``, and take note of those that are longer than was known: these are returned."""
        asked = list(sub_paths)
        answers = zip(asked, self._lengths.least_all(asked), strict=True)
        fresh = [(sub_path, found) for sub_path, found in answers if found.at_least > sub_path.at_least]
        for sub_path, found in fresh:
            least = min(found.at_least, NO_LIMIT)
            if len(sub_path.path) == 2:
                self._edges[sub_path.path[0], sub_path.path[1]] = least
            else:
                self._paths[sub_path.path] = least
        return fresh

    def _take(self, path: Path, steps: int) -> None:
        """The chain along a whole order at its least length."""
        _, run = self._lengths.ask(path, steps)
        if run is not None:
            self._board.offer(run)

    def _start_times(self, path: Path) -> list[int]:
        times = self._times(path)
        assert times is not None
        return times

    def _times(self, path: Path) -> list[int] | None:
        """The least steps at which the nodes of ``path`` can start, as far as is known; None if it has a missing
        edge."""
        parts = (part for size in range(3, len(path) + 1) for part in windows(path, size))
        least = {part: self._paths[part] for part in parts if part in self._paths}
        return start_times(OrderingProblem(self._graph.goals, self._edges, INIT, self._graph.end, least=least), path)
