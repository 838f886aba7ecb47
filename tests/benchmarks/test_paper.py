"""The controllers written anew for the paper's Table 1: their sizes, and what is pinned of their chains."""

from __future__ import annotations

import itertools
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from boards import board_of
from command_line import MODELS, ROOT, assert_it_fits, chaincover, fresh_names
from enumerated import one_step
from enumeration import reachable_states

from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import at
from bmc.system.transition import TransitionSystem
from chaincover.concretise.get_chain import shortest_covering_path
from chaincover.graph.enumerated import enumerated_within, exact_graph
from chaincover.minimality.explicit_sub_paths import ExplicitSubPaths
from chaincover.minimality.path_weights import Learner
from chaincover.options import Options
from chaincover.orderings.exact import ExactOrdering
from chaincover.project.load import load
from chaincover.project.project_file import read_project

PAPER = MODELS.parent / "paper"
ROWS: list[dict[str, Any]] = tomllib.loads((PAPER / "rows.toml").read_text())["row"]
REAL = MODELS.parent / "real"
ORIGINALS: list[dict[str, Any]] = tomllib.loads((REAL / "rows.toml").read_text())["row"]
"""Rows on the paper's own controllers, whose sources are no part of this project."""
SHOWN = {"Cruise 1", "Window Ext 3", "Alarm 1"}
"""Rows whose chains a test looks at; the suites ``paper-quick`` and ``paper`` compare what is pinned of all rows."""
KEYS = {"name", "project", "properties", "long_goals", "bits", "states", "chains", "length", "lower", "printed"}
INFEASIBLE = [row for row in ROWS if row["name"] in ("Window Ext 3", "Window Ext 4", "Window Ext 5")]
"""Rows whose cheapest orders no run follows at their cost."""


def needed_bits(number: int) -> int:
    """The bits that so many values need."""
    return (number - 1).bit_length()


def size_of(system: TransitionSystem) -> tuple[list[str], int]:
    """The size as the paper's table gives it, of the state, then of the inputs; and the number of reachable states."""
    state = [var for var in system.state if var.role == "state"]
    integers = [var for var in state if var.name.endswith("timer")]
    floats = [var for var in state if var.type.floating]
    rest = [var for var in state if var not in integers and var not in floats]
    rows = reachable_states(system, [at(var.symbol, 0) for var in state], 10**9)
    assert rows is not None
    told = f"{needed_bits(len({tuple(row[var.name] for var in rest) for row in rows}))}b"
    told += f"+{len(integers)}i" if integers else ""
    told += f"+{len(floats)}f" if floats else ""
    inputs = [[value for low, high in var.values for value in range(low, high + 1)] for var in system.inputs]
    allowed = compile_formulas([system.input_constraint])
    names = [var.name for var in system.inputs]
    number = sum(all(allowed(dict(zip(names, values, strict=True)))) for values in itertools.product(*inputs))
    return [told, f"{needed_bits(number)}b"], len(rows)


def test_all_rows_of_the_table_are_there() -> None:
    assert [row["name"] for row in ROWS] == [
        *("Cruise 1", "Cruise 2", "Window 1", "Window 2"),
        *(f"Window Ext {number}" for number in range(1, 6)),
        *(f"{family} {number}" for family in ("Alarm", "Elevator", "Robotarm") for number in range(1, 4)),
    ]
    assert all(row.keys() <= KEYS for row in ROWS)


@pytest.mark.slow
@pytest.mark.parametrize(
    "row",
    [row if row["name"] in SHOWN else pytest.param(row, marks=pytest.mark.evidence) for row in ROWS],
    ids=lambda row: row["name"],
)
def test_a_row_has_the_size_of_the_paper(row: dict[str, Any]) -> None:
    with fresh_names():
        subject = load(read_project(str(PAPER / row["project"])))
        assert len(subject.goals) == row["properties"]
        assert sum(goal.length > 1 for goal in subject.goals) == row["long_goals"]
        assert bool(row["long_goals"]) == (row["name"] != "Cruise 1"), "all others have antecedents of several states"
        assert size_of(subject.system) == (row["bits"], row["states"])


