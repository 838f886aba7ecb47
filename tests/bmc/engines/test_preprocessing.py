"""Preprocessing of clauses by a library that jumps out of what it does when an interrupt comes in the main thread."""

from __future__ import annotations

import signal
import threading
from typing import Any

import pytest

from bmc.engines.sat_encoding.clauses import preprocessed

CLAUSES = [[1, 2], [-2, 3], [-1, 3], [3, 4], [-4, 5]]


@pytest.fixture
def solver_class() -> Any:
    return pytest.importorskip("pysat.solvers").Cadical153


@pytest.mark.needs("pysat")
def test_what_is_frozen_keeps_its_meaning() -> None:
    assert [3] in preprocessed(CLAUSES, [3])


@pytest.mark.needs("pysat")
def test_an_interrupt_waits_for_the_library(monkeypatch: pytest.MonkeyPatch, solver_class: Any) -> None:
    """It comes in the midst; the library ends first, in another thread, and is cleared away after that."""
    happened: list[str] = []
    process, delete = solver_class.process, solver_class.delete

    def slow(self: Any, **given: Any) -> Any:
        assert threading.current_thread() is not threading.main_thread()
        signal.raise_signal(signal.SIGINT)
        found = process(self, **given)
        happened.append("processed")
        return found

    def clear(self: Any) -> None:
        happened.append("deleted")
        delete(self)

    monkeypatch.setattr(solver_class, "process", slow)
    monkeypatch.setattr(solver_class, "delete", clear)
    with pytest.raises(KeyboardInterrupt):
        preprocessed(CLAUSES, [3])
    assert happened[:2] == ["processed", "deleted"]


@pytest.mark.needs("pysat")
def test_an_error_of_the_library_is_passed_on(monkeypatch: pytest.MonkeyPatch, solver_class: Any) -> None:
    def fail(self: Any, **given: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(solver_class, "process", fail)
    with pytest.raises(MemoryError):
        preprocessed(CLAUSES, [3])
