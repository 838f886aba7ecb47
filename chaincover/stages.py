"""Stages of a run, and the turns in which they work: each one is paused where its turn is over, and goes on later.

A stage is a function of the board. It reads what is known there, writes what it finds there, and asks the limits before
each question or piece of work. There it is paused (a greenlet keeps its place) when its turn is over, so that no stage
starves another one, and none needs to know of the others: what a stage needs and what it adds are facts
(``chaincover.facts``), by which it has its turns.

Last comes the profile: the seconds and solver queries of each stage.
"""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from pkgutil import resolve_name

from greenlet import GreenletExit, getcurrent, greenlet

from bmc import ending, footprint
from bmc.engines.protocol import Engine
from bmc.errors import MemoryLimitReached
from bmc.records import dataclass
from chaincover.facts import Fact
from chaincover.known import Board, Known
from chaincover.limits import Shares

FIRST_TURN = 0.25
"""Units of work in the turns of the first round, where a stage names no other ``first_turn``.

Those of every round are twice as long as those of the one before."""

LONGEST_TURN = 16.0
"""Units of work in the longest turn."""

MEETING = 4
"""Times the work foreseen in which a chain and its bound would meet at the pace of a turn, for another one: the first
turn prepares, too. With twice as many, a chain is made shorter step by step while other stages wait."""

MOST_TURNS = 4
"""A stage that brings something new has so many turns at most before the others have theirs."""

PARTS = 4
"""Parts of a turn that stages take in alternation which ask for the same by different means."""


@dataclass(frozen=True, slots=True)
class Stage:
    """``work`` does what ``name`` says, until it has nothing more to find out.

    ``first_turn`` is how many units of work its first turn has. ``for_targets``: it begins anew when the goals that a
    chain is sought for are others. Neighbours with the same ``question`` take their turns in alternation, part by part:
    nobody knows which is the faster one, and so all takes at most twice as long as with that one alone.

    It has turns while all that it ``needs`` is known, and not all that it ``gives``; it ends where nobody is left who
    gives what it needs.

    The same ``work`` may stand in several places of a round: it goes on there from where it was paused. In this place
    it has no turn once something of ``until`` is known; if ``put_off`` is, it begins a round later, with a turn of that
    round. Where it is ``once``, it has one turn in this place, in the first round, one more where that one covered
    more goals, but not all, and one where it begins anew; in every other place ``until`` ends it.
    """

    name: str
    work: Callable[[Board], None]
    first_turn: float | Callable[[Board], float] = FIRST_TURN
    for_targets: bool = True
    question: str = ""
    needs: tuple[Fact, ...] = ()
    gives: tuple[Fact, ...] = ()
    until: tuple[Fact, ...] = ()
    put_off: Fact | None = None
    once: bool = False


def later(place: str) -> Callable[[Board], None]:
    """The function at ``place``, such as ``package.module:name``, imported when it has its first turn."""

    def work(board: Board) -> None:
        resolve_name(place)(board)

    return work


class _Memory:
    """What the stages of a run take of the memory, as far as that is known from looking at it now and then.

    Where all is taken that may be, the stage under way is paused, and the one that has taken most gives up, then the
    next one, until enough is free.
    """

    def __init__(self) -> None:
        self.working: _Work | None = None
        self._begun: list[_Work] = []
        self._before = 0

    def look(self, taken: int) -> None:
        """Pause the stage under way if so many bytes are more than what is allowed. What was taken since the last look
        is put down to it. MemoryLimitReached where it cannot be paused."""
        stage = self.working
        if stage is not None:
            stage.memory += taken - self._before
            self._begun += [] if stage in self._begun else [stage]
        self._before = taken
        if taken > footprint.allowed():
            parent = getcurrent().parent
            if stage is None or parent is None:
                raise footprint.reached()
            parent.switch(self)

    def relieve(self) -> None:
        """Free what nobody refers to, then let stages give up until no more is taken than what is allowed.
        MemoryLimitReached where that is in vain."""
        largest = iter(sorted(self._begun, key=lambda each: -each.memory))
        while not self._freed():
            stage = next(largest, None)
            if stage is None:
                raise footprint.reached()
            stage.give_up(footprint.reached())
            self._begun.remove(stage)

    def _freed(self) -> bool:
        """Whether no more is taken than what is allowed, once garbage is collected."""
        gc.collect()
        _give_back_memory()
        self._before = footprint.taken()
        return self._before <= footprint.allowed()


