"""Judging goals on concrete runs: where each antecedent holds and whether the consequent then held."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pysmt.fnode import FNode

from bmc.engines.protocol import Run
from bmc.evaluate import define, translate
from bmc.unroll import unframed
from properties.goal import Goal

Frames = Sequence[Mapping[str, int]]
Test = Callable[[Frames, int], Any]


class Monitor:
    """Evaluates goals on runs. Each formula is compiled once; steps count from 0."""

    def __init__(self, goals: Sequence[Goal]) -> None:
        self.goals = {goal.name: goal for goal in goals}
        self._antecedents = {goal.name: _test(goal.antecedent) for goal in goals}
        self._consequents = {goal.name: _test(goal.consequent) for goal in goals if goal.consequent is not None}

    def covered(self, run: Run) -> dict[str, list[int]]:
        """For each goal the steps k at which ``run`` covers it; only k with k + J <= the run's length."""
        frames = _frames(run, 0, run.length)
        return {
            name: [k for k in range(run.length - goal.length + 1) if self._antecedents[name](frames, k)]
            for name, goal in self.goals.items()
        }

    def holds(self, run: Run, goal: str, step: int) -> bool:
        """Whether ``run`` covers ``goal`` at ``step``; false where the run is too short to tell."""
        if step < 0 or step + self.goals[goal].length > run.length:
            return False
        return bool(self._antecedents[goal](_frames(run, step, step + self.goals[goal].length), 0))

    def judge(self, run: Run, goal: str, step: int) -> bool | None:
        """Whether the consequent of ``goal`` held for its antecedent at ``step``; None if it has none.

        ValueError where the run ends before the consequent can be judged.
        """
        if goal not in self._consequents:
            return None
        if step + self.goals[goal].length > run.length:
            raise ValueError(f"the run of {run.length} steps is too short to judge {goal} at step {step}")
        return bool(self._consequents[goal](_frames(run, step, step + self.goals[goal].length), 0))


def _test(formula: FNode) -> Test:
    """``formula`` (over framed symbols) as a function of a run's frames and a step."""
    done = translate([formula], _read)
    return define("frames, k", [*done.statements, f"return {done.results[0]}"])


def _read(symbol: FNode) -> str:
    name, step = unframed(symbol)
    return f"frames[k + {step}][{name!r}]"


def _frames(run: Run, first: int, last: int) -> list[Mapping[str, int]]:
    """State and inputs of the steps ``first`` to ``last``, each step's in one mapping; the last is a state only."""
    steps = [{**run.states[k], **run.inputs[k]} for k in range(first, last)]
    return [*steps, run.states[last]]
