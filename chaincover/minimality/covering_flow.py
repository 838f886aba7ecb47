"""The covering flow over enumerated states: a linear bound on all chains, and chains where it comes out whole.

A chain is a walk through the goal product: a flow of one unit from a start to an end that hangs together and uses, for
each goal, a step that covers it. Without what makes it whole this is a linear program, and its least value is a lower
bound. What hangs together is asked for lazily, by cuts: whoever covers a goal enters the states around it (the
generalised rural postman's cuts, found by least cuts in the flow). The dual solution gives prices of the goals and of
the cuts; they are rounded to integers and checked in exact arithmetic, so that nothing rests on the solver.

What prices say: a step costs as much as the prices are parts of it, less the prices of the goals that it completes and
of the cuts that it crosses. The cheapest way to an end, with the prices that are still to be collected, is a lower
bound on the steps that a run still takes (weak duality of the covering flow).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from math import ceil

import numpy as np

from bmc.evaluation.vectors import Column
from bmc.explicit.rows import distinct
from bmc.explicit.state_graph import Arrows, StateGraph
from bmc.system.transition import Run
from chaincover.certificate import CutPrice, Prices
from chaincover.graph.enumerated_goals import CELLS, bits, run_of, states_in
from chaincover.graph.goal_product import Product, goal_product
from chaincover.known import Board
from chaincover.limits import PER_UNIT, Limits
from chaincover.minimality.flow_network import Cut, Network
from chaincover.minimality.flow_program import Relaxation
from chaincover.orderings.bound import FLOW
from chaincover.problem import Problem

MOST_ARCS = 400_000
"""Arcs of the network above which the linear program takes too long."""

MOST_CUTS = 4_000
"""Cuts that are added at most."""


IDLE, FOREVER = 6, 1 << 40
"""A cut that has had no price in so many solutions goes; one that comes again stays for so many."""

SCALE = 1 << 20
"""Parts of a step in which prices are given."""

SHRINKS = (0, 16, 12, 9)
"""How much smaller the prices are made, as powers of two, until no circle of steps costs less than nothing."""


def cover_by_flow(board: Board) -> None:
    """Solve the covering flow by cuts: every flow that comes out whole is offered as a chain, every bound is proved."""
    states, problem = board.known.enumerated, board.problem
    if states is None or not problem.goals:
        return
    board.limits.check()
    limits = board.limits
    made = goal_product(problem, states, limits.check, lambda steps: limits.spend(steps / PER_UNIT.steps))
    limits.check()
    if made is None or len(made.arrows.ends) > MOST_ARCS:
        board.say("covering flow: too many steps between the enumerated states")
        return
    board.say("covering flow: a linear bound over the enumerated states")
    flow, bound = CoveringFlow(problem, states, made, limits), 0
    for _ in flow.solutions():
        prices = flow.proved(max(bound, board.known.proof.flow_bound))
        if prices is not None:
            bound = max(bound, prices.bound)
            if prices.bound > board.known.proof.flow_bound:
                board.prove(flow_bound=prices.bound, prices=prices, basis=FLOW)
        for run in flow.runs(board.known.length):
            board.offer(run)
        if board.known.settled:
            return


class CoveringFlow:
    """The covering flow of so many ``chains``: its network, the linear program, and the cuts that it takes.

    None: of the smallest number of chains, whatever steps they take.
    """

    def __init__(
        self, problem: Problem, states: StateGraph, made: Product, limits: Limits, chains: int | None = 1
    ) -> None:
        self._problem, self._states, self._made, self._limits = problem, states, made, limits
        self._chains, self._ends = chains, states_in(states, problem.final)
        self._network = Network(made, self._ends, len(problem.goals))
        self._relaxation: Relaxation
        self._way = 0
        self._cuts: list[Cut] = []
        self._idle: list[int] = []
        self._dropped: set[bytes] = set()

    @property
    def possible(self) -> bool:
        """Whether some chain covers each of the goals."""
        return all(map(len, self._network.covering)) and bool(self._network.starts)

    @property
    def bound(self) -> int:
        """The bound that the solution gives, where its prices prove it."""
        return ceil(self._relaxation.solution.value - 1e-6)

    def solutions(self) -> Iterator[None]:
        """Solve it, and again with the cuts that the solution misses, until there are none."""
        if not self.possible:
            return
        network = self._network
        relaxation = self._relaxation = Relaxation(network, self._limits, self._chains)
        while relaxation.solve():
            yield
            if len(self._cuts) > MOST_CUTS:
                return
            self._drop()
            cuts = network.violated(relaxation.solution.flow)
            self._limits.spend((1 + int((relaxation.solution.flow > 0).sum())) * network.goals / PER_UNIT.cut_arrows)
            if not cuts:
                return
            self._cuts += cuts
            self._idle += [-FOREVER if cut.key in self._dropped else 0 for cut in cuts]
            relaxation.add(cuts)

    def _drop(self) -> None:
        """Drop the cuts that have not mattered for some time, but each only once."""
        prices = self._relaxation.solution.duals[1].tolist()
        self._idle = [0 if price else idle + 1 for price, idle in zip(prices, self._idle, strict=True)]
        dropped = [place for place, idle in enumerate(self._idle) if idle > IDLE]
        if dropped:
            self._relaxation.drop(dropped)
            self._dropped.update(self._cuts[place].key for place in dropped)
            self._cuts = [cut for cut, idle in zip(self._cuts, self._idle, strict=True) if idle <= IDLE]
            self._idle = [idle for idle in self._idle if idle <= IDLE]

    def proved(self, above: int) -> Prices | None:
        """The prices of the dual solution, with the bound that they prove; None where it is not above this one."""
        if self.bound <= above:
            return None
        for shrink in SHRINKS:
            prices = self._prices(1.0 - 2.0**-shrink if shrink else 1.0)
            try:
                found = PricedProduct(self._problem, self._states, self._made, self._ends, prices)
            except CircleOfGain as circle:
                self._limits.spend(circle.args[0] / PER_UNIT.checked_arrows)
                continue
            self._limits.spend(found.work / PER_UNIT.checked_arrows)
            self._way = found.way
            return replace(prices, bound=found.bound)
        return None

    def of_one(self, prices: Prices, goals: Collection[str]) -> Prices:
        """Those of ``prices``, the last ones that were proved, that one chain through ``goals`` collects, and the bound
        that they give: by fewer prices no way costs less."""
        cuts = [cut for cut in prices.cuts if cut.goal in goals]
        numbers = {state: place for place, state in enumerate(sorted({state for cut in cuts for state in cut.inside}))}
        own = {goal: price for goal, price in prices.goals.items() if goal in goals}
        total = sum(own.values()) + sum(cut.price for cut in cuts)
        return replace(
            prices,
            goals=own,
            cuts=tuple(replace(cut, inside=tuple(numbers[state] for state in cut.inside)) for cut in cuts),
            variables=prices.variables if numbers else (),
            states=tuple(prices.states[state] for state in numbers),
            bound=max(0, -(-(total + self._way) // prices.scale)),
            chains=1,
        )

    def _prices(self, part: float) -> Prices:
        """The dual solution in whole parts of a step, times ``part``."""
        names, network = self._problem.names, self._network
        goals, cuts = (
            np.floor(np.maximum(0.0, values) * (SCALE * part)).astype(np.int64).tolist()
            for values in self._relaxation.solution.duals
        )
        used = [(cut, price) for cut, price in zip(self._cuts, cuts, strict=True) if price]
        inside = [network.inside(cut).tolist() for cut, _ in used]
        numbers = {state: number for number, state in enumerate(sorted(set[int]().union(*inside)))}
        variables = tuple(self._states.states.columns)
        columns = [self._states.states.columns[name][list(numbers)].tolist() for name in variables]
        return Prices(
            scale=0 if self._chains is None else SCALE,
            goals={name: price for name, price in zip(names, goals, strict=True) if price},
            cuts=tuple(
                CutPrice(names[cut.goal], price, tuple(numbers[state] for state in each))
                for (cut, price), each in zip(used, inside, strict=True)
            ),
            variables=variables if numbers else (),
            states=tuple(tuple(map(int, row)) for row in zip(*columns, strict=True)),
            chains=self._chains,
        )

    def runs(self, below: int | None) -> list[Run]:
        """The runs of a whole flow, whose parts are joined by detours where it does not hang together.

        Nothing where the flow is not whole, or they do not have less steps together than so many.
        """
        network, flow = self._network, np.round(self._relaxation.solution.flow)
        if np.abs(flow - self._relaxation.solution.flow).max() >= 1e-6:
            return []
        walks, arcs = network.walks(flow), len(network.tails)
        if walks is None or (below is not None and sum(len(walk) - 2 for walk in walks) >= below):
            return []
        return [self._run(network.starts[walk[0] - arcs][0], walk[1:-1]) for walk in walks]

    def _run(self, start: int, walk: Sequence[int]) -> Run:
        """The run along the arcs of ``walk``, from the node ``start``."""
        network, made, choices = self._network, self._made, []
        arrows = made.arrows
        for place in walk:
            tail, head, covered = network.arc(place)
            here, after = int(network.nodes[tail]), int(network.nodes[head])
            choices.append(
                next(
                    int(made.choices[n])
                    for n in range(int(arrows.offsets[here]), int(arrows.offsets[here + 1]))
                    if arrows.ends[n] == after and made.sets[int(made.masks[n])] == covered
                )
            )
        return run_of(self._problem.system, self._states, int(network.states[start]), choices)


NEVER = np.int64(1 << 60)
"""The cost of a way that does not exist."""

MOST_ROUNDS = 20_000
"""Rounds in which costs are passed on before it is given up."""

MOST_CELLS = 20_000_000
"""Cells of the table of cuts and nodes."""


class CircleOfGain(Exception):
    """By these prices there is a circle of steps that costs less than nothing, or it is not known that there is none:
    they bound nothing. Its argument is the number of arrows that were followed to find out."""


class PricedProduct:
    """The nodes of a goal product with the least cost of a way from each to an end. CircleOfGain if there is none.

    ``bound``: no run from a start that covers all goals and gets to an end takes fewer steps, or no so many chains do
    together, or there are no fewer chains that do. ``way``: the least cost from a start to an end. ``work``: the number
    of arrows that were followed.
    """

    def __init__(self, problem: Problem, graph: StateGraph, made: Product, ends: Column, prices: Prices) -> None:
        self._scale = prices.scale
        numbers = {goal: number for number, goal in enumerate(problem.names)}
        self._goals = np.array([prices.goals.get(goal, 0) for goal in problem.names], np.int64)
        used = [cut for cut in prices.cuts if cut.goal in numbers]
        if len(used) * len(graph.states) > MOST_CELLS:
            used = []
        of_state = _numbered(graph, prices)
        self._cut_goals = np.array([numbers[cut.goal] for cut in used], np.int64)
        self._cut_prices = np.array([cut.price for cut in used], np.int64)
        marks = np.zeros((len(used), len(prices.states) + 1), bool)
        for row, cut in zip(marks, used, strict=True):
            row[list(cut.inside)] = True
        self._inside: Column = marks[:, of_state]
        worth = np.array([sum(int(self._goals[goal]) for goal in bits(goals)) for goals in made.sets], np.int64)
        has = np.array([[bool(goals >> goal & 1) for goals in made.sets] for goal in self._cut_goals.tolist()], bool)
        arrows, masks = made.arrows, made.masks
        sources = np.repeat(np.arange(arrows.size, dtype=np.int32), np.diff(arrows.offsets))
        costs = self._scale - worth[masks]
        for place, inside in enumerate(self._inside):
            crossed = ~inside[sources] & (inside[arrows.ends] | has[place][masks])
            costs -= crossed * self._cut_prices[place]
        self.to_end, self.work = _cheapest(arrows, costs, ends)
        starts, start_masks = made.starts, made.start_masks.astype(np.int64)
        begun = worth[start_masks]
        for place, inside in enumerate(self._inside):
            begun = begun + (inside[starts] | has[place][start_masks]) * self._cut_prices[place]
        total = int(self._goals.sum()) + int(self._cut_prices.sum())
        self.way = int((self.to_end[starts] - begun).min(initial=NEVER))
        self.bound = self._bound(total, prices.chains)

    def _bound(self, total: int, chains: int | None) -> int:
        """The bound where all prices add up to ``total``, on the steps of a run or of so many ``chains`` together."""
        if self.way >= NEVER // 2:
            return 0
        if chains is None:
            return -(-total // -self.way) if self.way < 0 else 0
        return max(0, -(-(total + chains * self.way) // self._scale))

    def still(self, places: Column, missing: Column) -> Column:
        """A lower bound on the steps from each of ``places`` to an end, over the goals that are ``missing`` there.

        ``missing`` has a row for each place, and a column for each goal.
        """
        total = self.to_end[places]
        rows = max(1, CELLS // (len(self._goals) + len(self._cut_goals)))
        for first in range(0, len(places), rows):
            part = slice(first, first + rows)
            own = missing[part]
            total[part] += own.astype(np.int64) @ self._goals
            if len(self._cut_goals):
                outside = ~self._inside[:, places[part]].T & (own[:, self._cut_goals] != 0)
                total[part] += outside @ self._cut_prices
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


def _cheapest(arrows: Arrows, costs: Column, ends: Column) -> tuple[Column, int]:
    """The least cost of a way from each node to one of the marked ``ends``, and how many arrows were followed.

    What becomes cheaper is passed on to the nodes before it, round by round (Bellman and Ford).
    """
    found = np.where(ends, np.int64(0), NEVER)
    backward, changed, work = arrows.backward(), np.flatnonzero(ends), 0
    assert backward.numbers is not None
    for _ in range(min(MOST_ROUNDS, len(found) + 1)):
        places, rows = backward.of(changed)
        work += len(places)
        before, through = backward.ends[places], found[changed][rows] + costs[backward.numbers[places]]
        better = np.flatnonzero(through < found[before])
        if not len(better):
            return found, work
        np.minimum.at(found, before[better], through[better])
        changed = distinct(before[better])
    raise CircleOfGain(work)
