"""An incremental SAT solver of python-sat, Glucose if no other, that can be limited, interrupted, told its memory."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Any
from weakref import finalize

from bmc import ending
from bmc.engines.protocol import CLAUSE, CONFLICT, PROPAGATION, QUESTION, VARIABLE, WORK, Cost
from bmc.footprint import MB, taken

PROPAGATIONS, CONFLICTS = 1_500_000, 5_000
"""The solver works at most so much (less than a second, mostly) before it is asked whether to go on. Twice as much: a
run that is called off, or whose time is over, ends later."""

Clause = list[int]
"""Literals of which one at least is true."""

Aside = Callable[[], AbstractContextManager[None]]
"""What surrounds the library's work besides answers, to measure it."""


def owned(library: type, **given: Any) -> Any:
    """A solver of python-sat, of the class ``library``, that nobody frees but its owner, by one call of ``delete``.

    python-sat has a destructor call that too. An exception of a signal may come after the memory has been freed and
    before that is noted, and then the destructor would free it once more.
    """
    return _without_destructor(library)(**given)


@cache
def _without_destructor(library: type) -> type:
    return type(library.__name__, (library,), {"__del__": lambda self: None})


class SatSolver:
    """Variables are numbers from 1, of which 1 is true; a literal is negative where inverted.

    The work is done in portions, between which time, memory and signals are looked at: nothing depends on threads.
    """

    def __init__(self, memory: int | None = None, cost: Callable[[], Cost] = Cost, library: type | None = None) -> None:
        """``memory``: how many megabytes this process and its children may take together. ``cost`` tells where work is
        counted.

        ``library``: the class of the solver in python-sat, which must be one that can be limited. The library is loaded
        for the first solver: where the states are enumerated, there may be none.
        """
        from pysat.solvers import Glucose4

        self._solver = owned(library or Glucose4)
        finalize(self, self._solver.delete)
        self._memory, self._cost = memory, cost
        self._searched = 0
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
        """As ``add``, measured and counted."""
        cost = self._cost()
        cost.work += len(clauses) * CLAUSE
        with cost.in_library():
            self.add(clauses)

    def solve(self, assumptions: Sequence[int], time_limit: float | None, effort: float | None) -> bool | None:
        """Whether all clauses and ``assumptions`` can hold together; None if a limit came first.

        ``time_limit`` in seconds, ``effort`` in units of about a second, repeatable. MemoryError beyond the memory
        allowed; KeyboardInterrupt soon after an interrupt.
        """
        end = None if time_limit is None else time.monotonic() + time_limit
        left = None if effort is None else int(effort * WORK)
        while left is None or left > 0:
            self._solver.conf_budget(CONFLICTS if left is None else min(CONFLICTS, left // CONFLICT + 1))
            self._solver.prop_budget(PROPAGATIONS if left is None else min(PROPAGATIONS, left // PROPAGATION + 1))
            answer: bool | None = self._solver.solve_limited(assumptions=assumptions, expect_interrupt=True)
            spent = self._counted()
            if answer is not None:
                return answer
            ending.check()
            self.check_memory()
            if end is not None and time.monotonic() >= end:
                return None
            left = None if left is None else left - spent
            self._cost().rest()
        return None

    def _counted(self) -> int:
        """The work of the portion that ended just now; it is added to the cost."""
        done = self._solver.accum_stats()
        searched: int = done["propagations"] * PROPAGATION + done["conflicts"] * CONFLICT
        spent, self._searched = searched - self._searched + max(QUESTION, self.top * VARIABLE), searched
        self._cost().work += spent
        return spent

    def model(self) -> Sequence[int]:
        """The literals that are true in the solution found last, by variable from 1; 0 for one of no clause."""
        with self._cost().in_library():
            found: list[int] = self._solver.get_model()
        found.extend([0] * (self.top - len(found)))
        return found

    def core(self) -> Sequence[int]:
        """Those of the last assumptions that together are impossible."""
        return self._solver.get_core() or ()

    def check_memory(self) -> None:
        """MemoryError if this process and its children take more than they may."""
        if self._memory is not None and taken() > self._memory * MB:
            raise MemoryError
