"""One path tried to the end: Algorithm 4, and where it fails either a part that no run follows or a run after all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from bmc.engines.protocol import Status
from bmc.system.run import Run
from chaincover.chain import Plan
from chaincover.concretise.check_path import plan_length
from chaincover.concretise.repair import concretise
from chaincover.concretise.subpaths import SubPaths
from chaincover.orderings.protocol import Ordering, Path
from chaincover.questions import Questions
from chaincover.weights import INIT, ReachGraph

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Task:
    """What to search a chain for, and how far.

    ``graph`` gives the K-reachability graph so far, of the goals of ``questions``; ``extended`` waits until it has
    grown, and says whether it has. ``limit`` is K in steps.
    """

    questions: Questions
    graph: Callable[[], ReachGraph]
    extended: Callable[[], bool]
    ordering: Ordering
    limit: int
    progress: Progress = lambda text: None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a search over many paths came to.

    SAT: ``run`` follows ``plan`` from init through all goals to the end. UNSAT: every path was ruled out. UNKNOWN: the
    solver or the ordering gave up somewhere, or the rounds were over. ``infeasible`` lists the sub-paths that were
    proved impossible, in the order in which they were found; ``gave_up`` those on which the solver gave up, and which
    were left out of the search. ``tried`` counts the paths.
    """

    status: Status
    plan: Plan | None = None
    run: Run | None = None
    infeasible: tuple[Path, ...] = ()
    gave_up: tuple[Path, ...] = ()
    tried: int = 0


@dataclass(frozen=True, slots=True)
class _Trial:
    """SAT: ``run`` follows ``plan``. UNSAT: no run follows ``part``. UNKNOWN: the solver gave up on ``part``.

    ``uncoverable``: no run reaches the last node of ``part`` at all within the length of any chain.
    """

    status: Status
    plan: Plan | None = None
    run: Run | None = None
    part: Path = ()
    uncoverable: bool = False


class Trials:
    """Tries the paths of ``task``, and remembers what was ruled out. ``subpaths`` decides with free positions.

    ``longest`` bounds the step at which the last goal of a chain may start.
    """

    def __init__(self, task: Task, subpaths: SubPaths, longest: int) -> None:
        self._task = task
        self._subpaths = subpaths
        self._longest = longest
        self._result = Outcome(Status.UNKNOWN)

    @property
    def excluded(self) -> tuple[Path, ...]:
        """The sub-paths that no further path may contain."""
        return self._result.infeasible + self._result.gave_up

    def ended(self, every_path_excluded: bool) -> Outcome:
        """The outcome without a chain; undecided unless every path was excluded, and by proof."""
        proved = every_path_excluded and not self._result.gave_up
        return replace(self._result, status=Status.UNSAT if proved else Status.UNKNOWN)

    def try_path(self, plan: Plan) -> Outcome | Path:
        """The outcome if ``plan`` decides it, else the sub-path that is excluded now. LimitReached when time is over.

        Algorithm 4 with edges up to the task's limit; where it fails, the shortest part of the path that no run
        follows however the distances are split. If there is none, the free positions give the run.
        """
        self._result = replace(self._result, tried=self._result.tried + 1)
        trial = self._run(plan)
        if trial.status is Status.SAT:
            return replace(self._result, status=Status.SAT, plan=trial.plan, run=trial.run)
        if trial.status is Status.UNSAT:
            self._result = replace(self._result, infeasible=(*self._result.infeasible, trial.part))
        else:
            self._result = replace(self._result, gave_up=(*self._result.gave_up, trial.part))
            self._task.progress(f"the solver gave up on {' -> '.join(trial.part)}")
        return replace(self._result, status=Status.UNSAT) if trial.uncoverable else trial.part

    def _run(self, plan: Plan) -> _Trial:
        questions, progress = self._task.questions, self._task.progress
        progress(f"inputs: {' -> '.join(plan.path)}, {plan_length(questions.problem, plan)} steps")
        longer, attempt = concretise(questions, plan, self._task.limit, progress)
        if attempt.run is not None:
            return _Trial(Status.SAT, longer, attempt.run)
        return self._blame(plan.path, _place_of(attempt.failed, plan.path))

    def _blame(self, path: Path, first: int) -> _Trial:
        """The shortest infeasible part among those that end first, from place ``first`` on; a run if there is none."""
        for last in range(first, len(path)):
            status = Status.UNKNOWN
            for begin in range(last - 1, -1, -1):
                part = path[begin : last + 1]
                status = self._subpaths.feasible(part)
                if status is Status.UNSAT:
                    return self._infeasible(part)
            if status is Status.UNKNOWN:
                return _Trial(status, part=path[: last + 1])
        found = self._subpaths.least_run(path)
        if found is None:
            return _Trial(Status.UNKNOWN, part=path)
        return _Trial(Status.SAT, *found)

    def _infeasible(self, part: Path) -> _Trial:
        """``part`` ruled out; if it begins in init, its last goal may be out of reach altogether."""
        goal = part[-1]
        if part[0] != INIT or goal not in self._task.questions.problem.by_name:
            return _Trial(Status.UNSAT, part=part)
        if self._subpaths.reachable(goal, self._longest) is not Status.UNSAT:
            return _Trial(Status.UNSAT, part=part)
        self._task.progress(f"no chain: no run reaches {goal} within {self._longest} steps")
        return _Trial(Status.UNSAT, part=(INIT, goal), uncoverable=True)


def _place_of(failed: Path, path: Path) -> int:
    """The first place in ``path`` at which ``failed`` ends: what lies before it can be run."""
    if not failed:
        return 1
    return next(n for n in range(len(failed) - 1, len(path)) if path[n + 1 - len(failed) : n + 1] == failed)
