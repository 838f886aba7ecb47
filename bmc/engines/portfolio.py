"""Engine ``portfolio``: several solvers take turns at a question, each with more effort from round to round.

The first one, ``sat``, answers nearly all questions within its first turn; the others are only made ready when it gives
up, and who answers then has the first turn at the next question. They reason about words where it sees gates, so that
each decides some multiplications that the others do not. Turns are counted in effort, not in seconds: without a time
limit everything is repeatable.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec

from pysmt.fnode import FNode

from bmc.engines.protocol import Alternative, Answer, Cost, Group, GroupSession, Session, Status
from bmc.engines.unrolling import UnrollingEngine
from bmc.errors import MemoryLimitReached
from bmc.records import dataclass
from bmc.system.transition import Run, TransitionSystem

Ask = Callable[[GroupSession, float | None, float | None], Answer]
"""One question, to be put to a solver's session with a time limit and an effort."""


def first(memory: int | None = None, trials: bool = True) -> UnrollingEngine:
    """The engine that has the first turn: ``sat``, without python-sat ``z3``."""
    if find_spec("pysat") is None:
        from bmc.engines.z3 import Z3Engine

        return Z3Engine(memory, trials)
    from bmc.engines.sat import SatEngine

    return SatEngine(memory, trials)


def others(begun: UnrollingEngine, memory: int | None = None, trials: bool = True) -> list[UnrollingEngine]:
    """The engines that follow ``begun``, as far as their packages are installed."""
    found: list[UnrollingEngine] = []
    if begun.name != "z3":
        from bmc.engines.z3 import Z3Engine

        found.append(Z3Engine(memory, trials))
    return found


class PortfolioEngine(UnrollingEngine):
    """Makes sessions on all of ``parts``, engines that count their work together: ``cost`` is the sum.

    ``tell`` is told who works on a question that all gave up once; nothing, unless it is set. ``leading`` is the place
    of the part that has the first turn: the one that last answered where another had given up.
    """

    name = "portfolio"

    def __init__(
        self,
        memory: int | None = None,
        trials: bool = True,
        parts: Sequence[UnrollingEngine] | None = None,
        patience: int | None = None,
    ) -> None:
        """``memory`` in megabytes, for each part; ``trials``: see UnrollingEngine. ``parts``: all that are installed.

        ``patience`` is the effort for a question where the caller sets none (None: it may go on for ever). Each
        question that was given up halves it for later ones, which are mostly parts of the same: so all of them together
        take little longer than the first.
        """
        self._patience = patience
        self.tell: Callable[[str], None] = lambda text: None
        if parts is None:
            begun = first(memory, trials)
            parts = [begun, *others(begun, memory, trials)]
        self.parts = tuple(parts)
        super().__init__(memory, trials)
        limits = [] if patience is None else [f"at most {patience} units of effort for a question"]
        self.version: str = "; ".join([*(f"{part.name}: {part.version}" for part in self.parts), *limits])

    @property
    def cost(self) -> Cost:
        """The cost of all parts together; a turn of one is a query."""
        return self._cost

    @cost.setter
    def cost(self, cost: Cost) -> None:
        self._cost = cost
        for part in self.parts:
            part.cost = cost

    def solver_session(self, system: TransitionSystem, source: FNode, goals: Sequence[FNode]) -> Session:
        def maker(part: UnrollingEngine) -> Callable[[], Session]:
            def make() -> Session:
                part.remember(system)
                return part.solver_session(system, source, goals)

            return make

        return PortfolioSession([maker(part) for part in self.parts], self)

    def forget(self) -> None:
        """The parts forget by themselves when they see another system."""
        self._given_up, self.leading = 0, 0

    @property
    def patience(self) -> int | None:
        """The effort for the next question of which the caller does not say how hard it may be."""
        return None if self._patience is None else max(1, self._patience >> self._given_up)

    def gave_up(self) -> None:
        """Note that ``patience`` was used up in vain."""
        self._given_up += 1


