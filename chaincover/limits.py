"""What a run may spend: seconds by the clock, and units of work, which are the same on every machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from typing import TYPE_CHECKING, NamedTuple, Protocol
from weakref import WeakSet

from bmc import ending, footprint
from bmc.errors import LimitReached

if TYPE_CHECKING:
    from bmc.engines.protocol import Cost

UNITS = 60
"""Units of work in one unit of ``--effort``. A unit takes about a second on a usual machine."""


class PerUnit(NamedTuple):
    """How much of each kind of work takes about one unit of it, a second on a usual machine.

    ``python -m benchmarks effort`` shows how well these fit a machine. Twice as much of a kind makes it cheaper: a
    stage that does it does more in its turns, and has more of the effort.
    """

    simplex: int = 220_000_000
    """Iterations of the simplex method, times rows and columns."""
    order_simplex: int = 100_000_000
    """The same in programs for orders of goals, which are small."""
    row_entries: int = 10_000_000
    """Entries of the rows that a linear program starts with."""
    simulated: int = 20_000_000
    """Operations of the steps of a run by itself."""
    sampled: int = 5_000_000
    """Operations of random steps on which ``check`` looks for goals and undefined behaviour."""
    values: int = 400_000_000
    """Operations on single values while states are enumerated."""
    run_values: int = 1_200_000_000
    """Operations on single values in many runs side by side."""
    pairs: int = 3_000_000_000
    """Pairs of goals, at one step of one run each, whose distance is looked at."""
    compiled: int = 10_000
    """Operations that are compiled."""
    read_nodes: int = 5_000
    """Nodes of the formulas of a step that are read."""
    analysed_nodes: int = 6_000
    """Nodes of the formulas of a step of which a slice, or the values of its variables, are found."""
    checked_nodes: int = 20_000
    """Nodes of the formulas of a step that ``check`` looks through."""
    steps: int = 20_000_000
    """Steps of the system that are followed, for one goal each."""
    arrows: int = 1_500_000
    """Arrows between states with the goals covered that are followed."""
    set_arrows: int = 5_000_000
    """The same where all sets of goals that chains cover are wanted."""
    checked_arrows: int = 10_000_000
    """Arrows that are followed to check prices."""
    cut_arrows: int = 300_000
    """Arrows in use, times goals, in the search for minimal cuts."""
    arcs: int = 250_000
    """Arcs of the graph of jumps that are followed."""
    weighed_arcs: int = 1_500_000
    """Such arcs of which just the weights are looked at."""
    places: int = 300_000
    """Places of goals in windows of a chain for which formulas are made and encoded."""
    cells: int = 60_000_000
    """States with the memory of goals, times steps, in layers for canonical inputs."""


PER_UNIT = PerUnit()


INDUCTION = 8
"""The largest k of a proof by k-induction. With twice as much, goals far beyond their last change are proved to be
unreachable where states cannot be listed, after questions about twice as many steps."""

PER_STEP = 40
"""Operations that a step of such a run takes besides its own. With twice as many, small programs rest for fewer
steps."""

BRIEF = 1
"""Units of work for one question on which nothing rests alone: where these do not suffice, the next one is asked. With
twice as many, more invariants are proved on hard arithmetic, and hard questions take twice as long from all else."""

HALF = 0.5
"""Part of the time and effort left that the first of two searches may take, the second of which needs some as well."""

QUESTION = 5
"""Units of work that one question may take, and as many more for each further ``UNITS`` that are spent: one hard
question must not starve the others. With twice as many, one takes most of the least efforts."""


MEMORY = 128 << 20
"""Bytes that the nodes of one search may take for each unit of effort; for less than one as for one."""


LOOK = 0.1
"""Units of work from one look at the memory that is taken to the next. With twice as many, twice as much may be taken
beyond the limit; a look takes a quarter of a millisecond."""

AFTER = 0.25
"""Part of the effort that each part of what comes once the search is over may take beside it: questions for canonical
inputs, tidy ones, and the question whether a chain relies on its start. With twice as much, a long chain that used the
effort up has more canonical inputs, and the whole of a run takes up to three quarters of the effort more."""

AFTER_SECONDS = 2.0
"""Seconds for it from the moment at which the clock or a signal has ended the search. With twice as many, a longer
chain has tidy inputs on a busy machine, and writing and telling the result has so much less of its time."""


class EffortUsedUp(LimitReached):
    """The work that something may take is done."""

    limit = "effort"


class Spending(Protocol):
    """Something that counts its work, such as an engine."""

    @property
    def cost(self) -> Cost:
        """What it has cost so far."""


class Shares:
    """The shares that something has made which works in turns. They do not count what engines are asked for meanwhile
    by others."""

    def __init__(self) -> None:
        self.made: WeakSet[Limits] = WeakSet()
        self.asked = 0.0


class Limits:
    """Counts down ``seconds`` from its making; no question takes more than ``query_limit`` seconds.

    ``effort`` is the work that the whole run may take, as ``--effort`` gives it. None always means: no limit. Every
    question to a solver and every loop of a search asks here before it goes on. That is where a stage whose turn is
    over is paused (``pause_after``), and where a run ends whose time is over.
    """

    def __init__(
        self, seconds: float | None = None, query_limit: float | None = None, effort: float | None = None
    ) -> None:
        self.query_limit, self._own = query_limit, 0.0
        self.allow(seconds, effort)
        self._of: Limits | None = None
        self._watched: list[Spending] = []
        self._shares, self._away = Shares(), 0.0
        self._turn = inf
        self._pause: Callable[[], None] | None = None
        self._looked_at = 0.0
        self._look: Callable[[int], None] = _within_memory

    def allow(self, seconds: float | None, effort: float | None) -> None:
        """``seconds`` from now on, and ``effort`` in all: what was spent before is part of it."""
        self.seconds, self.effort = seconds, effort
        self._end = None if seconds is None else min(time.monotonic() + seconds, ending.end())

    def watch(self, spending: Spending) -> None:
        """Count the work of ``spending`` too, from its beginning."""
        if not any(known is spending for known in self._watched):
            self._watched.append(spending)
            spending.cost.left = lambda: min(self.foreseen, self.unspent)
            spending.cost.pause = self.rest

    def spend(self, units: float) -> None:
        """Count ``units`` of work."""
        self._own += units
        if self._of is not None:
            self._of.spend(units)

    @property
    def spent(self) -> float:
        """Units of work spent so far."""
        return self._own + self._asked

    @property
    def _asked(self) -> float:
        """Units of work of the engines that are watched; in a share without what others have asked them for."""
        if self._of is not None:
            return self._of._asked - self._away
        return sum(spending.cost.effort for spending in self._watched)

    @property
    def used_up(self) -> bool:
        """Whether the effort is."""
        return self.unspent <= 0

    @property
    def unspent(self) -> float:
        """Units of work left, infinite without a limit."""
        return inf if self.effort is None else max(0.0, self.effort * UNITS - self.spent)

    @property
    def foreseen(self) -> float:
        """Units of work that may be planned with: as many as were spent so far, and at first what is left of an effort
        of 1. So what takes more than that does not begin before all else has had as much; and a run with more effort
        begins as one with less. In a share, those left."""
        if self._of is not None and self.effort is not None:
            return self.unspent
        return max(UNITS - self.spent, self.spent)

    @property
    def over(self) -> bool:
        """Whether nothing is left: of the time, or of the effort."""
        return self.used_up or not self.left()

    def memory(self, most: int) -> int:
        """Bytes that the nodes of one search may take, up to ``most``: the more the greater the effort is."""
        return footprint.part(most if self.effort is None else min(most, int(max(1.0, self.effort) * MEMORY)))

    def look_at_memory(self, look: Callable[[int], None] | None) -> None:
        """Let ``look`` decide what is done with the bytes that are taken; None: MemoryLimitReached if they are too
        many."""
        self._look = look or _within_memory

    def question(self) -> int | None:
        """Units of work that the next question may take: more the more were spent, no more than are left; None for no
        limit."""
        whole = None if self._of is None else self._of.question()
        if self.effort is None:
            return whole
        most = QUESTION * max(1.0, self.spent / UNITS) if whole is None else whole
        return max(1, round(min(most, self.unspent)))

    def pause_after(self, units: float, pause: Callable[[], None] | None) -> None:
        """Let ``pause`` be called at the first ``check`` after ``units`` more of work, or once the effort is used up.

        None: no more.
        """
        most = inf if self.effort is None else self.effort * UNITS
        if self._of is not None:  # a turn within a turn ends with it
            units = min(units, self._of._turn - self._of.spent)
        self._turn, self._pause = min(self.spent + units, most), pause

    def rest(self) -> None:
        """Pause a stage in the middle of a question that goes on for ``QUESTION`` units beyond the turn, or until the
        effort is used up."""
        if self._pause is not None and (self.used_up or self.spent >= self._turn + QUESTION):
            self._pause()

    @property
    def turn_over(self) -> bool:
        """Whether the next ``check`` pauses the stage whose turn it is."""
        return self._pause is not None and self.spent >= self._turn

    def extend(self, units: float) -> None:
        """Let the turn under way last for ``units`` more of work, if it would end before."""
        if self._pause is not None:
            self._turn = max(self._turn, self.spent + min(units, self.unspent))

    def end_turn(self) -> None:
        """Let the turn under way be over with the next ``check``."""
        if self._pause is not None:
            self._turn = min(self._turn, self.spent)

    def for_query(self) -> float | None:
        """Seconds that the next query may take, None for no limit. LimitReached if no time is left."""
        self.check()
        left = None if self._end is None else self._end - time.monotonic()
        limits = [limit for limit in (left, self.query_limit) if limit is not None]
        return min(limits) if limits else None

    def left(self) -> float:
        """Seconds left, infinite without a limit, 0 when time is over."""
        return inf if self._end is None else max(0.0, self._end - time.monotonic())

    def share(self, part: float) -> Limits:
        """Limits over ``part`` of the time and of the effort that are left, beginning now.

        What is spent there is spent here too. There, ``check`` ends what runs once the effort is used up.
        """
        effort = None if self.effort is None else max(0.0, self.effort - self.spent / UNITS) * part
        made = Limits(None if self._end is None else self.left() * part, self.query_limit, effort)
        if made.seconds is not None:  # also where what comes after a search may go on beyond the end of that
            made._end = time.monotonic() + made.seconds
        made._of, made._watched = self, self._watched
        made._own = -self._asked
        self._shares.made.add(made)
        return made

    @contextmanager
    def shares_of(self, shares: Shares) -> Iterator[None]:
        """Within, these are the ``shares`` to which new ones are added, and in which work is counted."""
        for share in shares.made:
            share._away += self._asked - shares.asked
        others, self._shares = self._shares, shares
        try:
            yield
        finally:
            shares.asked, self._shares = self._asked, others

    def portion(self, units: float) -> Limits:
        """Limits over at most so many ``units`` of work of what is left: a ``share`` that is no longer than that."""
        made = self.share(1.0)
        made.effort = units / UNITS if made.effort is None else min(made.effort, units / UNITS)
        return made

    def go_on(self, units: float) -> None:
        """In a share: allow at most so many ``units`` of work from now on, of what is left of the whole."""
        left = units if self._of is None else min(units, self._of.unspent)
        self.effort = (self.spent + left) / UNITS

    def after(self) -> Limits:
        """Limits for a part of what comes once the search is over, and which a result is right without: ``AFTER`` of
        the effort beside it, and where the clock or a signal has ended the search, ``AFTER_SECONDS`` from then on."""
        made = self.share(1.0)
        made.effort = None if self.effort is None else AFTER * self.effort
        if ending.called_off() or not self.left():
            made.seconds = AFTER_SECONDS
            made._end = (ending.since() if ending.called_off() else time.monotonic()) + AFTER_SECONDS
        return made

    def check_whole(self) -> None:
        """``check`` of the limits of which these are a share, if they are one."""
        if self._of is not None:
            self._of.check()

    def check(self) -> None:
        """LimitReached once the time is over, or too much memory is taken; a stage whose turn is over is paused.

        In a share, LimitReached too once its effort is used up. KeyboardInterrupt where the run was called off.
        """
        ending.check()
        if self._end is not None and time.monotonic() >= self._end:
            raise LimitReached(
                f"the time limit of {self.seconds:g} s was reached", hint="allow more time, or fewer goals"
            )
        spent = self.spent
        if spent - self._looked_at >= LOOK:
            self._looked_at = spent
            self._look(footprint.taken())
        if self._pause is not None and spent >= self._turn:
            self._pause()
        if self._of is not None and self.used_up:
            raise EffortUsedUp("the effort was used up", hint="allow more of it (--effort)")


def _within_memory(taken: int) -> None:
    """MemoryLimitReached if so many bytes are more than what is allowed."""
    if taken > footprint.allowed():
        raise footprint.reached()
