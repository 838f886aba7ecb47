"""``chaincover compare``: orderings side by side on one graph, and what users get with each."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from command_line import MODELS, ROOT, chaincover

from chaincover.chain import COVERED, UNDECIDED, Bounds, Verdict
from chaincover.comparison import Final, Row
from chaincover.orderings import asp, tsp
from chaincover.orderings.protocol import OrderingResult
from chaincover.report.console_compare import advice

CRUISE = MODELS / "cruise"
ELEVATOR = MODELS / "elevator"
WINDOW_EXT = ROOT / "benchmarks" / "paper" / "window"
SCHEMA = json.loads((ROOT / "chaincover/formats/schemas/compare.json").read_text())


def without_times(value: Any) -> Any:
    """``value`` without what may differ from run to run."""
    if isinstance(value, dict):
        return {name: without_times(each) for name, each in value.items() if not name.endswith("seconds")}
    return [without_times(each) for each in value] if isinstance(value, list) else value


def test_table_csv_and_json_agree(tmp_path: Path) -> None:
    names = ("--ordering", "exact", "--ordering", "local")
    outcome = chaincover("compare", CRUISE, *names, "-o", tmp_path / "out")
    assert (outcome.code, outcome.err) == (0, "")
    head, titles, exact, local, advice, written = outcome.out.splitlines()
    assert head.startswith("cruise: 4 goals, K = 4, graph in ")
    assert "no chain is shorter than 9" in head
    assert titles.split()[0] == "ordering"
    assert exact.split()[:3] == local.replace("local", "exact").split()[:3] == ["exact", "9", "9"]
    said = "use the default, without --ordering: both gave 9 steps (minimal) for 4 of 4 goals"
    assert advice == f"{said}, and no ordering was asked for it"
    detailed = chaincover("compare", CRUISE, *names, "-v", "--seeds", 1).out.splitlines()
    assert [row.split()[:3] for row in detailed[2:4]] == [["exact", "9", "yes"], ["local", "9", "no"]]
    assert detailed[-1] == advice
    assert len(detailed) > 6
    assert "compare.csv, compare.json" in written
    document = json.loads((tmp_path / "out" / "compare.json").read_text())
    rows = list(csv.DictReader((tmp_path / "out" / "compare.csv").open()))
    assert [row["ordering"] for row in rows] == [row["ordering"] for row in document["orderings"]] == ["exact", "local"]
    for row, data in zip(rows, document["orderings"], strict=True):
        assert (row["path_cost"], row["chain_median"], row["final_length"], row["final_lower"]) == ("9", "9", "9", "9")
        assert [run["path_cost"] for run in data["runs"]] == [9] * 5
        assert data["chain_length"]["median"] == data["final"]["length"] == data["final"]["lower"] == 9
        assert row["path"] == " -> ".join(data["runs"][0]["path"])
        assert {(run["path"][0], run["path"][-1]) for run in data["runs"]} == {("init", "final")}
    assert list(jsonschema.Draft202012Validator(SCHEMA).iter_errors(document)) == []


def test_all_orderings_by_default_as_json() -> None:
    document = chaincover("compare", CRUISE, "--json", "--seeds", 1).json
    rows = {row["ordering"]: row for row in document["orderings"]}
    assert list(rows) == ["exact", "cpsat", "asp-usc", "asp-bb", "tsp", "local"]
    for row in rows.values():
        skipped = row["note"].startswith("skipped: ")
        assert skipped or (row["runs"][0]["path_cost"], row["chain_length"]["median"]) == (9, 9)
        assert (row["final"]["length"], row["final"]["minimal"]) == (9, True)
    assert document["graph_seconds"] >= 0


def test_ties_are_told_as_a_distribution_beside_what_users_get() -> None:
    """Every path of the elevator costs 13, the chains along them differ, and the minimum is 32."""
    document = chaincover("compare", ELEVATOR, "--ordering", "exact", "--seeds", 2, "--json").json
    (row,) = document["orderings"]
    assert {run["path_cost"] for run in row["runs"]} == {13}
    assert [run["seed"] for run in row["runs"]] == [0, 1]
    lengths = sorted(run["chain_length"] for run in row["runs"] if run["chain_length"] is not None)
    assert (row["chain_length"]["least"], row["chain_length"]["greatest"]) == (lengths[0], lengths[-1])
    assert lengths[0] >= row["final"]["length"] == row["final"]["lower"] == document["lower_bound"] == 32
    assert all(run["infeasible"] for run in row["runs"])
    assert row["orders"] == len({tuple(run["path"]) for run in row["runs"]}) > 1
    assert not row["final"]["ordered"]


def test_a_comparison_is_repeatable_but_for_its_times() -> None:
    arguments = ("compare", MODELS / "latch", "--ordering", "asp-usc", "--ordering", "local", "--seeds", 2, "--json")
    assert without_times(chaincover(*arguments).json) == without_times(chaincover(*arguments).json)


def test_the_chain_along_a_path_is_the_same_whoever_found_the_path() -> None:
    document = chaincover(
        "compare", MODELS / "latch", "--json", "--seeds", 2, "--ordering", "exact", "--ordering", "local"
    ).json
    by_path: dict[tuple[str, ...], set[int]] = {}
    for row in document["orderings"]:
        for run in row["runs"]:
            by_path.setdefault(tuple(run["path"]), set()).add(run["chain_length"])
    assert {len(lengths) for lengths in by_path.values()} == {1}
    alone = chaincover("compare", MODELS / "latch", "--json", "--seeds", 2, "--ordering", "local").json
    assert without_times(alone["orderings"][0]) == without_times(document["orderings"][1])


def test_a_final_run_that_asked_no_ordering_is_the_run_of_every_ordering() -> None:
    """It is done once; asked for each ordering by itself, ``generate`` gives the same."""
    names = [part for name in ("exact", "local") for part in ("--ordering", name)]
    rows = chaincover("compare", MODELS / "latch", *names, "--seeds", 1, "--json").json["orderings"]
    assert [row["final"]["ordered"] for row in rows] == [False, False]
    for row in rows:
        alone = chaincover("generate", MODELS / "latch", "--ordering", row["ordering"], "--no-replay", "--json").json
        assert (row["final"]["length"], row["final"]["lower"]) == (alone["bounds"]["length"], alone["bounds"]["lower"])


@pytest.mark.evidence
@pytest.mark.parametrize(("row", "repaired"), [(3, True), pytest.param(4, False, marks=pytest.mark.slow), (5, True)])
def test_an_order_that_is_infeasible_at_its_cost_says_so(row: int, repaired: bool) -> None:
    outcome = chaincover(
        "compare", WINDOW_EXT / f"window_ext_{row}.toml", "--ordering", "exact", "--json", "--seeds", 2
    )
    assert outcome.code == 0
    (exact,) = outcome.json["orderings"]
    for run in exact["runs"]:
        assert run["infeasible"] == run["path"][: len(run["infeasible"])] != []
        assert (run["chain_length"] is not None) == repaired
        assert repaired or " -> ".join(run["failed"]) in " -> ".join(run["path"])
    assert "2 of 2 orders infeasible at their cost: " in exact["note"]
    assert ("2 of 2 orders without a chain: no repair with edges up to " in exact["note"]) == (not repaired)
    others = [exact[search]["length"] for search in ("refinement", "path_constraints")]
    assert min([length for length in others if length is not None], default=99) >= exact["final"]["length"]
    assert exact["final"]["minimal"]


@pytest.mark.evidence
def test_path_constraints_that_an_ordering_refuses_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The exact ordering stands for LKH, so that the refusal does not depend on what is installed."""
    from bmc.errors import UsageError
    from chaincover.orderings.exact import ExactOrdering
    from chaincover.orderings.protocol import Limit, OrderingProblem

    solve = ExactOrdering.solve

    def unconstrained(self: ExactOrdering, problem: OrderingProblem, limit: Limit) -> OrderingResult:
        if problem.constrained:
            raise UsageError("the ordering takes no path constraints")
        return solve(self, problem, limit)

    monkeypatch.setattr(ExactOrdering, "solve", unconstrained)
    outcome = chaincover("compare", WINDOW_EXT / "window_ext_4.toml", "--ordering", "exact", "--json", "--seeds", 1)
    (row,) = outcome.json["orderings"]
    assert row["path_constraints"]["length"] is None
    assert "path constraints: the ordering takes no path constraints" in row["note"]
    assert row["final"]["minimal"]
    assert outcome.code == 0


