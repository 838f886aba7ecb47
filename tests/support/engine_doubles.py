"""Engines for tests: some try runs first and count, some give up; and small systems for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest
from chain_checks import check_chain
from explicit import Explicit
from machines import Case, random_machine
from pysmt.fnode import FNode
from random_systems import random_case

from bmc.engines import choose as choose_engine
from bmc.engines import guessing
from bmc.engines.guessing import GuessingSession, Sampling
from bmc.engines.protocol import Alternative, Answer, Cost, Engine, Session, Status, check_in_turn
from bmc.system.simulation import Simulator
from bmc.system.transition import Run, TransitionSystem
from chaincover import pipeline
from chaincover.limits import Limits
from chaincover.problem import Problem, Questions
from chaincover.replaying.judge import Judge
from chaincover.runs import random as random_runs
from chaincover.runs.nearest import NearestFirst
from chaincover.weights import Edge

LIMIT = 6
"""The most steps to a goal."""

Event = Callable[[], None]


class Trying:
    """z3 behind trial runs, which it makes for any system. ``before`` is called before every query.

    Without ``solver`` every question that trial runs leave open stays open.
    """

    name, version = "trying", ""

    def __init__(self, solver: bool = True, before: Event = lambda: None) -> None:
        self._z3 = choose_engine("z3") if solver else None
        self._samplings: dict[int, tuple[TransitionSystem, Sampling]] = {}
        self.before = before
        self.cost = Cost() if self._z3 is None else self._z3.cost
        self.trials, self.solved, self.open = 0, 0, 0

    def tries(self, system: TransitionSystem) -> bool:
        return True

    def session(self, system: TransitionSystem, source: FNode, goals: Sequence[FNode] = ()) -> Session:
        if id(system) not in self._samplings:
            self._samplings[id(system)] = system, Sampling(system, Simulator(system), lambda: self.cost)

        def make() -> Session:
            return Solved(self, None if self._z3 is None else self._z3.session(system, source, goals))

        return Tried(self, GuessingSession(system, source, goals, self._samplings[id(system)][1], make))


class Tried:
    """Counts the queries of a session, and those that it leaves open."""

    def __init__(self, engine: Trying, session: Session) -> None:
        self._engine, self._session = engine, session
        self.run = session.run

    def check(
        self, formulas: Sequence[FNode], steps: int, time_limit: float | None = None, effort: float | None = None
    ) -> Answer:
        self._engine.before()
        self._engine.trials += 1
        answer = self._session.check(formulas, steps, time_limit, effort)
        self._engine.open += answer.status is Status.UNKNOWN
        return answer

    def check_any(
        self, alternatives: Sequence[Alternative], time_limit: float | None = None, effort: float | None = None
    ) -> Answer:
        return check_in_turn(self, alternatives, time_limit, effort)


class Solved:
    """Counts the questions that trial runs leave to the solver, if there is one."""

    def __init__(self, engine: Trying, session: Session | None) -> None:
        self._engine, self._session = engine, session

    def check(
        self, formulas: Sequence[FNode], steps: int, time_limit: float | None = None, effort: float | None = None
    ) -> Answer:
        self._engine.solved += 1
        return Answer(Status.UNKNOWN) if self._session is None else self._session.check(formulas, steps, time_limit)

    def check_any(
        self, alternatives: Sequence[Alternative], time_limit: float | None = None, effort: float | None = None
    ) -> Answer:
        return check_in_turn(self, alternatives, time_limit, effort)

    def run(self) -> Run:
        assert self._session is not None
        return self._session.run()


class Open:
    """Leaves queries open whose answer is one of ``hidden``."""

    def __init__(self, engine: Trying, session: Session, hidden: Sequence[Status]) -> None:
        self._engine, self._session, self._hidden = engine, session, hidden
        self.run = session.run

    def check(
        self, formulas: Sequence[FNode], steps: int, time_limit: float | None = None, effort: float | None = None
    ) -> Answer:
        answer = self._session.check(formulas, steps, time_limit, effort)
        if answer.status in self._hidden:
            self._engine.open += 1
            return Answer(Status.UNKNOWN)
        return answer

    def check_any(
        self, alternatives: Sequence[Alternative], time_limit: float | None = None, effort: float | None = None
    ) -> Answer:
        return check_in_turn(self, alternatives, time_limit, effort)


class GivesUp(Trying):
    """Leaves every query open."""

    def session(self, system: TransitionSystem, source: FNode, goals: Sequence[FNode] = ()) -> Session:
        return Open(self, super().session(system, source, goals), (Status.SAT, Status.UNSAT))


def search_with(patch: pytest.MonkeyPatch, engine: Engine) -> None:
    """Searches from now on use ``engine``."""
    patch.setattr(pipeline, "choose_engine", lambda *wanted: engine)


@pytest.fixture(scope="module")
def few_trial_runs() -> Iterator[None]:
    """The systems here are small."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(guessing, "RANDOM", 20)
        patch.setattr(guessing, "CHANGES", 40)
        yield


