"""The driver ``process``: a program that reads and writes lines of JSON.

The bench writes ``{"reset": true}`` once, then ``{"inputs": {...}}`` for each step; to each the program answers with
one line, ``{"outputs": {...}}``. The end of its input is the end of the run.
"""

from __future__ import annotations

import json
import os
import selectors
import shlex
import subprocess
import time

from bmc import ending
from bmc.errors import UsageError
from bmc.native.commands import kill
from chaincover.target.drivers import TO_START, Bus, TargetLost, Values

LONGEST = 1 << 20
"""Bytes of an answer at most. Twice as many: a program that never ends a line takes twice the memory."""


class Process:
    """A program, started anew."""

    def __init__(self, command: list[str], bus: Bus) -> None:
        self._watchdog, self._rest = bus.watchdog, b""
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
        except OSError as error:
            hint = "name a program: process:COMMAND"
            raise UsageError(f"{command[0]} cannot be started: {error.strerror}", hint=hint) from None
        assert self._process.stdout is not None
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._process.stdout, selectors.EVENT_READ)

    def reset(self) -> Values:
        """See ``Driver``."""
        return self._asked({"reset": True}, max(TO_START, self._watchdog))

    def step(self, inputs: Values) -> Values:
        """See ``Driver``."""
        return self._asked({"inputs": dict(inputs)}, self._watchdog)

    def close(self) -> None:
        """End its input, and kill it where it does not end by that."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._selector.close()
        if len(self._rest) > LONGEST:  # it may wait for a reader, and would not see the end of its input
            self._process.stdout.close()
        try:
            self._process.stdin.close()
            self._process.wait(self._watchdog)
        except (OSError, subprocess.TimeoutExpired):
            pass
        finally:
            kill(self._process)
            self._process.stdout.close()

    def _asked(self, question: dict[str, object], seconds: float) -> Values:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(question, separators=(",", ":")).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise self._ended() from None
        line = self._line(seconds)
        try:
            answer = json.loads(line)
            outputs = answer["outputs"]
            good = isinstance(outputs, dict) and all(type(v) in (int, float, str, bool) for v in outputs.values())
        except (ValueError, KeyError, TypeError):
            good = False
        if not good:
            hint = 'it has to write one line for each that it reads: {"outputs": {...}}'
            raise TargetLost(f"the program answered {line[:60]!r}", hint=hint)
        return {str(name): int(value) if isinstance(value, bool) else value for name, value in outputs.items()}

    def _line(self, seconds: float) -> bytes:
        """The next line. TargetLost where none comes in time."""
        assert self._process.stdout is not None
        latest = time.monotonic() + seconds
        while b"\n" not in self._rest:
            left = latest - time.monotonic()
            if left <= 0 or len(self._rest) > LONGEST:
                why = f"no answer within {seconds:g} s" if left <= 0 else "an answer without an end of its line"
                raise TargetLost(f"the program gave {why}", hint="look at it, or give more with --watchdog")
            if self._selector.select(min(left, ending.PATIENCE / 2)):
                part = os.read(self._process.stdout.fileno(), 1 << 16)
                if not part:
                    raise self._ended()
                self._rest += part
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _ended(self) -> TargetLost:
        try:
            code = self._process.wait(self._watchdog)
        except subprocess.TimeoutExpired:
            return TargetLost("the program has closed its output", hint="it has to answer until its input ends")
        return TargetLost(f"the program has ended with {code}", hint="it has to answer until its input ends")


def process(text: str, bus: Bus) -> Process:
    """The driver of the command ``text``."""
    try:
        command = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"'{text}' is no command: {error}", hint="name a program: process:COMMAND") from None
    if not command:
        raise UsageError("no command is named", hint="name a program: process:COMMAND")
    return Process(command, bus)
