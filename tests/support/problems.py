"""Problems from the cases that tests are made of."""

from __future__ import annotations

from collections.abc import Iterable

from pysmt.fnode import FNode

from bmc.system.transition import TransitionSystem
from chaincover.problem import Problem
from properties.goal import Goal


def problem_of(system: TransitionSystem, goals: Iterable[Goal], final: FNode | None, overlap: str = "allow") -> Problem:
    """The problem of a case."""
    return Problem(system, tuple(goals), final, overlap)
