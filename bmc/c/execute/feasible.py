"""Whether a condition of the code can hold at all: asked of the solver where unrolling alone would not end."""

from __future__ import annotations

from pysmt.exceptions import SolverReturnedUnknownResultError
from pysmt.fnode import FNode
from pysmt.logics import QF_BV
from pysmt.shortcuts import Solver

EFFORT = 20_000_000
"""z3's resource limit of one question: work counted, not time, so that reading is repeatable."""


def impossible(condition: FNode) -> bool:
    """Whether ``condition`` is proved to hold for no values of its symbols; False also where the effort is used up."""
    if condition.is_constant():
        return bool(condition.is_false())
    with Solver(name="z3", logic=QF_BV, solver_options={"rlimit": EFFORT}) as solver:
        try:
            return not solver.is_sat(condition)
        except SolverReturnedUnknownResultError:
            return False
