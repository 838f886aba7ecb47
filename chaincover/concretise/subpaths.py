"""Sub-paths that no run follows: every edge within limits, positions otherwise free.

Where Algorithms 9 and 12 fix or grow one distance after the other, these queries leave all of them open, so that UNSAT
speaks of every run. One query per sub-path suffices: each goal brings along that the steps until its end are valid, so
that runs into dead ends count as far as they are needed.

A path is tried to the end by Algorithm 4. Where that fails, either a sub-path that no run follows is excluded from all
further paths, or the free positions give a run after all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import accumulate, pairwise

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE, And, Or

from bmc.engines.protocol import Session, Status
from bmc.errors import CheckDisagreed, counted
from bmc.formulas.unroll import at, shift
from bmc.records import dataclass
from bmc.system.transition import Run, conjunction
from chaincover.chain import Plan
from chaincover.concretise.check_path import plan_length
from chaincover.concretise.repair import concretise
from chaincover.orderings.protocol import Ordering, Path
from chaincover.problem import Questions
from chaincover.weights import END, FINAL, INIT, Edge, ReachGraph
from properties.goal import Goal
from properties.monitor import Monitor


@dataclass(frozen=True, slots=True)
class Reach:
    """The least and the most steps that an edge may take; ``known``: a run over it alone was found already."""

    least: int
    most: int
    known: bool = False


class SubPaths:
    """Asks for contiguous parts of paths: node names, the first one init or a goal, the last one a goal or the end.

    ``reaches`` limits every edge that is asked for. An edge to the final
    condition may also take the step of a goal.
    """

    def __init__(self, questions: Questions, reaches: Mapping[Edge, Reach]) -> None:
        self._questions = questions
        self._reaches, self._over = reaches, questions.problem.over
        self._longest = int(any(goal.takes_step for goal in questions.problem.goals))
        self._system = replace(questions.problem.system, input_constraint=TRUE(), defined=TRUE(), invariants=())
        self._step_ok = conjunction([questions.problem.system.input_constraint, questions.problem.system.defined])
        self._state_ok = conjunction(inv.formula for inv in questions.problem.system.invariants if inv.proved)
        self._valid = [at(self._state_ok, 0)]
        self._sessions: dict[str, Session] = {}
        self._placed: dict[tuple[str, int], FNode] = {}
        self._tables: dict[tuple[Path, int | None], dict[int, FNode]] = {}
        self._known: dict[Path, Status] = {}

    def feasible(self, path: Path) -> Status:
        """Whether some run follows ``path``, from any state of its first node. LimitReached when time is over."""
        path = path[:-1] if path[-1] == END else path
        if len(path) == 2 and self._reaches[path[0], path[1]].known:
            return Status.SAT
        if path not in self._known:
            self._known[path] = self._ask(path, None)
        return self._known[path]

    def reachable(self, goal: str, most: int) -> Status:
        """Whether some run from init starts ``goal`` within ``most`` steps. LimitReached when time is over."""
        return self._check(
            INIT, {step: self._at(self._questions.problem.by_name[goal], step) for step in range(most + 1)}
        )

    def least_run(self, path: Path) -> tuple[Plan, Run] | None:
        """A run from init along the feasible ``path`` to the end, no shorter one among those asked for (bisection).

        None where the solver gives up at once. LimitReached when time is over.
        """
        if self._ask(path, None) is not Status.SAT:
            return None
        plan, run = self._trimmed(path)
        low = sum(self._reaches[edge].least for edge in pairwise(path))
        while low < run.length:
            middle = (low + run.length) // 2
            status = self._ask(path, middle)
            if status is Status.UNKNOWN:
                break
            if status is Status.UNSAT:
                low = middle + 1
            else:
                plan, run = self._trimmed(path)
        return plan, run

    def _ask(self, path: Path, longest: int | None) -> Status:
        """Whether a run follows ``path``; over at most ``longest`` steps, ends of goals included (None: no limit)."""
        if path[-1] == FINAL:
            places = self._final_places(path, longest)
        else:
            places = self._places(path[:-1] if path[-1] == END else path, longest)
        return self._check(path[0], places)

    def _check(self, source: str, places: Mapping[int, FNode]) -> Status:
        """Whether a run from ``source`` satisfies one of ``places``."""
        if not places:
            return Status.UNSAT
        limits, formula = self._questions.limits, _one_of(list(places.values()))
        steps = max(places) + self._longest
        status = self._session(source).check([formula], steps, limits.for_query(), limits.question()).status
        if status is Status.UNKNOWN:
            limits.check()
        return status

    def _places(self, path: Path, longest: int | None) -> dict[int, FNode]:
        """For each step at which the last node of ``path`` can start: that the path is run until there."""
        key = (path, longest)
        if key not in self._tables:
            self._tables[key] = self._first(path[0], longest) if len(path) == 1 else self._next(path, longest)
        return self._tables[key]

    def _first(self, node: str, longest: int | None) -> dict[int, FNode]:
        return {} if longest is not None and self._over(node, 0) > longest else {0: TRUE()}

    def _next(self, path: Path, longest: int | None) -> dict[int, FNode]:
        goal, reach = self._questions.problem.by_name[path[-1]], self._reaches[path[-2], path[-1]]
        before = self._places(path[:-1], longest)
        found = {}
        for step in _steps(before, reach):
            self._questions.limits.check()
            if longest is None or goal.over(step) <= longest:
                found[step] = And(self._at(goal, step), _one_of(_before(before, step, reach)))
        return found

    def _final_places(self, path: Path, longest: int | None) -> dict[int, FNode]:
        """As ``_places`` for a path to the final condition, which lies no earlier than the end of any goal."""
        reach = self._reaches[path[-2], path[-1]]
        reach = replace(reach, most=max(reach.most, self._longest))
        cut = self._sticks_out(path)
        found = {}
        for step in _steps(self._places(path[:-1], longest), reach):
            self._questions.limits.check()
            before = self._places(path[:-1], step if cut else longest)
            earlier = _before(before, step, reach)
            if earlier and (longest is None or step <= longest):
                ending = conjunction([*self._questions.problem.end_formulas(step), self._valid_until(step)])
                found[step] = And(ending, _one_of(earlier))
        return found

    def _sticks_out(self, path: Path) -> bool:
        """Whether a goal of ``path`` may still run where the last node is reached."""
        starts = [0, *accumulate(self._reaches[edge].least for edge in pairwise(path))]
        return max(map(self._over, path, starts)) > starts[-1]

    def _at(self, goal: Goal, step: int) -> FNode:
        key = (goal.name, step)
        if key not in self._placed:
            self._questions.limits.check()
            valid = self._valid_until(goal.over(step))
            self._placed[key] = conjunction([shift(goal.antecedent, step), valid])
        return self._placed[key]

    def _valid_until(self, steps: int) -> FNode:
        while len(self._valid) <= steps:
            last = len(self._valid)
            now = [self._valid[-1], at(self._step_ok, last - 1), at(self._state_ok, last)]
            self._valid.append(conjunction(now))
        return self._valid[steps]

    def _session(self, node: str) -> Session:
        if node not in self._sessions:
            questions = self._questions
            source = (
                at(questions.problem.system.init_formula, 0)
                if node == INIT
                else questions.problem.by_name[node].antecedent
            )
            asked = [goal.antecedent for goal in questions.problem.by_name.values()]
            asked += [*questions.problem.end_formulas(0), at(self._step_ok, 0), at(self._state_ok, 0)]
            valid = conjunction([source, self._valid_until(self._over(node, 0))])
            self._sessions[node] = questions.engine.session(self._system, valid, asked)
        return self._sessions[node]

    def _trimmed(self, path: Path) -> tuple[Plan, Run]:
        """The run found last, each node of ``path`` as early as the run allows it, and cut at its end."""
        run = self._session(INIT).run()
        ending = [Goal(FINAL, formula, None, 0) for formula in self._questions.problem.end_formulas(0)]
        covered = Monitor([*self._questions.problem.by_name.values(), *ending]).covered(run)
        starts, free, end = [0], 0, 0
        for node in path[1:-1]:
            starts.append(_first_from(free, covered[node], node))
            end = max(end, self._over(node, starts[-1]))
            free = starts[-1]
        if path[-1] == FINAL:
            end = _first_from(end, covered[FINAL], FINAL)
        plan = Plan(path, tuple(b - a for a, b in pairwise([*starts, end])))
        return plan, Run(run.states[: end + 1], run.inputs[:end])


def _steps(before: Mapping[int, FNode], reach: Reach) -> list[int]:
    """The steps that can be reached from the steps of ``before``."""
    return sorted({step + gap for step in before for gap in range(reach.least, reach.most + 1)})


def _before(before: Mapping[int, FNode], step: int, reach: Reach) -> list[FNode]:
    return [before[k] for k in range(step - reach.most, step - reach.least + 1) if k in before]


def _one_of(formulas: list[FNode]) -> FNode:
    return formulas[0] if len(formulas) == 1 else Or(formulas)


def _first_from(step: int, steps: list[int], node: str) -> int:
    found = next((k for k in steps if k >= step), None)
    if found is None:
        raise CheckDisagreed(f"the engine's run does not meet {node} from step {step} on")
    return found


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
        progress(f"other orders: {' -> '.join(plan.path)}, {counted(plan_length(questions.problem, plan), 'step')}")
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
        self._task.progress(f"no chain: no run reaches {goal} within {counted(self._longest, 'step')}")
        return _Trial(Status.UNSAT, part=(INIT, goal), uncoverable=True)


def _place_of(failed: Path, path: Path) -> int:
    """The first place in ``path`` at which ``failed`` ends: what lies before it can be run."""
    if not failed:
        return 1
    return next(n for n in range(len(failed) - 1, len(path)) if path[n + 1 - len(failed) : n + 1] == failed)
