"""Algorithm 10 (GetKreachEdges): edges between goals, decided in incremental sessions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE

from bmc.engines.protocol import Answer, Engine, Group, GroupSession, Run, Session, Status
from bmc.errors import CheckDisagreed
from bmc.simulate import Simulator
from bmc.system import TransitionSystem
from bmc.unroll import at, shift
from chaincover.budget import Budget
from chaincover.graph import FINAL, INIT, Edge
from chaincover.seen import Distances
from properties.goal import Goal
from properties.monitor import Monitor

Question = list[tuple[str, int]]
"""Targets with distances: is one of them met?"""

Upper = dict[Edge, int]
"""Distances in steps that runs were seen to make."""


@dataclass(frozen=True)
class Problem:
    """Between which goals edges are sought. ``final`` is over plain state symbols, None: there is no such end."""

    system: TransitionSystem
    goals: tuple[Goal, ...]
    final: FNode | None
    overlap: str

    @property
    def start(self) -> Goal:
        """Init as a node."""
        return Goal(INIT, at(self.system.init_formula, 0), None, 0)

    @property
    def targets(self) -> tuple[Goal, ...]:
        """The goals, and the final condition as a node."""
        return (*self.goals, *([] if self.final is None else [Goal(FINAL, at(self.final, 0), None, 0)]))


@dataclass
class Row:
    """What is known of the edges from ``source``, by target.

    ``pending`` has each open edge's least distance that is still to ask for, ``lower`` the least one not proved
    impossible, ``weights`` the distance where it is found. At the targets ``unknown`` the solver gave up.
    """

    source: str
    pending: dict[str, int]
    lower: dict[str, int]
    weights: dict[str, int] = field(default_factory=dict)
    unknown: dict[str, None] = field(default_factory=dict)


class EdgeSearch:
    """Decides the edges of ``problem``. One query asks for all open edges of a source at all their distances, or for
    those of all sources."""

    def __init__(self, problem: Problem, engine: Engine) -> None:
        self._problem, self.engine = problem, engine
        self._sources = {goal.name: goal for goal in (problem.start, *problem.goals)}
        self._targets = {goal.name: goal for goal in problem.targets}
        self._monitor = Monitor([problem.start, *problem.targets])
        lengths = {goal.name: goal.length for goal in problem.goals}
        self._distances = Distances(lengths, problem.overlap == "forbid")
        self._simulator = Simulator(problem.system)
        self._sessions: dict[str, Session] = {}
        self._placed: dict[tuple[str, int], FNode] = {}
        self._groups: dict[str, tuple[Question, Group]] = {}
        self.queries = 0

    def unsatisfiable(self, names: Sequence[str], budget: Budget) -> list[str]:
        """Those of the goals ``names`` that no run satisfies at all, from whatever state."""
        left, anywhere = list(names), self._anywhere
        while left and isinstance(anywhere, GroupSession):
            groups = [Group(self._sources[name].antecedent, ((TRUE(), self._sources[name].length),)) for name in left]
            status = self._counted(budget, partial(anywhere.check_groups, groups))
            if status is Status.UNSAT:
                return left
            if status is Status.UNKNOWN:
                break
            covered = self._monitor.covered(self._simulator.valid_part(anywhere.run()))
            if not any(covered[name] for name in left):
                raise CheckDisagreed(f"the engine's run satisfies none of {', '.join(left)}")
            left = [name for name in left if not covered[name]]
        return [name for name in left if not self._satisfiable(name, budget)]

    def _satisfiable(self, source: str, budget: Budget) -> bool:
        session, length = self._session(source), self._sources[source].length
        return self._counted(budget, lambda limit: session.check([], length, limit)) is not Status.UNSAT

    def ask_all(self, rows: Sequence[Row], upper: Upper, to: int, budget: Budget) -> None:
        """As ``ask`` for each of ``rows``; where the session can, one question is about all of them."""
        if isinstance(self._anywhere, GroupSession):
            self._ask_together(self._anywhere, {row.source: row for row in rows}, upper, to, budget)
        for row in rows:
            self.ask(row, upper, to, budget)

    def _ask_together(
        self, session: GroupSession, rows: Mapping[str, Row], upper: Upper, to: int, budget: Budget
    ) -> None:
        """Decide the open edges of ``rows`` up to ``to``, as far as the solver does not give up."""
        nearest = to
        left = {source: found for source, row in rows.items() if (found := _open(row, upper, to))}
        while left:
            least = min(d for found in left.values() for _, d in found)
            nearest = max(nearest, least)
            asked = {source: [(t, d) for t, d in found if d <= nearest] for source, found in left.items()}
            status = self._ask_groups(session, asked, budget)
            if status is Status.UNKNOWN:
                return
            if status is Status.SAT:
                changed = self._enter(session.run(), upper) & left.keys()
                if all(_shorter(source, upper, asked[source]) == asked[source] for source in changed):
                    raise CheckDisagreed("the engine's run reaches none of the goals that were asked for")
                nearest = (least + nearest) // 2
            else:
                changed, nearest = set(left), to
                for source, found in asked.items():
                    _rule_out(rows[source], found, proved=True)
            fresh = {source: _open(rows[source], upper, to) for source in changed}
            left = {source: found for source in left if (found := fresh.get(source, left[source]))}

    def _ask_groups(self, session: GroupSession, asked: Mapping[str, Question], budget: Budget) -> Status:
        groups = [self._group(source, found) for source, found in asked.items() if found]
        return self._counted(budget, partial(session.check_groups, groups))

    def _group(self, source: str, asked: Question) -> Group:
        """The question about one source, the same object where it was asked before."""
        known = self._groups.get(source)
        if known is None or known[0] != asked:
            parts = tuple((self._at(target, d), self._horizon(source, target, d)) for target, d in asked)
            known = self._groups[source] = asked, Group(self._sources[source].antecedent, parts)
        return known[1]

    @cached_property
    def _anywhere(self) -> Session:
        """The session over runs from all states."""
        formulas = [target.antecedent for target in self._targets.values()]
        return self.engine.session(self._problem.system, TRUE(), formulas)

    def ask(self, row: Row, upper: Upper, to: int, budget: Budget) -> None:
        """Decide the open edges of ``row`` at distances up to ``to``; what runs show is entered into ``upper``.

        Distances in ``upper`` are not asked for again, only whether there are shorter ones. LimitReached when time is
        over: what was found until then stays in ``row``.
        """
        nearest = to
        while open_ones := _open(row, upper, to):
            nearest = max(nearest, min(d for _, d in open_ones))
            asked = [(target, d) for target, d in open_ones if d <= nearest]
            if self._ask(row, upper, asked, budget) is Status.SAT:
                nearest = (min(d for _, d in open_ones) + max(d for _, d in asked)) // 2
            else:
                nearest = to

    def _ask(self, row: Row, upper: Upper, asked: Question, budget: Budget) -> Status:
        """Put one question. UNKNOWN where the solver gave up; then its parts have been asked for one by one."""
        session = self._session(row.source)
        alternatives = [(self._at(target, d), self._horizon(row.source, target, d)) for target, d in asked]
        status = self._counted(budget, lambda limit: session.check_any(alternatives, limit))
        if status is Status.SAT:
            self._take_hits(row.source, upper, asked)
        elif status is Status.UNSAT or len(asked) == 1:
            _rule_out(row, asked, proved=status is Status.UNSAT)
        else:
            for part in _parts(asked):
                while part := [(t, d) for t, d in _shorter(row.source, upper, part) if row.pending[t] <= d]:
                    if self._ask(row, upper, part, budget) is not Status.SAT:
                        break
        return status

    def _take_hits(self, source: str, upper: Upper, asked: Question) -> None:
        """Note the distances that the session's run shows; CheckDisagreed if it shows none that was asked for."""
        self._enter(self._sessions[source].run(), upper)
        if _shorter(source, upper, asked) == asked:
            names = ", ".join(dict.fromkeys(target for target, _ in asked))
            raise CheckDisagreed(f"the engine's run from {source} reaches none of {names}")

    def _enter(self, run: Run, upper: Upper) -> set[str]:
        """Enter into ``upper`` what a session's ``run`` shows; the sources of which it shows something new."""
        valid = self._simulator.valid_part(run)
        found = self._distances.shorter(self._monitor.covered(valid), valid.length)
        enter(upper, found)
        return {source for source, _ in found}

    def _session(self, source: str) -> Session:
        if source not in self._sessions:
            formulas = [target.antecedent for target in self._targets.values()]
            antecedent = self._sources[source].antecedent
            self._sessions[source] = self.engine.session(self._problem.system, antecedent, formulas)
        return self._sessions[source]

    def _horizon(self, source: str, target: str, distance: int) -> int:
        return max(self._sources[source].length, distance + self._targets[target].length)

    def _at(self, target: str, distance: int) -> FNode:
        key = (target, distance)
        if key not in self._placed:
            self._placed[key] = shift(self._targets[target].antecedent, distance)
        return self._placed[key]

    def _counted(self, budget: Budget, ask: Callable[[float | None], Answer]) -> Status:
        limit = budget.for_query()
        self.queries += 1
        status = ask(limit).status
        if status is Status.UNKNOWN:
            budget.check()
        return status


