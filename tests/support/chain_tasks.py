"""Tasks for the searches over many paths, and checks of what they come to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from enumeration import reachability_invariant
from explicit import Explicit
from gap_chains import chain_within
from machines import Case
from problems import problem_of
from pysmt.fnode import FNode

from bmc.engines import choose as choose_engine
from bmc.engines.protocol import Alternative, Answer, Engine, Session, Status, check_in_turn
from bmc.formulas.unroll import at
from bmc.system.transition import TransitionSystem
from chaincover.concretise.subpaths import Outcome, Task
from chaincover.graph.reachability import GraphBuilder
from chaincover.limits import Limits
from chaincover.orderings import choose as choose_ordering
from chaincover.orderings import missing_library
from chaincover.problem import Questions
from chaincover.replaying.judge import Judge

TSP = "local" if missing_library("tsp") else "tsp"
"""The ordering for refinement."""


@dataclass(frozen=True)
class Prepared(Task):
    """A task whose graph ``builder`` makes."""

    builder: GraphBuilder = field(kw_only=True)


def task(case: Case, ordering: str, limit: int, overlap: str = "allow", engine: Engine | None = None) -> Prepared:
    """A chain to be found for ``case``."""
    questions = Questions(problem_of(*case, overlap), engine or choose_engine("z3"), Limits())
    builder = GraphBuilder(questions, limit)

    def extended() -> bool:
        if builder.depth >= limit:
            return False
        builder.extend()
        return True

    return Prepared(
        questions, lambda: builder.graph().possible, extended, choose_ordering(ordering), limit, builder=builder
    )


def extended(task: Prepared) -> Prepared:
    """``task`` with its graph extended to K."""
    while task.extended():
        pass
    return task


def with_reachable_states(case: Case) -> Case:
    """``case`` with its reachable states as an invariant."""
    system, goals, final = case
    formulas = [goal.antecedent for goal in goals] + ([] if final is None else [at(final, 0)])
    found = reachability_invariant(system, formulas, 100_000_000)
    return case if found is None else (replace(system, invariants=(found,)), goals, final)


def check_against_explicit_search(case: Case, task: Prepared, found: Outcome) -> bool:
    """A chain must be one, and there must be none within K where none was found; whether there was a choice."""
    system, goals, final = case
    reference = Explicit(system)
    wanted = [goal for goal in goals if goal.name in task.builder.graph().possible.goals]
    if not wanted:
        return False
    if found.status is Status.SAT:
        assert found.plan is not None
        assert found.run is not None
        overlap = task.questions.problem.overlap
        chain = Judge(problem_of(system, wanted, final, overlap)).chain(found.run)
        assert chain is not None
        assert sorted(chain.order) == sorted(goal.name for goal in wanted)
        lengths = {goal.name: goal.length for goal in goals}
        spans = zip(found.plan.goals, pairwise(found.plan.starts), strict=False)
        assert overlap == "allow" or all(b - a >= lengths[goal] for goal, (a, b) in spans)
        assert reference.least_chain(wanted, final, found.run.length) is not None
    else:
        assert found.status is Status.UNSAT
        assert not chain_within(reference, wanted, final, task.limit, task.questions.problem.overlap)
    return bool(found.infeasible)


class DoubtfulSession:
    """Gives up on every query whose work is limited."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.run = session.run

    def check(
        self, formulas: Sequence[FNode], steps: int, time_limit: float | None = None, effort: float | None = None
    ) -> Answer:
        if effort is not None:
            return Answer(Status.UNKNOWN)
        return self._session.check(formulas, steps, time_limit)

    def check_any(
        self, alternatives: Sequence[Alternative], time_limit: float | None = None, effort: float | None = None
    ) -> Answer:
        return check_in_turn(self, alternatives, time_limit, effort)


class DoubtfulEngine:
    """z3, but it gives up on every query whose work is limited."""

    name = "doubtful"
    version = ""

    def __init__(self) -> None:
        self._engine = choose_engine("z3")
        self.cost = self._engine.cost

    def tries(self, system: TransitionSystem) -> bool:
        return self._engine.tries(system)

    def session(self, system: TransitionSystem, source: FNode, goals: Sequence[FNode] = ()) -> Session:
        return DoubtfulSession(self._engine.session(system, source, goals))
