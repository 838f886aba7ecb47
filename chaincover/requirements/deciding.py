"""Can a requirement fail? For each property with a consequent that is decided beside the search for chains.

A little effort is spent among the stages of that search, the most of it once that has ended; the runs of each answer
are looked at as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from math import inf
from typing import Generic, Protocol, TypeVar

from bmc import ending
from bmc.ending import CALLED_OFF, INTERRUPT, TIME_LIMIT
from bmc.errors import LimitReached
from bmc.system.transition import Run
from chaincover import pipeline
from chaincover.known import Board, held_in_memory
from chaincover.limits import HALF, UNITS, Limits
from chaincover.options import Options
from chaincover.problem import Problem
from chaincover.requirements.violations import Search, judged
from chaincover.result import BY, Requirements, Silent
from chaincover.stages import Stage

EFFORT = 1 / 12
"""The effort for all requirements in that of the run, beside that for chains and beside what these leave of it; and at
most for the questions whether runs end for good, where a goal is not covered."""

TIME = 0.9
"""The part of the time for chains, where there are properties that may fail."""

TURNS = {"recombine": 0.1, "accelerate": 0.5}
"""Turns among the stages of the search for chains, each before one of these (most short runs end before): what may be
spent by its end, as a part of that effort, and beside it."""

REQUIREMENTS = "requirements"
"""The name of the stage that has these turns."""

EARLY = 1.0
"""The effort of a run, as ``--effort`` gives it, from which on these turns do not grow: chains wait for them."""

ASKED = "requirements: can they fail?"

GOES_ON = "the search goes on"


def for_chains(problem: Problem, options: Options) -> Options:
    """``options`` with the part of the time that the search for chains may take."""
    if options.time_limit is None or not judged(problem):
        return options
    return replace(options, time_limit=TIME * options.time_limit)


def for_requirements(options: Options, spent: float) -> float | None:
    """The effort for requirements, where the search for chains has ``spent`` so many units of that of ``options``."""
    if options.effort is None:
        return None
    return EFFORT * options.effort + max(0.0, options.effort - spent / UNITS)


class Answer(Protocol):
    """What a search for chains answers: one, or several."""

    @property
    def runs(self) -> Sequence[Run]:
        """Runs from init that are known."""

    @property
    def stopped_by(self) -> str:
        """What ended the search early, or ''."""


T = TypeVar("T", bound=Answer)
Heard = TypeVar("Heard", bound=Answer, contravariant=True)


class Answered(Protocol[Heard]):
    """The listener that a run was given, as in ``chaincover.result``, for one chain or for several."""

    def __call__(self, text: str) -> None:
        """A stage begins, or goes on."""

    def improved(self, result: Callable[[], Heard]) -> None:
        """There is a better answer."""


class Deciding(Generic[T]):
    """The listener of a search for chains that decides besides whether requirements can fail, and tells that with each
    answer.

    Little effort decides most of them: it is spent in turns among the ``stages`` of the search, so that whatever ends
    the run later leaves what was found out then. What is still open has all the effort for requirements, in the end.
    """

    def __init__(self, problem: Problem, options: Options, listener: Answered[T]) -> None:
        self._problem, self._options, self._listener = problem, options, listener
        self._whole, self._limits = Limits(options.time_limit), Limits(None, options.query_limit, 0.0)
        self._latest: Callable[[], T] | None = None
        self._told, self._part, self._looked = Requirements(), 0.0, 0.0
        self._seen: Sequence[Run] = ()

    def __call__(self, text: str) -> None:
        """See the protocol of listeners."""
        self._listener(text)

    def improved(self, result: Callable[[], T]) -> None:
        """See the protocol of listeners."""
        self._latest = result
        self._tell(result)
        self._look(result)

    def _tell(self, result: Callable[[], T]) -> None:
        self._listener.improved(lambda: replace(result(), requirements=self._told))  # type: ignore[type-var]

    def _look(self, result: Callable[[], T]) -> None:
        """See what the runs of an answer violate, before a better one takes its place, and tell that; unless such looks
        have taken half of the effort for all requirements."""
        if not judged(self._problem) or self._looked >= self._early(HALF) * UNITS:
            return
        runs, before = result().runs, self._seen
        self._seen = runs
        new = [run for run in runs if not any(run is known for known in before)]
        if not new:
            return
        work = self._search.each * sum(run.length for run in (*runs, *new))
        self._looked += work
        self._limits.spend(work)
        if self._search.take(new):
            self._told = self._search.told(GOES_ON)
            self._tell(result)

    def _early(self, part: float) -> float:
        """The effort that is ``part`` of that for all requirements, in a run of at most the effort ``EARLY``."""
        effort = self._options.effort
        return part * EFFORT * (EARLY if effort is None else min(EARLY, effort))

    @cached_property
    def _search(self) -> Search:
        given = min(self._options.most_steps, held_in_memory())
        most = given if given > Options().most_steps else None  # a violation is told however long chains may be
        options = replace(self._options, bound=None, max_length=most, overlap="allow")
        return Search(self._problem, options, self._limits, Silent(self._listener))

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages of the search for chains, and turns of requirements among them."""
        own = {
            name: Stage(REQUIREMENTS, partial(self._beside, part), for_targets=False) for name, part in TURNS.items()
        }
        return tuple(
            each
            for stage in pipeline.STAGES
            for each in (*([own[stage.name]] if stage.name in own and not stage.once else []), stage)
        )

    @property
    def spent(self) -> float:
        """Units of work spent so far."""
        return self._limits.spent

    def _beside(self, part: float, board: Board) -> None:
        before = self._told.rulings
        self.begin(part, board.say)
        if self._told.rulings != before:
            board.listener.improved(board.known)

    def begin(self, part: float = max(TURNS.values()), tell: Callable[[str], None] | None = None) -> None:
        """Decide what so small a part of the effort decides, unless that was done. ``tell`` is told of the stage."""
        if part <= self._part or not judged(self._problem):
            return
        self._part, seconds = part, self._options.time_limit
        if seconds is not None:
            seconds = min(HALF * (1 - TIME) * seconds, self._whole.left())
        self._limits.allow(seconds, self._early(part) + self._looked / UNITS)
        if self._search.settled or self._limits.over:
            return
        (tell or self._listener)(ASKED)
        with suppress(LimitReached):
            self._search.take([] if self._latest is None else self._latest().runs)
            self._search.run()
        self._told = self._search.told(GOES_ON)

    def finish(self, found: T, spent: float) -> Requirements:
        """The rulings, where the search for chains has ``found`` this and ``spent`` so many units of the effort.

        Whatever ends that early, what was found out by then is told.
        """
        if not judged(self._problem):
            return Requirements()
        search, stopped_by = self._search, ""
        left, effort, ended = self._whole.left(), for_requirements(self._options, spent), ""
        if found.stopped_by in CALLED_OFF:
            left, ended = 0.0, found.stopped_by
        elif not left:
            ended = TIME_LIMIT
        self._limits.allow(None if left == inf else left, effort and effort + self._limits.spent / UNITS)
        search.take(found.runs)
        try:
            if not (self._limits.over or search.settled or ending.called_off()):
                self._listener(ASKED)
                with ending.interruptible():
                    search.run()
        except LimitReached as error:
            ended = stopped_by = error.limit
        except KeyboardInterrupt as error:
            ended = stopped_by = str(error) or INTERRUPT
        ended = ended or ("the effort" if self._limits.used_up else "")
        return replace(search.tidied(ended and f"stopped by {BY.get(ended, ended)}"), stopped_by=stopped_by)