@dataclass(eq=False)
class Turns:
    """One solver of a session: ``make`` makes its own session when its first turn comes.

    ``useless``: it ran out of memory, and is not asked again.
    """

    make: Callable[[], Session]
    session: GroupSession | None = None
    useless: bool = False

    def ready(self) -> GroupSession:
        """The solver's session."""
        if self.session is None:
            made = self.make()
            assert isinstance(made, GroupSession)
            self.session = made
        return self.session


class PortfolioSession:
    """One source's runs, in the solvers of ``makers``: the first is there from the start, the others when needed."""

    def __init__(self, makers: Sequence[Callable[[], Session]], engine: PortfolioEngine) -> None:
        self._engine = engine
        self._turns = [Turns(make) for make in makers]
        self._answering = self._turns[engine.leading].ready()

    def check(
        self, formulas: Sequence[FNode], steps: int, time_limit: float | None = None, effort: float | None = None
    ) -> Answer:
        """See the protocol. ``effort`` is shared out among the turns; UNKNOWN when all solvers gave up."""
        return self._asked(lambda session, *limits: session.check(formulas, steps, *limits), time_limit, effort)

    def check_any(
        self, alternatives: Sequence[Alternative], time_limit: float | None = None, effort: float | None = None
    ) -> Answer:
        """See the protocol, and ``check``."""
        return self._asked(lambda session, *limits: session.check_any(alternatives, *limits), time_limit, effort)

    def check_groups(
        self, groups: Sequence[Group], time_limit: float | None = None, effort: float | None = None
    ) -> Answer:
        """See the protocol, and ``check``."""
        return self._asked(lambda session, *limits: session.check_groups(groups, *limits), time_limit, effort)

    def run(self) -> Run:
        """See the protocol."""
        return self._answering.run()

    def _asked(self, ask: Ask, time_limit: float | None, effort: float | None) -> Answer:
        """The answer; without an ``effort``, the engine's patience is the limit."""
        if effort is not None or self._engine.patience is None:
            return self._by_turns(ask, time_limit, effort)
        answer = self._by_turns(ask, time_limit, self._engine.patience)
        if answer.status is Status.UNKNOWN:
            self._engine.gave_up()
        return answer

    def _by_turns(self, ask: Ask, time_limit: float | None, effort: float | None) -> Answer:
        """The first answer that is not UNKNOWN. A turn of round r has 2 ** r units of effort, as far as they last.

        Where time is limited, a turn has an equal share of what is left with those that follow in its round.
        """
        end = None if time_limit is None else time.monotonic() + time_limit
        rest, left = time_limit, effort
        number = 0
        while True:
            turns = self._in_order()
            for place, turn in enumerate(turns):
                seconds = None if rest is None else rest / (len(turns) - place)
                units: float = 1 << number if left is None else min(1 << number, left)
                if number:
                    name = self._engine.parts[self._turns.index(turn)].name
                    self._engine.tell(f"a hard question, {name} goes on with it ({units:g} units of effort)")
                answer = self._turn(turn, ask, seconds, units)
                if answer.status is not Status.UNKNOWN:
                    self._engine.leading = self._turns.index(turn)
                    return answer
                left = None if left is None else left - units
                self._engine.cost.rest()
                rest = None if end is None else end - time.monotonic()
                if (rest is not None and rest <= 0) or (left is not None and left <= 0):
                    return answer
            number += 1

    def _in_order(self) -> list[Turns]:
        """The solvers that are asked: the leading one first."""
        leader = self._turns[self._engine.leading]
        others = [turn for turn in self._turns if turn is not leader]
        return [turn for turn in (leader, *others) if not turn.useless]

    def _turn(self, turn: Turns, ask: Ask, seconds: float | None, units: float) -> Answer:
        """One turn. A solver that has no memory left gives up for good, the last one with the error."""
        try:
            self._answering = turn.ready()
            return ask(self._answering, seconds, units)
        except MemoryLimitReached:
            turn.useless, turn.session = True, None
            if all(other.useless for other in self._turns):
                raise
            return Answer(Status.UNKNOWN)
