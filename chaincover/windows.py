"""Window shortening: a stretch of a chain searched again for fewer steps, between the same states, with the same goals.

Each query is as small as its stretch, so that long chains become short long before anything is proved about them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from pysmt.fnode import FNode

from bmc.engines.protocol import Run, Session, Status
from bmc.simulate import Simulator
from bmc.system import Valuation, conjunction, equal
from bmc.unroll import at
from chaincover.any_order import AnyOrder
from chaincover.concretize import Concretizer

Found = Callable[[Run], None]

WIDEST = 4
"""Goals in the widest window."""


@dataclass(frozen=True, slots=True)
class Window:
    """Steps ``first`` to ``last`` of a chain, ``goals`` credited within; ``ending``: the chain ends with it."""

    first: int
    last: int
    goals: tuple[str, ...]
    ending: bool


class WindowShortener:
    """Shortens a run that covers goals; ``effort`` is the work per query, see the protocol of sessions."""

    def __init__(self, tools: Concretizer, any_order: AnyOrder, effort: int, found: Found) -> None:
        self._tools = tools
        self._any_order = any_order
        self._effort = effort
        self._found = found
        self._simulator = Simulator(tools.system)
        formulas = [goal.antecedent for goal in tools.goals.values()]
        symbols = [s for f in (*formulas, *tools.end_formulas(0)) for s in f.get_free_variables()]
        names = {symbol.symbol_name().rpartition("@")[0] for symbol in symbols}
        self._variables = tools.system.cone(v.symbol for v in tools.system.state if v.name in names)
        self._failed: set[tuple[FNode, FNode, Window]] = set()

    def work(self, run: Run, credited: Mapping[str, int]) -> Run:
        """``run``, which covers each goal at the step that ``credited`` says, shortened until no window can be.

        Each better run is handed to the callback. LimitReached when time is over.
        """
        while True:
            better = next((b for w in self.windows(run, credited) if (b := self._shorter(run, w)) is not None), None)
            if better is None:
                return run
            run, credited = better, self._any_order.credited(better, tuple(credited))
            self._found(run)

    def windows(self, run: Run, credited: Mapping[str, int]) -> list[Window]:
        """The windows to try, narrow ones first: from one goal's start to another's, no goal across its borders."""
        spans = {goal: (step, step + self._tools.goals[goal].length) for goal, step in credited.items()}
        borders = sorted({0, run.length, *credited.values()})
        borders = [b for b in borders if not any(low < b < high for low, high in spans.values())]
        found = []
        for width in range(1, WIDEST + 1):
            for first, last in zip(borders, borders[width:], strict=False):
                goals = tuple(g for g, (low, high) in spans.items() if first <= low and high <= last and low < last)
                ending = last == run.length
                if ending:
                    goals = tuple(g for g, (low, _) in spans.items() if first <= low)
                found.append(Window(first, last, goals, ending))
        return found

    def _shorter(self, run: Run, window: Window) -> Run | None:
        """``run`` with ``window`` made shorter, None if it cannot be or the solver gives up."""
        before, after = (self._fixed(run.states[step]) for step in (window.first, window.last))
        key = (before, after, replace(window, first=0, last=window.last - window.first))
        if key in self._failed:
            return None
        session = self._tools.new_session(at(before, 0))
        for length in range(window.last - window.first):
            status = self._ask(session, window, length, after)
            if status is Status.SAT:
                return self._spliced(run, window, session.run())
            if status is Status.UNKNOWN:
                self._tools.budget.check()
                break
        self._failed.add(key)
        return None

    def _ask(self, session: Session, window: Window, length: int, after: FNode) -> Status:
        formulas = self._any_order.formulas(window.goals, length)
        if window.ending:
            formulas += self._tools.end_formulas(length)
        else:
            formulas.append(at(after, length))
        return session.check(formulas, length, self._tools.budget.for_query(), self._effort).status

    def _fixed(self, state: Valuation) -> FNode:
        return conjunction(equal(v.symbol, v.type.constant(state[v.name])) for v in self._variables)

    def _spliced(self, run: Run, window: Window, part: Run) -> Run:
        inputs = (*run.inputs[: window.first], *part.inputs, *run.inputs[window.last :])
        return self._simulator.run(run.states[0], inputs)
