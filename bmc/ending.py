"""How a run ends: its exit code, and how it is called off, by a limit or by a signal, while it goes on.

Who calls it off notes why (``call_off``), and raises nothing in whatever is under way. What takes long looks here
(``check``), and raises KeyboardInterrupt with the reason: at a place of its own, where nothing is half done. Where
nothing looks for a while, as one call takes long, ``interrupt`` raises the same from a signal's handler, wherever the
program is. It does so only within what is ``interruptible``, never in what is ``uninterrupted``, such as all that
writes and tells a result, and never while an exception that ends the run is on its way.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import ContextDecorator
from enum import IntEnum
from functools import partial
from math import inf
from types import FrameType


class ExitCode(IntEnum):
    """What the end of a command says to a script (docs/reference/exit-codes.md)."""

    DONE = 0
    FINDING = 1
    USAGE = 2
    REFUSED = 3
    NOT_COVERED = 4
    LIMIT = 5
    NOT_REPROVED = 6
    DISPROVED = 7
    INTERNAL_ERROR = 70
    NOT_WRITTEN = 74
    INTERRUPTED = 130
    CUT_OFF = 141
    TERMINATED = 143


TIME_LIMIT = "time limit"
INTERRUPT = "interrupt"
TERMINATED = "terminated"
CALLED_OFF = {INTERRUPT: ExitCode.INTERRUPTED, TERMINATED: ExitCode.TERMINATED}
"""What calls a run off by a signal, with the exit code of the command."""

PATIENCE = 0.5
"""Seconds for which a run that was called off may go on without a look here, before it is interrupted wherever it is.

Twice as long: what looks rarely mostly ends by itself, and a run that never looks ends so much later.
"""


class CutShort(BaseException):
    """What writes and tells a result is ended before its end."""


class _Run:
    """The run of this process. ``patience``: as given to ``interruptible``, None within ``uninterrupted``; ``whole``:
    how many pieces of work are under way that nothing at all may cut; ``interrupted``: a signal's handler has raised
    KeyboardInterrupt."""

    def __init__(self) -> None:
        self.reason, self.since, self.end = "", 0.0, inf
        self.interrupted = False
        self.patience: float | None = PATIENCE
        self.closed = False
        self.whole = 0
        self.place: Callable[[], str] = str
        self.kept = ""


_run = _Run()


def call_off(reason: str) -> None:
    """The run ends, for this reason: ``time limit``, ``interrupt``, ... The first reason stays."""
    if not _run.reason:
        _run.reason, _run.since = reason, time.monotonic()


def called_off() -> str:
    """Why the run ends before its end; '' where it does not."""
    return _run.reason


def since() -> float:
    """When it was called off, by the monotonic clock."""
    return _run.since


def begin() -> None:
    """A run begins, which nothing has called off."""
    _run.__init__()  # type: ignore[misc]


def end_at(moment: float) -> None:
    """All limits of this run end at ``moment`` of the monotonic clock at the latest, whenever they are made."""
    _run.end = moment


def end() -> float:
    """The moment of the monotonic clock at which all limits of this run end at the latest."""
    return _run.end


def close() -> None:
    """From now on nothing interrupts the run but for what is marked ``interruptible`` later on: it tells its result."""
    _run.closed, _run.patience = True, None


def check() -> None:
    """KeyboardInterrupt with the reason where the run was called off, but for what is ``uninterrupted``."""
    if _run.reason and _run.patience is not None:
        _run.place = partial(str, _run.place())
        raise KeyboardInterrupt(_run.reason)


def reads(place: Callable[[], str]) -> None:
    """``place`` tells what is being read now, for the message of a run that ends before all was read; '' when all was.
    Looks as ``check``."""
    _run.place = place
    check()


def reading() -> str:
    """What was being read when the run was ended; '' where all was read."""
    return _run.place()


def keeps(place: str) -> None:
    """The best result so far is at ``place``, whatever ends the run from now on."""
    _run.kept = place


def kept() -> str:
    """Where the best result so far is; '' where there is none."""
    return _run.kept


def interrupt(frame: FrameType | None) -> None:
    """In the handler of a signal that came in ``frame``: KeyboardInterrupt where a run that was called off may be
    interrupted there, and has been patient enough."""
    patience = _run.patience
    if not _run.reason or patience is None or _inside(frame) or _unwinding():
        return
    if time.monotonic() >= _run.since + patience:
        _run.interrupted = True
        raise KeyboardInterrupt(_run.reason)


def cut(frame: FrameType | None) -> None:
    """In the handler of a signal that came in ``frame``: CutShort, but for what has to be done as a whole."""
    if not _run.whole and not _inside(frame) and not _unwinding():
        raise CutShort


def _inside(frame: FrameType | None) -> bool:
    """Whether ``frame`` is one of this module, in the midst of noting something."""
    return frame is not None and frame.f_code.co_filename == __file__


def _unwinding() -> bool:
    """Whether an exception is being handled that ends the run, or a part of it."""
    from bmc.errors import LimitReached  # which the entry point does not wait for

    error = sys.exc_info()[1]
    return isinstance(error, LimitReached) or (error is not None and not isinstance(error, Exception))


class _Region(ContextDecorator):
    """Within it the run has another ``patience``. As a decorator: within each call.

    A compiled library may make another exception of an interrupt that comes while it calls Python (numpy: TypeError):
    what leaves the region then is KeyboardInterrupt all the same.
    """

    def __init__(self, patience: float | None) -> None:
        self._patience = patience
        self._before: list[float | None] = []

    def __enter__(self) -> None:
        self._before.append(_run.patience)
        _run.patience = self._patience

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        before = self._before.pop()
        _run.patience = None if _run.closed else before
        if self._patience is not None and _run.interrupted and isinstance(error, Exception):
            from bmc.errors import ChainCoverError  # which the entry point does not wait for

            if not isinstance(error, ChainCoverError):
                raise KeyboardInterrupt(_run.reason) from error


def interruptible(patience: float | None = None) -> _Region:
    """What is done inside ends by KeyboardInterrupt where the run is called off: at once where it looks here, else
    after ``patience`` seconds (None: ``PATIENCE``). 0 for what only waits for another thread or process."""
    return _Region(PATIENCE if patience is None else patience)


def uninterrupted() -> _Region:
    """What is done inside goes on though the run is called off."""
    return _Region(None)


class _Whole:
    """Within it nothing is cut, and nothing interrupted."""

    def __enter__(self) -> None:
        _run.whole += 1

    def __exit__(self, *error: object) -> None:
        _run.whole -= 1


def whole() -> _Whole:
    """What is done inside, in a moment, is done as a whole, whatever signals come; they come again."""
    return _Whole()
