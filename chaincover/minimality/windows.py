"""Shorter chains by questions with the goals at any steps: for windows of a chain, and for the whole chain.

A window is a sub-path of a chain that is searched again for fewer steps, between the same states and with the same
goals. Each query is as small as its window, so that long chains become short long before anything is proved about them.
Whole lengths are asked in one question each: such an answer is a chain shorter than those of a fixed order and fixed
distances, or raises the proved lower bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pysmt.fnode import FNode
from pysmt.shortcuts import Or

from bmc.engines.protocol import Session, Status
from bmc.errors import counted
from bmc.formulas.unroll import at
from bmc.records import dataclass
from bmc.system.simulation import Simulator
from bmc.system.transition import Run, conjunction, equal
from chaincover.chain import Chain
from chaincover.facts import CHAIN
from chaincover.known import Board, Known, Proof
from chaincover.limits import BRIEF, PER_UNIT
from chaincover.orderings.bound import WHOLE
from chaincover.problem import Questions
from chaincover.stages import await_news
from properties.goal import Goal


class AnyOrder:
    """Goals at any steps of a run; they may share steps."""

    def __init__(self, goals: Mapping[str, Goal]) -> None:
        self._goals = goals
        self._placed: dict[tuple[str, int], FNode] = {}

    def formulas(self, names: Sequence[str], length: int) -> list[FNode]:
        """What a run of ``length`` steps that covers the goals ``names`` satisfies; false where it is too short."""
        first = {name: self._goals[name].over(0) for name in names}
        return [Or([self._ending(name, step) for step in range(first[name], length + 1)]) for name in names]

    def _ending(self, name: str, step: int) -> FNode:
        key = (name, step)
        if key not in self._placed:
            self._placed[key] = self._goals[name].ending(step)
        return self._placed[key]


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


def shorten_windows(board: Board) -> None:
    """Shorten the best chain by its windows; again when another stage has found a shorter one."""
    if board.on_states:
        return
    windows = WindowSearch(board.questions)
    while True:
        chain = board.known.chain
        assert chain is not None
        board.say("windows: shorter sub-paths of the chain")
        while (better := windows.shorter(chain)) is not None and board.offer(better):
            chain = board.known.chain or chain
        await_news(board, CHAIN, chain)


class WindowSearch:
    """Searches windows of chains through the goals of ``questions`` again; what it has found out is remembered."""

    def __init__(self, questions: Questions) -> None:
        self._questions, problem = questions, questions.problem
        self._any_order = AnyOrder(problem.by_name)
        self._simulator = Simulator(problem.system)
        formulas = [goal.antecedent for goal in problem.goals]
        symbols = [s for f in (*formulas, *problem.end_formulas(0)) for s in f.get_free_variables()]
        names = {symbol.symbol_name().rpartition("@")[0] for symbol in symbols}
        self._variables = problem.system.cone(v.symbol for v in problem.system.state if v.name in names)
        self._known: dict[Between, int | None] = {}
        self._last: Session | None = None  # what sessions share lives as long as one of them does

    def shorter(self, chain: Chain) -> Run | None:
        """The run of ``chain`` with the first window that can be shorter made so; None if none can be.

        LimitReached when time is over.
        """
        for window in self.windows(chain):
            asked = self.question(chain.run, window)
            steps = self.least(asked)
            part = None if steps is None else self.run(asked, steps)
            if part is not None:
                inputs = (*chain.run.inputs[: window.first], *part.inputs, *chain.run.inputs[window.last :])
                return self._simulator.run(chain.run.states[0], inputs)
        return None

    def windows(self, chain: Chain) -> list[Window]:
        """The windows to try, narrow ones first: from one goal's start to another's."""
        length = chain.length
        starts = {hit.goal: hit.step for hit in chain.hits if hit.goal in self._questions.problem.by_name}
        borders = sorted({0, length, *starts.values()})
        found = []
        for width in range(1, WIDEST + 1):
            for first, last in zip(borders, borders[width:], strict=False):
                ending = last == length
                goals = tuple(goal for goal, step in starts.items() if first <= step and (step < last or ending))
                found.append(Window(first, last, goals, ending))
        return found

    def question(self, run: Run, window: Window) -> Between:
        """What there is to ask about ``window`` of ``run``."""
        before, after = (
            tuple(run.states[step][v.name] for v in self._variables) for step in (window.first, window.last)
        )
        return Between(before, after, window.goals, window.last - window.first, window.ending)

    def least(self, question: Between) -> int | None:
        """The least number of steps, None if there is no run, or the solver gave up before one was found."""
        if question not in self._known:
            self._last = self._questions.session(at(self._fixed(question.before), 0))
            self._known[question] = self._least(self._last, question)
        return self._known[question]

    def _least(self, session: Session, question: Between) -> int | None:
        for steps in range(question.steps):
            status = self._ask(session, question, steps)
            if status is Status.SAT:
                return steps
            if status is Status.UNKNOWN:
                self._questions.limits.check()
                return None
        return None

    def run(self, question: Between, steps: int) -> Run | None:
        """A run of ``steps`` steps that answers ``question``, None where the solver gives up."""
        session = self._questions.session(at(self._fixed(question.before), 0))
        return session.run() if self._ask(session, question, steps) is Status.SAT else None

    def _ask(self, session: Session, question: Between, steps: int) -> Status:
        formulas = self._any_order.formulas(question.goals, steps)
        if question.ending:
            formulas += self._questions.problem.end_formulas(steps)
        else:
            formulas.append(at(self._fixed(question.after), steps))
        limits = self._questions.limits
        return session.check(formulas, steps, limits.for_query(), BRIEF).status

    def _fixed(self, values: Values) -> FNode:
        return conjunction(
            equal(v.symbol, v.type.constant(value)) for v, value in zip(self._variables, values, strict=True)
        )


LEAST = 4.0
"""Units of work for the first questions about whole lengths; twice as many each time that the solver gave up."""


def refute_lengths(board: Board) -> None:
    """Refute lengths upwards from the proved lower bound: the first length that has a chain is the least.

    Where the solver gives up on one, a length in the upper half of those below the best chain is tried, then the same
    one again, with twice the work: an incremental solver goes on from what it has learned. That ends where it gives up
    before it has done half of the work that it may do.
    """
    if board.known.enumerated is not None:
        return
    whole, units, tried = _WholeChains(board), LEAST, 0
    while (length := board.known.length) is None or board.known.lower < length:
        first, following = _refuted(board.known)
        board.say(f"whole lengths: is there a chain of {counted(following, 'step')}?")
        spent = board.limits.spent
        status = whole.ask(following, units)
        if status is Status.SAT:
            return
        if status is Status.UNSAT:
            board.prove(refuted=(first, following + 1), basis=WHOLE)
            continue
        if board.limits.spent - spent < units / 2:
            return
        if length is not None and following + 1 < length:
            tried = (max(tried, following) + length) // 2 if tried + 1 < length else (following + length) // 2
            whole.ask(tried, units)
        units *= 2


def _refuted(known: Known) -> tuple[int, int]:
    """The first length that is refuted by itself, and the first one above the lower bound."""
    proof = known.proof if known.still_holds(known.proof) else Proof(())
    first, following = proof.refuted
    return (first, following) if first <= proof.order_bound < following else (proof.order_bound, proof.order_bound)


class _WholeChains:
    """Asks for chains of a given length."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._questions = board.questions
        self._kept = board.engine.tries(board.problem.system)  # sets of values say what later invariants would
        self._any_order = AnyOrder(board.problem.by_name)

    def ask(self, length: int, units: float) -> Status:
        """Is there a chain of exactly ``length`` steps? It is offered, if there is. ``units`` of work, if so many are
        left."""
        questions = self._questions if self._kept else self._board.questions
        formulas = self._any_order.formulas(questions.problem.names, length) + questions.problem.end_formulas(length)
        session, limits = questions.from_init, questions.limits
        limits.spend(length * len(questions.problem.names) / PER_UNIT.places)
        status = session.check(formulas, length, limits.for_query(), min(units, max(LEAST, limits.unspent))).status
        if status is Status.SAT:
            self._board.offer(session.run())
        return status
