"""The yardstick of luck: four stations whose goals one chain can all cover, and random runs most of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.stations import controller
from benchmarks.stations.run import RUNS, STEPS
from benchmarks.stations.simulate import Simulation


@pytest.mark.needs_compiler
def test_the_tour_covers_every_goal_and_random_runs_cover_at_least_40(tmp_path: Path) -> None:
    simulation = Simulation(tmp_path)
    assert simulation.replay(controller.tour()) == list(controller.goals())
    assert sum(1 for count in simulation.random(RUNS, STEPS).values() if count) >= 40
