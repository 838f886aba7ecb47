"""What every reachability engine offers: incremental sessions over an unrolled transition system, and what they cost.

Cost is told in seconds, and as work: a count that is the same on every machine. Work is counted in nominal nanoseconds:
what the counted thing takes on a usual machine, measured over the graphs of all bundled models. ``python -m
benchmarks effort`` shows how well that fits a machine (docs/explanation/effort.md). The count of a question depends on
nothing but the questions before it and the versions of the solvers.
"""

from __future__ import annotations

import enum
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import field
from math import inf
from typing import NamedTuple, Protocol, runtime_checkable

from pysmt.fnode import FNode
from pysmt.shortcuts import Or

from bmc import ending
from bmc.records import dataclass
from bmc.system.transition import Run, TransitionSystem


class OutOfTime(Exception):
    """The time limit of a question was over before the solver was asked: the answer is unknown."""


class Deadline:
    """Counts down ``seconds`` (None: no limit) from its making."""

    def __init__(self, seconds: float | None = None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    def left(self) -> float | None:
        """Seconds left, None without a limit. OutOfTime when they are over, KeyboardInterrupt where the run was called
        off."""
        ending.check()
        if self._end is None:
            return None
        left = self._end - time.monotonic()
        if left <= 0:
            raise OutOfTime
        return left


class Status(enum.Enum):
    """A solver's answer. UNKNOWN is never to be read as UNSAT."""

    SAT = "sat"
    UNSAT = "unsat"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Answer:
    """``core`` (with UNSAT) holds those of the query's formulas that together are impossible."""

    status: Status
    core: tuple[FNode, ...] = ()


Alternative = tuple[FNode, int]
"""A framed formula and the number of valid steps that it is asked over."""


class Session(Protocol):
    """One incremental solver session from one source: frames are added as longer queries arrive."""

    def check(
        self, formulas: Sequence[FNode], steps: int, time_limit: float | None = None, effort: float | None = None
    ) -> Answer:
        """Is there a run of exactly ``steps`` valid steps from the source that satisfies ``formulas``?

        ``formulas`` are over framed symbols ``x@j``, j <= steps (inputs: j < steps); symbols that are no variable of
        the system are free, and must be framed at 0. ``time_limit`` in seconds.
        ``effort`` limits the solver's work repeatably, in units of about a second (see ``bmc.engines.protocol``; what a
        question took is added to the engine's ``cost.work``); 0: the solver is not asked; None for no limit.
        """

    def check_any(
        self, alternatives: Sequence[Alternative], time_limit: float | None = None, effort: float | None = None
    ) -> Answer:
        """Is there a run for at least one of ``alternatives``: one question in place of a ``check`` for each.

        With SAT, ``run`` may go on after the steps of the one that it satisfies, where they need not be valid.
        """

    def run(self) -> Run:
        """The run found by the last ``check`` that answered SAT, all its variables' values, over its ``steps``."""


class Placed(NamedTuple):
    """A framed formula, moved ``later``, that is asked over ``steps`` valid steps."""

    formula: FNode
    later: int
    steps: int


@dataclass(frozen=True, eq=False)
class Group:
    """A framed formula with alternatives. Two groups are never the same: a session translates each once."""

    formula: FNode
    alternatives: tuple[Placed, ...]


@runtime_checkable
class GroupSession(Session, Protocol):
    """A session that can also ask about several sources at once."""

    def check_groups(
        self, groups: Sequence[Group], time_limit: float | None = None, effort: float | None = None
    ) -> Answer:
        """Is there a run for one of ``groups``: its formula, and at least one of its alternatives?

        ``run`` as after ``check_any``.
        """


class Engine(Protocol):
    """Makes sessions. ``name`` and ``version`` go into every result, ``cost`` grows with the work done."""

    name: str
    version: str
    cost: Cost

    def tries(self, system: TransitionSystem) -> bool:
        """Whether runs of ``system`` are tried before a solver is asked, so that short ones are found quickly."""

    def session(self, system: TransitionSystem, source: FNode, goals: Sequence[FNode] = ()) -> Session:
        """A session whose runs start in a state that satisfies ``source`` (framed at 0, may span several steps).

        ``goals`` are the formulas that will be asked about: variables outside their cone of influence may be left
        out of the encoding.
        """


def check_in_turn(
    session: Session, alternatives: Sequence[Alternative], time_limit: float | None, effort: float | None
) -> Answer:
    """``check_any`` for sessions that can only ask one number of steps at a time: the least one first."""
    status = Status.UNSAT
    for steps in sorted({steps for _, steps in alternatives}):
        formulas = [formula for formula, own in alternatives if own == steps]
        answer = session.check([Or(formulas)], steps, time_limit, effort)
        if answer.status is Status.SAT:
            return answer
        if answer.status is Status.UNKNOWN:
            status = Status.UNKNOWN
    return Answer(status)


SEED = 1
"""The seed of whatever draws numbers, so that its answers are repeatable."""

WORK = 1_000_000_000
"""Work in one unit of effort, which is about a second of a usual machine: the unit of what limits a question."""

PORTION = 0.05
"""Units of work that are done before the caller is asked whether to go on. With twice as many, a run that is called off
ends later."""

QUESTION, VARIABLE, PROPAGATION, CONFLICT = 70_000, 30, 180, 9_000
"""``sat``: a question put to the solver, or each variable of its formula where these count more, and what the solver
counts itself."""
CLAUSE, GATE = 1_700, 75_000
"""``sat``: a clause placed at a step, and a gate of a step that is translated and preprocessed once."""
ASKED = 10_000
"""``sat`` and ``z3``: a formula of a question, found among those known. With twice as much, questions of thousands of
formulas, as those for canonical inputs, are half as many."""
RESOURCE = 230
"""``z3``: what its resource count counts."""
NO_LIMIT = 2**32 - 1
"""``z3``: its timeout in milliseconds for none, and the largest number that it takes."""
INSTRUCTION, SETS = 300, 11_000
"""Trial runs: an operation on one value; bounds: an operation on sets of values."""


@dataclass
class Cost:
    """``queries`` put to the solver; ``work`` is their repeatable count in nominal nanoseconds.

    ``solving`` is the solver's time for them, ``sessions`` all time that sessions took, encoding included, both in
    seconds. ``preparing``, part of ``sessions``, is what the solver's library took to simplify clauses and take them
    in, where the engine can tell. ``left`` tells how many units of effort the whole run has left. ``pause`` is called
    after each portion of a question: others may work then, for the seconds ``away``.
    """

    queries: int = 0
    work: int = 0
    solving: float = 0.0
    sessions: float = 0.0
    preparing: float = 0.0
    left: Callable[[], float] = field(default=lambda: inf, compare=False)
    pause: Callable[[], None] = field(default=lambda: None, compare=False)
    away: float = field(default=0.0, compare=False)

    @property
    def effort(self) -> float:
        """``work`` in units of effort."""
        return self.work / WORK

    @property
    def encoding(self) -> float:
        """Seconds that sessions took besides the solver's."""
        return self.sessions - self.solving

    def add(self, other: Cost) -> None:
        """Count the work of another engine in."""
        self.queries += other.queries
        self.work += other.work
        self.solving += other.solving
        self.sessions += other.sessions
        self.preparing += other.preparing

    def now(self) -> float:
        """The clock that times are taken from, in seconds."""
        return time.perf_counter()

    def in_session(self) -> AbstractContextManager[None]:
        """Counts the time within as a session's."""
        return self._timed("sessions")

    def in_solver(self) -> AbstractContextManager[None]:
        """Counts one query and the time within as the solver's."""
        self.queries += 1
        return self._timed("solving")

    def in_library(self) -> AbstractContextManager[None]:
        """Counts the time within, in a session, as the library's."""
        return self._timed("preparing")

    def rest(self) -> None:
        """Between two portions of a question: others may have their turn."""
        begun = self.now()
        self.pause()
        self.away += self.now() - begun

    @contextmanager
    def _timed(self, what: str) -> Iterator[None]:
        """Adds the time within to the attribute ``what``, but for that in which others worked."""
        begun = self.now() - self.away
        try:
            yield
        finally:
            setattr(self, what, getattr(self, what) + self.now() - self.away - begun)
