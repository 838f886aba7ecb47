"""Sub-paths with free positions: the least number of steps in which goals can be covered in a given order.

Where Algorithm 9 (BuildPath) puts each goal of a path at a fixed step, these queries leave the steps between the first
and the last node open, so that an impossible one says something about every run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pysmt.fnode import FNode
from pysmt.shortcuts import FALSE, TRUE, And, Or

from bmc.engines.protocol import Run, Session, Status
from bmc.unroll import at, shift
from chaincover.concretize import Concretizer
from chaincover.graph import END, FINAL, INIT

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Segment:
    """What is known of a sub-path: it takes ``at_least`` steps, which is the least if ``exact``.

    ``gave_up``: the solver did at ``at_least``.
    """

    at_least: int
    exact: bool
    gave_up: bool = False


class LeastLengths(Protocol):
    """Finds the least lengths of sub-paths. ``cheap``: in a moment, so that more may be asked than is needed."""

    cheap: bool

    def least(self, path: Path, at_least: int, most: int) -> Segment:
        """Raise what is known of ``path`` from ``at_least`` (proved by the caller) until it is exact or above ``most``.

        LimitReached when time is over; what was proved until then stays known.
        """

    def ask(self, path: Path, steps: int) -> tuple[Status, Run | None]:
        """Is there a run whose last node starts exactly ``steps`` after the first? The run with SAT.

        ``steps`` is known to be a lower bound. LimitReached when time is over.
        """


class SegmentSearch:
    """Asks for sub-paths of node names that begin in init or a goal and finish in a goal or the end.

    With ``overlap`` ``forbid`` a goal starts no earlier than the one before it ends. ``effort`` is the work per query,
    see the protocol.
    """

    cheap = False

    def __init__(self, tools: Concretizer, overlap: str, effort: int | None) -> None:
        self._tools = tools
        self._goals = tools.goals
        self._apart = overlap == "forbid"
        self._budget = tools.budget
        self._sessions: dict[str, Session] = {}
        self._effort = effort
        self._known: dict[Path, Segment] = {}
        self._placed: dict[tuple[str, int], FNode] = {}
        self._built: dict[tuple[Path, int, int, bool], FNode] = {}
        self.queries = 0

    def known(self, path: Path) -> Segment | None:
        """What has been found out about ``path``."""
        return self._known.get(path)

    def least(self, path: Path, at_least: int, most: int) -> Segment:
        """Raise what is known of ``path`` from ``at_least`` (proved by the caller) until it is exact or above ``most``.

        LimitReached when time is over; what was proved until then stays known.
        """
        found = self._known.get(path, Segment(at_least, False))
        if found.at_least < at_least:
            found = Segment(at_least, False)
        while not found.exact and not found.gave_up and found.at_least <= most:
            status, _ = self.ask(path, found.at_least)
            if status is Status.UNSAT:
                found = Segment(found.at_least + 1, False)
            else:
                found = Segment(found.at_least, status is Status.SAT, status is Status.UNKNOWN)
            self._known[path] = found
        return found

    def ask(self, path: Path, steps: int) -> tuple[Status, Run | None]:
        """Is there a run whose last node starts exactly ``steps`` after the first? UNSAT only if no horizon has one.

        The run with SAT. LimitReached when time is over.
        """
        whole = path[0] == INIT and path[-1] in (FINAL, END)
        session = self._tools.session if whole else self._session(path[0])
        gave_up = False
        for horizon in self._horizons(path, steps):
            formula = self._formula(path, steps, horizon)
            if formula.is_false():
                continue
            self.queries += 1
            formulas = [formula, *(self._tools.end_formulas(steps) if path[-1] == FINAL else [])]
            status = session.check(formulas, horizon, self._budget.for_query(), self._effort).status
            if status is Status.SAT:
                return status, session.run()
            if status is Status.UNKNOWN:
                self._budget.check()
                gave_up = True
        return (Status.UNKNOWN if gave_up else Status.UNSAT), None

    def _session(self, node: str) -> Session:
        """The session of the sub-paths that begin in init, or in the goal ``node``: short ones, unlike whole chains."""
        if node not in self._sessions:
            source = at(self._tools.system.init_formula, 0) if node == INIT else self._goals[node].antecedent
            self._sessions[node] = self._tools.new_session(source)
        return self._sessions[node]

    def _length(self, node: str) -> int:
        return self._goals[node].length if node in self._goals else 0

    def _horizons(self, path: Path, steps: int) -> range:
        """The numbers of steps that runs for ``path`` can need: longer ones only where a goal in between needs them."""
        least = max(self._length(path[0]), steps + self._length(path[-1]))
        if path[-1] in (FINAL, END):
            return range(steps, steps + 1) if least == steps else range(0)
        longest = max((self._length(node) for node in path[1:-1]), default=0)
        return range(least, max(least, steps + longest) + 1)

    def _formula(self, path: Path, steps: int, horizon: int) -> FNode:
        """The nodes after the first in order, the last at ``steps``, all ended by ``horizon``."""
        if path[-1] in (FINAL, END):
            gap = self._length(path[-2]) if self._apart else 0
            return self._until(path[:-1], steps - gap, horizon)
        return self._exactly(path, steps, horizon)

    def _until(self, path: Path, steps: int, horizon: int) -> FNode:
        """The last node of ``path`` starts at ``steps`` or before."""
        if steps < 0:
            return FALSE()
        if len(path) == 1:
            return TRUE()
        built, found = -1, FALSE()
        for step in range(steps, -1, -1):
            known = self._built.get((path, step, self._cut(step, horizon), False))
            if known is not None:
                built, found = step, known
                break
        for step in range(built + 1, steps + 1):
            found = _either(found, self._exactly(path, step, horizon))
            self._built[path, step, self._cut(step, horizon), False] = found
        return found

    def _exactly(self, path: Path, steps: int, horizon: int) -> FNode:
        """The last node of ``path``, which is a goal, starts at ``steps``, the ones between in order before it."""
        if steps + self._length(path[-1]) > horizon:
            return FALSE()
        key = (path, steps, self._cut(steps, horizon), True)
        if key not in self._built:
            gap = self._length(path[-2]) if self._apart else 0
            before = self._until(path[:-1], steps - gap, horizon)
            self._built[key] = FALSE() if before.is_false() else And(self._at(path[-1], steps), before)
        return self._built[key]

    def _cut(self, steps: int, horizon: int) -> int:
        """Formulas up to ``steps`` are the same for all horizons that no goal placed there can exceed."""
        longest = max((goal.length for goal in self._goals.values()), default=0)
        return horizon if steps + longest > horizon else -1

    def _at(self, goal: str, step: int) -> FNode:
        key = (goal, step)
        if key not in self._placed:
            self._placed[key] = shift(self._goals[goal].antecedent, step)
        return self._placed[key]


def _either(a: FNode, b: FNode) -> FNode:
    if a.is_false():
        return b
    return a if b.is_false() else Or(a, b)


def credit(path: Sequence[str], covered: Mapping[str, Sequence[int]], gaps: Mapping[str, int]) -> list[int]:
    """The earliest steps at which a run covers the goals of ``path`` in this order; ``covered`` as ``Monitor`` says.

    ``gaps``: how many steps after a goal's start the next may start at the earliest. ValueError if it does not.
    """
    steps: list[int] = []
    free = 0
    for goal in path:
        step = next((k for k in covered[goal] if k >= free), None)
        if step is None:
            raise ValueError(f"the run does not cover {goal} from step {free} on")
        steps.append(step)
        free = step + gaps[goal]
    return steps


def windows(path: Path, size: int) -> list[Path]:
    """The contiguous sub-paths of ``size`` nodes, in order."""
    return [path[i : i + size] for i in range(len(path) - size + 1)]
