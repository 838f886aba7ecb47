"""The growth benchmark: its command, the fitted power laws, the programs and the plots."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.measures.growth import measure, methods, plots, points, run
from benchmarks.measures.growth.fit import fitted
from benchmarks.measures.growth.points import Point
from benchmarks.measures.growth.table import tables
from benchmarks.measures.growth.units import program


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every axis at one tiny size."""
    tiny = {
        "MODELS": ("latch",), "GOALS": (4, 8), "FAMILIES": ("sat latch",), "DEPTHS": (1, 2, 4), "SIZES": (100,),
        "GRAPH": 2, "SMALL": 2,
        "CURVES": (
            methods.Curves("family-goals", "modes_N_2", ("covering-flow",), (3,)),
            methods.Curves("family-size", "grid_3_T", ("tour",), (2,)),
        ),
    }  # fmt: skip
    for name, value in tiny.items():
        monkeypatch.setattr(run, name, value)


@pytest.mark.usefixtures("small")
def test_every_axis_is_measured_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def here(name: str, arguments: Sequence[Any]) -> list[Point]:
        return list(run.MEASURES[name](*json.loads(json.dumps(arguments))))

    monkeypatch.setattr(run, "in_process", here)
    arguments = ["--folder", str(tmp_path), "--no-plots", "-o", str(tmp_path / "tables.md")]
    done = CliRunner().invoke(run.main, arguments)
    assert done.exit_code == 0, done.output
    found = points.read(tmp_path / run.FILE)
    assert {point.axis for point in found} == set(points.AXES)
    goals = points.of_axis(found, "goals")["latch"]
    assert [point.x for point in goals] == [4, 8]
    assert all(p.values["queries"] > 0 and p.values["seconds"] > 0 and not p.values["stopped"] for p in goals)
    shown = (tmp_path / "tables.md").read_text()
    assert all(f"### {axis}" in shown for axis in points.AXES)


@pytest.mark.usefixtures("small")
def test_the_command_measures_one_axis_and_tells_it_again(tmp_path: Path) -> None:
    arguments = ["--folder", str(tmp_path), "--no-plots", "--axis", "size", "-o", str(tmp_path / "tables.md")]
    assert CliRunner().invoke(run.main, arguments).exit_code == 0
    first = (tmp_path / "tables.md").read_text()
    assert "### size" in first
    again = CliRunner().invoke(run.main, [*arguments, "--plot-only"])
    assert again.exit_code == 0, again.output
    assert (tmp_path / "tables.md").read_text() == first


@given(st.floats(-2, 4), st.floats(0.01, 100), st.lists(st.integers(1, 10_000), min_size=3, max_size=8, unique=True))
def test_a_power_law_is_found_again(exponent: float, factor: float, xs: list[int]) -> None:
    fit = fitted(xs, [factor * x**exponent for x in xs])
    assert fit is not None
    assert fit.exponent == pytest.approx(exponent, abs=1e-6)
    assert fit.factor == pytest.approx(factor, rel=1e-4)
    assert fit.off == pytest.approx(1, abs=1e-6)
    assert fit.close


def test_what_is_no_power_law_is_called_so() -> None:
    xs = [4, 8, 16, 32, 64]
    fit = fitted(xs, [math.exp(x / 4) for x in xs])
    assert fit is not None
    assert not fit.close
    assert fit.off == pytest.approx(max(max(f, 1 / f) for f in (math.exp(x / 4) / fit.at(x) for x in xs)))


def test_too_few_points_have_no_exponent() -> None:
    assert fitted([1, 2], [1, 2]) is None
    assert fitted([1, 1, 2], [1, 2, 3]) is None
    assert fitted([1, 2, 4], [0, 2, 3]) is None


@pytest.mark.parametrize("lines", [100, 1_000, 10_000])
def test_programs_have_the_length_asked_for(lines: int) -> None:
    text = program(lines)
    assert text == program(lines)
    assert 0.85 * lines < text.count("\n") < 1.15 * lines


def test_a_longer_program_needs_all_of_it() -> None:
    short, long = (next(measure.size(lines, 1, 60)).values for lines in (200, 800))
    assert long["state"] > 2 * short["state"]


@pytest.mark.evidence
def test_longer_timers_leave_edges_open() -> None:
    plain, longer = (next(measure.depth(f"sat {family}", [6], 60)).values["open"] for family in ("alarm", "alarm*8"))
    assert longer > plain


def _points() -> list[Point]:
    return [
        Point("goals", "m", x, {"seconds": x**2 / 10, "queries": 3 * x, "solving": x / 100, "chain": x, "stopped": 0})
        for x in (4, 8, 16)
    ]


def test_tables_show_exponents() -> None:
    shown = "\n".join(tables(_points()))
    assert "| m | exponent (off by) | 2.00 (1.00) | 1.00 (1.00) | 1.00 (1.00) | 1.00 (1.00) |" in shown
    assert "| m | 4 | 1.6 | 12 | 0.04 | 4 |" in shown


def test_points_are_kept_and_one_axis_is_replaced(tmp_path: Path) -> None:
    other = Point("size", "units", 100, {"read": 0.25})
    points.write(tmp_path / "p.json", [*_points(), other])
    assert points.read(tmp_path / "p.json") == [*_points(), other]
    fresh = Point("goals", "m", 4, {"seconds": 1.0})
    assert points.merged([*_points(), other], [fresh]) == [fresh, other]


@pytest.mark.evidence
def test_plots_are_the_same_for_the_same_points(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    for folder in (first, second):
        folder.mkdir()
        files: Sequence[Path] = plots.draw(_points(), folder)
        assert [file.name for file in files] == ["growth-goals.svg"]
    text = (first / "growth-goals.svg").read_bytes()
    assert text == (second / "growth-goals.svg").read_bytes()
    assert b"<dc:date>" not in text


@pytest.mark.parametrize(
    ("pattern", "size", "tried"),
    [
        ("grid_3_T", 2, ("tour", "product-search", "whole-lengths")),
        ("modes_5_T", 10, ("covering-flow", "product-search", "acceleration")),
        pytest.param("grid_10_T", 10, ("layers", "tour", methods.EVERYTHING), marks=pytest.mark.evidence),
    ],
)
def test_methods_prove_the_same_shortest_chain(pattern: str, size: int, tried: Sequence[str]) -> None:
    found = [next(methods.proving("family-size", f"{pattern} {method}", size, 10)) for method in tried]
    assert all(point.whole("chain") for point in found)
    assert len({point.values[name] for point in found for name in ("length", "lower")}) == 1


def test_a_method_that_has_ended_is_not_asked_for_larger_members(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def made(name: str, arguments: Sequence[Any]) -> list[Point]:
        axis, family, size, _ = arguments
        asked.append((family, size))
        return [Point(axis, family, size, {"chain": 1.0, "stopped": float(size == 20)})]

    monkeypatch.setattr(run, "in_process", made)
    *_, found = run.measured("family-goals", 1.0)
    assert [size for family, size in asked if family == "grid_N_30 tour"] == [5, 10, 20]
    assert [size for family, size in asked if family.startswith("acc_N_32 whole")] == [1, 2, 3, 4, 5]
    assert len(found) == len(asked)
