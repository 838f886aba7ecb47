"""A first chain that always goes on to the nearest goal: quick for many goals, and seldom the shortest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pysmt.fnode import FNode
from pysmt.shortcuts import Or

from bmc.engines.protocol import Session, Status
from bmc.errors import LimitReached
from bmc.formulas.unroll import at
from bmc.system.simulation import Simulator
from bmc.system.transition import Run
from chaincover.chain import STORED
from chaincover.facts import CHAIN
from chaincover.known import Board
from chaincover.problem import Questions
from chaincover.stages import await_news
from properties.monitor import Monitor

PATIENCE = 40
"""Queries of limited effort that one part of a chain may leave open."""

Question = tuple[int, Sequence[FNode]]
"""A number of steps, and what is to hold in a run of so many."""


def nearest_goal_first(board: Board) -> None:
    """A chain that goes on from the best one, or from init, to the nearest goal each time, as far as that leads.

    What is reached is offered with each goal, and where a limit or an interrupt ends it. It goes on from where it is
    unless another stage has offered a better chain by then.
    """
    way, own = None, None
    while not (board.known.complete or board.known.no_chain):
        best = board.known.chain
        if way is None or best is not own:
            way = NearestFirst(board.questions, board.problem.names, board.options.bound, best.run if best else None)
            board.say("nearest goal first: from goal to goal by queries")
        try:
            further = way.further()
            found = way.ended()
        except (LimitReached, KeyboardInterrupt):
            if way.reached is not None:
                board.offer(way.reached)
            raise
        if found is not None and board.offer(found):
            own = board.known.chain
        elif not further:
            await_news(board, CHAIN, best)


class NearestFirst:
    """From the state reached, the goal that can be ended first comes next, one after the other; then the end.

    Each goal starts within ``within`` steps of the end before (None: no limit). It begins where ``begun``, a run
    from init, ends. Every goal counts that is covered on the way. What a query of limited effort leaves open is passed
    over, up to ``PATIENCE`` times for a goal.
    """

    def __init__(
        self,
        questions: Questions,
        names: Sequence[str],
        within: int | None = None,
        begun: Run | None = None,
    ) -> None:
        self._questions = questions
        self._goals = {name: questions.problem.by_name[name] for name in names}
        self._monitor = Monitor(list(self._goals.values()))
        self._limit = STORED if within is None else within
        self._effort = questions.limits.question()
        self._simulator = Simulator(questions.problem.system)
        self.reached = begun
        self._left = dict.fromkeys(self._goals)
        if begun is not None:
            self._strike_off(begun, "")

    def run(self) -> Run | None:
        """A run from init through as many goals as that way leads to, and on to the end where there is a way.

        None if it leads nowhere. LimitReached when time is over; ``reached`` is the run until then.
        """
        while self.further():
            pass
        return self.ended() or self.reached

    def further(self) -> bool:
        """Lengthen the run to the nearest goal, and strike off what it covers; whether there is a way to one."""
        part = self._nearest(self.reached, list(self._left)) if self._left else None
        if part is None:
            return False
        name, piece = part
        self.reached = self._joined(self.reached, piece)
        self._strike_off(self.reached, name)
        return True

    def ended(self) -> Run | None:
        """The run so far and on to the end; None where no way there is found."""
        return self._to_end(self.reached)

    def _strike_off(self, run: Run, aimed: str) -> None:
        covered = self._monitor.covered(run)
        self._left = {name: None for name in self._left if name != aimed and not covered[name]}

    def _session(self, run: Run | None) -> Session:
        """From the last state of ``run``, or from init."""
        questions = self._questions
        if run is None:
            return questions.session(at(questions.problem.system.init_formula, 0))
        return questions.session_from(run.states[-1])

    def _nearest(self, run: Run | None, names: Sequence[str]) -> tuple[str, Run] | None:
        """The goal of ``names`` that can be ended first, with the run to its end."""
        ends = {name: (self._goals[name].over(0), self._goals[name].over(self._limit)) for name in names}
        longest = max(last for _, last in ends.values())

        def due(steps: int) -> list[str]:
            return [name for name, (first, last) in ends.items() if first <= steps <= last]

        def placed(steps: int) -> FNode:
            return Or([self._goals[name].ending(steps) for name in due(steps)])

        asked = ((steps, [placed(steps)]) for steps in range(longest + 1) if due(steps))
        piece = self._shortest(self._session(run), asked)
        if piece is None:
            return None
        return next(n for n in due(piece.length) if self._monitor.ends(piece, n, piece.length)), piece

    def _to_end(self, run: Run | None) -> Run | None:
        if self._questions.problem.final is None:
            return run if run is not None else self._joined(None, Run((self._simulator.initial(),), ()))
        asked = ((steps, self._questions.problem.end_formulas(steps)) for steps in range(self._limit + 1))
        piece = self._shortest(self._session(run), asked)
        return None if piece is None else self._joined(run, piece)

    def _shortest(self, session: Session, asked: Iterable[Question]) -> Run | None:
        """A run for the first question that has one; None if none has, or too many are left open before."""
        left_open = 0
        for steps, formulas in asked:
            status = session.check(formulas, steps, self._questions.limits.for_query(), self._effort).status
            if status is Status.SAT:
                return session.run()
            if status is Status.UNKNOWN:
                self._questions.limits.check()
                left_open += 1
                if left_open > PATIENCE:
                    return None
        return None

    def _joined(self, run: Run | None, piece: Run) -> Run:
        """``run`` and then ``piece``, simulated as one."""
        if run is None:
            return piece
        return self._simulator.run(run.states[0], [*run.inputs, *piece.inputs])
