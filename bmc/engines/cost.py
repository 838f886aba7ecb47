"""What an engine's work has cost so far: in seconds, and as a count that is the same on every machine.

Work is counted in nominal nanoseconds: what the counted thing takes on a usual machine, measured over the graphs of all
bundled models. ``python -m benchmarks.effort`` shows how well that fits a machine (docs/effort.md). The count of a
question depends on nothing but the questions before it and the versions of the solvers.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

WORK = 1_000_000_000
"""Work in one unit of effort, which is about a second of a usual machine: the unit of what limits a question."""

QUESTION, PROPAGATION, CONFLICT = 70_000, 120, 9_000
"""``sat``: a question put to the solver, and what that counts itself."""
CLAUSE, GATE = 1_700, 75_000
"""``sat``: a clause placed at a step, and a gate of a step that is translated and preprocessed once."""
RESOURCE = 230
"""``z3``: what its resource count counts."""
LOOK = 250_000
"""``bitwuzla``: how often it looks whether to stop, in hard multiplications; elsewhere up to ten times as often."""
INSTRUCTION, SETS = 300, 11_000
"""Trial runs: an operation on one value; bounds: an operation on sets of values."""


@dataclass
class Cost:
    """``queries`` put to the solver; ``work`` is their repeatable count, see above.

    ``solving`` is the solver's time for them, ``sessions`` all time that sessions took, encoding included, both in
    seconds. ``preparing``, part of ``sessions``, is what the solver's library took to simplify clauses and take them
    in, where the engine can tell.
    """

    queries: int = 0
    work: int = 0
    solving: float = 0.0
    sessions: float = 0.0
    preparing: float = 0.0

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

    @contextmanager
    def in_session(self) -> Iterator[None]:
        """Counts the time within as a session's."""
        begun = self.now()
        try:
            yield
        finally:
            self.sessions += self.now() - begun

    @contextmanager
    def in_solver(self) -> Iterator[None]:
        """Counts one query and the time within as the solver's."""
        self.queries += 1
        begun = self.now()
        try:
            yield
        finally:
            self.solving += self.now() - begun

    @contextmanager
    def in_library(self) -> Iterator[None]:
        """Counts the time within, in a session, as the library's."""
        begun = self.now()
        try:
            yield
        finally:
            self.preparing += self.now() - begun
