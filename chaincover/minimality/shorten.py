"""The whole chain in one query: goals at any steps in any order, at a given length.

Finds chains shorter than those of a fixed order and fixed distances (Algorithms 8 to 12 give the first one), and raises
the proven lower bound length by length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bmc.engines.protocol import Status
from bmc.system.run import Run
from chaincover.concretise.any_order import AnyOrder
from chaincover.concretise.check_path import Concretizer


class Shortener:
    """Searches runs of any length that cover ``goals`` (names); ``effort`` is the work per query, see the protocol.

    ``lower`` is a length below which no chain exists, proved (at the start ``first``); ``length`` that of the shortest
    run known, or one more than the longest to try. Both get better while ``work`` runs, and stay right if it is
    stopped. Each run found is handed to ``found``.
    """

    def __init__(
        self,
        tools: Concretizer,
        any_order: AnyOrder,
        goals: Sequence[str],
        lower: int,
        length: int,
        effort: int,
        found: Callable[[Run], None],
    ) -> None:
        self._tools = tools
        self._any_order = any_order
        self._goals = tuple(goals)
        self.first = lower
        self.lower = lower
        self.length = length
        self._effort = effort
        self._found = found

    def work(self) -> None:
        """Refute lengths upwards: the first possible one is the least. Where the solver gives up on a length, halve the
        lengths that are left. LimitReached when time is over."""
        while self.lower < self.length:
            status = self._ask(self.lower)
            if status is Status.UNKNOWN:
                break
            if status is Status.UNSAT:
                self.lower += 1
        low = self.lower + 1
        while low < self.length:
            middle = (low + self.length) // 2
            if self._ask(middle) is not Status.SAT:
                low = middle + 1

    def _ask(self, length: int) -> Status:
        """Is there a chain of exactly ``length`` steps?"""
        formulas = self._any_order.formulas(self._goals, length)
        session, budget = self._tools.session, self._tools.budget
        formulas += self._tools.end_formulas(length)
        status = session.check(formulas, length, budget.for_query(), self._effort).status
        if status is Status.SAT:
            self.length = length
            self._found(session.run())
        elif status is Status.UNKNOWN:
            budget.check()
        return status
