"""The process's entry point: light, so that an interrupt while the libraries are loaded ends as any other."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

INTERRUPTED = 130


def main() -> None:
    """Load the command line and run it. An interrupt at any time ends with code 130 and no traceback."""
    seen: list[int] = []

    def interrupted(number: int, frame: FrameType | None) -> None:
        seen.append(number)
        raise KeyboardInterrupt

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupted)
    try:
        from chaincover.cli.main import main as run
    except BaseException:
        if not seen:
            raise
        sys.stderr.write("\ninterrupted\n")
        sys.stderr.flush()
        os._exit(INTERRUPTED)  # half-loaded libraries complain when they are torn down
    signal.signal(signal.SIGINT, signal.default_int_handler)
    run()
