"""The engine comparison: engines agree on a bundled model's graph, and the table says what was measured."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.measures.engines.run import ENGINES, measured, tasks
from benchmarks.measures.engines.table import Measurement, heading, row


def test_engines_find_the_same_graph() -> None:
    task = next(task for task in tasks(6, 1, "mcdc()") if task.name == "latch")
    found = {name: measured(task, ENGINES[name](), 60) for name in ("z3", "sat")}
    assert found["z3"].weights == found["sat"].weights
    assert "different" not in row("latch", list(found.values()))
    assert all(m.finished and m.queries and m.goals > 5 for m in found.values())
    assert 0 < found["sat"].preparing < found["sat"].seconds - found["sat"].solving < found["sat"].seconds


def test_every_bundled_model_is_a_task() -> None:
    names = [task.name for task in tasks(20, 6, "mcdc()")]
    assert {"alarm", "window", "float mode"} <= set(names)
    assert all(task.criterion == "" for task in tasks(20, 6, "mcdc()") if task.name.startswith("float "))


def test_the_table_has_ratios_and_shows_limits_and_differences() -> None:
    edge = ("init", "p1", 3)
    slow = Measurement("z3", 4, 20, True, 100, 10.0, 9.0, 0.0, [edge])
    fast = replace(slow, engine="sat", seconds=2.5, solving=1.5, preparing=0.5)
    stopped = replace(slow, seconds=60.0, depth=7, finished=False, weights=[])
    assert heading(["z3", "sat"]).startswith(
        "| model | goals | K | edges | z3 s (ratio), queries, prepare %, own % | sat s"
    )
    assert row("m", [slow, fast]) == "| m | 4 | 20 | 1 | 10.00 (1.0), 100, 0, 10 | 2.50 (4.0), 100, 20, 20 |"
    assert row("m", [stopped, fast]) == "| m | 4 | 20 | 1 | > 60.0 at K = 7 | 2.50 (> 24.0), 100, 20, 20 |"
    assert "different" in row("m", [slow, replace(fast, weights=[])])
