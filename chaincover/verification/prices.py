"""Prices of goals checked in exact arithmetic: no run collects all of them in fewer steps than is claimed.

A step costs ``scale``, less the prices of the goals that it covers and of the cuts that it crosses; a state counts for
the step that leads there. If no circle of steps costs less than nothing, the cheapest way from a start to an end and
the sum of all prices bound the runs that cover all goals. Several runs that cover them together take the cheapest way
each. Where steps cost nothing, the cheapest way is the most that one run collects: so many runs it takes at least.
Nothing is taken from the search but the prices: states, steps, goals and costs are those of verify.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bmc.errors import counted
from bmc.evaluation.vectors import Column
from bmc.records import dataclass
from chaincover.certificate import Certificate, Prices
from chaincover.verification.marks import Marks
from chaincover.verification.report import HOLDS, OPEN, WRONG, Line
from chaincover.verification.search import Steps, has
from chaincover.verification.states import rows_of

PRICES = "prices of goals"

FAR_COST = np.int64(1 << 60)
"""The cost of a way that does not exist."""
LARGE = 1 << 42
"""Prices are below this, so that no sum of them overflows: a goal may be worth millions of steps."""
CELLS = 1 << 20
"""Prices that are summed up together."""
ROUNDS = 50_000
"""Rounds in which costs are passed on at most."""


@dataclass(frozen=True)
class Priced:
    """``bound``: no run that covers all goals takes fewer steps, or what is claimed of several runs that cover them
    together. ``to_end``: for each state the least cost to an end.

    ``outside`` has for each cut its price in the states outside of it, 0 inside; ``goal_of`` the number of its goal.
    """

    scale: int
    bound: int
    to_end: Column
    goals: Column
    outside: Column
    goal_of: Column

    def __call__(self, states: Column, missing: Column) -> Column:
        """A lower bound on the steps from ``states`` to an end over the ``missing`` goals (a mark for each goal)."""
        total = self.to_end[states]
        rows = max(1, CELLS // (len(self.goals) + len(self.goal_of)))
        for first in range(0, len(states), rows):
            part = slice(first, first + rows)
            total[part] += missing[part].astype(np.int64) @ self.goals
            if len(self.goal_of):
                total[part] += (missing[part][:, self.goal_of] * self.outside[:, states[part]].T).sum(axis=1)
        found: Column = -(-total // self.scale)
        return found


def line(marks: Marks | None, proof: Certificate, prices: Prices | None) -> tuple[Line, Priced | None]:
    """Whether ``prices``, which are some of ``proof``, give the bound that it claims by them."""
    if prices is None:
        return Line(PRICES, WRONG, "there are none"), None
    claimed, said = prices.bound, _said(prices)
    if marks is None:
        return Line(PRICES, OPEN, f"{said}: too many states or inputs", unfinished=True), None
    wrong = _wrong(marks, proof, prices)
    if wrong:
        return Line(PRICES, WRONG, f"{said}: {wrong}"), None
    steps = Steps(marks, proof.goals)
    found = priced(marks, proof.goals, prices, steps)
    if found is None:
        return Line(PRICES, WRONG, f"{said}: a circle of steps gains more than it costs"), None
    if found.bound < claimed:
        return Line(PRICES, WRONG, f"{said}: the prices give only {found.bound}"), found
    text = f"{said}: the cost of each of {len(steps.source)} steps between {marks.table.size} states, exactly"
    return Line(PRICES, HOLDS, text), found


def _said(prices: Prices) -> str:
    """What is claimed by ``prices``."""
    if prices.chains is None:
        return f"no fewer than {counted(prices.bound, 'chain')}"
    if prices.chains == 1:
        return f"no chain shorter than {prices.bound}"
    return f"no {prices.chains} chains shorter than {prices.bound} together"


def _wrong(marks: Marks, proof: Certificate, prices: Prices) -> str:
    """What makes the prices unreadable, or ''."""
    values = [*prices.goals.values(), *(cut.price for cut in prices.cuts)]
    goals = [*prices.goals, *(cut.goal for cut in prices.cuts)]
    if (prices.chains is None) != (prices.scale == 0) or (prices.chains is not None and prices.chains < 1):
        return "a step costs nothing where chains are counted, and only there"
    if not 0 <= prices.scale < LARGE or any(not 0 <= value < LARGE for value in values):
        return "a price is negative or too large"
    if not set(goals) <= set(proof.goals):
        return "a price is that of another goal"
    if not set(prices.variables) <= marks.table.columns.keys():
        return "the states of a cut are told by a variable that nothing reads"
    if any(not 0 <= state < len(prices.states) for cut in prices.cuts for state in cut.inside):
        return "a cut has a state that is not told"
    return ""


def priced(marks: Marks, goals: Sequence[str], prices: Prices, steps: Steps) -> Priced | None:
    """What ``prices`` say; None where a circle of steps costs less than nothing."""
    table = marks.table
    worth = np.array([prices.goals.get(goal, 0) for goal in goals], np.int64)
    numbers = {goal: number for number, goal in enumerate(goals)}
    goal_of = np.array([numbers[cut.goal] for cut in prices.cuts], np.int64)
    inside = _inside(marks, prices)
    starts = list(table.starts)
    here = _sums(steps.here, worth)
    costs, begun = prices.scale - here[steps.target], here[starts]
    costs -= _sums(steps.hits, worth)
    for place, cut in enumerate(prices.cuts):
        number = int(goal_of[place])
        entered = inside[place] | has(steps.here, number)
        outside_before = ~inside[place][steps.source]
        by_goal = has(steps.hits, number)
        costs -= cut.price * (outside_before & (entered[steps.target] | by_goal))
        begun = begun + cut.price * entered[starts]
    to_end = _least(steps, costs, marks.ends)
    if to_end is None:
        return None
    cut_prices = np.array([cut.price for cut in prices.cuts], np.int64)
    total = int(worth.sum()) + int(cut_prices.sum())
    way = int((to_end[starts] - begun).min(initial=FAR_COST))
    bound = 0 if way >= FAR_COST // 2 else _bound(prices, total, way)
    outside = cut_prices[:, None] * ~inside if len(cut_prices) else np.zeros((0, table.size), np.int64)
    return Priced(prices.scale, bound, to_end, worth, outside, goal_of)


def _bound(prices: Prices, total: int, way: int) -> int:
    """The bound by the sum of all prices, and the least cost of a way from a start to an end."""
    if prices.chains is None:
        return -(-total // -way) if way < 0 else 0
    return max(0, -(-(total + prices.chains * way) // prices.scale))


def _sums(marks: Column, worth: Column) -> Column:
    found = np.zeros(len(marks), np.int64)
    for number, price in enumerate(worth.tolist()):
        if price:
            found += price * has(marks, number)
    return found


def _inside(marks: Marks, prices: Prices) -> Column:
    """For each cut a mark for every state inside of it."""
    table = marks.table
    numbers = {state: number for number, state in enumerate(prices.states)}
    rows = rows_of((table.columns[name] for name in prices.variables), table.size)
    of_state = np.array([numbers.get(row, len(numbers)) for row in rows], np.int64)
    inside = np.zeros((len(prices.cuts), len(numbers) + 1), bool)
    for place, cut in enumerate(prices.cuts):
        inside[place, list(cut.inside)] = True
    found: Column = inside[:, of_state]
    return found


def _least(steps: Steps, costs: Column, ends: Column) -> Column | None:
    """The least cost from each state to an end; None where it has no end: a circle costs less than nothing."""
    found = np.where(ends, np.int64(0), FAR_COST)
    for _ in range(min(ROUNDS, len(found) + 1)):
        ahead = found[steps.target]
        better = found.copy()
        np.minimum.at(better, steps.source, np.where(ahead >= FAR_COST // 2, FAR_COST, ahead + costs))
        if np.array_equal(better, found):
            return found
        found = better
    return None