def enter(upper: Upper, seen: Mapping[Edge, int]) -> None:
    """Enter into ``upper`` the distances ``seen`` that are shorter."""
    for edge, steps in seen.items():
        if steps < upper.get(edge, steps + 1):
            upper[edge] = steps


def _open(row: Row, upper: Upper, to: int) -> Question:
    """The targets with the distances to ask for, up to ``to``; those that are known by now leave ``pending``."""
    found = []
    for target, first in list(row.pending.items()):
        known = upper.get((row.source, target), to + 1)
        if known <= min(first, to):
            row.weights[target] = known
            del row.pending[target]
        else:
            found += [(target, d) for d in range(first, min(to, known - 1) + 1)]
    return found


def _shorter(source: str, upper: Upper, asked: Question) -> Question:
    """The part of ``asked`` that no run has shown yet."""
    return [(target, d) for target, d in asked if d < upper.get((source, target), d + 1)]


def _rule_out(row: Row, asked: Question, proved: bool) -> None:
    """Move the targets beyond these distances; their lower bounds follow only as far as all was ``proved``."""
    for target, distance in asked:
        row.pending[target] = max(row.pending[target], distance + 1)
        if not proved:
            row.unknown[target] = None
        elif target not in row.unknown:
            row.lower[target] = row.pending[target]


def _parts(asked: Question) -> list[Question]:
    """``asked`` by target, that of one target in halves, nearer distances first."""
    targets = list(dict.fromkeys(target for target, _ in asked))
    if len(targets) > 1:
        return [[(t, d) for t, d in asked if t == target] for target in targets]
    return [asked[: len(asked) // 2], asked[len(asked) // 2 :]]
