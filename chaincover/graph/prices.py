"""What prices of goals say about runs through a goal product, in exact arithmetic on integers.

A step costs as much as the prices are parts of it, less the prices of the goals that it completes and of the cuts that
it crosses. The cheapest way to an end, with the prices that are still to be collected, is a lower bound on the steps
that a run still takes (weak duality of the covering flow).
"""

from __future__ import annotations

import numpy as np

from bmc.explicit.state_graph import StateGraph
from bmc.explicit.vectors import Column
from chaincover.certificate import Prices
from chaincover.graph.goal_product import GoalProduct
from chaincover.problem import Problem
from properties.progression import bits

NEVER = np.int64(1 << 60)
"""The cost of a way that does not exist."""

MOST_ROUNDS = 20_000
"""Rounds in which costs are passed on before it is given up."""

MOST_CELLS = 20_000_000
"""Cells of the table of cuts and nodes."""


class CircleOfGain(Exception):
    """By these prices there is a circle of steps that costs less than nothing, or it is not known that there is none:
    they bound nothing."""


class PricedProduct:
    """The nodes of a goal product with the least cost of a way from each to an end. CircleOfGain if there is none.

    ``bound``: no run from a start that covers all goals and gets to an end takes fewer steps.
    """

    def __init__(self, problem: Problem, graph: StateGraph, made: GoalProduct, ends: Column, prices: Prices) -> None:
        self._scale = prices.scale
        numbers = {goal: number for number, goal in enumerate(problem.names)}
        self._goals = np.array([prices.goals.get(goal, 0) for goal in problem.names], np.int64)
        states = made.product.states.astype(np.int64)
        used = [cut for cut in prices.cuts if cut.goal in numbers]
        if len(used) * len(states) > MOST_CELLS:
            used = []
        of_state = _numbered(graph, prices)
        self._cut_goals = np.array([numbers[cut.goal] for cut in used], np.int64)
        self._cut_prices = np.array([cut.price for cut in used], np.int64)
        marks = np.zeros((len(used), len(prices.states) + 1), bool)
        for row, cut in zip(marks, used, strict=True):
            row[list(cut.inside)] = True
        self._inside: Column = marks[:, of_state[states]]
        worth = np.array([sum(int(self._goals[goal]) for goal in bits(goals)) for goals in made.sets], np.int64)
        has = np.array([[bool(goals >> goal & 1) for goals in made.sets] for goal in self._cut_goals.tolist()], bool)
        arrows, masks = made.product.arrows, made.product.masks.astype(np.int64)
        sources = np.repeat(np.arange(arrows.size), np.diff(arrows.offsets))
        costs = self._scale - worth[masks]
        for place, inside in enumerate(self._inside):
            crossed = ~inside[sources] & (inside[arrows.ends] | has[place][masks])
            costs -= crossed * self._cut_prices[place]
        self.to_end = _cheapest(arrows.offsets, arrows.ends, costs, ends)
        starts, start_masks = made.product.starts, made.product.start_masks.astype(np.int64)
        begun = worth[start_masks]
        for place, inside in enumerate(self._inside):
            begun = begun + (inside[starts] | has[place][start_masks]) * self._cut_prices[place]
        total = int(self._goals.sum()) + int(self._cut_prices.sum())
        least = int((self.to_end[starts] - begun).min(initial=NEVER))
        self.bound = max(0, -(-(total + least) // self._scale)) if least < NEVER // 2 else 0
        self.work = len(costs)

    def still(self, places: Column, missing: Column) -> Column:
        """A lower bound on the steps from each of ``places`` to an end, over the goals that are ``missing`` there.

        ``missing`` has a row for each place, and a column for each goal.
        """
        total = self.to_end[places] + missing.astype(np.int64) @ self._goals
        if len(self._cut_goals):
            outside = ~self._inside[:, places].T & (missing[:, self._cut_goals] != 0)
            total = total + outside @ self._cut_prices
        steps: Column = -(-total // self._scale)
        return steps


def _numbered(graph: StateGraph, prices: Prices) -> Column:
    """For each state of ``graph`` its number in ``prices``, or the number behind the last."""
    numbers = {state: number for number, state in enumerate(prices.states)}
    if not numbers:
        return np.zeros(len(graph.states), np.int64)
    columns = [graph.states.columns[name].tolist() for name in prices.variables]
    rows = zip(*columns, strict=True) if columns else [()] * len(graph.states)
    return np.array([numbers.get(tuple(map(int, row)), len(numbers)) for row in rows], np.int64)


def _cheapest(offsets: Column, after: Column, costs: Column, ends: Column) -> Column:
    """The least cost of a way from each node to one of the marked ``ends`` (Bellman and Ford)."""
    found = np.where(ends, np.int64(0), NEVER)
    leaving = np.flatnonzero(np.diff(offsets))
    if not len(leaving):
        return found
    for _ in range(min(MOST_ROUNDS, len(found) + 1)):
        ahead = found[after]
        through = np.where(ahead >= NEVER // 2, NEVER, ahead + costs)
        better = np.minimum(found[leaving], np.minimum.reduceat(through, offsets[leaving]))
        if np.array_equal(better, found[leaving]):
            return found
        found[leaving] = better
    raise CircleOfGain
