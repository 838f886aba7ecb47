"""Algorithms 8 (CheckPath) and 9 (BuildPath): the inputs for an order of goals at fixed distances."""

from __future__ import annotations

from pysmt.fnode import FNode

from bmc.engines.protocol import Status
from bmc.formulas.unroll import shift
from bmc.records import dataclass
from bmc.system.transition import Run
from chaincover.chain import Plan
from chaincover.problem import Problem, Questions


@dataclass(frozen=True, slots=True)
class Attempt:
    """The answer about a path: with SAT the ``run`` along it, with UNSAT the nodes ``failed``, a contiguous part of it.

    From ``check_path`` these are the first part of the path, up to the last node that the solver's proof needs: at
    these distances no run goes along it. From a failed repair (``chaincover.concretise.repair``) they are the last
    nodes, three at most, of the first part that could not be repaired: the source and the target of the edge that could
    not be made long enough, and the node before that edge.
    """

    status: Status
    run: Run | None = None
    failed: tuple[str, ...] = ()


def plan_length(problem: Problem, plan: Plan) -> int:
    """Steps of a chain for ``plan``: the end lies no earlier than the end of any goal."""
    return max([sum(plan.gaps), *map(problem.over, plan.goals, plan.starts)])


def build_path(problem: Problem, plan: Plan, nodes: int | None = None) -> tuple[list[FNode], int]:
    """Algorithm 9 (BuildPath): one formula per node of the path, init left out, and the number of steps that they need.

    ``nodes``: only for the first so many nodes of the path; None: for the whole path.
    """
    nodes = len(plan.path) if nodes is None else nodes
    placed = list(zip(plan.goals, plan.starts, strict=True))[: nodes - 1]
    formulas = [shift(problem.by_name[goal].antecedent, start) for goal, start in placed]
    if nodes == len(plan.path):
        steps = plan_length(problem, plan)
        return formulas + problem.end_formulas(steps), steps
    return formulas, max((problem.over(goal, start) for goal, start in placed), default=0)


def check_path(questions: Questions, plan: Plan, nodes: int | None = None) -> Attempt:
    """Algorithm 8 (CheckPath): is there a run from init that covers the path's goals at exactly the plan's distances?

    ``nodes``: only the first so many nodes of the path are asked for; None: all. One question to the engine decides it,
    by the formulas of ``build_path``. LimitReached when time is over.
    """
    formulas, steps = build_path(questions.problem, plan, nodes)
    limits = questions.limits
    answer = questions.from_init.check(formulas, steps, limits.for_query(), limits.question())
    if answer.status is Status.SAT:
        return Attempt(Status.SAT, questions.from_init.run())
    if answer.status is Status.UNKNOWN:
        limits.check()
        return Attempt(Status.UNKNOWN)
    last = max((formulas.index(formula) for formula in answer.core), default=len(plan.path) - 2)
    return Attempt(Status.UNSAT, failed=plan.path[: last + 2])
