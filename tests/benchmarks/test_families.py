"""The families of controllers: what is written can be searched, and its shortest chain is the known one."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.measures.families.members import grid_points, member
from bmc.errors import UsageError
from chaincover.options import Options
from chaincover.pipeline import generate
from chaincover.project.load import Request, load_request


@pytest.mark.parametrize(("name", "goals", "length"), [("grid_20_30", 20, 124), ("modes_40_10", 40, 304)])
def test_the_shortest_chain_of_a_member_is_proved(name: str, goals: int, length: int, tmp_path: Path) -> None:
    problem = load_request(Request(str(member(name).write(tmp_path)))).problem
    result = generate(problem, Options(effort=0.1))
    assert (len(problem.goals), result.bounds.length, result.bounds.lower) == (goals, length, length)


@pytest.mark.parametrize("name", ["grid", "grid_20", "tree_20_30", "grid_x_30", "grid_9_1", "acc_3_8"])
def test_a_member_that_there_is_not_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        member(name)


def test_points_differ() -> None:
    assert len({*grid_points(16, 3)}) == 16
