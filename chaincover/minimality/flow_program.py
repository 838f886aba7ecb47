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

from bmc.explicit.vectors import Column
from bmc.records import dataclass
from chaincover.limits import Limits
from chaincover.minimality.flow_network import Cut, Network

ITERATIONS = 500
"""Iterations of the simplex method between two looks at the limits."""

PER_UNIT, ENTRIES_PER_UNIT = 220_000_000, 10_000_000
"""Iterations times rows and columns in about a unit of work, and entries of the rows that a solution starts with."""


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
        numbers = np.full(len(given) + 1, len(self._following), np.int32)
        numbers[network.tails[self._following]] = np.arange(len(self._following))
        starts = np.array([node for node, _ in network.starts], np.int64)
        to = np.concatenate([network.heads, starts, np.full(len(network.ends), len(given))]).astype(np.int32)
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

    First are the ``balances``, rows that are 0, then the starts, which are 1 together, then the goals: 1 or more.
    """

    costs: Column
    offsets: Column
    places: Column
    factors: Column
    balances: int


def program_of(network: Network, choices: Choices) -> Program:
    """The linear program of the flows in ``network``."""
    arcs, starts = len(network.tails), len(network.starts)
    row = np.full(len(network.nodes), -1, np.int32)
    row[choices.balanced] = np.arange(len(choices.balanced))
    chosen = choices.variables
    begun, number = int(np.count_nonzero(chosen < arcs)), len(chosen)
    tails = np.concatenate([row[network.tails[chosen[:begun]]], np.full(starts, -1, np.int32), row[network.ends]])
    heads = np.concatenate(
        [row[choices.heads[: begun + starts]], np.full(number - begun - starts, -1, np.int32)], dtype=np.int32
    )
    moving = tails != heads
    entries: list[tuple[Column, Column, float | Column]] = [
        (np.flatnonzero(moving & (tails >= 0)), tails, -1.0),
        (np.flatnonzero(moving & (heads >= 0)), heads, 1.0),
    ]
    places, which, factors = list[Column](), list[Column](), list[Column]()
    for variables, rows, factor in entries:
        which.append(variables.astype(np.int32))
        places.append(rows[variables])
        factors.append(np.full(len(variables), factor))
    goals = [np.arange(arcs, arcs + starts), *network.covering]
    for place, covering in enumerate(goals, len(choices.balanced)):
        marked = np.zeros(network.size)
        marked[covering] = 1.0
        sums = marked[chosen] if place == len(choices.balanced) else choices.sums(marked)
        which.append(np.flatnonzero(sums).astype(np.int32))
        places.append(np.full(len(which[-1]), place, np.int32))
        factors.append(sums[which[-1]])
    variables = np.concatenate(which)
    order = np.argsort(variables, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(variables, minlength=number))]).astype(np.int32)
    costs = choices.sums(np.repeat([1.0, 0.0], [arcs, network.size - arcs]))
    return Program(costs, offsets, np.concatenate(places)[order], np.concatenate(factors)[order], len(choices.balanced))


class Relaxation:
    """The linear program, solved by HiGHS.

    ``value``, ``flow`` and ``duals`` (of goals, and of cuts) are its solution.
    """

    def __init__(self, network: Network, limits: Limits) -> None:
        import highspy  # here, for only this stage needs it

        self._choices, self._goals, self._size, self._limits = Choices(network), network.goals, network.size, limits
        self._infinite = float(highspy.kHighsInf)
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
            "simplex_iteration_limit": ITERATIONS,
        }
        for option, value in options.items():
            self._solver.setOptionValue(option, value)
        program = program_of(network, self._choices)
        columns, rows = len(program.costs), program.balances + 1 + network.goals
        self._first = program.balances + 1
        low = np.concatenate([np.zeros(program.balances), np.ones(1 + network.goals)])
        high = np.concatenate([low[: self._first], np.full(network.goals, self._infinite)])
        nothing = np.zeros(0, np.int32)
        self._solver.addRows(rows, low, high, 0, np.zeros(rows, np.int32), nothing, np.zeros(0))
        bounds = np.zeros(columns), np.full(columns, self._infinite)
        matrix = program.offsets[:-1], program.places, program.factors
        self._solver.addCols(columns, program.costs, *bounds, len(program.places), *matrix)

    def add(self, cuts: Sequence[Cut]) -> None:
        """Ask for ``cuts`` too."""
        starts, columns, factors = [0], list[Column](), list[Column]()
        for cut in cuts:
            marked = np.zeros(self._size)
            marked[cut.columns] = 1.0
            sums = self._choices.sums(marked)
            columns.append(np.flatnonzero(sums).astype(np.int32))
            factors.append(sums[columns[-1]])
            starts.append(starts[-1] + len(columns[-1]))
        number = len(cuts)
        parts = np.array(starts[:-1], np.int32), np.concatenate(columns), np.concatenate(factors)
        self._solver.addRows(number, np.ones(number), np.full(number, self._infinite), starts[-1], *parts)

    def drop(self, places: Sequence[int]) -> None:
        """Ask no more for the cuts at ``places``, in the order in which they came."""
        first = self._first + self._goals
        self._solver.deleteRows(len(places), np.array(places, np.int32) + first)

    def solve(self) -> bool:
        """Solve it, in portions of work; whether there is a solution."""
        status = self._stopped
        while status == self._stopped:
            self._limits.check()
            self._solver.run()
            status = self._solver.getModelStatus()
            iterations = int(self._solver.getInfo().simplex_iteration_count)
            sizes = self._solver.getNumRow() + self._solver.getNumCol()
            self._limits.spend(iterations * sizes / PER_UNIT + self._solver.getNumNz() / ENTRIES_PER_UNIT)
        if status != self._optimal:
            return False
        solution = self._solver.getSolution()
        self.value = float(self._solver.getInfo().objective_function_value)
        self.flow: Column = self._choices.flow(np.array(solution.col_value))
        duals = np.array(solution.row_dual)[self._first :]
        self.duals: tuple[Column, Column] = duals[: self._goals], duals[self._goals :]
        return True
