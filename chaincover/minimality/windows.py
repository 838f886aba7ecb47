"""Window shortening: a stretch of a chain searched again for fewer steps, between the same states, with the same goals.

Each query is as small as its stretch, so that long chains become short long before anything is proved about them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pysmt.fnode import FNode

from bmc.engines.protocol import Session, Status
from bmc.formulas.unroll import at
from bmc.system.run import Run
from bmc.system.simulation import Simulator
from bmc.system.transition import conjunction, equal
from chaincover.concretise.any_order import AnyOrder
from chaincover.concretise.check_path import Concretizer

Found = Callable[[Run], None]
Values = tuple[int, ...]

WIDEST = 4
"""Goals in the widest window."""


@dataclass(frozen=True, slots=True)
class Window:
    """Steps ``first`` to ``last`` of a chain, ``goals`` credited within; ``ending``: the chain ends with it."""

    first: int
    last: int
    goals: tuple[str, ...]
    ending: bool


@dataclass(frozen=True, slots=True)
class Between:
    """A question: in how few steps, less than ``steps``, can ``goals`` be covered from a state to another one?

    ``before`` and ``after`` are the values of the variables that goals and final condition read. ``ending``: a run may
    end in any state that satisfies the final condition instead.
    """

    before: Values
    after: Values
    goals: tuple[str, ...]
    steps: int
    ending: bool


class WindowAnswers(Protocol):
    """Answers questions about windows; each answer is remembered. LimitReached when time is over."""

    def first(self, questions: Sequence[Between]) -> tuple[int, int] | None:
        """The place of the first of ``questions`` for which there is a run, and its least number of steps.

        None if there is a run for none of them. A question on which the solver gives up counts as one without.
        """


class WindowSearch:
    """Answers by queries; ``effort`` is the work for each, see the protocol of sessions."""

    def __init__(self, tools: Concretizer, any_order: AnyOrder, effort: int) -> None:
        self._tools = tools
        self._any_order = any_order
        self._effort = effort
        formulas = [goal.antecedent for goal in tools.goals.values()]
        symbols = [s for f in (*formulas, *tools.end_formulas(0)) for s in f.get_free_variables()]
        names = {symbol.symbol_name().rpartition("@")[0] for symbol in symbols}
        self._variables = tools.system.cone(v.symbol for v in tools.system.state if v.name in names)
        self._known: dict[Between, int | None] = {}
        self._last: Session | None = None  # what sessions share lives as long as one of them does

    def question(self, run: Run, window: Window) -> Between:
        """What there is to ask about ``window`` of ``run``."""
        before, after = (
            tuple(run.states[step][v.name] for v in self._variables) for step in (window.first, window.last)
        )
        return Between(before, after, window.goals, window.last - window.first, window.ending)

    def open_ones(self, questions: Sequence[Between]) -> list[Between]:
        """Those that were not answered yet."""
        return [question for question in dict.fromkeys(questions) if question not in self._known]

    def enter(self, question: Between, steps: int | None) -> None:
        """Take note of an answer found elsewhere."""
        self._known[question] = steps

    def first(self, questions: Sequence[Between]) -> tuple[int, int] | None:
        """See the protocol."""
        found = ((place, self.least(question)) for place, question in enumerate(questions))
        return next(((place, steps) for place, steps in found if steps is not None), None)

    def least(self, question: Between) -> int | None:
        """The least number of steps, None if there is no run, or the solver gave up before one was found."""
        if question not in self._known:
            self._last = self._tools.new_session(at(self._fixed(question.before), 0))
            self._known[question] = self._least(self._last, question)
        return self._known[question]

    def _least(self, session: Session, question: Between) -> int | None:
        for steps in range(question.steps):
            status = self._ask(session, question, steps)
            if status is Status.SAT:
                return steps
            if status is Status.UNKNOWN:
                self._tools.budget.check()
                return None
        return None

    def run(self, question: Between, steps: int) -> Run | None:
        """A run of ``steps`` steps that answers ``question``, None where the solver gives up."""
        session = self._tools.new_session(at(self._fixed(question.before), 0))
        return session.run() if self._ask(session, question, steps) is Status.SAT else None

    def _ask(self, session: Session, question: Between, steps: int) -> Status:
        formulas = self._any_order.formulas(question.goals, steps)
        if question.ending:
            formulas += self._tools.end_formulas(steps)
        else:
            formulas.append(at(self._fixed(question.after), steps))
        return session.check(formulas, steps, self._tools.budget.for_query(), self._effort).status

    def _fixed(self, values: Values) -> FNode:
        return conjunction(
            equal(v.symbol, v.type.constant(value)) for v, value in zip(self._variables, values, strict=True)
        )


class WindowShortener:
    """Shortens a run that covers goals; ``effort`` is the work per query, see the protocol of sessions.

    ``answers`` tell which windows can be shorter, and the session of ``tools`` how: so the runs are the same whoever
    answers.
    """

    def __init__(
        self,
        tools: Concretizer,
        any_order: AnyOrder,
        effort: int,
        found: Found,
        answers: WindowAnswers | None = None,
    ) -> None:
        self._tools = tools
        self._any_order = any_order
        self._found = found
        self._simulator = Simulator(tools.system)
        self._search = WindowSearch(tools, any_order, effort)
        self._answers = answers or self._search

    def work(self, run: Run, credited: Mapping[str, int]) -> Run:
        """``run``, which covers each goal at the step that ``credited`` says, shortened until no window can be.

        Each better run is handed to the callback. LimitReached when time is over.
        """
        while True:
            better = self._better(run, self.windows(run, credited))
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

    def _better(self, run: Run, windows: Sequence[Window]) -> Run | None:
        """``run`` with the first window that can be shorter made so; None if none can be, or the solver gives up."""
        questions = [self._search.question(run, window) for window in windows]
        begin = 0
        while (found := self._answers.first(questions[begin:])) is not None:
            place, steps = begin + found[0], found[1]
            part = self._search.run(questions[place], steps)
            if part is not None:
                return self._spliced(run, windows[place], part)
            begin = place + 1
        return None

    def _spliced(self, run: Run, window: Window, part: Run) -> Run:
        inputs = (*run.inputs[: window.first], *part.inputs, *run.inputs[window.last :])
        return self._simulator.run(run.states[0], inputs)
