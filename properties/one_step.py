"""Goals of several steps as goals of one step: a monitor remembers what an antecedent says of the steps before its last.

A monitor is made of state variables that change no run (``bmc.system.memory``). An antecedent is a conjunction of parts;
each is decided in the last step that it reads. The monitor tells whether all parts that were to be decided so far held,
and so a goal that may begin at every step takes one bit for each step that it may be old. Goals that begin alike share
these bits. The goal then holds in the last step of its antecedent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE

from bmc.formulas.terms import both
from bmc.formulas.unroll import at, unframed, unplaced
from bmc.records import dataclass
from bmc.system.memory import Memory
from bmc.system.transition import StateVariable, conjunction, conjuncts, symbols_of
from properties.goal import Goal, goal_length

MONITOR = "monitor"
"""The owner of the variables of monitors: their names begin with it."""


@dataclass(frozen=True, slots=True)
class Monitored:
    """``goals`` with monitors in place of what they say of steps before their last one, in the order of the goals that
    they were made of; ``variables`` remember that. ``earlier`` has for each changed goal how many steps before it the
    goal begins that it was made of."""

    goals: tuple[Goal, ...]
    variables: tuple[StateVariable, ...]
    earlier: Mapping[str, int]


def in_one_step(goals: Sequence[Goal], inputs: Collection[str]) -> Monitored:
    """``goals`` with antecedents that speak of one step: of the state before it, its inputs, and the state after it.

    ``inputs`` has the plain names of the inputs. A run covers a goal from step k on exactly where it covers the goal
    that it was made of from step k - ``earlier`` on. The steps by which a goal is longer than its antecedent are left
    to its length. A changed goal has no consequent: runs are judged by the goal that it was made of.
    """
    memory, made, earlier = Memory(MONITOR), list[Goal](), dict[str, int]()
    for goal in goals:
        last = goal_length([goal.antecedent], inputs) - 1
        if last > 0:
            earlier[goal.name] = last
            goal = replace(
                goal,
                antecedent=_in_last_step(goal.antecedent, last, memory),
                length=goal.length - last,
                consequent=None,
                violated=None,
                deadline=None,
            )
        made.append(goal)
    return Monitored(tuple(made), tuple(memory.variables), earlier)


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
