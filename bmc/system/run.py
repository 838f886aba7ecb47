"""What every way of running a system gives: a concrete run."""

from __future__ import annotations

from dataclasses import dataclass

from bmc.system.transition import Valuation


@dataclass(frozen=True, slots=True)
class Run:
    """A concrete run: ``states`` has one valuation more than ``inputs``; values are raw patterns by variable name."""

    states: tuple[Valuation, ...]
    inputs: tuple[Valuation, ...]

    @property
    def length(self) -> int:
        """Number of steps."""
        return len(self.inputs)
