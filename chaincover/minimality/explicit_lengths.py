"""Least lengths of sub-paths on enumerated states, where these are at hand."""

from __future__ import annotations

from chaincover.known import Board
from chaincover.minimality.segments import LeastLengths
from chaincover.minimality.walks import walks_in


def explicit_lengths(board: Board) -> LeastLengths | None:
    """What finds the least lengths of sub-paths without a solver; None where the states are not enumerated."""
    problem = board.problem
    return walks_in(problem.system, board.known.enumerated, problem.by_name, problem.final, problem.overlap)
