"""What simulation alone tells: distances that certainly suffice, and a first chain, before a solver is asked.

Many random runs go on side by side. After every few steps those that have covered little, or what many have covered,
give way to copies of others: the goals add up within one run, and the steps until then are simulated once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
from greenlet import GreenletExit

from bmc.engines.protocol import SEED
from bmc.errors import LimitReached
from bmc.evaluation.vectors import Column
from bmc.explicit.batch import NEVER, Batch, EventFinder, Runs, earliest, gaps
from bmc.explicit.branch_distance import BranchDistance, ModeGraph
from bmc.explicit.draws import Draws
from bmc.system.transition import Run, Valuation
from chaincover.known import Board
from chaincover.limits import Limits
from chaincover.problem import Problem
from chaincover.runs.budget import REST, WORK, Budget
from chaincover.runs.population import (
    CHANGED,
    CHOICE,
    SHOWN,
    STRIDE,
    WIDTH,
    information,
    rivals,
    started,
)
from chaincover.runs.ways import ENDINGS, Endings, Resting
from chaincover.weights import FINAL, INIT, Edge
from properties.goal import Goal

TIMES = 4
"""How often runs go on, each time with twice the patience. Once more: waits of twice as many steps are met."""

PATIENCE = 256, 0.15
"""Steps, and units of work, without a better run or a goal that no run had covered, after which there is no other."""

WAITS = 64, 4
"""After so many steps without news, and after twice as many each time, all runs wait for some times as many steps: what
a timer brings about needs inputs that all stay as they are, or are at rest."""

WAITED = 64
"""Steps that are looked at together at most: of waiting, and where the choice of runs takes longer than their steps."""

PART = 0.5
"""What it is worth, as a part of a goal, to be where it begins."""

RESTED = 3
"""Runs, the best one and others, that rest where random ones bring no news. With twice as many, up to 0.6 units more
are taken before all runs wait."""

AROUND = (128, 24)
"""Runs and their steps from the end of each goal of the chain, for the distances between goals."""


def random_runs(board: Board) -> None:
    """A first chain by random runs, before any distance is asked for, and the distances that these runs show.

    Where goals are missing and states are not enumerated, the runs go on in later turns, ever more patiently. At last,
    in a turn of their own, others begin in init for the goals that the chain does not cover: it may have gone where
    these cannot be.
    """
    board.say("simulate: random runs side by side")
    problem, offer = board.problem, _offer_to(board)

    def offer_and_look(run: Run) -> None:
        simulated.distances = board.known.enumerated is None  # which give the exact ones
        offer(run)

    simulated = RandomRuns(problem, board.limits, board.options.bound)
    for _ in range(TIMES):
        simulated.offer(offer_and_look)
        board.tell(observed={**board.known.observed, **simulated.upper})
        if board.known.complete or board.known.enumerated is not None:
            return
    board.limits.end_turn()
    board.limits.check()  # what others find until the next turn is not missing any more
    missing = {*board.known.targets} - (board.known.chain.goals if board.known.chain else frozenset())
    anew = RandomRuns(problem.of(missing), board.limits, board.options.bound, distances=False)
    for _ in range(TIMES if missing else 0):
        anew.offer(offer)
        if board.known.complete:
            return


def _offer_to(board: Board) -> Callable[[Run], None]:
    """Takes runs of the problem as it is now, also where its states get a normal form until then."""
    state = board.known.problem.system.state

    def offer(run: Run) -> None:
        board.offer(run if board.known.problem.system.state is state else board.replay(run))

    return offer


class RandomRuns:
    """Runs from init through the goals of ``problem`` to its final condition; repeatable.

    ``within`` (None: no limit) is the most steps from the end of a goal to the start of the next, or to the final
    condition. Where ``distances`` are wanted, ``upper`` holds for each edge seen a number of steps in which a run makes
    it: no less than its weight. ``tests`` has for goals that runs from init met at once such a run.
    ``before_pause`` is called with the best run so far, to the end where there is a way, before ``limits`` pause what
    goes on here, unless that was told before.
    """

    def __init__(self, problem: Problem, limits: Limits, within: int | None = None, distances: bool = True) -> None:
        self._problem, self._limits = problem, limits
        self._within, self.distances = within, distances
        self.before_pause: Callable[[Run], None] = lambda run: None
        self._most = self._told = 0
        self._ending: tuple[Column, Run] | None = None
        self._patience = 1
        self._batch = Batch(problem.system, [goal.antecedent for goal in problem.goals], SEED)
        self._events = EventFinder({goal.name: (goal.antecedent, goal.takes_step) for goal in problem.targets})
        self._random = Draws(SEED)
        self._modes = ModeGraph()
        told = {f"{var.name}@0": var.name for var in problem.system.state}
        self._distance = BranchDistance([goal.antecedent for goal in problem.goals], told, self._modes)
        self._budget = Budget(self._batch, limits, self._check)
        self._endings = Endings(problem, self._budget, self._events, self._modes, within)
        self._resting = Resting(problem.by_name, self._budget, self._events, self._distance)
        self._population = started(self._batch, self._batch.initial(), len(problem.goals))
        self.upper: dict[Edge, int] = {}
        self.tests: dict[str, Run] = {}

    @property
    def _goals(self) -> Mapping[str, Goal]:
        return self._problem.by_name

    @property
    def _longest(self) -> int:
        """Steps of the longest goal."""
        return int(any(goal.takes_step for goal in self._problem.goals))

    @property
    def best(self) -> Run:
        """The run that has covered most goals so far."""
        inputs = self._population.inputs(self._population.best())
        return self._batch.run(self._batch.initial(), inputs)

    def begin_with(self, run: Run) -> None:
        """Let all runs begin as ``run`` does, from init to its end, with the goals that it covers."""
        self._population = started(self._batch, self._batch.initial(), len(self._goals), 1)
        self._take(self._batch.taken(run))
        self._population.select(np.zeros(WIDTH, np.int64))

    def _check(self) -> None:
        """Ask the limits whether to go on; what is known by then is told before they pause it."""
        if self._told < self._most and self._limits.turn_over:
            self._told = self._most
            self._limits.extend(REST + sum(self._budget.work(count, steps) for count, steps in ENDINGS))
            self.before_pause(self._ended())
            self._limits.end_turn()
        self._limits.check()

    def offer(self, offer: Callable[[Run], None]) -> None:
        """Go on as in ``runs``; ``offer`` is called with each run, with the best one where a limit ends that, and with
        each test."""
        self.before_pause = offer
        try:
            for run in self.runs():
                offer(run)
        except (LimitReached, GreenletExit):  # time or effort is over: what there is so far is worth telling
            offer(self.best)
            raise
        for run in self.tests.values():
            offer(run)

    def runs(self) -> Iterator[Run]:
        """Runs from init through ever more goals, with their way to the end, as far as random runs lead.

        Asked again, they go on with twice the patience, and twice as many steps until some give way to others; they
        begin anew where no step is allowed to any of them.

        One is told when half as much work again was done as for the one before, and the last one. ``upper`` tells what
        they saw. LimitReached when time is over.
        """
        known, tell_at = -1, WORK
        self._budget.left = WORK
        if self._population.steps and not self._select():
            self._population = started(self._batch, self._batch.initial(), len(self._goals))
        idle, left, wait_after, waiting = 0, self._budget.left, WAITS[0], 0
        while self._most < len(self._goals) and (self._wait(waiting) if waiting else self._advance()):
            covered = self._population.ends < NEVER
            count, reached = int(covered.sum(axis=0).max(initial=0)), int(covered.any(axis=1).sum())
            idle, waiting = idle + self._stride, 0
            if count > self._most or reached > known:
                idle, left, wait_after = 0, self._budget.left, WAITS[0]
            elif idle >= PATIENCE[0] * self._patience and left - self._budget.left >= PATIENCE[1] * self._patience:
                break
            elif idle >= wait_after and self._within is None:
                wait_after, waiting = 2 * wait_after, WAITS[1] * idle
                if rested := self._rest():
                    idle, waiting, count = 0, 0, rested
                    left, wait_after = self._budget.left, WAITS[0]
            self._most, known = max(self._most, count), max(known, reached)
            stuck = not self._population.alive[self._population.best()]
            if self._told < self._most < len(self._goals) and (self._budget.left <= tell_at or stuck):
                self._told, tell_at = self._most, WORK - 1.5 * (WORK - self._budget.left)
                yield self._ended()
            if self._most < len(self._goals) and not self._select():
                break
        run = self._ended()
        yield run
        self._patience, first = 2 * self._patience, self._patience == 1
        if first:
            self._reach()
        self._keep_others()
        if self.distances and first:
            self._look_around(run)

    @property
    def _stride(self) -> int:
        """Steps until runs give way to others, no less than half the work of choosing these: with as much, first chains
        are longer by half. One where there is a limit from goal to goal.
        """
        least = min(WAITED, self._choice // max(1, 2 * self._batch.nodes))
        return max(STRIDE * self._patience, least) if self._within is None else 1

    @property
    def _choice(self) -> int:
        """Operations on columns that it takes to choose the runs that go on."""
        return CHOICE * (len(self._goals) + len(self._population.states))

    def _wait(self, steps: int) -> bool:
        """Let all runs go on for about so many steps in which no input changes or all are at rest, or until no state
        changes; False when no work is left.

        Others take the places of those that no step is allowed to any more, unless that is the best one.
        """
        population = self._population
        for _ in range(0, steps, WAITED):
            if not population.alive[population.best()]:
                break
            alive = np.flatnonzero(population.alive)
            population.select(alive[np.arange(WIDTH) % len(alive)])
            before = population.states
            if not self._advance(WAITED, waiting=True):
                return False
            if all((values == before[name]).all() for name, values in population.states.items()):
                break
        return True

    def _advance(self, steps: int = 0, waiting: bool = False) -> bool:
        """Let all runs go on for ``steps`` (0: a stride), and credit them with goals; False when no work is left."""
        runs = self._budget.go_on(self._population, steps or self._stride, self._choice, waiting)
        if runs is not None:
            self._take(runs)
        return runs is not None

    def _rest(self) -> int:
        """How many goals a run covers that comes to more than any before, by a way that begins with all inputs at rest;
        then all go on from there. 0 without one.

        Tried are the best one of those that go on, from its end, and others from where they are.
        """
        population, start = self._population, self._batch.initial()
        counts = np.where(population.alive, (population.ends < NEVER).sum(axis=0), -1)
        most = np.flatnonzero(counts == counts.max(initial=0))
        drawn = most[self._random.below(len(most), RESTED - 1)].tolist() if len(most) else []
        tried: list[tuple[Column, Valuation, Callable[[], Sequence[Valuation]]]] = [
            (population.ends[:, n], population.state(n), partial(population.inputs, n, population.steps)) for n in drawn
        ]
        if self._ending is not None and (self._ending[0] < NEVER).sum() >= counts.max(initial=0):
            ends, run = self._ending
            tried.insert(0, (ends, run.states[-1], lambda: run.inputs))
        for ends, state, before in tried:
            missing = [name for name, end in zip(self._goals, ends, strict=True) if end == NEVER]
            way = self._resting.way(state, missing)
            if way is not None:
                self.begin_with(self._batch.run(start, [*before(), *way]))
                count = int((self._population.ends[:, 0] < NEVER).sum())
                if count > self._most:
                    return count
                self._population = population
        return 0

    def _take(self, runs: Runs) -> None:
        """Let all runs go on as ``runs`` do, and credit them with goals."""
        population, first = self._population, not self._population.steps
        for name, values in runs.states.items():
            self._modes.learn(name, values[:, :SHOWN])
        before = 0 if population.tail is None else population.tail.steps
        joined = population.add(runs, self._longest)
        hits = self._events.hits(joined)
        begun = population.steps - joined.steps
        self._credit(hits, begun, -1 if first else before)

    def _credit(self, hits: Mapping[str, Column], begun: int, before: int) -> None:
        """Credit goals that end after ``before`` steps of what was seen, which began at the step ``begun``."""
        ends = self._population.ends
        for place, name in enumerate(self._goals):
            rows = hits[name][before + 1 :]
            if rows.any():
                found = begun + before + 1 + rows.argmax(axis=0)
                self._note(place, rows.any(axis=0) & (ends[place] == NEVER), found)

    def _note(self, place: int, new: Column, ends: Column) -> None:
        """Credit the goal at ``place`` in runs where it is ``new``, unless it is too far from the goal before."""
        population = self._population
        if self._within is not None:
            starts = ends - self._problem.goals[place].takes_step
            far = new & (starts - population.last > self._within)
            population.alive &= ~far
            new = new & ~far
        population.ends[place][new] = ends[new]

    def _select(self) -> bool:
        """Let runs that have covered more, or what few have, go on in place of others; False if none can go on."""
        population = self._population
        if self._within is not None:
            population.alive &= population.steps - population.last <= self._within + self._longest
        alive = np.flatnonzero(population.alive)
        if not len(alive):
            return False
        covered = population.ends[:, alive] < NEVER
        by_goals = information(covered.sum(axis=1), len(alive)) @ np.where(covered, 1.0, self._nearness(alive))
        chosen = rivals(population, self._random, alive, by_goals)
        chosen[0] = np.lexsort((population.last[alive], -covered.sum(axis=0)))[0]
        population.select(alive[chosen])
        population.manner = self._batch.changed(population.manner, CHANGED)
        return True

    def _nearness(self, alive: Column) -> Column:
        """For each goal and run a part of 1: the less, the farther the state is from a start of the goal."""
        columns = {f"{name}@0": values[alive] for name, values in self._population.states.items()}
        found = np.array(self._distance(columns, len(alive))).reshape(len(self._goals), len(alive))
        return PART / (1 + found)

    def _ended(self) -> Run:
        """The best run, to the end where there is a way, else as it is: its goals are seen all the same."""
        start = self._batch.initial()
        best = self._population.best()
        inputs = self._population.inputs(best)
        ending = self._endings.find(self._batch.run(start, inputs).states[-1], PATIENCE[0] * self._patience)
        run = self._batch.run(start, [*inputs, *(ending or [])])
        self._ending = (self._population.ends[:, best].copy(), run)
        return run

    def _reach(self) -> None:
        """Tests of goals, and distances, by runs from init; far ones where there is a limit from goal to goal."""
        for count, steps in [AROUND] if self._within is None else ENDINGS:
            runs = self._budget.drawn(self._batch.initial(), count, steps)
            if runs is None:
                return
            hits = self._events.hits(runs)
            self._keep_tests(runs, hits)
            if self.distances:
                self._learn(self._starts(hits), True)

    def _keep_others(self) -> None:
        """Tests of goals that the best run does not cover, by runs that do."""
        population, start = self._population, self._batch.initial()
        best = population.best()
        for name, ends in zip(self._goals, population.ends, strict=True):
            number = int(ends.argmin())
            if ends[best] == NEVER and ends[number] < NEVER and name not in self.tests:
                self.tests[name] = self._batch.run(start, population.inputs(number)[: int(ends[number])])

    def _keep_tests(self, runs: Runs, hits: Mapping[str, Column]) -> None:
        """The first run from init to the end of each goal that is met."""
        start = self._batch.initial()
        for name in self._goals:
            place = earliest(hits[name])
            if place is not None and name not in self.tests:
                step, number = place
                self.tests[name] = self._batch.run(start, runs.run_inputs(number, step))

    def _starts(self, hits: Mapping[str, Column]) -> dict[str, Column]:
        """Where goals begin that are over at ``hits``."""
        return {name: rows[1:] if self._problem.takes_step(name) else rows for name, rows in hits.items()}

    def _learn(self, hits: Mapping[str, Column], first: bool) -> None:
        """Note the distances between where goals begin, at ``hits``; ``first``: these runs start in init."""
        cells = max((rows.size for rows in hits.values()), default=0)
        self._budget.pairs(len(hits) ** 2 * cells)
        seen = gaps(hits, dict.fromkeys(self._goals, 0), self._goals)
        if first:
            seen |= {(INIT, name): place[0] for name in self._goals if (place := earliest(hits[name])) is not None}
        if self._problem.final is not None:
            seen |= gaps(hits, {name: int(goal.takes_step) for name, goal in self._goals.items()}, [FINAL])
        for edge, steps in seen.items():
            self.upper[edge] = min(steps, self.upper.get(edge, steps))

    def _look_around(self, run: Run) -> None:
        """Distances from the goals of ``run``, from the states in which they end, to whatever comes next."""
        population = self._population
        ends = population.ends[:, population.best()]
        for name, goal, end in zip(self._goals, self._goals.values(), ends.tolist(), strict=True):
            runs = self._budget.drawn(run.states[end], *AROUND) if end < NEVER else None
            if runs is None:
                continue
            hits = self._starts(self._events.hits(runs))
            self._learn(hits, False)
            for other, rows in hits.items():
                place = earliest(rows)
                if place is not None and other != name:
                    steps = goal.over(place[0])
                    self.upper[name, other] = min(steps, self.upper.get((name, other), steps))
