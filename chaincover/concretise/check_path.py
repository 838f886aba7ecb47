"""Algorithms 8 (CheckPath) and 9 (BuildPath): the inputs for an order of goals at fixed distances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate

from pysmt.fnode import FNode

from bmc.engines.protocol import Engine, Session, Status
from bmc.formulas.unroll import at, shift
from bmc.system.run import Run
from bmc.system.transition import TransitionSystem
from chaincover.budget import Budget
from properties.goal import Goal


@dataclass(frozen=True, slots=True)
class Plan:
    """A path of node names from init to the end, with the distance in steps of each edge."""

    path: tuple[str, ...]
    gaps: tuple[int, ...]

    @property
    def goals(self) -> tuple[str, ...]:
        """The path's goals in order."""
        return self.path[1:-1]

    @property
    def starts(self) -> tuple[int, ...]:
        """The step at which each goal starts."""
        return tuple(accumulate(self.gaps[:-1]))

    def stretched(self, edge: int, gap: int) -> Plan:
        """The plan with another distance at the edge number ``edge``."""
        return replace(self, gaps=(*self.gaps[:edge], gap, *self.gaps[edge + 1 :]))


@dataclass(frozen=True, slots=True)
class Attempt:
    """CheckPath's answer: ``run`` with SAT; with UNSAT ``failed``, the infeasible first part of the path."""

    status: Status
    run: Run | None = None
    failed: tuple[str, ...] = ()


class Concretizer:
    """Checks plans in one session from init; ``goals`` and ``final`` (over plain symbols, or None) as in the graph."""

    def __init__(
        self, system: TransitionSystem, goals: Sequence[Goal], final: FNode | None, engine: Engine, budget: Budget
    ) -> None:
        self.system = system
        self.goals = {goal.name: goal for goal in goals}
        self.final = final
        self.engine = engine
        self.budget = budget

    @cached_property
    def session(self) -> Session:
        """The session from init."""
        return self.new_session(at(self.system.init_formula, 0))

    def new_session(self, source: FNode) -> Session:
        """A session from another source, for the same questions."""
        formulas = [goal.antecedent for goal in self.goals.values()]
        return self.engine.session(self.system, source, [*formulas, *self.end_formulas(0)])

    def all_formulas(self, plan: Plan) -> tuple[list[FNode], int]:
        """The formulas of the whole path, and the length of its chain."""
        return self.build_path(plan, len(plan.path))

    def end_formulas(self, step: int) -> list[FNode]:
        """What must hold at the end of a chain of ``step`` steps."""
        return [] if self.final is None else [at(self.final, step)]

    def length(self, plan: Plan) -> int:
        """Steps of a chain for ``plan``: the end lies no earlier than the end of any goal."""
        ends = [start + self.goals[g].length for g, start in zip(plan.goals, plan.starts, strict=True)]
        return max([sum(plan.gaps), *ends])

    def build_path(self, plan: Plan, nodes: int) -> tuple[list[FNode], int]:
        """Algorithm 9 (BuildPath): one formula per node of the path's first ``nodes`` nodes, init left out, and the
        number of steps that they need."""
        placed = list(zip(plan.goals, plan.starts, strict=True))[: nodes - 1]
        formulas = [shift(self.goals[goal].antecedent, start) for goal, start in placed]
        if nodes == len(plan.path):
            steps = self.length(plan)
            return formulas + self.end_formulas(steps), steps
        return formulas, max((start + self.goals[goal].length for goal, start in placed), default=0)

    def check_path(self, plan: Plan, nodes: int | None = None) -> Attempt:
        """Algorithm 8 (CheckPath) for the whole path, or its first ``nodes`` nodes. LimitReached when time is over."""
        formulas, steps = self.build_path(plan, len(plan.path) if nodes is None else nodes)
        answer = self.session.check(formulas, steps, self.budget.for_query())
        if answer.status is Status.SAT:
            return Attempt(Status.SAT, self.session.run())
        if answer.status is Status.UNKNOWN:
            self.budget.check()
            return Attempt(Status.UNKNOWN)
        last = max((formulas.index(f) for f in answer.core), default=len(plan.path) - 2)
        return Attempt(Status.UNSAT, failed=plan.path[: last + 2])
