"""The table of lazy against whole graphs."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MANY = 200
"""Whole graphs with more solver calls count for the median."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run: the graph's ``queries``, seconds of the processor for it and for ``simulation``, and the result.

    ``goals`` are those searched for, ``depth`` the K used, ``all_queries`` those of the whole run, ``length`` and
    ``lower`` the chain and its proved bound in steps; ``stopped``: the time limit came first. ``weights`` and
    ``bounds`` are the graph's, as (source, target, steps) in order.
    """

    goals: int
    depth: int
    queries: int
    seconds: float
    simulation: float
    all_queries: int
    length: int | None
    lower: int
    stopped: bool
    weights: list[list[str | int]]
    bounds: list[list[str | int]]


@dataclass(frozen=True, slots=True)
class Pair:
    """A model's two runs; ``whole`` decided the graph to the K that ``lazy`` used."""

    name: str
    lazy: Outcome
    whole: Outcome

    @property
    def ratio(self) -> float:
        """Whole graph's calls by the lazy one's."""
        return self.whole.queries / max(1, self.lazy.queries)

    @property
    def same_graph(self) -> bool:
        """Whether both know the same of every edge up to the K used."""
        return self._known(self.lazy) == self._known(self.whole)

    def _known(self, outcome: Outcome) -> tuple[list[list[str | int]], list[list[str | int]]]:
        depth = self.lazy.depth
        found = [[a, b, steps] for a, b, steps in outcome.weights if int(steps) <= depth]
        return found, [[a, b, min(int(steps), depth + 1)] for a, b, steps in outcome.bounds]

    @property
    def answer(self) -> str:
        """Whether length and bound are the same, as far as both runs got to their end."""
        if (self.lazy.length, self.lazy.lower) == (self.whole.length, self.whole.lower):
            return "same"
        return "limit" if self.lazy.stopped or self.whole.stopped else "different"


COLUMNS = (
    "model", "goals", "K", "graph: lazy", "whole", "ratio", "edges", "s lazy + simulation", "s whole",
    "run: lazy", "whole", "chain lazy", "whole", "answer",
)  # fmt: skip


def lines(pairs: Sequence[Pair]) -> Iterator[str]:
    """The table: calls for the graph and for the whole run, seconds for the graph, lengths with bounds; a summary."""
    yield f"| {' | '.join(COLUMNS)} |"
    yield "|" + "---|" * len(COLUMNS)
    for pair in pairs:
        lazy, whole = pair.lazy, pair.whole
        cells = [
            pair.name, lazy.goals, lazy.depth, lazy.queries, whole.queries, f"{pair.ratio:.1f}",
            "same" if pair.same_graph else "different",
            f"{lazy.seconds:.2f} + {lazy.simulation:.2f}", f"{whole.seconds:.2f}",
            lazy.all_queries, whole.all_queries, _chain(lazy), _chain(whole), pair.answer,
        ]  # fmt: skip
        yield f"| {' | '.join(map(str, cells))} |"
    yield ""
    yield summary(pairs)


def _chain(outcome: Outcome) -> str:
    length = "none" if outcome.length is None else str(outcome.length)
    return f"{length} (>= {outcome.lower}{', limit' if outcome.stopped else ''})"


def summary(pairs: Sequence[Pair]) -> str:
    """The median ratio where the whole graph takes many calls, and the models that are worse."""
    decided = [pair for pair in pairs if pair.lazy.depth >= 0]
    many = [pair.ratio for pair in decided if pair.whole.queries > MANY]
    worse = [pair.name for pair in decided if pair.lazy.queries > pair.whole.queries]
    median = f"median ratio {statistics.median(many):.1f}" if many else "no median"
    told = f"{median} over {len(many)} models with more than {MANY} calls; worse: {', '.join(worse) or 'none'}"
    early = [pair.name for pair in pairs if pair not in decided]
    return f"{told}; no graph within the limit: {', '.join(early)}" if early else told
