"""Goals that random runs do not meet: by runs, waits and questions to a solver from states that few runs reach.

Random runs get through long waits and see many states, but hardly ever send a telegram with the right checksum; a
solver finds that in a moment, but only a few steps ahead. So each goes on from where the other one came to (Majumdar
and Sen, Hybrid concolic testing, 2007; Stephens et al., Driller, 2016).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE, Not, Or

from bmc.engines.protocol import SEED, Group, GroupSession, Placed, Session, Status
from bmc.evaluation.vectors import Column, Columns, Program
from bmc.explicit.batch import NEVER, Batch, EventFinder, Runs
from bmc.explicit.branch_distance import BranchDistance, ModeGraph
from bmc.formulas.unroll import at, unplaced
from bmc.system.simulation import Simulator
from bmc.system.transition import Run, Valuation
from chaincover.known import Board
from chaincover.limits import BRIEF, PER_UNIT
from chaincover.problem import Questions
from chaincover.runs.archive import KEPT, Archive, Inputs
from chaincover.runs.budget import WORK, Budget, Share
from chaincover.runs.population import CHOICE, WIDTH
from chaincover.runs.random import WAITED
from chaincover.runs.ways import Endings
from properties.goal import Goal

EACH = 8
"""Runs that go on from one state, and that wait there."""

STEPS = 16
"""Steps of random runs from a state, and of questions about one that was not asked about before."""

DEEPER = 3
"""How often questions about a state go twice as far as before."""

WAITS = (256, 4096)
"""Steps for which runs wait at first, and at most."""

ASKED = 64
"""States that one question is about at most."""

ROUND = 0.01
"""Units of work that the choice of states, and what is noted of them, take however small the program is."""

ANEW = 64
"""Questions after which what was encoded of the states that they were about is forgotten. With twice as many, it takes
twice the memory."""


AWAY = 1.0
"""The turn of this stage, as a part of what the others had since its last one. With half as much, goals that are hard
to meet are found later, and bounds of chains through the others earlier."""


def explore(board: Board) -> None:
    """Runs through ever more goals, and tests of single ones, until a chain covers all.

    Not where there is a bound K on the steps from goal to goal: the ways from an archive are no shortest ones.
    """
    if board.options.bound is not None:
        return
    board.say("explore: runs and questions from states that few runs have reached")
    search = None
    while not (board.known.complete or board.known.no_chain):
        if search is None or search.archive.full or search.problem is not board.known.problem:
            search = Exploration(board)
        search.go_on()


class Exploration:
    """The archive of a run, and the means that add to it, each with as much work: ways to the final condition,
    questions, ways to goals joined to each other, waits and random runs."""

    def __init__(self, board: Board) -> None:
        self._board, self._limits, self.problem = board, board.limits, board.known.problem
        problem = self.problem
        self._batch = Batch(problem.system, [goal.antecedent for goal in problem.goals], SEED)
        self._share = Share(self._limits, AWAY)
        self._begun = self._limits.spent
        self._check = self._share.check
        self._budget = Budget(self._batch, self._limits, self._check)
        self._events = EventFinder({goal.name: (goal.antecedent, goal.takes_step) for goal in problem.targets})
        self._endings = Endings(problem, self._budget, self._events, ModeGraph(), None)
        told = {f"{var.name}@0": var.name for var in problem.system.state}
        self._distance = BranchDistance([goal.antecedent for goal in problem.goals], told, ModeGraph())
        self._simulator = Simulator(problem.system)
        self._final = Program([TRUE() if problem.final is None else problem.final])
        self._questions = Questions(problem, board.engine, self._limits)
        read = unplaced([goal.antecedent for goal in problem.targets])
        self.archive = Archive(problem.system, len(problem.goals), self._batch.initial(), read)
        self._taken: dict[int, Run] = {}
        self._tests: dict[int, int] = {}
        self._wait, self._asks = WAITS[0], 0
        self._from_any: Session
        means = (self._end, self._ask, self._join, self._await, self._draw)
        self._spent: dict[Callable[[], bool], float] = dict.fromkeys(means, 0.0)
        self._tried = {each: np.zeros(KEPT, np.int64) for each in means}

    def go_on(self) -> None:
        """Let those means go on that have had least work so far and have something to do; what brings much counts for
        less."""
        self._take_known()
        self._limits.spend(ROUND)
        for means in sorted(self._spent, key=lambda each: self._spent[each]):
            before, self._budget.left = self._limits.spent - self._share.away, WORK
            brought = self._brought
            done = means()
            self._check()
            spent = self._limits.spent - self._share.away - before
            self._spent[means] += spent / (1 + self._brought - brought)
            if done:
                return

    @property
    def _brought(self) -> int:
        """How many goals have a test, how many were covered on the way to one state, and how many conditions held, and
        did not, in some state: what means are to bring."""
        return len(self._tests) + self.archive.most + int(self.archive.seen.sum())

    def _met(self) -> None:
        """Something was found that no run had met: the turn lasts for as much again as all had until then."""
        self._limits.extend(self._limits.spent - self._share.away - self._begun)

    @property
    def _most(self) -> int:
        """How many goals the best chain covers."""
        chain = self._board.known.chain
        return 0 if chain is None else len(chain.goals)

    def _take_known(self) -> None:
        """Note what the chain reaches, and tests of goals, that others have found."""
        known, start = self._board.known, self.archive.state(0)
        for run in (*known.seen.values(), *([known.chain.run] if known.chain is not None else [])):
            if id(run) not in self._taken and run.states[0] == start:
                self._taken[id(run)] = run
                self._add(0, run)

    def _add(self, begun: int, run: Run) -> None:
        """Note what ``run`` from the state of that number reaches."""
        self._limits.spend(run.length * len(run.states[0]) / PER_UNIT.values)
        runs = self._batch.taken(run)
        self._note(np.array([begun]), runs, self._first(runs, self._never(1), 0), [], 0)

    def _never(self, width: int) -> Column:
        return np.full((len(self.problem.goals), width), NEVER)

    def _first(self, runs: Runs, first: Column, offset: int) -> Column:
        """``first``, for each goal and run the step at which it is covered, with what ``runs`` cover, which begin at
        the step ``offset``."""
        hits, found = self._events.hits(runs), first.copy()
        for place, goal in enumerate(self.problem.goals):
            rows = hits[goal.name]
            if rows.any():
                met = np.where(rows.any(axis=0), offset + rows.argmax(axis=0), NEVER)
                found[place] = np.minimum(found[place], met)
        return found

    def _note(self, begun: Column, runs: Runs, first: Column, lead: Sequence[Inputs], offset: int) -> None:
        """Note what ``runs`` reach, see ``Archive.add``, and offer what is better than what is known."""
        fresh = self.archive.add(begun, runs, first, lead, offset)
        covers = self.archive.covers[fresh]
        counts = covers.sum(axis=1)
        if counts.max(initial=0) > self._most:
            ended = np.flatnonzero(np.broadcast_to(self._final(self.archive.columns(fresh))[0], len(fresh)))
            if len(ended):
                self._offer(int(fresh[ended[np.lexsort((self.archive.steps[fresh[ended]], -counts[ended]))[0]]]))
        for goal in np.flatnonzero(covers.any(axis=0)).tolist():
            if goal not in self._tests:
                covering = fresh[covers[:, goal]]
                self._tests[goal] = int(covering[self.archive.steps[covering].argmin()])
                self._offer(self._tests[goal])
                self._met()

    def _offer(self, number: int, ending: Sequence[Valuation] = ()) -> None:
        """Offer the run to the state of that number, and on by ``ending``."""
        inputs, before = [*self.archive.inputs(number), *ending], self._most
        self._limits.spend(len(inputs) * self._batch.nodes / PER_UNIT.simulated)
        self._board.offer(self._batch.run(self._batch.initial(), inputs))
        if self._most > before:
            self._met()

    def _walk(self, begun: Column, steps: int, blocks: int, go_on: Callable[[Columns, Column, int], Runs]) -> None:
        """Note what runs from the states ``begun`` reach in so many blocks of ``steps``, which ``go_on`` makes of the
        states before it, the runs that go on, and its number. A run is over where a step is not allowed."""
        states, lead, offset = self.archive.columns(begun), list[Inputs](), 0
        first, left = self._never(len(begun)), np.arange(len(begun))
        for block in range(blocks):
            if not len(left) or not self._budget.spend(len(left), steps, steps * self.archive.size):
                return
            runs = go_on(states, left, block)
            first = self._first(runs, first, offset)
            self._note(begun[left], runs, first, lead, offset)
            kept = np.flatnonzero(runs.valid == runs.steps)
            left, first = left[kept], first[:, kept]
            states = {name: values[-1][kept] for name, values in runs.states.items()}
            lead = [{name: values[:, kept] for name, values in part.items()} for part in (*lead, runs.inputs)]
            offset += runs.steps

    def _chosen(self, means: Callable[[], bool], count: int) -> Column:
        """States to go on from: a quarter of them such that many goals were covered before, a quarter near to goals
        that no run has met, the others rare."""
        tried, each = self._tried[means], count // 4
        others = self.archive.varied if means == self._await else self.archive.rare
        chosen = np.r_[self.archive.rich(tried, each), self._near(tried, each), others(tried, count)]
        chosen = np.unique(chosen[:count])
        tried[chosen] += 1
        return chosen

    def _near(self, tried: Column, count: int) -> Column:
        """States that are nearest to goals which no run has met, as many for each; where less was tried first."""
        met, kept = np.isin(np.arange(len(self.problem.goals)), [*self._tests]), self.archive.kept
        missing = [place for place, goal in enumerate(self.problem.goals) if goal in self._missing(met)]
        states = self.archive.columns(kept)
        if not missing or not self._budget.spend(len(kept), 0, CHOICE * (len(missing) + len(states))):
            return np.zeros(0, np.int64)
        far = self._distance({f"{name}@0": values for name, values in states.items()}, len(kept))
        orders = [np.lexsort((far[place], tried[kept]))[: -(-count // len(missing))] for place in missing]
        return kept[np.concatenate(orders)][:count]

    def _draw(self) -> bool:
        """Random runs."""
        begun = np.repeat(self._chosen(self._draw, WIDTH // EACH), EACH)
        manner = self._batch.manner(len(begun))
        self._walk(begun, STEPS, 1, lambda states, *_: self._batch.go_on(states, manner, STEPS, self._check))
        return True

    def _await(self) -> bool:
        """Runs in which no input changes, for ever more steps: in half of them all are at rest, in a quarter they stay
        as they were when the state was reached. A run is over once nothing changes any more."""
        begun = np.repeat(self._chosen(self._await, WIDTH // EACH // EACH), EACH)
        manner = self._batch.manner(len(begun)).still()
        self._budget.spend(len(begun), 1)
        drawn = self._batch.go_on(self.archive.columns(begun), manner, 1, self._check).inputs
        held = self.archive.last(begun, {name: values[0] for name, values in drawn.items()}, EACH // 2)

        def go_on(states: Columns, left: Column, _: int) -> Runs:
            own = manner.of(left, {name: values[left] for name, values in held.items()})
            runs = self._batch.go_on(states, own, WAITED, self._check)
            for name, values in runs.inputs.items():
                held[name][left] = values[-1]
            changed = np.logical_or.reduce([values[-1] != values[0] for values in runs.states.values()])
            return replace(runs, valid=np.where(changed, runs.valid, np.minimum(runs.valid, WAITED - 1)))

        self._walk(begun, WAITED, self._wait // WAITED, go_on)
        self._wait = WAITS[0] if self._wait >= WAITS[1] else 2 * self._wait
        return True

    def _join(self) -> bool:
        """The last parts of ways to goals, from a state on the way to which most goals were covered, but not those."""
        archive, tried = self.archive, self._tried[self._join]
        here = int(archive.rich(tried, 1)[0])
        missing = [test for goal, test in self._tests.items() if not archive.covers[here, goal]]
        if not missing or tried[here]:
            return False
        tried[here] += 1
        ways = [way for test in missing for way in archive.endings(test)][:WIDTH]
        if not ways:
            return False
        lengths = np.array([len(next(iter(way.values()))) for way in ways])
        rows = np.minimum(np.arange(lengths.max())[:, None], lengths - 1)
        inputs = {n: np.stack([w[n][rows[:, k]] for k, w in enumerate(ways)], axis=1) for n in ways[0]}

        def go_on(states: Columns, left: Column, block: int) -> Runs:
            part = slice(block * WAITED, (block + 1) * WAITED)
            own = {name: values[part, left] for name, values in inputs.items()}
            return self._batch.follow(states, own, self._check)

        self._walk(np.full(len(ways), here), WAITED, -(-int(lengths.max()) // WAITED), go_on)
        return True

    def _end(self) -> bool:
        """A way to the final condition, from a state on the way to which more goals were covered than by the chain."""
        archive, tried = self.archive, self._tried[self._end]
        here = int(archive.rich(tried, 1)[0])
        if archive.covers[here].sum() <= self._most:
            return False
        tried[here] += 1
        ending = self._endings.find(archive.state(here), WAITED)
        if ending is None:
            run = self._asked(here, self.problem.end_formulas, STEPS)
            ending = None if run is None else [dict(values) for values in run.inputs]
        self._offer(here, ending or [])
        return True

    def _ask(self) -> bool:
        """A question for a way to a missing goal from a state on the way to which most goals were covered; where there
        is none, one for a way to what no run has met from any of many states."""
        here = int(self.archive.rich(self._tried[self._ask], 1)[0])
        missing = self._missing(self.archive.covers[here])
        run = self._asked(here, lambda step: self._any(missing, step), self._ahead(np.array([here])))
        if run is not None:
            self._add(here, run)
            return True
        numbers = self.archive.rare(self._tried[self._ask], ASKED)
        steps = self._ahead(numbers)
        if ways := self._new_ways(steps):
            self._limits.spend(steps * len(self.archive.conditions) / PER_UNIT.places)
            self._check()
            self._ask_from(numbers.tolist(), ways)
        return True

    def _ask_from(self, numbers: Sequence[int], ways: tuple[Placed, ...]) -> None:
        """Ask for one of ``ways`` from one of the states of these ``numbers``; from the first, where the engine asks
        about one state at a time."""
        if self._asks % ANEW == 0:
            self._from_any = self._questions.session(TRUE())
        self._asks += 1
        session, seconds, effort = self._from_any, self._limits.for_query(), self._limits.question()
        if isinstance(session, GroupSession):
            answer = session.check_groups(
                [Group(self._questions.in_state(self.archive.state(n)), ways) for n in numbers], seconds, effort
            )
        else:
            session = self._questions.session_from(self.archive.state(numbers[0]))
            answer = session.check_any([(way.formula, way.steps) for way in ways], seconds, effort)
        if answer.status is Status.SAT:
            run = self._simulator.valid_part(session.run())
            start = {var.name: run.states[0][var.name] for var in self.problem.system.state}
            self._add(next(number for number in numbers if self.archive.state(number) == start), run)

    def _new_ways(self, steps: int) -> tuple[Placed, ...]:
        """What no run has met so far, goals and conditions of states, after up to so many ``steps``."""
        missing = self._missing(np.isin(np.arange(len(self.problem.goals)), [*self._tests]))
        unseen = [condition if value else Not(condition) for condition, value in self.archive.unseen()]
        placed = [(k, [*self._any(missing, k), *(at(each, k) for each in unseen)]) for k in range(1, steps + 1)]
        return tuple(Placed(Or(parts), 0, step) for step, parts in placed if parts)

    def _ahead(self, numbers: Column) -> int:
        """The steps that a question about these states looks ahead: twice as many as the last time."""
        tried = self._tried[self._ask]
        steps = STEPS << min(int(tried[numbers].min()), DEEPER)
        tried[numbers] += 1
        return steps

    def _missing(self, covered: Column) -> list[Goal]:
        """The goals that a chain is sought for and that are not ``covered``."""
        wanted = {*self._board.known.targets}
        return [g for g, done in zip(self.problem.goals, covered, strict=True) if g.name in wanted and not done]

    @staticmethod
    def _any(goals: Sequence[Goal], step: int) -> list[FNode]:
        """That one of ``goals`` ends at ``step``, where one can; nothing else."""
        parts = [goal.ending(step) for goal in goals if goal.over(0) <= step]
        return [Or(parts)] if parts else []

    def _asked(self, here: int, formulas: Callable[[int], Sequence[FNode]], most: int) -> Run | None:
        """A run from the state of that number of the fewest steps, up to ``most``, for the ``formulas`` of its length;
        None where none was found."""
        session = self._questions.session_from(self.archive.state(here))
        for steps in range(most + 1):
            asked = formulas(steps)
            if not asked:
                continue
            self._check()
            status = session.check(asked, steps, self._limits.for_query(), BRIEF).status
            if status is Status.SAT:
                return session.run()
            if status is Status.UNKNOWN:
                return None
        return None
