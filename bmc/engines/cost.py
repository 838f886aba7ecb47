"""What an engine's work has cost so far."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Cost:
    """``queries`` put to the solver; ``solving`` is the solver's time for them, ``sessions`` all time that sessions
    took, encoding included, both in seconds. ``preparing``, part of ``sessions``, is what the solver's library took to
    simplify clauses and take them in, where the engine can tell."""

    queries: int = 0
    solving: float = 0.0
    sessions: float = 0.0
    preparing: float = 0.0

    @property
    def encoding(self) -> float:
        """Seconds that sessions took besides the solver's."""
        return self.sessions - self.solving

    def add(self, other: Cost) -> None:
        """Count the work of another engine in."""
        self.queries += other.queries
        self.solving += other.solving
        self.sessions += other.sessions
        self.preparing += other.preparing

    def since(self, before: Cost) -> Cost:
        """What came after ``before``."""
        return Cost(
            self.queries - before.queries,
            self.solving - before.solving,
            self.sessions - before.sessions,
            self.preparing - before.preparing,
        )

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
