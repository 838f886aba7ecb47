"""The table of an engine comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Measurement:
    """One engine's work for one graph; ``finished``: up to the K asked for, or to where no edge was open.

    Times are in seconds of the processor: ``solving`` for the answers, ``preparing`` other work of the solver's library
    (0 where the engine cannot tell).
    ``weights`` are the edges found (source, target, steps) in order.
    """

    engine: str
    goals: int
    depth: int
    finished: bool
    queries: int
    seconds: float
    solving: float
    preparing: float
    weights: list[tuple[str, str, int]]

    @property
    def own(self) -> float:
        """The share of the time that neither answers nor the library's preparations took, from 0 to 1."""
        return 1 - (self.solving + self.preparing) / self.seconds


def heading(engines: Sequence[str]) -> str:
    """The table's first two lines."""
    columns = ["model", "goals", "K", "edges", *(f"{name} s (ratio), queries, prepare %, own %" for name in engines)]
    return f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}"


def row(name: str, found: Sequence[Measurement]) -> str:
    """The line of one model: ratios to the first engine; ``different`` where finished graphs are not the same."""
    first = found[0]
    done = [m for m in found if m.finished]
    same = all(m.weights == done[0].weights for m in done)
    edges = str(len(done[0].weights)) if done else ""
    depth = max(m.depth for m in found)
    cells = [name, str(first.goals), str(depth), edges if same else "different", *(_cell(m, first) for m in found)]
    return f"| {' | '.join(cells)} |"


def _cell(m: Measurement, first: Measurement) -> str:
    if not m.finished and m.depth < 0:
        return "none"
    if not m.finished:
        return f"> {m.seconds:.1f} at K = {m.depth}"
    ratio = f"{'' if first.finished else '> '}{first.seconds / m.seconds:.1f}"
    return f"{m.seconds:.2f} ({ratio}), {m.queries}, {100 * m.preparing / m.seconds:.0f}, {m.own * 100:.0f}"
