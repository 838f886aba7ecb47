"""The process's entry point: light, so that an interrupt while the libraries are loaded ends as any other."""

from __future__ import annotations

import atexit
import io
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

INTERRUPTED = 130
TERMINATED = 143
TIME_LIMIT = "time limit"
GRACE, AGAIN, LONGEST = 1.0, 0.6, 1e8
"""Seconds after the time limit in which a run may end by itself, and from one interrupt to the next; no
limit is longer than the last one."""
LATER = 0.05
"""Seconds until a signal is sent again that came where its exception would be lost."""
REASONS = {signal.SIGINT: (), signal.SIGTERM: ("terminated",)}
"""What is said of the interrupt that a signal becomes."""


_begun: list[float] = []


def seconds_gone() -> float:
    """Seconds since this process began to load the command line; 0 where another program calls it."""
    return time.monotonic() - _begun[0] if _begun else 0.0


def interrupted(number: int, frame: FrameType | None) -> None:
    """SIGINT and SIGTERM end a search, with the best result so far; after a library under way has been loaded.

    A compiled library makes another exception of an interrupt of its loading, and half of it is no use.
    """
    if _loading(frame):
        _send_again(number)
    else:
        raise KeyboardInterrupt(*REASONS[signal.Signals(number)])


def _loading(frame: FrameType | None) -> bool:
    """Whether a library is being loaded in ``frame`` or around it."""
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


def _send_again(number: int) -> None:
    """Send this process a signal once more, a little later."""
    timer = threading.Timer(LATER, os.kill, (os.getpid(), number))
    timer.daemon = True
    timer.start()


def not_lost(told: Callable[[Any], object]) -> Callable[[Any], None]:
    """As ``told`` tells of exceptions that nothing can take (in a destructor), but interrupts come again."""

    def tell(lost: Any) -> None:
        if not issubclass(lost.exc_type, KeyboardInterrupt):
            told(lost)
        elif str(lost.exc_value) != TIME_LIMIT:  # which comes again by itself
            ends = str(lost.exc_value) in REASONS[signal.SIGTERM]
            _send_again(signal.SIGTERM if ends else signal.SIGINT)

    return tell


def interrupt_after(seconds: float) -> None:
    """End what this process does a little after so many seconds, whatever it is, and again where that goes on.

    What looks at its limits ends by itself before that.
    """
    end = time.monotonic() + seconds

    def out_of_time(number: int, frame: FrameType | None) -> None:
        # the alarm may go by another clock, and comes again
        if time.monotonic() >= end and not _loading(frame):
            raise KeyboardInterrupt(TIME_LIMIT)

    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, out_of_time)
        signal.setitimer(signal.ITIMER_REAL, min(seconds, LONGEST) + GRACE, AGAIN)


def never_interrupt() -> None:
    """Take ``interrupt_after`` back."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)


def main() -> None:
    """Load the command line and run it, and end the process. A signal at any time: its exit code and no traceback."""
    _begun.append(time.monotonic())
    if isinstance(getattr(sys.stdout, "buffer", None), io.RawIOBase):  # PYTHONUNBUFFERED loses what a full disk refuses
        whole = io.BufferedWriter(sys.stdout.buffer)
        sys.stdout = io.TextIOWrapper(whole, sys.stdout.encoding, sys.stdout.errors, line_buffering=True)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # else numpy starts threads for products of matrices
    seen: list[int] = []

    def too_early(number: int, frame: FrameType | None) -> None:
        seen.append(number)
        raise KeyboardInterrupt

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, too_early)
    signal.signal(signal.SIGTERM, too_early)
    try:
        from chaincover.cli.main import main as run
    except BaseException:
        if not seen:
            raise
        of_keyboard = seen[0] == signal.SIGINT
        sys.stderr.write("\ninterrupted\n" if of_keyboard else "\nterminated\n")
        sys.stderr.flush()
        os._exit(INTERRUPTED if of_keyboard else TERMINATED)  # half-loaded libraries complain when they are torn down
    if signal.getsignal(signal.SIGINT) is too_early:
        signal.signal(signal.SIGINT, interrupted)
    signal.signal(signal.SIGTERM, interrupted)
    sys.unraisablehook = not_lost(sys.unraisablehook)
    try:
        run()
    except SystemExit as ended:
        _leave(int(ended.code or 0))


def _leave(code: int) -> None:
    """End the process as Python does, but for taking apart all that was built in it: a tenth of a short run."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
