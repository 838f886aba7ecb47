"""The controllers written anew for the paper's Table 1: their sizes, and what is pinned of their chains."""

from __future__ import annotations

import itertools
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from command_line import MODELS, chaincover, fresh_names
from enumeration import reachable_states

from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import at
from bmc.system.transition import TransitionSystem
from chaincover.project.load import load
from chaincover.project.project_file import read_project

PAPER = MODELS.parent / "paper"
ROWS: list[dict[str, Any]] = tomllib.loads((PAPER / "rows.toml").read_text())["row"]
PINNED = [row for row in ROWS if "length" in row]
LONG = {"Window Ext 1", "Window Ext 2", "Elevator 3", "Robotarm 2"}
"""Rows that take too long for a test."""
KEYS = {"name", "project", "properties", "bits", "chains", "length", "lower", "printed"}


def needed_bits(number: int) -> int:
    """The bits that so many values need."""
    return (number - 1).bit_length()


def bits_of(system: TransitionSystem) -> list[str]:
    """The size as the paper's table gives it: of the state, then of the inputs."""
    state = [var for var in system.state if var.role == "state"]
    integers = [var for var in state if var.name.endswith("timer")]
    floats = [var for var in state if var.type.floating]
    rest = [var for var in state if var not in integers and var not in floats]
    rows = reachable_states(system, [at(var.symbol, 0) for var in system.state], 10**9)
    assert rows is not None
    told = f"{needed_bits(len({tuple(row[var.name] for var in rest) for row in rows}))}b"
    told += f"+{len(integers)}i" if integers else ""
    told += f"+{len(floats)}f" if floats else ""
    inputs = [[value for low, high in var.values for value in range(low, high + 1)] for var in system.inputs]
    allowed = compile_formulas([system.input_constraint])
    names = [var.name for var in system.inputs]
    number = sum(all(allowed(dict(zip(names, values, strict=True)))) for values in itertools.product(*inputs))
    return [told, f"{needed_bits(number)}b"]


def test_all_rows_of_the_table_are_there() -> None:
    assert [row["name"] for row in ROWS] == [
        *("Cruise 1", "Cruise 2", "Window 1", "Window 2"),
        *(f"Window Ext {number}" for number in range(1, 6)),
        *(f"{family} {number}" for family in ("Alarm", "Elevator", "Robotarm") for number in range(1, 4)),
    ]
    assert all(row.keys() <= KEYS for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_a_row_has_the_size_of_the_paper(row: dict[str, Any]) -> None:
    with fresh_names():
        controller = load(read_project(str(PAPER / row["project"])))
        assert len(controller.goals) == row["properties"]
        longer = [goal for goal in controller.goals if goal.length > 1]
        assert bool(longer) == (row["name"] != "Cruise 1"), "all but the first have antecedents of several states"
        assert bits_of(controller.system) == row["bits"]


@pytest.mark.slow
@pytest.mark.parametrize("row", [row for row in PINNED if row["name"] not in LONG], ids=lambda row: row["name"])
def test_the_chains_of_a_row(row: dict[str, Any], tmp_path: Path) -> None:
    ended = chaincover("generate", PAPER / row["project"], "--several", "-o", tmp_path / "out")
    assert (ended.code, ended.err) == (0, "")
    summary = json.loads((tmp_path / "out" / "chains.json").read_text())
    assert {verdict["verdict"] for verdict in summary["verdicts"]} == {"covered"}
    assert {ruling["ruling"] for ruling in summary["requirements"]["rulings"]} == {"never-violated"}
    assert len(summary["chains"]) == row["chains"]
    assert summary["number_minimal"]
    assert (summary["length"], summary["lower"]) == (row["length"], row["lower"])
    assert row["chains"] == row["printed"]["lkh"][0], "as many chains as in the paper"
    assert row["printed"]["lkh"][1] / 2 <= row["length"] <= 2 * row["printed"]["lkh"][1], "lengths of the same order"
