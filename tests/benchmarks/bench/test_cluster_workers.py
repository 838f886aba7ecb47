"""Work on other machines: the same results in the same order, and nothing lost with a worker."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.bench import cluster
from benchmarks.bench.cluster import Cluster
from bmc.errors import UsageError


def square(number: int) -> int:
    return number * number


def die_once(task: tuple[str, int]) -> int:
    """Takes its process with it the first time that it is done."""
    marker, number = Path(task[0]), task[1]
    if number == 2 and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


@pytest.mark.needs("distributed")
def test_a_scheduler_must_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "ANSWER", 0.5)
    with pytest.raises(UsageError, match="no scheduler answers at tcp"):
        Cluster("tcp://127.0.0.1:9")


@pytest.mark.slow
@pytest.mark.needs("distributed")
def test_a_dask_cluster_survives_the_loss_of_a_worker(tmp_path: Path) -> None:
    import distributed

    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as local:
        workers = Cluster(local.scheduler_address)
        tasks = [(str(tmp_path / "died"), number) for number in range(6)]
        assert workers.map(die_once, tasks, lambda count: None) == [0, 1, 4, 9, 16, 25]
        assert (tmp_path / "died").exists()
        workers.close()


@pytest.mark.needs("distributed")
def test_without_a_dask_worker_the_work_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """None from the beginning, or none that is left: then the tasks that were sent are done here too."""
    import distributed

    monkeypatch.setattr(cluster, "LOOK", 0.2)
    with distributed.LocalCluster(n_workers=0, dashboard_address=None) as local:
        workers = Cluster(local.scheduler_address)
        told: list[int] = []
        assert workers.map(square, range(3), told.append) == [0, 1, 4]
        assert told == [1, 2, 3]
        monkeypatch.setattr(Cluster, "_threads", counting([1, 0, 0]))
        assert workers.map(square, range(3), told.append) == [0, 1, 4]
        workers.close()


def counting(answers: list[int]) -> Callable[[Cluster], int]:
    """Tells the next of ``answers`` each time: a worker is there, then none."""
    left = iter(answers)
    return lambda workers: next(left)


@pytest.mark.slow
@pytest.mark.needs("distributed")
def test_a_scheduler_that_is_lost_leaves_the_work_here() -> None:
    import distributed

    local = distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None)
    workers = Cluster(local.scheduler_address)
    assert workers.map(square, range(3), lambda count: None) == [0, 1, 4]
    local.close()
    assert workers.map(square, range(4), lambda count: None) == [0, 1, 4, 9]
    assert workers.size() == 1
    workers.close()


@pytest.mark.needs("distributed")
@pytest.mark.parametrize("address", ["foo://bar", "nonsense", "tcp://"])
def test_what_is_no_address_is_said_so(address: str) -> None:
    with pytest.raises(UsageError, match="no scheduler answers at"):
        Cluster(address)