class NoRandomRuns:
    """Simulation that finds nothing."""

    def __init__(self, *given: object, distances: bool = True) -> None:
        self.upper: dict[Edge, int] = {}

    def offer(self, offer: Callable[[Run], None]) -> None:
        """No run is offered."""

    def begin_with(self, run: Run) -> None:
        """See ``RandomRuns``."""


@pytest.fixture
def no_random_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Random runs come before trial runs: without them the search is left to trial runs and the solver."""
    monkeypatch.setattr(random_runs, "RandomRuns", NoRandomRuns)


def small(seed: int) -> Case:
    """A random system with up to four goals."""
    if seed % 2:
        return random_machine(seed)
    case = random_case(seed, goals=3, longest=2)
    return case.system, case.goals, case.final


def tried(
    case: Case, overlap: str, engine: Trying | None = None, limit: int = LIMIT, limits: Limits | None = None
) -> tuple[Run, Mapping[str, int]] | None:
    """What trial runs find, nearest goal first, and no solver: the run of a chain, and where goals are credited."""
    system, goals, final = case
    problem = Problem(system, tuple(goals), final, overlap)
    questions = Questions(problem, engine or Trying(solver=False), limits or Limits())
    run = NearestFirst(questions, problem.names, limit).run()
    chain = None if run is None else Judge(problem).chain(run)
    return None if chain is None else (chain.run, {hit.goal: hit.step for hit in chain.hits})


def check_found(case: Case, overlap: str, run: Run, credited: Mapping[str, int]) -> None:
    """The run replays on the system from init to the end, and covers what it is credited with, where it says so."""
    system, goals, final = case
    few = tuple(goal for goal in goals if goal.name in credited)
    check_chain((system, few, final), run, overlap)
    assert list(credited.values()) == sorted(credited.values())
    explicit = Explicit(system)
    states = [tuple(state.values()) for state in run.states]
    inputs = [tuple(given.values()) for given in run.inputs]
    for goal in few:
        first, last = credited[goal.name], credited[goal.name] + goal.length
        assert explicit.holds(goal.antecedent, states[first : last + 1], inputs[first:last])


class GivesUpAfter:
    """z3, but from query number ``after`` on it gives up."""

    name = "gives up"
    version = ""

    def __init__(self, after: int) -> None:
        self._engine = choose_engine("z3")
        self.cost = self._engine.cost
        self.left = after
        self.asked = 0

    def session(self, system: TransitionSystem, source: FNode, goals: Sequence[FNode] = ()) -> Session:
        return Doubting(self, self._engine.session(system, source, goals))


class Doubting:
    def __init__(self, engine: GivesUpAfter, session: Session) -> None:
        self._engine, self._session = engine, session
        self.run = session.run

    def check(
        self, formulas: Sequence[FNode], steps: int, time_limit: float | None = None, effort: float | None = None
    ) -> Answer:
        self._engine.asked += 1
        if self._engine.asked > self._engine.left:
            return Answer(Status.UNKNOWN)
        return self._session.check(formulas, steps, time_limit, effort)
