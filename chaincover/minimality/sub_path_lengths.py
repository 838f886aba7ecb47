"""Sub-paths with free positions: the least number of steps in which goals can be covered in a given order.

Where Algorithm 9 (BuildPath) puts each goal of a path at a fixed step, these queries leave the steps between the first
and the last node open, so that an impossible one says something about every run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from pysmt.fnode import FNode
from pysmt.shortcuts import FALSE, TRUE, And, Or

from bmc.engines.protocol import Session, Status
from bmc.formulas.unroll import at, shift
from bmc.records import dataclass
from bmc.system.transition import Run
from chaincover.problem import Questions
from chaincover.weights import END, FINAL, INIT

Path = tuple[str, ...]
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class KnownLength:
    """What is known of a sub-path: it takes ``at_least`` steps, which is the least if ``exact``.

    ``gave_up``: the solver did at ``at_least``.
    """

    at_least: int
    exact: bool
    gave_up: bool = False

    @property
    def settled(self) -> bool:
        """Whether asking on is of no use."""
        return self.exact or self.gave_up


@dataclass(frozen=True, slots=True)
class SubPath:
    """A question: how long is ``path``, as far as that is at most ``most``? ``at_least`` was proved by the caller."""

    path: Path
    at_least: int
    most: int

    @property
    def whole(self) -> bool:
        """Whether it is a whole chain."""
        return self.path[0] == INIT and self.path[-1] in (FINAL, END)


class SubPathLengths(Protocol):
    """Finds the least lengths of sub-paths."""

    @property
    def cheap(self) -> bool:
        """Whether an answer takes but a moment, so that more may be asked than is needed."""

    def least_all(self, sub_paths: Sequence[SubPath]) -> list[KnownLength]:
        """What is known of each of ``sub_paths``, raised until it is exact or above its ``most``.

        The answers do not depend on each other. LimitReached when time is over; what was proved until then stays known.
        """

    def ask(self, path: Path, steps: int) -> tuple[Status, Run | None]:
        """Is there a run whose last node starts exactly ``steps`` after the first? The run with SAT.

        ``steps`` is known to be a lower bound. LimitReached when time is over.
        """


class SubPathSearch:
    """Asks for sub-paths of node names that begin in init or a goal and finish in a goal or the end.

    Whole chains are asked of the session from init that ``questions`` has; shorter sub-paths have their own sessions.
    """

    cheap = False

    def __init__(self, questions: Questions, progress: Progress | None = None) -> None:
        self._questions, self._goals = questions, questions.problem.by_name
        self._progress = progress
        self._sessions: dict[str, Session] = {}
        self._known: dict[Path, KnownLength] = {}
        self._placed: dict[tuple[str, int], FNode] = {}
        self._built: dict[tuple[Path, int, int, bool], FNode] = {}
        self.queries = 0

    def known(self, path: Path) -> KnownLength | None:
        """What has been found out about ``path``."""
        return self._known.get(path)

    def so_far(self, sub_path: SubPath) -> KnownLength:
        """What is known of ``sub_path`` without a question."""
        found = self._known.get(sub_path.path)
        return found if found and found.at_least >= sub_path.at_least else KnownLength(sub_path.at_least, False)

    def open_ones(self, sub_paths: Sequence[SubPath]) -> list[SubPath]:
        """Those of which more is to be found out, with what is known of them."""
        known = [(sub_path, self.so_far(sub_path)) for sub_path in sub_paths]
        return [replace(s, at_least=k.at_least) for s, k in known if not k.settled and k.at_least <= s.most]

    def least_all(self, sub_paths: Sequence[SubPath]) -> list[KnownLength]:
        """See the protocol."""
        asked = self.open_ones(sub_paths)
        for done, sub_path in enumerate(asked, 1):
            self.least(sub_path)
            if self._progress is not None:
                self._progress(told(done, len(asked)))
        return [self.so_far(sub_path) for sub_path in sub_paths]

    def least(self, sub_path: SubPath) -> KnownLength:
        """As ``least_all`` for one."""
        found = self.so_far(sub_path)
        while not found.settled and found.at_least <= sub_path.most:
            status, _ = self.ask(sub_path.path, found.at_least)
            if status is Status.UNSAT:
                found = KnownLength(found.at_least + 1, False)
            else:
                found = KnownLength(found.at_least, status is Status.SAT, status is Status.UNKNOWN)
            self._known[sub_path.path] = found
        return found

    def ask(self, path: Path, steps: int) -> tuple[Status, Run | None]:
        """Is there a run whose last node starts exactly ``steps`` after the first? UNSAT only if no horizon has one.

        The run with SAT. LimitReached when time is over.
        """
        whole = SubPath(path, steps, steps).whole
        limits = self._questions.limits
        session = self._questions.from_init if whole else self._session(path[0])
        gave_up = False
        for horizon in self._horizons(path, steps):
            formula = self._formula(path, steps, horizon)
            if formula.is_false():
                continue
            self.queries += 1
            formulas = [formula, *(self._questions.problem.end_formulas(steps) if path[-1] == FINAL else [])]
            status = session.check(formulas, horizon, limits.for_query(), limits.question()).status
            if status is Status.SAT:
                return status, session.run()
            if status is Status.UNKNOWN:
                limits.check()
                gave_up = True
        return (Status.UNKNOWN if gave_up else Status.UNSAT), None

    def _session(self, node: str) -> Session:
        """The session of the sub-paths that begin in init, or in the goal ``node``: short ones, unlike whole chains."""
        if node not in self._sessions:
            source = (
                at(self._questions.problem.system.init_formula, 0) if node == INIT else self._goals[node].antecedent
            )
            self._sessions[node] = self._questions.session(source)
        return self._sessions[node]

    def _horizons(self, path: Path, steps: int) -> range:
        """The numbers of steps that runs for ``path`` can need: longer ones only where a goal in between needs them."""
        over = self._questions.problem.over
        least = max(over(path[0], 0), over(path[-1], steps))
        if path[-1] in (FINAL, END):
            return range(steps, steps + 1) if least == steps else range(0)
        return range(least, max([least, *(over(node, steps) for node in path[1:-1])]) + 1)

    def _formula(self, path: Path, steps: int, horizon: int) -> FNode:
        """The nodes after the first in order, the last at ``steps``, all ended by ``horizon``."""
        if path[-1] in (FINAL, END):
            return self._until(path[:-1], steps, horizon)
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
        if self._goals[path[-1]].over(steps) > horizon:
            return FALSE()
        key = (path, steps, self._cut(steps, horizon), True)
        if key not in self._built:
            before = self._until(path[:-1], steps, horizon)
            self._built[key] = FALSE() if before.is_false() else And(self._at(path[-1], steps), before)
        return self._built[key]

    def _cut(self, steps: int, horizon: int) -> int:
        """Formulas up to ``steps`` are the same for all horizons that no goal placed there can exceed."""
        return horizon if any(goal.over(steps) > horizon for goal in self._goals.values()) else -1

    def _at(self, goal: str, step: int) -> FNode:
        key = (goal, step)
        if key not in self._placed:
            self._placed[key] = shift(self._goals[goal].antecedent, step)
        return self._placed[key]


def _either(a: FNode, b: FNode) -> FNode:
    if a.is_false():
        return b
    return a if b.is_false() else Or(a, b)


def told(done: int, asked: int) -> str:
    """The message about the progress of ``least_all``."""
    return f"path weights: {done} of {asked} sub-paths"


def windows(path: Path, size: int) -> list[Path]:
    """The contiguous sub-paths of ``size`` nodes, in order."""
    return [path[i : i + size] for i in range(len(path) - size + 1)]
