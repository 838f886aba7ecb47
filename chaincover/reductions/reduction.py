"""Smaller problems with the same chains, each with the way back of what is found for them (after CVXPY's
reductions)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chaincover.problem import Problem
from chaincover.result import ChainResult

Restore = Callable[[ChainResult], ChainResult]


@dataclass(frozen=True)
class Reduction:
    """``problem`` has the chains that another one has; ``restore`` makes of its result one of that other problem.

    ``normal_form`` names the state variables that do not have all their values there, for nothing could tell these.
    """

    problem: Problem
    restore: Restore
    normal_form: tuple[str, ...] = ()


def in_turn(problem: Problem, reductions: Sequence[Callable[[Problem], Reduction]]) -> Reduction:
    """``reductions`` applied one after the other, and undone in the reverse order."""
    done: list[Reduction] = []
    for reduce in reductions:
        done.append(reduce(done[-1].problem if done else problem))

    def restore(result: ChainResult) -> ChainResult:
        for reduction in reversed(done):
            result = reduction.restore(result)
        return result

    named = tuple(name for reduction in done for name in reduction.normal_form)
    return Reduction(done[-1].problem if done else problem, restore, named)