@dataclass(frozen=True, slots=True)
class _Awaited:
    """What a paused stage waits for: that ``fact`` is known, and another one than ``seen``."""

    fact: Fact
    seen: object

    def there(self, board: Board) -> bool:
        """Whether it is."""
        return self.fact.known(board) and self.fact.of(board) != self.seen


class _Work:
    """The work of one stage, paused between its turns. Where it is for the targets, it begins anew when these are
    others.

    ``begun`` counts how often it has begun, ``under_way`` says that it has since. ``memory``: bytes that were taken
    while it worked.
    """

    def __init__(self, stage: Stage, board: Board, shared: _Memory) -> None:
        self.stage, self._board, self._shared = stage, board, shared
        self.begun, self._shares = 0, Shares()
        self._awaited: _Awaited | None = None
        self._begin()

    def _begin(self) -> None:
        self.begun, self.under_way, self._targets = self.begun + 1, False, self._board.known.targets
        self._greenlet, self.memory, self._awaited, self._said = greenlet(self._run), 0, None, ""

    @property
    def left(self) -> bool:
        """Whether it has not ended."""
        if self.stage.for_targets and self._targets != self._board.known.targets:
            self.end()
            self._begin()
        return not self._greenlet.dead

    @property
    def awaited(self) -> tuple[Fact, ...]:
        """What it waits for in the middle of its work."""
        return () if self._awaited is None or self._awaited.there(self._board) else (self._awaited.fact,)

    def go_on(self) -> None:
        """Work until it is paused, or ends. Where it goes on after others, the listener is told again what it does."""
        self.under_way, self._shared.working = True, self
        if self._said not in ("", self._board.said):
            self._board.say(self._said)
        before = self._board.said
        try:
            with self._board.limits.shares_of(self._shares):
                while (paused := self._greenlet.switch()) is self._shared:
                    self._shared.relieve()
                    if self._greenlet.dead:
                        break
        finally:
            self._shared.working = None
        self._said = self._said if self._board.said == before else self._board.said
        self._awaited = paused if isinstance(paused, _Awaited) else None

    def give_up(self, error: MemoryLimitReached) -> None:
        """End it where it is paused, as if it had met ``error`` there."""
        if self.under_way and not self._greenlet.dead:
            self._greenlet.throw(error)
        self.end()

    def end(self) -> None:
        """End it where it is paused; what it holds would never be freed otherwise, for a pause hides it."""
        if not self._greenlet.dead:
            self._greenlet.throw()

    def _run(self) -> None:
        try:
            self.stage.work(self._board)
        except MemoryLimitReached as error:
            self._board.give_up(self.stage.name, error.message)
        except MemoryError:
            self._board.give_up(self.stage.name, "no memory was left")


class _Turns:
    """The turns of one stage in one place of the round."""

    def __init__(self, stage: Stage, work: _Work, board: Board) -> None:
        self.stage, self.work, self._board = stage, work, board
        self._taken = self._put_off = 0

    def due(self) -> bool:
        """Whether the stage has a turn now. It ends where it is not needed any more."""
        stage, work, board = self.stage, self.work, self._board
        if not work.left or (stage.once and self._has_taken):
            return False
        if any(fact.known(board) for fact in stage.until):
            if not stage.once:
                work.end()
            return False
        if self.missing or (stage.gives and all(fact.known(board) for fact in stage.gives)):
            return False
        if stage.put_off is not None and self._put_off != work.begun and stage.put_off.known(board):
            self._put_off = work.begun
            return False
        return True

    @property
    def missing(self) -> tuple[Fact, ...]:
        """What the stage needs, or waits for, and is not there."""
        return (*(fact for fact in self.stage.needs if not fact.known(self._board)), *self.work.awaited)

    @property
    def _has_taken(self) -> bool:
        return self._taken == self.work.begun and self.work.under_way

    def go_on(self) -> None:
        """Let the next turn in this place be as the one before, also where it has but one."""
        self._taken = 0

    def take(self, units: float, parts: int = 1) -> None:
        """Let the stage work until it has spent ``units``, or one of so many ``parts`` of that, waits, or ends."""
        limits, first = self._board.limits, self.stage.first_turn
        if not self._has_taken and self._put_off != self.work.begun:
            own = first(self._board) if callable(first) else first
            units = own if self.stage.once else max(units, own)
        limits.pause_after(units / parts, pause)
        self._taken = self.work.begun
        try:
            self.work.go_on()
        finally:
            limits.pause_after(0.0, None)
            _give_back_memory()
        limits.check_whole()


