"""Judging goals on concrete runs: where each antecedent holds and whether the consequent then held."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import compress
from typing import Any

from pysmt.fnode import FNode

from bmc.formulas.evaluate import MOST_COMPILED, define, translate
from bmc.formulas.terms import both
from bmc.formulas.unroll import unframed
from bmc.system.transition import Run, symbols_of
from properties.goal import Goal

Frames = Sequence[Mapping[str, int]]
Test = Callable[[Frames, int], Any]

AT_ONCE = 10_000
"""Steps of a run that are looked at together. Twice as many: twice the memory, beside that of the run."""


class Monitor:
    """Evaluates goals on runs. Each formula is compiled when it is first needed; steps count from 0."""

    def __init__(self, goals: Sequence[Goal]) -> None:
        self.goals = {goal.name: goal for goal in goals}
        self._together = [_TestOfMany(length, [g for g in goals if g.length == length]) for length in _lengths(goals)]

    def covered(self, run: Run) -> dict[str, list[int]]:
        """For each goal the steps k at which ``run`` covers it; only k with k + J <= the run's length."""
        found: dict[str, list[int]] = {name: [] for name in self.goals}
        longest = max((test.length for test in self._together), default=0)
        for first in range(0, run.length + 1, AT_ONCE):
            frames = _frames(run, first, min(first + AT_ONCE + longest, run.length))
            for test in self._together:
                for k in range(first, min(first + AT_ONCE, run.length - test.length + 1)):
                    for name in test.holding(frames, k - first):
                        found[name].append(k)
        return found

    def holds(self, run: Run, goal: str, step: int) -> bool:
        """Whether ``run`` covers ``goal`` at ``step``; false where the run is too short to tell."""
        if step < 0 or step + self.goals[goal].length > run.length:
            return False
        return self._true(self.goals[goal].antecedent, run, step, self.goals[goal].length)

    def ends(self, run: Run, goal: str, step: int) -> bool:
        """Whether ``run`` covers ``goal`` so that the state of ``step`` is the last one that the goal reads."""
        return self.holds(run, goal, step - self.goals[goal].length)

    def judge(self, run: Run, goal: str, step: int) -> bool | None:
        """Whether the consequent of ``goal`` held for its antecedent at ``step``; None if it has none.

        ValueError where the run ends before the consequent can be judged.
        """
        consequent = self.goals[goal].consequent
        if consequent is None:
            return None
        if step + self.goals[goal].length > run.length:
            raise ValueError(f"the run of {run.length} steps is too short to judge {goal} at step {step}")
        return self._true(consequent, run, step, self.goals[goal].length)

    def _true(self, formula: FNode, run: Run, step: int, length: int) -> bool:
        """Whether ``formula``, which spans ``length`` steps, holds from ``step`` on."""
        return bool(_test(formula)(_frames(run, step, step + length), 0))


def violated_late(goals: Iterable[Goal], run: Run, inputs: Collection[str]) -> dict[str, list[int]]:
    """Where ``run`` violates a property with a deadline, but not by the occurrence that covers its goal there.

    For each goal the steps that decide an occurrence of its antecedent, each occurrence by itself; ``inputs`` are the
    names of the inputs. Only of those goals whose formulas read nothing but variables of the run.
    """
    late, known = {}, {*run.states[0], *inputs}
    for goal in goals:
        deadline = goal.deadline
        if deadline is None or deadline.antecedent is None:
            continue
        read = symbols_of(both(deadline.antecedent, deadline.condition))
        if any(unframed(symbol)[0] not in known for symbol in read):
            continue
        judging = Monitor([goal])
        covered = {step: judging.judge(run, goal.name, step) for step in judging.covered(run)[goal.name]}
        failed = sorted({one.after for one in deadline.decisions(run, inputs) if not one.held})
        late[goal.name] = [step for step in failed if covered.get(step) is not False]
    return late


class _TestOfMany:
    """The antecedents of goals of one ``length``, as one function, so that what they share is computed once."""

    def __init__(self, length: int, goals: Sequence[Goal]) -> None:
        self.length = length
        self._names = [goal.name for goal in goals]
        self._function = _values_of(tuple(goal.antecedent for goal in goals))

    def holding(self, frames: Frames, k: int) -> list[str]:
        """The goals that hold from step ``k`` on."""
        return list(compress(self._names, self._function(frames, k)))


def _lengths(goals: Sequence[Goal]) -> list[int]:
    return sorted({goal.length for goal in goals})


@lru_cache(maxsize=MOST_COMPILED)
def _values_of(formulas: tuple[FNode, ...]) -> Callable[[Frames, int], tuple[int, ...]]:
    """The values of ``formulas`` (over framed symbols), from a run's frames and a step."""
    done = translate(formulas, _read)
    return define("frames, k", [*done.statements, f"return ({''.join(f'{result}, ' for result in done.results)})"])


@lru_cache(maxsize=4096)
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
