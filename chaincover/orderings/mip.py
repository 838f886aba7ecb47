"""Ordering ``mip``: an integer program with subtour cuts, solved by HiGHS; proves its answer.

Every node has one next node and one before it; in a set of nodes without the start one arc has to come from outside
(the cuts of Dantzig, Fulkerson and Johnson), which is asked for where a solution misses it, found by least cuts. The
linear program bounds every path, and its reduced costs tell how much more a path with a certain edge costs. So the
question becomes: is there a path that costs little more than the bound? Only few edges may then be used, and branch and
bound answers it soon; if there is none, the bound rises, and more is allowed.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from itertools import combinations
from typing import Any

import numpy as np

from bmc import ending
from bmc.engines.protocol import SEED
from bmc.records import dataclass
from chaincover.limits import PER_UNIT
from chaincover.orderings.constraints import Answer, Edge, PathModel, outcome, path_model
from chaincover.orderings.local import LocalOrdering
from chaincover.orderings.protocol import (
    UNLIMITED,
    Clock,
    Limit,
    Ordering,
    OrderingProblem,
    OrderingResult,
    Path,
    path_cost,
)

ROUNDING = 1e-6
"""What a bound in whole steps may lack."""

TINY = 1e-7
"""Flow that counts as none, and costs below zero: what HiGHS allows itself, as it is set. With twice as much, flow that
it has rounded is taken for none."""

VIOLATED = 1e-4
"""A cut is worth a row where the flow misses it by more than this."""

Row = dict[int, float]
Numbers = np.ndarray[Any, np.dtype[np.float64]]
Places = np.ndarray[Any, np.dtype[np.int64]]
Columns = np.ndarray[Any, np.dtype[np.int32]]


class MipOrdering:
    """Shortest path for any number of nodes and any path constraints; one thread and a fixed seed, so repeatable."""

    name = "mip"

    def __init__(self, quick: Ordering | None = None) -> None:
        """``quick`` finds a path where the linear program leaves the question open: the ordering ``local``, if none."""
        self._quick = quick or LocalOrdering()

    def solve(self, problem: OrderingProblem, limit: Limit = UNLIMITED) -> OrderingResult:
        """The shortest path with its proof, or the best one found within ``limit`` with the bound proved until then."""
        clock = Clock(limit)
        paths = path_model(problem)
        if not paths.can_close:
            return outcome(problem, Answer(self.name), clock)
        search = _Search(problem, paths, limit, clock)
        proved = search.run(self._quick)
        return outcome(problem, Answer(self.name, search.path, search.lower, proved), clock)


class _Search:
    """The best ``path`` so far, its ``cost``, and the ``lower`` bound proved."""

    def __init__(self, problem: OrderingProblem, paths: PathModel, limit: Limit, clock: Clock) -> None:
        self._problem, self._paths, self._clock = problem, paths, clock
        self._work = math.inf if limit.work is None else limit.work * PER_UNIT.order_simplex
        self._program = Program(paths)
        self.path: Path = ()
        self.cost = math.inf
        self.lower = 0

    def run(self, quick: Ordering) -> bool:
        """Search, with a path found by ``quick``; whether it is proved that the path is shortest, or there is none."""
        program, relaxed = self._program, self._relax()
        if relaxed is None:
            self._ask(quick)
            return False
        if relaxed.infeasible:
            return True
        if np.abs(relaxed.flow - np.round(relaxed.flow)).max() < ROUNDING:
            self._patch(program.circles(relaxed))
        if self.lower == self.cost:
            return True
        begun = self.lower
        self._ask(quick)
        while self.lower < self.cost:
            most = min(self.lower + (self.lower - begun) // 2, self.cost - 1, program.dearest)
            if most < self.lower:
                return True
            program.allow(most, relaxed)
            if not self._integer(int(most)):
                return False
        return True

    def _ask(self, quick: Ordering) -> None:
        """Keep the path that ``quick`` finds, if there is time."""
        left = self._clock.left
        if left is None or left > 0:
            self._keep(quick.solve(self._problem, Limit(left)).path)

    def _relax(self) -> Solution | None:
        """The solution of the linear program with all cuts that it misses; None where no work is left."""
        program, solution = self._program, self._solve()
        while solution is not None and not solution.infeasible:
            self.lower = max(self.lower, math.ceil(solution.value - ROUNDING))
            cuts = missed(program.size, program.used(solution))
            if not cuts:
                break
            program.add_cuts(cuts)
            solution = self._solve()
        return solution

    def _integer(self, most: int) -> bool:
        """Look for a path of at most ``most``, the bound or more; whether the question is settled.

        It is where a shortest path is found, or the bound is above ``most``.
        """
        program = self._program
        while self.lower <= most and self.lower < self.cost:
            solution = self._solve()
            if solution is None:
                return False
            if solution.infeasible:
                self.lower = most + 1
                return True
            self.lower = max(self.lower, math.ceil(solution.value - ROUNDING))
            circles = program.circles(solution)
            self._patch(circles)
            program.add_cuts(circle for circle in circles if 0 not in circle)
            if len(circles) == 1 and self.lower < self.cost:
                return False  # the solver's tolerance lets a path pass that costs more than it says
        return True

    def _solve(self) -> Solution | None:
        """The solution of the program as it is; None where work or time ends before."""
        left = self._clock.left
        if self._work <= 0 or (left is not None and left <= 0):
            return None
        solution = self._program.solve(left)
        self._work -= self._program.work
        return solution

    def _patch(self, circles: Sequence[Sequence[int]]) -> None:
        """Keep the path that ``circles`` make when they are joined one by one, each where it costs least."""
        weights, dear = self._paths.edges, 1 << 40
        path = [*next(circle for circle in circles if circle[0] == 0)]

        def dearer(at: int, turned: Sequence[int]) -> int:
            before, after = path[at], path[at + 1]
            closed = weights.get((turned[-1], turned[0]), dear) - weights.get((before, after), dear)
            return weights.get((before, turned[0]), dear) + weights.get((turned[-1], after), dear) - closed

        for circle in circles:
            if circle[0]:
                turns = [[*circle[n:], *circle[:n]] for n in range(len(circle))]
                _, at, turned = min((dearer(at, turned), at, turned) for at in range(len(path) - 1) for turned in turns)
                path[at + 1 : at + 1] = turned
        self._keep(tuple(self._paths.names[node] for node in path))

    def _keep(self, path: Path) -> None:
        """Keep ``path``, if there is one and it is better than the best so far."""
        cost = path_cost(self._problem, path) if path else None
        if cost is not None and cost < self.cost:
            self.path, self.cost = path, cost


def _circles(after: Mapping[int, int]) -> list[list[int]]:
    """The circles in which each node's next one leads, that of node 0 from there on."""
    found, met = [], set[int]()
    for node in sorted(after):
        circle = []
        while node not in met:
            met.add(node)
            circle.append(node)
            node = after[node]
        if circle:
            found.append(circle)
    return found


