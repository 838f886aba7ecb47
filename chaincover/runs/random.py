"""What simulation alone tells: distances that certainly suffice, and a first chain, before a solver is asked.

Many random runs go on side by side. After every few steps those that have covered little, or what many have covered,
give way to copies of others: the goals add up within one run, and the steps until then are simulated once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
from greenlet import GreenletExit

from bmc.engines.protocol import WORK as NANOSECONDS
from bmc.errors import LimitReached
from bmc.explicit.batch import Batch, Runs, Watch, gaps
from bmc.explicit.branch_distance import BranchDistance, ModeGraph
from bmc.explicit.draws import Draws
from bmc.explicit.vectors import OVERHEAD, VALUE, Column
from bmc.system.transition import Run, Valuation
from chaincover.known import Board
from chaincover.limits import Limits
from chaincover.problem import Problem
from chaincover.runs.population import NEVER, Population
from chaincover.weights import FINAL, INIT, Edge
from properties.goal import Goal

WORK = 3.0
"""Units of work that all runs may take each time."""

PER_UNIT = round(NANOSECONDS / VALUE)
"""Operations on single values that take about a unit of work."""

PAIRS_PER_UNIT = 3_000_000_000
"""Pairs of goals, at one step of one run each, whose distance is looked at in about a unit of work."""

TIMES = 4
"""How often runs go on, each time with twice the patience. Once more: waits of twice as many steps are met."""

WIDTH = 1024
"""Runs side by side."""

STRIDE = 3
"""Steps until some runs give way to others."""

PATIENCE = 256, 0.15
"""Steps, and units of work, without a better run or a goal that no run had covered, after which there is no other."""

WAITS = 64, 4
"""After so many steps without news, and after twice as many each time, all runs wait for some times as many steps: what
a timer brings about needs inputs that all stay as they are."""

WAITED = 64
"""Steps of waiting that are looked at together."""

CHANGED = 0.05
"""Part of its inputs for which a run that is chosen draws anew how often they change."""

PART = 0.5
"""What it is worth, as a part of a goal, to be where it begins."""

CHOICE = 26
"""Operations on columns, for each goal and each variable of the state, that it takes to choose the runs that go on."""

RIVALS = 12
"""Runs, drawn at random, the best of which goes on."""

SHOWN = 128
"""Runs in which steps between modes are looked at."""

ENDINGS = ((128, 16), (128, 64), (256, 256))
"""Runs and their steps tried from one state until the final condition is met."""

AROUND = (128, 24)
"""Runs and their steps from the end of each goal of the chain, for the distances between goals."""

SEED = 1


def random_runs(board: Board) -> None:
    """A first chain by random runs, before any distance is asked for, and the distances that these runs show.

    Where goals are missing and states are not enumerated, the runs go on in later turns, ever more patiently.
    """
    board.say("simulate: random runs side by side")
    state = board.known.problem.system.state

    def offer(run: Run) -> None:
        simulated.distances = board.known.enumerated is None  # which give the exact ones
        board.offer(run if board.known.problem.system.state is state else board.replay(run))

    simulated = RandomRuns(board.problem, board.limits, board.options.bound)
    simulated.before_pause = offer
    for _ in range(TIMES):
        try:
            for run in simulated.runs():
                offer(run)
        except (LimitReached, GreenletExit):  # time or effort is over: what there is so far is worth telling
            best = simulated.best
            if best is not None:
                offer(best)
            raise
        for run in simulated.tests.values():
            offer(run)
        board.tell(observed={**board.known.observed, **simulated.upper})
        if board.known.complete or board.known.enumerated is not None:
            return


class _Budget:
    """Random runs of a batch, while there is work left; that of ``left`` units counts for ``limits`` too.

    ``check`` is called before each step.
    """

    def __init__(self, batch: Batch, limits: Limits, check: Callable[[], None]) -> None:
        self.batch, self._limits, self._check, self.left = batch, limits, check, WORK

    def spend(self, count: int, steps: int, more: int = 0) -> bool:
        """Count the work of so many runs and steps, and ``more`` operations; False if that is more than is left."""
        work = self.work(count, steps, more)
        if work > self.left:
            return False
        self.left -= work
        self._limits.spend(work)
        return True

    def work(self, count: int, steps: int, more: int = 0) -> float:
        """The units of work of so many runs and steps, and ``more`` operations."""
        return (steps * self.batch.nodes + more) * (count + OVERHEAD) / PER_UNIT

    def pairs(self, count: float) -> None:
        """Count the work of comparing so many pairs; it is done in any case."""
        self._limits.spend(count / PAIRS_PER_UNIT)

    def drawn(self, state: Valuation, count: int, steps: int) -> Runs | None:
        """Runs from ``state``; None when the work is used up. LimitReached when time is over."""
        return self.batch.draw(state, count, steps, self._check) if self.spend(count, steps) else None

    def go_on(self, population: Population, steps: int, more: int, waiting: bool = False) -> Runs | None:
        """The next steps of a population; None when the work is used up. LimitReached when time is over.

        No input changes while it is ``waiting``.
        """
        if not self.spend(len(population.alive), steps, more):
            return None
        manner = population.manner.still() if waiting else population.manner
        return self.batch.go_on(population.states, manner, steps, self._check)


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
        self._patience = 1
        self._batch = Batch(problem.system, [goal.antecedent for goal in problem.goals], SEED)
        self._watch = Watch({goal.name: (goal.antecedent, goal.length) for goal in problem.targets})
        self._random = Draws(SEED)
        self._modes = ModeGraph()
        told = {f"{var.name}@0": var.name for var in problem.system.state}
        self._distance = BranchDistance([goal.antecedent for goal in problem.goals], told, self._modes)
        ends = [goal.antecedent for goal in problem.targets if goal.name == FINAL]
        self._final = BranchDistance(ends, told, self._modes)
        self._budget = _Budget(self._batch, limits, self._check)
        self._population = self._begun(self._batch.initial(), len(problem.goals))
        self.upper: dict[Edge, int] = {}
        self.tests: dict[str, Run] = {}

    @property
    def _goals(self) -> Mapping[str, Goal]:
        return self._problem.by_name

    @property
    def _longest(self) -> int:
        """Steps of the longest goal."""
        return max((goal.length for goal in self._problem.goals), default=0)

    def _begun(self, state: Valuation, goals: int) -> Population:
        """All runs in ``state``, and so many goals to cover."""
        starts = self._batch.repeated(state, WIDTH)
        ends = np.full((goals, WIDTH), NEVER, np.int64)
        zeros = np.zeros(WIDTH, np.int64)
        return Population(starts, self._batch.manner(WIDTH), ends, zeros, zeros, np.full(WIDTH, True))

    @property
    def best(self) -> Run | None:
        """The run that has covered most goals so far; None if there is none."""
        inputs = self._population.inputs(self._population.best())
        return self._batch.run(self._batch.initial(), inputs)

    def _check(self) -> None:
        """Ask the limits whether to go on; what is known by then is told before they pause it."""
        if self._told < self._most and self._limits.turn_over:
            self._told = self._most
            self._limits.extend(sum(self._budget.work(count, steps) for count, steps in ENDINGS))
            self.before_pause(self._ended())
            self._limits.end_turn()
        self._limits.check()

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
            self._population = self._begun(self._batch.initial(), len(self._goals))
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
        """With a limit from goal to goal every step is looked at by itself."""
        return STRIDE * self._patience if self._within is None else 1

    def _wait(self, steps: int) -> bool:
        """Let all runs go on for about so many steps in which no input changes, or until no state does; False when no
        work is left.

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
        population, first = self._population, not self._population.steps
        choice = CHOICE * (len(self._goals) + len(population.states))
        runs = self._budget.go_on(population, steps or self._stride, choice, waiting)
        if runs is None:
            return False
        for name, values in runs.states.items():
            self._modes.learn(name, values[:, :SHOWN])
        before = 0 if population.tail is None else population.tail.steps
        joined = population.add(runs, self._longest)
        hits = self._watch.hits(joined)
        begun = population.steps - joined.steps
        if self._problem.forbid:
            self._credit_apart(hits, begun, 0 if first else before + 1, joined.steps)
        else:
            self._credit(hits, begun, -1 if first else before)
        return True

    def _credit(self, hits: Mapping[str, Column], begun: int, before: int) -> None:
        """Credit goals that end after ``before`` steps of what was seen, which began at the step ``begun``."""
        ends = self._population.ends
        for place, (name, goal) in enumerate(self._goals.items()):
            skipped = max(0, before + 1 - goal.length)
            rows = hits[name][skipped:]
            if rows.any():
                found = begun + skipped + rows.argmax(axis=0) + goal.length
                self._note(place, rows.any(axis=0) & (ends[place] == NEVER), found)

    def _credit_apart(self, hits: Mapping[str, Column], begun: int, first: int, last: int) -> None:
        """Credit goals that end from ``first`` to ``last``, at disjoint steps: those that end first come first."""
        population = self._population
        for end in range(first, last + 1):
            for place, (name, goal) in enumerate(self._goals.items()):
                start = end - goal.length
                if start < 0 or not hits[name][start].any():
                    continue
                new = hits[name][start] & (population.ends[place] == NEVER) & (population.free <= begun + start)
                self._note(place, new, np.full(len(new), begun + end))
                if goal.length:
                    population.free[new] = begun + end

    def _note(self, place: int, new: Column, ends: Column) -> None:
        """Credit the goal at ``place`` in runs where it is ``new``, unless it is too far from the goal before."""
        population = self._population
        if self._within is not None:
            length = list(self._goals.values())[place].length
            far = new & (ends - length - population.last > self._within)
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
        by_goals = _information(covered.sum(axis=1), len(alive)) @ np.where(covered, 1.0, self._nearness(alive))
        chosen = self._drawn(population, alive, by_goals)
        chosen[0] = np.lexsort((population.last[alive], -covered.sum(axis=0)))[0]
        population.select(alive[chosen])
        population.manner = self._batch.changed(population.manner, CHANGED)
        return True

    def _drawn(self, population: Population, alive: Column, worth: Column) -> Column:
        """``WIDTH`` places among the runs ``alive``, of some rivals each time the one of most ``worth``; for a quarter
        it is the one whose values of the state few runs have."""
        by_values = np.zeros(len(alive))
        for values in population.states.values():
            by_values += _commonness(values[alive])
        drawn = self._random.below(len(alive), (WIDTH, RIVALS))
        first = worth[drawn].argmax(axis=1)
        first[::4] = by_values[drawn[::4]].argmax(axis=1)
        chosen: Column = drawn[np.arange(WIDTH), first]
        return chosen

    def _nearness(self, alive: Column) -> Column:
        """For each goal and run a part of 1: the less, the farther the state is from a start of the goal."""
        columns = {f"{name}@0": values[alive] for name, values in self._population.states.items()}
        found = np.array(self._distance(columns, len(alive))).reshape(len(self._goals), len(alive))
        return PART / (1 + found)

    def _ended(self) -> Run:
        """The best run, to the end where there is a way, else as it is: its goals are seen all the same."""
        start = self._batch.initial()
        inputs = self._population.inputs(self._population.best())
        ending = self._to_end(self._batch.run(start, inputs).states[-1])
        return self._batch.run(start, [*inputs, *(ending or [])])

    def _reach(self) -> None:
        """Tests of goals, and distances, by runs from init; far ones where there is a limit from goal to goal."""
        for count, steps in [AROUND] if self._within is None else ENDINGS:
            runs = self._budget.drawn(self._batch.initial(), count, steps)
            if runs is None:
                return
            hits = self._watch.hits(runs)
            self._keep_tests(runs, hits)
            if self.distances:
                self._learn(hits, True)

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
        for name, goal in self._goals.items():
            place = _earliest(hits[name])
            if place is not None and name not in self.tests:
                step, number = place
                self.tests[name] = self._batch.run(start, runs.run_inputs(number, step + goal.length))

    def _to_end(self, state: Valuation) -> list[dict[str, int]] | None:
        """The inputs from ``state`` to the final condition."""
        if self._problem.final is None:
            return []
        within = slice(None if self._within is None else self._within + 1)
        for count, steps in ENDINGS:
            runs = self._budget.drawn(state, count, steps)
            place = None if runs is None else _earliest(self._watch.hits(runs)[FINAL][within])
            if runs is not None and place is not None:
                return runs.run_inputs(place[1], place[0])
        return self._approach(state) if self._within is None else None

    def _approach(self, state: Valuation) -> list[dict[str, int]] | None:
        """The inputs from ``state`` to the final condition, by runs of which those that are nearer to it go on."""
        population = self._begun(state, 1)
        choice = CHOICE * (1 + len(population.states))
        for _ in range(0, PATIENCE[0] * self._patience, STRIDE):
            runs = self._budget.go_on(population, STRIDE, choice)
            if runs is None:
                return None
            for name, values in runs.states.items():
                self._modes.learn(name, values[:, :SHOWN])
            place = _earliest(self._watch.hits(population.add(runs, 0))[FINAL])
            if place is not None:
                population.ends[0, place[1]] = population.steps - STRIDE + place[0]
                return population.inputs(place[1])
            alive = np.flatnonzero(population.alive)
            if not len(alive):
                return None
            columns = {f"{name}@0": values[alive] for name, values in population.states.items()}
            (far,) = self._final(columns, len(alive))
            population.select(alive[self._drawn(population, alive, -far)])
            population.manner = self._batch.changed(population.manner, CHANGED)
        return None

    def _learn(self, hits: Mapping[str, Column], first: bool) -> None:
        """Note the distances that runs show; ``first``: they start in init."""
        cells = max((rows.size for rows in hits.values()), default=0)
        self._budget.pairs(len(hits) ** 2 * cells)
        least = {name: goal.length if self._problem.forbid else 0 for name, goal in self._goals.items()}
        seen = gaps(hits, least, self._goals)
        if first:
            seen |= {(INIT, name): place[0] for name in self._goals if (place := _earliest(hits[name])) is not None}
        if self._problem.final is not None:
            seen |= gaps(hits, {name: goal.length for name, goal in self._goals.items()}, [FINAL])
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
            hits = self._watch.hits(runs)
            self._learn(hits, False)
            for other, rows in hits.items():
                place = _earliest(rows)
                if place is not None and other != name:
                    steps = goal.length + place[0]
                    self.upper[name, other] = min(steps, self.upper.get((name, other), steps))


def _information(counts: Column, runs: int) -> Column:
    """What it tells of a run that it is one of ``counts`` among so many, in bits, and one more."""
    found: Column = 1 + np.log2(runs / np.maximum(counts, 1))
    return found


FEW = 32
"""Values of a variable that are told apart; of more, only how many bits they have."""


def _commonness(values: Column) -> Column:
    """How much the value that each run has of a variable tells of it, by how many runs have that value."""
    if values.dtype == object:
        return np.zeros(len(values))
    if values.dtype.itemsize == 1:
        often = np.bincount(values)
        if np.count_nonzero(often) <= FEW:
            found: Column = _information(often, len(values))[values.astype(np.uint8)]
            return found
    different, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    if len(different) > FEW:
        _, place, counts = np.unique(np.frexp(values.astype(float))[1], return_inverse=True, return_counts=True)
    return _information(counts, len(values))[place]


def _earliest(rows: Column) -> tuple[int, int] | None:
    """The first step at which something holds, and the first number where it does."""
    steps = np.flatnonzero(rows.any(axis=1))
    return (int(steps[0]), int(np.argmax(rows[steps[0]]))) if len(steps) else None