def _give_back_memory() -> None:
    """Let the system have what is free again: glibc keeps it, in pieces that the next stage has little use for."""
    with suppress(AttributeError, OSError, TypeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


def pause() -> None:
    """Give the turn to the next stage; returns at the next turn of this one. Nothing happens outside of a stage."""
    parent = getcurrent().parent
    if parent is not None:
        parent.switch()


def await_news(board: Board, fact: Fact, seen: object = None) -> None:
    """Pause until ``fact`` is known, and another one than ``seen``. The stage ends there if nobody is left who gives
    it."""
    awaited, parent = _Awaited(fact, seen), getcurrent().parent
    while not awaited.there(board):
        if parent is None:
            raise GreenletExit
        parent.switch(awaited)


def take_turns(stages: Sequence[Stage], board: Board) -> None:
    """Let ``stages`` work in turns, until all is settled, none has anything left to do, or the effort is used up."""
    rounds = Rounds(stages, board)
    try:
        rounds.go_on()
    finally:
        rounds.end()


class Rounds:
    """Rounds in which ``stages`` have their turns; they go on from where the effort was used up, once there is more.

    A stage whose turn brought a better chain, a higher bound or a verdict has the next turn too, a few times. Where the
    goals that a chain is sought for become others, the stages begin anew that work for them. Where it is proved that
    no chain covers all goals, or that every chain is longer than was asked for, the round ends in which that was found
    out; in the latter case at once if there is a chain through fewer goals. LimitReached when time is over, or where
    too much memory is taken although the stages that took it have given up.
    """

    def __init__(self, stages: Sequence[Stage], board: Board) -> None:
        self._board, self._memory = board, _Memory()
        self._works = {stage.work: _Work(stage, board, self._memory) for stage in stages}
        self._turns = [_Turns(stage, self._works[stage.work], board) for stage in stages]
        self._left = self._taken()
        board.limits.look_at_memory(self._look)

    def go_on(self) -> bool:
        """Let the stages work until all is settled, none has anything left to do, or the effort is used up; whether
        there is something left to do."""
        board = self._board
        return any(board.settled or board.limits.used_up for _ in self._left) and not board.settled

    def _look(self, taken: int) -> None:
        """Look at the memory that is ``taken``, and say again what is done: some turns take long."""
        self._memory.look(taken)
        self._board.say(self._board.said)

    def end(self) -> None:
        """End all stages where they are paused."""
        self._board.limits.look_at_memory(None)
        with ending.uninterrupted():
            for work in self._works.values():
                work.end()

    def _taken(self) -> Iterator[None]:
        """The turns of one question after the other, round by round."""
        board, units = self._board, FIRST_TURN
        groups = [
            list(each) for _, each in groupby(self._turns, key=lambda turn: turn.stage.question or turn.stage.name)
        ]
        while True:
            before, spent = board.known, board.limits.spent
            for group in groups:
                _alternate(group, units, board)
                yield
            if board.too_long or board.known.no_chain or (board.known is before and board.limits.spent == spent):
                return
            _end_those_in_vain(self._turns)
            units = min(2 * units, LONGEST_TURN)


def _end_those_in_vain(turns: Sequence[_Turns]) -> None:
    """End the stages that need what is not known and nobody else gives who is left, or who is when the targets are
    others."""
    left = {turn.work for turn in turns if turn.work.left}
    for work in list(left):
        places = [turn for turn in turns if turn.work is work and not turn.stage.once]
        given = _given(turns, work, left)
        if all(any(given.isdisjoint(fact.any_of) for fact in place.missing) for place in places):
            left.remove(work)
            work.end()


def _given(turns: Sequence[_Turns], work: _Work, left: Set[_Work]) -> set[Fact]:
    """What stages other than ``work`` give: those that are ``left``, or begin anew when the targets are others."""
    anew = not work.stage.for_targets
    others = [turn for turn in turns if turn.work in left or (anew and turn.stage.for_targets)]
    return {part for turn in others if turn.work is not work for fact in turn.stage.gives for part in fact.any_of}


def _alternate(group: Sequence[_Turns], units: float, board: Board) -> None:
    """A turn for each of ``group``, in alternation, and further ones where it brings something new, until the run is
    over."""
    parts = PARTS if len(group) > 1 else 1
    left = [parts] * len(group)
    for _ in range(MOST_TURNS * parts):
        for place, turn in enumerate(group):
            known, spent = board.known, board.limits.spent
            left[place] = left[place] if left[place] and turn.due() else 0
            if not left[place]:
                continue
            turn.take(units, parts)
            if board.settled or board.limits.used_up:
                return
            if _goes_on(board, known, board.limits.spent - spent):
                left[place] = parts
                if _covers_more(board.known, known):
                    turn.go_on()
            else:
                left[place] -= 1


def better(known: Known, before: Known) -> bool:
    """Whether ``known`` has a better chain, a higher bound or another verdict than ``before``."""
    return (
        known.chain is not before.chain
        or known.lower > before.lower
        or known.uncoverable is not before.uncoverable
        or known.no_chain != before.no_chain
    )


def _goes_on(board: Board, before: Known, units: float) -> bool:
    """Whether a turn of so many ``units`` brought what is worth another one: a chain through more goals, another
    verdict, or a chain and a bound that meet with no more work than ``MEETING`` times what is foreseen, if they come
    nearer to each other on as in that turn."""
    known = board.known
    others = known.uncoverable is not before.uncoverable or known.no_chain != before.no_chain
    if not better(known, before) or others or known.length is None or before.length is None:
        return better(known, before)
    left = known.length - known.lower
    return left * units <= MEETING * (before.length - before.lower - left) * board.limits.foreseen


def _covers_more(known: Known, before: Known) -> bool:
    """Whether the chain covers more goals than ``before``, and not all."""
    covered = 0 if before.chain is None else len(before.chain.goals)
    return known.chain is not None and not known.complete and len(known.chain.goals) > covered


FIRST = "prepare"
"""The stage before the first message."""


@dataclass(frozen=True, slots=True)
class StageCost:
    """A stage's cost: ``seconds`` in all, of which the solver took ``solving``, and making its formulas ``encoding``.

    What is left is the tool's own: simulation, orders, checks.
    """

    stage: str
    seconds: float = 0.0
    queries: int = 0
    solving: float = 0.0
    encoding: float = 0.0

    @property
    def own(self) -> float:
        """Seconds that neither solver nor encoding took; 0 where workers took more than passed by the clock."""
        return max(0.0, self.seconds - self.solving - self.encoding)

    def __add__(self, other: StageCost) -> StageCost:
        return replace(
            self,
            seconds=self.seconds + other.seconds,
            queries=self.queries + other.queries,
            solving=self.solving + other.solving,
            encoding=self.encoding + other.encoding,
        )


class Profiler:
    """Hands messages on to a listener, and takes the word before their colon for the stage that begins."""

    def __init__(self, listener: Callable[[str], None], improved: Callable[[Known], None]) -> None:
        """``improved`` is called with what is known whenever that has become better."""
        self._progress, self.improved = listener, improved
        self._engines: list[Engine] = []
        self._stages: dict[str, StageCost] = {}
        self._stage, self._begun = FIRST, self._now()

    def watch(self, engine: Engine) -> Engine:
        """Count the work of ``engine`` from now on; the same engine."""
        self._close(self._stage)
        self._engines.append(engine)
        self._begun = self._now()
        return engine

    def __call__(self, text: str) -> None:
        stage, colon, _ = text.partition(":")
        if colon:
            self._close(stage)
        self._progress(text)

    def stages(self) -> tuple[StageCost, ...]:
        """The stages so far, in the order in which they began."""
        self._close(self._stage)
        return tuple(self._stages.values())

    def _close(self, following: str) -> None:
        now, begun, stage = self._now(), self._begun, self._stage
        spent = StageCost(stage, *(a - b for a, b in zip(now, begun, strict=True)))  # type: ignore[arg-type]
        self._stages[stage] = self._stages[stage] + spent if stage in self._stages else spent
        self._stage, self._begun = following, now

    def _now(self) -> tuple[float, int, float, float]:
        costs = [engine.cost for engine in self._engines]
        return (
            time.perf_counter(),
            sum(cost.queries for cost in costs),
            sum(cost.solving for cost in costs),
            sum(cost.encoding for cost in costs),
        )
