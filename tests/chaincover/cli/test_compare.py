"""``chaincover compare``: orderings side by side on one graph."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import MODELS, chaincover

from chaincover.chain import Bounds
from chaincover.cli.compare import Comparison, Row
from chaincover.graph.reachability import CoveringGraph
from chaincover.orderings import asp, tsp
from chaincover.orderings.protocol import OrderingResult
from chaincover.weights import ReachGraph

CRUISE = MODELS / "cruise"


def test_table_csv_and_json_agree(tmp_path: Path) -> None:
    outcome = chaincover("compare", CRUISE, "--ordering", "exact", "--ordering", "local", "-o", tmp_path / "out")
    assert (outcome.code, outcome.err) == (0, "")
    head, titles, exact, local, written = outcome.out.splitlines()
    assert head.startswith("cruise: 4 goals, K = 4, graph in ")
    assert "no chain is shorter than 9" in head
    assert titles.split()[0] == "ordering"
    assert exact.split()[:4] == ["exact", "9", "9", "yes"]
    assert local.split()[:4] == ["local", "9", "0", "no"]
    assert "compare.csv, compare.json" in written
    document = json.loads((tmp_path / "out" / "compare.json").read_text())
    rows = list(csv.DictReader((tmp_path / "out" / "compare.csv").open()))
    assert [row["ordering"] for row in rows] == [row["ordering"] for row in document["orderings"]] == ["exact", "local"]
    for row, data in zip(rows, document["orderings"], strict=True):
        assert [row["path_cost"], row["chain_length"], row["lower_bound"]] == ["9", "9", "9"]
        assert (data["path_cost"], data["chain_length"], data["lower_bound"]) == (9, 9, 9)
        assert data["path"][0] == "init"
        assert data["path"][-1] == "final"
        assert data["total_seconds"] >= data["order_seconds"]


def test_all_orderings_by_default_as_json(tmp_path: Path) -> None:
    document = chaincover("compare", CRUISE, "--json").json
    rows = {row["ordering"]: row for row in document["orderings"]}
    assert list(rows) == ["exact", "cpsat", "asp-usc", "asp-bb", "tsp", "local"]
    for row in rows.values():
        assert row["note"].startswith("skipped: ") or (row["path_cost"], row["chain_length"]) == (9, 9)
    assert document["graph_seconds"] >= 0


def test_orderings_without_their_library_are_skipped_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tsp, "available", lambda: False)
    monkeypatch.setattr(asp, "available", lambda: False)
    outcome = chaincover("compare", CRUISE, "--ordering", "tsp", "--ordering", "asp", "--ordering", "exact")
    assert outcome.code == 0
    assert "skipped: elkai is not installed" in outcome.out
    assert "skipped: clingo is not installed" in outcome.out
    assert chaincover("compare", CRUISE, "--ordering", "tsp", "--json").code == 4


def test_no_covering_path_is_exit_4() -> None:
    outcome = chaincover("compare", MODELS / "cruise_fig1", "-K", "3")
    assert outcome.code == 4
    assert "no covering path" in outcome.out


def test_a_limit_on_the_graph_is_exit_5() -> None:
    outcome = chaincover("compare", MODELS / "window", "--time-limit", "0.001")
    assert outcome.code == 5
    assert "Stopped by time limit" in outcome.out


def test_an_interrupt_leaves_the_rows_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*given: object) -> OrderingResult:
        raise KeyboardInterrupt

    monkeypatch.setattr("chaincover.orderings.local.LocalOrdering.solve", interrupted)
    outcome = chaincover("compare", CRUISE, "--ordering", "exact", "--ordering", "local", "--json")
    assert outcome.code == 130
    assert [row["ordering"] for row in outcome.json["orderings"]] == ["exact"]


def test_exit_code_is_the_worst_of_the_rows() -> None:
    graph = CoveringGraph(ReachGraph(("a",), "end", {}, {}, (), (), 1, 1, 0.5))
    found = OrderingResult(("init", "a", "end"), 1, 1, True, 0.25, "exact")
    good = Row("exact", found, 1, 0.25)
    cases = {
        (good,): 0,
        (good, Row("tsp", note="skipped: elkai is not installed")): 0,
        (good, Row("local", found, None, 0.1, "no inputs")): 4,
        (good, Row("local", found, None, 0.1, "time limit", True), Row("tsp", found, None, 0.1, "no inputs")): 5,
        (): 4,
    }
    for rows, code in cases.items():
        assert Comparison(graph, rows, Bounds(1, 1, ""), "").exit_code == code
    assert Comparison(graph, (good,), Bounds(1, 1, ""), "time limit").exit_code == 5
    given_up = replace(graph, graph=replace(graph.graph, unknown=(("init", "a"),)))
    assert Comparison(replace(graph, used_up=True), (), Bounds(1, None, ""), "").exit_code == 5
    assert Comparison(given_up, (), Bounds(1, None, ""), "").exit_code == 5
    assert Comparison(given_up, (good,), Bounds(1, 1, ""), "").exit_code == 0
    assert Comparison(graph, (good,), Bounds(1, 1, ""), "").total_seconds(good) == 1.0


def test_unknown_ordering_and_bad_folder_are_usage_errors(tmp_path: Path) -> None:
    assert chaincover("compare", CRUISE, "--ordering", "lkh").code == 2
    (tmp_path / "file").write_text("")
    assert chaincover("compare", CRUISE, "-o", tmp_path / "file").code == 2
