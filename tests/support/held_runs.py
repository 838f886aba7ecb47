"""A plain reference for held inputs: all runs of the free system, a whole held step at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from explicit import Explicit, State
from pysmt.fnode import FNode

from bmc.formulas.unroll import at
from bmc.system.simulation import Simulator
from bmc.system.transition import TransitionSystem
from properties.goal import Goal

Values = tuple[int, ...]
Credits = frozenset[tuple[frozenset[str], int]]


MOST = 4000
"""Held steps within which every search comes to its end."""


class Steps(dict[State, dict[Values, State]]):
    """The allowed steps from each state that is looked up."""

    def __init__(self, explicit: Explicit) -> None:
        super().__init__()
        self._explicit = explicit

    def __missing__(self, state: State) -> dict[Values, State]:
        self[state] = dict(self._explicit._steps(state))
        return self[state]


class Reached(Explicit):
    """As ``Explicit``, without a list of all states."""

    def __init__(self, system: TransitionSystem) -> None:
        self.simulator = Simulator(system)
        self.state_names = [var.name for var in system.state]
        self.input_names = [var.name for var in system.inputs]
        ranges = [var.values or ((0, var.type.greatest),) for var in system.inputs]
        self.inputs = list(product(*([v for low, high in r for v in range(low, high + 1)] for r in ranges)))
        self.init = tuple(self.simulator.initial()[name] for name in self.state_names)
        self.following = Steps(self)
        self._tests = {}
        self._known: dict[Any, bool] = {}

    def holds(self, formula: FNode, states: Sequence[State], inputs: Sequence[Values]) -> bool:
        key = formula, tuple(states), tuple(inputs)
        if key not in self._known:
            self._known[key] = super().holds(formula, states, inputs)
        return self._known[key]


class HeldRuns:
    """All runs of a free system that hold each input for ``ticks`` steps, breadth first, one whole held step a time.

    ``forbid``: goals are credited at disjoint steps; a run then has a set of ways, each the goals credited and the
    steps since the last of them ended.
    """

    def __init__(self, system: TransitionSystem, goals: Sequence[Goal], ticks: int, forbid: bool = False) -> None:
        self.explicit, self.goals, self.ticks, self.forbid = Reached(system), goals, ticks, forbid
        self.window = max((goal.length for goal in goals), default=0)

    def credits(self, states: tuple[State, ...], inputs: tuple[Values, ...], before: Credits) -> Credits:
        hits = [g for g in self.goals if g.length <= len(inputs) and self._ends(g, states, inputs)]
        if not self.forbid:
            ((done, since),) = before
            return frozenset([(done | {g.name for g in hits}, since)])
        found = set()
        for done, since in before:
            found.add((done, since))
            short = done | {g.name for g in hits if g.length == 0}
            found.add((short, 0) if short != done else (done, since))
            for goal in hits:
                if 0 < goal.length <= since and goal.name not in done:
                    found.add((short | {goal.name}, 0))
        return frozenset(found)

    def _ends(self, goal: Goal, states: tuple[State, ...], inputs: tuple[Values, ...]) -> bool:
        first = len(inputs) - goal.length
        return self.explicit.holds(goal.antecedent, states[first:], inputs[first:])

    def least(self, final: FNode | None, names: Sequence[str], most: int) -> int | None:
        """The least number of ticks of a run over the goals ``names`` to the end of a held step in ``final``."""
        init = self.explicit.init
        first = ((init,), (), self.credits((init,), (), frozenset([(frozenset(), 0)])))
        seen, layer = {first}, [first]
        for length in range(most):
            for states, _, ways in layer:
                ended = final is None or self.explicit.holds(at(final, 0), states[-1:], [])
                if ended and any(set(names) <= done for done, _ in ways):
                    return length * self.ticks
            following = []
            for node in layer:
                for after in self._held_step(*node):
                    if after not in seen:
                        seen.add(after)
                        following.append(after)
            layer = following
        assert not layer
        return None

    def _held_step(
        self, states: tuple[State, ...], inputs: tuple[Values, ...], ways: Credits
    ) -> Iterator[tuple[tuple[State, ...], tuple[Values, ...], Credits]]:
        for values in self.explicit.inputs:
            node = states, inputs, ways
            for _ in range(self.ticks):
                after = self.explicit.following[node[0][-1]].get(values)
                if after is None:
                    break
                here = (*node[0], after)[-self.window - 1 :]
                given = (*node[1], values)[max(0, len(node[1]) + 1 - self.window) :]
                aged = frozenset((done, min(since + 1, self.window)) for done, since in node[2])
                node = here, given, self.credits(here, given, aged)
            else:
                yield node

    def least_of_all(self, final: FNode | None) -> int | None:
        """As ``least``, for all goals."""
        return self.least(final, [goal.name for goal in self.goals], MOST)
