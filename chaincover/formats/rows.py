"""The steps of a chain as records, made one by one while they are written or compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, overload

from bmc.system.transition import StateVariable, TransitionSystem, Valuation
from chaincover.chain import Chain
from chaincover.project.values import shown
from properties.goal import Goal


def reported(system: TransitionSystem, role: str) -> list[StateVariable]:
    """The state variables of a role, in order."""
    return [var for var in system.state if var.role == role]


class ChainRows(Sequence[dict[str, Any]]):
    """One record per step: inputs, and state and outputs after it, the goals covered from it on, those that it serves.

    ``goals`` are those of the chain. A record is made whenever it is asked for: all of a long chain take much memory.
    """

    def __init__(self, system: TransitionSystem, chain: Chain, goals: Sequence[Goal]) -> None:
        self._inputs, self._run = system.inputs, chain.run
        self._state, self._outputs = reported(system, "state"), reported(system, "output")
        self._covered: dict[int, list[str]] = {}
        for hit in chain.hits:
            self._covered.setdefault(hit.step, []).append(hit.goal)
        self._serves = _served(self._covered, chain.length, {goal.name: goal.length for goal in goals})
        self._partly = any(_marker(var) in state for state in chain.run.states[-1:] for var in system.state)

    def __len__(self) -> int:
        return self._run.length

    @overload
    def __getitem__(self, step: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, step: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, step: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        if isinstance(step, slice):
            return [self._record(each) for each in range(len(self))[step]]
        return self._record(range(len(self))[step])

    def _record(self, step: int) -> dict[str, Any]:
        after = self._run.states[step + 1]
        return {
            "step": step,
            "inputs": shown(self._inputs, self._run.inputs[step]),
            "state": shown(self._set(self._state, after), after),
            "outputs": shown(self._set(self._outputs, after), after),
            "goals": self._covered.get(step, []),
            "serves": self._serves[step],
        }

    def _set(self, variables: Sequence[StateVariable], values: Valuation) -> Sequence[StateVariable]:
        return defined(variables, values) if self._partly else variables


def _served(covered: Mapping[int, Sequence[str]], steps: int, lengths: Mapping[str, int]) -> list[Sequence[str]]:
    """For each step the goals that are under way; where none is, those that it leads to; after the last goal, none."""
    under_way: dict[int, list[str]] = {}
    for start, goals in sorted(covered.items()):
        for goal in goals:
            for step in range(start, min(start + lengths[goal], steps)):
                under_way.setdefault(step, []).append(goal)
    served, following = list[Sequence[str]](), covered.get(steps, [])
    for step in reversed(range(steps)):
        served.append(under_way.get(step, following))
        following = covered.get(step, following)
    return served[::-1]


def defined(variables: Sequence[StateVariable], values: Valuation) -> list[StateVariable]:
    """The variables that hold a defined value."""
    return [var for var in variables if values.get(_marker(var), 1)]


def _marker(variable: StateVariable) -> str:
    """Under this name a state says whether ``variable`` holds a defined value, where it may hold none."""
    return f"{variable.name}#defined"