def missed(size: int, used: Sequence[tuple[Edge, float]]) -> list[frozenset[int]]:
    """Sets of nodes without the start that ``used`` edges enter less than once."""
    graph = Capacities()
    for (tail, head), flow in used:
        graph.connect(tail, head, flow)
    found: dict[frozenset[int], None] = {}
    for node in range(1, size):
        if any(node in inside for inside in found):
            continue
        cuts = graph.least_cuts(0, [node])
        if cuts is not None:
            found[frozenset(range(size)) - cuts[0]] = None
            found[frozenset(cuts[1])] = None
    return list(found)


@dataclass(frozen=True)
class _Columns:
    """The variables of the program: the edges, the last of them from the end to the start, then the delays.

    Each has its cost and the most that it can be; ``tails`` and ``heads`` are those of the edges.
    """

    edges: Sequence[Edge]
    costs: Numbers
    most: Numbers
    tails: Places
    heads: Places

    @classmethod
    def of(cls, paths: PathModel) -> _Columns:
        edges = [*paths.edges, (paths.end, 0)]
        costs = np.array([*paths.edges.values(), 0, *([1] * len(paths.most_delay))], np.float64)
        most = np.array([1.0] * len(edges) + [float(delay) for delay in paths.most_delay.values()])
        tails, heads = np.array(edges).T
        return cls(edges, costs, most, tails, heads)

    @property
    def every(self) -> Columns:
        """The numbers of all columns."""
        return np.arange(len(self.costs), dtype=np.int32)


@dataclass(frozen=True)
class Solution:
    """What the program has for an answer: the least ``value`` that the solver proves, ``flow`` in the columns.

    ``reduced_costs`` and ``row_prices`` are the dual solution of the linear program. A program that is ``infeasible``
    has none of them.
    """

    infeasible: bool = False
    value: float = math.inf
    flow: Numbers = field(default_factory=lambda: np.zeros(0))
    reduced_costs: Numbers = field(default_factory=lambda: np.zeros(0))
    row_prices: Numbers = field(default_factory=lambda: np.zeros(0))

    @property
    def places(self) -> list[int]:
        """The numbers of the columns that it uses."""
        return np.flatnonzero(self.flow > TINY).tolist()


