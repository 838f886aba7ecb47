"""Whole runs with workers: the same chains, whoever is killed; nothing is left behind when one is stopped."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from machines import Case
from problems import problem_of
from worker_kills import killing

from benchmarks.checks.generated.systems import generated_case
from chaincover.options import Options
from chaincover.partition.several import generate_packed, generate_several
from chaincover.result import SeveralChains
from chaincover.work import workers as workers_module
from chaincover.work.workers import Cluster, Processes, Workers

OPTIONS = Options(engine="auto", max_length=16)
"""Where chains have a greatest length, each is sought by itself: without one, a single run with resets has them all."""


def parted(seed: int) -> Case:
    """A generated system that needs several chains."""
    made = generated_case(seed, states=32, goals=8, longest=2)
    return made.system, made.goals, made.final


def with_kills(kind: type[Workers], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on each worker of ``kind`` is killed by the first task that it gets."""
    plain = kind.map

    def deadly(self: Workers, function: Callable[[Any], Any], tasks: Sequence[Any], done: Callable[[int], None]) -> Any:
        return plain(self, killing, [(str(folder), function, task) for task in tasks], done)

    monkeypatch.setattr(kind, "map", deadly)


@pytest.fixture
def fresh() -> Iterator[None]:
    """Workers of its own for a run."""
    workers_module.choose.cache_clear()
    yield
    workers_module.choose.cache_clear()


def as_told(found: SeveralChains) -> tuple[object, ...]:
    chains = [(result.chain, result.bounds, result.certificate) for result in found.results]
    return (
        chains,
        found.verdicts,
        found.conflicts,
        found.number_minimal_within_k,
        found.number_minimal,
        found.bounds,
        found.stopped_by,
    )


@pytest.mark.slow
@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("overlap", ["allow", pytest.param("forbid", marks=pytest.mark.evidence)])
def test_several_chains_are_the_same_with_workers(overlap: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []
    plain = Processes.map

    def counted(self: Processes, function: Any, tasks: Sequence[Any], done: Any) -> Any:
        assert function is generate_packed
        given.append(len(tasks))
        return plain(self, function, tasks, done)

    monkeypatch.setattr(Processes, "map", counted)
    for seed in (100, 131):
        options = replace(OPTIONS, overlap=overlap)
        alone = generate_several(problem_of(*parted(seed)), options)
        shared = generate_several(problem_of(*parted(seed)), replace(options, jobs=2))
        assert as_told(alone) == as_told(shared)
    workers_module.choose(2, None).close()
    assert given


@pytest.mark.usefixtures("fresh")
def test_processes_that_are_killed_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = generate_several(problem_of(*parted(100)), OPTIONS)
    with_kills(Processes, tmp_path, monkeypatch)
    shared = generate_several(problem_of(*parted(100)), replace(OPTIONS, jobs=2))
    assert [place.name for place in tmp_path.iterdir()] == [generate_packed.__name__]
    assert as_told(alone) == as_told(shared)
    workers_module.choose(2, None).close()


@pytest.mark.evidence
@pytest.mark.needs("distributed")
@pytest.mark.usefixtures("fresh")
def test_killed_workers_of_a_cluster_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import distributed

    alone = generate_several(problem_of(*parted(100)), OPTIONS)
    with_kills(Cluster, tmp_path, monkeypatch)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as local:
        address = local.scheduler_address
        shared = generate_several(problem_of(*parted(100)), replace(OPTIONS, scheduler=address))
        workers_module.choose(1, address).close()
    assert [place.name for place in tmp_path.iterdir()] == [generate_packed.__name__]
    assert as_told(alone) == as_told(shared)


ENDLESS = """\
import signal
from chaincover.work.workers import Processes

if __name__ == "__main__":
    workers = Processes(2)
    workers.map(abs, [1, 2], lambda done: None)
    print("ready", flush=True)
    workers.map(signal.sigwait, [[signal.SIGUSR1]] * 2, lambda done: None)
"""


@pytest.mark.needs_signals
def test_workers_end_with_a_program_that_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "endless.py"
    script.write_text(ENDLESS)
    process = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.kill()
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
