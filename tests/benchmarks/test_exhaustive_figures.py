"""The pinned figures of bundled models are those of an exhaustive search that does not use ChainCover."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.checks.exhaustive import paper, run
from benchmarks.checks.exhaustive.controllers import CONTROLLERS
from benchmarks.checks.exhaustive.covering import Graph, fewest, least
from benchmarks.checks.exhaustive.run import agrees, expected, figures

LONG = {"boiler", "crane", "drive", "gate", "reminder"}
"""Models that take some seconds; ``python -m benchmarks exhaustive`` takes all, and the gate is searched below."""


@pytest.mark.evidence
@pytest.mark.needs_compiler
@pytest.mark.parametrize("model", [model for model in CONTROLLERS if model not in LONG])
def test_the_search_finds_the_pinned_figures(model: str) -> None:
    said = expected(model)
    found = figures(model)
    assert agrees(found, said)
    assert not agrees(replace(found, length=1), said)


@pytest.mark.evidence
@pytest.mark.needs_compiler
def test_what_init_leaves_open_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(run.CONTROLLERS, "gate", replace(CONTROLLERS["gate"], fill=0))
    assert agrees(figures("gate"), expected("gate"))


def agrees_with_the_row(row: Mapping[str, Any]) -> bool:
    found = paper.figures(row)
    return {name: row[name] for name in found} == found


@pytest.mark.needs_compiler
def test_the_rows_of_the_papers_table_are_searched_as_the_models_are() -> None:
    row = next(row for row in paper.ROWS if row["name"] == "Cruise 2")
    assert agrees_with_the_row(row)
    assert not agrees_with_the_row({**row, "length": row["length"] - 1})


@pytest.mark.evidence
@pytest.mark.needs_compiler
@pytest.mark.parametrize("row", [row for row in paper.ROWS if row["name"] != "Robotarm 3"], ids=lambda row: row["name"])
def test_the_search_finds_the_pinned_figures_of_the_papers_rows(row: Mapping[str, Any]) -> None:
    """Robotarm 3 takes 7 s; ``python -m benchmarks exhaustive-paper`` takes all."""
    assert agrees_with_the_row(row)


def graph(arcs: list[tuple[int, int, set[int]]], finals: set[int]) -> Graph:
    states = 1 + max(max(source, target) for source, target, _ in arcs)
    return Graph(states, frozenset(finals), tuple((a, b, frozenset(goals)) for a, b, goals in arcs))


def test_a_flow_that_does_not_hang_together_is_no_walk() -> None:
    """The loop 2 -> 2 covers the goal, but is reached by way of 1 only."""
    small = graph([(0, 0, set()), (0, 1, set()), (1, 2, set()), (2, 2, {0}), (2, 0, set())], {0})
    assert least(small, frozenset({0}), 1, small.finals) == 4


def test_exits_that_exclude_each_other_need_two_walks() -> None:
    small = graph([(0, 1, {0}), (0, 2, {1}), (1, 1, {2}), (2, 2, set())], {0, 1, 2})
    assert least(small, frozenset({0, 1, 2}), 1, small.finals) is None
    assert fewest(small, frozenset({0, 1, 2}), small.finals) == (2, 3)
