"""Whole runs with workers: the same files, whoever is killed on the way; nothing is left behind when one is stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from chaincover.work.remote import Engines, RemoteEdges, decide
from chaincover.work.remote_proof import least_length, shortest_window
from command_line import MODELS, chaincover, fresh_names
from machines import Case, random_machine
from problems import problem_of
from pysmt.shortcuts import BV, TRUE
from worker_kills import killing

from benchmarks.generated.systems import generated_case
from bmc.engines import choose as choose_engine
from bmc.formulas.unroll import at
from bmc.system.transition import StateVariable, TransitionSystem, ValueType
from chaincover.graph.reachability import GraphBuilder
from chaincover.limits import Limits
from chaincover.options import Options
from chaincover.pipeline import ChainResult, generate
from chaincover.problem import Problem
from chaincover.questions import Questions
from chaincover.work import workers as workers_module
from chaincover.work.workers import Cluster, Processes, Workers
from properties.goal import Goal

KINDS = (decide, shortest_window, least_length)
"""What workers do: edges, windows of the chain, stretches of an order."""

GENERATE = ("generate", MODELS / "wiper", "--explore", "0", "--rounds", "1", "--no-cache", "--no-replay")
"""A run that gives workers tasks of all kinds."""

FILES = ("chain.json", "chain.csv")


def with_kills(kind: type[Workers], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on each worker of ``kind`` is killed by the first task of each sort that it gets."""
    plain = kind.map

    def deadly(self: Workers, function: Callable[[Any], Any], tasks: Sequence[Any], done: Callable[[int], None]) -> Any:
        return plain(self, killing, [(str(folder), function, task) for task in tasks], done)

    monkeypatch.setattr(kind, "map", deadly)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a run without workers."""
    folder = tmp_path_factory.mktemp("alone")
    outcome = chaincover(*GENERATE, "-o", folder)
    assert outcome.code == 0, outcome
    return folder


@pytest.fixture
def fresh() -> Iterator[None]:
    """Workers of its own for a run."""
    workers_module.choose.cache_clear()
    yield
    workers_module.choose.cache_clear()


@pytest.mark.usefixtures("fresh")
def test_processes_that_are_killed_lose_nothing(tmp_path: Path, alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed, out = tmp_path / "killed", tmp_path / "out"
    killed.mkdir()
    with_kills(Processes, killed, monkeypatch)
    outcome = chaincover(*GENERATE, "--jobs", 2, "-o", out, "-v")
    assert outcome.code == 0, outcome
    assert {place.name for place in killed.iterdir()} == {kind.__name__ for kind in KINDS}
    for name in FILES:
        assert (out / name).read_bytes() == (alone / name).read_bytes()
    for text in ("sources\n", "windows\n", "stretches\n"):
        assert text in outcome.err
    workers_module.choose(2, None).close()


@pytest.mark.needs("distributed")
@pytest.mark.usefixtures("fresh")
def test_killed_workers_of_a_cluster_lose_nothing(tmp_path: Path, alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import distributed

    killed, out = tmp_path / "killed", tmp_path / "out"
    killed.mkdir()
    with_kills(Cluster, killed, monkeypatch)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as local:
        address = local.scheduler_address
        outcome = chaincover(*GENERATE, "--scheduler", address, "-o", out)
        workers_module.choose(1, address).close()
    assert outcome.code == 0, outcome
    assert {place.name for place in killed.iterdir()} == {kind.__name__ for kind in KINDS}
    for name in FILES:
        assert (out / name).read_bytes() == (alone / name).read_bytes()


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("overlap", ["allow", "forbid"])
def test_random_systems_have_the_same_results(overlap: str) -> None:
    """One of them at least comes to a proof with several questions at once."""
    told: list[str] = []
    generated = generated_case(1, states=16, goals=5, longest=2)
    for case in (random_machine(31), random_machine(34), (generated.system, generated.goals, generated.final)):
        options = Options(overlap=overlap, bound=12, engine="sat")
        alone = generate(problem_of(*case), options)
        shared = generate(Problem(*case, tuple(replace(options, jobs=2)), told.append))
        assert as_told(alone) == as_told(shared)
    assert any(text.endswith(("windows", "stretches")) for text in told)
    workers_module.choose(2, None).close()


def as_told(result: ChainResult) -> tuple[object, ...]:
    return result.chain, result.verdicts, result.bounds, result.certificate, result.depth, result.stopped_by


def test_graph_and_compare_take_workers_too(tmp_path: Path) -> None:
    given = (MODELS / "alarm", "--engine", "sat")
    here = chaincover("graph", *given)
    there = chaincover("graph", *given, "--jobs", 2, "-v")
    assert here.out == there.out
    assert (here.code, there.code) == (0, 0)
    assert "sources\n" in there.err
    assert "sources\n" not in here.err
    compared = chaincover("compare", *given, "--ordering", "exact", "--jobs", 2, "--json", "-v")
    assert "sources\n" in compared.err
    alone = chaincover("compare", *given, "--ordering", "exact", "--json")
    timed = ("graph_seconds", "orderings")
    assert {k: v for k, v in compared.json.items() if k not in timed} == {
        k: v for k, v in alone.json.items() if k not in timed
    }


@pytest.mark.parametrize("engine", ["sat", "z3"])
def test_check_asks_the_engine_that_is_named(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[str] = []

    def choose(name: str, memory: int | None = None) -> object:
        chosen.append(name)
        return choose_engine(name, memory)

    monkeypatch.setattr("chaincover.cli.main.choose_engine", choose)
    found = chaincover("check", MODELS / "latch", "--engine", engine, "--compare", 5, "--json")
    plain = chaincover("check", MODELS / "latch", "--compare", 5, "--json")
    assert chosen == [engine, "z3"]
    assert (found.code, found.json) == (plain.code, plain.json)


@pytest.mark.needs_signals
def test_an_interrupt_of_the_proof_leaves_a_chain_and_no_process(tmp_path: Path) -> None:
    """Ctrl-C reaches all processes of the terminal. The output ends once all that could write there have ended."""
    options = ("--cover", "branches()", "--explore", "0", "--no-cache", "--no-replay", "--jobs", "2", "-v")
    process = subprocess.Popen(
        [sys.executable, "-m", "chaincover", "generate", MODELS / "fan", *options, "-o", tmp_path],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    row = ""
    while not (row.startswith("bound:") and row.endswith("stretches\n")):
        row = process.stderr.readline()
        assert row, "it ended by itself"
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, (out, err)
    assert "Traceback" not in out + err
    document = json.loads((tmp_path / "chain.json").read_text())
    assert document["stopped_by"] == "interrupt"
    assert document["chain"]["length"] == document["bounds"]["length"] > document["bounds"]["lower"] > 0


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


def counting(width: int) -> Case:
    """A counter of ``width`` bits, in a variable that is always called the same, and two goals that it passes."""
    kind = ValueType(f"clash_{width}", width)
    n = kind.symbol("clash_n")
    state = (StateVariable("clash_n", kind, BV(0, width), n + 1),)
    goals = [Goal(f"at {value}", at(n.Equals(BV(value, width)), 0), None, 0) for value in (2, 3)]
    return TransitionSystem(name="clash", state=state, inputs=()), tuple(goals), TRUE()


def test_one_process_may_serve_programs_that_give_a_name_to_different_types() -> None:
    workers = Processes(1)
    for width in (8, 16, 8):
        with fresh_names():
            system, goals, final = counting(width)

            def remote(problem: Problem) -> RemoteEdges:
                return RemoteEdges(problem, Engines("sat"), workers, lambda text: None)

            builder = GraphBuilder(
                Questions(Problem(system, tuple(goals), final, "allow"), choose_engine("sat"), Limits())
            )
            builder.extend(5)
            found = builder.graph().weights
        assert found["init", "at 2"] == 2
        assert found["at 2", "at 3"] == 1
    workers.close()
