"""Algorithm 10 (GetKreachEdges): the weights of the edges between goals, decided by questions to an engine.

The weight of an edge is the least number of steps from the start of its source to the start of its target. For each
edge a lower bound and an upper bound are kept. A question asks for a run with a distance between the two. If there is
no such run, lower bounds rise; if there is one, it shows distances, which are upper bounds, for many pairs of goals at
once. An edge is decided when its bounds meet. All questions are put to incremental sessions, so that the step of the
system is encoded once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import cached_property, partial
from itertools import chain
from typing import Any

import numpy as np
from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE

from bmc.engines.protocol import Answer, Group, GroupSession, Placed, Session, Status
from bmc.errors import CheckDisagreed, counted
from bmc.explicit.batch import NEVER
from bmc.formulas.unroll import shift
from bmc.records import dataclass
from bmc.system.simulation import Simulator
from bmc.system.transition import Run
from chaincover.problem import Questions
from chaincover.weights import FINAL, INIT, Edge
from properties.monitor import Monitor

Numbers = np.ndarray[Any, np.dtype[np.int64]]


class Distances:
    """The least distance that any run so far has shown, for each pair of nodes.

    ``goals`` has for each goal whether it takes a step: the final condition, if there is one, holds no earlier
    than after that.
    """

    def __init__(self, goals: Mapping[str, bool]) -> None:
        self._names = [INIT, *goals, FINAL]
        self._take_step = np.array([False, *goals.values()])
        self._best = np.full((len(goals) + 1, len(goals) + 1), NEVER, np.int64)
        for place in range(len(goals)):
            self._best[place + 1, place] = -1

    def shorter(self, covered: Mapping[str, Sequence[int]], steps: int) -> dict[Edge, int]:
        """Take in a run of ``steps`` steps; return the edges that it makes in fewer steps than any run before it.

        ``covered`` has, for each goal, the steps at which the run covers it, in rising order; likewise for FINAL, if
        there is a final condition, and for INIT, if the run starts there. The result gives the new least distance of
        each such edge, source by source, with the targets in the order of the goals.
        """
        here, counts, starts = _occurrences(self._names, covered)
        held = np.full((steps + 2, len(self._names)), 2 * NEVER, np.int64)
        places = np.repeat(here, counts)
        held[starts, places] = starts
        following = np.minimum.accumulate(held[::-1, 1:])[::-1]
        ends = len(here) and here[-1] == len(self._names) - 1
        if ends:
            last = len(starts) - counts[-1]
            here, counts, starts, places = here[:-1], counts[:-1], starts[:last], places[:last]
        if not len(here):
            return {}
        reached = following[starts]
        if ends:
            reached[:, -1] = following[starts + self._take_step[places], -1]
        nearest = np.minimum.reduceat(reached - starts[:, None], np.cumsum(counts) - counts)
        best = self._best[here]
        sources, targets = np.nonzero(nearest < best)
        if not len(sources):
            return {}
        self._best[here] = np.minimum(best, nearest)
        found = zip(here[sources].tolist(), targets.tolist(), nearest[sources, targets].tolist(), strict=True)
        return {(self._names[source], self._names[target + 1]): distance for source, target, distance in found}


def _occurrences(names: Sequence[str], covered: Mapping[str, Sequence[int]]) -> tuple[Numbers, Numbers, Numbers]:
    """The places of those of ``names`` that the run covers, how often it covers each, and all these steps in a row."""
    steps = [covered.get(name, ()) for name in names]
    counts = np.fromiter(map(len, steps), np.int64, len(steps))
    here = np.flatnonzero(counts)
    return here, counts[here], np.fromiter(chain.from_iterable(steps), np.int64)


Told = Callable[[Run], object]
"""Is told a run."""

Ask = Callable[[float | None, int | None], Answer]
"""Puts a question with a time limit in seconds and an effort."""


class EdgeSearch:
    """Decides the open edges of rows up to a given distance; a row has the edges from one source (see ``Row``).

    Where the engine can, one question is about all rows together: is there a run, from any state, that starts with any
    source and covers one of its targets at one of the distances asked for? Where the engine cannot, or gives up on
    that, each row is asked for by itself, in a session whose runs start with its source.
    """

    def __init__(self, questions: Questions, told: Told = lambda run: None) -> None:
        """``told`` is called with every run found that starts in init."""
        self._told = told
        self._questions, problem = questions, questions.problem
        self._sources = {goal.name: goal for goal in (problem.start, *problem.goals)}
        self._targets = {goal.name: goal for goal in problem.targets}
        self._monitor = Monitor([problem.start, *problem.targets])
        ends = problem.final is not None
        self._distances = Distances({goal.name: ends and goal.takes_step for goal in problem.goals})
        self._simulator = Simulator(problem.system)
        self._sessions: dict[str, Session] = {}
        self._moved: dict[tuple[FNode, int], FNode] = {}
        self._places: dict[int, dict[tuple[str, int], Placed]] = {}
        self.queries = 0

    def unsatisfiable(self, names: Sequence[str]) -> list[str]:
        """Those of the goals ``names`` that no run satisfies at all, from whatever state."""
        left, anywhere = list(names), self._anywhere
        while left and isinstance(anywhere, GroupSession):
            groups = [
                Group(self._sources[name].antecedent, (Placed(TRUE(), 0, self._sources[name].over(0)),))
                for name in left
            ]
            status = self._counted(partial(anywhere.check_groups, groups))
            if status is Status.UNSAT:
                return left
            if status is Status.UNKNOWN:
                break
            covered = self._monitor.covered(self._simulator.valid_part(anywhere.run()))
            if not any(covered[name] for name in left):
                raise CheckDisagreed(f"the engine's run satisfies none of {', '.join(left)}")
            left = [name for name in left if not covered[name]]
        return [name for name in left if not self._satisfiable(name)]

    def _satisfiable(self, source: str) -> bool:
        session, steps = self._session(source), self._sources[source].over(0)
        return self._counted(lambda limit, effort: session.check([], steps, limit, effort)) is not Status.UNSAT

    def ask_all(self, rows: Sequence[Row], upper: Upper, to: int) -> None:
        """Decide the open edges of all ``rows`` at distances up to ``to``: all rows together, else one after the other.

        What runs show is entered into ``upper``, and what is decided into the rows.
        """
        together = self._anywhere
        if isinstance(together, GroupSession) and self._ask_together(together, rows, upper, to):
            return
        for row in rows:
            self.ask(row, upper, to)

    def _ask_together(self, session: GroupSession, rows: Sequence[Row], upper: Upper, to: int) -> bool:
        """Decide the open edges of ``rows`` up to ``to`` by questions about all of them; False if the solver gave up.

        The distances asked for are bisected: a question is about those up to ``nearest``. A run halves the way from the
        least open distance to it; without a run these distances are ruled out, and ``nearest`` is ``to`` again.
        """
        nearest = to
        left = {row.source: found for row in rows if (found := OpenEdges(row, upper, to)).ranges}
        while left:
            least = min([found.least for found in left.values()])
            nearest = max(nearest, least)
            groups = self._groups(left.values(), nearest)
            status = self._counted(partial(session.check_groups, groups))
            if status is Status.UNKNOWN:
                return False
            if status is Status.SAT:
                if not self._take_all(self._enter(session.run(), upper), left, upper, nearest):
                    raise CheckDisagreed("the engine's run reaches none of the goals that were asked for")
                nearest = (least + nearest) // 2
            else:
                for source, found in list(left.items()):
                    found.rule_out(upper, nearest)
                    if not found.ranges:
                        del left[source]
                nearest = to
        return True

    def _take_all(
        self, seen: Mapping[str, Mapping[str, int]], left: dict[str, OpenEdges], upper: Upper, nearest: int
    ) -> bool:
        """Enter the new distances ``seen`` into ``left``; whether one of them was asked for, up to ``nearest``."""
        hit = False
        for source, distances in seen.items():
            if source in left:
                hit = left[source].take_hits(distances, upper, nearest) or hit
                if not left[source].ranges:
                    del left[source]
        return hit

    def _groups(self, asked: Iterable[OpenEdges], nearest: int) -> list[Group]:
        """The question about distances up to ``nearest``: a group for each source with its targets.

        What did not change keeps its group, which the session then need not encode again.
        """
        groups = []
        for found in asked:
            kept = found.asked
            if kept is None or kept[0] != nearest:
                source = self._sources[found.row.source]
                placed = self._placed(source.name, found.up_to(nearest))
                kept = found.asked = nearest, Group(source.antecedent, placed)
            if kept[1].alternatives:
                groups.append(kept[1])
        return groups

    def _placed(self, source: str, asked: Question) -> tuple[Placed, ...]:
        """The targets ``asked`` for, placed at their distances from ``source``, with the steps that must be valid."""
        least = self._sources[source].over(0)
        places = self._places.setdefault(least, {})
        for name, distance in asked:
            if (name, distance) not in places:
                target = self._targets[name]
                steps = max(least, target.over(distance))
                places[name, distance] = Placed(target.antecedent, distance, steps)
        return tuple([places[each] for each in asked])

    @cached_property
    def _anywhere(self) -> Session:
        """The session over runs from all states."""
        formulas = [target.antecedent for target in self._targets.values()]
        return self._questions.engine.session(self._questions.problem.system, TRUE(), formulas)

    def ask(self, row: Row, upper: Upper, to: int) -> None:
        """Decide the open edges of ``row`` at distances up to ``to``, in the session of its source.

        What runs show is entered into ``upper``. Where a run has shown a distance it is only asked whether there are
        shorter ones. LimitReached when time is over: what was found until then stays in ``row``.
        """
        nearest = to
        while open_ones := OpenEdges(row, upper, to).up_to(to):
            nearest = max(nearest, min(d for _, d in open_ones))
            asked = [(target, d) for target, d in open_ones if d <= nearest]
            if self._ask(row, upper, asked, set()) is Status.SAT:
                nearest = (min(d for _, d in open_ones) + max(d for _, d in asked)) // 2
            else:
                nearest = to

    def _ask(self, row: Row, upper: Upper, asked: Question, given_up: set[str]) -> Status:
        """Ask whether a run meets one of the targets ``asked`` at its distance, and enter the answer into ``row``.

        Where the solver gives up, the parts of the question are asked one by one (UNKNOWN is returned all the same):
        target by target, and for one target the nearer half of its distances first. A target on which the solver gives
        up even at a single distance comes into ``given_up``; its farther distances, which are mostly no easier, are
        then left open without asking.
        """
        status = self._counted(self._question(self._session(row.source), self._placed(row.source, asked)))
        if status is Status.SAT:
            self._take_hits(row.source, upper, asked)
        elif status is Status.UNSAT or len(asked) == 1:
            for target, distance in asked:
                row.rule_out(target, distance, proved=status is Status.UNSAT)
                if status is Status.UNKNOWN:
                    given_up.add(target)
        else:
            for part in _parts(asked):
                while part := [(t, d) for t, d in _shorter(row.source, upper, part) if row.pending[t] <= d]:
                    if part[0][0] in given_up:
                        row.rule_out(*part[-1], proved=False)
                    elif self._ask(row, upper, part, given_up) is not Status.SAT:
                        break
        return status

    def _question(self, session: Session, placed: tuple[Placed, ...]) -> Ask:
        """The question whether a run of ``session`` covers one of ``placed``."""
        if isinstance(session, GroupSession):
            return partial(session.check_groups, [Group(TRUE(), placed)])
        return partial(session.check_any, [(self._shifted(each), each.steps) for each in placed])

    def _take_hits(self, source: str, upper: Upper, asked: Question) -> None:
        """Note the distances that the session's run shows; CheckDisagreed if it shows none that was asked for."""
        self._enter(self._sessions[source].run(), upper)
        if _shorter(source, upper, asked) == asked:
            names = ", ".join(dict.fromkeys(target for target, _ in asked))
            raise CheckDisagreed(f"the engine's run from {source} reaches none of {names}")

    def _enter(self, run: Run, upper: Upper) -> dict[str, dict[str, int]]:
        """Enter into ``upper`` what a session's ``run`` shows; what is new of it, by source and target."""
        valid = self._simulator.valid_part(run)
        covered = self._monitor.covered(valid)
        if 0 in covered[INIT]:
            self._told(valid)
        found = self._distances.shorter(covered, valid.length)
        enter(upper, found)
        new: dict[str, dict[str, int]] = {}
        for (source, target), steps in found.items():
            new.setdefault(source, {})[target] = steps
        return new

    def _session(self, source: str) -> Session:
        if source not in self._sessions:
            formulas = [target.antecedent for target in self._targets.values()]
            antecedent = self._sources[source].antecedent
            self._sessions[source] = self._questions.engine.session(
                self._questions.problem.system, antecedent, formulas
            )
        return self._sessions[source]

    def _shifted(self, placed: Placed) -> FNode:
        key = (placed.formula, placed.later)
        if key not in self._moved:
            self._moved[key] = shift(*key)
        return self._moved[key]

    def _counted(self, ask: Ask) -> Status:
        limits = self._questions.limits
        limit = limits.for_query()
        self.queries += 1
        status = ask(limit, limits.question()).status
        if status is Status.UNKNOWN:
            limits.check()
        return status


