"""Where the time of a run goes: seconds and solver queries by stage."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from bmc.engines.protocol import Engine
from chaincover.known import Known

FIRST = "prepare"
"""The stage before the first message."""


@dataclass(frozen=True, slots=True)
class StageCost:
    """A stage's cost: ``seconds`` in all, of which the solver took ``solving``, and making its formulas ``encoding``.

    What is left is the tool's own: simulation, orders, checks.
    """

    stage: str
    seconds: float = 0.0
    queries: int = 0
    solving: float = 0.0
    encoding: float = 0.0

    @property
    def own(self) -> float:
        """Seconds that neither solver nor encoding took; 0 where workers took more than passed by the clock."""
        return max(0.0, self.seconds - self.solving - self.encoding)

    def __add__(self, other: StageCost) -> StageCost:
        return replace(
            self,
            seconds=self.seconds + other.seconds,
            queries=self.queries + other.queries,
            solving=self.solving + other.solving,
            encoding=self.encoding + other.encoding,
        )


class Profiler:
    """Hands messages on to a listener, and takes the word before their colon for the stage that begins."""

    def __init__(self, listener: Callable[[str], None], improved: Callable[[Known], None]) -> None:
        """``improved`` is called with what is known whenever that has become better."""
        self._progress, self.improved = listener, improved
        self._engines: list[Engine] = []
        self._stages: dict[str, StageCost] = {}
        self._stage, self._begun = FIRST, self._now()

    def watch(self, engine: Engine) -> Engine:
        """Count the work of ``engine`` from now on; the same engine."""
        self._close(self._stage)
        self._engines.append(engine)
        self._begun = self._now()
        return engine

    def __call__(self, text: str) -> None:
        stage, colon, _ = text.partition(":")
        if colon:
            self._close(stage)
        self._progress(text)

    def stages(self) -> tuple[StageCost, ...]:
        """The stages so far, in the order in which they began."""
        self._close(self._stage)
        return tuple(self._stages.values())

    def _close(self, following: str) -> None:
        now, begun, stage = self._now(), self._begun, self._stage
        spent = StageCost(stage, *(a - b for a, b in zip(now, begun, strict=True)))  # type: ignore[arg-type]
        self._stages[stage] = self._stages[stage] + spent if stage in self._stages else spent
        self._stage, self._begun = following, now

    def _now(self) -> tuple[float, int, float, float]:
        costs = [engine.cost for engine in self._engines]
        return (
            time.perf_counter(),
            sum(cost.queries for cost in costs),
            sum(cost.solving for cost in costs),
            sum(cost.encoding for cost in costs),
        )
