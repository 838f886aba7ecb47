"""The yardstick of luck: four stations whose goals one chain can all cover, and random runs most of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.measures.stations import controller
from benchmarks.measures.stations.run import RUNS, STEPS, generated, written
from benchmarks.measures.stations.simulate import Simulation


@pytest.mark.needs_compiler
def test_the_tour_covers_every_goal_and_random_runs_cover_at_least_40(tmp_path: Path) -> None:
    simulation = Simulation(tmp_path)
    assert simulation.replay(controller.tour()) == list(controller.goals())
    assert sum(1 for count in simulation.random(RUNS, STEPS).values() if count) >= 40


@pytest.mark.evidence
@pytest.mark.needs_compiler
def test_one_chain_covers_as_many_goals_as_random_runs(tmp_path: Path) -> None:
    _, chain = generated(written(tmp_path / "stations"), tmp_path / "out", 0.035)
    covered = sum(1 for goal in chain["goals"] if goal["verdict"] == "covered")
    reached = sum(1 for count in Simulation(tmp_path).random(RUNS, STEPS).values() if count)
    assert covered >= reached
