"""Goals of several steps, and goals that must not share steps, as goals of one step each.

A **monitor** is made of state variables and inputs that change no run of the program (``bmc.system.memory``):

* An antecedent is a conjunction of parts, each of which is decided in the last step that it reads. A bit for each step
  that a goal may be old remembers whether the parts up to there held; goals that begin alike share these bits. The goal
  then holds in the last step of its antecedent.
* The steps that a goal goes on after its antecedent, as its consequent looks further ahead, are *free*: a run must only
  not end before. In each step an input, the **credit**, chooses how many free steps are to follow. A goal counts where
  it is no less than its own; a counter holds the end of the run back until they are over.
* With overlap ``forbid`` an input, the **pick**, chooses the one goal that counts in a step. Counters of the free steps
  to come and of the steps since the last goal tell whether it shares a step with another one. Goals of no step count
  where a further input marks a state between goals.

All is exact: a run of the system covers goals, without sharing steps where that is forbidden, and may end, exactly
where for some values of these inputs the run covers the goals of one step, and may end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pysmt.fnode import FNode
from pysmt.shortcuts import BVUGE, BVUGT, TRUE, Equals, Ite

from bmc.formulas.terms import both, choose, either, negate
from bmc.formulas.unroll import at, unframed, unplaced
from bmc.records import dataclass
from bmc.system.memory import Memory, with_memory
from bmc.system.transition import (
    BOOLEAN,
    InputVariable,
    TransitionSystem,
    ValueType,
    conjunction,
    conjuncts,
    symbols_of,
)
from properties.goal import Goal, goal_length

MONITOR = "monitor"
"""The owner of the variables of monitors: their names begin with it."""


@dataclass(frozen=True)
class OneStep:
    """``goals`` of at most one step, in the order of those that they were made of, on ``system`` with their monitors;
    runs end in ``final`` (None: anywhere) and may share steps.

    ``earlier`` has for each changed goal how many steps before it the goal begins that it was made of. A changed goal
    has no consequent: runs are judged by the goal that it was made of. ``made`` names the variables of monitors.
    """

    system: TransitionSystem
    goals: tuple[Goal, ...]
    final: FNode | None
    earlier: Mapping[str, int]
    made: tuple[str, ...]


def in_one_step(system: TransitionSystem, goals: Sequence[Goal], final: FNode | None, forbid: bool) -> OneStep | None:
    """``goals`` of runs of ``system`` that end in ``final``, as goals of one step; None where they are that already.

    ``forbid``: the steps of goals must be disjoint.
    """
    inputs = {var.name for var in system.inputs}
    own = {goal.name: min(max(1, goal_length([goal.antecedent], inputs)), goal.length) for goal in goals}
    if all(goal.length <= 1 for goal in goals) and not (forbid and any(goal.length for goal in goals)):
        return None
    memory = Memory(MONITOR)
    held: dict[str, FNode] = {}
    for goal in goals:
        last = own[goal.name] - 1
        held[goal.name] = _in_last_step(goal.antecedent, last, memory) if last > 0 else goal.antecedent
    free = {goal.name: goal.length - own[goal.name] for goal in goals}
    counting = _Picks(goals, own, free, memory) if forbid else _Credit(free, memory)
    made = tuple(_changed(goal, counting.counted(goal.name, held[goal.name])) for goal in goals)
    changed = [goal.name for goal, new in zip(goals, made, strict=True) if new is not goal]
    return OneStep(
        system=replace(with_memory(system, memory.variables), inputs=(*system.inputs, *counting.inputs)),
        goals=made,
        final=_all_of(final, counting.over),
        earlier={name: max(0, own[name] - 1) for name in changed},
        made=(*(var.name for var in memory.variables), *(var.name for var in counting.inputs)),
    )


def _changed(goal: Goal, antecedent: FNode) -> Goal:
    """``goal`` with another ``antecedent``, of one step at most; the same where it is the same."""
    if antecedent is goal.antecedent and goal.length <= 1:
        return goal
    length = min(1, goal.length)
    return replace(goal, antecedent=antecedent, length=length, consequent=None, violated=None, deadline=None)


def _all_of(final: FNode | None, over: FNode) -> FNode | None:
    return final if over.is_true() else over if final is None else both(final, over)


def _in_last_step(antecedent: FNode, last: int, memory: Memory) -> FNode:
    """``antecedent`` (framed), read when its step ``last`` is the one at hand: that is step 0 of what it becomes."""
    decided: dict[int, list[FNode]] = defaultdict(list)
    for part in conjuncts(antecedent):
        read = max((unframed(symbol)[1] for symbol in symbols_of(part)), default=0)
        decided[min(read, last)].append(part)
    so_far = TRUE()
    for step in range(last):
        here = unplaced([memory.from_now(conjunction(decided[step]), step)])[0]
        so_far = memory.before(both(so_far, here), 1)
    return both(at(so_far, 0), memory.from_now(conjunction(decided[last]), last))


def _count(most: int, name: str = "memory") -> ValueType:
    return ValueType(name, max(1, most.bit_length()))


def _less_one(count: FNode) -> FNode:
    """One less than ``count``, at least 0."""
    kind = _count((1 << count.bv_width()) - 1)
    return Ite(Equals(count, kind.constant(0)), kind.constant(0), count - kind.constant(1))


class _Credit:
    """Runs that may end once the ``free`` steps of all goals that count are over. ``over``: that they are."""

    def __init__(self, free: Mapping[str, int], memory: Memory) -> None:
        self._steps, self._free = sorted({steps for steps in free.values() if steps}), free
        self.inputs: tuple[InputVariable, ...] = ()
        self.over = TRUE()
        if not self._steps:
            return
        kind, most = _count(len(self._steps), "credit"), self._steps[-1]
        self.inputs = (InputVariable(f"{MONITOR}#credit:{kind.bits}", kind, ((0, len(self._steps)),), held=False),)
        self._credit, count = self.inputs[0].symbol, _count(most)
        left = memory.fresh(count)
        follow = fewer = _less_one(left)
        for level, steps in enumerate(self._steps, 1):
            some = count.constant(steps)
            more = Ite(BVUGT(fewer, some), fewer, some)
            follow = choose(Equals(self._credit, kind.constant(level)), more, follow)
        memory.keep(left, follow, most=most)
        self.over = Equals(left, count.constant(0))

    def counted(self, name: str, held: FNode) -> FNode:
        """Where the goal ``name`` counts, which is ``held``."""
        if not self._free[name]:
            return held
        level = self._steps.index(self._free[name]) + 1
        return both(held, at(BVUGE(self._credit, self.inputs[0].type.constant(level)), 0))


class _Picks:
    """Runs in which goals of a step or more count one by one, and share no steps. ``over``: that the last one is over.

    ``own`` are the steps of each goal's antecedent, ``free`` those that follow.
    """

    def __init__(self, goals: Sequence[Goal], own: Mapping[str, int], free: Mapping[str, int], memory: Memory) -> None:
        picked = [goal for goal in goals if goal.length]
        kind = _count(len(picked), "pick")
        pick = InputVariable(f"{MONITOR}#pick:{kind.bits}", kind, ((0, len(picked)),), held=False)
        self._own, self.inputs, self.over = own, (pick,), TRUE()
        self._picks = {goal.name: Equals(pick.symbol, kind.constant(n)) for n, goal in enumerate(picked, 1)}
        self._between = TRUE()
        if all(goal.length <= 1 for goal in picked):
            return
        most = max(own.values()) - 1
        since, left = memory.fresh(_count(most)), memory.fresh(_count(max(free.values())))
        self.over = Equals(left, _count(max(free.values())).constant(0))
        for name, chosen in self._picks.items():
            enough = BVUGE(since, _count(most).constant(own[name] - 1))
            self._picks[name] = conjunction([chosen, self.over, enough])
        anything, follow = negate(self.over), _less_one(left)
        for name, chosen in self._picks.items():
            anything = either(anything, chosen)
            follow = choose(chosen, _count(max(free.values())).constant(free[name]), follow)
        if any(goal.length == 0 for goal in goals):
            mark = InputVariable(f"{MONITOR}#mark", BOOLEAN, held=False)
            self.inputs = (pick, mark)
            anything = either(anything, mark.symbol)
            self._between = both(memory.keep(memory.fresh(), mark.symbol, 1), self.over)
        top, nothing = _count(most).constant(most), _count(most).constant(0)
        longer = Ite(Equals(since, top), top, since + _count(most).constant(1))
        memory.keep(since, choose(anything, nothing, longer), begins=most, most=most)
        memory.keep(left, follow, most=max(free.values()))

    def counted(self, name: str, held: FNode) -> FNode:
        """Where the goal ``name`` counts, which is ``held``."""
        return both(held, at(self._picks.get(name, self._between), 0))