@pytest.mark.parametrize("row", INFEASIBLE, ids=lambda row: row["name"])
def test_the_cheapest_order_is_infeasible_at_its_cost(row: dict[str, Any]) -> None:
    """Path constraints raise the bound from the cost of the cheapest order to the length of the shortest chain."""
    with fresh_names():
        subject = load(read_project(str(PAPER / row["project"])))
        case = one_step((subject.system, tuple(subject.goals), subject.final))
        board, _ = board_of(case, Options(engine="z3"))
        states = enumerated_within(board.problem, board.limits)
        assert states is not None
        board.tell(enumerated=states)
        exact_graph(board)
        cheapest = shortest_covering_path(board.known.target_graph, ExactOrdering(), None)
        assert cheapest is not None
        assert cheapest.proved
        assert sum(cheapest.plan.gaps) < row["lower"], "every run through all goals takes longer"
        learner = Learner(board, ExplicitSubPaths(board.problem, states, board.limits))
        learner.work()
        assert board.known.length == board.known.lower == row["length"]


def original(row: dict[str, Any]) -> Path:
    """The project of a row on a controller of the paper; the test is left out where its source is not in place."""
    project = REAL / row["project"]
    if not (project.parent / "source").is_dir():
        pytest.skip("the source is not in place")
    return project


@pytest.mark.parametrize("row", ORIGINALS, ids=lambda row: row["name"])
def test_a_row_on_an_original_has_as_many_properties(row: dict[str, Any]) -> None:
    twin = next(each for each in ROWS if f"{each['name']} (original)" == row["name"])
    assert row.keys() == twin.keys() - {"bits"}
    assert (row["properties"], row["printed"]) == (twin["properties"], twin["printed"])
    with fresh_names():
        subject = load(read_project(str(original(row))))
        assert len(subject.goals) == row["properties"]
        assert sum(goal.length > 1 for goal in subject.goals) == row["long_goals"]
        assert size_of(subject.system)[1] == row["states"]


@pytest.mark.slow
@pytest.mark.parametrize("row", ORIGINALS, ids=lambda row: row["name"])
def test_the_chains_of_a_row_on_an_original(row: dict[str, Any], tmp_path: Path) -> None:
    check_chains(original(row), row, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("row", [row for row in ROWS if row["name"] in SHOWN], ids=lambda row: row["name"])
def test_the_chains_of_a_row(row: dict[str, Any], tmp_path: Path) -> None:
    check_chains(PAPER / row["project"], row, tmp_path)


@pytest.mark.parametrize("row", [*ROWS, *ORIGINALS], ids=lambda row: row["name"])
def test_what_is_pinned_is_of_the_order_of_what_is_in_print(row: dict[str, Any]) -> None:
    chains, length, _ = row["printed"]["lkh"]
    assert row["chains"] == chains
    assert length / 2 <= row["length"] <= 2 * length
    assert row["lower"] == row["length"], "proved"


@pytest.mark.evidence
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_check_tells_a_row_in_forty_lines(row: dict[str, Any], tmp_path: Path) -> None:
    told = chaincover("check", PAPER / row["project"], "--compare", "20", "--effort", "0.02", COLUMNS="120").out
    assert_it_fits(told, tmp_path)
    assert "goals: all can be reached" in told


def check_chains(project: Path, row: dict[str, Any], tmp_path: Path) -> None:
    """All goals are covered by as many chains as in the paper, as long as ``row`` says, and what it says is proved."""
    ended = chaincover("generate", project, "--several", "-o", tmp_path / "out", COLUMNS="120")
    assert (ended.code, ended.err) == (0, "")
    assert_it_fits(ended.out, tmp_path)
    summary = json.loads((tmp_path / "out" / "chains.json").read_text())
    assert {verdict["verdict"] for verdict in summary["verdicts"]} == {"covered"}
    assert {ruling["ruling"] for ruling in summary["requirements"]["rulings"]} == {"never violated"}
    assert len(summary["chains"]) == row["chains"]
    assert summary["number_minimal"]
    assert (summary["length"], summary["lower"]) == (row["length"], row["lower"])


def test_the_documentation_has_what_is_pinned() -> None:
    page = (ROOT / "docs" / "development" / "benchmarks.md").read_text(encoding="utf-8")
    for row in [*ROWS, *ORIGINALS]:
        size, goals = ", ".join(row.get("bits", ())), f"{row['long_goals']} of {row['properties']}"
        chains = [row[name] for name in ("states", "chains", "length", "lower")]
        cells = [row["name"], size, goals, *chains, *row["printed"]["lkh"][:2]]
        assert f"| {' | '.join(map(str, cells))} |" in page
