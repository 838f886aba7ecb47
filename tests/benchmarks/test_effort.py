"""The comparison of units of work with seconds of the processor."""

from __future__ import annotations

from click.testing import CliRunner

from benchmarks.effort import main


def test_a_row_has_seconds_units_and_the_costly_stages() -> None:
    done = CliRunner().invoke(main, ["latch", "--effort", "0.02"])
    assert done.exit_code == 0, done.output
    heading, row = done.output.splitlines()
    assert heading.split()[:3] == ["model", "seconds", "units"]
    name, seconds, units, *_ = row.split()
    assert name == "latch"
    assert float(seconds) >= 0
    assert float(units) >= 0
    assert row.endswith("(of 1.2 units)")
