"""The driver ``library``: a shared library of the program in a process of its own, confined as the compiled original.

A library does the same for the same inputs: those of the chain are run at once, and each step is answered from that.
Inputs that differ from the chain are run again from init on.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bmc.errors import ChainCoverError, UsageError
from bmc.native.original import CompiledOriginal, loaded
from bmc.system.transition import Valuation
from chaincover.target.drivers import Bus, TargetLost, Values
from chaincover.target.drivers.values import raw_inputs, shown_outputs


class Library:
    """A library, from init on."""

    def __init__(self, original: CompiledOriginal, bus: Bus) -> None:
        self._original, self._bus = original, bus
        self._inputs: list[Valuation] = []
        self._planned: tuple[list[Valuation], list[Valuation]] = [], []

    def reset(self) -> Values:
        """See ``Driver``."""
        self._inputs = []
        self._run([*self._bus.inputs_of_chain])
        return self._outputs(self._planned[1][0])

    def step(self, inputs: Values) -> Values:
        """See ``Driver``."""
        self._inputs.append(raw_inputs(self._bus, inputs))
        if self._planned[0][: len(self._inputs)] != self._inputs:
            self._run(self._inputs)
        return self._outputs(self._planned[1][len(self._inputs)])

    def close(self) -> None:
        """There is nothing to end: each run has a process of its own."""

    def _run(self, inputs: list[Valuation]) -> None:
        try:
            self._planned = [*inputs], self._original.run(inputs, time_limit=max(60.0, self._bus.watchdog))
        except ChainCoverError as error:
            done = getattr(error, "states", ())
            if len(done) <= len(self._inputs):
                raise TargetLost(error.message, hint=error.hint) from error
            self._planned = [*inputs[: len(done) - 1]], [*done]

    def _outputs(self, state: Mapping[str, int]) -> Values:
        return shown_outputs(self._bus, state)


def library(text: str, bus: Bus) -> Library:
    """The driver of the library in the file ``text``."""
    if bus.native is None:
        raise UsageError("this model is no C program: no library of it can be driven")
    if not Path(text).is_file():
        raise UsageError(f"there is no library {text}", hint="write library:FILE.so")
    return Library(loaded(bus.native, Path(text).resolve()), bus)
