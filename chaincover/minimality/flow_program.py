"""The linear program of the covering flow, with a variable for each choice, and HiGHS, which solves it.

Whoever enters a node that one arc leaves goes along that one, unless a chain may end there. So such a node needs no row
that balances it, and what leaves it no variable: what enters it goes on, from one such node to the next, to a node
where there is a choice. A variable is an arc from such a node with all that follows it, or a start. It costs what its
arcs cost together, and counts in a row as often as its arcs do. The program is the one with a variable for each arc and
a row for each node, with the variables replaced that others tell, and takes a fraction of the memory and of the time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bmc.evaluation.vectors import Column
from bmc.records import dataclass
from chaincover.limits import PER_UNIT, Limits
from chaincover.minimality.flow_network import Cut, Network, ways
from chaincover.orderings.mip import TINY

PORTION, LONGEST = PER_UNIT.simplex // 4, 4 * PER_UNIT.simplex
"""Iterations times rows and columns between two looks at the limits: the first time and at most, a quarter more each
time. Part of what the simplex method has done is lost where it is stopped, and many short portions may not lead on."""

MOST_AT_ONCE = 20_000
"""Variables that HiGHS gets all at once; of more only some at first."""

Row = tuple[Column, Column]
"""The variables in a row, and how often each counts there."""


class Choices:
    """``variables``: the columns of ``network`` that are chosen; what follows each until the next choice is given.

    ``balanced``: the nodes where there is a choice, or an end.
    """

    def __init__(self, network: Network) -> None:
        arcs, self._size = len(network.tails), network.size
        given = np.diff(network.leaving.offsets) == 1
        given[network.ends] = False
        follows = given[network.tails]
        self.variables = np.concatenate([np.flatnonzero(~follows), np.arange(arcs, network.size)]).astype(np.int32)
        self.balanced = np.flatnonzero(~given)
        self._following = np.flatnonzero(follows).astype(np.int32)
        outside = len(given)
        numbers = np.full(outside + 1, len(self._following), np.int32)
        numbers[network.tails[self._following]] = np.arange(len(self._following))
        starts = np.array([node for node, _ in network.starts], np.int64)
        to = np.concatenate([network.heads, starts, np.full(len(network.ends), outside)]).astype(np.int32)
        self._first, self._next = numbers[to[self.variables]], np.append(numbers[to[self._following]], numbers[-1])
        last = np.append(to[self._following], 0)
        for after in self._leaps():
            last = np.where(after < len(last) - 1, last[after], last)
        last[-1] = -1
        self.heads: Column = np.where(self._first < len(last) - 1, last[self._first], to[self.variables])

    def _leaps(self) -> Iterator[Column]:
        """For each arc that follows others the one that is one after it, then two, four and so on: the number behind
        the last where there is none."""
        after = self._next
        while (after < len(after) - 1).any():
            yield after
            after = after[after]

    def sums(self, values: Column) -> Column:
        """For each variable the sum of the ``values`` of its column and of all that follow it."""
        following = np.append(values[self._following], 0)
        for after in self._leaps():
            following += following[after]
        found: Column = values[self.variables] + following[self._first]
        return found

    def row(self, columns: Column) -> Row:
        """The variables that use some of ``columns``, with how often they do."""
        marked = np.zeros(self._size)
        marked[columns] = 1.0
        sums = self.sums(marked)
        variables = np.flatnonzero(sums).astype(np.int32)
        return variables, sums[variables]

    def flow(self, values: Column) -> Column:
        """The flow in each column where the variables have ``values``."""
        none = len(self._following)
        following = np.bincount(self._first, values, none + 1)
        for after in self._leaps():
            following[none] = 0.0
            following += np.bincount(after, following, none + 1)
        found: Column = np.zeros(self._size)
        found[self.variables], found[self._following] = values, following[:none]
        return found


@dataclass(frozen=True, eq=False)
class Program:
    """The linear program without cuts: ``costs`` of the variables, and entries of the rows (``places``, ``factors``),
    variable by variable from ``offsets`` on.

    First are the ``balances``, rows that are 0, then the starts, which are as many as there are chains, then the goals:
    1 or more.
    """

    costs: Column
    offsets: Column
    places: Column
    factors: Column
    balances: int


def program_of(network: Network, choices: Choices, steps: bool = True) -> Program:
    """The linear program of the flows in ``network``, which cost their ``steps``, else the chains that they are."""
    arcs, starts, size = len(network.tails), len(network.starts), network.size
    row = np.full(len(network.nodes) + 1, -1, np.int32)
    row[choices.balanced] = np.arange(len(choices.balanced))
    outside = len(network.nodes)
    left = np.concatenate([network.tails, np.full(starts, outside), network.ends])[choices.variables]
    moving = left != choices.heads
    rows: list[tuple[Column, Column | int, Column | float]] = []
    for nodes, factor in ((left, -1.0), (choices.heads, 1.0)):
        variables = np.flatnonzero(moving & (nodes < outside)).astype(np.int32)
        rows.append((variables, row[nodes[variables]], factor))
    begins = np.flatnonzero((choices.variables >= arcs) & (choices.variables < arcs + starts)).astype(np.int32)
    rows.append((begins, len(choices.balanced), 1.0))
    for place, covering in enumerate(network.covering, len(choices.balanced) + 1):
        variables, factors = choices.row(covering)
        rows.append((variables, place, factors))
    owners = np.concatenate([variables for variables, _, _ in rows])
    order = np.argsort(owners, kind="stable")
    offsets = np.append(0, np.cumsum(np.bincount(owners, minlength=len(left)))).astype(np.int32)
    places = np.concatenate([np.broadcast_to(np.int32(place), variables.shape) for variables, place, _ in rows])[order]
    factors = np.concatenate([np.broadcast_to(factor, variables.shape) for variables, _, factor in rows])[order]
    each = [1.0, 0.0, 0.0] if steps else [0.0, 1.0, 0.0]
    costs = choices.sums(np.repeat(each, [arcs, starts, size - arcs - starts]))
    return Program(costs, offsets, places, factors, len(choices.balanced))


@dataclass(frozen=True)
class Solution:
    """The ``value`` of a linear program, the ``flow`` that has it, and the ``duals`` of goals, and of cuts."""

    value: float
    flow: Column
    duals: tuple[Column, Column]


class Relaxation:
    """The linear program, solved by HiGHS, with its ``solution``.

    The flow of least steps is that of so many ``chains``; None: it is one of the smallest number of them.

    Of many variables only some are passed to HiGHS at first: enough to get from the starts to each node and on to an
    end in the fewest steps, and to cover each goal at many places. Those that the dual solution would take too are
    added until it is one of the whole (column generation); all of them, where there is no solution without.
    """

    def __init__(self, network: Network, limits: Limits, chains: int | None = 1) -> None:
        import highspy  # here, for only this stage needs it

        self._limits, self._goals, self._infinite = limits, network.goals, float(highspy.kHighsInf)
        self._optimal, self._stopped = highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kIterationLimit
        solver: Any = highspy.Highs
        self._solver = solver()
        options: dict[str, Any] = {
            "output_flag": False,
            "threads": 1,
            "random_seed": 1,
            "solver": "simplex",
            "presolve": "off",
            "simplex_scale_strategy": 0,
        }
        for option, value in options.items():
            self._solver.setOptionValue(option, value)
        self._choices = Choices(network)
        self._program = program_of(network, self._choices, chains is not None)
        self._cuts = list[Row]()
        rows = self._program.balances + 1 + network.goals
        low = np.append(np.zeros(self._program.balances), np.ones(1 + network.goals))
        high = np.append(low[: -network.goals], np.full(network.goals, self._infinite))
        low[self._program.balances], high[self._program.balances] = chains or 1, chains or self._infinite
        nothing = np.zeros(0, np.int32)
        self._solver.addRows(rows, low, high, 0, np.zeros(rows, np.int32), nothing, np.zeros(0))
        self._passed = np.zeros(0, np.int32)
        self._pass(_at_first(network, self._choices))

    def _pass(self, variables: Column) -> None:
        """Let HiGHS have ``variables`` too."""
        program, number = self._program, len(variables)
        counts = np.diff(program.offsets)[variables]
        entries = np.arange(counts.sum()) + np.repeat(program.offsets[variables] - np.cumsum(counts) + counts, counts)
        owners: list[Column] = [np.repeat(np.arange(number), counts)]
        places, factors = [program.places[entries]], [program.factors[entries]]
        new = np.full(len(program.costs), -1, np.int32)
        new[variables] = np.arange(number)
        for place, (columns, values) in enumerate(self._cuts, program.balances + 1 + self._goals):
            own = np.flatnonzero(new[columns] >= 0)
            owners.append(new[columns[own]])
            places.append(np.repeat(np.int32(place), len(own)))
            factors.append(values[own])
        owner = np.concatenate(owners)
        order = np.argsort(owner, kind="stable")
        offsets = np.searchsorted(owner[order], np.arange(number)).astype(np.int32)
        matrix = offsets, np.concatenate(places)[order], np.concatenate(factors)[order]
        bounds = np.zeros(number), np.full(number, self._infinite)
        self._solver.addCols(number, program.costs[variables], *bounds, len(order), *matrix)
        self._passed = np.append(self._passed, variables)

    def add(self, cuts: Sequence[Cut]) -> None:
        """Ask for ``cuts`` too."""
        there = np.full(len(self._program.costs), -1, np.int32)
        there[self._passed] = np.arange(len(self._passed))
        starts, columns, factors = [0], list[Column](), list[Column]()
        for cut in cuts:
            row = self._choices.row(cut.columns)
            self._cuts.append(row)
            own = there[row[0]] >= 0
            columns.append(there[row[0][own]])
            factors.append(row[1][own])
            starts.append(starts[-1] + len(columns[-1]))
        number = len(cuts)
        parts = np.array(starts[:-1], np.int32), np.concatenate(columns), np.concatenate(factors)
        self._solver.addRows(number, np.ones(number), np.full(number, self._infinite), starts[-1], *parts)

    def drop(self, places: Sequence[int]) -> None:
        """Ask no more for the cuts at ``places``, in the order in which they came."""
        first = self._program.balances + 1 + self._goals
        self._solver.deleteRows(len(places), np.array(places, np.int32) + first)
        gone = {*places}
        self._cuts = [row for place, row in enumerate(self._cuts) if place not in gone]

    def solve(self) -> bool:
        """Solve it, in portions of work; whether there is a solution."""
        while True:
            solved = self._solve()
            solution = self._solver.getSolution()
            duals = np.array(solution.row_dual)
            missing = self._missing(duals) if solved else self._absent
            if not len(missing):
                break
            self._pass(missing)
            self._solver.clearSolver()  # costs less than the primal simplex method, and half of its memory
        if not solved:
            return False
        values = np.zeros(len(self._program.costs))
        values[self._passed] = solution.col_value
        value = float(self._solver.getInfo().objective_function_value)
        duals = duals[self._program.balances + 1 :]
        self.solution = Solution(value, self._choices.flow(values), (duals[: self._goals], duals[self._goals :]))
        return True

    @property
    def _absent(self) -> Column:
        """The variables that HiGHS does not have."""
        absent = np.ones(len(self._program.costs), bool)
        absent[self._passed] = False
        return np.flatnonzero(absent).astype(np.int32)

    def _solve(self) -> bool:
        """Solve it with the variables that HiGHS has."""
        status, portion = self._stopped, PORTION
        while status == self._stopped:
            self._limits.check()
            sizes = self._solver.getNumRow() + self._solver.getNumCol()
            self._solver.setOptionValue("simplex_iteration_limit", max(1, portion // sizes))
            self._solver.run()
            status, portion = self._solver.getModelStatus(), min(portion + portion // 4, LONGEST)
            iterations = int(self._solver.getInfo().simplex_iteration_count)
            self._limits.spend(iterations * sizes / PER_UNIT.simplex + self._solver.getNumNz() / PER_UNIT.row_entries)
        return bool(status == self._optimal)

    def _missing(self, duals: Column) -> Column:
        """The variables that HiGHS does not have and that cost less than nothing by ``duals``, ``MOST_AT_ONCE`` of the
        cheapest."""
        program, first = self._program, self._program.balances + 1 + self._goals
        costs = program.costs.copy()
        costs[self._passed] = 0.0
        if len(self._passed) == len(costs):
            return np.zeros(0, np.int32)
        paid = np.append(program.factors * duals[program.places], 0.0)
        costs -= np.add.reduceat(paid, program.offsets[:-1]) * (np.diff(program.offsets) > 0)
        for (columns, factors), price in zip(self._cuts, duals[first:].tolist(), strict=True):
            if price:
                costs[columns] -= price * factors
        costs[self._passed] = 0.0
        cheap = np.flatnonzero(costs < -TINY)
        if len(cheap) > MOST_AT_ONCE:
            cheap = np.sort(cheap[np.argpartition(costs[cheap], MOST_AT_ONCE)[:MOST_AT_ONCE]])
        return cheap.astype(np.int32)


def _at_first(network: Network, choices: Choices) -> Column:
    """The variables that HiGHS has from the beginning."""
    variables, arcs = choices.variables, len(network.tails)
    if len(variables) <= MOST_AT_ONCE:
        return np.arange(len(variables), dtype=np.int32)
    taken = np.zeros(network.size, bool)
    taken[arcs:] = True
    for arrows, nodes in ((network.leaving, [node for node, _ in network.starts]), (network.entering, network.ends)):
        last = ways(arrows, nodes)[1]
        taken[last[last >= 0]] = True
    found = taken[variables]
    each = -(-MOST_AT_ONCE // network.goals)
    for covering in network.covering:
        columns, _ = choices.row(covering)
        found[columns[:: max(1, -(-len(columns) // each))]] = True
    return np.flatnonzero(found).astype(np.int32)
