"""The command line with a clock that counts how often it is looked at: ``python -m benchmarks.checks.endings.counted``.

    AT HOW FOLDER COMMAND...

The limit is due at look number AT, at the clock or at whether the run was called off, whatever a machine is doing
besides. HOW is ``limit`` (the time is over), ``alarm`` (and an alarm interrupts what may be interrupted at once),
``SIGINT`` or ``SIGTERM`` (sent there). How many looks there were is written to the file ``looks`` in FOLDER.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from bmc import ending
from chaincover.cli import entry

TICK = 1e-4
"""Seconds by the clock from look to look."""
AFTER = 1e6
"""Seconds by the clock once the limit is due: more than any limit."""
ALARM = 0.001
"""Seconds, by the clock of the machine, from one alarm to the next."""


class Looks:
    """Counts looks; from number ``at`` on the time is over."""

    def __init__(self, at: int, how: str) -> None:
        self.number, self._at, self._how = 0, at, how
        self._due = 0.0
        self._real, self._timer = time.monotonic, signal.setitimer

    def monotonic(self) -> float:
        """The clock: it goes on as the machine's once the limit is due, so that the end has the time that it has."""
        self.look()
        return AFTER + self._real() - self._due if self._due else self.number * TICK

    def look(self) -> None:
        """One more look."""
        self.number += 1
        if self.number != self._at:
            return
        if self._how in ("limit", "alarm"):
            self._due = self._real()
        if self._how == "alarm":
            self._timer(signal.ITIMER_REAL, ALARM, ALARM)
        elif self._how != "limit":
            os.kill(os.getpid(), signal.Signals[self._how])

    def setitimer(self, which: int, seconds: float, again: float = 0.0) -> Any:
        """Alarms that come at once; none where the limit alone is to end the run."""
        if seconds == 0:
            return self._timer(which, 0)
        return None if self._how == "limit" or self.number < self._at else self._timer(which, ALARM, ALARM)


def main() -> None:
    """Run the command, and write how many looks there were however it ends."""
    at, how, folder, *words = sys.argv[1:]
    looks, check, leave = Looks(int(at), how), ending.check, os._exit

    def checked() -> None:
        looks.look()
        check()

    def left(code: int) -> None:
        (Path(folder) / "looks").write_text(str(looks.number))
        leave(code)

    signal.signal(signal.SIGALRM, entry._look)
    ending.PATIENCE = 0.0
    ending.begin()
    ending.check, os._exit = checked, left  # type: ignore[assignment]
    time.monotonic, signal.setitimer = looks.monotonic, looks.setitimer
    sys.argv = ["chaincover", *words]
    entry.main()


if __name__ == "__main__":
    main()
