"""The process's entry point: light, so that an interrupt while the libraries are loaded ends as any other."""

from __future__ import annotations

import atexit
import io
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from math import inf
from types import FrameType
from typing import Any

from bmc import ending
from bmc.ending import CALLED_OFF, INTERRUPT, TERMINATED, TIME_LIMIT, ExitCode

GRACE, AGAIN, LONGEST = 1.0, 0.6, 1e8
"""Seconds after the time limit in which a run may end by itself, and from one alarm to the next, from then on or from
a signal on; no limit is longer than the last one."""
TOGETHER = 0.5
"""Seconds after a signal in which a further one is the same: ``timeout`` sends it to a process and to its group."""
CLOSING = 10.0
"""Seconds from the moment at which a run is called off in which its result is made and told, before that is cut; half
of them are left for telling it however long making it took. A chain that was found takes the time that it takes. Twice
as long: a large result is still told on a machine that is busy, and a run ends so much later."""
SIGNALS = {signal.SIGINT: INTERRUPT, signal.SIGTERM: TERMINATED}
"""Why a run ends that a signal calls off."""


_begun: list[float] = []


def seconds_gone() -> float:
    """Seconds since this process began to load the command line; 0 where another program calls it."""
    return time.monotonic() - _begun[0] if _begun else 0.0


class _Alarms:
    """When the run of this process ends: the moment of its time ``limit``, the ``signal`` that came first and when, and
    the moment from which on its ``closing`` is cut, where that has begun; ``twice``: by a second signal."""

    def __init__(self) -> None:
        self.limit = self.cut_from = inf
        self.signal, self.came = 0, inf
        self.closing = self.twice = False

    def bound(self) -> None:
        """What closes the run is cut from some time on."""
        if self.closing and self.cut_from == inf:
            self.cut_from = max(ending.since() + CLOSING, time.monotonic() + CLOSING / 2)


_alarms = _Alarms()


def signalled() -> int:
    """The exit code of a run that a signal called off; 0 where none came."""
    return CALLED_OFF[SIGNALS[signal.Signals(_alarms.signal)]] if _alarms.signal else 0


def signalled_twice() -> bool:
    """Whether a second signal cuts the closing of the run."""
    return _alarms.twice


def interrupted(number: int, frame: FrameType | None) -> None:
    """SIGINT and SIGTERM call the run off, which then ends with its best result so far. A second one cuts that too."""
    now = time.monotonic()
    if not _alarms.signal:
        _alarms.signal, _alarms.came = number, now
        ending.call_off(SIGNALS[signal.Signals(number)])
        _alarms.bound()
    elif now >= _alarms.came + TOGETHER:
        _alarms.cut_from, _alarms.twice = now, True
    _alarm(AGAIN)
    _end(frame)


def _alarm(seconds: float) -> None:
    """Look after so many seconds whether the run has to be ended, and then again and again."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, _look)
        signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)


def _look(number: int, frame: FrameType | None) -> None:
    """The handler of alarms. They may go by another clock than the limits, and come again."""
    if time.monotonic() >= _alarms.limit:
        ending.call_off(TIME_LIMIT)
        _alarms.bound()
    _end(frame)


def _end(frame: FrameType | None) -> None:
    """End what is under way in ``frame``, where it is time for that and it can be done there.

    A compiled library makes another exception of an interrupt of its loading, and half of it is no use.
    """
    if not _loading(frame):
        if time.monotonic() >= _alarms.cut_from:
            ending.cut(frame)
        ending.interrupt(frame)


def _loading(frame: FrameType | None) -> bool:
    """Whether a library is being loaded in ``frame`` or around it."""
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


def not_lost(told: Callable[[Any], object]) -> Callable[[Any], None]:
    """As ``told`` tells of exceptions that nothing can take (in a destructor), but those of alarms come again.

    An object that was being made when the run was interrupted lacks attributes that its destructor may ask for.
    """

    def tell(lost: Any) -> None:
        half_made = issubclass(lost.exc_type, AttributeError) and bool(ending.called_off())
        if not half_made and not issubclass(lost.exc_type, KeyboardInterrupt | ending.CutShort):
            told(lost)

    return tell


def interrupt_after(seconds: float) -> None:
    """Call the run off a little after so many seconds, whatever it does. What looks at its limits ends before that."""
    _alarms.limit = time.monotonic() + seconds
    _alarm(min(seconds, LONGEST) + GRACE)


def closing(reason: str = "", bounded: bool = True) -> None:
    """From now on the result of the run is written and told, which ``reason`` has ended early: no limit and no signal
    ends that. Only a second signal does and, where the run was called off and the end is ``bounded``, the time for it:
    CutShort.
    """
    if reason:
        ending.call_off(reason)
    ending.close()
    _alarms.closing = bounded
    if ending.called_off():
        _alarms.bound()
        _alarm(AGAIN)


def what_ended(stopped_by: str, left_out: object) -> str:
    """What the summary says ended a run that its search says was ``stopped_by`` something.

    A signal is named wherever it came, and so is a limit that came after the search where something was ``left_out``.
    """
    reason = ending.called_off()
    return stopped_by or (reason if left_out or reason != TIME_LIMIT else "")


def never_interrupt() -> None:
    """The run is over: no alarm comes any more, and nothing is called off."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)
    _alarms.__init__()  # type: ignore[misc]
    ending.begin()


def main() -> None:
    """Load the command line and run it, and end the process. A signal at any time: its exit code and no traceback."""
    if isinstance(getattr(sys.stdout, "buffer", None), io.RawIOBase):  # PYTHONUNBUFFERED loses what a full disk refuses
        whole = io.BufferedWriter(sys.stdout.buffer)
        sys.stdout = io.TextIOWrapper(whole, sys.stdout.encoding, sys.stdout.errors, line_buffering=True)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # else numpy starts threads for products of matrices
    try:
        with ending.uninterrupted():  # half-loaded libraries are no use
            if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                signal.signal(signal.SIGINT, interrupted)
            signal.signal(signal.SIGTERM, interrupted)
            sys.unraisablehook = not_lost(sys.unraisablehook)
            _begun.append(time.monotonic())
            from chaincover.cli.main import main as run
        run()
    except KeyboardInterrupt:  # between the two
        _leave(signalled() or ExitCode.INTERRUPTED)
    except SystemExit as ended:
        _leave(int(ended.code or 0))


def _leave(code: int) -> None:
    """End the process as Python does, but for taking apart all that was built in it: a tenth of a short run."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
