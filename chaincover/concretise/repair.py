"""Algorithm 4 (GetChain with chain repair), by Algorithms 11 (RepairPath by concrete chaining) and 12 (RepairPath')."""

from __future__ import annotations

from collections.abc import Callable

from pysmt.fnode import FNode

from bmc.engines.protocol import Session, Status
from bmc.errors import CheckDisagreed
from bmc.formulas.unroll import at, shift
from bmc.records import dataclass
from bmc.system.transition import Run, conjunction, equal
from chaincover.chain import Plan
from chaincover.concretise.check_path import Attempt, check_path
from chaincover.problem import Questions


@dataclass(frozen=True, slots=True)
class Repair:
    """The outcome of a repair: with SAT a run goes along the first part of ``plan``, whose edges may be longer now.

    With UNSAT ``failed`` are the source and the target of the first edge that could not be made long enough, and the
    node before them, if there is one.
    """

    status: Status
    plan: Plan
    failed: tuple[str, ...] = ()


def concretise(questions: Questions, plan: Plan, limit: int, progress: Callable[[str], None]) -> tuple[Plan, Attempt]:
    """Algorithm 4 (GetChain) for one path: find inputs for a run along it, with longer edges where that is needed.

    In comes a ``plan``: the path and, for each edge, a distance. It is checked as a whole (Algorithm 8). If no run has
    these distances, the edges of the first part that is infeasible are lengthened until a run goes along that part
    (Algorithms 11 and 12), and the whole path is checked again. Each repair must reach at least one node farther than
    the one before. Out come the plan as it is at last, and the last check: a run, or which nodes could not be joined,
    or that the solver gave up. No edge grows above ``limit`` steps. LimitReached when time is over, CheckDisagreed if a
    part that was repaired turns out to be infeasible.
    """
    attempt = check_path(questions, plan)
    nodes = 1
    while attempt.status is Status.UNSAT:
        nodes = max(len(attempt.failed), nodes + 1)
        if nodes > len(plan.path):
            raise CheckDisagreed("a repaired path turned out to be infeasible again")
        progress(f"repair: {' -> '.join(plan.path[:nodes])}")
        repaired = repair_path(questions, plan, nodes, limit)
        if repaired.status is not Status.SAT:
            return plan, Attempt(repaired.status, failed=repaired.failed)
        plan = repaired.plan
        attempt = check_path(questions, plan)
    return plan, attempt


def repair_path(questions: Questions, plan: Plan, nodes: int, limit: int) -> Repair:
    """Lengthen edges among the first ``nodes`` nodes of ``plan``, each up to ``limit`` steps, until they can be run.

    Algorithm 11 first; where it fails, Algorithm 12. UNKNOWN where the solver gave up. LimitReached when time is over.
    """
    repaired = repair_by_chaining(questions, plan, nodes, limit)
    if repaired.status is Status.SAT:
        return repaired
    return repair_by_prefixes(questions, plan, nodes, limit)


def repair_by_chaining(questions: Questions, plan: Plan, nodes: int, limit: int) -> Repair:
    """Algorithm 11: find each edge's least feasible length from the concrete state that the last edge led to.

    Quick, but incomplete: the state taken may have no way on where another one of the same trigger has.
    """
    place = _Place(at(questions.problem.system.init_formula, 0))
    for edge in range(nodes - 1):
        target = plan.path[edge + 1]
        found = _least_gap(questions, place, target, plan.gaps[edge], limit)
        if found.status is not Status.SAT:
            return Repair(found.status, plan, plan.path[max(edge - 1, 0) : edge + 2])
        assert found.run is not None
        plan = plan.lengthened(edge, found.gap)
        place = place.after(questions, target, found.run, found.gap)
    return Repair(Status.SAT, plan)


def repair_by_prefixes(questions: Questions, plan: Plan, nodes: int, limit: int) -> Repair:
    """Algorithm 12: make the first edge feasible, then the first two, and so on, each first part checked as a whole.

    The edges before the last one keep the distances that they got; the last one is lengthened step by step until a run
    goes along the part, or it would be longer than ``limit``. Complete only for these fixed distances.
    """
    for edge in range(nodes - 1):
        attempt = Attempt(Status.UNSAT)
        for gap in range(plan.gaps[edge], max(limit, plan.gaps[edge]) + 1):
            plan = plan.lengthened(edge, gap)
            attempt = check_path(questions, plan, edge + 2)
            if attempt.status is not Status.UNSAT:
                break
        if attempt.status is not Status.SAT:
            return Repair(attempt.status, plan, plan.path[max(edge - 1, 0) : edge + 2])
    return Repair(Status.SAT, plan)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where chaining stands: ``source`` fixes the state, ``begun`` are the goals whose step begins in it (framed)."""

    source: FNode
    begun: tuple[FNode, ...] = ()

    @property
    def least(self) -> int:
        """Steps that any run from here takes on which the goals that begin here are over."""
        return 1 if self.begun else 0

    def after(self, questions: Questions, target: str, run: Run, gap: int) -> _Place:
        """The place ``gap`` steps on along ``run``, where ``target`` starts (if it is a goal)."""
        state = run.states[gap]
        fixed = conjunction(equal(v.symbol, v.type.constant(state[v.name])) for v in questions.problem.system.state)
        problem, begun = questions.problem, () if gap else self.begun
        return _Place(
            at(fixed, 0), (*begun, problem.by_name[target].antecedent) if problem.takes_step(target) else begun
        )


@dataclass(frozen=True, slots=True)
class _Found:
    status: Status
    gap: int = 0
    run: Run | None = None


def _least_gap(questions: Questions, place: _Place, target: str, gap: int, limit: int) -> _Found:
    """The least distance from ``gap`` to ``limit`` at which ``target`` can start from ``place``."""
    session = questions.session(conjunction([place.source, *place.begun]))
    if target not in questions.problem.by_name:
        gap = max(gap, place.least)
    for distance in range(gap, max(gap, limit) + 1):
        status = _check_target(questions, session, place, target, distance)
        if status is Status.SAT:
            return _Found(status, distance, session.run())
        if status is Status.UNKNOWN:
            questions.limits.check()
            return _Found(status)
    return _Found(Status.UNSAT)


def _check_target(questions: Questions, session: Session, place: _Place, target: str, distance: int) -> Status:
    goal = questions.problem.by_name.get(target)
    formulas = questions.problem.end_formulas(distance) if goal is None else [shift(goal.antecedent, distance)]
    steps = max(place.least, questions.problem.over(target, distance))
    return session.check(formulas, steps, questions.limits.for_query()).status