def enter(upper: Upper, seen: Mapping[Edge, int]) -> None:
    """Enter into ``upper`` the distances ``seen`` that are shorter."""
    for edge, steps in seen.items():
        if steps < upper.get(edge, steps + 1):
            upper[edge] = steps


def _shorter(source: str, upper: Upper, asked: Question) -> Question:
    """The part of ``asked`` that no run has shown yet."""
    return [(target, d) for target, d in asked if d < upper.get((source, target), d + 1)]


def _parts(asked: Question) -> list[Question]:
    """``asked`` by target, that of one target in halves, nearer distances first."""
    targets = list(dict.fromkeys(target for target, _ in asked))
    if len(targets) > 1:
        return [[(t, d) for t, d in asked if t == target] for target in targets]
    return [asked[: len(asked) // 2], asked[len(asked) // 2 :]]


Question = list[tuple[str, int]]
"""Targets with distances: is one of them met?"""

Upper = dict[Edge, int]
"""Distances in steps that runs were seen to make."""


@dataclass
class Row:
    """What is known of the edges from ``source``, by target.

    ``pending`` has, for each edge that is not decided, the least distance that is still to be asked for. ``lower`` has
    for each edge the least distance that is not proved to be impossible, ``weights`` the distance of each edge that was
    found. ``unknown`` are targets on which the solver gave up at some distance: their ``pending`` may be above their
    ``lower``.
    """

    source: str
    pending: dict[str, int]
    lower: dict[str, int]
    weights: dict[str, int] = field(default_factory=dict)
    unknown: dict[str, None] = field(default_factory=dict)

    def rule_out(self, target: str, distance: int, proved: bool) -> None:
        """Move ``target`` beyond a distance; its lower bound follows only as far as all was ``proved``."""
        self.pending[target] = max(self.pending[target], distance + 1)
        if not proved:
            self.unknown[target] = None
        elif target not in self.unknown:
            self.lower[target] = self.pending[target]

    def check(self, target: str, distance: int) -> None:
        """CheckDisagreed if a run makes the edge to ``target`` in ``distance`` steps, which was proved impossible."""
        if distance < self.lower.get(target, distance):
            raise CheckDisagreed(
                f"a run gets from {self.source} to {target} in {counted(distance, 'step')}, "
                f"although it was proved that none takes fewer than {self.lower[target]}"
            )


class OpenEdges:
    """The distances of the undecided edges of ``row`` to ask for, up to ``to``: for each target a range, in ``ranges``.

    A range goes from the least distance that was not asked for to one less than runs have shown (``upper``). A target
    whose range becomes empty because a run shows the least distance has its weight, and leaves ``row.pending``.
    ``asked`` keeps the last question about this row. CheckDisagreed where a run shows a distance that was proved to be
    impossible.
    """

    def __init__(self, row: Row, upper: Mapping[Edge, int], to: int) -> None:
        self.row = row
        self.ranges: dict[str, tuple[int, int]] = {}
        self.asked: tuple[int, Group] | None = None
        self._to = to
        self._least: int | None = None
        for target, least in row.lower.items():
            row.check(target, upper.get((row.source, target), least))
        for target in list(row.pending):
            self.look(target, upper)

    def look(self, target: str, upper: Mapping[Edge, int]) -> None:
        """Bring the range of the undecided ``target`` up to date with ``upper`` and the row."""
        first = self.row.pending[target]
        known = upper.get((self.row.source, target), self._to + 1)
        last = min(self._to, known - 1)
        self.asked = self._least = None
        if known <= min(first, self._to):
            self.row.weights[target] = known
            del self.row.pending[target]
        if first <= last:
            self.ranges[target] = first, last
        else:
            self.ranges.pop(target, None)

    def take_hits(self, found: Mapping[str, int], upper: Mapping[Edge, int], nearest: int) -> bool:
        """Take in new distances ``found``; whether one of them was in a question about distances up to ``nearest``."""
        hit = False
        for target, distance in found.items():
            self.row.check(target, distance)
            if target in self.ranges:
                first, last = self.ranges[target]
                hit = hit or (first <= nearest and distance <= min(last, nearest))
            if target in self.row.pending:
                self.look(target, upper)
        return hit

    def rule_out(self, upper: Mapping[Edge, int], nearest: int) -> None:
        """No run meets a target at a distance of ``ranges`` up to ``nearest``."""
        for target, (first, last) in list(self.ranges.items()):
            if first <= nearest:
                self.row.rule_out(target, min(last, nearest), proved=True)
                self.look(target, upper)

    @property
    def least(self) -> int:
        """The least distance to ask for; there is one."""
        if self._least is None:
            self._least = min(first for first, _ in self.ranges.values())
        return self._least

    def up_to(self, nearest: int) -> Question:
        """The targets with the distances to ask for, up to ``nearest``."""
        found: Question = []
        for target, (first, last) in self.ranges.items():
            if first == last <= nearest:
                found.append((target, first))
            else:
                found += [(target, d) for d in range(first, min(last, nearest) + 1)]
        return found
