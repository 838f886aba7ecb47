"""An incremental SAT solver (Glucose through python-sat) that can be limited, interrupted and told its memory."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from weakref import finalize

import pysat
from pysat.solvers import Glucose4

from bmc.engines.sat_encoding.cnf import Clause

NAME = "glucose4"
VERSION = f"python-sat {pysat.__version__}, {NAME}"

PROPAGATIONS = 1_500_000
CONFLICTS = 5_000
"""The solver works at most so much (less than a second, mostly) before it is asked whether to go on."""

EFFORT_UNIT = 4
"""Such stretches of work in one unit of effort, about a second."""

Aside = Callable[[], AbstractContextManager[None]]
"""What surrounds the library's work besides answers, to measure it."""


class SatSolver:
    """Variables are numbers from 1, of which 1 is true; a literal is negative where inverted.

    The work is done in stretches, between which time, memory and signals are looked at: nothing depends on threads.
    """

    def __init__(self, memory: int | None = None, aside: Aside = nullcontext) -> None:
        """``memory``: how many megabytes this process may grow to."""
        self._solver = Glucose4()
        # python-sat's own destructor fails where it only runs when the interpreter is half gone
        finalize(self, self._solver.delete)
        self._memory, self._aside = memory, aside
        self.top = 1
        self._solver.add_clause([1])

    def fresh(self, count: int) -> range:
        """``count`` new variables."""
        first = self.top + 1
        self.top += count
        return range(first, first + count)

    def add(self, clauses: Iterable[Clause]) -> None:
        """Every solution satisfies ``clauses``."""
        deque(map(self._solver.add_clause, clauses), 0)

    def add_many(self, clauses: Sequence[Clause]) -> None:
        """As ``add``, measured."""
        with self._aside():
            self.add(clauses)

    def solve(self, assumptions: Sequence[int], time_limit: float | None, effort: int | None) -> bool | None:
        """Whether all clauses and ``assumptions`` can hold together; None if a limit came first.

        ``time_limit`` in seconds, ``effort`` in units of about a second, repeatable. MemoryError beyond the memory
        allowed; KeyboardInterrupt soon after an interrupt.
        """
        end = None if time_limit is None else time.monotonic() + time_limit
        stretches = None if effort is None else effort * EFFORT_UNIT
        while stretches is None or stretches > 0:
            self._solver.conf_budget(CONFLICTS)
            self._solver.prop_budget(PROPAGATIONS)
            answer: bool | None = self._solver.solve_limited(assumptions=assumptions, expect_interrupt=True)
            if answer is not None:
                return answer
            self.check_memory()
            if end is not None and time.monotonic() >= end:
                return None
            stretches = None if stretches is None else stretches - 1
        return None

    def model(self) -> Sequence[int]:
        """The literals that are true in the solution found last, by variable from 1; 0 for one of no clause."""
        with self._aside():
            found: list[int] = self._solver.get_model()
        found.extend([0] * (self.top - len(found)))
        return found

    def core(self) -> Sequence[int]:
        """Those of the last assumptions that together are impossible."""
        return self._solver.get_core() or ()

    def check_memory(self) -> None:
        """MemoryError if the process is larger than it may be."""
        if self._memory is not None and resident() > self._memory * 1_000_000:
            raise MemoryError


def resident() -> int:
    """Bytes of this process in memory now (where the system does not tell, the most so far)."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
