"""What a chain is sought for: a transition system, the goals, the final condition, and whether goals may overlap.

Questions of bounded model checking about a problem are asked in sessions that start in init or elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

from pysmt.fnode import FNode

from bmc.engines.protocol import Engine, Session
from bmc.errors import InputRefused
from bmc.formulas.unroll import at
from bmc.records import dataclass
from bmc.system.transition import TransitionSystem, Valuation, conjunction, equal
from chaincover.limits import Limits
from chaincover.weights import END, FINAL, INIT, RESERVED
from properties.goal import Goal, need_monitors

if TYPE_CHECKING:
    from properties.one_step import OneStep


@dataclass(frozen=True)
class Problem:
    """The nodes between which distances are sought, and through which a chain runs.

    ``final`` is the condition in which a chain ends, over plain state symbols; None: it may end in any state.
    ``overlap`` is ``allow`` (goals may share steps) or ``forbid`` (the steps of credited goals are disjoint).
    """

    system: TransitionSystem
    goals: tuple[Goal, ...]
    final: FNode | None
    overlap: str = "allow"

    @property
    def forbid(self) -> bool:
        """Whether the steps of credited goals are disjoint."""
        return self.overlap == "forbid"

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the goals, in their order."""
        return tuple(goal.name for goal in self.goals)

    @cached_property
    def by_name(self) -> dict[str, Goal]:
        """Each goal by its name."""
        return {goal.name: goal for goal in self.goals}

    @property
    def end(self) -> str:
        """The name of the end node."""
        return END if self.final is None else FINAL

    @property
    def start(self) -> Goal:
        """Init as a node."""
        return Goal(INIT, at(self.system.init_formula, 0), None, 0)

    @property
    def targets(self) -> tuple[Goal, ...]:
        """The goals, and the final condition as a node."""
        return (*self.goals, *([] if self.final is None else [Goal(FINAL, at(self.final, 0), None, 0)]))

    def over(self, node: str, begin: int) -> int:
        """The step of the last state that ``node`` reads where it begins at ``begin``; init and the end read one."""
        return self.by_name[node].over(begin) if node in self.by_name else begin

    def earlier(self, node: str) -> int:
        """How many steps before its last step ``node`` begins."""
        return self.by_name[node].earlier if node in self.by_name else 0

    def takes_step(self, node: str) -> bool:
        """Whether ``node`` is a condition on one step; init and the end are conditions on one state."""
        return node in self.by_name and self.by_name[node].takes_step

    def end_formulas(self, step: int) -> list[FNode]:
        """What must hold at the end of a chain of ``step`` steps, framed."""
        return [] if self.final is None else [at(self.final, step)]

    def of(self, names: Collection[str]) -> Self:
        """The same problem with only the goals ``names``, in their old order."""
        return replace(self, goals=tuple(goal for goal in self.goals if goal.name in names))

    def in_one_step(self, names: Collection[str]) -> tuple[Self, OneStep | None]:
        """The same problem with the goals ``names`` as goals of one step at most, which may share steps, and their
        monitors; itself, and None, where they are that already. Other goals stay as they are."""
        goals = self.of(names).goals
        if not need_monitors(goals, self.forbid):
            return self, None
        from properties.one_step import in_one_step  # here, for most goals take one step

        made = in_one_step(self.system, goals, self.forbid)
        if made is None:
            return self, None
        changed = {goal.name: goal for goal in made.goals}
        every = tuple(changed.get(goal.name, goal) for goal in self.goals)
        return replace(self, system=made.system, goals=every, overlap="allow"), made

    def check_names(self) -> None:
        """InputRefused if two goals have one name, or a goal has the name of an end node."""
        seen: set[str] = set()
        for goal in self.goals:
            if goal.name in RESERVED:
                raise InputRefused(f"a goal may not be called {goal.name!r}", goal.where, "give it another name")
            if goal.name in seen:
                raise InputRefused(f"two goals are called {goal.name!r}", goal.where, "give one another name")
            seen.add(goal.name)


@dataclass(frozen=True)
class Questions:
    """Who answers questions about ``problem``, and what may be spent on them."""

    problem: Problem
    engine: Engine
    limits: Limits

    @cached_property
    def from_init(self) -> Session:
        """The session whose runs start in init; there is one, so that nothing is encoded twice."""
        return self.session(at(self.problem.system.init_formula, 0))

    def session_from(self, state: Valuation) -> Session:
        """A new session whose runs start in ``state``."""
        return self.session(self.in_state(state))

    def in_state(self, state: Valuation) -> FNode:
        """That a run starts in ``state`` (framed at 0)."""
        return at(conjunction(equal(v.symbol, v.type.constant(state[v.name])) for v in self.problem.system.state), 0)

    def session(self, source: FNode) -> Session:
        """A new session whose runs start in a state that satisfies ``source`` (framed at 0)."""
        formulas = [goal.antecedent for goal in self.problem.goals]
        return self.engine.session(self.problem.system, source, [*formulas, *self.problem.end_formulas(0)])
