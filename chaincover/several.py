"""Algorithms 6 and 7: as few chains as the conflicts between goals demand, where one chain cannot cover them all.

Goals that no run covers together within K are conflicts. The least number of classes without a conflict inside is a
lower bound on the number of chains; a class that turns out impossible as a whole is learned as a further conflict.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count

from pysmt.fnode import FNode

from bmc.system import TransitionSystem
from chaincover.chain import COVERED, EXCLUDED, UNDECIDED, Verdict
from chaincover.graph import obstacles, transitive_closure
from chaincover.pipeline import ChainResult, Options, generate
from properties.goal import Goal


@dataclass(frozen=True, slots=True)
class Conflict:
    """Goals that do not fit into one chain; ``reason`` says how that is known."""

    goals: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class SeveralChains:
    """``results`` hold a chain each; together they cover every goal that can be covered.

    ``verdicts`` are those of all goals, in their order, with the number of the chain (from 1) in the detail.
    ``fewest``: fewer chains would break a conflict, all of which hold within the K reached. ``stopped_by`` as in
    ``ChainResult``.
    """

    results: tuple[ChainResult, ...]
    verdicts: tuple[Verdict, ...]
    conflicts: tuple[Conflict, ...]
    fewest: bool
    stopped_by: str

    @property
    def length(self) -> int:
        """Steps of all chains together."""
        return sum(r.chain.length for r in self.results if r.chain is not None)


def generate_several(
    system: TransitionSystem,
    goals: Sequence[Goal],
    final: FNode | None,
    options: Options | None = None,
    progress: Callable[[str], None] | None = None,
) -> SeveralChains:
    """Cover ``goals`` with chains from init to ``final``; one chain where one suffices. Errors as in ``generate``."""
    search = _Search(system, goals, final, options or Options(), progress or (lambda text: None))
    return search.run()


class _Search:
    """One run: ``conflicts`` grows, ``set_aside`` holds the verdicts of goals that no chain covers."""

    def __init__(
        self,
        system: TransitionSystem,
        goals: Sequence[Goal],
        final: FNode | None,
        options: Options,
        progress: Callable[[str], None],
    ) -> None:
        self._system, self._goals, self._final = system, tuple(goals), final
        self._options, self._progress = options, progress
        self._conflicts: list[Conflict] = []
        self._set_aside: dict[str, Verdict] = {}

    def run(self) -> SeveralChains:
        """Try one chain; else partition the goals that can be covered, and learn from classes that fail."""
        whole = self._generate([goal.name for goal in self._goals])
        if whole.chain is not None or whole.stopped_by:
            found = (whole,) if whole.chain is not None else ()
            return SeveralChains(found, whole.verdicts, (), whole.chain is not None, whole.stopped_by)
        left = self._learn_from(whole)
        while left:
            classes = partition(left, [c.goals for c in self._conflicts])
            self._progress(f"partition: {len(classes)} chain(s)")
            results = [self._generate(names) for names in classes]
            stopped = next((r.stopped_by for r in results if r.stopped_by), "")
            failed = [(n, r) for n, r in zip(classes, results, strict=True) if r.chain is None]
            if not failed or stopped:
                return self._result([r for r in results if r.chain is not None], left, stopped)
            for names, result in failed:
                left = self._learn_class(names, result, left)
        return self._result([], left, "")

    def _generate(self, names: Sequence[str], options: Options | None = None) -> ChainResult:
        chosen = [goal for goal in self._goals if goal.name in names]
        return generate(self._system, chosen, self._final, options or self._options, self._progress)

    def _learn_from(self, whole: ChainResult) -> list[str]:
        """Set the goals aside that no chain covers; note the pairs that exclude each other; the goals that are left."""
        graph = whole.graph
        possible = graph.possible
        found = obstacles(possible, transitive_closure(possible))
        hopeless = {*graph.unsatisfiable, *found.unreached, *found.stuck}
        for verdict in whole.verdicts:
            if verdict.goal in hopeless:
                self._set_aside[verdict.goal] = verdict
        for a, b in found.exclusive:
            if not {a, b} & hopeless:
                reason = f"after {a} no run reaches {b}, nor after {b} a run reaches {a}, within K = {whole.depth}"
                self._conflicts.append(Conflict((a, b), reason))
        left = [g for g in graph.goals if g not in hopeless]
        if not self._conflicts and len(left) == len(graph.goals):
            return self._learn_class(left, whole, left)
        return left

    def _learn_class(self, names: Sequence[str], result: ChainResult, left: list[str]) -> list[str]:
        """A class that failed: a goal alone is set aside, several goals are a conflict, made as small as it goes."""
        if len(names) == 1 or any(v.status == UNDECIDED for v in result.verdicts):
            for verdict in result.verdicts:
                self._set_aside[verdict.goal] = verdict
            return [g for g in left if g not in names]
        core = list(names)
        quick = replace(self._options, improve=0)
        for name in names:
            rest = [n for n in core if n != name]
            if len(rest) > 1 and self._generate(rest, quick).chain is None and self._generate(rest).chain is None:
                core = rest
        reason = f"no inputs that cover them together were found with K = {result.depth}"
        self._conflicts.append(Conflict(tuple(core), reason))
        return left

    def _result(self, results: Sequence[ChainResult], left: Sequence[str], stopped: str) -> SeveralChains:
        verdicts = []
        for goal in self._goals:
            verdict = self._set_aside.get(goal.name)
            for number, result in enumerate(results, 1):
                for own in result.verdicts:
                    if own.goal == goal.name and own.status == COVERED:
                        verdict = replace(own, detail=f"chain {number}")
            if verdict is None:
                status = UNDECIDED if stopped else EXCLUDED
                verdict = Verdict(goal.name, status, detail=f"stopped by {stopped}" if stopped else "")
            verdicts.append(verdict)
        return SeveralChains(tuple(results), tuple(verdicts), tuple(self._conflicts), not stopped, stopped)


def partition(goals: Sequence[str], conflicts: Sequence[Sequence[str]]) -> list[list[str]]:
    """Algorithm 7, for conflict sets of any size: the fewest classes such that no class contains a whole conflict.

    Exact; the first in the order of the goals among equals. Conflicts of one goal are not allowed.
    """
    sets = [frozenset(c) for c in conflicts]
    order = sorted(goals, key=lambda g: (-sum(g in c for c in sets), goals.index(g)))
    for number in count(1):
        classes: list[set[str]] = []
        if _assign(order, 0, classes, sets, number):
            return [[g for g in goals if g in members] for members in classes]
    raise AssertionError("unreachable")


def _assign(order: Sequence[str], place: int, classes: list[set[str]], sets: list[frozenset[str]], number: int) -> bool:
    if place == len(order):
        return True
    goal = order[place]
    for index in range(min(len(classes) + 1, number)):
        if index == len(classes):
            classes.append(set())
        members = classes[index]
        members.add(goal)
        if not any(goal in s and s <= members for s in sets) and _assign(order, place + 1, classes, sets, number):
            return True
        members.discard(goal)
        if not members:
            classes.pop()
    return False
