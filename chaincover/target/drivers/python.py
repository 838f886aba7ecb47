"""The driver ``python``: a class of the user's own, ``python:MODULE:CLASS``, that is made with no arguments.

It has the methods of ``Driver``; ``close`` may be missing. All calls are made in one thread of their own, so that one
that does not return can be given up.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from bmc.errors import ChainCoverError, UsageError
from chaincover.target.drivers import TO_START, Bus, TargetLost, Values

Call = Callable[[], Any]


class _Worker:
    """A thread that makes calls, one after the other; it ends with the process."""

    def __init__(self) -> None:
        self._calls, self._answers = SimpleQueue[Call](), SimpleQueue[tuple[Any, Exception | None]]()
        Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        while True:
            call = self._calls.get()
            try:
                self._answers.put((call(), None))
            except Exception as error:
                self._answers.put((None, error))

    def result(self, call: Call, seconds: float | None = None) -> Any:
        """What ``call`` returns or raises. Empty where it does not within ``seconds``: no call may follow then."""
        self._calls.put(call)
        found, error = self._answers.get(timeout=seconds)
        if error is not None:
            raise error
        return found


class Python:
    """An object of the user's class."""

    def __init__(self, target: Any, name: str, worker: _Worker, watchdog: float) -> None:
        self._target, self._name, self._worker, self._watchdog = target, name, worker, watchdog
        self._hangs = ""

    def reset(self) -> Values:
        """See ``Driver``."""
        return self._called("reset", max(TO_START, self._watchdog))

    def step(self, inputs: Values) -> Values:
        """See ``Driver``."""
        return self._called("step", self._watchdog, inputs)

    def close(self) -> None:
        """See ``Driver``. An object that hangs is left alone."""
        if hasattr(self._target, "close") and not self._hangs:
            self._called("close", max(TO_START, self._watchdog))

    def _called(self, method: str, seconds: float, *arguments: Values) -> Values:
        hint = "look at the driver, or give more with --watchdog"
        if self._hangs:
            raise TargetLost(self._hangs, hint=hint)
        try:
            found = self._worker.result(lambda: getattr(self._target, method)(*arguments), seconds)
        except Empty:
            self._hangs = f"{self._name}.{method} gave no answer within {seconds:g} s"
            raise TargetLost(self._hangs, hint=hint) from None
        except ChainCoverError:
            raise
        except Exception as error:
            text = f"{self._name}.{method} raised {type(error).__name__}: {error}"
            raise TargetLost(text, hint="look at the driver") from error
        if found is not None and not isinstance(found, dict):
            hint = "it has to return values by the names of variables"
            raise TargetLost(f"{self._name}.{method} returned no dictionary", hint=hint)
        return found or {}


def python(text: str, bus: Bus) -> Python:
    """The driver of the class that ``text``, ``MODULE:CLASS``, names; modules of the current folder are found."""
    module, _, name = text.partition(":")
    if not module or not name:
        raise UsageError(f"'{text}' names no class", hint="write python:MODULE:CLASS")
    if "" not in sys.path:
        sys.path.insert(0, "")
    worker = _Worker()
    try:
        made = worker.result(lambda: getattr(import_module(module), name)())
    except Exception as error:
        text = f"the driver {text} cannot be made: {type(error).__name__}: {error}"
        raise UsageError(text, hint="write python:MODULE:CLASS, of a class that takes no arguments") from error
    if not hasattr(made, "reset") or not hasattr(made, "step"):
        raise UsageError(
            f"the class {text} has no method 'reset', or no method 'step'", hint="see docs/reference/run.md"
        )
    return Python(made, name, worker, bus.watchdog)