class Program:
    """The program in HiGHS: at first the linear one, after ``allow`` the integer one."""

    def __init__(self, paths: PathModel) -> None:
        import highspy  # here, for few runs need it

        self._highs: Any = highspy
        self.size = len(paths.names)
        self._columns = columns = _Columns.of(paths)
        self.dearest = self._dearest(paths)
        solver: Any = highspy.Highs
        self._solver = solver()
        options = {"output_flag": False, "threads": 1, "random_seed": SEED, "solver": "simplex", "presolve": "off"}
        for option, value in options.items():
            self._solver.setOptionValue(option, value)
        self._solver.addVars(len(columns.costs), np.zeros(len(columns.costs)), columns.most)
        self._solver.changeColsCost(len(columns.costs), columns.every, columns.costs)
        number = {edge: place for place, edge in enumerate(columns.edges)}
        delayed = {node: place for place, node in enumerate(paths.most_delay, len(columns.edges))}
        for side in (columns.tails, columns.heads):
            for node in range(self.size):
                self._add(dict.fromkeys(np.flatnonzero(side == node).tolist(), 1.0), 1.0, 1.0)
        for edges in paths.forbidden:
            self._add({number[edge]: 1.0 for edge in edges}, -math.inf, len(edges) - 1.0)
        for excess in paths.excesses:
            steps = float(excess.steps)
            nodes = (excess.edges[0][0], *(head for _, head in excess.edges))
            forwards = [number[edge] for edge in combinations(nodes, 2) if edge in number]
            row = dict.fromkeys(forwards, -steps) | {delayed[node]: 1.0 for node in excess.delayed}
            self._add(row, steps - steps * len(excess.edges), math.inf)
        self._cutoff = -1
        self._interrupted = False

    def _dearest(self, paths: PathModel) -> int:
        """No path costs more."""
        leaving: dict[int, int] = {}
        for (tail, _), weight in paths.edges.items():
            leaving[tail] = max(weight, leaving.get(tail, 0))
        return sum(leaving.values()) + sum(paths.most_delay.values())

    def _add(self, row: Row, low: float, high: float) -> None:
        columns, factors = np.array([*row], np.int32), np.array([*row.values()], np.float64)
        self._solver.addRow(low, high, len(row), columns, factors)

    def add_cuts(self, sets: Iterable[Iterable[int]]) -> None:
        """Ask for an edge into each of ``sets`` from outside."""
        for nodes in sets:
            inside = np.zeros(self.size, bool)
            inside[[*nodes]] = True
            entering = np.flatnonzero(~inside[self._columns.tails] & inside[self._columns.heads])
            self._add(dict.fromkeys(entering.tolist(), 1.0), 1.0, math.inf)

    def charge(self, edges: Iterable[Edge], price: int) -> None:
        """Let each of ``edges`` cost ``price`` more, and the others what they cost at first."""
        columns = self._columns
        charged, more = set(edges), np.zeros(len(columns.costs))
        more[[place for place, edge in enumerate(columns.edges) if edge in charged]] = price
        self._solver.changeColsCost(len(columns.costs), columns.every, columns.costs + more)

    def allow(self, most: float, relaxed: Solution) -> None:
        """Ask for whole numbers at most the cost ``most``, and edges that the ``relaxed`` one makes no dearer."""
        columns = self._columns
        if self._cutoff < 0:
            integer = self._highs.HighsVarType.kInteger
            self._solver.changeColsIntegrality(len(columns.costs), columns.every, np.full(len(columns.costs), integer))
            for option, value in (("solver", "choose"), ("presolve", "choose"), ("mip_rel_gap", 0.0)):
                self._solver.setOptionValue(option, value)
            self._solver.setOptionValue("mip_abs_gap", 1.0 - 10 * VIOLATED)
            self._solver.cbMipInterrupt += self._look
            self._cutoff = self._solver.getNumRow()
            self._add(dict(enumerate(columns.costs.tolist())), -math.inf, most)
        self._solver.changeRowBounds(self._cutoff, -math.inf, most)
        useful = (relaxed.value + relaxed.reduced_costs <= most + ROUNDING) | (relaxed.flow > TINY)
        high = np.where(useful, columns.most, 0.0)
        self._solver.changeColsBounds(len(columns.costs), columns.every, np.zeros(len(columns.costs)), high)

    def solve(self, seconds: float | None) -> Solution | None:
        """Its solution; None where that was not found within ``seconds``."""
        solver, status = self._solver, self._highs.HighsModelStatus
        solver.setOptionValue("time_limit", math.inf if seconds is None else solver.getRunTime() + seconds)
        linear = self._cutoff < 0
        if linear:
            solver.run()
        else:
            self._branch()
        answer, info = solver.getModelStatus(), solver.getInfo()
        if answer in (status.kInfeasible, status.kUnboundedOrInfeasible):
            return Solution(infeasible=True)
        if answer != status.kOptimal:
            return None
        solution = solver.getSolution()
        value = float(info.objective_function_value if linear else info.mip_dual_bound)
        duals = np.array(solution.col_dual), np.array(solution.row_dual)
        return Solution(False, value, np.array(solution.col_value), *duals)

    @property
    def work(self) -> int:
        """What the last solution took: iterations of the simplex method, times the size of the program."""
        rows: int = self._solver.getNumRow() + int((self._columns.most > 0).sum())
        return max(0, int(self._solver.getInfo().simplex_iteration_count)) * rows

    def _branch(self) -> None:
        """Solve the integer program; what interrupts that ends it and is passed on."""
        thread = self._solver.startSolve()
        try:
            with ending.interruptible(0.0):
                thread.join()
        except BaseException:
            self._interrupted = True
            thread.join()
            raise

    def _look(self, event: Any) -> None:
        if self._interrupted:
            event.interrupt()

    @property
    def edges(self) -> Sequence[Edge]:
        """The edges, by the number of their columns."""
        return self._columns.edges

    def used(self, solution: Solution) -> list[tuple[Edge, float]]:
        """The edges of the solution, each with its part of one."""
        return [
            (self.edges[place], float(solution.flow[place])) for place in solution.places if place < len(self.edges)
        ]

    def circles(self, solution: Solution) -> list[list[int]]:
        """The circles that the edges of a whole solution make, that of the start first."""
        return _circles({tail: head for (tail, head), flow in self.used(solution) if flow > 0.5})


