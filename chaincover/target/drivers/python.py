"""The driver ``python``: a class of the user's own, ``python:MODULE:CLASS``, that is made with no arguments.

It has the methods of ``Driver``; ``close`` may be missing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from bmc.errors import ChainCoverError, UsageError
from chaincover.target.drivers import Bus, TargetLost, Values


class Python:
    """An object of the user's class."""

    def __init__(self, target: Any, name: str) -> None:
        self._target, self._name = target, name

    def reset(self) -> Values:
        """See ``Driver``."""
        return self._called("reset")

    def step(self, inputs: Values) -> Values:
        """See ``Driver``."""
        return self._called("step", inputs)

    def close(self) -> None:
        """See ``Driver``."""
        if hasattr(self._target, "close"):
            self._called("close")

    def _called(self, method: str, *arguments: Values) -> Values:
        try:
            found = getattr(self._target, method)(*arguments)
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
    try:
        made = getattr(import_module(module), name)()
    except Exception as error:
        text = f"the driver {text} cannot be made: {type(error).__name__}: {error}"
        raise UsageError(text, hint="write python:MODULE:CLASS, of a class that takes no arguments") from error
    if not hasattr(made, "reset") or not hasattr(made, "step"):
        raise UsageError(
            f"the class {text} has no method 'reset', or no method 'step'", hint="see docs/reference/run.md"
        )
    return Python(made, name)
