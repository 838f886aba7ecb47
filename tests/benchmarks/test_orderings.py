"""``python -m benchmarks orderings``: all backends on graphs of models and families and on random ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from command_line import MODELS

from benchmarks.measures.families.members import grid
from benchmarks.measures.orderings import SUB_PATHS, generated, main, of_project, on_grid, with_learned
from chaincover.orderings.mip import MipOrdering
from chaincover.orderings.protocol import path_cost
from chaincover.project.load import Request


def table(*arguments: str) -> list[list[str]]:
    """The rows of the table, without its head."""
    outcome = CliRunner().invoke(main, [*arguments])
    assert outcome.exit_code == 0, outcome.output
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in outcome.output.splitlines()[2:]]


def test_each_graph_has_a_row_with_path_constraints_and_one_without() -> None:
    rows = table("--graph", "generated 8, *", "--graph", "cruise", "--column", "mip", "--column", "asp-usc")
    assert [row[:3] for row in rows] == [
        ["cruise", "4", "0"],
        ["cruise", "4", "4"],
        ["generated 8, 1..6", "8", "0"],
        ["generated 8, 1..6", "8", "8"],
    ]
    for row in rows:
        mip, asp = (cell.partition(" ")[0] for cell in row[3:])
        assert mip == asp
        assert mip.endswith("*")
    off, on = (int(row[3].partition("*")[0]) for row in rows[2:])
    assert off < on


def test_path_constraints_of_many_goals_come_from_one_short_path_and_make_it_dearer() -> None:
    problem = generated(60, 6)
    constrained = with_learned(problem)
    assert len(constrained.least) + len(constrained.forbidden) == pytest.approx(SUB_PATHS, abs=10)
    found = MipOrdering().solve(constrained)
    assert found.proved
    assert found.cost == path_cost(constrained, found.path) >= MipOrdering().solve(problem).cost


def test_goals_of_a_criterion_that_no_run_covers_are_no_nodes() -> None:
    own, generated_too = (of_project(Request(str(MODELS / "cruise"), cover=cover)) for cover in ((), ("branches()",)))
    assert own is not None
    assert generated_too is not None
    assert {*own.nodes} < {*generated_too.nodes}


def test_a_grid_is_calculated_as_its_controller_has_it(tmp_path: Path) -> None:
    calculated, real = on_grid(4, 5), of_project(Request(str(grid(4, 5).write(tmp_path))))
    assert real is not None
    between = [steps for (a, b), steps in calculated.weights.items() if {a, b} <= {*calculated.nodes}]
    assert sorted(between) == sorted(steps for (a, b), steps in real.weights.items() if {a, b} <= {*real.nodes})
    assert MipOrdering().solve(real).cost == MipOrdering().solve(calculated).cost
