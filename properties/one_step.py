"""Goals of several steps, and goals that must not share steps, as goals of one step each.

A **monitor** is made of state variables and inputs that change no run of the program (``bmc.system.memory``):

* An antecedent is a conjunction of parts, each of which is decided in the last step that it reads. A bit for each step
  that a goal may be old remembers whether the parts up to there held; goals that begin alike share these bits. The goal
  holds in its last step, which is later than that of its antecedent where its consequent looks further ahead.
* With overlap ``forbid`` an input, the **pick**, chooses the one goal that counts in a step, and a counter of the steps
  since the last one tells whether it shares a step with that. Goals of no step count where a further input marks a
  state in which one of them holds as between goals.

All is exact: a run of the system covers goals, without sharing steps where that is forbidden, exactly where for some
values of these inputs the run covers the goals of one step.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce

from pysmt.fnode import FNode
from pysmt.shortcuts import BVUGE, BVULE, FALSE, TRUE, Equals, Ite

from bmc.formulas.terms import both, choose, either, negate
from bmc.formulas.unroll import at, framed, unframed, unplaced, with_terms
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
from properties.goal import Goal, need_monitors

MONITOR = "monitor"
"""The owner of the variables of monitors: their names begin with it."""


@dataclass(frozen=True)
class OneStep:
    """``goals`` of at most one step, which may share steps, in the order of those that they were made of, on ``system``
    with their monitors.

    ``earlier`` has for each changed goal how many steps before it the goal begins that it was made of. A changed goal
    has no consequent: runs are judged by the goal that it was made of. ``made`` names the variables of monitors.
    """

    system: TransitionSystem
    goals: tuple[Goal, ...]
    earlier: Mapping[str, int]
    made: tuple[str, ...]


def in_one_step(system: TransitionSystem, goals: Sequence[Goal], forbid: bool) -> OneStep | None:
    """``goals`` of runs of ``system`` as goals of one step; None where they are that already.

    ``forbid``: the steps of goals must be disjoint.
    """
    if not need_monitors(goals, forbid):
        return None
    memory = Memory(MONITOR)
    held = {goal.name: _in_last_step(goal, memory) for goal in goals}
    inputs: tuple[InputVariable, ...] = ()
    counting = [goal for goal in goals if not held[goal.name].is_false()]  # what never holds has no part in monitors
    if forbid and any(goal.length for goal in counting):
        picks = _Picks(system, counting, held, memory)
        held, inputs = held | {goal.name: picks.counted(goal, held[goal.name]) for goal in counting}, picks.inputs
    made = tuple(_changed(goal, held[goal.name]) for goal in goals)
    return OneStep(
        system=replace(with_memory(system, memory.variables), inputs=(*system.inputs, *inputs)),
        goals=made,
        earlier={goal.name: goal.earlier for goal, new in zip(goals, made, strict=True) if new is not goal},
        made=(*(var.name for var in memory.variables), *(var.name for var in inputs)),
    )


def _changed(goal: Goal, antecedent: FNode) -> Goal:
    """``goal`` with another ``antecedent``, of one step at most; the same where it is the same."""
    if antecedent is goal.antecedent and goal.length <= 1:
        return goal
    length = min(1, goal.length)
    return replace(goal, antecedent=antecedent, length=length, consequent=None, violated=None, deadline=None)


def _in_last_step(goal: Goal, memory: Memory) -> FNode:
    """The antecedent of ``goal`` (framed), read when its last step is the one at hand: step 0 of what it becomes."""
    last = goal.length - 1
    if last < 1:
        return goal.antecedent
    decided: dict[int, list[FNode]] = defaultdict(list)
    for part in conjuncts(goal.antecedent):
        read = max((unframed(symbol)[1] for symbol in symbols_of(part)), default=0)
        decided[min(read, last)].append(part)
    so_far, before = TRUE(), -1
    for step in sorted({0, *decided} - {last}):
        here = unplaced([memory.from_now(conjunction(decided[step]), step)])[0]
        so_far = both(memory.before(so_far, step - before) if before >= 0 else so_far, here)
        before = step
    return both(at(memory.before(so_far, last - before), 0), memory.from_now(conjunction(decided[last]), last))


def _before_the_step(system: TransitionSystem, goals: Sequence[Goal], held: Mapping[str, FNode]) -> dict[str, FNode]:
    """What is ``held`` (framed) of ``goals``, over plain symbols: of inputs, and of the state before the step."""
    following = {framed(var.symbol, 1): at(var.next, 0) for var in system.state}
    plain = unplaced(with_terms([held[goal.name] for goal in goals], following))
    return dict(zip((goal.name for goal in goals), plain, strict=True))


def _first_in_circle(possible: Sequence[FNode], reached: Sequence[FNode]) -> list[FNode]:
    """For each of some conditions, of which those from some place on are ``reached``: no other one that is ``possible``
    comes before it, from that place on and round in a circle."""
    later, earlier, before = FALSE(), FALSE(), list[tuple[FNode, FNode]]()
    for here, reaches in zip(possible, reached, strict=True):
        before.append((conjunction([reaches, negate(later)]), negate(earlier)))
        later, earlier = either(later, both(here, reaches)), either(earlier, here)
    return [either(after, both(negate(later), first)) for after, first in before]


class _Picks:
    """Goals of a step or more of which one counts in a step, and that share no steps.

    In each step the first one counts, from the one on that is picked and round in a circle, of those that hold and
    began no earlier than the last one that counted was over; none if 0 is picked. So whatever is picked some goal
    counts, and any of them may. A goal of no step counts where the state is marked to be between goals.
    """

    def __init__(self, system: TransitionSystem, goals: Sequence[Goal], held: Mapping[str, FNode], memory: Memory):
        holds = _before_the_step(system, goals, held)
        picked, states = [g for g in goals if g.length], [holds[g.name] for g in goals if not g.length]
        most = max(goal.length for goal in picked) - 1
        kind = ValueType("pick", len(picked).bit_length())
        pick = InputVariable(f"{MONITOR}#pick:{kind.bits}", kind, ((int(most == 0), len(picked)),))
        self.inputs: tuple[InputVariable, ...] = (pick,)
        self._where: dict[str, FNode] = {}
        self._between = TRUE()
        count = ValueType("memory", max(1, most.bit_length()))
        since, top = memory.fresh(count) if most else count.constant(0), count.constant(most)
        possible = [both(holds[g.name], BVUGE(since, count.constant(g.length - 1)) if most else TRUE()) for g in picked]
        some = TRUE() if most == 0 else negate(Equals(pick.symbol, kind.constant(0)))
        reached = [BVULE(pick.symbol, kind.constant(number)) for number in range(1, len(picked) + 1)]
        for goal, here, first in zip(picked, possible, _first_in_circle(possible, reached), strict=True):
            self._where[goal.name] = conjunction([here, some, first])
        if most == 0:
            return
        anything = both(some, reduce(either, possible, FALSE()))
        if states:
            mark = InputVariable(f"{MONITOR}#mark", BOOLEAN)
            self.inputs = (pick, mark)
            after = {var.symbol: var.next for var in system.state}
            marks = both(mark.symbol, with_terms([reduce(either, states)], after)[0])
            self._between = memory.keep(memory.fresh(), marks, 1)
            anything = either(anything, marks)
        longer = Ite(Equals(since, top), top, since + count.constant(1))
        memory.keep(since, choose(anything, count.constant(0), longer), begins=most, most=most)

    def counted(self, goal: Goal, held: FNode) -> FNode:
        """Where ``goal`` counts, which is ``held``."""
        return at(self._where[goal.name], 0) if goal.length else both(held, at(self._between, 0))
