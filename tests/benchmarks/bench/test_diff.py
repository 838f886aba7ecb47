"""Which rows are better, worse, or other than they were."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from benchmarks.bench.diff import as_data, compare, marks
from benchmarks.bench.row import Row

ROW = Row(
    id="m-c-1",
    suite="s",
    model="m",
    family="f",
    project="m/chaincover.toml",
    source_sha256="00",
    goals=3,
    tool="chaincover",
    configuration="c",
    ordering="",
    settings={},
    seed=0,
    status="finished",
    chains=2,
    length=20,
    lower=18,
    fewest=True,
    covered=2,
    undecided=1,
    verdicts={"a": "covered", "b": "covered", "c": "undecided"},
)

CASES: dict[str, tuple[dict[str, Any], str, str]] = {
    "shorter": ({"length": 19}, "better", "length 20 -> 19"),
    "longer": ({"length": 21}, "worse", "length 20 -> 21"),
    "fewer chains weigh more": ({"chains": 1, "length": 25}, "better", "chains 2 -> 1; length 20 -> 25"),
    "coverage weighs most": ({"covered": 1, "undecided": 2, "length": 5}, "worse", "covered 2 -> 1; length 20 -> 5"),
    "a weaker bound": ({"lower": 17}, "worse", "bound 18 -> 17"),
    "a proof": ({"lower": 20, "minimal": True}, "better", "bound 18 -> 20; minimal no -> yes"),
    "a lost proof": ({"fewest": False}, "worse", "fewest chains yes -> no"),
    "time-out": ({"status": "time-out"}, "worse", "status finished -> time-out"),
    "crash": ({"status": "crashed", "chains": None, "length": None, "covered": 0}, "worse", "covered 2 -> 0"),
    "other": ({"K": 4}, "changed", "K none -> 4"),
    "replay": ({"replay": "model"}, "changed", "replay none -> model"),
    "decided": (
        {"verdicts": {**ROW.verdicts, "c": "unreachable"}, "impossible": 1, "undecided": 0},
        "better",
        "proved uncoverable 0 -> 1; c undecided -> unreachable",
    ),
    "contradiction": (
        {"verdicts": {**ROW.verdicts, "b": "unreachable"}, "covered": 1, "impossible": 1},
        "worse",
        "a proof of one contradicts the other",
    ),
    "below the bound": ({"length": 17, "lower": 17}, "worse", "a proof of one contradicts the other"),
    "missing": ({"status": "missing", "chains": None, "covered": 0, "note": "get it"}, "changed", "missing: get it"),
    "other sources": ({"length": 17, "source_sha256": "11"}, "changed", "length 20 -> 17; the sources are others"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_row_that_differs(case: str) -> None:
    change, word, text = CASES[case]
    (found,) = compare([ROW], [replace(ROW, **change)])
    assert found.word == word
    assert found.text.startswith(text)


def test_times_and_hosts_are_not_compared() -> None:
    assert compare([ROW], [replace(ROW, id="m-c-2", seconds=9.0, megabytes=7.0, host="h", stages={"a": 1.0})]) == []


def test_new_rows_and_rows_that_are_gone() -> None:
    other = replace(ROW, model="n", id="n-c-1", ordering="tsp")
    new, gone = compare([ROW], [other])
    assert [(each.row.model, each.word) for each in (new, gone)] == [("n", "new"), ("m", "gone")]
    assert marks([new, gone]) == {"n-c-1/tsp": "new: there was no such row"}
    data = as_data([new, gone])
    assert (data["worse"], data["better"], len(data["changes"])) == (0, 0, 2)