def test_orderings_without_their_library_are_skipped_and_users_still_get_a_chain(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tsp, "available", lambda: False)
    monkeypatch.setattr(asp, "available", lambda: False)
    outcome = chaincover("compare", CRUISE, "--ordering", "tsp", "--ordering", "asp", "--ordering", "exact", "--json")
    assert outcome.code == 0
    first, second, _ = outcome.json["orderings"]
    assert [first["note"], second["note"]] == ["skipped: elkai is not installed", "skipped: clingo is not installed"]
    assert [first["runs"], first["final"]["length"]] == [[], 9]


def test_without_a_covering_path_it_says_so() -> None:
    outcome = chaincover("compare", MODELS / "cruise_fig1", "-K", "3", "--ordering", "exact", "--effort", "0.02")
    assert outcome.code == 4
    assert "no covering path" in outcome.out


@pytest.mark.slow
def test_without_a_covering_path_users_still_get_what_generate_has() -> None:
    several = chaincover("compare", WINDOW_EXT / "window_ext_1.toml", "--ordering", "exact")
    assert several.code == 0
    assert "no covering path" in several.out
    titles, row = (line.split() for line in several.out.splitlines() if line.startswith(("ordering ", "exact ")))
    assert titles == ["ordering", "chains", "steps", "bound", "covered", "total"]
    assert row[:4] == ["exact", "2", "38", "38"]


