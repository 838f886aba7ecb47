"""The stages of the search, each switched off."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.measures.ablation import Searched, main, rows, table

WHOLE = Searched("latch", "", 2.0, 0, ("enumerate", "exact graph"), 4, 4, 9, 9)


@pytest.mark.parametrize(
    ("other", "worse"),
    [
        (replace(WHOLE, failed="it ended"), True),
        (replace(WHOLE, covered=3), True),
        (replace(WHOLE, decided=3), True),
        (replace(WHOLE, covered=5, length=12), False),
        (replace(WHOLE, length=10), True),
        (replace(WHOLE, length=8), False),
        (replace(WHOLE, length=None), True),
        (replace(WHOLE, lower=8), True),
        (replace(WHOLE, seconds=9.0), False),
    ],
)
def test_what_is_worse(other: Searched, worse: bool) -> None:
    assert other.worse_than(WHOLE) is worse


def test_the_table_tells_where_a_stage_is_needed_and_what_it_saves() -> None:
    second = replace(WHOLE, row="turret", rounds=2)
    found = [
        WHOLE,
        replace(WHOLE, without="enumerate", seconds=4.0),
        replace(WHOLE, without="exact graph", lower=0),
        second,
        replace(second, without="enumerate", seconds=16.0),
    ]
    heading, enumerated, graph, last = table(found)
    assert heading.split()[:3] == ["stage", "rows", "worse"]
    assert enumerated.split() == ["enumerate", "2", "0", "4.00", ";", "turret", "8.00,", "latch", "2.00"]
    assert graph.split() == ["exact", "graph", "1", "1", "-", "latch;"]
    assert last == "1 of 2 rows end in the first round of turns"


@pytest.mark.evidence
def test_a_row_is_searched_without_a_stage_and_not_again(tmp_path: Path) -> None:
    keep = tmp_path / "kept.jsonl"
    asked = ["latch", "--stage", "product search", "--keep", str(keep)]
    done = CliRunner().invoke(main, asked)
    assert done.exit_code == 0, done.output
    kept = [json.loads(line) for line in keep.read_text(encoding="utf-8").splitlines()]
    assert [(each["row"], each["without"]) for each in kept] == [
        (row, without) for row, *_ in rows(["latch"]) for without in ("", "product search")
    ]
    assert all("product search" in each["worked"] for each in kept if not each["without"])
    assert not any("product search" in each["worked"] for each in kept if each["without"])
    assert CliRunner().invoke(main, asked).output == done.output
    assert len(keep.read_text(encoding="utf-8").splitlines()) == len(kept)


def test_a_search_that_ends_early_is_named(tmp_path: Path) -> None:
    keep = tmp_path / "kept.jsonl"
    failed = [replace(WHOLE, row=row, failed="it ended with exit code 3") for row, *_ in rows(["latch"])]
    keep.write_text("".join(json.dumps(asdict(each)) + "\n" for each in failed), encoding="utf-8")
    done = CliRunner().invoke(main, ["latch", "--stage", "no stage", "--keep", str(keep)])
    assert done.exit_code == 1
    assert "latch mcdc() without none: it ended with exit code 3" in done.output
