"""The comparison of lazy with whole graphs: its command, and what its table says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.laziness.run import MODELS, main, names
from benchmarks.laziness.table import Outcome, Pair, lines, summary
from benchmarks.laziness.variants import outcome

EDGE: list[str | int] = ["init", "p", 3]
KNOWN = Outcome(2, 4, 50, 1.0, 0.5, 80, 9, 9, False, [EDGE], [EDGE])


@pytest.mark.slow
def test_the_command_compares_a_model(tmp_path: Path) -> None:
    table = tmp_path / "table.md"
    done = CliRunner().invoke(main, ["--model", "latch", "--cover", "", "--limit", "60", "-o", str(table)])
    assert done.exit_code == 0, done.output
    row = next(line for line in table.read_text().splitlines() if line.startswith("| latch "))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[6] == cells[-1] == "same"
    assert 0 < int(cells[3]) < int(cells[4])
    assert cells[-3] == cells[-2] == "6 (>= 6)"


def test_both_searches_find_the_same_chain_and_count_their_calls() -> None:
    lazy = outcome(MODELS / "cruise", "", 60)
    whole = outcome(MODELS / "cruise", "", 60, lazy.depth)
    pair = Pair("cruise", lazy, whole)
    assert pair.same_graph
    assert pair.answer == "same"
    assert (lazy.length, lazy.lower) == (9, 9)
    assert lazy.queries < whole.queries < whole.all_queries
    assert whole.simulation < lazy.simulation


def test_a_deeper_whole_graph_needs_more_calls() -> None:
    shallow, deep = (outcome(MODELS / "cruise_fig1", "", 60, depth) for depth in (3, 12))
    assert shallow.queries < deep.queries


def test_every_bundled_model_is_compared() -> None:
    assert {"alarm", "seat", "wiper"} <= set(names())


def test_differences_are_told() -> None:
    other = replace(KNOWN, queries=500, weights=[["init", "p", 4]])
    assert not Pair("m", KNOWN, other).same_graph
    assert Pair("m", KNOWN, replace(KNOWN, weights=[EDGE, ["p", "end", 7]])).same_graph, "beyond the K used"
    assert Pair("m", KNOWN, replace(KNOWN, lower=8)).answer == "different"
    assert Pair("m", KNOWN, replace(KNOWN, lower=8, stopped=True)).answer == "limit"
    assert any("different" in line for line in lines([Pair("m", KNOWN, other)]))


def test_the_median_is_over_models_with_many_calls() -> None:
    pairs = [Pair(f"m{calls}", KNOWN, replace(KNOWN, queries=calls)) for calls in (40, 200, 250, 500, 1000)]
    told = "median ratio 10.0 over 3 models with more than 200 calls; worse: m40"
    assert summary(pairs) == told
    early = Pair("slow", replace(KNOWN, depth=-1), replace(KNOWN, queries=1))
    assert summary([*pairs, early]) == f"{told}; no graph within the limit: slow"