def test_several_chains_can_be_asked_for() -> None:
    outcome = chaincover("compare", CRUISE, "--ordering", "exact", "--seeds", 1, "--several", "--json")
    (row,) = outcome.json["orderings"]
    assert outcome.json["several"]
    assert outcome.json["covering_path"]
    assert (row["final"]["chains"], row["final"]["length"], row["final"]["fewest"]) == (1, 9, True)


def test_generated_goals_that_no_run_covers_are_left_out_of_the_order() -> None:
    little = ("--ordering", "exact", "--seeds", 1, "--effort", 0.02, "--json")
    document = chaincover("compare", MODELS / "door", "--cover", "branches()", *little).json
    (row,) = document["orderings"]
    assert document["left_out"]
    assert {row["final"]["verdicts"][goal] for goal in document["left_out"]} == {"unreachable"}
    assert {*row["runs"][0]["path"]} == {"init", *document["goals"], "final"}
    assert not {*document["left_out"]} & {*document["goals"]}


def test_a_limit_on_the_graph_is_exit_5(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chaincover.cli.options.interrupt_after", lambda seconds: None)  # it ends by itself
    outcome = chaincover("compare", MODELS / "window", "--time-limit", "0.001")
    assert outcome.code == 5
    assert "Stopped by time limit" in outcome.out


def test_an_interrupt_leaves_the_rows_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*given: object) -> OrderingResult:
        raise KeyboardInterrupt

    monkeypatch.setattr("chaincover.orderings.local.LocalOrdering.solve", interrupted)
    outcome = chaincover("compare", CRUISE, "--ordering", "exact", "--ordering", "local", "--json")
    assert outcome.code == 130
    rows = outcome.json["orderings"]
    assert [(row["ordering"], row["note"], row["final"] is None) for row in rows] == [
        ("exact", "", False),
        ("local", "not compared", True),
    ]


@pytest.mark.slow
def test_the_table_fits_a_terminal() -> None:
    lines = chaincover("compare", WINDOW_EXT / "window_ext_3.toml", "--seeds", 1, COLUMNS="120").out.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 120


def test_unknown_ordering_bad_folder_and_no_seeds_are_usage_errors(tmp_path: Path) -> None:
    assert chaincover("compare", CRUISE, "--ordering", "lkh").code == 2
    assert chaincover("compare", CRUISE, "--seeds", "0").code == 2
    (tmp_path / "file").write_text("")
    assert chaincover("compare", CRUISE, "-o", tmp_path / "file").code == 2


SAMPLE = ["cruise_fig1", pytest.param("elevator", marks=pytest.mark.evidence)]
"""One that no chain covers is among them. The other bundled models take longer."""


@pytest.mark.slow
@pytest.mark.parametrize("model", SAMPLE)
def test_there_is_a_chain_wherever_generate_has_one(model: str) -> None:
    generated = chaincover("generate", MODELS / model, "--no-replay", "--json").json
    compared = chaincover("compare", MODELS / model, "--ordering", "exact", "--seeds", 1, "--json").json
    (row,) = compared["orderings"]
    assert (row["final"]["chains"] > 0) == (generated["chain"] is not None)
    assert row["final"]["length"] == generated["bounds"]["length"]
    assert row["final"]["minimal"] == generated["bounds"]["minimal"]


def final(length: int | None, lower: int, covered: int = 4, ordered: bool = True) -> Final:
    verdicts = [Verdict(f"g{n}", COVERED if n < covered else UNDECIDED) for n in range(4)]
    return Final(int(length is not None), Bounds(lower, length, ""), tuple(verdicts), ordered=ordered)


@pytest.mark.parametrize(
    ("finals", "told"),
    [
        (
            {"exact": final(9, 9), "tsp": final(12, 9), "local": final(9, 9)},
            "use --ordering exact: it gave 9 steps (minimal) for 4 of 4 goals, and so did local; tsp gave 12 steps "
            "(none shorter than 9) for 4 of 4 goals",
        ),
        (
            {"exact": final(9, 9, covered=3), "tsp": final(12, 9), "local": final(None, 0)},
            "use --ordering tsp: it gave 12 steps (none shorter than 9) for 4 of 4 goals; exact gave 9 steps (minimal) "
            "for 3 of 4 goals; 1 ordering gave no chain",
        ),
        (
            {"exact": final(9, 8), "tsp": final(9, 8)},
            "use the default, without --ordering: both gave 9 steps (none shorter than 8) for 4 of 4 goals",
        ),
        (
            {"exact": final(None, 0), "tsp": None},
            "which ordering to use is open: none led to a chain; generate without --ordering takes one by itself",
        ),
    ],
)
def test_the_last_sentence_says_which_ordering_to_use(finals: dict[str, Final | None], told: str) -> None:
    rows = [Row(name, final=each) for name, each in finals.items()]
    assert advice(rows, several=False) == told