class Capacities:
    """A directed graph whose arcs have capacities, for the cuts that a fractional flow misses (Ford and Fulkerson)."""

    def __init__(self) -> None:
        self._left: dict[int, dict[int, float]] = {}

    def connect(self, tail: int, head: int, capacity: float) -> None:
        """Add ``capacity`` from ``tail`` to ``head``."""
        if tail != head:
            row = self._left.setdefault(tail, {})
            row[head] = row.get(head, 0.0) + capacity
            self._left.setdefault(head, {}).setdefault(tail, 0.0)

    def least_cuts(self, source: int, sinks: Iterable[int]) -> tuple[set[int], set[int]] | None:
        """The least cuts between ``source`` and ``sinks``, if less than one unit passes.

        The nodes that can be reached on the side of the source, of the cut nearest to the sinks' far side; and the
        nodes on the side of the sinks, of the cut nearest to them. None where one unit passes.
        """
        targets, total = set(sinks), 0.0
        taken: list[tuple[list[tuple[int, int]], float]] = []
        reached: dict[int, int] = {}
        while total < 1 - VIOLATED:
            reached, last = self._reach(source, targets)
            if last is None:
                break
            path = []
            while last != source:
                path.append((reached[last], last))
                last = reached[last]
            most = min(self._left[tail][head] for tail, head in path)
            self._push(path, most)
            taken.append((path, most))
            total += most
        found = (set(reached), self._behind(targets)) if total < 1 - VIOLATED else None
        for path, most in taken:
            self._push(path, -most)
        return found

    def _push(self, path: Iterable[tuple[int, int]], flow: float) -> None:
        for tail, head in path:
            self._left[tail][head] -= flow
            self._left[head][tail] += flow

    def _reach(self, source: int, targets: set[int]) -> tuple[dict[int, int], int | None]:
        """The nodes that can be reached, each with the one before it, until one of ``targets`` is; and that one."""
        before, todo = {source: source}, deque([source])
        while todo:
            here = todo.popleft()
            for after, capacity in self._left.get(here, {}).items():
                if capacity > TINY and after not in before:
                    before[after] = here
                    if after in targets:
                        return before, after
                    todo.append(after)
        return before, None

    def _behind(self, targets: set[int]) -> set[int]:
        """The nodes from which one of ``targets`` can be reached."""
        met, todo = set(targets), list(targets)
        while todo:
            here = todo.pop()
            for other in self._left.get(here, {}):
                if other not in met and self._left[other].get(here, 0.0) > TINY:
                    met.add(other)
                    todo.append(other)
        return met
