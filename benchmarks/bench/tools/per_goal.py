"""The baseline ``per-goal``: a shortest test case for each goal, each from a reset, by bounded model checking.

All goals are asked for at 0, 1, 2, ... steps, in one incremental session: is there a run of so many steps that covers
the goal and ends in the final condition? The first answer is a shortest test case of the goal.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import click
from pysmt.shortcuts import Or

from benchmarks.bench.tools.baseline import Baseline, Case, Given, Search, TimeOver, conduct, given_options
from benchmarks.bench.tools.weighted_cover import weighted_cover
from bmc.engines import NAMES, choose, described
from bmc.engines.protocol import Session, Status
from bmc.formulas.unroll import shift
from bmc.system.transition import Run
from chaincover.cli.options import held_request_options
from chaincover.limits import Limits
from chaincover.problem import Problem, Questions
from chaincover.project.load import Request
from properties.goal import Goal
from properties.monitor import Monitor

PATIENCE = 32
"""Steps after which it is asked whether more of them can be of use."""


class PerGoal(Baseline):
    """One test by bounded model checking per goal."""

    name = "per-goal"
    settings = frozenset({"reduce", "engine", "K"})


def shortest_tests(search: Search, engine_name: str, reduce: bool, most: int) -> dict[str, Run]:
    """A shortest run to the final condition for each goal, as far as there is time, and ``most`` steps (0: as many as
    it takes, which no search knows where the states are too many to be enumerated).

    With ``reduce`` a goal that the run of another one covers has none of its own.
    """
    problem, engine = search.problem, choose(engine_name)
    search.versions["engine"] = " ".join(described(engine, problem.system))
    session = Questions(problem, engine, Limits(search.left)).from_init
    monitor, found = Monitor(problem.goals), dict[str, Run]()
    missing = dict(problem.by_name)
    undecided = 0
    try:
        for steps in count():
            if not most and steps == PATIENCE:
                states = search.reachable_states()
                most = 0 if states is None else 2 * states + max(goal.length for goal in problem.goals)
            if not missing or (most and steps > most):
                break
            for goal in [goal for goal in missing.values() if goal.length <= steps]:
                search.check()
                if goal.name not in missing:
                    continue
                status = _asked(session, problem, goal, steps, search.left)
                undecided += status is Status.UNKNOWN
                if status is Status.SAT:
                    found[goal.name] = session.run()
                    covered = monitor.covered(found[goal.name])
                    gone = [name for name in missing if covered[name]] if reduce else [goal.name]
                    missing = {name: own for name, own in missing.items() if name not in gone}
            search.farthest = steps
    except TimeOver:
        pass
    if undecided and not search.cut:
        search.notes.append(f"{undecided} questions were left open: tests may be longer than the shortest ones")
    return found


def _asked(session: Session, problem: Problem, goal: Goal, steps: int, seconds: float | None) -> Status:
    """Whether a run of ``steps`` steps covers ``goal`` and ends in the final condition."""
    placed = Or([shift(goal.antecedent, step) for step in range(steps - goal.length + 1)])
    return session.check([placed, *problem.end_formulas(steps)], steps, seconds).status


def reduced(runs: Sequence[Run], problem: Problem, seconds: float | None) -> list[Run]:
    """Those of ``runs`` that cover all that any of them covers, in the fewest steps."""
    monitor, lengths, first = Monitor(problem.goals), dict[int, int](), dict[int, Run]()
    for run in runs:
        covered = monitor.covered(run)
        mask = sum(1 << place for place, name in enumerate(problem.names) if covered[name])
        if run.length < lengths.get(mask, run.length + 1):
            lengths[mask], first[mask] = run.length, run
    picked, _ = weighted_cover(lengths, seconds)
    return [run for run in runs if any(first[mask] is run for mask in picked)]


@click.command()
@held_request_options
@given_options
@click.option("--reduce", type=bool, default=False, show_default=True, help="No tests for goals that others cover.")
@click.option("--engine", type=click.Choice(NAMES), default="auto", show_default=True, help="Who answers.")
@click.option(
    "--K", "most", type=click.IntRange(0), default=0, show_default=True, help="Most steps; 0: as many as it takes."
)
def main(request: Request, given: Given, reduce: bool, engine: str, most: int) -> None:
    """A shortest test case for each goal of PATH, each from a reset; test cases that are the same count once."""

    def search(state: Search) -> list[Case]:
        found = list(shortest_tests(state, engine, reduce, most).values())
        different = {tuple(tuple(sorted(step.items())) for step in (run.states[0], *run.inputs)): run for run in found}
        runs = list(different.values())
        kept = reduced(runs, state.problem, state.left) if reduce else runs
        return [Case.of(run, state.problem.system) for run in kept]

    conduct(request, given, search)


if __name__ == "__main__":
    main()
