"""A suite on a Dask cluster: the same rows as here, also where a worker is killed."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from bench_suites import bench, done, module_path, rows_in, suite_text

OWN = {"seconds", "processor_seconds", "megabytes", "host"}


def table(folder: Path) -> list[dict[str, Any]]:
    with open(folder / "rows.csv", newline="") as file:
        return [{name: value for name, value in row.items() if name not in OWN} for row in csv.DictReader(file)]


@pytest.mark.evidence
@pytest.mark.needs("distributed")
@pytest.mark.needs_signals
def test_runs_of_a_killed_worker_go_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A suite that was begun here goes on there; its third run kills the worker that does it, once."""
    import distributed

    configurations = [{"seed": [1, 2]}, {"does": "kill worker"}, {"does": "crash"}, {"orderings": "one two"}]
    (tmp_path / "s.toml").write_text(suite_text(tmp_path, configurations[:1]))
    assert bench(monkeypatch, tmp_path, "s.toml", "-o", "far").code == 0
    begun = done(tmp_path)
    (tmp_path / "s.toml").write_text(suite_text(tmp_path, configurations))
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as local:
        address = local.scheduler_address
        far = bench(monkeypatch, tmp_path, "s.toml", "-o", "far", "--resume", "--scheduler", address)
    assert far.code == 0, far
    assert done(tmp_path)[:2] == begun
    again = done(tmp_path)[2:]
    assert again.count("latch kill worker 0") >= 2  # the scheduler of a busy machine may give it away once more
    assert {*again} == {"latch kill worker 0", "latch crash 0", "latch finish 0"}
    number = len(done(tmp_path))
    assert bench(monkeypatch, tmp_path, "s.toml", "-o", "far", "--resume").code == 0
    assert len(done(tmp_path)) == number
    assert bench(monkeypatch, tmp_path, "s.toml", "-o", "here").code == 0
    assert table(tmp_path / "far") == table(tmp_path / "here")
    for row in rows_in(tmp_path / "here"):
        for name in ("log.txt", "command.json", *row["files"]):
            assert (tmp_path / "far" / "runs" / row["id"] / name).exists()


@pytest.mark.evidence
@pytest.mark.needs("distributed")
@pytest.mark.needs_signals
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_workers_end_the_runs_of_a_suite_that_has_ended(number: signal.Signals, tmp_path: Path) -> None:
    import distributed

    os.mkfifo(tmp_path / "alive")
    (tmp_path / "s.toml").write_text(suite_text(tmp_path, [{"does": "hold"}]))
    variables = {**os.environ, "PYTHONPATH": module_path(tmp_path / "registered")}
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as local:
        command = [sys.executable, "-m", "chaincover", "bench", "s.toml", "-o", "out"]
        command += ["--scheduler", local.scheduler_address]
        with subprocess.Popen(command, cwd=tmp_path, env=variables) as process, open(tmp_path / "alive") as alive:
            assert alive.readline() == "alive\n"
            process.send_signal(number)
            assert alive.read() == "", "all processes of the run are gone"
            assert process.wait() == (130 if number == signal.SIGINT else -number)


def test_a_scheduler_needs_dask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.bench.cluster.find_spec", lambda name: None)
    (tmp_path / "s.toml").write_text(suite_text(tmp_path, [{}]))
    ended = bench(monkeypatch, tmp_path, "s.toml", "-o", "out", "--scheduler", "tcp://127.0.0.1:9")
    assert ended.code == 2
    assert "chaincover[dask]" in ended.stderr
    assert not (tmp_path / "out").exists()
